import Synchronization

/// Those who follow what a stack has stored: closures that are called after each commit.
final class StoreFollowers: Sendable {
  private struct Follower {
    let take: @Sendable (ChangeNotice) -> Void
    let end: @Sendable (any Error) -> Void
  }

  private struct State {
    var next = 0
    var reason: (any Error)?
    var followers: [Int: Follower] = [:]
  }

  private let state = Mutex(State())

  /// Adds a follower; where nothing will come any more it is told so at once.
  ///
  /// - Parameters:
  ///   - take: Gets each notice, on the thread of who committed; must not block.
  ///   - end: Gets the reason why there will be no more.
  /// - Returns: A number for `remove(_:)`.
  func add(
    take: @escaping @Sendable (ChangeNotice) -> Void,
    end: @escaping @Sendable (any Error) -> Void
  ) -> Int {
    let (number, reason) = state.withLock { state in
      state.next += 1
      if state.reason == nil { state.followers[state.next] = Follower(take: take, end: end) }
      return (state.next, state.reason)
    }
    if let reason { end(reason) }
    return number
  }

  /// Whether nobody follows.
  var isEmpty: Bool { state.withLock { $0.followers.isEmpty } }

  /// Tells a follower nothing more.
  func remove(_ number: Int) { state.withLock { $0.followers[number] = nil } }

  /// Tells everybody what was committed.
  func send(_ notice: ChangeNotice) {
    guard !notice.isEmpty else { return }
    for follower in state.withLock({ Array($0.followers.values) }) { follower.take(notice) }
  }

  /// Tells everybody that there will be no more.
  func end(_ reason: any Error) {
    let followers = state.withLock { state in
      defer { state.followers = [:] }
      if state.reason == nil { state.reason = reason }
      return Array(state.followers.values)
    }
    for follower in followers { follower.end(reason) }
  }
}
