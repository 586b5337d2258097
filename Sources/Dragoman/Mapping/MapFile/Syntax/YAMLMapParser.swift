import Yams

/// Reads YAML 1.1 text into a `MapNode`.
///
/// Tags are ignored: the key's type decides. Anchors, aliases and merge keys (`<<`) work within
/// `MapNode.maximumNodeCount` nodes written out; keys are always plain words. Yams throws at the
/// first duplicate key, so that fault comes alone.
struct YAMLMapParser {
  var file: String?

  func parse(_ text: String) throws(MapFaults) -> MapNode {
    // libyaml counts a byte order mark as a column, which makes the first key lie deeper than the others.
    let isMarked = text.unicodeScalars.first == "\u{FEFF}"
    let text = isMarked ? String(text.unicodeScalars.dropFirst()) : text
    try refuseComplexKeys(text)
    let root: Node?
    do {
      root = try Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
    } catch {
      throw MapFaults(faults(of: error, in: text))
    }
    guard let root else {
      throw MapFaults([MapFault(.syntax, "The map is empty.", file: file)])
    }
    var conversion = Conversion(file: file)
    return try conversion.node(root, depth: 0)
  }

  /// Refuses keys that are aliases or collections in a document with aliases.
  ///
  /// Yams hashes such a key with all that it expands to, which an alias bomb makes endless. So the text is read with
  /// words in place of its aliases first: what is a key in the one is a key in the other.
  private func refuseComplexKeys(_ text: String) throws(MapFaults) {
    let words = Self.replacingAliases(in: text)
    guard words.utf8.count > text.utf8.count else { return }
    let root: Node?
    do {
      root = try Parser(yaml: words, resolver: .basic, encoding: .utf8).singleRoot()
    } catch {
      throw MapFaults(faults(of: error, in: words))
    }
    if let root, let position = complexKey(in: root) {
      throw MapFaults([
        MapFault(
          .limit,
          "In a map with anchors an alias or a collection cannot be a key.",
          file: file,
          position: position,
          rule: "quote the key, or write out what the anchors stand for"
        )
      ])
    }
  }

  /// What stands in place of the `*` of an alias: a sign that no text begins with and that means nothing in YAML.
  private static let aliasSign = "\u{E000}"

  /// The text with a sign in place of each `*` that may begin an alias.
  ///
  /// In comments and quoted texts, too: it changes no structure there.
  private static func replacingAliases(in text: String) -> String {
    let bytes = Array(text.utf8)
    var replaced: [UInt8] = []
    replaced.reserveCapacity(bytes.count)
    for (index, byte) in bytes.enumerated() {
      if byte == UInt8(ascii: "*"), index + 1 < bytes.count, isWord(bytes[index + 1]) {
        replaced += aliasSign.utf8
      } else {
        replaced.append(byte)
      }
    }
    return String(decoding: replaced, as: UTF8.self)
  }

  /// Whether a byte may stand in the name of an anchor.
  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// Where a key stands that is an alias or a collection; nil: there is none.
  private func complexKey(in node: Node) -> MapPosition? {
    switch node {
    case .scalar(let scalar):
      // Within { } and [ ] an alias ends at a colon, where a word goes on: it is a key there.
      let hasColon = scalar.string.utf8.contains(UInt8(ascii: ":"))
      return isAlias(scalar) && hasColon ? position(of: node) : nil
    case .sequence(let sequence):
      for element in sequence {
        if let position = complexKey(in: element) { return position }
      }
      return nil
    case .mapping(let mapping):
      for (key, value) in mapping {
        guard case .scalar(let scalar) = key, !isAlias(scalar) else { return position(of: key) }
        if let position = complexKey(in: value) { return position }
      }
      return nil
    case .alias: return position(of: node)
    }
  }

  private func isAlias(_ scalar: Node.Scalar) -> Bool {
    scalar.style == .plain && scalar.string.hasPrefix(Self.aliasSign)
  }

