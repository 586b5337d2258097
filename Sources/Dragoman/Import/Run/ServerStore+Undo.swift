import DragomanGraph

extension ServerStore {
  /// Takes an import back, as `SQLiteStore.undoImport(_:isDryRun:)` does in a file.
  ///
  /// It is taken back in a copy, made in the transaction in which then the rows are written that changed there:
  /// what is in the way, and what comes of it, is what it would be in a file.
  ///
  /// - Parameters:
  ///   - run: The number of an import, or of an undo, in the history; nil: the last import that is not taken back.
  ///   - changes: Where nothing is to be done: called once an object that would change.
  /// - Returns: What was done, or would be, and what is in the way.
  /// - Throws: `StoreError`, as in a file; `.busy` where another program writes to the tables meanwhile.
  package func undoImport(
    _ run: Int64?,
    previewing changes: ((ImportChange) throws -> Void)? = nil
  ) throws -> UndoReport {
    if let changes {
      // Nobody has to wait for who reads what would change.
      let (number, copy) = try importing { try undoable(run, $0) }
      defer { try? copy.close() }
      return try copy.previewUndo(number, changes: changes)
    }
    return try importing { session in
      let (number, copy) = try undoable(run, session)
      defer { try? copy.close() }
      let report = try copy.undoImport(number, recording: nil)
      guard report.isPossible else { return report }
      let done = try copy.write { try $0.lastLedgerEntry { $0.undoes == number } }
      guard report.isRecorded, let done else {
        throw StoreError(
          .undo,
          "What taking import \(number) back changes could not be noted; nothing was changed.",
          help: "take it back on a system whose SQLite has sessions"
        )
      }
      var told = report
      told.isRecorded = try session.repeatUndo(of: copy, done)
      try session.commit()
      return told
    }
  }

  /// The import that is to be taken back, and a copy of what the server holds, in the session's open transaction.
  private func undoable(
    _ run: Int64?,
    _ session: ServerImport
  ) throws -> (number: Int64, copy: SQLiteStore) {
    try session.begin()
    guard try session.storedModel() != nil else {
      throw StoreError(.undo, "There is no import that could be taken back.")
    }
    let entry = try session.entry(of: run)
    try session.checkIsOver(entry)
    return (entry.id ?? 0, try session.copy())
  }
}
