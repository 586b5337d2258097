import Dragoman
import DragomanGraph
import Foundation

/// Stored values as people and other programs read them.
enum CellText {
  /// The value's text by the attribute's type, nil for null.
  ///
  /// Booleans are `true` and `false`, bytes are base64, instants ISO 8601 with `T` and `Z`, numbers
  /// the shortest text that reads back as the same number; everything else is as stored.
  static func text(_ value: StoredValue, _ attribute: Attribute) -> String? {
    switch value {
    case .null: nil
    case .integer(let integer):
      attribute.type == .bool && (0...1).contains(integer)
        ? (integer == 1 ? "true" : "false") : String(integer)
    case .real(let real):
      attribute.type == .float ? String(Float(real)) : String(real)
    case .text(let text): attribute.type == .timestamp ? instant(text) : text
    case .blob(let bytes): Data(bytes).base64EncodedString()
    }
  }

  /// The text on one line, with everything that would move the cursor or turn the reading direction
  /// spelled out, so that no stored value can forge a table.
  static func visible(_ text: String) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        if scalar.isInvisible {
          result += "\\u{\(String(scalar.value, radix: 16))}"
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result
  }

  private static func instant(_ text: String) -> String {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    return parts.count == 2 ? "\(parts[0])T\(parts[1])Z" : text
  }
}
