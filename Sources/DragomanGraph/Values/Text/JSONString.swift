/// Texts as strings of JSON: what RFC 8259, section 7 wants escaped, and no more.
package enum JSONString {
  /// How control characters are spelled, and what else is escaped.
  ///
  /// All say the same to whoever reads them.
  package enum Spelling {
    /// `\b`, `\t`, `\n`, `\f` and `\r`, else `\u00xx`: what is stored and exported.
    case short
    /// `\t`, `\n` and `\r`, else `\u00xx`: lists and what the tool prints.
    case lines
    /// `\u00xx` only: maps.
    case codes
    /// As `lines`, and `<`, U+2028 and U+2029 by their numbers: within a script of a page they would end it, or a line.
    case script
  }

  /// A text in quotes.
  package static func quoted(_ text: String, _ spelling: Spelling) -> String {
    var bytes: [UInt8] = []
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0), spelling, to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// An object on one line; the values of its members are JSON already.
  package static func object(_ members: [(String, String)]) -> String {
    "{\(members.map { "\(quoted($0, .lines)):\($1)" }.joined(separator: ","))}"
  }

  /// Appends a text in quotes.
  ///
  /// - Parameters:
  ///   - text: UTF-8.
  ///   - spelling: How it is escaped.
  ///   - json: The bytes to append to.
  package static func append(
    _ text: UnsafeRawBufferPointer,
    _ spelling: Spelling = .short,
    to json: inout [UInt8]
  ) {
    json.append(UInt8(ascii: "\""))
    var copied = 0
    for index in text.indices {
      let byte = text[index]
      var length = 1
      if isEscaped(byte) {
        json.append(contentsOf: text[copied..<index])
        appendEscape(of: byte, spelling, to: &json)
      } else if spelling == .script, let number = breaking(text, at: index) {
        json.append(contentsOf: text[copied..<index])
        json.append(contentsOf: "\\u\(number.digits)".utf8)
        length = number.byteCount
      } else {
        continue
      }
      copied = index + length
    }
    json.append(contentsOf: text[copied...])
    json.append(UInt8(ascii: "\""))
  }

  /// Appends the escape of a quote, a backslash or a control character.
  package static func appendEscape(
    of byte: UInt8,
    _ spelling: Spelling = .short,
    to json: inout [UInt8]
  ) {
    json.append(UInt8(ascii: "\\"))
    if let letter = letter(of: byte, spelling) { return json.append(letter) }
    json.append(contentsOf: "u00".utf8)
    json.append(digit(byte >> 4))
    json.append(digit(byte & 15))
  }

  /// Whether a byte cannot stand in a string as it is.
  @inlinable
  package static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  /// What stands behind the backslash; nil: the byte's number.
  package static func letter(of byte: UInt8, _ spelling: Spelling = .short) -> UInt8? {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
    case 0x09 where spelling != .codes: UInt8(ascii: "t")
    case 0x0A where spelling != .codes: UInt8(ascii: "n")
    case 0x0D where spelling != .codes: UInt8(ascii: "r")
    case 0x08 where spelling == .short: UInt8(ascii: "b")
    case 0x0C where spelling == .short: UInt8(ascii: "f")
    default: nil
    }
  }

  /// A hexadecimal digit.
  package static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  /// The number of what would end a script, or a line of one.
  private static func breaking(
    _ text: UnsafeRawBufferPointer,
    at index: Int
  ) -> (digits: String, byteCount: Int)? {
    if text[index] == UInt8(ascii: "<") { return ("003c", 1) }
    guard text[index] == 0xE2, index + 2 < text.count, text[index + 1] == 0x80 else { return nil }
    switch text[index + 2] {
    case 0xA8: return ("2028", 3)
    case 0xA9: return ("2029", 3)
    default: return nil
    }
  }
}
