import Foundation

/// As much of JSON Schema (draft-07) as the schema of maps uses; a keyword that it does not know is an
/// error, so that nothing passes unchecked.
struct SchemaValidator {
  struct UnknownKeyword: Error { let keyword: String }

  private let root: [String: Any]

  init(_ text: String) throws {
    root = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
  }

  /// Whether a value is what the schema wants.
  func admits(_ value: Any) throws -> Bool { try admits(value, root) }

  private func admits(_ value: Any, _ schema: [String: Any]) throws -> Bool {
    for (keyword, rule) in schema where try !admits(value, keyword, rule, schema) { return false }
    return true
  }

  private func admits(
    _ value: Any,
    _ keyword: String,
    _ rule: Any,
    _ schema: [String: Any]
  ) throws -> Bool {
    let object = value as? [String: Any]
    let number = rule as? Int ?? 0
    switch keyword {
    case "$schema", "$id", "title", "description", "default", "definitions", "properties": break
    case "type":
      let types = rule as? [String] ?? [rule as? String ?? ""]
      return types.contains { isOf($0, value) }
    case "enum":
      return (rule as? [Any] ?? []).contains { ($0 as? NSObject) == (value as? NSObject) }
    case "additionalProperties":
      let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
      for (key, member) in object ?? [:] {
        if let known = properties[key] {
          if try !admits(member, known) { return false }
        } else if let other = rule as? [String: Any] {
          if try !admits(member, other) { return false }
        } else {
          return false
        }
      }
    case "required":
      return object.map { object in
        (rule as? [String] ?? []).allSatisfy { object[$0] != nil }
      } ?? true
    case "minProperties": return object.map { $0.count >= number } ?? true
    case "items":
      let element = rule as? [String: Any] ?? [:]
      return try (value as? [Any] ?? []).allSatisfy { try admits($0, element) }
    case "anyOf":
      return try (rule as? [[String: Any]] ?? []).contains { try admits(value, $0) }
    case "allOf":
      return try (rule as? [[String: Any]] ?? []).allSatisfy { try admits(value, $0) }
    case "$ref":
      let name = (rule as? String)?.split(separator: "/").last.map(String.init) ?? ""
      let definitions = root["definitions"] as? [String: [String: Any]]
      guard let definition = definitions?[name] else { throw UnknownKeyword(keyword: "\(rule)") }
      return try admits(value, definition)
    case "minLength": return (value as? String).map { $0.unicodeScalars.count >= number } ?? true
    case "maxLength": return (value as? String).map { $0.unicodeScalars.count <= number } ?? true
    case "minimum": return isOf("integer", value) ? (value as? Int ?? .min) >= number : true
    case "maximum": return isOf("integer", value) ? (value as? Int ?? .max) <= number : true
    default: throw UnknownKeyword(keyword: keyword)
    }
    return true
  }

  private func isOf(_ type: String, _ value: Any) -> Bool {
    // JSONSerialization's booleans are numbers, too.
    let isFlag = (value as? NSNumber).map { CFBooleanLike.isFlag($0) } ?? false
    switch type {
    case "null": return value is NSNull
    case "boolean": return isFlag
    case "integer": return !isFlag && value is Int
    case "number": return !isFlag && value is NSNumber
    case "string": return value is String
    case "array": return value is [Any]
    case "object": return value is [String: Any]
    default: return false
    }
  }

  private enum CFBooleanLike {
    static func isFlag(_ number: NSNumber) -> Bool {
      type(of: number) == type(of: NSNumber(value: true)) && String(cString: number.objCType) == "c"
    }
  }
}
