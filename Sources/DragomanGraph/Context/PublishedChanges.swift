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
    /// Objects that main still counts as unsaved and that a child's save has stored.
    var stored: [RowKey: Int64] = [:]
  }

  private let state = Mutex(State())

  /// Everything, as it is now.
  var snapshot: PendingChanges { state.withLock { $0.changes } }

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
  func removeAll() { state.withLock { $0 = State() } }

  /// The version under which an object was stored that main counts as unsaved.
  func storedVersion(_ place: RowKey) -> Int64? { state.withLock { $0.stored[place] } }

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
