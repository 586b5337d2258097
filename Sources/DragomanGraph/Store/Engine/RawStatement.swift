import GRDB
import GRDBSQLite

/// A compiled statement whose values are bound and stepped through SQLite's own calls.
///
/// GRDB binds a text only up to its first NUL: here values are bound with their length. Belongs to the
/// connection it was made on.
final class RawStatement {
  /// SQLite's statement.
  let handle: OpaquePointer
  private let statement: Statement
  private let database: Database

  /// Compiles a statement.
  convenience init(_ sql: String, in database: Database) throws {
    self.init(try database.makeStatement(sql: sql), database)
  }

  /// Finds a statement that the connection keeps, or compiles it and keeps it (`Database.keptStatement`).
  ///
  /// For texts that come again. One that is being stepped by somebody is left alone.
  convenience init(kept sql: String, in database: Database) throws {
    let known = try database.keptStatement(sql)
    let isBusy = sqlite3_stmt_busy(known.sqliteStatement) != 0
    self.init(isBusy ? try database.makeStatement(sql: sql) : known, database)
  }

  private init(_ statement: Statement, _ database: Database) {
    self.statement = statement
    self.database = database
    handle = statement.sqliteStatement
  }

  // MARK: - Binding

  /// Binds a value to a parameter, from 1 on; text and bytes are copied.
  func bind(_ value: StoredValue, _ parameter: Int32) throws {
    let code = value.bind(to: handle, parameter)
    guard code == SQLITE_OK else { throw failure(code) }
  }

  /// Binds a value that outlives the step; nothing is copied.
  func bind(_ value: ColumnValue, _ parameter: Int32) {
    // A nil destructor is SQLITE_STATIC.
    switch value {
    case .null: sqlite3_bind_null(handle, parameter)
    case .integer(let integer): sqlite3_bind_int64(handle, parameter, integer)
    case .real(let real): sqlite3_bind_double(handle, parameter, real)
    // Of an empty text there may be no address, which would be null.
    case .text(let text) where text.isEmpty: _ = StoredValue.text("").bind(to: handle, parameter)
    case .text(let text):
      let start = text.baseAddress?.assumingMemoryBound(to: CChar.self)
      sqlite3_bind_text64(handle, parameter, start, UInt64(text.count), nil, UInt8(SQLITE_UTF8))
    case .blob(let bytes) where bytes.isEmpty: sqlite3_bind_zeroblob(handle, parameter, 0)
    case .blob(let bytes):
      sqlite3_bind_blob64(handle, parameter, bytes.baseAddress, UInt64(bytes.count), nil)
    }
  }

  /// Binds an integer.
  @inline(__always)
  func bind(integer value: Int64, _ parameter: Int32) {
    sqlite3_bind_int64(handle, parameter, value)
  }

  /// Binds null.
  @inline(__always)
  func bindNull(_ parameter: Int32) { sqlite3_bind_null(handle, parameter) }

  /// Binds numbers as a JSON array.
  func bind(list: some Sequence<Int64>, _ parameter: Int32) throws {
    try bind(.text("[\(list.map(String.init).joined(separator: ","))]"), parameter)
  }

  /// Binds a value that lies in an arena, which must outlive the step.
  @inline(__always)
  func bind(_ value: RowValue, _ parameter: Int32, _ arena: UnsafeRawPointer) {
    value.bind(to: handle, parameter, arena)
  }

  // MARK: - Running

  /// Goes on to the next row; false: there is none, and the statement can be run again.
  func step() throws(DatabaseError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE:
      sqlite3_reset(handle)
      return false
    case let code:
      let failure = failure(code)
      sqlite3_reset(handle)
      throw failure
    }
  }

  /// Ends a run before its last row.
  func reset() { sqlite3_reset(handle) }

  /// The row that it stands at.
  var row: StoredRow { StoredRow(statement: handle) }

  /// Runs the statement and returns how many rows it changed.
  @discardableResult
  func run() throws(DatabaseError) -> Int {
    if try step() { reset() }
    return Int(sqlite3_changes(database.sqliteConnection))
  }

  /// Lends each row to the closure.
  func forEachRow(_ body: (StoredRow) throws -> Void) throws {
    defer { reset() }
    while try step() { try body(row) }
  }

  private func failure(_ code: Int32) -> DatabaseError {
    let connection = database.sqliteConnection
    return DatabaseError(
      resultCode: ResultCode(rawValue: connection.map { sqlite3_extended_errcode($0) } ?? code),
      message: connection.map { String(cString: sqlite3_errmsg($0)) }
    )
  }
}
