import DragomanGraph

/// Rows as CSV or TSV, names in the first line.
///
/// Null and the empty string stay apart in both.
struct DelimitedRowWriter: RowWriter {
  /// The two spellings.
  enum Dialect {
    /// RFC 4180: commas, CRLF, quotes where needed; null is nothing, the empty string `""`.
    case csv
    /// Tabs and line feeds; tab, line feed, return and backslash are written `\t \n \r \\` and null
    /// `\N`, as PostgreSQL's COPY does
    /// (https://www.postgresql.org/docs/current/sql-copy.html).
    case tsv
  }

  private let attributes: [Attribute]
  private let output: OutputBuffer
  private let dialect: Dialect
  private var hasHeader = false

  init(_ attributes: [Attribute], to output: OutputBuffer, dialect: Dialect) {
    self.attributes = attributes
    self.output = output
    self.dialect = dialect
  }

  mutating func write(_ row: [StoredValue]) throws(OutputError) {
    try header()
    try line(zip(row, attributes).map(CellText.text))
  }

  mutating func finish() throws(OutputError) { try header() }

  private mutating func header() throws(OutputError) {
    guard !hasHeader else { return }
    hasHeader = true
    try line(attributes.map(\.name))
  }

  private func line(_ cells: [String?]) throws(OutputError) {
    for index in cells.indices {
      if index > 0 { try output.write(dialect == .csv ? "," : "\t") }
      try output.write(dialect == .csv ? csv(cells[index]) : tsv(cells[index]))
    }
    try output.write(dialect == .csv ? "\r\n" : "\n")
  }

  private func csv(_ cell: String?) -> String {
    guard let cell else { return "" }
    let special = Array(",\"\r\n".utf8)
    guard cell.isEmpty || cell.utf8.contains(where: special.contains) else { return cell }
    return "\"" + replacing(cell, [UInt8(ascii: "\""): "\"\""]) + "\""
  }

  private func tsv(_ cell: String?) -> String {
    guard let cell else { return "\\N" }
    return replacing(cell, [0x5C: "\\\\", 0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"])
  }

  /// Byte by byte, because CR LF is one character to Swift.
  private func replacing(_ text: String, _ escapes: [UInt8: String]) -> String {
    guard text.utf8.contains(where: { escapes[$0] != nil }) else { return text }
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if let escape = escapes[byte] { bytes += escape.utf8 } else { bytes.append(byte) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
