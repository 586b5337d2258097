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
    if kind == .main, openSession == nil { root.stopAway() }
    try throwRecordedAndFaults()
    guard hasChanges else { return }
    try prepare()
    let saved =
      if let session = openSession {
        try root.write(overlay.changes, seen: upper, in: session, mergePolicy)
      } else {
        try root.commit(overlay, above: overlaysAbove, mergePolicy)
      }
    let written = saved.written
    didSave(saved)
    processChanges()
    settleFollowers(written.outcome.versions)
    // What is written into an open transaction is told once that is committed, or never.
    writer?.note(saved)
    var next = parent
    var index = 0
    while let context = next {
      if openSession != nil, context.kind != .main {
        context.overlay.settle(written, seen: saved.seen[index], yields: true, layout)
      }
      context.didStore(written)
      next = context.parent
      index += 1
    }
    if writer == nil { root.announce(written, by: self) }
  }

  /// The unsaved changes of the contexts above, the nearest first; main's is the last.
  var overlaysAbove: [Overlay] {
    guard kind != .main else { return [] }
    return parent.map { [$0.overlay] + $0.overlaysAbove } ?? [root.main]
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

  private var isImportingRecord: Bool {
    importing.recordCount > 0 || parent?.isImportingRecord == true
  }

  /// Checks everything and completes what follows from it: places in ordered lists, links to
  /// deleted objects.
  ///
  /// - Throws: `ContextError` `.invalid` or `.denied`, with every fault.
  public func validate() throws {
    try prepare()
  }

  /// Checks what is stored of this context's changes besides those that were checked.
  func validate(_ part: ChangeSet) throws {
    var validation = ObjectValidation(self)
    for (place, change) in part.sorted
    where change.kind != .deleted && change.mark?.isStub != true {
      try validation.check(enroll(place, change), change)
    }
    if !validation.faults.isEmpty { throw ContextError(.invalid, validation.faults) }
  }

  /// Throws what was recorded and what is wrong, before a save on another thread.
  func validateForSave(isSaving: Bool = true) throws {
    try checkOpen()
    try throwRecordedAndFaults()
    try prepare(isSaving: isSaving)
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
  func changesToMerge() throws -> ChangeSet {
    try validateForSave(isSaving: false)
    return overlay.changes
  }

  /// What follows from the changes: links to deleted objects, places in ordered lists.
  func completeChanges() throws {
    try clearLinksToDeleted()
    try setPlaces()
  }

  private func prepare(isSaving: Bool = true) throws {
    // What has lost the row that it is compared with gets it anew, if it is there.
    for (place, change) in overlay.changes.sorted where change.kind == .updated {
      if change.row == nil { _ = try isAlive(enroll(place, change)) }
    }
    var denials = ObjectValidation(self)
    for (place, change) in overlay.changes.sorted where change.kind == .deleted {
      // What is not stored goes with its links.
      if changeAbove(place)?.kind == .inserted { continue }
      try denials.checkDeletion(enroll(place, change))
    }
    if denials.faults.isEmpty { try completeChanges() }
    var validation = ObjectValidation(self)
    let changes = overlay.changes
    // What is unsaved above and goes along is stored, too.
    let rows = (isSaving ? root.withDependencies(changes, upper) : changes).sorted
    visitCount += rows.count
    // A stub has none of the values that are required.
    for (place, change) in rows where change.kind != .deleted && change.mark?.isStub != true {
      try validation.check(enroll(place, change), change)
    }
    try validation.checkCounts(changes)
    let broken = validation.faults
    let faults = broken + denials.faults
    guard !faults.isEmpty else { return }
    throw ContextError(broken.isEmpty ? .denied : .invalid, faults)
  }

  /// The places in ordered lists that something came to or went from are 0, 1, ….
  private func setPlaces() throws {
    let changes = overlay.changes
    for key in changes.touched.keys {
      guard let list = layout.inverse(of: layout.links[key.link]), list.isListed else { continue }
      try setPlaces(of: list, key.owner)
    }
    for key in changes.links.targets {
      guard let list = layout.inverse(of: layout.links[key.link]), list.relationship.isOrdered,
        case .joinTable(_, isOwner: false) = list.storage
      else { continue }
      try setPlaces(of: list, key.owner)
    }
  }

  private func setPlaces(of list: RelationshipLayout, _ key: Int64) throws {
    let entity = layout.entities[list.owner]
    let place = RowKey(table: entity.tableIndex, key: key)
    guard !isDeleted(place) else { return }
    let owner = try register(place, entity)
    try setPlaces(targetKeys(of: list, owner), of: list, owner)
  }

  /// A link that is not stored and leads to an object that is deleted in the same save is none.
  private func clearLinksToDeleted() throws {
    let changes = overlay.changes
    let deleted = changes.sorted.filter { $0.change.kind == .deleted }.map(\.place)
    guard !deleted.isEmpty else { return }
    for place in deleted {
      didClear(overlay.change { [layout] in $0.dropLinks(of: place, layout) })
    }
    // What is stored and has no inverse to clear it is cleared by the save, or here, with the rest of
    // its row.
    for (place, change) in overlay.changes.sorted where change.kind == .updated {
      for column in layout.linkColumns[place.table] where change.values[column.column] == nil {
        let link = layout.links[column.link]
        guard link.inverse == nil, let key = change.base(column.column).integer else { continue }
        let target = RowKey(table: layout.entities[link.destination].tableIndex, key: key)
        if changes.deletes(target) {
          try set(.null, column: column.column, of: enroll(place, change))
        }
      }
    }
  }

  /// The session that this context reads and writes through.
  var openSession: WriteSession? { writer?.session }

  /// This context or the one above it that has an open session.
  private var writer: ManagedObjectContext? { session == nil ? parent?.writer : self }

  // MARK: - After a save

  /// What was unsaved is the state of the store now.
  func didSave(_ saved: RootContext.Write) {
    let written = saved.written
    overlay.removeAll(isStored: true)
    var rows: [Int: RowBuffer] = [:]
    for table in written.changes.tables.keys {
      for (key, change) in written.changes.rows(in: table) {
        let place = RowKey(table: table, key: key)
        noteOthers(at: place, change, written)
        guard let object = registered(place), object.status != .gone else { continue }
        settle(object, change, written, &rows)
      }
    }
    linkMemory.forgetTargets()
    forgetDeleted(in: written)
    // Main may be reading these by now.
    importing.buffers.removeAll(keepingCapacity: true)
    importing.lastKeys = nil
  }

  /// An object of which nothing is unsaved any more becomes what was written; `rows` takes its row.
  func settle(
    _ object: ManagedObject,
    _ change: RowChange,
    _ written: WrittenChanges,
    _ rows: inout [Int: RowBuffer]
  ) {
    let place = object.place
    if change.kind == .deleted, !written.outcome.kept.contains(place) {
      object.status = .gone
      identities[place.table][place.key] = nil
      return
    }
    let wasPending = object.hasChanges
    object.status = .clean
    guard change.kind != .deleted, !written.outcome.merged.contains(place), wasPending,
      change.kind == .inserted || change.row != nil
    else {
      object.content = .fault(nil)
      return
    }
    object.version = written.outcome.versions[place] ?? object.version
    guard !change.values.isEmpty else {
      if let row = change.row { object.content = .row(row) }
      return
    }
    let count = layout.tables[place.table].columns.count
    let known = rows[place.table].flatMap { $0.rowCount < 256 && !$0.isFull ? $0 : nil }
    let buffer =
      known ?? RowBuffer(columnCount: count, capacity: min(written.changes.count, 256))
    rows[place.table] = buffer
    buffer.append(change.row, changes: change.values)
    object.content = .row(RowPlace(buffer: buffer, row: buffer.rowCount - 1))
  }
}
