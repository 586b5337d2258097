import Dispatch
import DragomanGraph
import Synchronization

/// A display on a thread of its own, which alone waits where nobody reads the output.
// @unchecked: the display is touched on the queue and nowhere else.
final class WatchScreen: @unchecked Sendable {
  private let queue = DispatchQueue(label: "dragoman.watch")
  private var display: any WatchDisplay

  init(_ display: any WatchDisplay) { self.display = display }

  /// Shows an event; returns when it is written.
  func show(_ event: ResultEvent, of results: StoredResults<[StoredValue]>) async throws {
    let now = results.snapshot
    let ids = try await run { $0.wanted(event, now) }
    let values = try await results.elements(of: ids)
    try await run { try $0.show(event, values) }
  }

  /// Shows the same once more, soon.
  func redraw(_ didFail: @escaping @Sendable (any Error) -> Void) {
    queue.async { [self] in
      do {
        try display.redraw()
      } catch {
        didFail(error)
      }
    }
  }

  /// Leaves the output as it should be; where nobody reads it, gives that up.
  func finish() async throws {
    try await withCheckedThrowingContinuation { continuation in
      let waiting = Waiting(continuation)
      queue.async { [self] in waiting.resume(Result { try display.finish() }) }
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(500)) {
        waiting.resume(.success(()))
      }
    }
  }

  private func run<T: Sendable>(
    _ body: @escaping @Sendable (inout any WatchDisplay) throws -> T
  ) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { [self] in continuation.resume(with: Result { try body(&display) }) }
    }
  }

  /// One who waits for whatever comes first.
  private final class Waiting: Sendable {
    private let continuation: Mutex<CheckedContinuation<Void, any Error>?>

    init(_ continuation: CheckedContinuation<Void, any Error>) {
      self.continuation = Mutex(continuation)
    }

    func resume(_ result: Result<Void, any Error>) {
      let first = continuation.withLock { known in
        defer { known = nil }
        return known
      }
      first?.resume(with: result)
    }
  }
}
