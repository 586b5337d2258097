import GRDB

/// Runs the statements of a fetch plan on a connection that knows `FetchFunctions`.
///
/// The statements are not kept: a program may make any number of them.
enum FetchStatement {
  /// A statement was ended since it looked at more rows than its plan's `patience` admits.
  struct OutOfPatience: Error {}

  /// Lends each row to the closure, in order, as long as it says true.
  static func forEachRow(
    _ plan: FetchPlan,
    _ database: Database,
    _ body: (borrowing FetchedRow) throws -> Bool
  ) throws {
    try run(plan.rowsSQL, plan.arguments, database) { try body(FetchedRow(plan, $0)) }
  }

  /// The number of rows.
  static func count(_ plan: FetchPlan, _ database: Database) throws -> Int {
    var count = 0
    try run(plan.countSQL, plan.arguments, database) { row in
      count = Int(row.integer(0))
      return true
    }
    return count
  }

  /// Whether there is any row.
  static func exists(_ plan: FetchPlan, _ database: Database) throws -> Bool {
    var exists = false
    try run(plan.existsSQL, plan.arguments, database) { row in
      exists = row.integer(0) != 0
      return false
    }
    return exists
  }

  /// Runs a statement and lends each row, as long as the closure says true.
  static func run(
    _ sql: String,
    _ arguments: [StoredValue],
    _ database: Database,
    _ body: (StoredRow) throws -> Bool
  ) throws {
    let statement: RawStatement
    do {
      statement = try RawStatement(sql, in: database)
    } catch let error as DatabaseError
      where error.resultCode == .SQLITE_ERROR && !error.tellsOfAnotherSchema
    {
      let reason = error.message ?? "no reason given"
      throw StoreError(
        .badRequest,
        reason.contains("parser stack overflow")
          ? "The predicate is nested deeper than SQLite reads it."
          : "SQLite cannot run this fetch: \(reason)."
      )
    }
    for (index, value) in arguments.enumerated() { try statement.bind(value, Int32(index) + 1) }
    defer { statement.reset() }
    while try step(statement) { guard try body(statement.row) else { return } }
  }

  private static func step(_ statement: RawStatement) throws -> Bool {
    do {
      return try statement.step()
    } catch {
      guard error.resultCode == .SQLITE_ERROR else { throw error }
      if error.message == FetchFunctions.outOfPatience { throw OutOfPatience() }
      // A function of ours gave up on a value.
      throw StoreError.stopped(error.message ?? "no reason given")
    }
  }
}
