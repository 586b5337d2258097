import DragomanGraph

extension ExportBuffer {
  /// Which bytes a format cannot take as they are.
  enum Escaping {
    /// RFC 8259, section 7.
    case json
    /// Text of an XML element.
    case xmlText
    /// The value of an XML attribute.
    case xmlAttribute
    /// A quoted cell of CSV (RFC 4180).
    case csv
  }

  /// Appends text with the escapes of a format; false where the text had to be changed.
  ///
  /// Bytes that are not UTF-8 become U+FFFD, control characters that XML does not have `\u0001`.
  func append(_ text: UnsafeRawBufferPointer, escaping: Escaping) -> Bool {
    var isExact = true
    var copied = 0
    var index = 0
    let count = text.count
    while index < count {
      if index &+ 8 <= count,
        Self.arePlain(text.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      {
        index &+= 8
        continue
      }
      let byte = text[index]
      if byte < 0x80 {
        guard Self.isSpecial(byte, escaping) else {
          index &+= 1
          continue
        }
        append(UnsafeRawBufferPointer(rebasing: text[copied..<index]))
        if !appendEscape(of: byte, escaping) { isExact = false }
        index &+= 1
        copied = index
      } else {
        let length = Self.scalarLength(text, at: index)
        let isLegal =
          length > 0 && !(escaping != .json && escaping != .csv && Self.isNoncharacter(text, index))
        if isLegal {
          index &+= length
          continue
        }
        append(UnsafeRawBufferPointer(rebasing: text[copied..<index]))
        append("\u{FFFD}" as StaticString)
        isExact = false
        index &+= max(length, 1)
        copied = index
      }
    }
    append(UnsafeRawBufferPointer(rebasing: text[copied...]))
    return isExact
  }

  /// Whether eight bytes are ASCII and stand for themselves in every format but CSV's quotes: no
  /// control character, none of `"&<>\`.
  @inline(__always)
  private static func arePlain(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs: UInt64 = 0x8080_8080_8080_8080
    @inline(__always)
    func has(_ byte: UInt8) -> UInt64 {
      let difference = word ^ (ones &* UInt64(byte))
      return (difference &- ones) & ~difference
    }
    let controls = (word &- ones &* 0x20) & ~word
    let found = controls | has(0x22) | has(0x5C) | has(0x26) | has(0x3C) | has(0x3E) | word
    return found & highs == 0
  }

  @inline(__always)
  private static func isSpecial(_ byte: UInt8, _ escaping: Escaping) -> Bool {
    switch escaping {
    case .json: JSONString.isEscaped(byte)
    case .xmlText:
      byte == 0x26 || byte == 0x3C || byte == 0x3E
        || (byte < 0x20 && byte != 0x09 && byte != 0x0A)
    case .xmlAttribute: byte < 0x20 || byte == 0x22 || byte == 0x26 || byte == 0x3C
    case .csv: byte == 0x22 || byte == 0
    }
  }

  private func appendEscape(of byte: UInt8, _ escaping: Escaping) -> Bool {
    switch escaping {
    case .csv where byte == 0:
      append("\\u0000")
      return false
    case .csv: append("\"\"")
    case .json:
      append(UInt8(ascii: "\\"))
      if let letter = JSONString.letter(of: byte) { append(letter) } else { appendCode(byte) }
    case .xmlText, .xmlAttribute:
      switch byte {
      case 0x26: append("&amp;")
      case 0x3C: append("&lt;")
      case 0x3E: append("&gt;")
      case 0x22: append("&quot;")
      // As they are, a parser would make spaces of them, or drop them.
      case 0x09: append("&#9;")
      case 0x0A: append("&#10;")
      case 0x0D: append("&#13;")
      default:
        append(UInt8(ascii: "\\"))
        appendCode(byte)
        return false
      }
    }
    return true
  }

  private func appendCode(_ byte: UInt8) {
    append("u00")
    append(JSONString.digit(byte >> 4))
    append(JSONString.digit(byte & 15))
  }

  /// The length of the scalar that starts there; 0 where there is no valid one (Unicode, table 3-7).
  @inline(__always)
  private static func scalarLength(_ text: UnsafeRawBufferPointer, at index: Int) -> Int {
    let lead = text[index]
    let left = text.count &- index
    @inline(__always)
    func isTail(_ place: Int) -> Bool { text[index &+ place] & 0xC0 == 0x80 }
    switch lead {
    case 0xC2...0xDF: return left > 1 && isTail(1) ? 2 : 0
    case 0xE0...0xEF:
      guard left > 2, isTail(1), isTail(2) else { return 0 }
      if lead == 0xE0, text[index &+ 1] < 0xA0 { return 0 }
      if lead == 0xED, text[index &+ 1] > 0x9F { return 0 }
      return 3
    case 0xF0...0xF4:
      guard left > 3, isTail(1), isTail(2), isTail(3) else { return 0 }
      if lead == 0xF0, text[index &+ 1] < 0x90 { return 0 }
      if lead == 0xF4, text[index &+ 1] > 0x8F { return 0 }
      return 4
    default: return 0
    }
  }

  /// U+FFFE and U+FFFF, which XML does not have.
  private static func isNoncharacter(_ text: UnsafeRawBufferPointer, _ index: Int) -> Bool {
    text[index] == 0xEF && text[index + 1] == 0xBF && text[index + 2] >= 0xBE
  }
}
