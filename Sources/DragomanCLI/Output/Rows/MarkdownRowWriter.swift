import Dragoman
import DragomanGraph

/// Rows as a table of GitHub Flavored Markdown (https://github.github.com/gfm/#tables-extension-).
///
/// What Markdown or HTML would read as markup is escaped, line breaks are `<br>`, null is an empty
/// cell.
struct MarkdownRowWriter: RowWriter {
  private let attributes: [Attribute]
  private let output: OutputBuffer
  private var hasHeader = false

  init(_ attributes: [Attribute], to output: OutputBuffer) {
    self.attributes = attributes
    self.output = output
  }

  mutating func write(_ row: [StoredValue]) throws(OutputError) {
    try header()
    try line(
      zip(row, attributes).map { ShownValue.text($0, $1, isMasked: false).map(Self.escaped) ?? "" }
    )
  }

  mutating func finish() throws(OutputError) { try header() }

  private mutating func header() throws(OutputError) {
    guard !hasHeader else { return }
    hasHeader = true
    try line(attributes.map { Self.escaped($0.name) })
    try line(attributes.map { $0.type.isNumeric ? "---:" : "---" })
  }

  private func line(_ cells: [String]) throws(OutputError) {
    try output.write("| " + cells.joined(separator: " | ") + " |\n")
  }

  private static func escaped(_ text: String) -> String {
    let lines = text.replacing("\r\n", with: "\n").split(
      separator: "\n",
      omittingEmptySubsequences: false
    )
    return lines.map { line in
      VisibleText.of(String(line)).escaping { byte in
        switch byte {
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: "\\"): "\\\\"
        case UInt8(ascii: "|"): "\\|"
        case UInt8(ascii: "*"): "\\*"
        case UInt8(ascii: "_"): "\\_"
        case UInt8(ascii: "`"): "\\`"
        case UInt8(ascii: "["): "\\["
        case UInt8(ascii: "]"): "\\]"
        case UInt8(ascii: "~"): "\\~"
        default: nil
        }
      }
    }.joined(separator: "<br>")
  }
}
