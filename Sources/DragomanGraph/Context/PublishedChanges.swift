import Synchronization

/// The unsaved changes of the main context, where its children and the writer can read them
/// without waiting for the main thread.
///
/// Main writes through: after each change of an object or link its entry here is the same. What was
/// made durable on main's behalf is noted under the same lock, so that main's own save, whenever it
/// comes, knows which of its objects are stored already.
final class PublishedChanges: Sendable {
  /// An insertion of main's that a save in the background has stored.
  struct Stored: Sendable {
    let version: Int64
    /// The columns that the child which saved it had set: its values are the later ones.
    let childsColumns: Set<Int>
  }

  private struct State {
    var changes = PendingChanges()
    /// By table: the places of changed objects, so that a fetch looks at its own table only.
    var byTable: [Int: Set<RowKey>] = [:]
    /// Objects that main still counts as inserted and that are stored.
    var stored: [RowKey: Stored] = [:]
    /// What is being saved on another thread.
    var away: Away?
    /// Counts those saves, and what makes one needless.
    var awayNumber = 0
    /// How often main had nothing unsaved all at once: by a save, or a rollback.
    var generation = 0
  }

  private let state = Mutex(State())

  /// Everything, as it is now.
  var snapshot: PendingChanges { state.withLock { $0.changes } }

  /// How often main had nothing unsaved all at once.
  var generation: Int { state.withLock { $0.generation } }

  // MARK: - Saves on other threads

  /// Begins a save on another thread; there is one at a time.
  ///
  /// Until `endAway()` what is taken back in main stays a change: the store has it by then.
  ///
  /// - Parameter changes: What main has unsaved, or a part of it.
  /// - Returns: The save.
  func beginAway(_ changes: PendingChanges) -> Away {
    state.withLock { state in
      state.awayNumber += 1
      let away = Away(
        changes: changes,
        number: state.awayNumber,
        generation: state.generation
      )
      state.away = away
      return away
    }
  }

  /// What is still to be written of a save, as it was when it began, and so as it was validated; nil
  /// where main has saved itself or rolled back since.
  func current(_ away: Away) -> PendingChanges? {
    state.withLock { state in
      guard state.awayNumber == away.number else { return nil }
      var current = PendingChanges()
      current.objects = away.changes.objects.filter { state.changes.objects[$0.key] != nil }
      current.links = away.changes.links.filter { state.changes.links[$0.key] != nil }
      return current
    }
  }

  /// A save that has not begun to write does not: main saves everything itself.
  func cancelAway() { state.withLock { $0.awayNumber += 1 } }

  /// Main knows what was written, or that nothing was.
  func endAway() { state.withLock { $0.away = nil } }

  /// Whether an object is being stored on another thread, or was and main does not know yet.
  func isAway(_ place: RowKey) -> Bool {
    state.withLock { $0.away?.changes.objects[place] != nil || $0.stored[place] != nil }
  }

  /// Whether links are being stored on another thread, or were and main does not know yet.
  func isAway(_ key: LinkKey) -> Bool { state.withLock { $0.away?.changes.links[key] != nil } }

  // MARK: - Main's changes

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

  /// Main added a target to a to-many relationship, or removed one: the same is done here.
  ///
  /// A copy would make the next change of main's copy all targets.
  ///
  /// - Parameters:
  ///   - change: What main did.
  ///   - target: The target.
  ///   - keepsReturns: Whether what is taken back stays a change.
  ///   - key: The relationship.
  ///   - before: What main's changes were like before.
  /// - Returns: Whether it is done; false where something else stands here.
  func make(
    _ change: PendingLinks.Change,
    _ target: Int64,
    _ keepsReturns: Bool,
    _ key: LinkKey,
    from before: PendingLinks.Signature?
  ) -> Bool {
    state.withLock { state in
      guard let before, state.changes.links[key]?.signature == before else { return false }
      state.changes.links[key]?.make(change, target, keepsReturns)
      if state.changes.links[key]?.isEmpty == true { state.changes.links[key] = nil }
      return true
    }
  }

  /// Main has no unsaved changes any more.
  func removeAll() {
    state.withLock { state in
      state = State(
        away: state.away,
        awayNumber: state.awayNumber + 1,
        generation: state.generation + 1
      )
    }
  }

  /// How an object was stored that main counts as inserted.
  func stored(_ place: RowKey) -> Stored? { state.withLock { $0.stored[place] } }

  /// A save in the background has stored objects that main counts as inserted.
  ///
  /// - Parameters:
  ///   - versions: Their versions, and others'.
  ///   - childsColumns: What a child has set of them.
  func didStore(_ versions: [RowKey: Int64], childsColumns: [RowKey: Set<Int>] = [:]) {
    state.withLock { state in
      for (place, version) in versions where state.changes.objects[place]?.kind == .inserted {
        let columns = childsColumns[place] ?? []
        state.stored[place] = Stored(version: version, childsColumns: columns)
      }
    }
  }

  /// Main knows by now that an object is stored.
  func forget(_ place: RowKey) { state.withLock { $0.stored[place] = nil } }
}

extension PublishedChanges {
  /// A save of main's on another thread.
  struct Away: Sendable {
    /// What main wanted to be written.
    let changes: PendingChanges
    fileprivate let number: Int
    /// How often main had nothing unsaved by then.
    let generation: Int
  }
}
