import Foundation
import GRDB
import GRDBSQLite

extension Database {
  /// Runs `body`, and ends a statement of it that runs when it is asked to stop.
  ///
  /// SQLite looks every few thousand of its steps; a statement that is ended so may take its transaction
  /// with it (https://www.sqlite.org/c3ref/progress_handler.html).
  func interruptible<Result>(
    when shouldStop: @escaping () -> Bool,
    _ body: () throws -> Result
  ) rethrows -> Result {
    let question = Question(shouldStop)
    ask(question)
    defer { sqlite3_progress_handler(sqliteConnection, 0, nil, nil) }
    return try withExtendedLifetime(question) { try body() }
  }

  /// Runs `body`, and gives a lock of another process up while it is waited for, when it is asked to stop.
  ///
  /// SQLite itself does not look up while it waits (https://www.sqlite.org/c3ref/busy_handler.html). It is waited as
  /// long as the connection's configuration says.
  func waiting<Result>(
    unless shouldStop: @escaping () -> Bool,
    _ body: () throws -> Result
  ) rethrows -> Result {
    guard case .timeout(let seconds) = configuration.busyMode else { return try body() }
    let wait = LockWait(seconds, unless: shouldStop)
    sqlite3_busy_handler(
      sqliteConnection,
      { context, count in
        guard let context else { return 0 }
        let wait = Unmanaged<LockWait>.fromOpaque(context).takeUnretainedValue()
        return wait.goesOn(isFirst: count == 0) ? 1 : 0
      },
      Unmanaged.passUnretained(wait).toOpaque()
    )
    defer { sqlite3_busy_timeout(sqliteConnection, Int32(clamping: Int(seconds * 1000))) }
    return try withExtendedLifetime(wait) { try body() }
  }

  /// Asks from now on; the question must outlive the connection or its being asked.
  func ask(_ question: Question) {
    sqlite3_progress_handler(
      sqliteConnection,
      10_000,
      { context in
        guard let context else { return 0 }
        return Unmanaged<Question>.fromOpaque(context).takeUnretainedValue().shouldStop() ? 1 : 0
      },
      Unmanaged.passUnretained(question).toOpaque()
    )
  }
}

/// What a progress handler asks, on the connection's thread.
final class Question: @unchecked Sendable {
  let shouldStop: () -> Bool

  init(_ shouldStop: @escaping () -> Bool) { self.shouldStop = shouldStop }
}

/// A lock that is waited for, on the connection's thread.
private final class LockWait {
  private let timeout: Duration
  private let shouldStop: () -> Bool
  private var deadline = ContinuousClock.now

  init(_ seconds: Double, unless shouldStop: @escaping () -> Bool) {
    timeout = .seconds(seconds)
    self.shouldStop = shouldStop
  }

  /// Waits a moment.
  ///
  /// - Parameter isFirst: Whether the lock was just found taken.
  /// - Returns: Whether to try again.
  func goesOn(isFirst: Bool) -> Bool {
    if isFirst { deadline = .now + timeout }
    guard !shouldStop(), ContinuousClock.now < deadline else { return false }
    Thread.sleep(forTimeInterval: 0.01)
    return true
  }
}
