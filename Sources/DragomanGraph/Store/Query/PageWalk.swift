import GRDB

/// Finds the objects of a page by indexes where the statement of its request would read or sort many more.
///
/// There are three such requests. One chooses few objects by an index, and SQLite would rather look at all in
/// their order: the few are found first. One chooses many by one index and orders them by another: the keys in
/// the order are held against the condition, some hundreds at a time, until there are enough. The third goes
/// downwards by a value that many objects share; ties come upwards, and no index is both: each value's objects
/// are read by themselves, of those values only that the condition admits where it is about nothing else. What is found after few steps is exactly what the statement would give; what is not
/// is left to the statement.
struct PageWalk {
  /// So many objects are sorted in less time than a walk takes.
  private static let fewCount = 2_000
  /// So many are looked at to find the few.
  private static let fewPatience = 10_000
  /// Of a value that more objects share the ties are not sorted.
  private static let tieCount = 200
  /// The effort after which a walk is given up; a key is one, so that it ends within some milliseconds.
  private static let patience = 20_000
  /// The effort of finding the next value downwards.
  private static let valueEffort = 100

  /// What is wanted.
  private let request: ResolvedRequest
  /// The same without its condition, from the cursor on; what is found is read in this order.
  private let order: ResolvedRequest
  /// The request without its place: what its condition alone chooses.
  private let chosen: ResolvedRequest
  /// The condition, where it is about the first value of the order only.
  private let condition: ResolvedFilter?
  private let cursor: FetchCursor?
  private let wantedCount: Int
  private let layout: ModelLayout
  private let database: Database
  private var found: [Int64] = []
  /// Keys in order that are not held against the condition yet.
  private var pending: [Int64] = []
  private var effort = 0

  /// The statements that give the rows of a page.
  ///
  /// Runs `EXPLAIN QUERY PLAN`; `SELECT _pk … WHERE … LIMIT`; and the walk's `SELECT _pk … ORDER BY …`,
  /// `SELECT max(…)` and `SELECT _pk … WHERE … AND _pk IN (…)`.
  ///
  /// - Parameters:
  ///   - plans: The statements of the request itself.
  ///   - request: The request, with a limit.
  ///   - layout: The model.
  ///   - database: A connection that knows `FetchFunctions`, in the snapshot that is read.
  /// - Returns: One statement for the objects that were found; `plans` where they are as good or a walk found
  ///   too few.
  /// - Throws: What SQLite refuses.
  static func shortened(
    _ plans: [FetchPlan],
    of request: FetchRequest,
    _ layout: ModelLayout,
    _ database: Database
  ) throws -> [FetchPlan] {
    let sorts = try plans.contains { try self.sorts($0, database) }
    // Behind a place SQLite would rather go on along the order, however few there are.
    let goesOn = request.after != nil && request.filter != nil
    guard try sorts || goesOn || plans.contains(where: { try scans($0, database) }),
      var walk = try PageWalk(request, layout, database),
      try walk.findsFew() || sorts && walk.findsEnough()
    else { return plans }
    var page = walk.order
    page.narrow(walk.among(walk.found))
    return [FetchPlan(page, in: layout, readsPlaces: true)]
  }

  private init?(
    _ request: FetchRequest,
    _ layout: ModelLayout,
    _ database: Database
  ) throws(StoreError) {
    self.request = try ResolvedRequest(request, in: layout)
    guard self.request.table == nil, request.offset == 0, let limit = request.limit else {
      return nil
    }
    var order = try ResolvedRequest(request.with { $0.filter = nil }, in: layout)
    order.entities = nil
    self.order = order
    let chosen = try ResolvedRequest(request.with { $0.after = nil }, in: layout)
    self.chosen = chosen
    condition = chosen.filter.flatMap { filter in
      order.sortKeys.first.flatMap { filter.isAbout($0.expression) ? filter : nil }
    }
    cursor = request.after
    wantedCount = limit
    self.layout = layout
    self.database = database
  }

  /// Whether a statement puts rows in order that no index holds so.
  private static func sorts(_ plan: FetchPlan, _ database: Database) throws -> Bool {
    try steps(of: plan.rowsSQL, plan, database).contains { $0.contains("ORDER BY") }
  }

  /// Whether a statement looks at the objects one after the other, in an order of its own.
  private static func scans(_ plan: FetchPlan, _ database: Database) throws -> Bool {
    try steps(of: plan.rowsSQL, plan, database).contains { $0.hasPrefix("SCAN t0") }
  }

