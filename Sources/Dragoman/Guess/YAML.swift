/// Texts as YAML spells them.
enum YAML {
  /// A scalar, in quotes where it could be taken for something else.
  static func scalar(_ text: String) -> String {
    isPlain(text) ? text : quoted(text)
  }

  private static func isPlain(_ text: String) -> Bool {
    guard let first = text.utf8.first, ASCII.isLetter(first) || first == UInt8(ascii: "/"),
      !["null", "true", "false", "yes", "no", "on", "off"].contains(text.lowercased()),
      text.utf8.count <= 120
    else { return false }
    return text.utf8.allSatisfy { byte in
      ASCII.isLetter(byte) || ASCII.isDigit(byte) || "_-./".utf8.contains(byte)
    }
  }

  /// A text in double quotes.
  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      default:
        let isHidden =
          scalar.value < 0x20 || (0x7F...0xA0).contains(scalar.value)
          || scalar.properties.generalCategory == .control
          || scalar.properties.generalCategory == .format
          || scalar.properties.isWhitespace && scalar != " " || scalar.value == 0xFEFF
        if isHidden {
          let digits = String(scalar.value, radix: 16)
          let isLong = scalar.value > 0xFFFF
          result += (isLong ? "\\U" : "\\u")
          result += String(repeating: "0", count: (isLong ? 8 : 4) - digits.count) + digits
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }

  /// A comment on one line, without what could end it.
  static func comment(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(160) {
      let isHidden =
        scalar.properties.generalCategory == .control
        || scalar.properties.generalCategory == .format
        || scalar.properties.isWhitespace && scalar != " "
      result.append(isHidden ? "␣" : scalar)
    }
    return String(result)
  }
}
