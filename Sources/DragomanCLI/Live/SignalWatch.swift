import Dispatch
import Dragoman
import Foundation
import Synchronization

/// Watches for the signals that stop an import: the first one asks it to stop after the batch at
/// hand, the second one ends the process at once.
final class SignalWatch: Sendable {
  private let first = Mutex<Int32?>(nil)
  private let stop: @Sendable () -> Void
  private let abandon: @Sendable () -> Void

  /// The watch that is told; nil: none is on.
  private static let current = Mutex<SignalWatch?>(nil)
  /// The first signal that any watch was told of.
  private static let heard = Mutex<Int32?>(nil)
  /// Made once: of a second source for a signal nothing is heard on Linux when the first was let go.
  private static let sources = Mutex<[any DispatchSourceSignal]>(signals.map(source))

  private static func source(of number: Int32) -> any DispatchSourceSignal {
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
    source.setEventHandler {
      // Whoever looks before the next import of a run sees it, though the watch at hand is done with its own.
      heard.withLock { $0 = $0 ?? number }
      // Between two imports of a run there is nothing to stop.
      guard let watch = current.withLock({ $0 }) else { TemporaryFolder.endProcess(128 + number) }
      watch.take(number)
    }
    source.resume()
    return source
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

  /// Starts to watch, in place of the watch before it, until `end()`.
  ///
  /// - Parameters:
  ///   - stop: Called once, on another thread.
  ///   - abandon: Called in front of the exit that a second signal is; must not wait.
  init(stop: @escaping @Sendable () -> Void, abandon: @escaping @Sendable () -> Void = {}) {
    self.stop = stop
    self.abandon = abandon
    Self.current.withLock { $0 = self }
    Self.sources.withLock { _ in }
  }

  /// Has a signal end the process as it does without a watch, but for temporary folders, which go with it.
  static func removesTemporaryFolders() { sources.withLock { _ in } }

  /// Stops watching.
  func end() { Self.current.withLock { if $0 === self { $0 = nil } } }

  /// The first signal that came while something was watched for, though it may have been done by then; nil: none did.
  static var received: Int32? { heard.withLock { $0 } }

  /// The first signal received, if there was one.
  var received: Int32? { first.withLock { $0 } }

  private func take(_ number: Int32) {
    let isSecond = first.withLock { known in
      defer { known = known ?? number }
      return known != nil
    }
    // Nothing is lost: SQLite rolls back what was not committed when the file is opened next.
    if isSecond {
      abandon()
      TemporaryFolder.endProcess(128 + number)
    }
    stop()
  }
}
