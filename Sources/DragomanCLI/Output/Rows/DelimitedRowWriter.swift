import Dragoman
import DragomanGraph

/// Rows as CSV or TSV, names in the first line.
///
/// Null and the empty string stay apart in both, but for CSV of one column.
struct DelimitedRowWriter: RowWriter {
  private let attributes: [Attribute]
  private let output: OutputBuffer
  private let format: DelimitedLine
  private var hasHeader = false

  init(_ attributes: [Attribute], to output: OutputBuffer, _ format: DelimitedLine) {
    self.attributes = attributes
    self.output = output
    self.format = format
  }

  mutating func write(_ row: [StoredValue]) throws(OutputError) {
    try header()
    let cells = zip(row, attributes).map { ShownValue.text($0, $1, isMasked: false) }
    try output.write(format.text(cells))
  }

  mutating func finish() throws(OutputError) { try header() }

  private mutating func header() throws(OutputError) {
    guard !hasHeader else { return }
    hasHeader = true
    try output.write(format.text(attributes.map(\.name)))
  }
}
