import Foundation

/// Writes the elements of a list as a JSON array.
struct ListWriter {
  private let buffer: BoxingBuffer
  private let type: AttributeType
  private var parts: [String] = []

  init(_ type: AttributeType) {
    self.type = type
    buffer = BoxingBuffer([Attribute(name: "element", type: type)])
  }

  /// The array.
  var text: String { "[\(parts.joined(separator: ","))]" }

  /// Adds an element.
  ///
  /// - Throws: `ValueMismatch` where the element does not fit its type, or is no number of JSON.
  mutating func append(_ element: some AttributeValue) throws {
    buffer.reset()
    var column = BoxingColumn(buffer, 0)
    try element.box(into: &column)
    switch buffer.stored(0) {
    case .null: parts.append("null")
    case .integer(let integer) where type == .bool: parts.append(integer == 0 ? "false" : "true")
    case .integer(let integer): parts.append(String(integer))
    case .real(let real):
      guard real.isFinite else {
        throw ValueMismatch(expected: "a finite number", beyond: "\(real)")
      }
      parts.append("\(real)")
    case .text(let text): parts.append(type == .json ? text : JSONString.quoted(text, .lines))
    case .blob(let bytes): parts.append("\"\(Data(bytes).base64EncodedString())\"")
    }
  }
}

/// Reads the elements of a JSON array, numbers by their digits.
struct ListReader {
  private let bytes: UnsafeRawBufferPointer
  private var place = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Lends each element in the form in which a column of its type would have it.
  ///
  /// - Returns: false where the text is no array, or an element is nothing that the type could be.
  mutating func forEach(_ type: AttributeType, _ body: (ColumnValue) throws -> Void) throws -> Bool
  {
    guard take("[") else { return false }
    skipSpace()
    if take("]") { return isAtEnd }
    repeat {
      skipSpace()
      let start = place
      guard let kind = skipValue() else { return false }
      let token = UnsafeRawBufferPointer(rebasing: bytes[start..<place])
      guard try lend(token, kind, type, body) else { return false }
      skipSpace()
    } while take(",")
    return take("]") && isAtEnd
  }

  private enum Kind {
    case string
    case number
    case word
    case nested
  }

  private func lend(
    _ token: UnsafeRawBufferPointer,
    _ kind: Kind,
    _ type: AttributeType,
    _ body: (ColumnValue) throws -> Void
  ) throws -> Bool {
    let text = String(decoding: token, as: UTF8.self)
    if text == "null" {
      try body(.null)
    } else if type == .json {
      try body(.text(token))
    } else {
      switch (kind, type.columnType) {
      case (.string, "BLOB"):
        guard let inner = unquoted(text), let data = Data(base64Encoded: inner) else {
          return false
        }
        try data.withUnsafeBytes { try body(.blob($0)) }
      case (.string, _):
        guard let inner = unquoted(text) else { return false }
        try StoredValue.text(inner).withColumn(body)
      case (.word, _) where type == .bool: try body(.integer(text == "true" ? 1 : 0))
      case (.number, _) where type == .decimal: try body(.text(token))
      case (.number, "INTEGER") where type != .bool, (.number, "REAL"):
        if let integer = Int64(text) {
          try body(.integer(integer))
        } else if let real = Double(text) {
          try body(.real(real))
        } else {
          return false
        }
      case (.word, _), (.number, _), (.nested, _):
        // A list holds its elements exactly or not at all: no text is made of a number.
        throw ValueMismatch(.type, expected: type.withArticle, found: "the JSON \(text.prefix(40))")
      }
    }
    return true
  }

  private func unquoted(_ text: String) -> String? {
    if !text.utf8.contains(UInt8(ascii: "\\")) { return String(text.dropFirst().dropLast()) }
    return try? JSONDecoder().decode(String.self, from: Data(text.utf8))
  }

  // MARK: - Scanning

  private var isAtEnd: Bool {
    bytes[place...].allSatisfy { Self.isSpace($0) }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  private mutating func skipSpace() {
    while place < bytes.count, Self.isSpace(bytes[place]) { place += 1 }
  }

  private mutating func take(_ sign: Unicode.Scalar) -> Bool {
    guard place < bytes.count, UInt32(bytes[place]) == sign.value else { return false }
    place += 1
    return true
  }

  /// Goes behind the value that begins here.
  private mutating func skipValue() -> Kind? {
    guard place < bytes.count else { return nil }
    switch bytes[place] {
    case UInt8(ascii: "\""): return skipString() ? .string : nil
    case UInt8(ascii: "["), UInt8(ascii: "{"):
      var depth = 0
      repeat {
        guard place < bytes.count else { return nil }
        switch bytes[place] {
        case UInt8(ascii: "\""):
          guard skipString() else { return nil }
          continue
        case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
        case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
        default: break
        }
        place += 1
      } while depth > 0
      return .nested
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      while place < bytes.count, "+-.eE0123456789".utf8.contains(bytes[place]) { place += 1 }
      return .number
    default:
      for word in ["null", "true", "false"] where bytes[place...].starts(with: word.utf8) {
        place += word.utf8.count
        return .word
      }
      return nil
    }
  }

  private mutating func skipString() -> Bool {
    place += 1
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "\\"): place += 2
      case UInt8(ascii: "\""):
        place += 1
        return true
      default: place += 1
      }
    }
    return false
  }
}
