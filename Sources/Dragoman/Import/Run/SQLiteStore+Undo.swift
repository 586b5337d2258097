import DragomanGraph
import Foundation

extension SQLiteStore {
  /// Takes an import back: every object, value and link is as it was before.
  ///
  ///     let report = try store.undoImport()
  ///     if !report.isPossible { print(report.conflicts) }
  ///
  /// What the import did was recorded with it (`ImportRequest.recording`), in the table `_dragoman_undo`. Where
  /// something of it was changed since, nothing is done, and the report says what. What the model has got by
  /// the import stays. The ledger gets a line for it, which can be taken back itself.
  ///
  /// - Parameters:
  ///   - run: The number of an import, or of an undo, in `history()`; nil: the last import that is recorded and
  ///     not taken back.
  ///   - isDryRun: Whether everything is rolled back at the end.
  ///   - changes: Told of every object that is made, changed or deleted, in a dry run too.
  /// - Returns: What was done, and what is in the way.
  /// - Throws: `StoreError`: `.badRequest` where there is no such import, `.undo` where nothing is kept of it
  ///   or the model was migrated since, `.busy` while it runs; what `changes` throws.
  public func undoImport(
    _ run: Int64? = nil,
    isDryRun: Bool = false,
    changes: ((ImportChange) throws -> Void)? = nil
  ) throws -> UndoReport {
    try write { session in
      try session.begin()
      let entry = try session.entry(of: run)
      try session.endResumption(of: entry)
      let log = changes == nil ? nil : try session.changeLog()
      let recorder = try session.recorder(isWhole: false, limit: WriteSession.recordedRowCount)
      defer { recorder?.stop() }
      var own = ImportLedgerEntry(undoing: entry, started: ImportClock.now())
      try session.record(&own)
      let number = own.id ?? 0
      let later = try session.annihilated(behind: entry)
      let report = try session.takeBack(entry, after: later) {
        if recorder?.isFull == true { try recorder?.keep(as: number) }
      }
      if report.isPossible, let changes {
        try log?.drainNet { change, _ in
          guard let change = ImportChange(change, isPruning: false, origin: nil) else { return }
          try changes(change)
        }
      }
      guard report.isPossible, !isDryRun else { return report }
      for counts in report.entities.values {
        own.counts.inserted += counts.restored
        own.counts.updated += counts.changed
        own.counts.deleted += counts.deleted
      }
      own.status = .done
      own.finished = ImportClock.now()
      try session.record(&own)
      try recorder?.finish(as: number, hasCounts: true)
      try session.commit()
      return report
    }
  }

  /// Lends a copy of the store as it was behind an import; what later imports did is taken back in it.
  ///
  /// The copy is a temporary file, and gone afterwards.
  ///
  /// - Parameters:
  ///   - run: The import's number in `history()`; 0: before the first one.
  ///   - body: What is to be done with the copy.
  /// - Returns: What `body` returns.
  /// - Throws: `StoreError`: `.badRequest` where there is no such import, `.undo` where a later one cannot be
  ///   taken back; what `body` throws.
  public func withCopy<T>(asOf run: Int64, _ body: (SQLiteStore) throws -> T) throws -> T {
    let later = try imports(behind: run)
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("dragoman-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw StoreError(.output, "There is no place for a copy: \(error)", path: folder.path)
    }
    defer { try? FileManager.default.removeItem(at: folder) }
    let place = folder.appendingPathComponent("copy.db").path
    _ = try backup(to: place)
    let copy = try SQLiteStore(at: .file(place))
    for entry in later.reversed() { _ = try copy.takeBack(entry) }
    let result = try body(copy)
    try copy.close()
    return result
  }

  /// Tells what an import did, object by object, as far as it can be taken back.
  ///
  /// - Parameters:
  ///   - run: The import's number in `history()`.
  ///   - body: Called once an object.
  /// - Throws: As `withCopy(asOf:_:)`.
  public func changes(ofImport run: Int64, _ body: (ImportChange) throws -> Void) throws {
    guard let entry = try history().first(where: { $0.id == run }) else {
      throw WriteSession.noSuchImport(run, try history())
    }
    let isEffective = try imports(behind: 0).contains { $0.id == run }
    guard isEffective else { return }
    // It is taken back unseen, and then done again.
    try withoutActuallyEscaping(body) { body in
      try withCopy(asOf: run) { copy in
        let undo = try copy.takeBack(entry, isRecorded: true)
        _ = try copy.takeBack(undo, changes: body)
      }
    }
  }

