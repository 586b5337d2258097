import DragomanGraph

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
  ///   - run: The number of an import, or of an undo, in `history()`; nil: the last import that is not taken
  ///     back, which is refused where it changed nothing.
  ///   - isDryRun: Whether everything is rolled back at the end.
  /// - Returns: What was done, and what is in the way.
  /// - Throws: `StoreError`: `.badRequest` where there is no such import, `.undo` where nothing is kept of it
  ///   or the model was migrated since, `.busy` while it runs.
  public func undoImport(
    _ run: Int64? = nil,
    isDryRun: Bool = false
  ) throws -> UndoReport {
    try undoImport(run, isDryRun: isDryRun, recording: WriteSession.recordedRowCount)
  }

  /// The same.
  ///
  /// - Parameters:
  ///   - run: As for `undoImport(_:isDryRun:)`.
  ///   - isDryRun: Whether everything is rolled back at the end.
  ///   - limit: How many rows that it changes are recorded at most; nil: all.
  /// - Returns: What was done, and what is in the way.
  /// - Throws: As `undoImport(_:isDryRun:)`.
  func undoImport(
    _ run: Int64?,
    isDryRun: Bool = false,
    recording limit: Int?
  ) throws -> UndoReport {
    try write { session in
      try session.begin()
      // A file that nothing was imported into has no tables of ours.
      guard try session.storedModel() != nil else { throw ImportLedgerEntry.nothingToUndo(path) }
      let entry = try session.entry(of: run)
      try session.checkIsOver(entry)
      let later = try session.annihilated(behind: entry)
      let report = try undo(entry, after: later, isDryRun, limit, session)
      if report.isPossible || later.isEmpty { return report }
      // What is in the way of them may be none of its objects.
      session.rollbackIfOpen()
      try session.begin()
      // Another process may have taken it back in between.
      let same = try session.entry(of: entry.id)
      try session.checkIsOver(same)
      let other = try undo(same, after: [], isDryRun, limit, session)
      return other.isPossible ? other : report
    }
  }

  /// Takes an import back behind later ones that come to nothing, in the open transaction.
  private func undo(
    _ entry: ImportLedgerEntry,
    after later: [Int64],
    _ isDryRun: Bool,
    _ limit: Int?,
    _ session: WriteSession
  ) throws -> UndoReport {
    let recorder = try session.recorder(isWhole: false, limit: limit)
    defer { recorder?.stop() }
    var own = ImportLedgerEntry(undoing: entry, started: ImportClock.now())
    try session.record(&own)
    let number = own.id ?? 0
    var report = try session.takeBack(entry, after: later) { try recorder?.keepIfFull() }
    guard report.isPossible, !isDryRun else { return report }
    for counts in report.entities.values {
      own.counts.inserted += counts.restored
      own.counts.updated += counts.changed
      own.counts.deleted += counts.deleted
    }
    own.finish()
    try session.record(&own)
    try recorder?.finish(as: number)
    report.isRecorded = recorder != nil && recorder?.ending == nil
    try session.commit()
    return report
  }

  /// Tells what taking an import back would change, object by object; nothing is changed.
  ///
  /// It is tried in temporary copies.
  ///
  /// - Parameters:
  ///   - run: As for `undoImport(_:isDryRun:)`.
  ///   - changes: Called once an object, unless something is in the way.
  /// - Returns: What would be done, and what is in the way.
  /// - Throws: As `undoImport(_:isDryRun:)`; what `changes` throws.
  public func previewUndo(
    _ run: Int64? = nil,
    changes: (ImportChange) throws -> Void
  ) throws -> UndoReport {
    let report = try undoImport(run, isDryRun: true)
    guard report.isPossible, let number = report.run.id else { return report }
    try withoutActuallyEscaping(changes) { changes in
      try withFolder { folder in
        let (work, before, after) = (folder + "work.db", folder + "before.db", folder + "after.db")
        for copy in [work, before, after] { _ = try backup(to: copy) }
        let done = try SQLiteStore(at: .file(after))
        _ = try done.undoImport(number)
        try done.close()
        let copy = try SQLiteStore(at: .file(work))
        try copy.takeBack(report.run, telling: changes, lookingIn: [before, after])
        try copy.close()
      }
    }
    return report
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
    return try withFolder { folder in
      _ = try backup(to: folder + "copy.db")
      let copy = try SQLiteStore(at: .file(folder + "copy.db"))
      for entry in later.reversed() { _ = try copy.takeBack(entry) }
      let result = try body(copy)
      try copy.close()
      return result
    }
  }

  /// Lends a temporary folder, with `/` at its end.
  private func withFolder<T>(_ body: (String) throws -> T) throws -> T {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    do {
      return try body(folder.path + "/")
    } catch let error as StoreError {
      throw naming(error, inFolder: folder.path)
    }
  }

  /// What a copy refuses is a fault of the store that it is of, but for places where nothing can be written.
  private func naming(_ error: StoreError, inFolder folder: String) -> StoreError {
    let isOfPlace = [.full, .inputOutput, .output].contains(error.code)
    guard !isOfPlace, error.path?.hasPrefix(folder) == true else { return error }
    var named = error
    named.path = path
    return named
  }

  /// Tells what an import did, object by object, as far as it can be taken back.
  ///
  /// - Parameters:
  ///   - run: The import's number in `history()`.
  ///   - body: Called once an object.
  /// - Throws: As `withCopy(asOf:_:)`.
  public func changes(ofImport run: Int64, _ body: (ImportChange) throws -> Void) throws {
    guard let entry = try history().first(where: { $0.id == run }) else {
      throw ImportLedgerEntry.noSuchImport(run, try history())
    }
    let isEffective = try imports(behind: 0).contains { $0.id == run }
    guard isEffective else { return }
    // It is taken back unseen, and then done again.
    try withoutActuallyEscaping(body) { body in
      try withCopy(asOf: run) { copy in
        try withFolder { folder in
          _ = try copy.backup(to: folder + "after.db")
          let undo = try copy.takeBack(entry)
          _ = try copy.backup(to: folder + "before.db")
          let others = [folder + "before.db", folder + "after.db"]
          try copy.takeBack(undo, telling: body, lookingIn: others)
        }
      }
    }
  }

  /// The imports behind one, oldest first, that did something, or of which that is not known.
  private func imports(behind run: Int64) throws -> [ImportLedgerEntry] {
    let all = try history()
    guard run == 0 || all.contains(where: { $0.id == run }) else {
      throw ImportLedgerEntry.noSuchImport(run, all)
    }
    let empty = try Set(write { try $0.recordedRuns() }.filter(\.isEmpty).map(\.number))
    return all.filter { entry in
      guard let id = entry.id else { return false }
      return id > run && !empty.contains(id)
    }
  }

  /// Takes an import back in a copy, where nobody has to see that objects have other versions.
  ///
  /// - Parameter entry: The import.
  /// - Returns: The entry of what is done, which can be taken back itself.
  /// - Throws: `.undo` where something is in the way.
  private func takeBack(_ entry: ImportLedgerEntry) throws -> ImportLedgerEntry {
    try write { session in
      try session.begin()
      let recorder = try session.recorder(isWhole: false, limit: nil)
      defer { recorder?.stop() }
      var own = ImportLedgerEntry(undoing: entry, started: ImportClock.now())
      try session.record(&own)
      let number = own.id ?? 0
      let report = try session.takeBack(entry, raisesVersions: false) {
        try recorder?.keepIfFull()
      }
      try check(report)
      try recorder?.finish(as: number)
      try session.commit()
      return own
    }
  }

  /// Takes an import back in a copy, and tells what that changes.
  ///
  /// - Parameters:
  ///   - entry: The import.
  ///   - changes: Called once an object.
  ///   - others: Files of the states before and afterwards: rows change in any order, and what they refer to
  ///     is there in one of the two.
  /// - Throws: `.undo` where something is in the way; what `changes` throws.
  private func takeBack(
    _ entry: ImportLedgerEntry,
    telling changes: (ImportChange) throws -> Void,
    lookingIn others: [String]
  ) throws {
    try write { session in
      let names = try session.attach(others)
      try session.begin()
      let later = try session.annihilated(behind: entry)
      var log = try session.changeLog(lookingIn: names)
      var report = try session.takeBack(entry, after: later, raisesVersions: false)
      if !report.isPossible, !later.isEmpty {
        session.rollbackIfOpen()
        try session.begin()
        log = try session.changeLog(lookingIn: names)
        report = try session.takeBack(entry, raisesVersions: false)
      }
      try check(report)
      try log.drainNet(byKey: true) { change, _ in
        guard let change = ImportChange(change, isPruning: false, origin: nil) else { return }
        try changes(change)
      }
    }
  }

  private func check(_ report: UndoReport) throws(StoreError) {
    guard let first = report.conflicts.first else { return }
    let key = first.key?.parts.map { part in
      " \(part.path) \(part.attribute.isSensitive ? ForeignText.mask : part.value.summary)"
    }
    let object =
      first.entity
      + (key?.joined(separator: ",") ?? first.object.map { " _pk \($0.primaryKey)" } ?? "")
    let others = report.conflictCount - 1
    throw StoreError(
      .undo,
      "How it was before import \(report.run.id ?? 0) cannot be told: what the import wrote was changed since"
        + " by something that is not recorded, \(object)\(others > 0 ? " and \(others) more" : "").",
      path: path
    )
  }
}

