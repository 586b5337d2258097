import DragomanGraph

/// Rows as the versioned document of `--json`: the entity, the rows, and where the next page begins.
struct JSONDocumentWriter: RowWriter {
  private let rows: JSONRowWriter
  private let entity: String
  private let output: OutputBuffer
  private var isEmpty = true
  /// The place behind the last row, where there are more of them; to be set before `finish()`.
  var next: FetchCursor?

  init(_ entity: String, _ attributes: [Attribute], to output: OutputBuffer) {
    self.entity = entity
    self.output = output
    rows = JSONRowWriter(attributes, to: output, isArray: false)
  }

  mutating func write(_ row: [StoredValue]) throws(OutputError) {
    try output.write(isEmpty ? head + "\n" : ",\n")
    isEmpty = false
    try rows.writeObject(row)
  }

  mutating func finish() throws(OutputError) {
    let next = next.map { JSONRowWriter.string($0.text) } ?? "null"
    try output.write((isEmpty ? head : "\n") + "],\"next\":\(next)}\n")
  }

  private var head: String {
    "{\"v\":1,\"entity\":\(JSONRowWriter.string(entity)),\"rows\":["
  }
}
