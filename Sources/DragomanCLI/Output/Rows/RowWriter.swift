import ArgumentParser
import DragomanGraph

/// How fetched rows are written.
enum FetchFormat: String, CaseIterable, ExpressibleByArgument {
  /// Aligned columns for people.
  case table
  /// One JSON object a line.
  case ndjson
  /// One JSON array.
  case json
  /// RFC 4180, with a header.
  case csv
  /// Tab-separated, with a header.
  case tsv
  /// A Markdown table.
  case markdown
  /// One `name = value` a line.
  case line

  /// The writer of this format.
  ///
  /// - Parameters:
  ///   - attributes: What the rows hold.
  ///   - output: Where they go.
  ///   - columnCount: The width of the terminal; nil if the output is none.
  ///   - isStyled: Whether the names of the columns of a table stand out.
  /// - Returns: A writer that has written nothing yet.
  func writer(
    for attributes: [Attribute],
    to output: OutputBuffer,
    columnCount: Int?,
    isStyled: Bool = false
  ) -> any RowWriter {
    switch self {
    case .table:
      TableRowWriter(attributes, to: output, columnCount: columnCount, isStyled: isStyled)
    case .ndjson: JSONRowWriter(attributes, to: output, isArray: false)
    case .json: JSONRowWriter(attributes, to: output, isArray: true)
    case .csv: DelimitedRowWriter(attributes, to: output, .csv)
    case .tsv: DelimitedRowWriter(attributes, to: output, .tsv)
    case .markdown: MarkdownRowWriter(attributes, to: output)
    case .line: LineRowWriter(attributes, to: output)
    }
  }
}

/// Writes rows one after the other, keeping none (a table: no more than a first window).
protocol RowWriter {
  /// Writes one row; its values are those of the attributes the writer was made for.
  mutating func write(_ row: [StoredValue]) throws(OutputError)
  /// Writes what belongs behind the last row (before the first one, if there is none).
  mutating func finish() throws(OutputError)
}
