import DragomanGraph
import Foundation

/// Rows of `COPY … TO STDOUT`, a line of text each
/// (https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.3.55.9.2).
struct CopiedRow: ~Copyable {
  private let types: [PostgreSQLType?]
  private let values: UnsafeMutablePointer<ColumnValue>
  private var scratch = Scratch()

  init(_ types: [PostgreSQLType?]) {
    self.types = types
    values = .allocate(capacity: max(1, types.count))
  }

  deinit { values.deallocate() }

  /// Lends the values of a line, which is written over.
  mutating func lend(
    _ line: UnsafeMutableRawBufferPointer,
    _ body: (UnsafePointer<ColumnValue>) throws -> Void
  ) throws {
    scratch.clear()
    var end = line.count
    if end > 0, line[end - 1] == UInt8(ascii: "\n") { end -= 1 }
    var place = 0
    for (column, type) in types.enumerated() {
      let start = place
      var length = 0
      var isNull = false
      while place < end, line[place] != UInt8(ascii: "\t") {
        if line[place] == UInt8(ascii: "\\"), place + 1 < end {
          place += 1
          switch line[place] {
          case UInt8(ascii: "N"): isNull = true
          case UInt8(ascii: "b"): line[start + length] = 8
          case UInt8(ascii: "f"): line[start + length] = 12
          case UInt8(ascii: "n"): line[start + length] = 10
          case UInt8(ascii: "r"): line[start + length] = 13
          case UInt8(ascii: "t"): line[start + length] = 9
          case UInt8(ascii: "v"): line[start + length] = 11
          case let other: line[start + length] = other
          }
        } else if start + length != place {
          line[start + length] = line[place]
        }
        length += 1
        place += 1
      }
      // What reads numbers wants a zero behind them: the tab, or the end, has been read.
      if start + length < line.count { line[start + length] = 0 }
      place += 1
      let bytes = UnsafeRawBufferPointer(rebasing: line[start..<start + length])
      (values + column).initialize(to: isNull ? .null : scratch.value(bytes, type))
    }
    try body(UnsafePointer(values))
  }
}
