import DragomanGraph

/// Why the text of a path is not a path, and where in the text.
public struct PathFault: Error, Sendable, Hashable {
  /// What is wrong, a full sentence.
  public var message: String
  /// Where in the path, in Unicode scalars from 0.
  public var offset: Int
  /// The nearest valid word, where there is one.
  public var suggestion: String?
}

/// Parses the path language of docs/maps.md for one format.
///
///     try ForeignPathParser(format: .json).parse("team_ids[*]")
///     try ForeignPathParser(format: .xml, namespaces: ["c": "urn:crm"]).parse("c:name/c:first")
///
/// In JSON, `a.b[0].c[*]` names members and elements, `*` as the last step every member, `.` the
/// record itself; `*[*]` at the end names the elements of all members. A leading `/` makes the text a
/// JSON Pointer (RFC 6901), whose decimal tokens are
/// indexes in arrays and names in objects. In XML, `a/b/@c` and `text()`; `a[@b]`, `a[@b="c"]` and
/// `a[not(@b)]` choose among elements. In CSV the text is the name of the column.
/// In every format `$index`, `$file`, `$file.name`, `$file.stem`, `$line`, `$key` stand alone, and `$root` and `$parent`
/// start a path; a JSON member whose own name starts with `$` is written as a pointer, `/$id`, and
/// in CSV any other text with a `$` is a column.
public struct ForeignPathParser: Sendable {
  /// The most bytes a path may have.
  public static let maximumByteCount = 10_000
  /// The most steps a path may have.
  public static let maximumStepCount = 100

  /// The format whose paths are parsed; NDJSON's are JSON's.
  public var format: ForeignFormat
  /// XML: the declared prefixes and their URIs; the prefix "" is the default for elements.
  public var namespaces: [String: String]
  /// Whether the paths lead to records: from the top of the file (in XML a `/` in front is allowed)
  /// to objects and elements, never through `$` or to attributes and text.
  public var leadsToRecords: Bool

  /// Makes a parser.
  public init(
    format: ForeignFormat,
    namespaces: [String: String] = [:],
    leadsToRecords: Bool = false
  ) {
    self.format = format
    self.namespaces = namespaces
    self.leadsToRecords = leadsToRecords
  }

  /// Parses one path; throws where the text is no path of the format.
  public func parse(_ text: String) throws(PathFault) -> ForeignPath {
    guard text.utf8.count <= Self.maximumByteCount else {
      throw PathFault(
        message: "A path has at most \(Self.maximumByteCount) bytes, this one \(text.utf8.count).",
        offset: 0
      )
    }
    guard !text.isEmpty else {
      throw PathFault(message: "The path is empty; the record itself is \".\".", offset: 0)
    }
    var path = ForeignPath(steps: [], text: text)
    guard text != "." else { return path }
    var cursor = Cursor(text)
    if cursor.peek == "$", format != .csv || Self.isRoot(text) {
      guard !leadsToRecords else {
        throw PathFault(message: "The way to the records cannot start with \"$\".", offset: 0)
      }
      if try parseRoot(&cursor, into: &path) { return path }
    }
    switch format {
    case .json, .ndjson: path.steps += try JSONSteps.parse(&cursor)
    case .xml:
      if cursor.peek == "/" {
        guard leadsToRecords else {
          throw PathFault(
            message: "An XML path starts at the record's element, without a \"/\".",
            offset: 0
          )
        }
        _ = cursor.next()
      }
      path.steps += try XMLSteps(namespaces: namespaces).parse(&cursor)
      if leadsToRecords { try refuseValues(path.steps) }
    case .csv: path.steps = [.member(cursor.rest(), namespace: nil)]
    }
    guard path.steps.count <= Self.maximumStepCount else {
      throw PathFault(
        message:
          "A path has at most \(Self.maximumStepCount) steps, this one \(path.steps.count).",
        offset: 0
      )
    }
    return path
  }

  /// Whether a text starts with one of the `$` words, alone or before a step; any other text is the
  /// name of a column.
  private static func isRoot(_ text: String) -> Bool {
    if roots.contains(where: { $0.name == text }) { return true }
    let word = text.prefix { $0 != "." && $0 != "/" }
    return roots.contains { $0.name == word }
  }

  private static let roots: [(name: String, root: ForeignPath.Root, takesSteps: Bool)] = [
    ("$index", .index, false), ("$file", .file, false), ("$line", .line, false),
    ("$file.name", .fileName, false), ("$file.stem", .fileStem, false),
    ("$key", .key, false), ("$root", .document, true), ("$parent", .parent, true),
  ]

  private func refuseValues(_ steps: [ForeignPath.Step]) throws(PathFault) {
    switch steps.last {
    case .attribute, .text:
      throw PathFault(message: "Records are elements, not attributes or text.", offset: 0)
    default: break
    }
    for case .having in steps {
      throw PathFault(message: "The way to the records cannot choose by attributes.", offset: 0)
    }
  }

