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
