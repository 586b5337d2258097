import Foundation

/// Counts who is in a store, so that it is closed behind the last one, and nobody comes in any more.
final class StoreGate: Sendable {
  /// Guarded by the condition: the threads of those who are in.
  private nonisolated(unsafe) var users: [pthread_t] = []
  private nonisolated(unsafe) var isClosed = false
  private let condition = NSCondition()

  /// Runs a closure in the store.
  ///
  /// - Throws: What it throws; `.refused` where the store was closed.
  func pass<T>(_ body: () throws -> T) throws -> T {
    try condition.withLock {
      // Who is in, and is waited for, comes to its end.
      guard !isClosed || place != nil else { throw Self.closed }
      users.append(pthread_self())
    }
    defer {
      condition.withLock {
        if let place = place { users.remove(at: place) }
        if users.isEmpty { condition.broadcast() }
      }
    }
    return try body()
  }

  /// Lets nobody in any more, and waits for those who are.
  ///
  /// - Returns: Whether it was open until now.
  /// - Throws: `.badRequest` within `pass`: who is in would wait for itself.
  func close() throws(StoreError) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    guard place == nil else {
      throw StoreError(
        .badRequest,
        "The store is closed from within its own read or write: it can be closed behind that."
      )
    }
    if isClosed { return false }
    isClosed = true
    while !users.isEmpty { condition.wait() }
    return true
  }

  /// Lets others in again: it could not be closed.
  func open() { condition.withLock { isClosed = false } }

  private static var closed: StoreError {
    StoreError(.refused, "The store was closed.", help: "open it again")
  }

  /// Where the caller stands among those who are in; nil: it is not.
  private var place: Int? { users.firstIndex { pthread_equal($0, pthread_self()) != 0 } }
}