  /// Reads `$word`; true when the path is complete with it.
  private func parseRoot(
    _ cursor: inout Cursor,
    into path: inout ForeignPath
  ) throws(PathFault) -> Bool {
    let roots = Self.roots
    let start = cursor.offset
    let word = cursor.take { !"./[@".unicodeScalars.contains($0) }
    guard let root = roots.first(where: { $0.name == word }) else {
      throw PathFault(
        message: "\"\(word)\" is none of \(roots.map(\.name).joined(separator: ", ")).",
        offset: start,
        suggestion: nearest(to: word, in: roots.map(\.name))
          ?? (format == .xml ? nil : "/\(word)")
      )
    }
    path.root = root.root
    if root.root == .file, cursor.peek == "." {
      let name = word + cursor.rest()
      guard let part = roots.first(where: { $0.name == name }) else {
        throw PathFault(
          message: "A file has $file.name and $file.stem, and no \(name).",
          offset: start,
          suggestion: nearest(to: name, in: ["$file.name", "$file.stem"])
        )
      }
      path.root = part.root
      return true
    }
    guard root.takesSteps else {
      guard cursor.peek == nil else {
        throw PathFault(message: "Nothing can follow \(word).", offset: cursor.offset)
      }
      return true
    }
    guard let separator = cursor.next(), separator == "." || separator == "/",
      cursor.peek != nil, format != .csv
    else {
      throw PathFault(
        message: format == .csv
          ? "A row of CSV has no \(word)." : "\(word) wants a member: \(word).name.",
        offset: cursor.offset
      )
    }
    return false
  }
}

/// A position in the scalars of a path.
private struct Cursor {
  private let scalars: [Unicode.Scalar]
  private(set) var offset = 0

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  var peek: Unicode.Scalar? { offset < scalars.count ? scalars[offset] : nil }

  mutating func next() -> Unicode.Scalar? {
    guard let scalar = peek else { return nil }
    offset += 1
    return scalar
  }

  mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
    var taken = String.UnicodeScalarView()
    while let scalar = peek, condition(scalar) {
      taken.append(scalar)
      offset += 1
    }
    return String(taken)
  }

  mutating func rest() -> String { take { _ in true } }

  /// Moves over a word if it stands here.
  mutating func take(_ word: String) -> Bool {
    let scalars = word.unicodeScalars
    guard self.scalars[offset...].starts(with: scalars) else { return false }
    offset += scalars.count
    return true
  }
}

/// The steps of a JSON path.
private enum JSONSteps {
  static func parse(_ cursor: inout Cursor) throws(PathFault) -> [ForeignPath.Step] {
    if cursor.peek == "/" { return try pointer(&cursor) }
    var steps: [ForeignPath.Step] = []
    repeat {
      let start = cursor.offset
      let name = cursor.take { $0 != "." && $0 != "[" && $0 != "]" }
      switch name {
      case "*":
        steps.append(.anyMember)
        let rest = cursor.rest()
        guard rest.isEmpty || rest == "[*]" else { throw notLast(start) }
        if !rest.isEmpty { steps.append(.all) }
      case "":
        guard cursor.peek == "[" else {
          throw PathFault(
            message: "A name is missing here; a key with dots is written as a pointer, /a.b.",
            offset: start
          )
        }
      default:
        steps.append(.member(name, namespace: nil))
      }
      while cursor.peek == "[" { steps.append(try subscriptStep(&cursor)) }
      if let stray = cursor.peek, stray != "." {
        throw PathFault(message: "\"\(stray)\" cannot stand here.", offset: cursor.offset)
      }
    } while cursor.next() != nil
    return steps
  }

  private static func subscriptStep(
    _ cursor: inout Cursor
  ) throws(PathFault) -> ForeignPath.Step {
    let start = cursor.offset
    _ = cursor.next()
    let content = cursor.take { $0 != "]" }
    guard cursor.next() != nil else {
      throw PathFault(message: "The \"[\" is never closed.", offset: start)
    }
    if content == "*" { return .all }
    guard let index = arrayIndex(content) else {
      throw PathFault(
        message: "\"[\(content)]\" is neither an index such as [0] nor [*].",
        offset: start
      )
    }
    return .index(index)
  }

  /// RFC 6901: `/`, then tokens divided by `/`, in which `~1` is `/` and `~0` is `~`.
  private static func pointer(_ cursor: inout Cursor) throws(PathFault) -> [ForeignPath.Step] {
    var steps: [ForeignPath.Step] = []
    while cursor.next() != nil {
      let start = cursor.offset
      var name = ""
      while let scalar = cursor.peek, scalar != "/" {
        _ = cursor.next()
        guard scalar == "~" else {
          name.unicodeScalars.append(scalar)
          continue
        }
        switch cursor.next() {
        case "0": name += "~"
        case "1": name += "/"
        default:
          throw PathFault(
            message: "In a pointer \"~\" is written ~0 and \"/\" is written ~1.",
            offset: cursor.offset - 1
          )
        }
      }
      if name == "*" || name == "*[*]" {
        guard cursor.peek == nil else { throw notLast(start) }
        steps.append(.anyMember)
        if name != "*" { steps.append(.all) }
      } else if let index = arrayIndex(name) {
        steps.append(.index(index))
      } else {
        steps.append(.member(name, namespace: nil))
      }
    }
    return steps
  }