  private func position(of node: Node) -> MapPosition {
    MapPosition(line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
  }

  /// How what stands at a mistake is written; `nil` where it is none that beginners make.
  private func rule(at mark: Mark, of text: String, within context: String?) -> String? {
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.indices.contains(mark.line - 1) else { return nil }
    let line = lines[mark.line - 1]
    if line.prefix(while: { $0 == " " || $0 == "\t" }).contains("\t") {
      return "lines are indented with spaces, not with tabs"
    }
    let isFlow = context?.contains("parsing a flow") == true
    if isFlow, let found = line.dropFirst(mark.column - 1).first, found == "[" || found == "{" {
      return "within { } and [ ] a path with brackets is written in quotes, as \"scores[0]\""
    }
    return nil
  }

  private func faults(of error: any Error, in text: String) -> [MapFault] {
    func place(_ mark: Mark) -> MapPosition {
      MapPosition(line: mark.line, column: mark.column)
    }
    func fault(_ problem: String, _ position: MapPosition?) -> MapFault {
      MapFault(
        .syntax,
        "This is not YAML: \(problem).",
        file: file,
        position: position
      )
    }
    switch error as? YamlError {
    case .scanner(let context, let problem, let mark, _),
      .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      // What is not closed began lines above what is in its way.
      let start = context.map { context in
        context.mark.line == mark.line
          ? context.text : "\(context.text) that begins in line \(context.mark.line)"
      }
      var mistake = fault([start, problem].compactMap(\.self).joined(separator: ", "), place(mark))
      mistake.rule = rule(at: mark, of: text, within: context?.text)
      return [mistake]
    case .duplicatedKeysInMapping(let duplicates, let context):
      return duplicates.map { name in
        let key = name.replacing(Self.aliasSign, with: "*")
        return MapFault(
          .duplicateKey,
          "The key \"\(key)\" stands more than once in this mapping.",
          file: file,
          position: place(context.mark)
        )
      }
    case .reader(let problem, let offset, _, _):
      let before = text.unicodeScalars.prefix(offset ?? 0)
      let line = before.reduce(1) { $1 == "\n" ? $0 + 1 : $0 }
      let column = before.reversed().prefix { $0 != "\n" }.count + 1
      return [fault(problem, offset.map { _ in MapPosition(line: line, column: column) })]
    default:
      return [fault("\(error)", nil)]
    }
  }
}

/// Turns Yams' nodes into ours, with a budget that ends alias bombs.
private struct Conversion {
  var file: String?
  var count = 0

  mutating func node(_ node: Node, depth: Int) throws(MapFaults) -> MapNode {
    let position = MapPosition(line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
    count += 1
    guard count <= MapNode.maximumNodeCount else {
      throw limit(
        "A map has at most \(MapNode.maximumNodeCount) values, aliases included.",
        position
      )
    }
    guard depth <= MapNode.maximumDepth else {
      throw limit("A map is nested at most \(MapNode.maximumDepth) deep.", position)
    }
    switch node {
    case .scalar(let scalar):
      let isPlain = scalar.style == .plain
      return MapNode(content: .scalar(scalar.string, isPlain: isPlain), position: position)
    case .sequence(let sequence):
      var elements: [MapNode] = []
      for element in sequence { elements.append(try self.node(element, depth: depth + 1)) }
      return MapNode(content: .sequence(elements), position: position)
    case .mapping(let mapping):
      let members = try members(of: mapping, depth: depth)
      return MapNode(content: .mapping(members), position: position)
    case .alias:
      throw limit("This alias cannot be resolved.", position)
    }
  }

  private mutating func members(
    of mapping: Node.Mapping,
    depth: Int
  ) throws(MapFaults) -> [MapNode.Member] {
    var members: [MapNode.Member] = []
    var merged: [MapNode.Member] = []
    for (key, value) in mapping {
      let position = MapPosition(line: key.mark?.line ?? 1, column: key.mark?.column ?? 1)
      guard case .scalar(let scalar) = key else {
        throw MapFaults([
          MapFault(.shape, "A key is a word, not a collection.", file: file, position: position)
        ])
      }
      let node = try self.node(value, depth: depth + 1)
      if scalar.string == "<<", scalar.style == .plain {
        merged += try mergeMembers(node)
      } else {
        members.append(.init(key: scalar.string, keyPosition: position, value: node))
      }
    }
    // https://yaml.org/type/merge.html: own keys win over merged ones, earlier ones over later.
    var taken = Set(members.map { Array($0.key.utf8) })
    for member in merged where taken.insert(Array(member.key.utf8)).inserted {
      members.append(member)
    }
    return members
  }

  private func mergeMembers(_ node: MapNode) throws(MapFaults) -> [MapNode.Member] {
    switch node.content {
    case .mapping(let members): return members
    case .sequence(let nodes):
      var members: [MapNode.Member] = []
      for node in nodes { members += try mergeMembers(node) }
      return members
    case .scalar:
      throw MapFaults([
        MapFault(
          .shape,
          "\"<<\" merges a mapping or a list of mappings, not \(node.kind).",
          file: file,
          position: node.position
        )
      ])
    }
  }

  private func limit(_ message: String, _ position: MapPosition) -> MapFaults {
    MapFaults([MapFault(.limit, message, file: file, position: position)])
  }
}
