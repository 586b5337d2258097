import Yams

extension ImportMap {
  /// The map as the text of a `*.map.json` file; reading it back gives an equal map.
  public func json() -> String { value.json() + "\n" }

  /// The map as the text of a `*.map.yaml` file; reading it back gives an equal map.
  ///
  /// Throws what Yams throws when it cannot write a text, such as one with control characters.
  public func yaml() throws -> String {
    try Yams.serialize(node: value.node, width: -1, allowUnicode: true)
  }

  /// The map as it stands in a file.
  private var value: MapValue {
    let writer = MapWriter(namespaces: Self.namespaces(of: sources))
    return .mapping(MapGrammar.top.members(of: self, writer))
  }
}

extension ImportMap: Codable {
  /// Reads a map from the text that `encode(to:)` writes; every fault is named.
  public init(from decoder: any Decoder) throws {
    try self.init(json: decoder.singleValueContainer().decode(String.self))
  }

  /// Writes the map as one string, the text of its `*.map.json` file.
  ///
  /// A string, because Foundation's coders do not keep the order of keys, and the order of
  /// attributes is the order of the columns. For the file itself use `json()`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(json())
  }
}
