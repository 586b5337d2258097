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
    case .string(let value): text += JSONString.quoted(value, .script)
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
        text += JSONString.quoted(name, .script)
        text += ":"
        value.append(to: &text)
      }
      text += "}"
    }
  }
}
