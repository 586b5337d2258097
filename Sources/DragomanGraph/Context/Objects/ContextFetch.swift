/// A request in a context: what is stored, and what is unsaved here and above.
struct ContextFetch {
  private let context: ManagedObjectContext
  private let request: FetchRequest
  let resolved: ResolvedRequest
  /// Whether the filter, the order or the groups look at more than the attributes of the entity.
  private let usesRelationships: Bool
  /// Whether a column does.
  private let showsRelationships: Bool

  /// Checks a request.
  ///
  /// - Throws: `StoreError.badRequest`; `ContextError.stackClosed`, `.foreignContext`.
  init(_ request: FetchRequest, in context: ManagedObjectContext) throws {
    try context.checkOpen()
    self.context = context
    self.request = request
    resolved = try ResolvedRequest(request, in: context.layout)
    let entity = resolved.entity
    let isForeign = { (name: String) in entity.attributeSlot(named: name) == nil }
    usesRelationships =
      request.sortKeys.contains { isForeign($0.name) } || request.groupBy.contains(where: isForeign)
      || request.filter?.looksFurther { !isForeign($0) } ?? false
    showsRelationships = request.columns?.contains { $0.path != "" && isForeign($0.path) } ?? false
  }

  /// Whether the store alone has the answer.
  private var isStored: Bool { isStored(looksFurther: usesRelationships) }

  private func isStored(looksFurther: Bool) -> Bool {
    guard request.includesPendingChanges else { return true }
    let tables = context.layout.tables.indices
    return !context.hasChanges(inAny: looksFurther ? Set(tables) : [resolved.entity.tableIndex])
  }

  private func checkObjects() throws {
    guard resolved.table != nil else { return }
    throw StoreError(
      .badRequest,
      "A request with groups, aggregates or distinct values has rows and no objects.",
      help: "use dictionaries(_:)"
    )
  }

  /// The objects.
  func objects() throws -> [ManagedObject] { try objects(returnsFaults: request.returnsFaults) }

  private func objects(returnsFaults: Bool) throws -> [ManagedObject] {
    try checkObjects()
    guard request.includesPendingChanges else {
      return try stored(resolved, returnsFaults: returnsFaults)
    }
    if usesRelationships {
      if isStored { return try stored(resolved, returnsFaults: returnsFaults) }
      return try MemoryFetch(resolved).objects(of: subjects()).map(\.object)
    }
    if let places = try unsavedByKey() {
      let layers = context.layers.map { $0.rows(in: resolved.entity.tableIndex) }
      let isPending = { (place: RowKey) in layers.contains { $0[place.key] != nil } }
      return try merge(
        places.filter(isPending),
        returnsFaults: returnsFaults,
        isPending: isPending
      )
    }
    let pending = context.pendingPlaces(in: resolved.entity.tableIndex)
    return try pending.isEmpty
      ? stored(resolved, returnsFaults: returnsFaults)
      : merge(pending, returnsFaults: returnsFaults, isPending: pending.contains)
  }

  /// While records are imported: the unsaved objects with the unique key that the filter names; nil where it names none.
  private func unsavedByKey() throws -> [RowKey]? {
    guard let filter = resolved.filter else { return nil }
    var values: [Int: StoredValue] = [:]
    for (slot, value) in filter.fixedValues {
      values[resolved.entity.attributeColumns[slot]] = value
    }
    return values.isEmpty ? nil : try context.finder.unsaved(resolved.entity, having: values)
  }

  /// Their ids.
  func ids() throws -> [ObjectID] {
    try checkObjects()
    guard isStored else { return try objects(returnsFaults: true).map(\.objectID) }
    let entity = resolved.entity.rootName
    var ids: [ObjectID] = []
    try context.read { reader in
      try reader.fetch(resolved, .columns([])) { row in
        ids.append(ObjectID(entity: entity, primaryKey: row.integer(0)))
      }
    }
    return ids
  }

  /// Their number, or that of the rows.
  func count() throws -> Int {
    guard resolved.table != nil else {
      return isStored ? try context.read { try $0.count(resolved) } : try ids().count
    }
    return isStored(looksFurther: usesRelationships || showsRelationships)
      ? try context.read { try $0.count(resolved) } : try rows().count
  }

  /// The values of the columns.
  func rows() throws -> [[StoredValue]] {
    var rows: [[StoredValue]] = []
    if isStored(looksFurther: usesRelationships || showsRelationships) {
      try context.read { reader in
        try reader.fetch(resolved, .values) { row in
          rows.append(resolved.columns.indices.map { row.stored(Int32($0) + 1) })
        }
      }
    } else {
      rows = try MemoryFetch(resolved).rows(of: subjects())
      try context.throwRecorded()
    }
    return rows
  }