  private static func steps(
    of sql: String,
    _ plan: FetchPlan,
    _ database: Database
  ) throws -> [String] {
    var steps: [String] = []
    try FetchStatement.run("EXPLAIN QUERY PLAN " + sql, plan.arguments, database) { row in
      steps.append(row.text(3))
      return true
    }
    return steps
  }

  /// Takes the objects that the condition chooses, if an index finds them and they are few.
  private mutating func findsFew() throws -> Bool {
    guard chosen.filter != nil else { return false }
    var some = chosen
    some.limit = Self.fewCount + 1
    let plan = FetchPlan(some, in: layout, patience: Self.fewPatience)
    guard
      try Self.steps(of: plan.keysSQL, plan, database).contains(where: { $0.hasPrefix("SEARCH t0") }
      )
    else { return false }
    var keys: [Int64] = []
    do {
      try FetchStatement.run(plan.keysSQL, plan.arguments, database) { row in
        keys.append(row.integer(0))
        return true
      }
    } catch is FetchStatement.OutOfPatience {
      return false
    }
    guard keys.count <= Self.fewCount else { return false }
    found = keys
    return true
  }

  private mutating func findsEnough() throws -> Bool {
    var keys = order
    keys.limit = nil
    keys.columns = []
    if let condition { keys.filter = keys.filter.map { .and([$0, condition]) } ?? condition }
    if let key = order.sortKeys.first, order.sortKeys.count == 1, !key.isAscending {
      guard key.hasIndexOrder else { return false }
      let isWhole = try hasFewTies(key) ? takesTies(of: keys) : goesDown(by: key, keys)
      guard isWhole else { return false }
    } else {
      let plan = FetchPlan(keys, in: layout)
      guard try !Self.sorts(plan, database), try take(plan) else { return false }
    }
    return true
  }

  /// Whether few objects share the first value.
  private func hasFewTies(_ key: ResolvedSortKey) throws -> Bool {
    guard let first = try cursor?.values.first ?? value(below: nil, key) else { return false }
    var ties = order
    ties.sortKeys = []
    ties.filter = Self.isSame(key, first, in: request)
    ties.limit = Self.tieCount
    return try FetchStatement.count(FetchPlan(ties, in: layout), database) < Self.tieCount
  }

  /// Takes the keys downwards where SQLite reads them by an index and sorts but the ties.
  ///
  /// - Returns: False where it would sort more, or the walk takes too long.
  private mutating func takesTies(of keys: ResolvedRequest) throws -> Bool {
    for part in keys.parts(after: cursor) where found.count < wantedCount {
      let plan = FetchPlan(part, in: layout)
      let steps = try Self.steps(of: plan.rowsSQL, plan, database)
      let isRead = steps.contains { $0.hasPrefix("SEARCH t0 ") || $0.contains(" INDEX ") }
      let isSorted = steps.allSatisfy { step in
        !step.contains("ORDER BY") || [" RIGHT PART ", " LAST "].contains { step.contains($0) }
      }
      guard isRead, isSorted, try take(plan) else { return false }
    }
    return true
  }

  private static func isSame(
    _ key: ResolvedSortKey,
    _ value: StoredValue,
    in request: ResolvedRequest
  ) -> ResolvedFilter {
    request.comparison(key.expression, [], value == .null ? .isNull : .compares(.equalTo, value))
  }

  /// Takes the keys that a statement gives.
  ///
  /// - Returns: False where the walk takes too long.
  private mutating func take(_ plan: FetchPlan) throws -> Bool {
    try FetchStatement.run(plan.rowsSQL, plan.arguments, database) { row in
      pending.append(row.integer(0))
      effort += 1
      // Few at first: most walks end soon.
      if pending.count >= max(wantedCount, effort / 2) { try test() }
      return found.count < wantedCount && effort < Self.patience
    }
    try test()
    return found.count >= wantedCount || effort < Self.patience
  }

  /// Holds the pending keys against the condition.
  private mutating func test() throws {
    defer { pending = [] }
    guard request.filter != nil || request.entities != nil, !pending.isEmpty else {
      found += pending
      return
    }
    var admitting = request
    admitting.sortKeys = []
    admitting.columns = []
    admitting.limit = nil
    admitting.narrow(among(pending))
    let plan = FetchPlan(admitting, in: layout)
    var admitted: Set<Int64> = []
    try FetchStatement.run(plan.rowsSQL, plan.arguments, database) { row in
      admitted.insert(row.integer(0))
      return true
    }
    found += pending.filter(admitted.contains)
  }