  /// The imports behind one, oldest first, that did something.
  private func imports(behind run: Int64) throws -> [ImportLedgerEntry] {
    let all = try history()
    guard run == 0 || all.contains(where: { $0.id == run }) else {
      throw WriteSession.noSuchImport(run, all)
    }
    let recorded = try Set(write { try $0.recordedRuns() })
    return all.filter { entry in
      guard let id = entry.id else { return false }
      return id > run && (recorded.contains(id) || entry.counts.changed > 0)
    }
  }

  /// Takes an import back in a copy, where nobody has to see that objects have other versions.
  ///
  /// - Parameters:
  ///   - entry: The import.
  ///   - isRecorded: Whether that can be taken back itself.
  ///   - changes: Told of what is done.
  /// - Returns: The entry of what is done, where it is recorded.
  private func takeBack(
    _ entry: ImportLedgerEntry,
    isRecorded: Bool = false,
    changes: ((ImportChange) throws -> Void)? = nil
  ) throws -> ImportLedgerEntry {
    try write { session in
      try session.begin()
      let log = changes == nil ? nil : try session.changeLog()
      let recorder = isRecorded ? try session.recorder(isWhole: false, limit: nil) : nil
      defer { recorder?.stop() }
      var own = ImportLedgerEntry(undoing: entry, started: ImportClock.now())
      if isRecorded { try session.record(&own) }
      let report = try session.takeBack(entry, raisesVersions: false) {
        if recorder?.isFull == true, let id = own.id { try recorder?.keep(as: id) }
      }
      try Self.check(report)
      try log?.drainNet { change, _ in
        guard let change = ImportChange(change, isPruning: false, origin: nil) else { return }
        try changes?(change)
      }
      if let id = own.id { try recorder?.finish(as: id, hasCounts: true) }
      try session.commit()
      return own
    }
  }

  private static func check(_ report: UndoReport) throws(StoreError) {
    guard let first = report.conflicts.first else { return }
    let object = first.object.map { "\($0.entity) \($0.primaryKey)" } ?? first.entity
    throw StoreError(
      .undo,
      "Import \(report.run.id ?? 0) cannot be taken back: \(object) was changed since, and"
        + " \(report.conflictCount - 1) more."
    )
  }
}

extension WriteSession {
  /// The import of that number; nil: the last one that is recorded.
  fileprivate func entry(of run: Int64?) throws(StoreError) -> ImportLedgerEntry {
    guard let run else {
      for number in try recordedRuns() {
        if let entry = try ledgerEntry(number), entry.undoes == nil, entry.status != .undone {
          return entry
        }
      }
      throw StoreError(.undo, "There is no import that could be taken back.", path: path)
    }
    guard let entry = try ledgerEntry(run) else { throw Self.noSuchImport(run, []) }
    if entry.status == .undone {
      throw StoreError(.undo, "Import \(run) is taken back already.", path: path)
    }
    return entry
  }

  /// The runs behind an import, the last one first, where they come to nothing together: each is taken back, or
  /// takes back another one of them.
  ///
  /// - Returns: None where one of them has an effect that stays, or is not recorded.
  fileprivate func annihilated(behind entry: ImportLedgerEntry) throws(StoreError) -> [Int64] {
    let first = entry.id ?? 0
    let runs = try recordedRuns().filter { $0 > first }
    for run in runs {
      guard let later = try ledgerEntry(run) else { return [] }
      let comesToNothing = later.status == .undone || later.undoes.map { $0 > first } == true
      if !comesToNothing { return [] }
    }
    return runs
  }

  fileprivate static func noSuchImport(_ run: Int64, _ all: [ImportLedgerEntry]) -> StoreError {
    StoreError(
      .badRequest,
      "There is no import \(run).",
      help: all.last?.id.map { "the last one is \($0)" } ?? "the history has their numbers"
    )
  }

  /// What an import in batches has kept to go on with is worth nothing once it is taken back.
  fileprivate func endResumption(of entry: ImportLedgerEntry) throws {
    guard let kept = try keptRun(), let state = try? ImportRunState(kept),
      state.ledger == entry.id
    else { return }
    if state.mark.isRunning {
      throw StoreError(
        .busy,
        "Import \(state.ledger) is still running, as process \(state.mark.process).",
        help: "wait for its end, or stop it",
        path: path
      )
    }
    try dropRun()
  }
}
