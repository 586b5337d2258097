import Dragoman
import DragomanGraph

/// Rows as `name = value` lines, the names aligned, an empty line between two rows.
struct LineRowWriter: RowWriter {
  private let attributes: [Attribute]
  private let labels: [String]
  private let output: OutputBuffer
  private var isEmpty = true

  init(_ attributes: [Attribute], to output: OutputBuffer) {
    self.attributes = attributes
    self.output = output
    let names = attributes.map { VisibleText.of($0.name) }
    let width = names.map(DisplayWidth.of).max() ?? 0
    labels = names.map { String(repeating: " ", count: width - DisplayWidth.of($0)) + $0 + " = " }
  }

  mutating func write(_ row: [StoredValue]) throws(OutputError) {
    if !isEmpty { try output.write("\n") }
    isEmpty = false
    for index in row.indices {
      let text = ShownValue.text(row[index], attributes[index], isMasked: false)
        .map(VisibleText.of)
      try output.write(labels[index] + (text ?? ShownValue.null) + "\n")
    }
  }

  mutating func finish() throws(OutputError) {}
}
