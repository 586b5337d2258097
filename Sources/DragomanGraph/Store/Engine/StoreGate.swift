import Foundation

/// Counts who is in a store, so that it is closed behind the last one, and nobody comes in any more.
final class StoreGate: Sendable {
  /// Guarded by the condition.
  private nonisolated(unsafe) var userCount = 0
  private nonisolated(unsafe) var isClosed = false
  private let condition = NSCondition()

  /// Runs a closure in the store.
  ///
  /// - Throws: What it throws; `.refused` where the store was closed.
  func pass<T>(_ body: () throws -> T) throws -> T {
    try condition.withLock {
      guard !isClosed else { throw StoreError(.refused, "The store was closed.") }
      userCount += 1
    }
    defer {
      condition.withLock {
        userCount -= 1
        if userCount == 0 { condition.broadcast() }
      }
    }
    return try body()
  }

  /// Lets nobody in any more, and waits for those who are.
  ///
  /// - Returns: Whether it was open until now.
  func close() -> Bool {
    condition.withLock {
      if isClosed { return false }
      isClosed = true
      while userCount > 0 { condition.wait() }
      return true
    }
  }
}
