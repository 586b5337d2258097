/// Changes that came from elsewhere: from children, from saves on other threads, from imports.
extension ManagedObjectContext {
  /// A child, or another stack's import, has stored changes: what is registered here and clean is
  /// read again when it is next looked at; what has unsaved changes keeps them.
  func didStore(_ written: WrittenChanges) {
    var refreshed: [Int: [ManagedObject]] = [:]
    for table in written.changes.tables.keys {
      for (key, change) in written.changes.rows(in: table) {
        let place = RowKey(table: table, key: key)
        if change.kind != .deleted { linkMemory.goneRows.remove(place) }
        guard let object = registered(place), object.status != .gone else { continue }
        if let own = overlay[place] {
          follow(own, object)
        } else if change.kind == .deleted {
          object.status = .gone
          identities[table][key] = nil
        } else {
          object.status = .clean
          refreshed[table, default: []].append(object)
        }
      }
    }
    for objects in refreshed.values { FaultBatch.assign(to: objects) }
    // A child's save takes with it what is unsaved here: main may be reading that by now.
    importing.buffers.removeAll(keepingCapacity: true)
    linkMemory.forgetTargets()
    forgetDeleted(in: written)
    noteStored(written.changes)
    processChanges()
  }

  /// Somebody has stored what was seen above: objects that knew it from there have it in their row from
  /// now on.
  func didStoreAbove(_ stored: [(place: RowKey, change: RowChange)]) {
    linkMemory.forgetTargets()
    for (place, change) in stored {
      guard let object = registered(place), object.status != .gone else { continue }
      if var own = overlay[place] {
        own.row = own.row?.setting(change.values)
        overlay.change { [layout, own] in $0.set(own, at: place, layout) }
        follow(own, object)
      } else {
        object.content = .fault(nil)
      }
    }
    for (place, change) in stored where change.kind == .deleted && overlay[place] == nil {
      do {
        // Rows that were read before may lead there still.
        let object = try register(place, layout.entities[Int(change.entity)])
        if try !isAlive(object) { linkMemory.goneRows.insert(place) }
      } catch {
        record(error)
      }
    }
  }

  /// What this context had pending was stored on another thread; what was changed here meanwhile
  /// stays pending.
  func didStoreOwn(_ written: WrittenChanges) {
    var rows: [Int: RowBuffer] = [:]
    for (place, change) in written.changes.sorted {
      noteOthers(at: place, change, written)
      guard let object = registered(place), object.status != .gone else { continue }
      if let own = overlay[place] {
        follow(own, object)
      } else {
        settle(object, change, written, &rows)
      }
    }
    linkMemory.forgetTargets()
    forgetDeleted(in: written)
    processChanges()
    settleFollowers(written.outcome.versions)
  }

  /// Others had a part in a row that was written, whether an object of it is alive or not.
  func noteOthers(at place: RowKey, _ change: RowChange, _ written: WrittenChanges) {
    let outcome = written.outcome
    // Deleted elsewhere, and written again by this save: links lead to it as before.
    let isBack = change.kind != .deleted && linkMemory.goneRows.remove(place) != nil
    if isBack || outcome.merged.contains(place) || outcome.kept.contains(place) {
      noteMerge(of: place)
    }
  }

  /// Takes over a child's changes as unsaved changes of this context: all of them, and nothing can go
  /// wrong with it.
  func absorb(_ changes: ChangeSet) {
    let places = changes.places
    if let keys = importing.keys { for place in places { keys.remove(place, in: self) } }
    let before = overlay.changes
    let cleared = overlay.change { [layout] in $0.merge(changes, layout) }
    let now = overlay.changes
    for place in places {
      log(place, isDeletion: changes.deletes(place))
      guard let object = registered(place), object.status != .gone else { continue }
      restore(object, before[place], now[place])
    }
    didClear(cleared)
    if let keys = importing.keys {
      for place in places where now[place].map({ $0.kind != .deleted }) == true {
        keys.insert(place, in: self)
      }
    }
    linkMemory.ends = [:]
    noteStored(changes)
  }

  /// Links to objects that are gone and had no inverse to clear them lead nowhere from now on.
  func forgetDeleted(in written: WrittenChanges) {
    for table in written.changes.tables.keys {
      for (key, change) in written.changes.rows(in: table) where change.kind == .deleted {
        let place = RowKey(table: table, key: key)
        if !written.outcome.kept.contains(place) { linkMemory.goneRows.insert(place) }
      }
    }
  }
}
