extension ManagedObjectContext {
  /// Writes the unsaved changes of this context into the store, in one transaction.
  ///
  /// With them go the unsaved insertions of the contexts above that they refer to, and nothing else
  /// that is pending there. When it returns the changes are durable (`COMMIT` with
  /// `synchronous=FULL`), and the contexts above know of them. When it throws, nothing was written,
  /// everything is still pending here, and the save can be tried again.
  ///
  /// - Throws: `ContextError`: `.invalid` and `.denied` with every fault, `.conflict` with every
  ///   conflict, `.duplicate`, what a property recorded; `StoreError`: `.full`, `.busy`, ….
  public func save() throws {
    try checkOpen()
    try throwRecorded()
    guard hasChanges else { return }
    try prepare()
    let changes = kind == .main ? root.mainChanges.snapshot : pendingChanges()
    let saved = try commit(changes)
    didSave(changes, saved.outcome)
    processChanges()
    var above = parent
    while let context = above {
      context.didStore(saved)
      above = context.parent
    }
    root.announce(saved, by: self)
  }

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
    try throwRecorded()
    try prepare()
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
    for object in objects where object.status != .deleted { try validation.check(object) }
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
    guard let first = validation.faults.first else { return }
    throw ContextError(
      broken.isEmpty ? .denied : .invalid,
      validation.faults.count == 1
        ? first.message
        : "\(first.message) (\(validation.faults.count - 1) more faults)",
      object: first.object,
      help: "mend the objects and save again; nothing was lost",
      faults: validation.faults
    )
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

  var openSession: WriteSession? { session ?? parent?.openSession }

  // MARK: - After a save

  /// What was unsaved is the state of the store now.
  func didSave(_ changes: PendingChanges, _ outcome: ChangeWriter.Outcome) {
    var rows: [Int: RowBuffer] = [:]
    for (place, object) in changed {
      if object.status == .deleted {
        object.status = .gone
        identities[place.table][place.key] = nil
        continue
      }
      object.status = .clean
      object.inherited = [:]
      if outcome.merged.contains(place) {
        object.changes = [:]
        object.content = .fault(nil)
        continue
      }
      object.version = outcome.versions[place] ?? object.version
      settle(object, &rows)
    }
    for (key, links) in pendingLinks {
      let link = layout.links[key.link]
      let place = RowKey(table: layout.entities[link.owner].tableIndex, key: key.owner)
      guard let owner = registered(place) else { continue }
      owner.targets[key.link] = owner.targets[key.link].map(links.applied)
    }
    forgetDeleted(in: changes)
    changed = [:]
    pendingLinks = [:]
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
    buffer.append((0..<count).map { object.changes[$0] ?? object.rowValue($0) })
    object.content = .row(RowPlace(buffer: buffer, row: buffer.rowCount - 1))
    object.changes = [:]
  }

  /// Links to objects that are gone and had no inverse to clear them lead nowhere from now on.
  func forgetDeleted(in changes: PendingChanges) {
    for (place, change) in changes.objects where change.kind == .deleted { goneRows.insert(place) }
  }

  // MARK: - Changes that came from elsewhere

  /// A child, or another stack's import, has stored changes: what is registered here and clean is
  /// read again when it is next looked at; what has unsaved changes keeps them.
  func didStore(_ saved: SavedChanges) {
    var refreshed: [Int: [ManagedObject]] = [:]
    for (place, change) in saved.changes.objects {
      guard let object = registered(place) else { continue }
      switch (object.status, change.kind) {
      case (.clean, .deleted):
        object.status = .gone
        identities[place.table][place.key] = nil
      case (.clean, _):
        object.inherited = [:]
        refreshed[place.table, default: []].append(object)
      case (.inserted, .inserted), (.inserted, .updated):
        // A child saw what is pending here and changed it: its values are the later ones.
        for column in saved.ownColumns[place] ?? [] {
          object.changes[column] = change.values[column]
        }
        adopt(change, object, saved.outcome.versions[place] ?? 1)
      case (.updated, .updated) where kind != .main:
        for column in saved.ownColumns[place] ?? [] { object.changes[column] = nil }
        object.content = .fault(nil)
        if object.changes.isEmpty {
          object.status = .clean
          changed[place] = nil
        }
      default: break
      }
    }
    for objects in refreshed.values {
      let batch = FaultBatch(keys: objects.map(\.place.key))
      for object in objects { object.content = .fault(batch) }
    }
    for key in saved.changes.links.keys {
      let link = layout.links[key.link]
      let place = RowKey(table: layout.entities[link.owner].tableIndex, key: key.owner)
      registered(place)?.targets[key.link] = nil
    }
    forgetDeleted(in: saved.changes)
    noteStored(saved)
    processChanges()
  }

