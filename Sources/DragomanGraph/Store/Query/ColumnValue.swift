import GRDBSQLite

/// A value as SQLite hands it out: texts and bytes stay in SQLite's memory.
///
/// It is lent together with its row: the bytes are gone when the next row is read.
public enum ColumnValue {
  /// No value.
  case null
  /// A signed 64-bit integer.
  case integer(Int64)
  /// A double.
  case real(Double)
  /// The bytes of a text; SQLite does not check that they are UTF-8.
  case text(UnsafeRawBufferPointer)
  /// Bytes.
  case blob(UnsafeRawBufferPointer)
}

extension FetchedRow {
  /// The value of an attribute without a copy, by its place among the columns of the request.
  ///
  /// Reads `sqlite3_column_*`; nothing is allocated. Use it inside the closure only.
  @inline(__always)
  public func column(_ index: Int) -> ColumnValue {
    precondition((0..<count).contains(index), "a fetched row has no column \(index)")
    return Self.column(Int32(truncatingIfNeeded: index) + 1, of: statement)
  }

  /// The value is asked for once and then looked at: a connection has one thread at a time, which
  /// is all that `sqlite3_value_text` and the others need (https://sqlite.org/c3ref/value.html).
  @inline(__always)
  static func column(_ column: Int32, of statement: OpaquePointer) -> ColumnValue {
    let value = sqlite3_column_value(statement, column)
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
    case SQLITE_TEXT:
      let bytes = sqlite3_value_text(value)
      let count = Int(sqlite3_value_bytes(value))
      return .text(UnsafeRawBufferPointer(start: bytes, count: count))
    case SQLITE_BLOB:
      let bytes = sqlite3_value_blob(value)
      let count = Int(sqlite3_value_bytes(value))
      return .blob(UnsafeRawBufferPointer(start: bytes, count: count))
    default: return .null
    }
  }
}
