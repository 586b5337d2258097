import GRDBSQLite

/// One row of a fetch, lent to a closure: it reads straight from SQLite and cannot be kept.
public struct FetchedRow: ~Copyable {
  /// The entity's name.
  private let entity: String
  /// The number of attributes.
  public let count: Int
  private let statement: OpaquePointer

  init(entity: String, count: Int, statement: OpaquePointer) {
    self.entity = entity
    self.count = count
    self.statement = statement
  }

  /// The identity of the object.
  public var objectID: ObjectID {
    ObjectID(entity: entity, primaryKey: sqlite3_column_int64(statement, 0))
  }

  /// The value of an attribute, by its place among the columns of the request, from 0.
  ///
  /// Texts come with all their bytes; what is not UTF-8 (SQLite does not check) is replaced by
  /// U+FFFD.
  public subscript(index: Int) -> StoredValue {
    precondition((0..<count).contains(index), "a fetched row has no column \(index)")
    let column = Int32(index) + 1
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
    case SQLITE_TEXT:
      let bytes = sqlite3_column_text(statement, column)
      let count = Int(sqlite3_column_bytes(statement, column))
      return .text(
        String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
      )
    case SQLITE_BLOB:
      let bytes = sqlite3_column_blob(statement, column)
      let count = Int(sqlite3_column_bytes(statement, column))
      return .blob(Array(UnsafeRawBufferPointer(start: bytes, count: count)))
    default: return .null
    }
  }

  /// All values, in the order of the columns.
  public var values: [StoredValue] { (0..<count).map { self[$0] } }
}
