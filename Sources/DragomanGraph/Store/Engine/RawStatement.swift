import GRDB
import GRDBSQLite

/// A compiled statement whose values are bound and stepped through SQLite's own calls.
///
/// GRDB's cache never forgets a text, and it binds a text only up to its first NUL: here values are
/// bound with their length. Belongs to the connection it was made on.
final class RawStatement {
  private let statement: Statement
  private let database: Database

  /// SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
  ///
  /// Swift does not import the macro, a cast of −1.
  static let transient = unsafeBitCast(
    OpaquePointer(bitPattern: -1),
    to: sqlite3_destructor_type.self
  )

  /// Compiles a statement.
  init(_ sql: String, in database: Database) throws {
    statement = try database.makeStatement(sql: sql)
    self.database = database
  }

  /// SQLite's statement.
  var handle: OpaquePointer { statement.sqliteStatement }

  /// Binds a value to a parameter, from 1 on; text and bytes are copied.
  func bind(_ value: StoredValue, _ parameter: Int32) throws {
    let code = Self.bind(value, parameter, of: handle)
    guard code == SQLITE_OK else { throw failure(code) }
  }

  /// Binds a value to a parameter of a statement and gives SQLite's result.
  static func bind(_ value: StoredValue, _ parameter: Int32, of handle: OpaquePointer) -> Int32 {
    switch value {
    case .null: return sqlite3_bind_null(handle, parameter)
    case .integer(let integer): return sqlite3_bind_int64(handle, parameter, integer)
    case .real(let real): return sqlite3_bind_double(handle, parameter, real)
    case .text(let text):
      let count = UInt64(text.utf8.count)
      let transient = RawStatement.transient
      return sqlite3_bind_text64(handle, parameter, text, count, transient, UInt8(SQLITE_UTF8))
    case .blob(let bytes) where bytes.isEmpty: return sqlite3_bind_zeroblob(handle, parameter, 0)
    case .blob(let bytes):
      let count = UInt64(bytes.count)
      return sqlite3_bind_blob64(handle, parameter, bytes, count, RawStatement.transient)
    }
  }

  /// Binds an integer.
  @inline(__always)
  func bind(integer value: Int64, _ parameter: Int32) {
    sqlite3_bind_int64(handle, parameter, value)
  }

  /// Binds a value that lies in an arena, which must outlive the step.
  @inline(__always)
  func bind(_ value: RowValue, _ parameter: Int32, _ arena: UnsafeRawPointer) {
    // A nil destructor is SQLITE_STATIC.
    switch value.kind {
    case .absent, .null: sqlite3_bind_null(handle, parameter)
    case .integer: sqlite3_bind_int64(handle, parameter, value.integer)
    case .real: sqlite3_bind_double(handle, parameter, value.real)
    case .text:
      let text = (arena + value.offset).assumingMemoryBound(to: CChar.self)
      sqlite3_bind_text(handle, parameter, text, Int32(value.length), nil)
    case .blob where value.length == 0: sqlite3_bind_zeroblob(handle, parameter, 0)
    case .blob: sqlite3_bind_blob(handle, parameter, arena + value.offset, Int32(value.length), nil)
    }
  }

  /// Runs the statement and returns how many rows it changed.
  @discardableResult
  func run() throws -> Int {
    let code = sqlite3_step(handle)
    sqlite3_reset(handle)
    guard code == SQLITE_DONE || code == SQLITE_ROW else { throw failure(code) }
    return Int(sqlite3_changes(database.sqliteConnection))
  }

  /// Lends each row's statement to the closure.
  func forEachRow(_ body: (OpaquePointer) throws -> Void) throws {
    defer { sqlite3_reset(handle) }
    while true {
      switch sqlite3_step(handle) {
      case SQLITE_ROW: try body(handle)
      case SQLITE_DONE: return
      case let code: throw failure(code)
      }
    }
  }

  private func failure(_ code: Int32) -> DatabaseError {
    let connection = database.sqliteConnection
    return DatabaseError(
      resultCode: ResultCode(rawValue: connection.map { sqlite3_extended_errcode($0) } ?? code),
      message: connection.map { String(cString: sqlite3_errmsg($0)) }
    )
  }
}

/// An integer of the current row.
@inline(__always)
func columnInteger(_ statement: OpaquePointer, _ column: Int32) -> Int64 {
  sqlite3_column_int64(statement, column)
}

/// The text of a column of the current row; empty for null.
func columnText(_ statement: OpaquePointer, _ column: Int32) -> String {
  guard let bytes = sqlite3_column_text(statement, column) else { return "" }
  let count = Int(sqlite3_column_bytes(statement, column))
  return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
}
