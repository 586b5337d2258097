extension ManagedObjectContext {
  /// The objects of a request, as this context sees them: its own unsaved changes and those of the
  /// contexts above are taken into account, unless the request says otherwise.
  ///
  /// Runs one `SELECT`. Where there are unsaved changes of the entity, those objects are held
  /// against the filter in memory and merged into the answer; where the filter or the order goes
  /// through relationships and anything is unsaved, all objects of the entity are (O(n)). The answer
  /// is the same either way.
  /// - Throws: `StoreError.badRequest` for a name or literal that does not fit, with the nearest
  ///   name; other `StoreError`s; `ContextError.stackClosed`, `.foreignContext`.
  public func fetch(_ request: FetchRequest) throws -> [ManagedObject] {
    try checkOpen()
    let resolved = try ResolvedRequest(request, in: layout)
    guard resolved.table == nil else { throw Self.noObjects }
    guard request.includesPendingChanges else { return try stored(resolved, request) }
    if usesRelationships(request) {
      guard hasChanges(inAny: Set(layout.tables.indices)) else {
        return try stored(resolved, request)
      }
      return try MemoryFetch(resolved).objects(of: subjects(of: resolved.entity)).map(\.object)
    }
    let table = resolved.entity.tableIndex
    let pending = pendingPlaces(in: table)
    guard !pending.isEmpty else { return try stored(resolved, request) }
    return try merge(pending, into: request, resolved)
  }

  private static var noObjects: StoreError {
    StoreError(
      .badRequest,
      "A request with groups, aggregates or distinct values has rows and no objects.",
      help: "use dictionaries(_:)"
    )
  }

  /// The only object of a request; nil where there is none.
  ///
  /// - Throws: `ContextError.ambiguous` where there are several; as `fetch(_:)`.
  public func fetchOne(_ request: FetchRequest) throws -> ManagedObject? {
    var request = request
    request.limit = min(request.limit ?? 2, 2)
    let found = try fetch(request)
    guard found.count < 2 else {
      throw ContextError(
        .ambiguous,
        "More than one \(request.entity) matches, where one was expected.",
        help: "narrow the filter, or use fetch(_:)"
      )
    }
    return found.first
  }

  /// The ids of the objects of a request.
  ///
  /// Runs `SELECT _pk …` and makes no objects where nothing is unsaved.
  public func fetchIDs(_ request: FetchRequest) throws -> [ObjectID] {
    if try isStored(request) {
      try checkOpen()
      let resolved = try ResolvedRequest(request, in: layout)
      guard resolved.table == nil else { throw Self.noObjects }
      let entity = resolved.entity.rootName
      var ids: [ObjectID] = []
      try read { reader in
        try reader.fetch(resolved, .columns([])) { row in
          ids.append(ObjectID(entity: entity, primaryKey: row.integer(0)))
        }
      }
      return ids
    }
    var request = request
    request.returnsFaults = true
    return try fetch(request).map(\.objectID)
  }

  /// The number of objects of a request, its limit and offset included.
  ///
  /// Runs `SELECT count(*)` where nothing is unsaved.
  public func count(_ request: FetchRequest) throws -> Int {
    if try isStored(request) {
      let resolved = try ResolvedRequest(request, in: layout)
      return try read { try $0.count(resolved) }
    }
    return try fetchIDs(request).count
  }

  /// Whether the request has any object.
  public func exists(_ request: FetchRequest) throws -> Bool {
    var request = request
    request.limit = min(request.limit ?? 1, 1)
    return try !fetchIDs(request).isEmpty
  }

  /// The rows of a request for columns: values by name, with aggregates, groups and distinct rows.
  ///
  /// Runs one `SELECT` where nothing is unsaved; otherwise the objects are read and the rows made in
  /// memory.
  public func dictionaries(_ request: FetchRequest) throws -> [[String: StoredValue]] {
    try checkOpen()
    let resolved = try ResolvedRequest(request, in: layout)
    let names = resolved.columns.map(\.attribute.name)
    var rows: [[StoredValue]] = []
    if try isStored(request) {
      try read { reader in
        try reader.fetch(resolved, .values) { row in
          rows.append(names.indices.map { row.stored(Int32($0) + 1) })
        }
      }
    } else {
      rows = try MemoryFetch(resolved).rows(of: subjects(of: resolved.entity))
      try throwRecorded()
    }
    return rows.map { Dictionary(zip(names, $0)) { first, _ in first } }
  }

  // MARK: - From the store

  /// Whether the store alone has the answer.
  private func isStored(_ request: FetchRequest) throws -> Bool {
    guard request.includesPendingChanges else { return true }
    if usesRelationships(request) { return !hasChanges(inAny: Set(layout.tables.indices)) }
    return try !hasChanges(inAny: [layout.requireEntity(request.entity).tableIndex])
  }

  private func stored(
    _ resolved: ResolvedRequest,
    _ request: FetchRequest
  ) throws -> [ManagedObject] {
    if request.returnsFaults {
      return try faults(resolved, max(1, request.batchSize ?? FaultBatch.size))
    }
    let table = resolved.entity.tableIndex
    let mayDiffer = layers.contains { $0.hasRows(in: table) }
    var intake = RowIntake(
      self,
      resolved.entity,
      count: 16,
      refreshes: true,
      mayDiffer: mayDiffer
    )
    var objects: [ManagedObject] = []
    try read { reader in
      try reader.fetch(resolved, .columns(layout.tables[table].objectColumns)) { row in
        objects.append(intake.take(row))
      }
    }
    return objects
  }

  /// Objects whose values are read when they are asked for.
  private func faults(_ resolved: ResolvedRequest, _ batchSize: Int) throws -> [ManagedObject] {
    let table = resolved.entity.tableIndex
    let hasEntity = layout.tables[table].hasEntityColumn
    let entities = EntityNames(layout, resolved.entity)
    var keys: [Int64] = []
    var layouts: [EntityLayout] = []
    try read { reader in
      try reader.fetch(resolved, .columns(hasEntity ? ["_v", "_entity"] : [])) { row in
        keys.append(row.integer(0))
        if hasEntity { layouts.append(entities.entity(of: row) ?? resolved.entity) }
      }
    }
    var objects: [ManagedObject] = []
    objects.reserveCapacity(keys.count)
    identities[table].reserve(keys.count)
    let hasUnsaved = layers.contains { $0.hasRows(in: table) }
    let batches = FaultBatch.batches(of: keys, size: batchSize)
    for (index, key) in keys.enumerated() {
      let place = RowKey(table: table, key: key)
      if let known = registered(place) {
        objects.append(known)
        continue
      }
      let entity = layouts.isEmpty ? resolved.entity : layouts[index]
      let object = ManagedObject(place, entity, .fault(batches[index / batchSize]), in: self)
      enroll(object, mayDiffer: hasUnsaved)
      objects.append(object)
    }
    return objects
  }

  // MARK: - With unsaved changes

  /// Stored objects that are not changed, and changed ones that satisfy the filter, in order.
  private func merge(
    _ pending: Set<RowKey>,
    into request: FetchRequest,
    _ resolved: ResolvedRequest
  ) throws -> [ManagedObject] {
    var wider = request
    wider.offset = 0
    wider.limit = request.limit.map { limit in
      [request.offset, pending.count].reduce(limit) { sum, more in
        let (wider, isTooMuch) = sum.addingReportingOverflow(more)
        return isTooMuch ? .max : wider
      }
    }
    let unchanged = try stored(ResolvedRequest(wider, in: layout), wider)
      .filter { !pending.contains($0.place) }
    let memory = MemoryFetch(resolved)
    var candidates: [ContextSubject] = []
    for place in pending {
      let object = try register(place, resolved.entity)
      guard try isAlive(object) else { continue }
      let subject = ContextSubject(object: object)
      if try memory.admits(subject) { candidates.append(subject) }
    }
    let comparator = memory.comparator
    let changed = try comparator.sorted(candidates)
    try throwRecorded()
    var merged: [ManagedObject] = []
    var next = 0
    for object in unchanged {
      let subject = ContextSubject(object: object)
      while next < changed.count, try comparator.order(changed[next], subject) < 0 {
        merged.append(changed[next].object)
        next += 1
      }
      merged.append(object)
    }
    merged += changed[next...].map(\.object)
    return Array(merged.dropFirst(request.offset).prefix(request.limit ?? .max))
  }

  /// Every object of an entity's table as this context sees it.
  private func subjects(of entity: EntityLayout) throws -> [ContextSubject] {
    var request = FetchRequest(layout.entities[entity.root].name)
    request.includesPendingChanges = false
    var objects = try stored(ResolvedRequest(request, in: layout), request)
    let known = Set(objects.map(\.place))
    for place in pendingPlaces(in: entity.tableIndex) where !known.contains(place) {
      objects.append(try register(place, layout.entities[entity.root]))
    }
    return try objects.filter(isAlive).map { ContextSubject(object: $0) }
  }

  /// Whether an object exists to this context.
  func isAlive(_ object: ManagedObject) throws -> Bool {
    if isDeleted(object) { return false }
    do {
      try fire(object)
      return true
    } catch let error as ContextError where error.code == .missing {
      return false
    }
  }

  /// Whether a request looks at more than the attributes of its entity.
  private func usesRelationships(_ request: FetchRequest) -> Bool {
    let entity = layout.entity(named: request.entity)
    let isForeign = { (name: String) in entity?.attributeSlot(named: name) == nil }
    if request.sortKeys.contains(where: { isForeign($0.name) }) { return true }
    if request.groupBy.contains(where: isForeign) { return true }
    return request.filter?.usesRelationships(isForeign) ?? false
  }
}

