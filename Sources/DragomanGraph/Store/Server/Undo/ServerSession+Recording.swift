/// What writers of a server do, recorded so that it can be taken back.
extension ServerSession {
  /// What records a run, or why nothing does.
  enum Recording {
    case recorder(RunRecorder, ServerNotes)
    /// The server or its rights are in the way, in words.
    case obstacle(String)
    /// The earlier part, which is gone on with, is not recorded.
    case earlierPartIsMissing

    /// The recorder, where there is one.
    var recorder: RunRecorder? {
      if case .recorder(let recorder, _) = self { recorder } else { nil }
    }
  }

  /// Begins to record what is done to the objects from here on.
  ///
  /// Needs an open transaction beside which nobody else writes, after `grow(to:)`. Makes `_dragoman_undo`, a function
  /// and triggers, where they are not there.
  ///
  /// - Parameters:
  ///   - earlier: The number of the import whose earlier part is gone on with.
  ///   - limit: How many changed rows are recorded at most; nil: all.
  /// - Returns: The recorder.
  /// - Throws: `StoreError`.
  func recording(behind earlier: Int64?, limit: Int?) throws(StoreError) -> Recording {
    if let obstacle = recordingObstacle { return .obstacle(obstacle) }
    var part: (number: Int64, recorded: RecordedRun)?
    if let earlier {
      guard let recorded = try RecordedRun.load(earlier, sql) else { return .earlierPartIsMissing }
      part = (earlier, recorded)
    }
    let name = sql.name
    return try StoreError.namingServer(name) {
      try connection.run("SAVEPOINT noting")
      let notes: ServerNotes
      do {
        if try !sql.hasTable(RecordedRun.table) { try RecordedRun.makeTable(sql) }
        notes = try ServerNotes(self)
      } catch let error as ServerError where !error.isPassing {
        try connection.run("ROLLBACK TO SAVEPOINT noting")
        return .obstacle("the server does not let changes be noted: \(error.message)")
      }
      try connection.run("RELEASE SAVEPOINT noting")
      var tables = RecordedTables()
      tables.noted = notes.tables.map {
        RecordedRun.Table(name: $0.table.name, columns: $0.table.columns.map(\.name))
      }
      let recorder = RunRecorder(
        tables,
        notes,
        as: nil,
        behind: part,
        limit: limit,
        path: name
      ) { self.sql }
      return .recorder(recorder, notes)
    }
  }

  /// Why nothing can be recorded; nil: it is tried.
  var recordingObstacle: String? {
    ServerStore.recordingObstacle(isDistributed: schema.distribution != nil)
  }
}

extension ServerStore {
  /// Why nothing can be recorded of what is done to it, in words; nil: it is tried.
  package var recordingObstacle: String? {
    Self.recordingObstacle(isDistributed: distribution != nil)
  }

  fileprivate static func recordingObstacle(isDistributed: Bool) -> String? {
    if isDistributed { return "changes of tables that lie on several machines cannot be noted" }
    return ChangesetRecording.isAvailable
      ? nil : "the SQLite of this system cannot record what an import does"
  }
}
