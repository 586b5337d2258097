import GRDB

extension SQLiteStore {
  /// Lends the objects of a request to the closure, one row after the other.
  ///
  /// Memory stays constant however many objects there are, unless SQLite has to sort them. All rows
  /// come from one snapshot; other connections may write meanwhile. The order is that of the sort
  /// keys, then of the ids, so the same data always comes in the same order.
  ///
  ///     try store.forEachRow(FetchRequest("Person", sortKeys: [SortKey("lastName")])) { row in
  ///       print(row.objectID, row.values)
  ///     }
  ///
  /// Runs one `SELECT t0._pk, … FROM "Person" AS t0 LEFT JOIN … WHERE … ORDER BY …, t0._pk LIMIT ?
  /// OFFSET ?` with every value bound: to-one relationships are joined, to-many ones are subqueries.
  ///
  /// - Parameters:
  ///   - request: What to fetch.
  ///   - body: Gets each row; what asks the store from within it is refused. What it throws ends the fetch.
  /// - Throws: `StoreError`: `.badRequest` for a name or literal that does not fit, with the nearest
  ///   name; and what `body` throws.
  public func forEachRow(
    _ request: FetchRequest,
    _ body: (borrowing FetchedRow) throws -> Void
  ) throws {
    let plans = try plans(of: request)
    let limit = request.limit ?? .max
    var count = 0
    try withSnapshot { snapshot in
      for plan in plans where count < limit {
        try FetchStatement.forEachRow(plan, snapshot.database) { row in
          try body(row)
          count += 1
          return count < limit
        }
      }
    }
  }

  /// Lends the rows of a page to the closure, and tells where the next one begins.
  ///
  ///     var request = FetchRequest("Person", sortKeys: [SortKey("name")], limit: 100)
  ///     request.after = try store.forEachRow(inPage: request) { print($0.values) }
  ///
  /// Runs the statement of `forEachRow(_:_:)` with the values of the sort keys as further columns, one row
  /// more than the limit, and behind a place under the condition `a > ? OR (a BETWEEN ? AND ? AND (b > ? OR …))`:
  /// an index on the first sort key serves it. Downwards nulls come last, and a second statement reads them.
  /// Where SQLite would sort many objects though an index holds the order, the first keys of the order are held
  /// against the condition first, and `SELECT … WHERE _pk IN (…)` reads what is found so.
  ///
  /// - Parameters:
  ///   - request: What to fetch: `limit` rows at most, behind `after`.
  ///   - body: Gets each row; what asks the store from within it is refused. What it throws ends the fetch.
  /// - Returns: The place of the page's last row; nil where there are no more rows behind it, or no limit
  ///   or one of 0.
  /// - Throws: `StoreError`: as `forEachRow(_:_:)`, and `.badRequest` for a place in another order; and what
  ///   `body` throws.
  public func forEachRow(
    inPage request: FetchRequest,
    _ body: (borrowing FetchedRow) throws -> Void
  ) throws -> FetchCursor? {
    guard let limit = request.limit, limit > 0, limit < .max else {
      try forEachRow(request, body)
      return nil
    }
    var wider = request
    wider.limit = limit + 1
    let plans = try plans(of: wider, readsPlaces: true)
    var last: FetchCursor?
    var count = 0
    try withSnapshot { snapshot in
      let plans = try PageWalk.shortened(plans, of: wider, layout, snapshot.database)
      for plan in plans where count <= limit {
        try FetchStatement.forEachRow(plan, snapshot.database) { row in
          count += 1
          guard count <= limit else { return false }
          if count == limit { last = row.place }
          try body(row)
          return true
        }
      }
    }
    return count > limit ? last : nil
  }

  /// The statements that give the rows of a request, one behind the other; each has the limit of all.
  private func plans(
    of request: FetchRequest,
    readsPlaces: Bool = false
  ) throws(StoreError) -> [FetchPlan] {
    try ResolvedRequest(request, in: layout).parts(after: request.after).map {
      FetchPlan($0, in: layout, readsPlaces: readsPlaces)
    }
  }

  /// How SQLite answers a request: the statement, its values, and the plan.
  ///
  /// Runs `EXPLAIN QUERY PLAN`, and nothing of the request itself. What is told is the statement of the whole
  /// request: that of a page that would sort many objects may be a shorter one (`forEachRow(inPage:_:)`).
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - counts: Whether the statement of `count(_:)` is meant rather than that of the rows.
  /// - Returns: The explanation.
  /// - Throws: `StoreError`, `.badRequest` for a request that does not fit the model.
  public func explain(
    _ request: FetchRequest,
    counts: Bool = false
  ) throws(StoreError) -> FetchExplanation {
    let plans = counts ? [try FetchPlan(request, in: layout)] : try plans(of: request)
    var explanation = FetchExplanation()
    try read { database in
      for plan in plans { try explanation.append(plan, counts: counts, database) }
    }
    return explanation
  }

  /// The number of objects that a request fetches, its limit and offset included.
  ///
  /// Runs `SELECT count(*) FROM …`.
  /// - Throws: `StoreError`, `.badRequest` for a request that does not fit the model.
  public func count(_ request: FetchRequest) throws(StoreError) -> Int {
    let plan = try FetchPlan(request, in: layout)
    return try read { database in try FetchStatement.count(plan, database) }
  }

  /// Whether a request fetches anything, its limit and offset included.
  ///
  /// Runs `SELECT EXISTS (SELECT 1 FROM …)`.
  /// - Throws: `StoreError`, `.badRequest` for a request that does not fit the model.
  public func exists(_ request: FetchRequest) throws(StoreError) -> Bool {
    let plan = try FetchPlan(request, in: layout)
    return try read { database in try FetchStatement.exists(plan, database) }
  }

  /// The rows of a request as dictionaries, values by the names of their columns.
  ///
  ///     let rows = try store.dictionaries(
  ///       FetchRequest("Person", columns: ["company.name", .sum("salary")], groupBy: ["company.name"])
  ///     )
  ///     print(rows.first?["sum_salary"] ?? "nobody")
  ///
  /// - Returns: The rows in order; a null is there as `.null`.
  /// - Throws: `StoreError`, `.badRequest` for a request that does not fit the model.
  public func dictionaries(
    _ request: FetchRequest
  ) throws(StoreError) -> [[String: StoredValue]] {
    let plan = try FetchPlan(request, in: layout)
    var rows: [[String: StoredValue]] = []
    try read { database in
      try FetchStatement.forEachRow(plan, database) { row in
        var dictionary: [String: StoredValue] = [:]
        for (index, attribute) in plan.attributes.enumerated() {
          dictionary[attribute.name] = row[index]
        }
        rows.append(dictionary)
        return true
      }
    }
    return rows
  }

  /// The names and types of the columns of a request, in the order of its rows' values.
  ///
  /// - Throws: `StoreError`, `.badRequest` for a request that does not fit the model.
  public func attributes(of request: FetchRequest) throws(StoreError) -> [Attribute] {
    try FetchPlan(request, in: layout).attributes
  }
}
