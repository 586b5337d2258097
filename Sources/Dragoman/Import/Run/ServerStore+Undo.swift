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
    try importing { session in
      try session.begin()
      guard try session.storedModel() != nil else {
        throw StoreError(.undo, "There is no import that could be taken back.")
      }
      let entry = try session.entry(of: run)
      try session.checkIsOver(entry)
      let copy = try session.copy()
      defer { try? copy.close() }
      if let changes { return try copy.previewUndo(entry.id, changes: changes) }
      var report = try copy.undoImport(entry.id, recording: nil)
      guard report.isPossible else { return report }
      let done = try copy.write { try $0.lastLedgerEntry { $0.undoes == entry.id } }
      guard let done else { return report }
      report.isRecorded = try session.repeatUndo(of: copy, done)
      try session.commit()
      return report
    }
  }
}
