import Foundation
import GRDB

/// What a column of ours can hold: a type of Swift, and the storage class of SQLite that it is.
protocol StoredColumn {
  /// What the column should hold, in the words of a message.
  static var storedName: String { get }

  /// The value; nil where SQLite holds anything else, which is never converted.
  static func stored(_ value: DatabaseValue) -> Self?
}

extension Int64: StoredColumn {
  static var storedName: String { "an integer" }

  static func stored(_ value: DatabaseValue) -> Int64? {
    if case .int64(let integer) = value.storage { integer } else { nil }
  }
}

extension Int: StoredColumn {
  static var storedName: String { "an integer" }

  static func stored(_ value: DatabaseValue) -> Int? {
    Int64.stored(value).flatMap { Int(exactly: $0) }
  }
}

extension String: StoredColumn {
  static var storedName: String { "a text" }

  static func stored(_ value: DatabaseValue) -> String? {
    if case .string(let text) = value.storage { text } else { nil }
  }
}

extension Data: StoredColumn {
  static var storedName: String { "bytes" }

  static func stored(_ value: DatabaseValue) -> Data? {
    if case .blob(let data) = value.storage { data } else { nil }
  }
}

extension Optional: StoredColumn where Wrapped: StoredColumn {
  static var storedName: String { "\(Wrapped.storedName) or null" }

  static func stored(_ value: DatabaseValue) -> Wrapped?? {
    value.isNull ? .some(nil) : Wrapped.stored(value).map { .some($0) }
  }
}

extension Row {
  /// The value of a column, which must be of the type that is wanted.
  ///
  /// GRDB's subscripts end the process where a file holds something else, and its statements turn
  /// texts into zeros: whatever is read from a file goes through here.
  ///
  /// - Parameters:
  ///   - index: The column, from 0.
  ///   - place: What the row is of, for the message: `_dragoman_pending`.
  ///   - type: What is wanted.
  /// - Returns: The value.
  /// - Throws: `StoreError`, `.damaged`, with the column and what it holds.
  func stored<Value: StoredColumn>(
    _ index: Int,
    of place: String,
    as type: Value.Type = Value.self
  ) throws(StoreError) -> Value {
    guard index < count else {
      throw StoreError(.damaged, "A row of \(place) has \(count) columns only.")
    }
    let value: DatabaseValue = self[index]
    if let found = Value.stored(value) { return found }
    let column = Array(columnNames)[index]
    throw StoreError(
      .damaged,
      "The column \(column) of \(place) holds \(value.storedName) where \(Value.storedName) should"
        + " be.",
      help: "restore a backup, or correct the value"
    )
  }

  /// The same for a column by its name.
  func stored<Value: StoredColumn>(
    _ column: String,
    of place: String,
    as type: Value.Type = Value.self
  ) throws(StoreError) -> Value {
    guard let index = columnNames.firstIndex(where: { $0.utf8.elementsEqual(column.utf8) }) else {
      throw StoreError(
        .damaged,
        "\(place) has no column \(column).",
        help: "restore a backup"
      )
    }
    return try stored(columnNames.distance(from: columnNames.startIndex, to: index), of: place)
  }
}

extension Database {
  /// Whether the file has a table now.
  ///
  /// GRDB's `tableExists` believes what it has seen: after a rollback, and when another process has made the
  /// table since.
  func hasTable(_ name: String) throws -> Bool {
    let statement = try keptStatement(
      "SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE"
    )
    return try Int.fetchOne(statement, arguments: [name]) != nil
  }

  /// The first column of the first row; nil where there is no row.
  ///
  /// - Parameters:
  ///   - sql: A `SELECT`.
  ///   - arguments: What it binds.
  ///   - place: What the row is of, for the message.
  ///   - type: What is wanted.
  /// - Returns: The value.
  /// - Throws: `StoreError`, `.damaged`, where it is of another type; what SQLite says.
  func storedValue<Value: StoredColumn>(
    _ sql: String,
    _ arguments: StatementArguments = [],
    of place: String,
    as type: Value.Type = Value.self
  ) throws -> Value? {
    try Row.fetchOne(self, sql: sql, arguments: arguments)?.stored(0, of: place, as: type)
  }
}

extension DatabaseValue {
  /// What it is, without what it holds: a message may show no value of a sensitive attribute.
  fileprivate var storedName: String {
    switch storage {
    case .null: "null"
    case .int64: "an integer"
    case .double: "a real"
    case .string: "a text"
    case .blob: "a blob"
    }
  }
}
