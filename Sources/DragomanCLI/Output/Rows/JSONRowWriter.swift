import DragomanGraph

/// Rows as JSON objects: one a line, or as the elements of one array.
///
/// Types decide: numbers, booleans and null are JSON's own; decimals are numbers with all their
/// digits; `json` attributes stand as the JSON they are; bytes are base64 and instants ISO 8601
/// strings. Infinity, which JSON does not have, is the number 9e999, which overflows to it.
struct JSONRowWriter: RowWriter {
  private let attributes: [Attribute]
  /// `"name":` of each attribute.
  private let members: [String]
  private let output: OutputBuffer
  private let isArray: Bool
  private var isEmpty = true

  init(_ attributes: [Attribute], to output: OutputBuffer, isArray: Bool) {
    self.attributes = attributes
    self.members = attributes.map { Self.string($0.name) + ":" }
    self.output = output
    self.isArray = isArray
  }

  mutating func write(_ row: [StoredValue]) throws(OutputError) {
    if isArray { try output.write(isEmpty ? "[\n" : ",\n") }
    isEmpty = false
    try writeObject(row)
    if !isArray { try output.write(byte: 0x0A) }
  }

  /// Writes a row as one object, and nothing else.
  func writeObject(_ row: [StoredValue]) throws(OutputError) {
    try output.write(byte: UInt8(ascii: "{"))
    for index in row.indices {
      if index > 0 { try output.write(byte: UInt8(ascii: ",")) }
      try output.write(members[index])
      try output.write(Self.value(row[index], attributes[index]))
    }
    try output.write(byte: UInt8(ascii: "}"))
  }

  mutating func finish() throws(OutputError) {
    if isArray { try output.write(isEmpty ? "[]\n" : "\n]\n") }
  }

  /// The value as JSON text without line breaks.
  static func value(_ value: StoredValue, _ attribute: Attribute) -> String {
    guard let text = CellText.text(value, attribute) else { return "null" }
    switch value {
    case .null, .integer: return text
    case .real(let real): return real.isFinite ? text : real < 0 ? "-9e999" : "9e999"
    case .text:
      switch attribute.type {
      case .decimal where isNumber(text): return text
      // A line break can only stand between tokens, where a space means the same.
      case .json: return isLine(text) ? text : line(text)
      default: return string(text)
      }
    case .blob: return string(text)
    }
  }

  private static func isLine(_ text: String) -> Bool {
    !text.utf8.contains { $0 == 0x0A || $0 == 0x0D }
  }

  /// Byte by byte, because CR LF is one character to Swift.
  private static func line(_ text: String) -> String {
    String(decoding: text.utf8.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }, as: UTF8.self)
  }

  /// The text as a JSON string (RFC 8259, section 7).
  static func string(_ text: String) -> String { JSONString.quoted(text, .lines) }

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
