import CSimdJSON
import DragomanGraph

/// Foreign values in words, for messages.
enum ForeignText {
  /// The longest excerpt of a value, in Unicode scalars.
  static let maximumLength = 60

  /// What stands for the value of a sensitive attribute.
  static let mask = "•••"

  /// A kind of node with its article: "a number", "an object".
  static func kind(_ kind: Int) -> String {
    switch kind {
    case TAPE_NULL: "null"
    case TAPE_FALSE, TAPE_TRUE: "a boolean"
    case TAPE_NUMBER: "a number"
    case TAPE_STRING: "a string"
    case TAPE_ARRAY: "an array"
    case TAPE_ELEMENT: "an element"
    case TAPE_DATE: "a date"
    case TAPE_DATA: "data"
    default: "an object"
    }
  }

  /// A value as it came, shortened: strings in quotes, numbers as they are.
  static func excerpt(of index: UInt32, in batch: RecordBatch) -> String {
    let node = batch.nodes[Int(index)]
    switch Int(node.kind) {
    case TAPE_OBJECT, TAPE_ARRAY:
      var bytes: [UInt8] = []
      batch.appendJSON(of: index, to: &bytes)
      return shortened(String(decoding: bytes, as: UTF8.self))
    case TAPE_NULL: return "null"
    case TAPE_FALSE: return "false"
    case TAPE_TRUE: return "true"
    case TAPE_NUMBER, TAPE_DATE: return shortened(text(node, batch))
    case TAPE_DATA: return MessageWords.count(Int(node.length), "byte")
    default: return "\"\(shortened(text(node, batch)))\""
    }
  }

  private static func text(_ node: TapeNode, _ batch: RecordBatch) -> String {
    batch.text(node.text, min(node.length, UInt32(8 * maximumLength)))
  }

  /// The text on one line, cut where it is too long, with everything spelled out that would move the
  /// cursor or turn the reading direction.
  static func shortened(_ text: String) -> String {
    var shortened = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if shortened.count >= maximumLength { return String(shortened) + "…" }
      switch scalar.value {
      case 0..<0x20: shortened.append(Unicode.Scalar(0x2400 + scalar.value) ?? "␣")
      case 0x7F..<0xA0: shortened.append("␡")
      default:
        if scalar.value > 0x9F, scalar.isInvisible {
          shortened.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
        } else {
          shortened.append(scalar)
        }
      }
    }
    return String(shortened)
  }
}

extension Unicode.Scalar {
  /// Whether it moves the cursor, or turns the reading direction, and shows nothing.
  ///
  /// Joiners and the tags of flags are format characters too, but belong to what is visible.
  package var isInvisible: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    case .format: !(0x200C...0x200D).contains(value) && !(0xE0020...0xE007F).contains(value)
    default: false
    }
  }
}