  /// What this context had pending was stored on another thread; what was changed here meanwhile
  /// stays pending.
  func didStore(_ saved: SavedChanges, sent: PendingChanges) {
    for (place, change) in sent.objects {
      guard let object = registered(place), object.hasChanges else { continue }
      switch (object.status, change.kind) {
      case (.deleted, _):
        if change.kind == .deleted {
          object.status = .gone
          identities[place.table][place.key] = nil
          changed[place] = nil
        }
        publish(object)
      case (_, .deleted): break
      default:
        if saved.outcome.merged.contains(place) {
          object.changes = [:]
          object.status = .clean
          object.content = .fault(nil)
          changed[place] = nil
          publish(object)
        } else {
          adopt(change, object, saved.outcome.versions[place] ?? change.version + 1)
        }
      }
    }
    for (key, links) in sent.links {
      let place = RowKey(
        table: layout.entities[layout.links[key.link].owner].tableIndex,
        key: key.owner
      )
      guard let pending = pendingLinks[key], let owner = registered(place) else { continue }
      let base = owner.targets[key.link] ?? []
      let stored = links.applied(to: base)
      let wanted = pending.applied(to: base)
      owner.targets[key.link] = owner.targets[key.link] == nil ? nil : stored
      pendingLinks[key] = wanted == stored ? nil : PendingLinks(from: stored, to: wanted, pending)
      publish(key)
    }
    forgetDeleted(in: saved.changes)
  }

  /// Values that are pending here were stored elsewhere: what differs from them stays pending.
  private func adopt(_ change: PendingObject, _ object: ManagedObject, _ version: Int64) {
    let count = layout.tables[object.place.table].columns.count
    let buffer = RowBuffer(columnCount: count, capacity: 1)
    let written = (0..<count).map {
      change.values[$0] ?? change.row?.stored($0) ?? object.rowValue($0)
    }
    buffer.append(written)
    let values = (0..<count).map { object.changes[$0] ?? object.rowValue($0) }
    object.content = .row(RowPlace(buffer: buffer, row: 0))
    object.version = version
    object.changes = [:]
    for column in 0..<count where values[column] != written[column] {
      object.changes[column] = values[column]
    }
    object.status = object.changes.isEmpty ? .clean : .updated
    if object.changes.isEmpty { changed[object.place] = nil }
    if kind == .main { root.mainChanges.forget(object.place) }
    publish(object)
  }

  /// Takes over a child's changes as unsaved changes of this context.
  func absorb(_ changes: PendingChanges) throws {
    for (place, change) in changes.objects {
      let entity = layout.entities[change.entity]
      let object: ManagedObject
      if change.kind == .inserted, registered(place) == nil {
        object = ManagedObject(
          place,
          entity,
          .row(change.row ?? emptyRow(of: place.table)),
          in: self
        )
        object.status = .inserted
        identities[place.table][place.key] = Unmanaged.passUnretained(object)
        changed[place] = object
      } else {
        object = try register(place, entity)
      }
      switch change.kind {
      case .deleted:
        if object.status == .inserted {
          object.status = .gone
          changed[place] = nil
        } else {
          object.status = .deleted
          changed[place] = object
        }
      case .inserted, .updated:
        if object.status != .inserted { try fire(object) }
        for (column, value) in change.values { object.changes[column] = value }
        touch(object)
      }
      publish(object)
    }
    for (key, links) in changes.links {
      var own = pendingLinks[key] ?? PendingLinks()
      own.absorb(links)
      pendingLinks[key] = own
      publish(key)
    }
  }

