import Yams

extension ImportMap {
  /// The map as the text of a `*.map.json` file; reading it back gives an equal map.
  public func json() -> String {
    var text = ""
    Self.write(MapEncoder(map: self).encode(), to: &text, indent: "")
    return text + "\n"
  }

  /// The map as the text of a `*.map.yaml` file; reading it back gives an equal map.
  ///
  /// Throws what Yams throws when it cannot write a text, such as one with control characters.
  public func yaml() throws -> String {
    try Yams.serialize(
      node: Self.node(MapEncoder(map: self).encode()),
      width: -1,
      allowUnicode: true
    )
  }

  private static func write(_ value: MapEncoder.Value, to text: inout String, indent: String) {
    switch value {
    case .text(let word): text += quoted(word)
    case .number(let number): text += String(number)
    case .flag(let flag): text += flag ? "true" : "false"
    case .list(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += ", " }
        write(value, to: &text, indent: indent)
      }
      text += "]"
    case .mapping(let members):
      let inner = indent + "  "
      for (index, member) in members.enumerated() {
        text += (index == 0 ? "{\n" : ",\n") + inner + quoted(member.key) + ": "
        write(member.value, to: &text, indent: inner)
      }
      text += members.isEmpty ? "{}" : "\n\(indent)}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\u{0}"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  private static func node(_ value: MapEncoder.Value) -> Node {
    switch value {
    case .text(let word):
      // Words that YAML readers take for something else are quoted; ours reads text anyway.
      let isDoubtful =
        word.isEmpty || isJSONNumber(word)
        || ["~", "null", "true", "false", "yes", "no", "on", "off", "y", "n"]
          .contains(word.lowercased())
      return Node(word, Tag(.str), isDoubtful ? .doubleQuoted : .any)
    case .number(let number): return Node(String(number))
    case .flag(let flag): return Node(flag ? "true" : "false")
    case .list(let values): return Node(values.map(node), Tag(.seq), .flow)
    case .mapping(let members):
      return Node(members.map { (node(.text($0.key)), node($0.value)) }, Tag(.map), .block)
    }
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
