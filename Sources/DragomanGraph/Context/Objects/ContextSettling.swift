extension ManagedObjectContext {
  /// Brings its objects in step with what was stored or merged.
  var settling: ContextSettling { ContextSettling(context: self) }
}

/// Changes that came from elsewhere, or were written: from children, from saves of the context and of
/// others on other threads, from imports.
struct ContextSettling {
  let context: ManagedObjectContext

  private var layout: ModelLayout { context.layout }

  /// Takes what was stored since the last time, in the order of the commits: main's; those who observe it are told of
  /// all together.
  func takeNews() {
    var taken: [StoreChange] = []
    // One after the other: what is to be taken yet is asked for.
    while let change = context.root.news.takeOfMain() {
      settle(change)
      taken.append(change)
    }
    if !taken.isEmpty { tell(taken) }
  }

  /// Takes what was stored by this context or by others, and tells those who observe it.
  func take(_ change: StoreChange) {
    settle(change)
    tell([change])
  }

  private func settle(_ change: StoreChange) {
    switch change {
    case .tables(let tables): context.refresh(tables: tables)
    case .saved(let written): didStore(written)
    case .savedOwn(let written): didStoreOwn(written)
    }
  }

  private func tell(_ taken: [StoreChange]) {
    context.processChanges()
    for case .savedOwn(let written) in taken {
      context.notices.tellSaved(written.outcome.versions, of: context.overlay)
    }
  }

  /// A child, or another stack's import, has stored changes: what is registered here and clean is
  /// read again when it is next looked at; what has unsaved changes keeps them.
  private func didStore(_ written: WrittenChanges) {
    var refreshed: [Int: [ManagedObject]] = [:]
    for table in written.changes.tables.keys {
      for (key, change) in written.changes.rows(in: table) {
        let place = RowKey(table: table, key: key)
        if change.kind != .deleted { context.linkMemory.goneRows.remove(place) }
        guard let object = context.registered(place), object.status != .gone else { continue }
        if let own = context.overlay[place] {
          context.follow(own, object)
        } else if change.kind == .deleted || written.outcome.gone.contains(place) {
          // What main has written behind the deletion is there again.
          if context.kind == .main, context.root.news.hasOwnWrite(at: place) { continue }
          object.status = .gone
          context.identities[table][key] = nil
        } else {
          object.status = .clean
          refreshed[table, default: []].append(object)
        }
      }
    }
    for objects in refreshed.values { FaultBatch.assign(to: objects) }
    // A child's save takes with it what is unsaved here: main may be reading that by now.
    context.importing.buffers.removeAll(keepingCapacity: true)
    context.linkMemory.forgetTargets()
    forgetDeleted(in: written)
    context.notices.store(ChangeNotice(written.changes, layout))
  }

  /// Somebody has stored what was seen above: objects that knew it from there have it in their row from
  /// now on.
  func didStoreAbove(_ stored: [(place: RowKey, change: RowChange)]) {
    context.linkMemory.forgetTargets()
    for (place, change) in stored {
      guard let object = context.registered(place), object.status != .gone else { continue }
      if var own = context.overlay[place] {
        own.row = own.row?.setting(change.values)
        context.overlay.change { [layout, own] in $0.set(own, at: place, layout) }
        context.follow(own, object)
      } else {
        object.content = .fault(nil)
      }
    }
    for (place, change) in stored where change.kind == .deleted && context.overlay[place] == nil {
      do {
        // Rows that were read before may lead there still.
        let object = try context.register(place, layout.entities[Int(change.entity)])
        if try !context.isAlive(object) { context.linkMemory.goneRows.insert(place) }
      } catch {
        context.record(error)
      }
    }
  }

  /// What this context had unsaved is the state of the store now; what was changed here since stays unsaved.
  func didStoreOwn(_ written: WrittenChanges) {
    var rows: [Int: RowBuffer] = [:]
    for table in written.changes.tables.keys {
      for (key, change) in written.changes.rows(in: table) {
        let place = RowKey(table: table, key: key)
        noteOthers(at: place, change, written)
        guard let object = context.registered(place), object.status != .gone else { continue }
        if let own = context.overlay[place] {
          context.follow(own, object)
        } else {
          settle(object, change, written, &rows)
        }
      }
    }
    context.linkMemory.forgetTargets()
    forgetDeleted(in: written)
    // Main may be reading these by now.
    context.importing.buffers.removeAll(keepingCapacity: true)
    context.importing.lastKeys = nil
  }

