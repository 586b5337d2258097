import DragomanGraph
import Foundation

/// Stored values as people and other programs read them, by their attributes' types.
///
/// Values of sensitive attributes are masked unless the caller says otherwise.
package enum ShownValue {
  /// What stands for a value of a sensitive attribute.
  package static let mask = ForeignText.mask

  /// What stands for null where people read.
  package static let null = "∅"

  /// The value's text; nil for null.
  ///
  /// Booleans are `true` and `false`, bytes are base64, instants ISO 8601 with `T` and `Z`, numbers
  /// the shortest text that reads back as the same number; everything else is as stored.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - attribute: Its attribute.
  ///   - isMasked: Whether a value of a sensitive attribute is `•••`.
  /// - Returns: The text.
  package static func text(
    _ value: StoredValue,
    _ attribute: Attribute,
    isMasked: Bool = true
  ) -> String? {
    if isMasked, attribute.isSensitive, !value.isNull { return mask }
    switch value {
    case .null: return nil
    case .integer(let integer):
      return attribute.type == .bool && (0...1).contains(integer)
        ? (integer == 1 ? "true" : "false") : String(integer)
    case .real(let real): return attribute.type == .float ? String(Float(real)) : String(real)
    case .text(let text): return attribute.type == .timestamp ? instant(text) : text
    case .blob(let bytes): return Data(bytes).base64EncodedString()
    }
  }

  /// A stored instant as ISO 8601 has it.
  package static func instant(_ text: String) -> String {
    let parts = text.parts(at: " ")
    return parts.count == 2 ? "\(parts[0])T\(parts[1])Z" : text
  }

  /// The value as JSON (RFC 8259) on one line.
  ///
  /// Types decide: numbers, booleans and null are JSON's own; decimals are numbers with all their
  /// digits; `json` attributes stand as the JSON they are; bytes are base64 and instants ISO 8601
  /// strings. Infinity, which JSON does not have, is the number 9e999, which overflows to it.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - attribute: Its attribute.
  ///   - isMasked: Whether a value of a sensitive attribute is `"•••"`.
  /// - Returns: The JSON.
  package static func json(
    _ value: StoredValue,
    _ attribute: Attribute,
    isMasked: Bool = true
  ) -> String {
    guard let text = text(value, attribute, isMasked: isMasked) else { return "null" }
    if isMasked, attribute.isSensitive { return JSONString.quoted(text, .lines) }
    switch value {
    case .null, .integer: return text
    case .real(let real): return real.isFinite ? text : real < 0 ? "-9e999" : "9e999"
    case .text:
      switch attribute.type {
      case .decimal where isNumber(text): return text
      // A line break can only stand between tokens, where a space means the same.
      case .json: return text.escaping { $0 == 0x0A || $0 == 0x0D ? " " : nil }
      default: return JSONString.quoted(text, .lines)
      }
    case .blob: return JSONString.quoted(text, .lines)
    }
  }

  /// Whether the text is a number by JSON's grammar, without an exponent.
  private static func isNumber(_ text: String) -> Bool {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    let parts = digits.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let isPlain = parts.allSatisfy { part in
      !part.isEmpty && part.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
    }
    guard isPlain, parts.count <= 2, let whole = parts.first else { return false }
    return whole.count == 1 || whole.first != UInt8(ascii: "0")
  }
}
