/// Keeps a list of results in step with notices of changes.
///
/// Of k changed rows those k are read and put where they belong. Where that does not suffice, what
/// is shown is read again, once: after notices that name entities and no objects, and after changes
/// of objects that the filter or the order goes through.
struct ResultFeed<Source: ResultSource> {
  /// More rows than this, and more than a quarter of those shown, are read all together.
  private static var manyRows: Int { 2_000 }

  let source: Source
  private(set) var query: ResultQuery
  private(set) var list: ResultList
  /// Whether there may be rows beyond the last one: the list was cut at the limit.
  private var hasMore = false

  /// Reads the results.
  init(_ query: ResultQuery, from source: Source) throws {
    self.source = source
    self.query = query
    let rows = try source.rows(.all, of: query)
    list = ResultList(rows, query.order, of: query.entityName)
    hasMore = rows.count == query.request.limit
  }

  /// The rows as a value.
  var snapshot: ResultSnapshot { list.snapshot }

  /// Follows another request for the same entity from now on.
  ///
  /// - Parameter query: The request.
  /// - Returns: What that changes.
  /// - Throws: What the source throws; the results are as they were then.
  mutating func follow(_ query: ResultQuery) throws -> ResultDifference {
    let rows = try source.rows(.all, of: query)
    self.query = query
    return replace(rows, nil)
  }

  /// Reads everything again.
  private mutating func refresh(_ relinked: Set<Int64>) throws -> ResultDifference {
    replace(try source.rows(.all, of: query), relinked)
  }

  private mutating func replace(
    _ rows: ResultRows,
    _ relinked: Set<Int64>?
  ) -> ResultDifference {
    let old = list
    list = ResultList(rows, query.order, of: query.entityName)
    hasMore = rows.count == query.request.limit
    return list.difference(from: old, relinked)
  }

  /// What a notice means for the results.
  ///
  /// - Parameter notice: What was changed.
  /// - Returns: The difference; empty where nothing here has changed.
  /// - Throws: What the source throws.
  mutating func take(_ notice: ChangeNotice) throws -> ResultDifference {
    let entities = query.relatedEntities.union([query.entityName])
    let relinked = notice.keys(of: query.entityName, changing: query.foreignLinks)
    guard notice.refreshedEntities.isDisjoint(with: entities) else { return try refresh(relinked) }
    if !query.relatedEntities.isEmpty, notice.touches(query.relatedEntities) {
      return try refresh(relinked)
    }
    let keys = notice.keys(of: query.entityName)
    guard !keys.isEmpty else { return ResultDifference() }
    if keys.count > Self.manyRows, keys.count > list.count / 4 { return try refresh(relinked) }
    return try look(at: keys, relinked)
  }

  /// Rows that were unsaved when they were read are stored by now, under these versions.
  mutating func settle(_ versions: [RowKey: Int64]) {
    let table = query.resolved.entity.tableIndex
    for (place, version) in versions where place.table == table {
      list.settle(place.key, version)
    }
  }

  /// Looks at some rows again.
  private mutating func look(
    at keys: [Int64],
    _ relinked: Set<Int64>
  ) throws -> ResultDifference {
    var touched: [Int64: ResultRow?] = [:]
    for key in keys { touched.updateValue(nil, forKey: key) }
    let rows = try source.rows(.keys(keys), of: query)
    // What lies behind the last row of a list that was cut is not known: a row that moves there
    // may have others in front of it.
    let end = hasMore ? list.last : nil
    for place in 0..<rows.count {
      let row = rows[place]
      if let end, comesFirst(end, row) { continue }
      touched.updateValue(row, forKey: row.key)
    }
    try fillUp(&touched, behind: end)
    let difference = list.apply(touched, limit: query.request.limit, relinked)
    if list.count == query.request.limit, !hasMore { hasMore = true }
    return difference
  }

  /// Reads as many rows behind the last one as will be missing.
  private mutating func fillUp(
    _ touched: inout [Int64: ResultRow?],
    behind end: ResultRow?
  ) throws {
    guard let limit = query.request.limit, var end else { return }
    while hasMore {
      var count = list.count
      for (key, row) in touched {
        switch (list.contains(key), row) {
        case (true, nil): count -= 1
        case (false, _?): count += 1
        default: break
        }
      }
      guard count < limit else { return }
      let more = try source.rows(.after(end, limit: limit - count), of: query)
      for place in 0..<more.count { touched.updateValue(more[place], forKey: more.keys[place]) }
      if more.count < limit - count { hasMore = false }
      if more.count > 0 { end = more[more.count - 1] }
    }
  }

  /// Whether a row comes before another one, which is not the same.
  private func comesFirst(_ left: ResultRow, _ right: ResultRow) -> Bool {
    let order = query.order.compare(left.values, 0, right.values, 0)
    return order == 0 ? left.key < right.key : order < 0
  }
}

extension ChangeNotice {
  /// Whether an object of one of these root entities is named.
  fileprivate func touches(_ entities: Set<String>) -> Bool {
    inserted.contains { entities.contains($0.entity) }
      || deleted.contains { entities.contains($0.entity) }
      || updated.keys.contains { entities.contains($0.entity) }
  }

  /// The keys of the objects of a root entity, each once, ascending.
  fileprivate func keys(of entity: String) -> [Int64] {
    var keys: Set<Int64> = []
    func add(_ id: ObjectID) {
      if id.entity.utf8.elementsEqual(entity.utf8) { keys.insert(id.primaryKey) }
    }
    for id in inserted { add(id) }
    for id in deleted { add(id) }
    for id in updated.keys { add(id) }
    return keys.sorted()
  }

  /// The keys of the changed objects of a root entity that have changed one of these properties.
  fileprivate func keys(of entity: String, changing properties: Set<String>) -> Set<Int64> {
    guard !properties.isEmpty else { return [] }
    var keys: Set<Int64> = []
    for (id, names) in updated
    where id.entity.utf8.elementsEqual(entity.utf8) && !names.isDisjoint(with: properties) {
      keys.insert(id.primaryKey)
    }
    return keys
  }
}
