/// A piece of a map file as it stands there: text, a list or a mapping, with its place.
///
/// Scalars stay text: what `NO`, `007` or `1e3` means is decided by the key they belong to.
package struct MapNode: Sendable {
  /// What the node holds.
  package enum Content: Sendable {
    /// A scalar; `isPlain` is false where it stood in quotes or as a block.
    case scalar(String, isPlain: Bool)
    case sequence([MapNode])
    case mapping([Member])
  }

  /// One key of a mapping and its value.
  package struct Member: Sendable {
    package var key: String
    package var keyPosition: MapPosition
    package var value: MapNode

    package init(key: String, keyPosition: MapPosition, value: MapNode) {
      self.key = key
      self.keyPosition = keyPosition
      self.value = value
    }
  }

  /// The largest file read, in bytes.
  static let maximumByteCount = 1 << 20
  /// The deepest nesting read.
  static let maximumDepth = 64
  /// The most nodes a file may have, aliases written out.
  static let maximumNodeCount = 100_000

  package var content: Content
  package var position: MapPosition

  /// Whether this is the absence of a value: nothing, `~` or `null`, not in quotes.
  package var isNull: Bool {
    guard case .scalar(let text, isPlain: true) = content else { return false }
    return ["", "~", "null"].contains(text)
  }

  /// What the node is, in the words of messages.
  package var kind: String {
    switch content {
    case .scalar(let text, _): isNull ? "nothing" : "\"\(text)\""
    case .sequence: "a list"
    case .mapping: "a mapping"
    }
  }

  /// Reads YAML or JSON text; the faults are those of the text, not of its meaning.
  package static func parse(
    _ text: String,
    as syntax: MapSyntax,
    file: String?
  ) throws(MapFaults) -> MapNode {
    guard text.utf8.count <= maximumByteCount else {
      throw MapFaults([
        MapFault(
          .limit,
          "A map has at most \(maximumByteCount) bytes, this one \(text.utf8.count).",
          file: file
        )
      ])
    }
    switch syntax {
    case .yaml: return try YAMLMapParser(file: file).parse(text)
    case .json:
      var parser = JSONMapParser(text, file: file)
      return try parser.parse()
    }
  }
}

/// The two spellings of a map.
package enum MapSyntax {
  case yaml
  case json

  /// Told by the file's name; everything but `.json` is YAML.
  init(file: String) {
    self = file.lowercased().hasSuffix(".json") ? .json : .yaml
  }
}
