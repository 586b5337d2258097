extension WriteSession {
  /// Runs `body`, and ends a statement of it that runs when it is asked to stop.
  package func interruptible<Result>(
    when shouldStop: @escaping () -> Bool,
    _ body: () throws -> Result
  ) rethrows -> Result {
    try database.interruptible(when: shouldStop, body)
  }
}
