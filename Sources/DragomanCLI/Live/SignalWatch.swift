import Dispatch
import Foundation
import Synchronization

/// Watches for the signals that stop an import: the first one asks it to stop after the batch at
/// hand, the second one ends the process at once.
final class SignalWatch {
  /// The first signal received; it is shared with the handlers.
  private final class Received: Sendable {
    let signal = Mutex<Int32?>(nil)
  }

  /// Those that the process did not begin with ignored.
  ///
  /// What nohup, a background job of a shell or its `trap` has set aside stays so. It is looked at once,
  /// since watching ignores them too.
  private static let signals = [SIGINT, SIGTERM, SIGHUP].filter { number in
    let before = signal(number, SIG_IGN)
    let isIgnored = unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    if !isIgnored { signal(number, before) }
    return !isIgnored
  }

  private let first = Received()
  private let sources: [any DispatchSourceSignal]

  /// Starts to watch.
  ///
  /// - Parameters:
  ///   - stop: Called once, on another thread.
  ///   - abandon: Called in front of the exit that a second signal is; must not wait.
  init(stop: @escaping @Sendable () -> Void, abandon: @escaping @Sendable () -> Void = {}) {
    let first = first
    sources = Self.signals.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        let isSecond = first.signal.withLock { known in
          defer { known = known ?? number }
          return known != nil
        }
        // Nothing is lost: SQLite rolls back what was not committed when the file is opened next.
        if isSecond {
          abandon()
          _exit(128 + number)
        }
        stop()
      }
      source.resume()
      return source
    }
  }

  /// The first signal received, if there was one.
  var received: Int32? { first.signal.withLock { $0 } }
}
