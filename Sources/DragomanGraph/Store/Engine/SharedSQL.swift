import GRDB

/// Runs statements that SQLite and PostgreSQL take alike, so that what is said in them is said once.
///
/// Parameters are `?1`, `?2`, …; what only one engine understands stays out.
package protocol SharedSQL {
  /// Where temporary tables are: `temp` or `pg_temp`.
  var temporarySchema: String { get }
  /// What stands behind a table whose rows are found by a key of several columns only.
  var keyedTable: String { get }
  /// The type of a column of bytes.
  var bytesType: String { get }
  /// How many rows one statement should change at most, for whoever works in portions.
  var portion: Int { get }
  /// What ends a subquery that is not about the rows of the outer query alone; some engines want to answer it by itself.
  var apart: String { get }

  /// Runs a statement.
  ///
  /// - Returns: How many rows it changed.
  @discardableResult
  func run(_ sql: String, _ values: [StoredValue]) throws(StoreError) -> Int

  /// The values of a `SELECT` of these columns, all in memory; `source` is what stands behind the columns.
  func values(
    _ columns: [String],
    _ source: String,
    _ values: [StoredValue]
  ) throws(StoreError) -> [[StoredValue]]

  /// Whether the database has a table now, temporary ones aside.
  func hasTable(_ name: String) throws(StoreError) -> Bool

  /// The tables whose names begin so.
  func tables(beginning start: String) throws(StoreError) -> [String]

  /// Adds pairs of numbers to a table of two columns; those that it has stay.
  func insert(_ pairs: [(Int64, Int64)], into table: String) throws(StoreError)

  /// Told of rows that were deleted and that links may still lead to; who holds tables to their references need not
  /// know.
  func note(deleted keys: [Int64], from table: String)
}

extension SharedSQL {
  /// Runs a statement without values.
  @discardableResult
  func run(_ sql: String) throws(StoreError) -> Int { try run(sql, []) }

  /// The rows of a `SELECT`, whose columns are found by their names.
  func rows(
    _ columns: [String],
    _ source: String,
    _ values: [StoredValue] = []
  ) throws(StoreError) -> [Row] {
    try self.values(columns, source, values).map { row in
      Row(
        Dictionary(zip(columns, row.map(\.databaseValue)), uniquingKeysWith: { first, _ in first })
      )
    }
  }

  /// The integers of one column.
  func integers(
    _ column: String,
    _ source: String,
    _ values: [StoredValue] = []
  ) throws(StoreError) -> [Int64] {
    try rows([column], source, values).map { row throws(StoreError) in
      try row.stored(0, of: "an answer")
    }
  }

  /// How many rows `source` has.
  func count(_ source: String) throws(StoreError) -> Int {
    Int(try integers("count(*)", source).first ?? 0)
  }
}

/// The statements of a file.
package struct FileSQL: SharedSQL {
  let database: Database
  let path: String?

  package var temporarySchema: String { "temp" }
  package var keyedTable: String { " WITHOUT ROWID" }
  package var bytesType: String { "BLOB" }
  package var portion: Int { 64 }
  package var apart: String { "" }

  package func note(deleted keys: [Int64], from table: String) {}

  @discardableResult
  package func run(_ sql: String, _ values: [StoredValue]) throws(StoreError) -> Int {
    try StoreError.naming(path) {
      let statement = try RawStatement(kept: sql, in: database)
      for (index, value) in values.enumerated() { try statement.bind(value, Int32(index) + 1) }
      return try statement.run()
    }
  }

  package func values(
    _ columns: [String],
    _ source: String,
    _ values: [StoredValue]
  ) throws(StoreError) -> [[StoredValue]] {
    try StoreError.naming(path) {
      let statement = try RawStatement(
        kept: "SELECT \(columns.joined(separator: ", ")) \(source)",
        in: database
      )
      for (index, value) in values.enumerated() { try statement.bind(value, Int32(index) + 1) }
      var found: [[StoredValue]] = []
      try statement.forEachRow { row in
        found.append(columns.indices.map { row.stored(Int32($0)) })
      }
      return found
    }
  }

  package func hasTable(_ name: String) throws(StoreError) -> Bool {
    try StoreError.naming(path) { try database.hasTable(name) }
  }

  package func tables(beginning start: String) throws(StoreError) -> [String] {
    try rows(
      ["name"],
      "FROM main.sqlite_master WHERE type = 'table' AND name GLOB ?1",
      [.text(start + "*")]
    )
    .map { row throws(StoreError) in try row.stored(0, of: "sqlite_master") }
  }

  package func insert(_ pairs: [(Int64, Int64)], into table: String) throws(StoreError) {
    try StoreError.naming(path) {
      let statement = try RawStatement(
        kept: "INSERT INTO \(table) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        in: database
      )
      for (first, second) in pairs {
        statement.bind(integer: first, 1)
        statement.bind(integer: second, 2)
        try statement.run()
      }
    }
  }
}
