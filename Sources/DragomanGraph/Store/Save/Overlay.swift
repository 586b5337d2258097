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

  /// The changes as they are now, and what `settles` is with them.
  func look() -> (changes: ChangeSet, settles: Int) { state.withLock { ($0.changes, settles) } }

  /// Changes something; must not come back here.
  func change<T>(_ body: (inout ChangeSet) -> T) -> T where T: Sendable {
    mutate { body(&$0.changes) }
  }

  /// Whoever finds another `round` finds what was changed.
  private func mutate<T>(_ body: (inout State) -> T) -> T where T: Sendable {
    state.withLock { state in
      defer { count.add(1, ordering: .releasing) }
      return body(&state)
    }
  }

  /// Changes something, unless somebody has stored a part of the changes since; must not come back here.
  ///
  /// - Parameters:
  ///   - settles: What `settles` was when that was looked at which is changed; nil: whatever it is.
  ///   - body: Changes it.
  /// - Returns: Whether it was changed.
  func change(ifSettles settles: Int?, _ body: (inout ChangeSet) -> Void) -> Bool {
    mutate { state in
      guard settles == nil || self.settles == settles else { return false }
      body(&state.changes)
      return true
    }
  }

  /// Drops everything, and what was to be written of it.
  ///
  /// - Parameter isStored: Whether it was stored.
  /// - Returns: What it was.
  @discardableResult
  func removeAll(isStored: Bool = false) -> ChangeSet {
    mutate { state in
      let dropped = state.changes
      if isStored { settleCount.add(1, ordering: .releasing) }
      state.changes.removeAll()
      state.records = Array(repeating: state.changes, count: state.records.count)
      state.away = nil
      return dropped
    }
  }

  // MARK: - Records

  /// Keeps what the changes are, for `undo()`.
  func beginRecord() { state.withLock { $0.records.append($0.changes) } }

  /// What was changed since the record began stays.
  func endRecord() { state.withLock { _ = $0.records.popLast() } }

  /// The changes are what they were when the record began.
  func undo() {
    mutate { if let known = $0.records.popLast() { $0.changes = known } }
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
    mutate { state in
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
    mutate { state in
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
///
/// It belongs to the context below them. Whether anything is unsaved is asked with each value that is read, and
/// no access runs code of others: exclusive access needs no check at run time.
final class OverlaysAbove {
  /// What the open transaction holds of main's changes already: main does not know before the commit.
  ///
  /// The context that writes through it shares this with those below it.
  final class Written {
    @exclusivity(unchecked) fileprivate(set) var list:
      [(changes: WrittenChanges, seen: ChangeSet)] = []
  }

  private let overlays: [Overlay]
  @exclusivity(unchecked) private var rounds: [Int]
  @exclusivity(unchecked) private var settles: [Int]
  @exclusivity(unchecked) private var sets: [ChangeSet]
  @exclusivity(unchecked) private var writtenCount = 0
  /// Whether nothing was unsaved above when it was last looked at.
  @exclusivity(unchecked) private(set) var isEmpty = true
  let written: Written
  /// What main had unsaved when a context began whose changes are merged into it.
  @exclusivity(unchecked) var seen: ChangeSet?
  /// What others have made since of what that context sets, by rows and columns.
  @exclusivity(unchecked) var rivals: [RowKey: [Int: StoredValue]] = [:]
  /// What was seen above that somebody has stored since.
  @exclusivity(unchecked) private(set) var stored: [(place: RowKey, change: RowChange)] = []

  init(_ overlays: [Overlay], _ written: Written?) {
    self.overlays = overlays
    self.written = written ?? Written()
    rounds = overlays.map { _ in -1 }
    settles = overlays.map(\.settles)
    sets = overlays.map { _ in ChangeSet() }
  }

  /// Whether nothing was changed above since it was last looked at.
  var isCurrent: Bool {
    for index in overlays.indices where overlays[index].round != rounds[index] { return false }
    return writtenCount == written.list.count
  }

  /// The changes as they are now.
  func current(_ layout: ModelLayout) -> [ChangeSet] {
    for index in overlays.indices {
      let isMain = index == overlays.count - 1
      let round = overlays[index].round
      guard round != rounds[index] || isMain && writtenCount != written.list.count else { continue }
      rounds[index] = round
      let known = sets[index]
      let (changes, settles) = overlays[index].look()
      sets[index] = changes
      if isMain {
        writtenCount = written.list.count
        for (changes, seen) in written.list {
          sets[index].settle(changes, seen: seen, isOwn: false, yields: false, layout)
        }
      }
      guard settles != self.settles[index] else { continue }
      self.settles[index] = settles
      for place in known.places {
        guard let change = known[place] else { continue }
        if sets[index][place]?.version != change.version { stored.append((place, change)) }
      }
    }
    isEmpty = sets.allSatisfy(\.isEmpty)
    return sets
  }

  /// Differs once somebody has stored a part of the changes above.
  var settleCount: Int { overlays.reduce(0) { $0 &+ $1.settles } }

  /// Differs once anything was changed above.
  var round: Int { rounds.reduce(writtenCount, &+) }

  /// What was seen above and stored since, once.
  func takeStored() -> [(place: RowKey, change: RowChange)] {
    defer { stored = [] }
    return stored
  }

  /// Notes what was written of main's into an open transaction.
  func note(_ changes: WrittenChanges, seen: ChangeSet) { written.list.append((changes, seen)) }
}
