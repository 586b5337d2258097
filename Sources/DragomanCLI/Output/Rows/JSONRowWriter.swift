import Dragoman
import DragomanGraph

/// Rows as JSON objects: one a line, or as the elements of one array.
///
/// Values of sensitive attributes are among them: who fetches reads a database of their own.
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
      try output.write(ShownValue.json(row[index], attributes[index], isMasked: false))
    }
    try output.write(byte: UInt8(ascii: "}"))
  }

  mutating func finish() throws(OutputError) {
    if isArray { try output.write(isEmpty ? "[]\n" : "\n]\n") }
  }

  /// The text as a JSON string (RFC 8259, section 7).
  static func string(_ text: String) -> String { JSONString.quoted(text, .lines) }
}
