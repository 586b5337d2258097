import Synchronization

/// What was committed, in the order of the commits, until it is told.
///
/// Whoever commits adds it while it holds the store's writer, and tells it when it does not any more. Another thread may
/// have committed since: what that has added is told by either, behind it.
final class CommitNews: Sendable {
  /// What one commit has to tell.
  struct Item: Sendable {
    /// What main has to take.
    var main: [StoreChange] = []
    /// Whether main does not take it by itself.
    var callsMain = true
    /// What is told to those who follow the store.
    let notice: @Sendable () -> ChangeNotice
    /// Whether those who observe the stack are told: not what they were told of when it was merged.
    var isNew = true
  }

  private let items = Mutex<[Item]>([])
  /// One teller at a time.
  private let telling = Mutex(())
  private let ofMain = Mutex<[StoreChange]>([])

  /// Adds what was just committed.
  func add(_ item: Item) { items.withLock { $0.append(item) } }

  /// Adds what was just committed of main's, together with what that makes of main: nobody sees one without the other.
  func add(_ make: () -> Item) { items.withLock { $0.append(make()) } }

  /// Whether main has written a row, and has not taken that yet.
  func hasOwnWrite(at place: RowKey) -> Bool {
    func isOwn(_ change: StoreChange) -> Bool {
      guard case .savedOwn(let written) = change, let row = written.changes[place] else {
        return false
      }
      return row.kind != .deleted
    }
    return items.withLock { items in
      items.contains { $0.main.contains(where: isOwn) }
        || ofMain.withLock { $0.contains(where: isOwn) }
    }
  }

  /// Hands out what was added, the earliest first; all that was is told when it returns.
  ///
  /// - Parameter body: Tells one, and must not block.
  func tell(_ body: (Item) -> Void) {
    telling.withLock { _ in
      while let item = next() { body(item) }
    }
  }

  private func next() -> Item? {
    items.withLock { items in
      guard !items.isEmpty else { return nil }
      let item = items.removeFirst()
      ofMain.withLock { $0 += item.main }
      return item
    }
  }

  /// The next change that main has to take; nil: there is none.
  func takeOfMain() -> StoreChange? { ofMain.withLock { $0.isEmpty ? nil : $0.removeFirst() } }

  /// Forgets what main has to take, where there is no main.
  func dropOfMain() { ofMain.withLock { $0 = [] } }
}

/// What main has to know of the store.
enum StoreChange: Sendable {
  /// A save of another context.
  case saved(WrittenChanges)
  /// Main's own save.
  case savedOwn(WrittenChanges)
  /// Anything may have changed in these tables.
  case tables(Set<Int>)
}