  // MARK: - Undo

  /// Drops all unsaved changes: inserted objects are gone, deleted ones are back.
  public func rollback() {
    for (place, object) in changed {
      switch object.status {
      case .inserted:
        object.status = .gone
        identities[place.table][place.key] = nil
      case .updated, .deleted: object.status = .clean
      case .clean, .gone: break
      }
      object.changes = [:]
      publish(object)
    }
    for object in changed.values { noteRollback(of: object) }
    changed = [:]
    pendingLinks = [:]
    keyIndex?.removeAll()
    _ = try? throwRecorded()
    if kind == .main { root.mainChanges.removeAll() }
    processChanges()
  }

  /// Reads an object again when it is next looked at.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - keepingChanges: Whether its unsaved changes stay, on top of what the store has by then.
  public func refresh(_ object: ManagedObject, keepingChanges: Bool = false) {
    guard object.context === self, object.status == .clean || object.status == .updated else {
      return
    }
    if !keepingChanges, object.status == .updated {
      object.changes = [:]
      object.status = .clean
      changed[object.place] = nil
      for link in object.layout.relationships {
        pendingLinks[LinkKey(link: link.id, owner: object.place.key)] = nil
      }
    }
    object.content = .fault(nil)
    object.inherited = [:]
    object.targets = [:]
    publish(object)
  }

  /// Objects of these tables may have been changed in bulk: those whose version differs are read
  /// again when they are next looked at.
  ///
  /// Runs one `SELECT _pk, _v` a table, for the registered objects.
  func refresh(tables: Set<Int>) {
    for identity in identities {
      for reference in identity.values { reference.takeUnretainedValue().targets = [:] }
    }
    for table in tables where identities.indices.contains(table) {
      do {
        try refresh(table)
      } catch {
        record(error)
      }
    }
    noteRefresh(of: tables)
    processChanges()
  }

  private func refresh(_ table: Int) throws {
    var missing: Set<Int64> = []
    for (key, reference) in identities[table] {
      let object = reference.takeUnretainedValue()
      if object.status == .clean, !object.isFault { missing.insert(key) }
    }
    guard !missing.isEmpty else { return }
    let keys = StoredValue.text("[\(missing.map(String.init).joined(separator: ","))]")
    let name = Schema.quoted(layout.tables[table].name)
    var stale: [ManagedObject] = []
    try read { database in
      let sql = "SELECT _pk, _v FROM \(name) WHERE _pk IN (SELECT value FROM json_each(?1))"
      let statement = try RawStatement(sql, in: database)
      try statement.bind(keys, 1)
      try statement.forEachRow { row in
        let key = columnInteger(row, 0)
        missing.remove(key)
        guard let object = registered(RowKey(table: table, key: key)),
          object.version != columnInteger(row, 1)
        else { return }
        stale.append(object)
      }
    }
    let batch = FaultBatch(keys: stale.map(\.place.key))
    for object in stale { object.content = .fault(batch) }
    for key in missing {
      guard let object = registered(RowKey(table: table, key: key)) else { continue }
      object.status = .gone
      identities[table][key] = nil
    }
  }

  /// Reads every registered object without unsaved changes again when it is next looked at.
  public func refreshAll() {
    for identity in identities {
      for reference in identity.values {
        let object = reference.takeUnretainedValue()
        if object.status == .clean { refresh(object) }
      }
    }
  }
}

extension Relationship {
  /// Whether the number of targets has a rule.
  fileprivate var isLimited: Bool { isRequired || maximumCount != nil }
}
