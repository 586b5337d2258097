import Dispatch
import Synchronization

/// Threads that may wait for the database; no more than that at once.
///
/// Each is that of a serial queue: on Linux those of concurrent ones are the few that Swift's tasks run on.
package final class Lanes: Sendable {
  private struct State {
    var free: [DispatchQueue] = []
    /// How many may be made yet.
    var leftCount: Int
    /// What waits for a lane, the first first.
    var waiting: [@Sendable () -> Void] = []
  }

  private let state: Mutex<State>

  /// - Parameter count: The most threads.
  package init(count: Int) { state = Mutex(State(leftCount: count)) }

  /// Runs a closure there.
  package func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { done in
      let work: @Sendable () -> Void = { done.resume(returning: body()) }
      let lane = state.withLock { state -> DispatchQueue? in
        if let lane = state.free.popLast() { return lane }
        guard state.leftCount > 0 else {
          state.waiting.append(work)
          return nil
        }
        state.leftCount -= 1
        return DispatchQueue(label: "dragoman.lane")
      }
      if let lane { start(work, on: lane) }
    }
  }

  private func start(_ work: @escaping @Sendable () -> Void, on lane: DispatchQueue) {
    lane.async { [self] in
      work()
      let next = state.withLock { state -> (@Sendable () -> Void)? in
        guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
        state.free.append(lane)
        return nil
      }
      if let next { start(next, on: lane) }
    }
  }
}
