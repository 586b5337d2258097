import GRDB
import GRDBSQLite

/// A statement of `EntityStatements`, compiled: rows are bound to it as they are.
final class PreparedSentence {
  private let statement: Statement
  private let slots: [Int]
  private let firstParameter: Int32

  /// Compiles a statement, and binds its constants.
  init(_ sentence: EntityStatements.Sentence, in database: Database) throws {
    statement = try database.makeStatement(sql: sentence.sql)
    slots = sentence.slots
    firstParameter = Int32(sentence.firstParameter)
    for (index, constant) in sentence.constants.enumerated() {
      try bind(constant, firstParameter + Int32(slots.count + index))
    }
  }

  /// SQLite's statement.
  var handle: OpaquePointer? { statement.sqliteStatement }

  /// Binds the values of a row; text and bytes stay in the arena, which must outlive the step.
  @inline(__always)
  func bind(_ row: UnsafeBufferPointer<RowValue>, _ arena: UnsafeRawPointer) {
    let handle = handle
    var parameter = firstParameter
    for slot in slots {
      Self.bind(row[slot], to: handle, parameter, arena)
      parameter += 1
    }
  }

  /// Runs a `SELECT` for a row, and tells whether it finds anything.
  func finds(
    _ row: UnsafeBufferPointer<RowValue>,
    _ arena: UnsafeRawPointer,
    path: String?
  ) throws(StoreError) -> Bool {
    try key(row, arena, path: path) != nil
  }

  /// Runs a `SELECT` of one integer for a row; nil: it finds nothing.
  func key(
    _ row: UnsafeBufferPointer<RowValue>,
    _ arena: UnsafeRawPointer,
    path: String?
  ) throws(StoreError) -> Int64? {
    bind(row, arena)
    defer { sqlite3_reset(handle) }
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return sqlite3_column_int64(handle, 0)
    case SQLITE_DONE: return nil
    case let code:
      throw StoreError(DatabaseError(resultCode: ResultCode(rawValue: code)), path: path)
    }
  }

  /// Runs a `SELECT` of one text for a row; nil: it finds nothing.
  func text(
    _ row: UnsafeBufferPointer<RowValue>,
    _ arena: UnsafeRawPointer,
    path: String?
  ) throws(StoreError) -> String? {
    guard let handle else { return nil }
    bind(row, arena)
    defer { sqlite3_reset(handle) }
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return columnText(handle, 0)
    case SQLITE_DONE: return nil
    case let code:
      throw StoreError(DatabaseError(resultCode: ResultCode(rawValue: code)), path: path)
    }
  }

  /// Binds one value; text and bytes stay in the arena.
  @inline(__always)
  static func bind(
    _ value: RowValue,
    to handle: OpaquePointer?,
    _ parameter: Int32,
    _ arena: UnsafeRawPointer
  ) {
    // A nil destructor is SQLITE_STATIC: the arena outlives the step.
    switch value.kind {
    case .absent, .null:
      sqlite3_bind_null(handle, parameter)
    case .integer:
      sqlite3_bind_int64(handle, parameter, value.integer)
    case .real:
      sqlite3_bind_double(handle, parameter, value.real)
    case .text:
      let text = (arena + value.offset).assumingMemoryBound(to: CChar.self)
      sqlite3_bind_text(handle, parameter, text, Int32(value.length), nil)
    case .blob:
      sqlite3_bind_blob(handle, parameter, arena + value.offset, Int32(value.length), nil)
    }
  }

  /// Binds a constant, which the statement keeps over resets.
  private func bind(_ value: StoredValue, _ parameter: Int32) throws {
    // SQLITE_TRANSIENT: SQLite keeps a copy.
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    let code =
      switch value {
      case .null: sqlite3_bind_null(handle, parameter)
      case .integer(let integer): sqlite3_bind_int64(handle, parameter, integer)
      case .real(let real): sqlite3_bind_double(handle, parameter, real)
      case .text(let text):
        sqlite3_bind_text(handle, parameter, text, Int32(text.utf8.count), transient)
      case .blob(let bytes):
        sqlite3_bind_blob(handle, parameter, bytes, Int32(bytes.count), transient)
      }
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }
}