extension ImportSession {
  /// The import of that number; nil: the last one that is not taken back.
  ///
  /// Whoever gives no number means the last import: where that one changed nothing, an earlier one is taken back by
  /// its number only.
  func entry(of run: Int64?) throws(StoreError) -> ImportLedgerEntry {
    guard let run else {
      let last = try lastLedgerEntry { $0.undoes == nil && $0.status != .undone }
      guard let last, let number = last.id else { throw ImportLedgerEntry.nothingToUndo(path) }
      let effective = Set(try recordedRuns().filter { !$0.isEmpty }.map(\.number))
      func changedSomething(_ entry: ImportLedgerEntry) -> Bool {
        entry.counts.changed > 0 || effective.contains(entry.id ?? 0)
      }
      if changedSomething(last) { return last }
      let earlier = try lastLedgerEntry { entry in
        entry.undoes == nil && entry.status != .undone && changedSomething(entry)
      }
      throw StoreError(
        .undo,
        "The last import, \(number), changed nothing that could be taken back.",
        help: earlier?.id.map {
          effective.contains($0)
            ? "the last one that did is \($0): take it back by its number"
            : "nothing is kept of \($0) either, the last one that did"
        },
        path: path
      )
    }
    guard let entry = try ledgerEntry(run) else { throw ImportLedgerEntry.noSuchImport(run, []) }
    if entry.status == .undone {
      throw StoreError(.undo, "Import \(run) is taken back already.", path: path)
    }
    return entry
  }

