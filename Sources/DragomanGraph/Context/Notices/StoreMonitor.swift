import Dispatch
import Synchronization

/// Looks at a stated interval whether other processes have written into a store's file.
///
/// Runs `PRAGMA data_version` on the writing connection, whose own commits do not count
/// (https://www.sqlite.org/pragma.html#pragma_data_version), and compares the identity of the file:
/// one that was replaced, or migrated to a model without something that this store knows, cannot be
/// followed any more.
// Sendable because all is, but for the timer: dispatch sources may be used on any thread.
final class StoreMonitor: @unchecked Sendable {
  private struct State {
    /// nil: the store was being written when it was to be looked at first.
    var fingerprint: StoreFingerprint?
    var interval: Duration
    var isOver = false
    var hindrances = Hindrances()
  }

  private let store: any ObjectStore
  private let state: Mutex<State>
  private let timer: any DispatchSourceTimer
  private let didChange: @Sendable () -> Void
  private let didEnd: @Sendable (any Error) -> Void

  /// Begins to look.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - interval: How often to look; the shortest is a millisecond.
  ///   - didChange: Called, on a thread of its own, after others have written.
  ///   - didEnd: Called once when the file cannot be followed any more.
  /// - Throws: `StoreError`.
  init(
    _ store: any ObjectStore,
    every interval: Duration,
    didChange: @escaping @Sendable () -> Void,
    didEnd: @escaping @Sendable (any Error) -> Void
  ) throws {
    self.store = store
    self.didChange = didChange
    self.didEnd = didEnd
    let queue = DispatchQueue(label: "dragoman.monitor")
    let first = try Self.fingerprint(of: store, on: queue)
    state = Mutex(State(fingerprint: first, interval: interval))
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler { [weak self] in self?.look() }
    schedule(interval)
    timer.resume()
  }

  deinit { timer.cancel() }

  /// What the store is like now; nil where an import of this process keeps it: who begins to follow it does not
  /// wait for that.
  private static func fingerprint(
    of store: any ObjectStore,
    on queue: DispatchQueue
  ) throws -> StoreFingerprint? {
    let found = Found()
    queue.async {
      let result = Result { try store.fingerprint() }
      found.result.withLock { $0 = result }
      found.isThere.signal()
    }
    guard found.isThere.wait(timeout: .now() + .milliseconds(50)) == .success else { return nil }
    return try found.result.withLock { try $0?.get() }
  }

  private final class Found: Sendable {
    let result = Mutex<Result<StoreFingerprint, any Error>?>(nil)
    let isThere = DispatchSemaphore(value: 0)
  }

  /// Looks at least as often from now on.
  func hasten(to interval: Duration) {
    let isShorter = state.withLock { state in
      guard interval < state.interval else { return false }
      state.interval = interval
      return true
    }
    if isShorter { schedule(interval) }
  }

  /// Looks no more.
  func stop() {
    state.withLock { $0.isOver = true }
    timer.cancel()
  }

  private func schedule(_ interval: Duration) {
    let parts = interval.components
    let nanoseconds = Double(parts.seconds) * 1e9 + Double(parts.attoseconds) / 1e9
    let step = DispatchTimeInterval.nanoseconds(Int(min(max(nanoseconds, 1e6), 1e15)))
    timer.schedule(deadline: .now() + step, repeating: step, leeway: .milliseconds(1))
  }

  private func look() {
    let (isOver, old) = state.withLock { ($0.isOver, $0.fingerprint) }
    if isOver { return }
    do {
      let new = try store.fingerprint()
      state.withLock { $0.hindrances.end() }
      guard new != old else { return }
      // Where nothing is known of before, something may have changed.
      if let old { try store.check(new, against: old) }
      state.withLock { $0.fingerprint = new }
      didChange()
    } catch {
      // The next look will see.
      if state.withLock({ $0.hindrances.mayPass(error) }) { return }
      let wasOver = state.withLock { state in
        defer { state.isOver = true }
        return state.isOver
      }
      timer.cancel()
      if !wasOver { didEnd(error) }
    }
  }
}
