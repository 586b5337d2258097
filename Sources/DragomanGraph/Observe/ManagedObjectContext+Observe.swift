extension ManagedObjectContext {
  /// What changes in this context, from now on: unsaved changes, merges of what children saved,
  /// imports, rollbacks.
  ///
  ///     for await notice in stack.main.changes() { print(notice.updated.keys) }
  ///
  /// Unsaved changes of main are told together at the end of the turn of the main actor in which
  /// they were made, those of other contexts when they are saved or `processChanges()` is called; an
  /// import is told once. The sequence ends with the context. To hear of what is stored, by
  /// whomever, observe `Stack.changes()`.
  public func changes() -> AsyncStream<ChangeNotice> {
    if let broadcaster { return broadcaster.notices() }
    let made = NoticeBroadcaster()
    broadcaster = made
    return made.notices()
  }

  /// Tells observers what was changed since the last time; nothing where nothing was.
  public func processChanges() {
    guard !unnoticed.isEmpty || !vanished.isEmpty else { return }
    let notice = unnoticed
    var looked = notice
    looked.deleted.formUnion(vanished)
    unnoticed = ChangeNotice()
    vanished = []
    for weak in followers { weak.follower?.take(looked) }
    broadcaster?.send(notice)
  }

  /// What was saved is no unsaved change to the results any more that have shown it.
  func settleFollowers(_ versions: [RowKey: Int64]) {
    guard !followers.isEmpty else { return }
    let settled = versions.filter { overlay[$0.key] == nil }
    for weak in followers { weak.follower?.didSave(settled) }
  }

  func noteInsertion(of object: ManagedObject) {
    note { $0.inserted.insert(object.objectID) }
  }

  func noteChange(of object: ManagedObject, _ property: String) {
    note { notice in
      guard !notice.inserted.contains(object.objectID) else { return }
      notice.updated[object.objectID, default: []].insert(property)
    }
  }

  func noteDeletion(of object: ManagedObject) {
    let id = object.objectID
    note { noteEnd(of: id, in: &$0) }
  }

  /// Unsaved changes of an object are dropped.
  ///
  /// - Parameters:
  ///   - place: Its place.
  ///   - before: What it was before.
  ///   - now: What it is now.
  func noteRollback(of place: RowKey, _ before: RowChange.Kind?, _ now: RowChange.Kind?) {
    note { notice in
      let entity = layout.entities[layout.tables[place.table].root]
      let id = ObjectID(entity: entity.name, primaryKey: place.key)
      if before == .inserted, now == nil { return noteEnd(of: id, in: &notice) }
      let wasDeleted = notice.deleted.remove(id) != nil
      if now == .inserted {
        if !wasDeleted { notice.inserted.insert(id) }
      } else if !notice.inserted.contains(id) {
        // It may have been changed, too, before it was deleted.
        notice.updated[id, default: []].formUnion([])
      }
    }
  }

  /// A save found that others had changed the object, and took their values over.
  func noteMerge(of place: RowKey) {
    note { notice in
      let entity = layout.entities[layout.tables[place.table].root]
      let id = ObjectID(entity: entity.name, primaryKey: place.key)
      guard !notice.inserted.contains(id) else { return }
      notice.updated[id, default: []].formUnion([])
    }
  }

  /// A save of another context arrives.
  func noteStored(_ changes: ChangeSet) {
    note { notice in
      let later = ChangeNotice(changes, layout)
      vanished.formUnion(later.deleted.intersection(notice.inserted))
      notice.merge(later)
    }
  }

  /// An import may have changed anything in these tables.
  func noteRefresh(of tables: Set<Int>) {
    let names = tables.map { layout.entities[layout.tables[$0].root].name }
    note { $0.refreshedEntities.formUnion(names) }
  }

  private func noteEnd(of id: ObjectID, in notice: inout ChangeNotice) {
    notice.updated[id] = nil
    if notice.inserted.remove(id) == nil {
      notice.deleted.insert(id)
    } else {
      vanished.insert(id)
    }
  }

  private func note(_ change: (inout ChangeNotice) -> Void) {
    guard broadcaster != nil || !followers.isEmpty else { return }
    let wasEmpty = unnoticed.isEmpty && vanished.isEmpty
    change(&unnoticed)
    if wasEmpty, kind == .main, !unnoticed.isEmpty { root.scheduleProcessing() }
  }
}

extension ManagedObjectContext {
  /// The objects of rows; where they cannot be looked up any more the error is recorded, and they are
  /// faults whose rows nobody finds.
  func rows(_ ids: [ObjectID]) -> [ManagedObject] {
    do {
      return try objects(with: ids)
    } catch {
      record(error)
      return ids.compactMap { id in
        layout.entity(named: id.entity).map { entity in
          let place = RowKey(table: entity.tableIndex, key: id.primaryKey)
          return ManagedObject(place, entity, .fault(nil), in: self)
        }
      }
    }
  }

  /// Tells a follower from now on, as long as it lives.
  func addFollower(_ follower: any ContextFollower) {
    followers.removeAll { $0.follower == nil }
    followers.append(WeakFollower(follower: follower))
  }

  /// Tells followers that there is nothing more to come.
  func endFollowers(_ reason: any Error) {
    let ended = followers
    followers = []
    for weak in ended { weak.follower?.end(reason) }
  }
}