  private static func notLast(_ offset: Int) -> PathFault {
    PathFault(
      message: "\"*\" can only be the last step, alone or as *[*] for the elements of all members.",
      offset: offset
    )
  }

  /// Decimal digits without a leading zero, small enough to be an index.
  private static func arrayIndex(_ text: String) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }),
      text == "0" || !text.hasPrefix("0")
    else { return nil }
    return Int(text)
  }
}

/// The steps of an XML path.
private struct XMLSteps {
  /// Bound by the XML namespaces recommendation itself.
  static let xmlNamespace = "http://www.w3.org/XML/1998/namespace"

  var namespaces: [String: String]

  func parse(_ cursor: inout Cursor) throws(PathFault) -> [ForeignPath.Step] {
    var steps: [ForeignPath.Step] = []
    while true {
      let start = cursor.offset
      let step = try step(cursor.take { $0 != "/" && $0 != "[" }, at: start)
      steps.append(step)
      while cursor.peek == "[" { steps.append(.having(try filter(&cursor, of: step))) }
      guard cursor.next() != nil else { return steps }
      switch step {
      case .attribute, .text:
        throw PathFault(message: "Nothing can follow an attribute or text().", offset: start)
      default: break
      }
    }
  }

  /// `[@a]`, `[@a="b"]` or `[not(…)]` behind an element.
  private func filter(
    _ cursor: inout Cursor,
    of step: ForeignPath.Step
  ) throws(PathFault) -> ForeignPath.AttributeTest {
    let start = cursor.offset
    let fault = PathFault(
      message: "An element is chosen by [@a], [@a=\"b\"], [not(@a)] or [not(@a=\"b\")].",
      offset: start
    )
    switch step {
    case .member, .anyMember: break
    default: throw fault
    }
    _ = cursor.next()
    let isNegated = cursor.take("not(")
    guard cursor.take("@") else { throw fault }
    let nameOffset = cursor.offset
    let name = try name(
      cursor.take { !"=)]".unicodeScalars.contains($0) },
      at: nameOffset,
      defaultNamespace: nil
    )
    var value: String?
    if cursor.take("=") {
      guard let quote = cursor.next(), quote == "\"" || quote == "'" else { throw fault }
      value = cursor.take { $0 != quote }
      guard cursor.next() != nil else { throw fault }
    }
    guard !isNegated || cursor.take(")"), cursor.take("]") else { throw fault }
    if let next = cursor.peek, next != "/" && next != "[" { throw fault }
    return ForeignPath.AttributeTest(
      name: name.local,
      namespace: name.namespace,
      value: value,
      isNegated: isNegated
    )
  }

  private func step(_ text: String, at offset: Int) throws(PathFault) -> ForeignPath.Step {
    if text == "*" { return .anyMember }
    if text == "text()" { return .text }
    if text.isEmpty {
      throw PathFault(
        message: "A name is missing here; \"//\" and a \"/\" at the end are no paths.",
        offset: offset
      )
    }
    if text.hasPrefix("@") {
      let name = try name(String(text.dropFirst()), at: offset + 1, defaultNamespace: nil)
      return .attribute(name.local, namespace: name.namespace)
    }
    let name = try name(text, at: offset, defaultNamespace: namespaces[""])
    return .member(name.local, namespace: name.namespace)
  }

  private func name(
    _ text: String,
    at offset: Int,
    defaultNamespace: String?
  ) throws(PathFault) -> (local: String, namespace: String?) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard parts.count <= 2, parts.allSatisfy(isName) else {
      throw PathFault(
        message: "\"\(text)\" is no XML name (steps are a, p:a, @a, *, text() and a[@b]).",
        offset: offset
      )
    }
    guard parts.count == 2 else { return (text, defaultNamespace) }
    if parts[0] == "xml" { return (parts[1], Self.xmlNamespace) }
    guard let namespace = namespaces[parts[0]] else {
      throw PathFault(
        message: "The prefix \"\(parts[0])\" is not declared under namespaces of an XML source.",
        offset: offset,
        suggestion: nearest(to: parts[0], in: namespaces.keys.sorted())
      )
    }
    return (parts[1], namespace)
  }

  /// An NCName, leniently: what XML cannot read is simply never found.
  private func isName(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first, !"-.0123456789".unicodeScalars.contains(first)
    else { return false }
    return text.unicodeScalars.allSatisfy { scalar in
      guard scalar.isASCII else { return !scalar.properties.isWhitespace }
      return scalar.properties.isAlphabetic || "-_.0123456789".unicodeScalars.contains(scalar)
    }
  }
}
