import GRDB

/// What imports did, recorded and taken back.
extension WriteSession {
  /// How many changed rows are recorded of an import that says nothing of it.
  package static let recordedRowCount = 1_000_000

  package var recordingObstacle: String? { ChangesetRecording.obstacle }

  package func recorder(
    isWhole: Bool,
    behind earlier: Int64? = nil,
    limit: Int?
  ) throws(StoreError) -> RunRecorder? {
    guard recordingObstacle == nil else { return nil }
    var part: (number: Int64, recorded: RecordedRun)?
    if let earlier {
      guard let recorded = try RecordedRun.readable(earlier, sql) else {
        try RecordedRun.drop(earlier, sql)
        return nil
      }
      part = (earlier, recorded)
    }
    let made = try run {
      let tables = try RecordedTables(layout, in: database, isWhole: isWhole)
      let names = tables.noted.map(\.name)
      return RunRecorder(
        tables,
        names.isEmpty ? nil : try ChangesetRecording(of: names, in: database),
        as: RunMark(),
        behind: part,
        limit: limit,
        path: path
      ) { [database, path] in FileSQL(database: database, path: path) }
    }
    recording = made
    return made
  }

  /// Gives the connection other files to read, until it is closed.
  ///
  /// Runs `ATTACH DATABASE`, outside of a transaction.
  ///
  /// - Parameter files: Their paths.
  /// - Returns: What they are called in SQL.
  /// - Throws: `StoreError`.
  package func attach(_ files: [String]) throws(StoreError) -> [String] {
    try run {
      try files.enumerated().map { number, file in
        let name = "_dragoman_other_\(number)"
        try database.execute(sql: "ATTACH DATABASE ? AS \(name)", arguments: [file])
        return name
      }
    }
  }

  /// Takes back what an import did.
  ///
  /// Needs an open transaction, which is to be rolled back where something is in the way. Its entry in the
  /// ledger says then that it is undone.
  ///
  /// - Parameters:
  ///   - entry: The import.
  ///   - later: The later ones that are to be taken back before, the last one first; they come to nothing.
  ///   - raisesVersions: Whether objects that come back have versions that they never had: whoever has read
  ///     what the import wrote sees that it is gone.
  ///   - keep: Called between portions of the work.
  /// - Returns: What was done, and what is in the way.
  /// - Throws: `StoreError`; `.undo` where nothing is kept of it, `.protected` where rows of others' tables refer to
  ///   objects that would go.
  package func takeBack(
    _ entry: ImportLedgerEntry,
    after later: [Int64] = [],
    raisesVersions: Bool = true,
    _ keep: () throws -> Void = {}
  ) throws -> UndoReport {
    try withoutActuallyEscaping(keep) { keep in
      do {
        var reversal = RunReversal(layout, in: database, path: path, keep: keep)
        let own = entry.id ?? 0
        for run in later + [own] where reversal.conflictCount == 0 {
          try reversal.takeBack(run, isLast: run == own)
        }
        if raisesVersions { try reversal.raiseVersions() }
        let report = try report(entry, reversal)
        if report.isPossible {
          // Who only looks back at a copy leaves nothing.
          if raisesVersions, reversal.leavesReferences { try refuseOthers() }
          var undone = entry
          undone.status = .undone
          try undone.save(to: database)
          try markUndone(by: entry)
        }
        return report
      } catch let error as DatabaseError {
        throw StoreError(error, path: path)
      }
    }
  }

  /// Where an undo is taken back, what it took back stands again; where that was an undo itself, its
  /// import is undone again, and so on.
  private func markUndone(by entry: ImportLedgerEntry) throws {
    var (undo, stands) = (entry, true)
    while let (number, status) = undo.undone, var next = try ledgerEntry(number) {
      next.status = stands ? status : .undone
      try next.save(to: database)
      (undo, stands) = (next, !stands)
    }
  }

  private func report(_ entry: ImportLedgerEntry, _ reversal: RunReversal) throws -> UndoReport {
    var conflicts = try reversal.conflicts.map { try conflict($0) }
    var count = reversal.conflictCount
    if conflicts.isEmpty {
      conflicts = try danglingConflicts()
      count = conflicts.count
    }
    var entities: [String: UndoReport.Counts] = [:]
    for (index, table) in layout.tables.enumerated() {
      let (restored, deleted, changed) = reversal.counts(of: index)
      guard restored + deleted + changed > 0 else { continue }
      var counts = UndoReport.Counts()
      (counts.restored, counts.deleted, counts.changed) = (restored, deleted, changed)
      entities[layout.entities[table.root].name] = counts
    }
    return UndoReport(
      run: entry,
      entities: entities,
      conflicts: conflicts,
      conflictCount: count
    )
  }

  private func conflict(_ conflict: RunReversal.Conflict) throws -> UndoReport.Conflict {
    let entity = layout.entities[layout.tables[conflict.table].root]
    let reason: UndoReport.Conflict.Reason =
      switch conflict.reason {
      case .changed: .changed
      case .gone: .deleted
      case .taken, .refused: .taken
      }
    let object = conflict.key.map { ObjectID(entity: entity.name, primaryKey: $0) }
    return UndoReport.Conflict(
      entity: entity.name,
      object: object,
      key: try object.flatMap { try key(of: $0, entity) },
      links: conflict.links,
      reason: reason
    )
  }

  private func key(of object: ObjectID, _ entity: EntityLayout) throws -> ObjectKey? {
    let found = try ObjectKeyReader(entity, in: layout).objects(
      where: "t._pk = ?1",
      [.integer(object.primaryKey)],
      sql
    ).first
    return found.flatMap { $0.key.parts.isEmpty ? nil : $0.key }
  }

  /// Objects that refer to some that are not there, as those that the import did not make to some that it made.
  ///
  /// Runs `PRAGMA foreign_key_check` for each table of objects, and looks through each table of links.
  func danglingConflicts(limit: Int = 100) throws -> [UndoReport.Conflict] {
    var conflicts: [UndoReport.Conflict] = []
    func add(_ keys: [Int64], of entity: EntityLayout, links: String? = nil) throws {
      for key in keys.prefix(limit - conflicts.count) {
        let object = ObjectID(entity: entity.name, primaryKey: key)
        conflicts.append(
          UndoReport.Conflict(
            entity: entity.name,
            object: object,
            key: try self.key(of: object, entity),
            links: links,
            reason: .referenced
          )
        )
      }
    }
    for table in layout.tables where conflicts.count < limit {
      let keys = try Row.fetchAll(
        database,
        sql: "SELECT DISTINCT rowid FROM pragma_foreign_key_check(?) LIMIT \(limit)",
        arguments: [table.name]
      ).map { row -> Int64 in try row.stored(0, of: "foreign_key_check") }
      try add(keys, of: layout.entities[table.root])
    }
    for link in layout.links where conflicts.count < limit {
      guard case .joinTable(let join, isOwner: true) = link.storage else { continue }
      let owner = layout.entities[layout.entities[link.owner].root]
      let target = layout.entities[layout.entities[link.destination].root]
      for (end, object, other, missing) in [
        ("owner", owner, "target", target), ("target", target, "owner", owner),
      ] {
        let keys = try sql.integers(
          "DISTINCT \(end)",
          "FROM \(Schema.quoted(join.name)) WHERE \(end) IN (SELECT _pk FROM \(Schema.quoted(object.table)))"
            + " AND \(other) NOT IN (SELECT _pk FROM \(Schema.quoted(missing.table))) LIMIT \(limit)"
        )
        try add(keys, of: object, links: join.name)
      }
    }
    return conflicts
  }
}
