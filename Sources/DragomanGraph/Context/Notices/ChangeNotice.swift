import Synchronization

/// What a save, an import or a merge changed: ids and property names, safe to pass on.
public struct ChangeNotice: Sendable, Hashable {
  /// New objects.
  public var inserted: Set<ObjectID> = []
  /// Changed objects, with the names of the properties that were changed.
  public var updated: [ObjectID: Set<String>] = [:]
  /// Deleted objects.
  public var deleted: Set<ObjectID> = []
  /// Entities of which too much changed to name every object: after a bulk import, look again.
  public var refreshedEntities: Set<String> = []

  /// Makes a notice.
  public init(
    inserted: Set<ObjectID> = [],
    updated: [ObjectID: Set<String>] = [:],
    deleted: Set<ObjectID> = [],
    refreshedEntities: Set<String> = []
  ) {
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
    self.refreshedEntities = refreshedEntities
  }

  /// Whether nothing is told.
  public var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshedEntities.isEmpty
  }

  init(_ changes: PendingChanges, _ layout: ModelLayout) {
    for (place, object) in changes.objects {
      let table = layout.tables[place.table]
      let id = ObjectID(entity: layout.entities[table.root].name, primaryKey: place.key)
      switch object.kind {
      case .inserted: inserted.insert(id)
      case .deleted: deleted.insert(id)
      case .updated: updated[id] = Set(object.values.keys.map { table.columns[$0].property })
      }
    }
    for key in changes.links.keys {
      let link = layout.links[key.link]
      let owner = layout.entities[link.owner]
      let id = ObjectID(entity: owner.rootName, primaryKey: key.owner)
      if !inserted.contains(id), !deleted.contains(id) {
        updated[id, default: []].insert(link.name)
      }
    }
  }
}

/// Sends notices to any number of observers.
final class NoticeBroadcaster: Sendable {
  private struct State {
    var next = 0
    var isFinished = false
    var observers: [Int: AsyncStream<ChangeNotice>.Continuation] = [:]
  }

  private let state = Mutex(State())

  /// A sequence of all notices from now on; it ends when the stack is closed or reset.
  func notices() -> AsyncStream<ChangeNotice> {
    AsyncStream { continuation in
      let id = state.withLock { state -> Int? in
        guard !state.isFinished else { return nil }
        state.next += 1
        state.observers[state.next] = continuation
        return state.next
      }
      guard let id else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in
        self?.state.withLock { $0.observers[id] = nil }
      }
    }
  }

  /// Whether anybody listens.
  var hasObservers: Bool { state.withLock { !$0.observers.isEmpty } }

  /// Tells everybody; a notice of nothing is not sent, and one that nobody hears is not made.
  func send(_ notice: @autoclosure () -> ChangeNotice) {
    let observers = state.withLock { Array($0.observers.values) }
    guard !observers.isEmpty else { return }
    let notice = notice()
    guard !notice.isEmpty else { return }
    for observer in observers { observer.yield(notice) }
  }

  /// Ends all sequences.
  func finish() {
    let observers = state.withLock { state in
      state.isFinished = true
      defer { state.observers = [:] }
      return Array(state.observers.values)
    }
    for observer in observers { observer.finish() }
  }
}
