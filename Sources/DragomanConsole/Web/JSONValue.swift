import DragomanGraph
import Foundation

/// A value of JSON (RFC 8259) whose objects keep the order of their members.
enum JSONValue: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  case null
  case bool(Bool)
  case integer(Int64)
  case string(String)
  /// JSON text.
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
    case .string(let value): text += JSONString.quoted(value, .script)
    case .raw(let value): text += Self.withoutMarkup(value)
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

  /// JSON in which nothing looks like markup or the end of a line of a script: such signs stand in strings only, where
  /// they have escapes.
  private static func withoutMarkup(_ json: String) -> String {
    guard json.utf8.contains(where: { $0 == UInt8(ascii: "<") || $0 == 0xE2 }) else { return json }
    var text = ""
    for scalar in json.unicodeScalars {
      switch scalar {
      case "<": text += "\\u003c"
      case "\u{2028}": text += "\\u2028"
      case "\u{2029}": text += "\\u2029"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
