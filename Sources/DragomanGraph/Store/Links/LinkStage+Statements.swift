import GRDB

/// Statements, of which a model has a few: they are kept, and tell of `StoreError`s only.
extension LinkStage {
  /// Runs a statement.
  func run(
    _ sql: String,
    _ arguments: StatementArguments = StatementArguments()
  ) throws(StoreError) {
    try StoreError.naming(path) {
      try database.keptStatement(sql).execute(arguments: arguments)
    }
  }

  /// Runs a statement with values that may hold any text, NUL too.
  func run(_ sql: String, binding values: [StoredValue]) throws(StoreError) {
    try StoreError.naming(path) {
      let statement = try RawStatement(kept: sql, in: database)
      for (index, value) in values.enumerated() { try statement.bind(value, Int32(index) + 1) }
      try statement.run()
    }
  }

  /// The integers that a statement gives, one a row.
  func integers(
    _ sql: String,
    _ arguments: StatementArguments = StatementArguments()
  ) throws(StoreError) -> [Int64] {
    try StoreError.naming(path) {
      try Int64.fetchAll(try database.keptStatement(sql), arguments: arguments)
    }
  }

  /// Lends the integers that a statement gives, one a row: there may be millions.
  ///
  /// - Returns: How many there were.
  func forEachInteger(_ sql: String, _ body: (Int64) -> Void) throws(StoreError) -> Int {
    try StoreError.naming(path) {
      var count = 0
      try RawStatement(kept: sql, in: database).forEachRow { row in
        body(row.integer(0))
        count += 1
      }
      return count
    }
  }

  /// The only integer that a statement gives.
  func count(_ sql: String) throws(StoreError) -> Int { Int(try integers(sql).first ?? 0) }
}