  // MARK: - From the store

  private func stored(
    _ resolved: ResolvedRequest,
    returnsFaults: Bool
  ) throws -> [ManagedObject] {
    let table = resolved.entity.tableIndex
    let mayDiffer = context.layers.contains { $0.hasRows(in: table) }
    if returnsFaults { return try faults(resolved, mayDiffer) }
    var intake = RowIntake(
      context,
      resolved.entity,
      count: 16,
      refreshes: true,
      mayDiffer: mayDiffer
    )
    var objects: [ManagedObject] = []
    try context.read { reader in
      try reader.fetch(resolved, .columns(context.layout.tables[table].objectColumns)) { row in
        objects.append(intake.take(row))
      }
    }
    return objects
  }

  /// Objects whose values are read when they are asked for.
  private func faults(_ resolved: ResolvedRequest, _ mayDiffer: Bool) throws -> [ManagedObject] {
    let entity = resolved.entity
    let names = EntityNames(context.layout, entity)
    var keys: [Int64] = []
    var entities: [EntityLayout] = []
    try context.read { reader in
      try reader.fetch(resolved, .columns(entity.hasEntityColumn ? ["_v", "_entity"] : [])) { row in
        keys.append(row.integer(0))
        if entity.hasEntityColumn { entities.append(names.entity(of: row) ?? entity) }
      }
    }
    context.identities[entity.tableIndex].reserve(keys.count)
    let batchSize = max(1, request.batchSize ?? FaultBatch.size)
    let batches = FaultBatch.batches(of: keys, size: batchSize)
    return keys.enumerated().map { index, key in
      let place = RowKey(table: entity.tableIndex, key: key)
      if let known = context.registered(place) { return known }
      let content = ManagedObject.Content.fault(batches[index / batchSize])
      let entity = entities.isEmpty ? entity : entities[index]
      let object = ManagedObject(place, entity, content, in: context)
      context.enroll(object, mayDiffer: mayDiffer)
      return object
    }
  }

  // MARK: - With unsaved changes

  /// Stored objects that are not changed, and changed ones that satisfy the filter, in order.
  ///
  /// - Parameters:
  ///   - pending: The unsaved objects that may satisfy it.
  ///   - returnsFaults: Whether stored ones are faults.
  ///   - isPending: Whether a stored object has unsaved changes.
  /// - Returns: The objects.
  /// - Throws: What the store throws.
  private func merge(
    _ pending: some Collection<RowKey>,
    returnsFaults: Bool,
    isPending: (RowKey) -> Bool
  ) throws -> [ManagedObject] {
    var wider = resolved
    wider.offset = 0
    wider.limit = resolved.limit.map { limit in
      // Of a unique key one row is stored, which may have changed.
      [resolved.offset, pending.count, 1].reduce(limit) { sum, more in
        let (wider, isTooMuch) = sum.addingReportingOverflow(more)
        return isTooMuch ? .max : wider
      }
    }
    let unchanged = try stored(wider, returnsFaults: returnsFaults)
      .filter { !isPending($0.place) }
    let memory = MemoryFetch(resolved)
    var candidates: [ContextSubject] = []
    for place in pending {
      let object = try context.register(place, resolved.entity)
      guard try context.isAlive(object) else { continue }
      let subject = ContextSubject(object: object)
      if try memory.admits(subject) { candidates.append(subject) }
    }
    let comparator = memory.comparator
    let changed = try comparator.sorted(candidates)
    try context.throwRecorded()
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
    return Array(merged.dropFirst(resolved.offset).prefix(resolved.limit ?? .max))
  }

  /// Every object of the entity's table as the context sees it.
  private func subjects() throws -> [ContextSubject] {
    let root = context.layout.entities[resolved.entity.root]
    // Before the store is asked: what is stored meanwhile is unsaved no more.
    let pending = context.pendingPlaces(in: root.tableIndex)
    let all = try ResolvedRequest(FetchRequest(root.name), in: context.layout)
    var objects = try stored(all, returnsFaults: false)
    let known = Set(objects.map(\.place))
    for place in pending where !known.contains(place) {
      objects.append(try context.register(place, root))
    }
    return try objects.filter(context.isAlive).map { ContextSubject(object: $0) }
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
      // What is unsaved here may lead to what others have deleted: the link is stored no more.
      return try object.context.links.targets(of: relationship, object)
        .filter(object.context.isAlive).map { ContextSubject(object: $0) }
    } catch {
      object.context.record(error)
      return []
    }
  }

  var objectID: ObjectID { object.objectID }
  var entityIndex: Int { object.layout.index }
}
