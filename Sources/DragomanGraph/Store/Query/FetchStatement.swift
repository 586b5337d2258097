import GRDB
import GRDBSQLite

/// Runs the statements of a fetch plan on a connection that knows `FetchFunctions`.
///
/// The statements are not kept by GRDB's cache, which never forgets a text; values are bound with
/// their length, since GRDB binds a text only up to its first NUL.
enum FetchStatement {
  /// Lends each row to the closure, in order, as long as it says true.
  static func forEachRow(
    _ plan: FetchPlan,
    _ database: Database,
    _ body: (borrowing FetchedRow) -> Bool
  ) throws {
    try run(plan.rowsSQL, plan.arguments, database) { statement in
      body(
        FetchedRow(plan, statement)
      )
    }
  }

  /// The number of rows.
  static func count(_ plan: FetchPlan, _ database: Database) throws -> Int {
    var count = 0
    try run(plan.countSQL, plan.arguments, database) { statement in
      count = Int(sqlite3_column_int64(statement, 0))
      return true
    }
    return count
  }

  /// Whether there is any row.
  static func exists(_ plan: FetchPlan, _ database: Database) throws -> Bool {
    var exists = false
    try run(plan.existsSQL, plan.arguments, database) { statement in
      exists = sqlite3_column_int64(statement, 0) != 0
      return false
    }
    return exists
  }

  /// Runs a statement and lends each row, as long as the closure says true.
  static func run(
    _ sql: String,
    _ arguments: [StoredValue],
    _ database: Database,
    _ body: (OpaquePointer) -> Bool
  ) throws {
    let statement: Statement
    do {
      statement = try database.makeStatement(sql: sql)
    } catch let error as DatabaseError
      where error.resultCode == .SQLITE_ERROR && !error.tellsOfAnotherSchema
    {
      throw StoreError(
        .badRequest,
        "SQLite cannot run this fetch: \(error.message ?? "no reason given")."
      )
    }
    let handle = statement.sqliteStatement
    for (index, value) in arguments.enumerated() {
      try check(RawStatement.bind(value, Int32(index) + 1, of: handle), database)
    }
    while true {
      switch sqlite3_step(handle) {
      case SQLITE_ROW:
        guard body(handle) else { return }
      case SQLITE_DONE: return
      case SQLITE_ERROR:
        // A function of ours gave up on a value.
        let reason = String(cString: sqlite3_errmsg(database.sqliteConnection))
        throw StoreError.stopped(reason)
      case let code: try check(code, database)
      }
    }
  }

  private static func check(_ code: Int32, _ database: Database) throws {
    guard code != SQLITE_OK else { return }
    let message = String(cString: sqlite3_errmsg(database.sqliteConnection))
    throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
  }
}
