import Foundation

/// Counts who is in a store, so that it is closed behind the last one, and nobody comes in any more.
final class StoreGate: Sendable {
  /// The connections of a store, of which a thread may use each once at a time.
  enum Connection {
    /// The one that writes; a store without others reads by it, too.
    case writer
    case reader
  }

  /// Who is in.
  private struct User {
    let thread: pthread_t
    let connection: Connection

    /// Whether it is the thread that asks.
    var isCaller: Bool { pthread_equal(thread, pthread_self()) != 0 }
  }

  /// Guarded by the condition.
  private nonisolated(unsafe) var users: [User] = []
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
      // Who is in, and is waited for, comes to its end.
      guard !isClosed || users.contains(where: \.isCaller) else { throw Self.closed }
      guard place(of: connection) == nil else { throw Self.nested }
      users.append(User(thread: pthread_self(), connection: connection))
    }
    defer {
      condition.withLock {
        if let place = place(of: connection) { users.remove(at: place) }
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
    let wasOpen = !isClosed
    isClosed = true
    while !users.isEmpty { condition.wait() }
    return wasOpen
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

  /// Refuses a connection to a thread that uses it already.
  ///
  /// - Throws: `.badRequest`.
  func checkMayPass(_ connection: Connection) throws(StoreError) {
    condition.lock()
    defer { condition.unlock() }
    if place(of: connection) != nil { throw Self.nested }
  }

  private func checkCaller() throws(StoreError) {
    guard users.contains(where: \.isCaller) else { return }
    throw StoreError(
      .badRequest,
      "The store is closed from within its own read or write: it can be closed behind that."
    )
  }

  /// Where the caller stands among those who use a connection; nil: it is not.
  private func place(of connection: Connection) -> Int? {
    users.firstIndex { $0.connection == connection && $0.isCaller }
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
