import DragomanGraph
import Yams

/// A value as it stands in a map file, with the members of mappings in order.
indirect enum MapValue: Sendable {
  typealias Member = (key: String, value: MapValue)

  case text(String)
  case number(Int)
  case flag(Bool)
  case null
  case list([MapValue])
  case mapping([Member])

  /// A word for one, a list for several.
  static func words(_ words: [String]) -> MapValue {
    words.count == 1 ? .text(words[0]) : .list(words.map { .text($0) })
  }

  /// The value in a word; nil where it is a list or a mapping.
  var word: String? {
    switch self {
    case .text(let text): text
    case .number(let number): String(number)
    case .flag(let flag): flag ? "true" : "false"
    case .null, .list, .mapping: nil
    }
  }

  // MARK: JSON

  /// JSON text: a member of a mapping a line, a list in one.
  func json(indent: String = "") -> String {
    switch self {
    case .text(let word): return JSONString.quoted(word, .codes)
    case .number(let number): return String(number)
    case .flag(let flag): return flag ? "true" : "false"
    case .null: return "null"
    case .list(let values):
      return "[\(values.map { $0.json(indent: indent) }.joined(separator: ", "))]"
    case .mapping(let members):
      let inner = indent + "  "
      let lines = members.map {
        "\(inner)\(JSONString.quoted($0.key, .codes)): \($0.value.json(indent: inner))"
      }
      return lines.isEmpty ? "{}" : "{\n\(lines.joined(separator: ",\n"))\n\(indent)}"
    }
  }

  // MARK: YAML

  var node: Node {
    switch self {
    case .text(let word):
      // Words that YAML readers take for something else are quoted; ours reads text anyway.
      let isDoubtful =
        word.isEmpty || word.isPlainNumber
        || ["~", "null", "true", "false", "yes", "no", "on", "off", "y", "n"]
          .contains(word.lowercased())
      return Node(word, Tag(.str), isDoubtful ? .doubleQuoted : .any)
    case .number, .flag, .null: return Node(word ?? "null")
    case .list(let values): return Node(values.map(\.node), Tag(.seq), .flow)
    case .mapping(let members):
      return Node(members.map { (MapValue.text($0.key).node, $0.value.node) }, Tag(.map), .block)
    }
  }
}
