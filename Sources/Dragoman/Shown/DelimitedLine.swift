import DragomanGraph

/// How the cells of a row become a line.
package enum DelimitedLine {
  /// RFC 4180: commas, CRLF, quotes where needed; null is nothing, the empty string `""`.
  ///
  /// In a file of one column null is `""`, too: readers skip lines without anything in them.
  case csv
  /// Tabs and line feeds; tab, line feed, return and backslash are written `\t \n \r \\` and null
  /// `\N`, as PostgreSQL's COPY does
  /// (https://www.postgresql.org/docs/current/sql-copy.html).
  case tsv

  /// The line of some cells, with its end.
  ///
  /// - Parameter cells: Their texts; nil: null.
  /// - Returns: The line.
  package func text(_ cells: [String?]) -> String {
    switch self {
    case .csv:
      let line = cells.map(Self.csv).joined(separator: ",")
      return (line.isEmpty ? "\"\"" : line) + "\r\n"
    case .tsv: return cells.map(Self.tsv).joined(separator: "\t") + "\n"
    }
  }

  private static func csv(_ cell: String?) -> String {
    guard let cell else { return "" }
    // Some readers drop spaces at the ends of a cell.
    let needsQuotes =
      cell.isEmpty || cell.utf8.first == 0x20 || cell.utf8.last == 0x20
      || cell.utf8.contains { byte in
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: "\""), 0x0A, 0x0D: true
        default: false
        }
      }
    return needsQuotes ? cell.enclosed(in: "\"") : cell
  }

  private static func tsv(_ cell: String?) -> String {
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
