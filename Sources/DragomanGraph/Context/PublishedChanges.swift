import Synchronization

/// The unsaved changes of the main context, where its children and the writer can read them
/// without waiting for the main thread.
///
/// Main writes through: after each change of an object or link its entry here is the same. What was
/// made durable on main's behalf is noted under the same lock, so that main's own save, whenever it
/// comes, knows which of its objects are stored already.
final class PublishedChanges: Sendable {
  private struct State {
    var changes = PendingChanges()
    /// By table: the places of changed objects, so that a fetch looks at its own table only.
    var byTable: [Int: Set<RowKey>] = [:]
    /// The versions of objects that main still counts as unsaved and that are stored: insertions by
    /// a child's save, others by a save of main's on another thread.
    var stored: [RowKey: Int64] = [:]
    /// How many saves of main's on other threads main has not been told of.
    var savesAway = 0
    /// How often main had nothing unsaved all at once: by a save, or a rollback.
    var generation = 0
  }

  private let state = Mutex(State())

  /// Everything, as it is now.
  var snapshot: PendingChanges { state.withLock { $0.changes } }

  /// How often main had nothing unsaved all at once.
  var generation: Int { state.withLock { $0.generation } }

  /// Everything for a save on another thread: `current(_:)` says later what is left of it.
  var published: Published {
    state.withLock { Published(changes: $0.changes, generation: $0.generation) }
  }

  /// What main still has unsaved of what it had then.
  ///
  /// An object is as it was then, and so as it was validated; one that was stored on main's behalf
  /// in between is as it is now: what it was then is older than what is stored.
  func current(_ then: Published) -> PendingChanges {
    state.withLock { state in
      guard state.generation == then.generation else { return PendingChanges() }
      var current = PendingChanges()
      for (place, object) in then.changes.objects {
        guard let now = state.changes.objects[place] else { continue }
        current.objects[place] = state.stored[place] == nil ? object : now
      }
      current.links = then.changes.links.filter { state.changes.links[$0.key] != nil }
      return current
    }
  }

  /// Whether there are none.
  var isEmpty: Bool { state.withLock { $0.changes.isEmpty } }

  /// The unsaved changes of one object.
  func object(_ place: RowKey) -> PendingObject? { state.withLock { $0.changes.objects[place] } }

  /// The unsaved changes of one to-many relationship.
  func links(_ key: LinkKey) -> PendingLinks? { state.withLock { $0.changes.links[key] } }

  /// The changed objects of a table.
  func objects(in table: Int) -> [RowKey: PendingObject] {
    state.withLock { state in
      var found: [RowKey: PendingObject] = [:]
      for place in state.byTable[table] ?? [] { found[place] = state.changes.objects[place] }
      return found
    }
  }

  /// Whether any to-many relationship is changed.
  var hasLinks: Bool { state.withLock { !$0.changes.links.isEmpty } }

  /// The tables that have changed objects.
  var tables: Set<Int> {
    state.withLock { Set($0.byTable.filter { !$0.value.isEmpty }.keys) }
  }

  /// Main changed an object, or has nothing unsaved of it any more.
  func set(_ object: PendingObject?, at place: RowKey) {
    state.withLock { state in
      state.changes.objects[place] = object
      if object == nil {
        state.byTable[place.table]?.remove(place)
      } else {
        state.byTable[place.table, default: []].insert(place)
      }
    }
  }

  /// Main changed a to-many relationship, or has nothing unsaved of it any more.
  func set(_ links: PendingLinks?, at key: LinkKey) {
    state.withLock { $0.changes.links[key] = links?.isEmpty == true ? nil : links }
  }

  /// Main has no unsaved changes any more.
  func removeAll() {
    state.withLock { $0 = State(savesAway: $0.savesAway, generation: $0.generation + 1) }
  }

  /// Whether something that was unsaved in main is stored on another thread, or was and main has not
  /// been told.
  var isBeingStored: Bool { state.withLock { $0.savesAway > 0 } }

  /// A save on another thread is wanted.
  func beginStoring() { state.withLock { $0.savesAway += 1 } }

  /// Main has been told of it.
  func endStoring() { state.withLock { $0.savesAway -= 1 } }

  /// The version under which an object was stored that main counts as unsaved.
  func storedVersion(_ place: RowKey) -> Int64? { state.withLock { $0.stored[place] } }

  /// What main had pending was stored on another thread, and main does not know yet.
  func didStoreOwn(_ versions: [RowKey: Int64]) {
    state.withLock { state in
      for (place, version) in versions where state.changes.objects[place] != nil {
        state.stored[place] = version
      }
    }
  }

  /// A child's save stored objects that main counts as unsaved.
  func didStore(_ versions: [RowKey: Int64]) {
    state.withLock { state in
      for (place, version) in versions where state.changes.objects[place]?.kind == .inserted {
        state.stored[place] = version
      }
    }
  }

  /// Main knows by now that an object is stored.
  func forget(_ place: RowKey) { state.withLock { $0.stored[place] = nil } }
}

extension PublishedChanges {
  /// The unsaved changes of main as they were once.
  struct Published: Sendable {
    var changes: PendingChanges
    let generation: Int
  }
}
