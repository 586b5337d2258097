/// What is recorded of imports.
extension ImportSession {
  /// Forgets what is recorded of an import.
  ///
  /// Runs `DELETE FROM _dragoman_undo`.
  package func forgetRecord(of run: Int64) throws(StoreError) { try RecordedRun.drop(run, sql) }

  /// Who is recording an import, where it still runs; nil: nobody.
  package func recordingMark(of run: Int64) throws(StoreError) -> RunMark? {
    let mark = try RecordedRun.load(run, sql)?.mark
    return mark.flatMap { $0.isRunning ? $0 : nil }
  }

  /// The runs of which is known what they changed, the last one first, and whether that is anything.
  package func recordedRuns() throws(StoreError) -> [(number: Int64, isEmpty: Bool)] {
    try RecordedRun.all(sql).map { number throws(StoreError) in
      (number, try RecordedRun.load(number, sql)?.isEmpty ?? true)
    }
  }
}
