/// What is recorded of imports.
extension ImportSession {
  /// Forgets what is recorded of an import.
  ///
  /// Runs `DELETE FROM _dragoman_undo`.
  package func forgetRecord(of run: Int64) throws(StoreError) { try RecordedRun.drop(run, sql) }

  /// Who is recording an import, where it still runs; nil: nobody.
  package func recordingMark(of run: Int64) throws(StoreError) -> RunMark? {
    let mark = try RecordedRun.readable(run, sql)?.mark
    return mark.flatMap { $0.isRunning ? $0 : nil }
  }

  /// Says in the ledger of a file that imports were stopped which seem to run and of which nothing tells that they do.
  ///
  /// Called where no import runs that keeps how far it is. One that began beside such a one, is not recorded, and still
  /// runs, says with its next batch that it does. Needs an open transaction.
  package func endForgottenRuns() throws(StoreError) {
    guard try sql.hasTable("_dragoman_imports") else { return }
    let running = try sql.integers(
      "id",
      "FROM _dragoman_imports WHERE status = ?1",
      [.text(ImportLedgerEntry.Status.running.rawValue)]
    )
    for run in running where try recordingMark(of: run) == nil {
      guard var entry = try ledgerEntry(run) else { continue }
      entry.finish(.stopped)
      try record(&entry)
    }
  }

  /// The runs that are recorded, the last one first, and whether they changed nothing; of one whose record cannot be read
  /// that is not known.
  package func recordedRuns() throws(StoreError) -> [(number: Int64, isEmpty: Bool)] {
    try RecordedRun.all(sql).map { number throws(StoreError) in
      (number, try RecordedRun.readable(number, sql)?.isEmpty ?? false)
    }
  }
}