/// An object as filters and sort keys see it; errors are recorded by its context.
struct ContextSubject: FilterSubject {
  let object: ManagedObject

  func attribute(_ slot: Int) -> StoredValue {
    do {
      return try object.value(object.layout.attributeColumns[slot])
    } catch {
      object.context.record(error)
      return .null
    }
  }

  func toOne(_ link: Int) -> ContextSubject? { toMany(link).first }

  func toMany(_ link: Int) -> [ContextSubject] {
    do {
      let relationship = object.layout.relationships[link]
      return try object.context.targets(of: relationship, object).map {
        try object.context.fire($0)
        return ContextSubject(object: $0)
      }
    } catch {
      object.context.record(error)
      return []
    }
  }

  var objectID: ObjectID { object.objectID }
  var entityIndex: Int { object.layout.index }
}

extension Filter {
  /// Whether a name in the filter is no attribute.
  fileprivate func usesRelationships(_ isForeign: (String) -> Bool) -> Bool {
    switch self {
    case .constant: false
    case .and(let parts), .or(let parts):
      parts.contains { $0.usesRelationships(isForeign) }
    case .not(let part): part.usesRelationships(isForeign)
    case .comparison(let comparison):
      comparison.quantifier != .one
        || [comparison.left, comparison.right].contains { operand in
          guard case .path(let path) = operand else { return false }
          return path.steps.count > 1 || path.steps.contains(where: isForeign)
        }
    }
  }
}
