import Foundation
import GRDB
import GRDBSQLite

/// A value as an engine hands it out: texts and bytes stay in the engine's memory.
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

/// The current row of a statement, lent while it is stepped: nothing is copied that is not asked for.
///
/// It is SQLite's, or one that another engine has laid out as SQLite would hand it out.
struct StoredRow {
  private let statement: OpaquePointer?
  private let values: UnsafePointer<ColumnValue>?

  /// The row that a statement of SQLite stands at.
  @inline(__always)
  init(statement: OpaquePointer?) {
    self.statement = statement
    values = nil
  }

  /// A row of another engine; the values outlive their lending.
  init(values: UnsafePointer<ColumnValue>) {
    statement = nil
    self.values = values
  }

  /// The value of a column, from 0.
  @inline(__always)
  subscript(column: Int32) -> ColumnValue {
    if let values { return values[Int(column)] }
    return ColumnValue(sqlite3_column_value(statement, column))
  }

  /// An integer; 0 for null.
  @inline(__always)
  func integer(_ column: Int32) -> Int64 {
    if let values {
      return if case .integer(let integer) = values[Int(column)] { integer } else { 0 }
    }
    return sqlite3_column_int64(statement, column)
  }

  /// A text; empty for null.
  func text(_ column: Int32) -> String {
    if let values {
      guard case .text(let bytes) = values[Int(column)] else { return "" }
      return String(decoding: bytes, as: UTF8.self)
    }
    guard let bytes = sqlite3_column_text(statement, column) else { return "" }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// The value of a column, its text copied out.
  func stored(_ column: Int32) -> StoredValue { StoredValue(self[column]) }
}

// MARK: - What SQLite and GRDB call values

extension ColumnValue {
  /// A value of a row, or one that a function is called with.
  ///
  /// It is asked for once and then looked at: a connection has one thread at a time, which is all that
  /// `sqlite3_value_text` and the others need (https://sqlite.org/c3ref/value.html).
  @inline(__always)
  init(_ value: OpaquePointer?) {
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: self = .real(sqlite3_value_double(value))
    case SQLITE_TEXT:
      let bytes = sqlite3_value_text(value)
      let count = Int(sqlite3_value_bytes(value))
      self = .text(UnsafeRawBufferPointer(start: bytes, count: count))
    case SQLITE_BLOB:
      let bytes = sqlite3_value_blob(value)
      let count = Int(sqlite3_value_bytes(value))
      self = .blob(UnsafeRawBufferPointer(start: bytes, count: count))
    default: self = .null
    }
  }
}

extension StoredValue {
  /// The value with its text copied out; what is not UTF-8 is replaced by U+FFFD.
  init(_ value: ColumnValue) {
    switch value {
    case .null: self = .null
    case .integer(let integer): self = .integer(integer)
    case .real(let real): self = .real(real)
    case .text(let bytes): self = .text(String(decoding: bytes, as: UTF8.self))
    case .blob(let bytes): self = .blob(Array(bytes))
    }
  }

  /// The value as GRDB gave it.
  init(_ value: DatabaseValue) {
    switch value.storage {
    case .null: self = .null
    case .int64(let integer): self = .integer(integer)
    case .double(let real): self = .real(real)
    case .string(let text): self = .text(text)
    case .blob(let data): self = .blob(Array(data))
    }
  }

  /// The value as GRDB takes it.
  var databaseValue: DatabaseValue {
    switch self {
    case .null: .null
    case .integer(let integer): integer.databaseValue
    case .real(let real): real.databaseValue
    case .text(let text): text.databaseValue
    case .blob(let bytes): Data(bytes).databaseValue
    }
  }

  /// SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
  ///
  /// Swift does not import the macro, a cast of −1.
  private static let transient = unsafeBitCast(
    OpaquePointer(bitPattern: -1),
    to: sqlite3_destructor_type.self
  )

  /// Binds a copy to a parameter of a statement and gives SQLite's result.
  func bind(to statement: OpaquePointer, _ parameter: Int32) -> Int32 {
    switch self {
    case .null: return sqlite3_bind_null(statement, parameter)
    case .integer(let integer): return sqlite3_bind_int64(statement, parameter, integer)
    case .real(let real): return sqlite3_bind_double(statement, parameter, real)
    case .text(let text):
      let count = UInt64(text.utf8.count)
      return sqlite3_bind_text64(
        statement,
        parameter,
        text,
        count,
        Self.transient,
        UInt8(SQLITE_UTF8)
      )
    case .blob(let bytes) where bytes.isEmpty:
      return sqlite3_bind_zeroblob(statement, parameter, 0)
    case .blob(let bytes):
      let count = UInt64(bytes.count)
      return sqlite3_bind_blob64(statement, parameter, bytes, count, Self.transient)
    }
  }

  /// Makes it the result of a function.
  func give(to context: OpaquePointer?) {
    switch self {
    case .null: sqlite3_result_null(context)
    case .integer(let integer): sqlite3_result_int64(context, integer)
    case .real(let real): sqlite3_result_double(context, real)
    case .text(let text):
      let count = UInt64(text.utf8.count)
      sqlite3_result_text64(context, text, count, Self.transient, UInt8(SQLITE_UTF8))
    case .blob(let bytes) where bytes.isEmpty: sqlite3_result_zeroblob(context, 0)
    case .blob(let bytes):
      sqlite3_result_blob64(context, bytes, UInt64(bytes.count), Self.transient)
    }
  }
}

extension RowValue {
  /// Binds it to a parameter of a statement; text and bytes stay in the arena, which must outlive the
  /// step.
  @inline(__always)
  func bind(to statement: OpaquePointer?, _ parameter: Int32, _ arena: UnsafeRawPointer) {
    // A nil destructor is SQLITE_STATIC.
    switch kind {
    case .absent, .null: sqlite3_bind_null(statement, parameter)
    case .integer: sqlite3_bind_int64(statement, parameter, integer)
    case .real: sqlite3_bind_double(statement, parameter, real)
    case .text:
      let text = (arena + offset).assumingMemoryBound(to: CChar.self)
      sqlite3_bind_text(statement, parameter, text, Int32(length), nil)
    case .blob where length == 0: sqlite3_bind_zeroblob(statement, parameter, 0)
    case .blob: sqlite3_bind_blob(statement, parameter, arena + offset, Int32(length), nil)
    }
  }
}