  /// Others had a part in a row that was written, whether an object of it is alive or not.
  func noteOthers(at place: RowKey, _ change: RowChange, _ written: WrittenChanges) {
    let outcome = written.outcome
    // Deleted elsewhere, and written again by this save: links lead to it as before.
    let isBack = change.kind != .deleted && context.linkMemory.goneRows.remove(place) != nil
    if isBack || outcome.merged.contains(place) || outcome.kept.contains(place) {
      context.notices.merge(layout.objectID(of: place))
    }
  }

  /// A value that was saved by itself has the last word: what was unsaved here of the same properties is gone.
  func yield(to saved: ChangeSet) {
    for (place, change) in saved.sorted where change.kind == .updated {
      var isDone = false
      while !isDone {
        let settles = context.overlay.settles
        guard var own = context.overlay[place], own.kind == .updated,
          change.values.keys.contains(where: { own.values[$0] != nil })
        else { break }
        let object = context.enroll(place, own)
        // Where the store may have won, the row is read again.
        let isWritten = ![MergePolicy.storeTrumps, .rollback].contains(context.mergePolicy)
        own.row = isWritten ? own.row?.setting(change.values) : nil
        for column in change.values.keys { own.values[column] = nil }
        if own.isEmptyUpdate, !context.hasOwnLinks(object) {
          isDone = context.put(nil, object, ifSettles: settles)
          if isDone { object.content = .fault(nil) }
        } else {
          isDone = context.put(own, object, ifSettles: settles)
          if isDone { context.follow(own, object) }
        }
        if isDone { context.notices.rollBack(layout.objectID(of: place), .updated, nil) }
      }
    }
    context.processChanges()
  }

  /// Takes over a child's changes as unsaved changes of this context: all of them, and nothing can go
  /// wrong with it.
  func absorb(_ changes: ChangeSet) {
    let places = changes.places
    if let keys = context.importing.keys { for place in places { keys.remove(place, in: context) } }
    let before = context.overlay.changes
    let cleared = context.overlay.change { [layout] in $0.merge(changes, layout) }
    let now = context.overlay.changes
    for place in places {
      context.log(place, isDeletion: changes.deletes(place))
      guard let object = context.registered(place), object.status != .gone else { continue }
      restore(object, before[place], now[place])
    }
    context.didClear(cleared)
    if let keys = context.importing.keys {
      for place in places where now[place].map({ $0.kind != .deleted }) == true {
        keys.insert(place, in: context)
      }
    }
    context.linkMemory.ends = [:]
    context.notices.store(ChangeNotice(changes, layout))
  }

  /// Links to objects that are gone and had no inverse to clear them lead nowhere from now on.
  func forgetDeleted(in written: WrittenChanges) {
    for table in written.changes.tables.keys {
      for (key, change) in written.changes.rows(in: table) where change.kind == .deleted {
        let place = RowKey(table: table, key: key)
        if !written.outcome.kept.contains(place) { context.linkMemory.goneRows.insert(place) }
      }
    }
    context.linkMemory.goneRows.formUnion(written.outcome.gone)
  }

  /// An object of which nothing is unsaved any more becomes what was written; `rows` takes its row.
  func settle(
    _ object: ManagedObject,
    _ change: RowChange,
    _ written: WrittenChanges,
    _ rows: inout [Int: RowBuffer]
  ) {
    let place = object.place
    let outcome = written.outcome
    let isDeleted = change.kind == .deleted && !outcome.kept.contains(place)
    if isDeleted || outcome.gone.contains(place) {
      object.status = .gone
      context.identities[place.table][place.key] = nil
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

  /// An object becomes what it was before changes that are dropped.
  func restore(_ object: ManagedObject, _ before: RowChange?, _ now: RowChange?) {
    if let now { return context.follow(now, object) }
    switch before?.kind {
    case .inserted:
      object.status = .gone
      context.identities[object.place.table][object.place.key] = nil
    case .updated, .deleted:
      object.status = .clean
      // What it is an object of is in its row.
      if before?.row == nil || before?.mark != nil {
        object.content = .fault(nil)
      } else if before?.kind == .deleted, let row = before?.row {
        // A link of it may have been cleared since.
        object.content = .row(row)
      }
    case nil: break
    }
  }
}
