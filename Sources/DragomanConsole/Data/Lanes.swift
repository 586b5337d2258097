import Foundation

/// Threads that may wait for the database; no more than that at once.
final class Lanes: Sendable {
  private let queue: OperationQueue

  init(count: Int = 6) {
    queue = OperationQueue()
    queue.maxConcurrentOperationCount = count
    queue.name = "dragoman.console"
  }

  /// Runs a closure there.
  func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { done in
      queue.addOperation { done.resume(returning: body()) }
    }
  }
}
