import GRDB

/// Who runs statements of which a model has a few, and tells of `StoreError`s only.
protocol StatementRunner {
  var database: Database { get }
  var path: String? { get }
}

extension StatementRunner {
  /// Runs a statement.
  func run(
    _ sql: String,
    _ arguments: StatementArguments = StatementArguments()
  ) throws(StoreError) {
    try StoreError.naming(path) {
      try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }
  }

  /// The integers that a statement gives, one a row.
  func integers(
    _ sql: String,
    _ arguments: StatementArguments = StatementArguments()
  ) throws(StoreError) -> [Int64] {
    try StoreError.naming(path) {
      try Int64.fetchAll(try database.cachedStatement(sql: sql), arguments: arguments)
    }
  }

  /// The only integer that a statement gives.
  func count(_ sql: String) throws(StoreError) -> Int { Int(try integers(sql).first ?? 0) }
}
