/// Where rows of results come from: a store, or a context with what is unsaved in it.
protocol ResultSource {
  /// The rows of a part of the results, in the order that the part has.
  ///
  /// - Throws: `StoreError`, `ContextError`.
  func rows(_ part: ResultPart, of query: ResultQuery) throws -> ResultRows
}

/// What is stored.
struct StoreResultSource: ResultSource {
  let store: any ObjectStore

  /// Runs one `SELECT t0._pk, t0._v, … FROM … WHERE … ORDER BY …, t0._pk LIMIT ?` with the values of
  /// the sort keys; places in the order are conditions, not offsets.
  func rows(_ part: ResultPart, of query: ResultQuery) throws -> ResultRows {
    let resolved = query.resolved(part)
    return try store.read(query.layout) { try Self.rows(resolved, query.order, $0) }
  }

  /// Reads the rows of a part.
  static func rows(
    _ resolved: ResolvedRequest,
    _ order: ResultOrder,
    _ reader: any StoreReader
  ) throws -> ResultRows {
    var rows = ResultRows(width: order.width)
    let count = resolved.columns.count
    try reader.fetch(resolved, .versions) { row in
      var version = row.integer(1)
      if count > order.keyCount {
        // Values of linked objects change without the row: they are part of what it is.
        var hasher = Hasher()
        hasher.combine(version)
        for place in order.keyCount..<count { hasher.combine(row.stored(Int32(place) + 2)) }
        version = Int64(hasher.finalize()) & .max
      }
      rows.append(row.integer(0), version: version, order.values { row.stored(Int32($0) + 2) })
    }
    return rows
  }
}

/// What a context sees: what is stored, and unsaved changes on top of it.
struct ContextResultSource: ResultSource {
  let context: ManagedObjectContext

  /// Runs one `SELECT`; rows with unsaved changes are held against the filter in memory.
  ///
  /// Where the filter or the order goes through relationships and anything is unsaved, all objects
  /// of the entity are read (O(n)).
  func rows(_ part: ResultPart, of query: ResultQuery) throws -> ResultRows {
    try context.checkOpen()
    let resolved = query.resolved(part)
    guard query.request.includesPendingChanges else {
      throw StoreError(
        .badRequest,
        "Results of a context are of what it sees, unsaved changes among it.",
        help: "`results` of the stack follow what is stored"
      )
    }
    let crosses = !query.relatedEntities.isEmpty
    let isInMemory = crosses && context.hasChanges(inAny: Set(context.layout.tables.indices))
    if case .keys(let keys) = part { return try rows(keys, of: query, isInMemory: isInMemory) }
    if isInMemory { return try inMemory(resolved, query) }
    let pending = context.pendingPlaces(in: resolved.entity.tableIndex)
    guard !pending.isEmpty else { return try stored(resolved, query) }
    var wider = resolved
    wider.limit = resolved.limit.map { limit in
      let (sum, isTooMuch) = limit.addingReportingOverflow(pending.count)
      return isTooMuch ? .max : sum
    }
    let known = try stored(wider, query)
    let objects = try pending.map { try context.register($0, resolved.entity) }
    let changed = try rows(of: objects, admittedBy: resolved, query)
    return merge(known, changed, without: Set(pending.map(\.key)), resolved, query)
  }

  private func stored(_ resolved: ResolvedRequest, _ query: ResultQuery) throws -> ResultRows {
    try context.read { try StoreResultSource.rows(resolved, query.order, $0) }
  }

  /// Rows by their keys: those with unsaved changes in memory, the others by one `SELECT`.
  private func rows(
    _ keys: [Int64],
    of query: ResultQuery,
    isInMemory: Bool
  ) throws -> ResultRows {
    let table = query.resolved.entity.tableIndex
    let pending = isInMemory ? [] : context.pendingPlaces(in: table)
    var looked: [ObjectID] = []
    var rest: [Int64] = []
    for key in keys {
      if isInMemory || pending.contains(RowKey(table: table, key: key)) {
        looked.append(ObjectID(entity: query.entityName, primaryKey: key))
      } else {
        rest.append(key)
      }
    }
    var found =
      rest.isEmpty
      ? ResultRows(width: query.order.width) : try stored(query.resolved(.keys(rest)), query)
    let unsaved = try rows(
      of: try context.objects(with: looked),
      admittedBy: query.resolved,
      query
    )
    for place in 0..<unsaved.count {
      let row = unsaved[place]
      found.append(row.key, version: row.version, row.values)
    }
    return found
  }

