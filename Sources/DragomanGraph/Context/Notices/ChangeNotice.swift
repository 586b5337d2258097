import Synchronization

/// What a save, an import or a merge changed: ids and property names, safe to pass on.
public struct ChangeNotice: Sendable, Hashable {
  /// New objects.
  public var inserted: Set<ObjectID> = []
  /// Changed objects, with the names of their properties that were changed; none where only their place in a list of
  /// another object was.
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

  init(_ changes: ChangeSet, _ layout: ModelLayout) {
    for (place, change) in changes.sorted {
      let columns = layout.tables[place.table].columns
      let id = Self.id(place.key, layout.tables[place.table].root, layout)
      switch change.kind {
      case .inserted: inserted.insert(id)
      case .deleted: deleted.insert(id)
      case .updated:
        updated[id, default: []].formUnion(
          change.values.keys.compactMap { columns[$0].ownProperty }
        )
      }
    }
    for key in changes.touched.keys {
      // A row that came or went is a change of the list that it is in.
      if let inverse = layout.links[key.link].inverse {
        note(key.owner, layout.links[inverse], layout)
      }
    }
    for key in changes.links.owners { note(key.owner, layout.links[key.link], layout) }
    for key in changes.links.targets {
      if let inverse = layout.links[key.link].inverse {
        note(key.owner, layout.links[inverse], layout)
      }
    }
  }

  private mutating func note(_ key: Int64, _ link: RelationshipLayout, _ layout: ModelLayout) {
    let id = Self.id(key, layout.entities[link.owner].root, layout)
    if !inserted.contains(id), !deleted.contains(id) { updated[id, default: []].insert(link.name) }
  }

  private static func id(_ key: Int64, _ root: Int, _ layout: ModelLayout) -> ObjectID {
    ObjectID(entity: layout.entities[root].name, primaryKey: key)
  }
}

extension ChangeNotice {
  /// Joins a later notice for results: what came and went between the two, which they may have met, is deleted.
  mutating func join(_ later: ChangeNotice) {
    merge(later)
    deleted.formUnion(later.deleted)
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
