import GRDB

/// How SQLite answers a request.
public struct FetchExplanation: Sendable, Hashable {
  /// A line of SQLite's plan (https://www.sqlite.org/eqp.html).
  public struct Step: Sendable, Hashable {
    /// How many steps it is a part of, from 0.
    public let depth: Int
    /// What is done: `SEARCH t0 USING INDEX Person_city (city=?)`.
    public let text: String
  }

  /// The statement; of a page downwards behind a value there are two, with `; ` between them.
  public private(set) var sql = ""
  /// The values of its `?`, in order.
  public private(set) var values: [StoredValue] = []
  /// Which of the values, by their places, are compared with a sensitive attribute: not to be printed.
  public private(set) var sensitiveValues: Set<Int> = []
  /// Whether the condition or the order reads a sensitive attribute: who sees which objects come, and in what
  /// order, learns of its values.
  public private(set) var revealsSensitive = false
  /// The plan, in SQLite's order.
  public private(set) var steps: [Step] = []

  init() {}

  /// Adds a statement.
  ///
  /// Runs `EXPLAIN QUERY PLAN`.
  mutating func append(_ plan: FetchPlan, counts: Bool, _ database: Database) throws {
    let sql = counts ? plan.countSQL : plan.rowsSQL
    self.sql += self.sql.isEmpty ? sql : "; \(sql)"
    sensitiveValues.formUnion(plan.sensitiveArguments.map { $0 + values.count })
    values += plan.arguments
    revealsSensitive = revealsSensitive || plan.revealsSensitive
    var depths: [Int64: Int] = [:]
    try FetchStatement.run("EXPLAIN QUERY PLAN " + sql, plan.arguments, database) { row in
      let depth = depths[row.integer(1)].map { $0 + 1 } ?? 0
      depths[row.integer(0)] = depth
      steps.append(Step(depth: depth, text: row.text(3)))
      return true
    }
  }
}