  /// The runs behind an import, the last one first, that come to nothing together: each is taken back by another one
  /// of them, or takes back another one.
  ///
  /// They have left nothing but versions. Whether others that stand have changed the same objects meanwhile is seen
  /// when they are taken back, row by row.
  fileprivate func annihilated(behind entry: ImportLedgerEntry) throws(StoreError) -> [Int64] {
    let first = entry.id ?? 0
    let runs = try recordedRuns().filter { $0.number > first }
    var later: [Int64: ImportLedgerEntry] = [:]
    for run in runs { later[run.number] = try ledgerEntry(run.number) }
    // A part of them, where the other is not recorded, has changed objects that others seem to have changed.
    let undone = Set(later.values.compactMap(\.undoes).filter { later[$0] != nil })
    return runs.filter { run in
      guard !run.isEmpty, let entry = later[run.number] else { return false }
      return entry.status == .undone
        ? undone.contains(run.number) : entry.undoes.map(undone.contains) == true
    }.map(\.number)
  }

  /// Refuses an import that still runs; what one in batches has kept to go on with is worth nothing once it is
  /// taken back.
  func checkIsOver(_ entry: ImportLedgerEntry) throws {
    let run = entry.id ?? 0
    for name in try keptRunNames() {
      let kept = try keptRun(named: name).flatMap { try? ImportRunState($0) }
      guard kept?.ledger == run else { continue }
      if try isRunning(name, kept?.mark) { throw isUnderWay(run, kept?.mark) }
      try dropRun(named: name)
    }
    if let mark = try recordingMark(of: run) { throw isUnderWay(run, mark) }
  }

  private func isUnderWay(_ run: Int64, _ mark: RunMark?) -> StoreError {
    // On a server it may be on another machine.
    let place = keepsSeveralRuns ? nil : mark.map { ", as process \($0.process)" }
    return StoreError(
      .busy,
      "Import \(run) is still running\(place ?? "").",
      help: "wait for its end, or stop it",
      path: path
    )
  }
}

extension ImportLedgerEntry {
  fileprivate static func nothingToUndo(_ path: String?) -> StoreError {
    StoreError(.undo, "There is no import that could be taken back.", path: path)
  }

  fileprivate static func noSuchImport(_ run: Int64, _ all: [ImportLedgerEntry]) -> StoreError {
    StoreError(
      .badRequest,
      "There is no import \(run).",
      help: all.last?.id.map { "the last one is \($0)" } ?? "the history has their numbers"
    )
  }
}
