/// Changes that came from elsewhere: from children, from saves on other threads, from imports.
extension ManagedObjectContext {
  /// A child, or another stack's import, has stored changes: what is registered here and clean is
  /// read again when it is next looked at; what has unsaved changes keeps them.
  func didStore(_ saved: SavedChanges) {
    var refreshed: [Int: [ManagedObject]] = [:]
    for (place, change) in saved.changes.objects {
      if change.kind != .deleted { goneRows.remove(place) }
      if change.mark != nil, marks[place] == change.mark { marks[place] = nil }
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
        settleInverses(of: object)
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
    for objects in refreshed.values { FaultBatch.assign(to: objects) }
    // A child's save takes with it what is unsaved here: main may be reading that by now.
    importBuffers.removeAll(keepingCapacity: true)
    forgetTargets()
    if isOfThisTime(saved) {
      for (key, links) in saved.changes.links {
        settleChilds(links, at: key, seen: saved.seenLists[key])
      }
    }
    forgetDeleted(in: saved.changes)
    noteStored(saved)
    processChanges()
  }

  /// Learns what of this context's changes was stored on other threads.
  func takeOwnSaves() {
    for save in root.takeOwnSaves() {
      // Where all was saved again, or rolled back, meanwhile, what is pending is not of that time.
      if isOfThisTime(save) { didStoreOwn(save) } else { didStore(save) }
    }
    root.mainChanges.endAway()
  }

  private func isOfThisTime(_ saved: SavedChanges) -> Bool {
    kind != .main || saved.generation == nil || saved.generation == root.mainChanges.generation
  }

  /// A child saw the links that are pending here, and has stored what it changed of them.
  private func settleChilds(_ links: PendingLinks, at key: LinkKey, seen: [Int64]?) {
    guard var pending = pendingLinks[key] else { return }
    let link = layout.links[key.link]
    let table = layout.entities[link.destination].tableIndex
    // A link that is a column of its target goes with the target's own changes.
    var inverseColumn: Int?
    if case .inverseColumn = link.storage, let inverse = link.inverse {
      inverseColumn = column(of: layout.links[inverse])
    }
    pending.settle(links, seen: seen) { target in
      inverseColumn.map { isPending($0, at: RowKey(table: table, key: target)) } ?? false
    }
    pendingLinks[key] = pending.isEmpty ? nil : pending
    publish(key)
  }

  /// Whether an object is deleted here, or has an unsaved value in a column.
  private func isPending(_ column: Int, at place: RowKey) -> Bool {
    guard let object = registered(place) else { return false }
    return object.status == .deleted || object.changes[column] != nil
  }

  /// What this context had pending was stored on another thread; what was changed here meanwhile
  /// stays pending.
  private func didStoreOwn(_ saved: SavedChanges) {
    let sent = saved.changes
    // What was dropped here meanwhile, and stored all the same, is a change by others.
    var dropped = saved
    dropped.changes.objects = sent.objects.filter { changed[$0.key] == nil }
    dropped.changes.links = [:]
    for (key, links) in sent.links { settleOwn(links, at: key) }
    for (place, change) in sent.objects {
      if change.mark != nil, marks[place] == change.mark { marks[place] = nil }
      guard let object = registered(place), object.hasChanges else { continue }
      let version = saved.outcome.versions[place]
      switch (object.status, change.kind) {
      case (.deleted, _):
        if change.kind == .deleted {
          object.status = .gone
          identities[place.table][place.key] = nil
          changed[place] = nil
        } else if let version, version > object.version {
          object.version = version
        }
        publish(object)
      case (_, .deleted): break
      default:
        if goneRows.remove(place) != nil { noteMerge(of: object) }
        // What it holds may be later than that save, where it was read again meanwhile.
        let isLater = version.map { $0 < object.version } ?? false
        if isLater || saved.outcome.merged.contains(place) {
          object.changes = object.changes.filter { change.values[$0.key] != $0.value }
          object.content = .fault(nil)
          if let version, !isLater { object.version = version }
          settleStatus(of: object)
          publish(object)
          noteMerge(of: object)
        } else {
          adopt(change, object, version ?? change.version + 1)
        }
      }
    }
    forgetTargets()
    forgetDeleted(in: saved.changes)
    if !dropped.changes.isEmpty { didStore(dropped) }
    processChanges()
    settleFollowers(saved.outcome.versions)
  }

  /// Links that were pending here were stored on another thread: what was changed since stays
  /// pending.
  ///
  /// The owner may have been let go: its links are pending without it.
  private func settleOwn(_ links: PendingLinks, at key: LinkKey) {
    guard var pending = pendingLinks[key] else { return publish(key) }
    pending.settle(links)
    pending.keepsReturns = false
    pendingLinks[key] = pending.isEmpty ? nil : pending
    publish(key)
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
    settleStatus(of: object)
    publish(object)
  }

  /// What was unsaved of an object is stored, but for its changes that are left.
  private func settleStatus(of object: ManagedObject) {
    let isClean = object.changes.isEmpty && !hasOwnLinks(object)
    object.status = isClean ? .clean : .updated
    if isClean { changed[object.place] = nil }
    if kind == .main { root.mainChanges.forget(object.place) }
  }

  /// The lists that an object is in by its to-ones are stored with it.
  private func settleInverses(of object: ManagedObject) {
    for link in object.layout.relationships {
      guard let column = column(of: link), object.changes[column] == nil,
        let inverse = link.inverse, let owner = object.rowValue(column).integer
      else { continue }
      let key = LinkKey(link: inverse, owner: owner)
      guard var pending = pendingLinks[key], pending.list == nil else { continue }
      pending.forget(object.place.key)
      pendingLinks[key] = pending.isEmpty ? nil : pending
      publish(key)
    }
  }

  /// Takes over a child's changes as unsaved changes of this context.
  func absorb(_ changes: PendingChanges) throws {
    for (place, change) in changes.objects {
      let entity = layout.entities[change.entity]
      let object: ManagedObject
      if let mark = change.mark { marks[place] = mark }
      if change.kind == .inserted, registered(place) == nil {
        object = ManagedObject(
          place,
          entity,
          .row(change.row ?? emptyRow(of: place.table)),
          in: self
        )
        object.status = .inserted
        identities[place.table][place.key] = object
        changed[place] = object
        undoLog?.steps.append(.inserted(object))
      } else {
        object = try register(place, entity)
      }
      switch change.kind {
      case .deleted:
        undoLog?.steps.append(.status(object, object.status))
        keyIndex?.remove(object)
        setDeleted(object)
      case .inserted, .updated:
        if object.status != .inserted { try fire(object) }
        keyIndex?.remove(object)
        for (column, value) in change.values {
          undoLog?.steps.append(.changed(object, column, object.changes[column], object.status))
          object.changes[column] = value
        }
        undoLog?.steps.append(.status(object, object.status))
        touch(object)
        keyIndex?.insert(object)
      }
      publish(object)
    }
    for (key, links) in changes.links {
      undoLog?.steps.append(.links(key, pendingLinks[key]))
      var own = pendingLinks[key] ?? PendingLinks()
      own.keepsReturns = kind == .main && root.mainChanges.isAway(key)
      own.absorb(links)
      pendingLinks[key] = own
      publish(key)
    }
    noteStored(SavedChanges(changes: changes, outcome: PendingChangesWriter.Outcome()))
  }
}