  /// Takes the keys downwards by a value, those of each value upwards; the ones without a value are the last.
  ///
  /// - Returns: False where the order has no index or the walk takes too long.
  private mutating func goesDown(by key: ResolvedSortKey, _ keys: ResolvedRequest) throws -> Bool {
    var place = cursor?.values.first
    if let value = place, let cursor, try admits(value, key) {
      guard try take(value, key, keys, behind: cursor.key) else { return false }
    }
    while found.count < wantedCount, place != .null {
      guard let next = try value(below: place, key) else { return false }
      effort += Self.valueEffort
      guard effort < Self.patience, try take(next, key, keys) else { return false }
      place = next
    }
    return true
  }

  /// Whether the condition admits objects with a value, as far as it is about nothing else.
  private func admits(_ value: StoredValue, _ key: ResolvedSortKey) throws -> Bool {
    guard let condition else { return true }
    var some = order
    some.sortKeys = []
    some.filter = .and([Self.isSame(key, value, in: request), condition])
    some.limit = 1
    return try FetchStatement.exists(FetchPlan(some, in: layout), database)
  }

  private mutating func take(
    _ value: StoredValue,
    _ key: ResolvedSortKey,
    _ keys: ResolvedRequest,
    behind cursorKey: Int64? = nil
  ) throws -> Bool {
    var group = keys
    group.sortKeys = []
    group.filter = Self.isSame(key, value, in: request)
    if let cursorKey {
      group.narrow(
        request.comparison(request.identity, [], .compares(.greaterThan, .integer(cursorKey)))
      )
    }
    let plan = FetchPlan(group, in: layout)
    return try !Self.sorts(plan, database) && take(plan)
  }

  /// The next value downwards, null behind the last one; nil where no index finds it.
  private func value(below place: StoredValue?, _ key: ResolvedSortKey) throws -> StoredValue? {
    // There is nothing to be found of yes and no.
    if key.expression.attribute.type == .bool {
      return place == nil ? .integer(1) : place == .integer(1) ? .integer(0) : .null
    }
    if let values = condition?.listed {
      let isBefore = { ValueOrder.order($0, $1, asDecimals: false) < 0 }
      return values.filter { value in place.map { isBefore(value, $0) } ?? true }.max(by: isBefore)
        ?? .null
    }
    let name = key.expression.attribute.name
    guard
      var greatest = try? ResolvedRequest(
        FetchRequest(request.entity.name, columns: [.max(name)]),
        in: layout
      )
    else { return nil }
    greatest.entities = nil
    greatest.filter = condition
    if let place {
      greatest.narrow(request.comparison(key.expression, [], .compares(.lessThan, place)))
    }
    let plan = FetchPlan(greatest, in: layout)
    let steps = try Self.steps(of: plan.rowsSQL, plan, database)
    guard steps.contains(where: { $0.hasPrefix("SEARCH t0 ") && $0.contains(" INDEX ") }) else {
      return nil
    }
    var value = StoredValue.null
    try FetchStatement.run(plan.rowsSQL, plan.arguments, database) { row in
      value = row.stored(1)
      return true
    }
    return value
  }

  private func among(_ keys: [Int64]) -> ResolvedFilter {
    let list = ValueList(keys.map(StoredValue.integer))
    return request.comparison(request.identity, [], .isOne(of: list, orNull: false))
  }
}

extension ResolvedSortKey {
  /// Whether an index holds the order, and equal values are those that tie: decimals of one value may be spelt
  /// differently.
  fileprivate var hasIndexOrder: Bool {
    folds == [[]] && expression.ownAttribute != nil && expression.attribute.type != .decimal
  }
}

extension ResolvedFilter {
  /// Whether it admits values of an attribute of the entity, whatever else an object has: those of a range, or some.
  fileprivate func isAbout(_ expression: ResolvedExpression) -> Bool {
    switch self {
    case .and(let parts):
      return parts.allSatisfy { $0.listed == nil && $0.isAbout(expression) }
    case .comparison(let comparison):
      guard comparison.quantifier == .one, comparison.options.isEmpty,
        let attribute = comparison.left.ownAttribute, attribute == expression.ownAttribute
      else { return false }
      switch comparison.test {
      case .isPresent, .between, .begins: return true
      case .compares(let relation, _): return relation != .notEqualTo
      case .isOne(_, let orNull): return !orNull
      default: return false
      }
    default: return false
    }
  }

  /// The values that it admits, where it names each.
  fileprivate var listed: [StoredValue]? {
    guard case .comparison(let comparison) = self, case .isOne(let list, false) = comparison.test
    else { return nil }
    return list.values
  }
}

extension ResolvedExpression {
  /// The slot of the entity's own attribute that it is; nil: it is something else.
  fileprivate var ownAttribute: Int? {
    guard case .path(let path) = source, path.hops.isEmpty, case .attribute(let slot) = path.end
    else {
      return nil
    }
    return slot
  }
}
