import DragomanGraph

/// How the cells of a row become a line.
package enum DelimitedLine {
  /// RFC 4180: commas, CRLF, quotes where needed; null is nothing, the empty string `""`.
  ///
  /// In a file of one column null is `""`, too: readers skip lines without anything in them.
  case csv
  /// The same with tabs, as imports and exports have `.tsv`.
  case tsv

  /// The line of some cells, with its end.
  ///
  /// - Parameter cells: Their texts; nil: null.
  /// - Returns: The line.
  package func text(_ cells: [String?]) -> String {
    let separator = self == .csv ? "," : "\t"
    let line = cells.map(cell).joined(separator: separator)
    return (line.isEmpty ? "\"\"" : line) + "\r\n"
  }

  private func cell(_ cell: String?) -> String {
    guard let cell else { return "" }
    // Some readers drop white space at the ends of a cell.
    let needsQuotes =
      cell.isEmpty || cell.utf8.first == 0x20 || cell.utf8.last == 0x20
      || cell.utf8.contains { byte in
        switch byte {
        case UInt8(ascii: ","): self == .csv
        case UInt8(ascii: "\t"): self == .tsv
        case UInt8(ascii: "\""), 0x0A, 0x0D: true
        default: false
        }
      }
    return needsQuotes ? cell.enclosed(in: "\"") : cell
  }
}
