extension WriteSession {
  /// Runs `body`, and ends a statement of it that runs when it is asked to stop.
  package func interruptible<Result>(
    when shouldStop: @escaping () -> Bool,
    _ body: () throws -> Result
  ) rethrows -> Result {
    try database.interruptible(when: shouldStop, body)
  }

  /// Takes the write lock as `begin()` does, and gives waiting for it up when it is asked to stop.
  ///
  /// - Throws: As `begin()`; `.busy`, too, where it was asked.
  package func begin(unless shouldStop: @escaping () -> Bool) throws(StoreError) {
    try StoreError.naming(path) { try database.waiting(unless: shouldStop) { try begin() } }
  }
}
