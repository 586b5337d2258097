import DragomanGraph
import Foundation

/// A value of JSON (RFC 8259) whose objects keep the order of their members.
enum JSONValue: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  case null
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case string(String)
  /// JSON text that stands as it is.
  case raw(String)
  case array([JSONValue])
  case object([(String, JSONValue)])

  init(stringLiteral value: String) { self = .string(value) }
  init(integerLiteral value: Int64) { self = .integer(value) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements) }

  /// Text, or null.
  init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }
  /// A number, or null.
  init(_ number: Int?) { self = number.map { .integer(Int64($0)) } ?? .null }

  /// The text, without line breaks between its parts.
  var text: String {
    var text = ""
    append(to: &text)
    return text
  }

  private func append(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    // Infinity, which JSON does not have, overflows to itself.
    case .real(let value):
      text += value.isFinite ? String(value) : value.isNaN ? "null" : value < 0 ? "-9e999" : "9e999"
    case .string(let value): Self.append(value, to: &text)
    case .raw(let value): text += value
    case .array(let elements):
      text += "["
      for (place, element) in elements.enumerated() {
        if place > 0 { text += "," }
        element.append(to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (place, (name, value)) in members.enumerated() {
        if place > 0 { text += "," }
        Self.append(name, to: &text)
        text += ":"
        value.append(to: &text)
      }
      text += "}"
    }
  }

  private static func append(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      // Within a script of a page these would end it, or a line.
      case "<": text += "\\u003c"
      case "\u{2028}", "\u{2029}": text += "\\u\(String(scalar.value, radix: 16))"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        text += "\\u00" + (digits.count == 1 ? "0" : "") + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
