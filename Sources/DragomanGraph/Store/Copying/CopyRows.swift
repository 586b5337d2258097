import GRDB

/// One side of a copy, whose tables can be read.
protocol CopyRows {
  /// The store in messages.
  var name: String { get }

  /// The tables whose names begin with a text.
  func tables(beginning start: String) throws -> [String]

  /// Whether an import in batches that keeps what it needs to its end is under way.
  ///
  /// - Parameters:
  ///   - run: The table of what it says of itself.
  ///   - state: What it says.
  /// - Returns: true also where nobody can know.
  /// - Throws: What the store throws.
  func isRunning(_ run: String, _ state: String) throws -> Bool

  /// Lends the rows of a table, with texts as docs/file.md spells values.
  ///
  /// - Parameters:
  ///   - columns: What is read of them.
  ///   - table: The table.
  ///   - key: The columns by which they are in order; all are integers, or texts that compare by their bytes.
  ///   - body: Gets the values of a row; may not use the store.
  /// - Throws: `StoreError`, and what the closure throws.
  func forEachRow(
    _ columns: [String],
    of table: String,
    by key: [String],
    _ body: ([StoredValue]) throws -> Void
  ) throws
}

extension CopyRows {
  /// The `SELECT` that reads a table.
  fileprivate func sql(_ columns: [String], _ table: String, _ key: [String]) -> String {
    let names = { (columns: [String]) in columns.map(Schema.quoted).joined(separator: ", ") }
    return "SELECT \(names(columns)) FROM \(Schema.quoted(table)) ORDER BY \(names(key))"
  }

  /// Lends the rows of a table of the model in the order of its primary key.
  func forEachRow(of table: Schema.Table, _ body: ([StoredValue]) throws -> Void) throws {
    let key = table.primaryKey.isEmpty ? ["_pk"] : table.primaryKey
    try forEachRow(table.columns.map(\.name), of: table.name, by: key, body)
  }
}

/// The tables of a file, in a transaction that sees one moment.
struct FileRows: CopyRows {
  let database: Database
  let name: String

  func tables(beginning start: String) throws -> [String] {
    try naming {
      try String.fetchAll(
        database,
        sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, ?) = ?",
        arguments: [start.unicodeScalars.count, start]
      )
    }
  }

  func forEachRow(
    _ columns: [String],
    of table: String,
    by key: [String],
    _ body: ([StoredValue]) throws -> Void
  ) throws {
    try naming {
      let statement = try RawStatement(sql(columns, table, key), in: database)
      try statement.forEachRow { row in
        var values: [StoredValue] = []
        values.reserveCapacity(columns.count)
        for index in columns.indices { values.append(try value(row, index, columns, table)) }
        try body(values)
      }
    }
  }

  func isRunning(_ run: String, _ state: String) -> Bool {
    RunOwner(state)?.mark.isRunning ?? false
  }

  /// Errors of this file's SQLite become ours; all others stay what they are.
  func naming<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as DatabaseError {
      throw StoreError(error, path: name)
    }
  }

  /// The value of a column; what is no UTF-8 is not changed by copying it, but refused.
  private func value(
    _ row: StoredRow,
    _ index: Int,
    _ columns: [String],
    _ table: String
  ) throws -> StoredValue {
    guard case .text(let bytes) = row[Int32(index)] else { return row.stored(Int32(index)) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw StoreError(
        .damaged,
        "\(table).\(columns[index]) of the row \(columns[0]) \(row.integer(0)) holds a text that is no UTF-8.",
        help: "correct the value, and copy again",
        path: name
      )
    }
    return .text(text)
  }
}

/// The tables of a server; where the connection is in a transaction that sees one moment, the rows are of that.
struct ServerRows: CopyRows {
  let connection: any ServerConnection
  let name: String

  func tables(beginning start: String) throws -> [String] {
    try ServerSQL(connection: connection, name: name).tables(beginning: start)
  }

  func isRunning(_ run: String, _ state: String) throws -> Bool {
    try ServerRun(run).map { try $0.isRunning(connection) != false } ?? false
  }

  func forEachRow(
    _ columns: [String],
    of table: String,
    by key: [String],
    _ body: ([StoredValue]) throws -> Void
  ) throws {
    try StoreError.onServer(name) {
      try connection.forEachRow(sql(columns, table, key), [], streams: true) { row in
        try body(columns.indices.map { StoredValue(row[$0]) })
      }
    }
  }
}
