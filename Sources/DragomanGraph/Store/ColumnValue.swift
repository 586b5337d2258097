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

  @inline(__always)
  static func column(_ column: Int32, of statement: OpaquePointer) -> ColumnValue {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
    case SQLITE_TEXT:
      let bytes = sqlite3_column_text(statement, column)
      let count = Int(sqlite3_column_bytes(statement, column))
      return .text(UnsafeRawBufferPointer(start: bytes, count: count))
    case SQLITE_BLOB:
      let bytes = sqlite3_column_blob(statement, column)
      let count = Int(sqlite3_column_bytes(statement, column))
      return .blob(UnsafeRawBufferPointer(start: bytes, count: count))
    default: return .null
    }
  }
}
