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
    return cell.enclosed(in: "\"")
  }

  private func tsv(_ cell: String?) -> String {
    guard let cell else { return "\\N" }
    return cell.escaping { byte in
      switch byte {
      case UInt8(ascii: "\\"): "\\\\"
      case UInt8(ascii: "\t"): "\\t"
      case UInt8(ascii: "\n"): "\\n"
      case UInt8(ascii: "\r"): "\\r"
      default: nil
      }
    }
  }
}
