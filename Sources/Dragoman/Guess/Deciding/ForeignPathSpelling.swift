import DragomanGraph

/// Spells paths as a map does.
struct ForeignPathSpelling {
  let format: ForeignFormat
  /// The prefixes of namespaces, by the numbers of names; "" for none.
  private(set) var prefixes: [String] = [""]
  private let uris: [String]
  /// Names with a point that members of the feed have: a path of names with points between them is such a member.
  var pointedNames: Set<String> = []

  /// A step from a record to a value.
  enum Step {
    case member(FeedShape)
    case index(Int)
    case anyMember
    /// The elements of the lists that all members are.
    case anyList
  }

  /// - Parameters:
  ///   - format: The format of the feed.
  ///   - namespaces: The namespaces of its names, of which the first is none.
  ///   - own: The prefixes that the feed has for them.
  ///   - sources: The sources of the map that a guess is added to: their prefixes keep their meaning.
  init(
    _ format: ForeignFormat,
    namespaces: [String],
    own: DeclaredPrefixes = DeclaredPrefixes(),
    beside sources: [SourceMap] = []
  ) {
    self.format = format
    uris = namespaces
    let declared = sources.flatMap(\.namespaces)
    let taken = Set(["", "xml", "xmlns"] + declared.map { $0.key })
    var used = taken.union(own.all)
    // The next number behind each word.
    var numbers: [String: Int] = [:]
    for uri in namespaces.dropFirst() {
      if uri == "http://www.w3.org/XML/1998/namespace" {
        prefixes.append("xml")
        continue
      }
      if let known = Self.prefix(of: uri, in: declared) {
        prefixes.append(known)
        continue
      }
      if let prefix = own[uri], !taken.contains(prefix) {
        prefixes.append(prefix)
        continue
      }
      let last = uri.split(whereSeparator: { "/#:".contains($0) }).last.map(String.init) ?? "n"
      let letters = NameWords(last).words.joined().filter { $0.isASCII && $0.isLetter }.prefix(6)
      var prefix = letters.isEmpty || ["xml", "xmlns"].contains(letters) ? "n" : String(letters)
      let wanted = prefix
      while !used.insert(prefix).inserted {
        let number = numbers[wanted] ?? 2
        numbers[wanted] = number + 1
        prefix = wanted + String(number)
      }
      prefixes.append(prefix)
    }
  }

  /// The prefix that stands for a namespace wherever it is declared.
  private static func prefix(
    of uri: String,
    in declared: [(key: String, value: String)]
  ) -> String? {
    let others = Set(declared.filter { !hasSameBytes($0.value, uri) }.map { $0.key })
    return declared.filter { hasSameBytes($0.value, uri) }.map { $0.key }
      .filter { !$0.isEmpty && !others.contains($0) }.min()
  }

  /// The namespaces that the prefixes of paths name, which may stand in a text with other signs around them.
  func namespaces(in text: String) -> [(prefix: String, uri: String)] {
    let words = text.split { " /@[](){},=\"'".contains($0) }
    return zip(prefixes, uris).dropFirst()
      .filter { prefix, _ in
        // In `id: n:id` the first colon is that of a key.
        prefix != "xml" && words.contains { $0.hasPrefix("\(prefix):") && $0.last != ":" }
      }
      .map { (prefix: $0, uri: $1) }
  }

  /// A path from a record; nil where the language of paths cannot say it.
  func path(_ steps: [Step]) -> String? {
    guard !steps.isEmpty else { return "." }
    switch format {
    case .xml: return steps.map(element).joined(separator: "/")
    case .csv:
      guard case .member(let shape) = steps[0] else { return nil }
      let name = shape.nameText
      let isWord = Self.roots.contains(where: name.hasPrefix) && !name.hasPrefix("$key")
      return [".", ""].contains(name) || isWord ? nil : name
    case .json, .ndjson: return dotted(steps) ?? (hasDigits(steps) ? nil : pointer(steps))
    }
  }

  /// Whether a member is named by digits, which are the place in a list where a pointer has them.
  private func hasDigits(_ steps: [Step]) -> Bool {
    steps.contains { step in
      guard case .member(let shape) = step else { return false }
      return !shape.name.isEmpty && shape.name.allSatisfy(ASCII.isDigit)
    }
  }

  private static let roots = ["$index", "$file", "$line", "$root", "$parent", "$key"]

  /// The path of records from the top; nil where the language of paths cannot say it.
  func records(_ steps: [Step]) -> String? {
    format == .xml ? "/" + steps.map(element).joined(separator: "/") : pointer(steps)
  }

  private func element(_ step: Step) -> String {
    guard case .member(let shape) = step else { return "*" }
    let prefix = shape.space == 0 ? "" : prefixes[shape.space] + ":"
    return (shape.isAttribute ? "@" : "") + prefix + shape.nameText
  }

  private func dotted(_ steps: [Step]) -> String? {
    var text = ""
    for step in steps {
      switch step {
      case .index(let index): text += "[\(index)]"
      case .anyMember: text += text.isEmpty ? "*" : ".*"
      case .anyList: text += text.isEmpty ? "*[*]" : ".*[*]"
      case .member(let shape):
        let name = shape.nameText
        let isPlain = !name.isEmpty && name != "*" && !name.contains { ".[]/".contains($0) }
        guard isPlain, !text.isEmpty || !name.hasPrefix("$") else { return nil }
        text += (text.isEmpty ? "" : ".") + name
      }
    }
    return steps.count > 1 && pointedNames.contains(text) ? nil : text
  }

  private func pointer(_ steps: [Step]) -> String? {
    var text = ""
    for step in steps {
      switch step {
      case .index(let index): text += "/\(index)"
      case .anyMember: text += "/*"
      case .anyList: text += "/*[*]"
      case .member(let shape):
        let name = shape.nameText
        guard name != "*", name != "*[*]" else { return nil }
        text += "/"
        text += name.escaping { byte in
          switch byte {
          case UInt8(ascii: "~"): "~0"
          case UInt8(ascii: "/"): "~1"
          default: nil
          }
        }
      }
    }
    return text
  }
}