  /// The rows of those objects that belong to the results, as they come.
  private func rows(
    of objects: [ManagedObject],
    admittedBy resolved: ResolvedRequest,
    _ query: ResultQuery
  ) throws -> ResultRows {
    let memory = MemoryFetch(resolved)
    var rows = ResultRows(width: query.order.width)
    let recorded = context.recorded
    defer { context.recorded = recorded }
    for object in objects {
      guard let row = try row(of: object, memory, query) else { continue }
      rows.append(row.key, version: row.version, row.values)
    }
    return rows
  }

  /// The row of an object; nil where it does not belong to the results.
  ///
  /// Others may delete it, or what it leads to, while it is looked at: then it is looked at again.
  /// - Throws: What properties record meanwhile, too.
  private func row(
    of object: ManagedObject,
    _ memory: MemoryFetch,
    _ query: ResultQuery
  ) throws -> ResultRow? {
    var lookCount = 0
    while true {
      lookCount += 1
      context.recorded = RecordedErrors()
      guard try context.isAlive(object) else { return nil }
      let subject = ContextSubject(object: object)
      let values = try memory.admits(subject) ? query.order.values(of: subject) : nil
      guard let error = context.recorded.first else {
        let version = object.plainRow == nil ? -1 : object.version
        return values.map { ResultRow(key: object.place.key, version: version, values: $0) }
      }
      let isGone = [.missing, .deleted].contains((error as? ContextError)?.code)
      guard isGone, lookCount < 100 else { throw error }
    }
  }

  /// All objects, held against everything in memory.
  private func inMemory(_ resolved: ResolvedRequest, _ query: ResultQuery) throws -> ResultRows {
    var request = FetchRequest(query.layout.entities[resolved.entity.root].name)
    request.returnsFaults = true
    let all = try rows(of: try context.fetch(request), admittedBy: resolved, query)
    return merge(ResultRows(width: query.order.width), all, without: [], resolved, query)
  }

  /// Rows in order and others, cut at the limit.
  private func merge(
    _ ordered: ResultRows,
    _ others: ResultRows,
    without excluded: Set<Int64>,
    _ resolved: ResolvedRequest,
    _ query: ResultQuery
  ) -> ResultRows {
    // A part that is read backwards has its own order.
    let order = ResultOrder(resolved.sortKeys, isSectioned: false)
    let isReversed = resolved.sortKeys.count > query.resolved.sortKeys.count
    func comesFirst(_ left: ResultRow, _ right: ResultRow) -> Bool {
      let count = query.order.parts.count
      let difference = order.compare(left.values, 0, right.values, 0, upTo: count)
      if difference != 0 { return difference < 0 }
      return isReversed ? left.key > right.key : left.key < right.key
    }
    let changed = (0..<others.count).map { others[$0] }.sorted(by: comesFirst)
    var merged = ResultRows(width: query.order.width)
    let limit = resolved.limit ?? .max
    var next = 0
    func take(until isEnd: (ResultRow) -> Bool) {
      while next < changed.count, merged.count < limit, !isEnd(changed[next]) {
        let row = changed[next]
        merged.append(row.key, version: row.version, row.values)
        next += 1
      }
    }
    for place in 0..<ordered.count where !excluded.contains(ordered.keys[place]) {
      let row = ordered[place]
      take { !comesFirst($0, row) }
      guard merged.count < limit else { break }
      merged.append(row.key, version: row.version, row.values)
    }
    take { _ in false }
    return merged
  }
}
