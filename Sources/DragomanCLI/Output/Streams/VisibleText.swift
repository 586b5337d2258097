import Dragoman

/// Text that a terminal shows as it is and does not obey.
enum VisibleText {
  /// The text on one line, with everything that would move the cursor or turn the reading direction
  /// spelled out, so that no stored value can forge a table.
  static func of(_ text: String) -> String {
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
}
