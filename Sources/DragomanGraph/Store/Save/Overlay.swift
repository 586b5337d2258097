import Synchronization

/// The unsaved changes of one context, where its children and the writer can read them without
/// waiting for its thread.
///
/// The context itself works on them here. Whoever has stored a part of them, on whichever thread,
/// takes that out here at once, while it holds the store: so whoever writes next writes the rest.
final class Overlay: Sendable {
  private struct State {
    var changes = ChangeSet()
    /// What the changes were when the open records began.
    var records: [ChangeSet] = []
    /// What is to be written on another thread.
    var away: ChangeSet?
    /// Whether that has begun.
    var isWriting = false
  }

  private let state = Mutex(State())
  private let count = Atomic<Int>(0)
  private let settleCount = Atomic<Int>(0)

  /// The changes as they are now.
  var changes: ChangeSet { state.withLock { $0.changes } }

  /// Differs once anything was changed.
  var round: Int { count.load(ordering: .acquiring) }

  /// Differs once somebody has stored a part of the changes.
  var settles: Int { settleCount.load(ordering: .acquiring) }

  /// What is said of a row.
  subscript(place: RowKey) -> RowChange? { state.withLock { $0.changes[place] } }

  /// Reads something of the changes; must not come back here.
  func read<T>(_ body: (borrowing ChangeSet) -> T) -> T where T: Sendable {
    state.withLock { body($0.changes) }
  }

  /// Changes something; must not come back here.
  func change<T>(_ body: (inout ChangeSet) -> T) -> T where T: Sendable {
    defer { count.add(1, ordering: .releasing) }
    return state.withLock { body(&$0.changes) }
  }

  /// Changes something, unless somebody has stored a part of the changes since; must not come back here.
  ///
  /// - Parameters:
  ///   - settles: What `settles` was when that was looked at which is changed; nil: whatever it is.
  ///   - body: Changes it.
  /// - Returns: Whether it was changed.
  func change(ifSettles settles: Int?, _ body: (inout ChangeSet) -> Void) -> Bool {
    defer { count.add(1, ordering: .releasing) }
    return state.withLock { state in
      guard settles == nil || self.settles == settles else { return false }
      body(&state.changes)
      return true
    }
  }

  /// Drops everything, and what was to be written of it.
  func removeAll() {
    count.add(1, ordering: .releasing)
    state.withLock { state in
      state.changes = ChangeSet()
      state.records = state.records.map { _ in ChangeSet() }
      state.away = nil
    }
  }

  // MARK: - Records

  /// Keeps what the changes are, for `undo()`.
  func beginRecord() { state.withLock { $0.records.append($0.changes) } }

  /// What was changed since the record began stays.
  func endRecord() { state.withLock { _ = $0.records.popLast() } }

  /// The changes are what they were when the record began.
  func undo() {
    count.add(1, ordering: .releasing)
    state.withLock { if let known = $0.records.popLast() { $0.changes = known } }
  }

  // MARK: - Saves

  /// Notes what is to be written on another thread; nil: nothing any more.
  func setAway(_ changes: ChangeSet?) {
    state.withLock { state in
      state.away = changes
      state.isWriting = false
    }
  }

  /// What is to be written on another thread is not, unless that has begun.
  func cancelAway() { state.withLock { if !$0.isWriting { $0.away = nil } } }

  /// Begins to write what is still to be written of that; nil where the context has saved itself or
  /// rolled back.
  func takeAway() -> ChangeSet? {
    state.withLock { state in
      state.isWriting = state.away != nil
      return state.away
    }
  }

  /// Takes out what a child has stored.
  ///
  /// - Parameters:
  ///   - written: What was written.
  ///   - seen: These changes, as they were when it was written.
  ///   - yields: Whether columns that the child has written are not this context's any more.
  ///   - layout: The model's.
  func settle(
    _ written: WrittenChanges,
    seen: ChangeSet,
    yields: Bool,
    _ layout: ModelLayout
  ) {
    count.add(1, ordering: .releasing)
    state.withLock { state in
      settleCount.add(1, ordering: .releasing)
      state.changes.settle(written, seen: seen, isOwn: false, yields: yields, layout)
      for index in state.records.indices {
        state.records[index].settle(written, seen: seen, isOwn: false, yields: yields, layout)
      }
      state.away?.settle(written, seen: seen, isOwn: false, yields: yields, layout)
    }
  }

  /// Takes out what was put away and is stored now.
  ///
  /// - Parameters:
  ///   - written: What was written.
  ///   - seen: What was put away.
  ///   - layout: The model's.
  /// - Returns: Whether that is still this context's: false where it was rolled back meanwhile.
  func settleAway(
    _ written: WrittenChanges,
    seen: ChangeSet,
    _ layout: ModelLayout
  ) -> Bool {
    count.add(1, ordering: .releasing)
    return state.withLock { state in
      guard state.away != nil else { return false }
      settleCount.add(1, ordering: .releasing)
      state.away = nil
      state.isWriting = false
      state.changes.settle(written, seen: seen, isOwn: true, yields: false, layout)
      for index in state.records.indices {
        state.records[index].settle(written, seen: seen, isOwn: true, yields: false, layout)
      }
      return true
    }
  }
}

/// The unsaved changes of the contexts above one, nearest first.
struct OverlaysAbove {
  private let overlays: [Overlay]
  private var rounds: [Int]
  private var sets: [ChangeSet]
  /// What the open transaction holds of them already: they do not know before it is committed.
  private(set) var written: [(changes: WrittenChanges, seen: ChangeSet)] = []

  init(_ overlays: [Overlay]) {
    self.overlays = overlays
    rounds = overlays.map { _ in -1 }
    sets = overlays.map { _ in ChangeSet() }
  }

  /// The changes as they are now.
  mutating func current(_ layout: ModelLayout) -> [ChangeSet] {
    for index in overlays.indices {
      let round = overlays[index].round
      guard round != rounds[index] else { continue }
      rounds[index] = round
      sets[index] = overlays[index].changes
      guard index == overlays.count - 1 else { continue }
      for (changes, seen) in written {
        sets[index].settle(changes, seen: seen, isOwn: false, yields: false, layout)
      }
    }
    return sets
  }

  /// Whether nothing is unsaved above.
  mutating func isEmpty(_ layout: ModelLayout) -> Bool {
    overlays.isEmpty || current(layout).allSatisfy(\.isEmpty)
  }

  /// Notes what was written of main's into an open transaction.
  mutating func note(_ changes: WrittenChanges, seen: ChangeSet) {
    written.append((changes, seen))
    if !rounds.isEmpty { rounds[rounds.count - 1] = -1 }
  }
}
