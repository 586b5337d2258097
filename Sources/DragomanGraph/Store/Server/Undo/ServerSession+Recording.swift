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
    let name = sql.name
    return try StoreError.namingServer(name) {
      var (part, notes): ((number: Int64, recorded: RecordedRun)?, ServerNotes?)
      let obstacle = try tryToRecord {
        try prepareRecords()
        if let earlier, let recorded = try RecordedRun.readable(earlier, sql) {
          if try isAsNow(recorded) {
            part = (earlier, recorded)
          } else {
            try RecordedRun.drop(earlier, sql)
          }
        }
        if earlier == nil || part != nil { notes = try ServerNotes(self) }
      }
      if let obstacle { return .obstacle(obstacle) }
      guard let notes else { return .earlierPartIsMissing }
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

  /// Does what recording needs, in a savepoint: what is refused leaves nothing, and is no reason to fail.
  ///
  /// - Returns: What is in the way, in words; nil: nothing is.
  /// - Throws: What ends the connection or the transaction.
  func tryToRecord(_ body: () throws -> Void) throws -> String? {
    try connection.run("SAVEPOINT noting")
    do {
      try body()
      try connection.run("RELEASE SAVEPOINT noting")
      return nil
    } catch {
      let told =
        (error as? ServerError).map { StoreError($0, on: sql.name) } ?? error as? StoreError
      // Who waits for another program that has locked a table would wait for it with every import.
      guard let told, !told.isPassing || told.code == .busy, connection.isUsable else {
        throw error
      }
      try connection.run("ROLLBACK TO SAVEPOINT noting")
      let reason = told.message.hasSuffix(".") ? String(told.message.dropLast()) : told.message
      return "the server does not let changes be noted: \(reason)"
    }
  }

  /// Makes the table of what is recorded, where it is missing, and looks whether it can be written.
  ///
  /// - Throws: `StoreError`, `.permission`.
  func prepareRecords() throws {
    if try !sql.hasTable(RecordedRun.table) { try RecordedRun.makeTable(sql) }
    let tests = ["SELECT", "INSERT", "UPDATE", "DELETE"].map {
      "has_table_privilege('\(RecordedRun.table)', '\($0)')"
    }
    guard try connection.text("SELECT (\(tests.joined(separator: " AND ")))::text") != "true" else {
      return
    }
    throw StoreError(
      .permission,
      "The user may not write the table \(RecordedRun.table).",
      help: "grant the user SELECT, INSERT, UPDATE and DELETE on it"
    )
  }

  /// Whether rows look as they did when a run was recorded: where a migration has made columns anew meanwhile, what is
  /// recorded from here on would not fit what was recorded before.
  private func isAsNow(_ recorded: RecordedRun) throws -> Bool {
    let columns = try ServerColumns(connection)
    return recorded.tables.allSatisfy { columns.begin(with: $0.columns, in: $0.name) }
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
    isDistributed
      ? "changes of tables that lie on several machines cannot be noted"
      : ChangesetRecording.obstacle
  }
}
