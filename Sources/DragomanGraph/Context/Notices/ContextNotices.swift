/// What a context has to tell those who observe it.
final class ContextNotices {
  /// What they have not been told yet.
  private var unnoticed = ChangeNotice()
  /// Objects that came and went since then: results may have met them in between.
  private var vanished: Set<ObjectID> = []
  /// What results could not look at yet.
  private var missed = ChangeNotice()
  private var broadcaster: NoticeBroadcaster?
  /// Results of the context.
  private var followers: [WeakFollower] = []
  /// Called when there is something to tell.
  private let schedule: () -> Void

  init(schedule: @escaping () -> Void) { self.schedule = schedule }

  /// A sequence of all that is told from now on.
  func sequence() -> AsyncStream<ChangeNotice> {
    let broadcaster = broadcaster ?? NoticeBroadcaster()
    self.broadcaster = broadcaster
    return broadcaster.notices()
  }

  /// Tells a follower from now on, as long as it lives.
  func add(_ follower: any ContextFollower) {
    followers.removeAll { $0.follower == nil }
    followers.append(WeakFollower(follower: follower))
  }

  /// Tells what was noted since the last time; nothing where nothing was.
  func tell() {
    guard !unnoticed.isEmpty || !vanished.isEmpty || !missed.isEmpty else { return }
    let notice = unnoticed
    var looked = missed
    looked.join(notice)
    looked.deleted.formUnion(vanished)
    unnoticed = ChangeNotice()
    vanished = []
    missed = ChangeNotice()
    for weak in followers { weak.follower?.take(looked) }
    broadcaster?.send(notice)
  }

  /// Tells followers with the next notice what one of them could not look at.
  func miss(_ notice: ChangeNotice) { missed.join(notice) }

  /// What was saved is no unsaved change to the results any more that have shown it.
  func tellSaved(_ versions: [RowKey: Int64], of overlay: Overlay) {
    guard !followers.isEmpty else { return }
    let settled = versions.filter { overlay[$0.key] == nil }
    for weak in followers { weak.follower?.didSave(settled) }
  }

  /// Tells followers that there is nothing more to come.
  func endFollowers(_ reason: any Error) {
    let ended = followers
    followers = []
    for weak in ended { weak.follower?.end(reason) }
  }

  /// Tells everybody so.
  func end(_ reason: any Error) {
    broadcaster?.finish()
    endFollowers(reason)
  }

  // MARK: - Noting

  func insert(_ id: @autoclosure () -> ObjectID) { note { $0.inserted.insert(id()) } }

  /// An object has changed, and with it a property of it, if any.
  func change(_ id: @autoclosure () -> ObjectID, _ property: String?) {
    note { notice in
      let id = id()
      guard !notice.inserted.contains(id) else { return }
      notice.updated[id, default: []].formUnion(property.map { [$0] } ?? [])
    }
  }

  func delete(_ id: @autoclosure () -> ObjectID) { note { end(of: id(), in: &$0) } }

  /// Unsaved changes of an object are dropped: it was in one state, and is in another.
  func rollBack(
    _ id: @autoclosure () -> ObjectID,
    _ before: RowChange.Kind?,
    _ now: RowChange.Kind?
  ) {
    note { notice in
      let id = id()
      if before == .inserted, now == nil { return end(of: id, in: &notice) }
      let wasDeleted = notice.deleted.remove(id) != nil
      if now == .inserted || (before == .deleted && now == nil && !wasDeleted) {
        if !wasDeleted { notice.inserted.insert(id) }
      } else if !notice.inserted.contains(id) {
        // It may have been changed, too, before it was deleted.
        notice.updated[id, default: []].formUnion([])
      }
    }
  }

  /// Dropped changes are told by the properties that they were of, those of objects at the other ends of links, too.
  func drop(_ dropped: @autoclosure () -> ChangeNotice) {
    note { notice in
      for (id, names) in dropped().updated
      where !notice.inserted.contains(id) && !notice.deleted.contains(id) {
        notice.updated[id, default: []].formUnion(names)
      }
    }
  }

  /// A save found that others had changed the object, and took their values over.
  func merge(_ id: @autoclosure () -> ObjectID) {
    note { notice in
      let id = id()
      if !notice.inserted.contains(id) { notice.updated[id, default: []].formUnion([]) }
    }
  }

  /// A save of another context arrives.
  func store(_ later: @autoclosure () -> ChangeNotice) {
    note { notice in
      let later = later()
      vanished.formUnion(later.deleted.intersection(notice.inserted))
      notice.merge(later)
    }
  }

  /// An import may have changed anything of these entities.
  func refresh(_ entities: some Sequence<String>) {
    note { $0.refreshedEntities.formUnion(entities) }
  }

  private func end(of id: ObjectID, in notice: inout ChangeNotice) {
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
    if wasEmpty, !unnoticed.isEmpty { schedule() }
  }
}
