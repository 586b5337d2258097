import DragomanGraph

/// The notes that an import takes so that it can be taken back, where that is wanted and can be had.
final class ImportRecording {
  private let recorder: RunRecorder
  private let notices: NoticeLog

  /// Begins to record what is done in a session's open transaction.
  ///
  /// - Returns: nil where nothing is recorded.
  /// - Throws: `StoreError`.
  init?(
    _ session: WriteSession,
    _ request: ImportRequest,
    _ commit: ImportMap.ImportOptions.Commit,
    _ notices: NoticeLog
  ) throws {
    guard !request.isDryRun, request.recording != .never else { return nil }
    let limit = request.recording == .always ? nil : WriteSession.recordedRowCount
    guard let recorder = try session.recorder(isWhole: commit == .all, limit: limit) else {
      if request.recording == .always {
        notices.add(
          "the SQLite of this system cannot record what an import does: it cannot be taken back"
        )
      }
      return nil
    }
    self.recorder = recorder
    self.notices = notices
  }

  /// Writes the notes into the file where there are as many as memory should hold.
  func keepIfFull(_ entry: inout ImportLedgerEntry, _ session: WriteSession) throws {
    guard !recorder.isOver, recorder.isFull else { return }
    try session.record(&entry)
    try keep(entry)
  }

  /// Writes the notes that belong to a transaction into the file; of an import that has ended, the last ones.
  func keep(_ entry: ImportLedgerEntry) throws {
    guard !recorder.isOver, let run = entry.id else { return }
    if entry.status == .running {
      try recorder.keep(as: run)
    } else {
      try recorder.finish(as: run, hasCounts: entry.counts.changed > 0)
    }
    if recorder.isOver {
      notices.add(
        "more than \(WriteSession.recordedRowCount) rows changed: the import cannot be taken back"
      )
    }
  }

  /// Ends without a word.
  func stop() { recorder.stop() }
}
