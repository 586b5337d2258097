import DragomanGraph

/// The notes that an import takes so that it can be taken back, where that is wanted and can be had.
final class ImportRecording {
  private let recorder: RunRecorder
  private let notices: NoticeLog
  private var isOver = false

  /// Begins to record what is done in a session's open transaction; nil where nothing is recorded, and then nothing is
  /// kept of the earlier part either.
  ///
  /// `earlier` is the number of the import whose earlier part is gone on with.
  init?(
    _ session: some ImportSession,
    _ request: ImportRequest,
    _ commit: ImportMap.ImportOptions.Commit,
    behind earlier: Int64?,
    _ notices: NoticeLog
  ) throws {
    if request.isDryRun { return nil }
    guard request.recording != .never else {
      if let earlier { try session.forgetRecord(of: earlier) }
      return nil
    }
    let limit = request.recording == .always ? nil : WriteSession.recordedRowCount
    let recorder = try session.recorder(isWhole: commit == .all, behind: earlier, limit: limit)
    guard let recorder else {
      let obstacle = session.recordingObstacle
      if earlier != nil, obstacle == nil {
        notices.add("the earlier part of this import is not recorded: it cannot be taken back")
      } else if request.recording == .always, let obstacle {
        notices.add("\(obstacle): it cannot be taken back")
      }
      return nil
    }
    self.recorder = recorder
    self.notices = notices
  }

  /// Writes the notes into the file where there are as many as memory should hold.
  func keepIfFull() throws { try recorder.keepIfFull() }

  /// Writes the notes that belong to a transaction into the file; of an import that has ended, the last ones.
  func keep(_ entry: ImportLedgerEntry) throws {
    guard !isOver, let run = entry.id else { return }
    if entry.status == .running {
      try recorder.keep(as: run)
    } else {
      try recorder.finish(as: run)
    }
    if let ending = recorder.ending {
      isOver = true
      notices.add("\(ending): the import cannot be taken back")
    }
  }

  /// Ends without a word.
  func stop() { recorder.stop() }
}
