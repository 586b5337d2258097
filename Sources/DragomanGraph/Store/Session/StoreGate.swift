import Foundation

/// Counts who is in a store, so that it is closed behind the last one, and nobody comes in any more.
final class StoreGate: Sendable {
  /// The connections of a store, of which a thread may use each once at a time.
  enum Connection {
    /// The one that writes; a store without others reads by it, too.
    case writer
    case reader
  }

  /// Guarded by the condition: the threads of those who are in.
  private nonisolated(unsafe) var users: [(thread: pthread_t, connection: Connection)] = []
  private nonisolated(unsafe) var isClosed = false
  private let condition = NSCondition()

  /// Runs a closure in the store.
  ///
  /// - Parameters:
  ///   - connection: What it uses.
  ///   - body: The closure.
  /// - Returns: What it returns.
  /// - Throws: What it throws; `.refused` where the store was closed, `.badRequest` where the thread uses that
  ///   connection already: it would wait for itself.
  func pass<T>(_ connection: Connection, _ body: () throws -> T) throws -> T {
    try condition.withLock {
      let own = users.filter { pthread_equal($0.thread, pthread_self()) != 0 }
      // Who is in, and is waited for, comes to its end.
      guard !isClosed || !own.isEmpty else { throw Self.closed }
      guard !own.contains(where: { $0.connection == connection }) else { throw Self.nested }
      users.append((pthread_self(), connection))
    }
    defer {
      condition.withLock {
        let place = users.firstIndex {
          $0.connection == connection && pthread_equal($0.thread, pthread_self()) != 0
        }
        if let place { users.remove(at: place) }
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
    try checkCaller()
    if isClosed { return false }
    isClosed = true
    while !users.isEmpty { condition.wait() }
    return true
  }

  /// Lets others in again: it could not be closed.
  func open() { condition.withLock { isClosed = false } }

  /// Refuses to be closed by who is in.
  ///
  /// - Throws: `.badRequest`.
  func checkIsOutside() throws(StoreError) {
    condition.lock()
    defer { condition.unlock() }
    try checkCaller()
  }

  private func checkCaller() throws(StoreError) {
    guard users.contains(where: { pthread_equal($0.thread, pthread_self()) != 0 }) else { return }
    throw StoreError(
      .badRequest,
      "The store is closed from within its own read or write: it can be closed behind that."
    )
  }

  private static var closed: StoreError {
    StoreError(.refused, "The store was closed.", help: "open it again")
  }

  private static var nested: StoreError {
    StoreError(
      .badRequest,
      "The store is asked from within its own read or write: a closure or hook works with the session, context or"
        + " row that it is given."
    )
  }
}
