import Dispatch
import Synchronization

/// Waits on a thread of one's own for what is asynchronous.
enum Waiting {
  private final class Box<Value: Sendable>: Sendable {
    let result = Mutex<Result<Value, any Error>?>(nil)
  }

  /// The result of a closure; never to be called on a thread of Swift's tasks.
  ///
  /// - Throws: What the closure throws.
  static func result<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let box = Box<Value>()
    let done = DispatchSemaphore(value: 0)
    Task {
      let result: Result<Value, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      box.result.withLock { $0 = result }
      done.signal()
    }
    done.wait()
    guard let result = box.result.withLock({ $0 }) else { throw CancellationError() }
    return try result.get()
  }
}
