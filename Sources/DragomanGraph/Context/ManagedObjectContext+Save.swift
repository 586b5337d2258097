extension ManagedObjectContext {
  /// Writes the unsaved changes of this context into the store, in one transaction.
  ///
  /// With them go the unsaved insertions of the contexts above that they refer to, and nothing else
  /// that is pending there. When it returns the changes are durable (`COMMIT` with
  /// `synchronous=FULL`), and the contexts above know of them. When it throws, nothing was written,
  /// everything is still pending here, and the save can be tried again.
  ///
  /// - Throws: `ContextError`: `.invalid` and `.denied` with every fault, `.conflict` with every
  ///   conflict, `.duplicate`, `.importing` in the hook of an import, what a property recorded: one error
  ///   as it is, several as `.invalid`, with every property that did not take its value in `faults`;
  ///   `StoreError`: `.full`, `.busy`, ….
  public func save() throws {
    try checkSavable()
    if kind == .main, openSession == nil {
      root.stopAway()
      takeOwnSaves()
    }
    try throwRecordedAndFaults()
    guard hasChanges else { return }
    try prepare()
    let changes = kind == .main ? root.mainChanges.snapshot : pendingChanges()
    let saved = try commit(changes)
    didSave(changes, saved.outcome)
    processChanges()
    settleFollowers(saved.outcome.versions)
    var above = parent
    while let context = above {
      context.didStore(saved)
      above = context.parent
    }
    // What is written into an open transaction is told once that is committed, or never.
    if let writer { writer.flushed.note(saved, root) } else { root.announce(saved, by: self) }
  }

  /// Refuses to write while a record is imported here or in a context above: it may be rejected yet,
  /// and what is in the store by then cannot be undone.
  func checkSavable() throws {
    try checkOpen()
    guard !isImportingRecord else {
      throw ContextError(
        .importing,
        "A context cannot be saved while a record is imported into it: the record may be rejected"
          + " yet.",
        help: "leave the changes unsaved; they are stored with the record"
      )
    }
  }

  private var isImportingRecord: Bool { undoLog != nil || parent?.isImportingRecord == true }

  /// Checks everything and completes what follows from it: places in ordered lists, links to
  /// deleted objects.
  ///
  /// - Throws: `ContextError` `.invalid` or `.denied`, with every fault.
  public func validate() throws {
    try prepare()
  }

  /// Throws what was recorded and what is wrong, before a save on another thread.
  func validateForSave() throws {
    try checkOpen()
    try throwRecordedAndFaults()
    try prepare()
  }

  /// Throws what was recorded; beside values that properties did not take, every other fault.
  private func throwRecordedAndFaults() throws {
    guard recorded.hasRefusals else { return try throwRecorded() }
    var faults: [ObjectFault] = []
    do {
      try prepare()
    } catch let error as ContextError where !error.faults.isEmpty {
      faults = error.faults
    }
    if let error = recorded.take(besides: faults) { throw error }
  }

  /// The changes, checked, for a merge into main.
  func changesToMerge() throws -> PendingChanges {
    try validateForSave()
    return pendingChanges()
  }

  /// What follows from the changes: places in ordered lists, links to deleted objects.
  func completeChanges() throws {
    try setOrderColumns()
    try clearLinksToDeleted()
  }

  private func prepare() throws {
    try completeChanges()
    var validation = ObjectValidation(self)
    let objects = changed.values.sorted {
      ($0.place.table, $0.place.key) < ($1.place.table, $1.place.key)
    }
    visitCount += objects.count
    // A stub has none of the values that are required.
    for object in objects where object.status != .deleted && marks[object.place]?.isStub != true {
      try validation.check(object)
    }
    // An owner whose row stays the same may have lost a target that it needs.
    for key in pendingLinks.keys where layout.links[key.link].relationship.isLimited {
      let link = layout.links[key.link]
      let place = RowKey(table: layout.entities[link.owner].tableIndex, key: key.owner)
      if changed[place] == nil, let owner = registered(place) { try validation.check(owner) }
    }
    let broken = validation.faults
    for object in objects where object.status == .deleted {
      try validation.checkDeletion(object)
    }
    guard !validation.faults.isEmpty else { return }
    throw ContextError(broken.isEmpty ? .denied : .invalid, validation.faults)
  }

  /// The place of each target of an ordered to-many is a column of the target.
  private func setOrderColumns() throws {
    for (key, links) in pendingLinks {
      let link = layout.links[key.link]
      guard case .inverseColumn(_, let order?) = link.storage, let list = links.list else {
        continue
      }
      let entity = layout.entities[link.destination]
      let columns = layout.tables[entity.tableIndex].columns
      guard let column = columns.firstIndex(where: { $0.name == order }) else { continue }
      visitCount += list.count
      for (place, target) in list.enumerated() {
        let object = try register(RowKey(table: entity.tableIndex, key: target), entity)
        guard !object.isDeleted else { continue }
        try set(.integer(Int64(place)), column: column, of: object)
      }
    }
  }

  /// A to-one that leads to an object that is deleted in the same save is null.
  private func clearLinksToDeleted() throws {
    let deleted = Set(changed.filter { $0.value.status == .deleted }.keys)
    guard !deleted.isEmpty else { return }
    for object in Array(changed.values) where object.status != .deleted {
      for link in object.layout.relationships {
        guard let column = column(of: link), let key = object.changes[column]?.integer else {
          continue
        }
        let table = layout.entities[link.destination].tableIndex
        if deleted.contains(RowKey(table: table, key: key)) {
          try set(.null, column: column, of: object)
        }
      }
    }
  }

  /// The unsaved changes of this context as a value.
  func pendingChanges() -> PendingChanges {
    var changes = PendingChanges()
    changes.objects.reserveCapacity(changed.count)
    for (place, object) in changed { changes.objects[place] = pending(object) }
    changes.links = pendingLinks.filter { !$0.value.isEmpty }
    return changes
  }

  private func commit(_ changes: PendingChanges) throws -> SavedChanges {
    let above = parent == nil ? nil : { [self] place in beneath(place) }
    if let session = openSession {
      return try root.write(changes, in: session, policy: mergePolicy, above: above)
    }
    return try root.commit(changes, policy: mergePolicy, above: above)
  }

  /// The session that this context reads and writes through.
  var openSession: WriteSession? { writer?.session }

  /// This context or the one above it that has an open session.
  private var writer: ManagedObjectContext? { session == nil ? parent?.writer : self }

  // MARK: - After a save

  /// What was unsaved is the state of the store now.
  func didSave(_ changes: PendingChanges, _ outcome: PendingChangesWriter.Outcome) {
    var rows: [Int: RowBuffer] = [:]
    for (place, object) in changed {
      if object.status == .deleted {
        object.status = .gone
        identities[place.table][place.key] = nil
        continue
      }
      object.status = .clean
      object.inherited = [:]
      // Deleted elsewhere, and written again by this save: links lead to it as before.
      if goneRows.remove(place) != nil { noteMerge(of: object) }
      if outcome.merged.contains(place) {
        object.changes = [:]
        object.content = .fault(nil)
        noteMerge(of: object)
        continue
      }
      object.version = outcome.versions[place] ?? object.version
      settle(object, &rows)
    }
    forgetTargets()
    forgetDeleted(in: changes)
    changed = [:]
    pendingLinks = [:]
    marks = [:]
    // Main may be reading these by now.
    importBuffers.removeAll(keepingCapacity: true)
    if kind == .main { root.mainChanges.removeAll() }
  }

  /// The row of an object becomes what was written.
  private func settle(_ object: ManagedObject, _ rows: inout [Int: RowBuffer]) {
    guard !object.changes.isEmpty else { return }
    let table = object.place.table
    let count = layout.tables[table].columns.count
    let known = rows[table].flatMap { $0.rowCount < 256 && !$0.isFull ? $0 : nil }
    let buffer = known ?? RowBuffer(columnCount: count, capacity: min(changed.count, 256))
    rows[table] = buffer
    var row: RowPlace?
    if case .row(let known) = object.content { row = known }
    buffer.append(row, changes: object.changes)
    object.content = .row(RowPlace(buffer: buffer, row: buffer.rowCount - 1))
    object.changes = [:]
  }

  /// Links to objects that are gone and had no inverse to clear them lead nowhere from now on.
  func forgetDeleted(in changes: PendingChanges) {
    for (place, change) in changes.objects where change.kind == .deleted { goneRows.insert(place) }
  }
}

extension Relationship {
  /// Whether the number of targets has a rule.
  fileprivate var isLimited: Bool { isRequired || maximumCount != nil }
}
