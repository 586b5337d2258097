import DragomanGraph
import Foundation
import Logging

/// One import on the writing thread: transactions, batches in order, the ledger, the report.
final class ImportWriting {
  /// What is done before the database is locked.
  private let preparation: ImportPreparation
  private let code: ImportCode
  private let cancellation: Cancellation
  private let logger: Logger
  private let progress: (ImportProgress) -> Void
  private let start = ContinuousClock().now
  private let notices = NoticeLog()
  private let retried = RetriedLines()
  private var commit: ImportMap.ImportOptions.Commit
  private var walker: DraftWalker<RowBackend>?
  private var pruned = 0
  private var rejects: RejectsFile?
  /// The file whose rejects are imported again, in place of `rejects`.
  private var retry: RejectsRewriting?
  private var committed = 0
  private var byteCount = 0
  /// The records so far, for who may have to go on behind them.
  private var records = FeedHash()
  /// A hash of the store's model.
  private var modelHash = ""
  /// Who this import is, where it keeps in the store what it knows.
  private var mark: RunMark?
  /// What is recorded so that it can be taken back.
  private var recorder: RunRecorder?

  /// The map, with what its contract makes of it.
  private var map: ImportMap { preparation.map }
  /// The request, with files in place of URLs.
  private var request: ImportRequest { preparation.request }

  /// Records a batch.
  ///
  /// A transaction that holds everything is not cut into batches of the user's size.
  private var batchSize: Int {
    commit == .batch ? request.options.batchSize ?? map.importOptions.batchSize ?? 1000 : 4096
  }

  init(
    map: ImportMap,
    code: ImportCode,
    request: ImportRequest,
    cancellation: Cancellation,
    logger: Logger,
    progress: @escaping (ImportProgress) -> Void
  ) {
    preparation = ImportPreparation(map, code, request, cancellation, logger)
    self.code = code
    self.cancellation = cancellation
    self.logger = logger
    self.progress = progress
    commit =
      request.retriedFile == nil ? request.options.commit ?? map.importOptions.commit ?? .all : .all
  }

  /// Imports everything into the session's store.
  ///
  /// - Returns: The status that the import ended with.
  /// - Throws: `ReadError`, `StoreError`, `MapFaults` or `ImportError`; what was not committed is
  ///   rolled back by the session.
  func run(_ session: WriteSession) throws -> ImportReport.Status {
    defer {
      mark?.end()
      recorder?.stop()
    }
    do {
      let status = try importAll(session)
      try flushRejects()
      return status
    } catch {
      // The cause is what the run ends with; of rejects that cannot be written a notice tells.
      do {
        // Counts and rejects are those of all records so far, as long as the store has not failed. Who stops an
        // import waits for no index.
        if !cancellation.isCancelled, !(error is StoreError) { try walker?.endLoads(nil) }
        try flushRejects()
      } catch let other {
        if (error as? ImportError)?.code != .inputOutput { notices.add("\(other)") }
      }
      throw error
    }
  }

  private func importAll(_ session: WriteSession) throws -> ImportReport.Status {
    try checkRequest()
    try map.checkPaths()
    try code.checkNoHooks()
    guard try preparation.run(session) else { return .cancelled }
    if let since = preparation.unchangedSince { return try finishUnchanged(session, since) }
    try session.begin()
    try preparation.check(session)
    let earlier = try findEarlierPart(session)
    let model = try session.grow(to: code.model ?? map.model())
    if let path = request.retriedFile {
      // Whether it can be read is told first.
      _ = try RejectLines(path)
      retry = request.isDryRun ? nil : try RejectsRewriting(path, retried)
    } else {
      rejects = try makeRejectsFile(beside: session.path)
    }
    try prepareKeeping(session, earlier)
    try startRecording(session)
    let backend = RowBackend(
      session: session,
      request: request,
      changeLog: request.changes == nil ? nil : try session.changeLog(),
      pruner: request.prune == nil ? nil : try session.pruner(),
      // A batch that is committed has its indexes.
      mayLoad: commit == .all
    )
    let walker = DraftWalker(
      backend,
      mode: request.mode,
      maximumRejects: request.options.maximumRejects ?? map.importOptions.maximumRejects,
      rejects: retry ?? rejects
    )
    self.walker = walker
    var entry = earlier?.entry ?? makeLedgerEntry()

    let queue = startReading(model, passing: earlier?.state.passed ?? 0)
    defer { queue.stop() }
    if let earlier { try skip(earlier, queue, walker) }
    while let batch = try queue.next(unless: cancellation) {
      request.observer?.see(batch)
      do {
        try apply(batch, walker, session)
      } catch  where cancellation.isCancelled {
        try cancel(session, &entry)
        return .cancelled
      }
      if session.keepsRun { records.add(batch.records) }
      byteCount = batch.consumedByteCount
      let isStrange = batch.isStrange
      queue.reuse(batch)
      // Whatever ends the run now, the rejects so far are in the file.
      try flushRejects()
      // Of an input that may prove to be another map's nothing is kept.
      if commit == .batch && !request.isDryRun && !isStrange {
        try commitBatch(session, &entry)
        try session.begin()
      } else if recorder?.isFull == true {
        try session.record(&entry)
        if let id = entry.id { try recorder?.keep(as: id) }
      }
      progress(currentProgress)
    }
    do {
      try session.interruptible(
        when: { [cancellation] in cancellation.isCancelled },
        {
          try walker.finish(unless: cancellation)
          if let rule = request.prune, !cancellation.isCancelled { try prune(rule, walker) }
          try backend.tellNet()
          // What the end does is done whole.
          if cancellation.isCancelled { throw CancellationError() }
        }
      )
    } catch  where cancellation.isCancelled {
      try cancel(session, &entry)
      return .cancelled
    }
    return try finish(session, &entry)
  }

  /// Writes a batch.
  ///
  /// In one transaction it is ended in the middle where it is asked to stop: it may make indexes, which takes seconds.
  private func apply(
    _ batch: DraftBatch,
    _ walker: DraftWalker<RowBackend>,
    _ session: WriteSession
  ) throws {
    guard commit == .all else { return try walker.apply(batch) }
    try session.interruptible(
      when: { [cancellation] in cancellation.isCancelled },
      { try walker.apply(batch) }
    )
  }

  private func prune(_ rule: ImportRequest.Prune, _ walker: DraftWalker<RowBackend>) throws {
    if let absent = notices.absentSources.first {
      throw ImportError(
        .prune,
        "The source \(absent) matched nothing: pruning would delete what it should have brought."
      )
    }
    let outcome = try walker.backend.prune(rule, after: walker.counts)
    pruned = outcome.count
    for notice in outcome.notices { notices.add(notice) }
  }

  /// What was done so far.
  var report: ImportReport {
    var report = walker?.report() ?? ImportReport()
    report.pruned = pruned
    report.committed = committed
    report.byteCount = byteCount
    report.notices = notices.all
    report.unmatchedPaths = notices.unmatchedPaths
    report.drift = preparation.contract?.drift
    report.duration = ContinuousClock().now - start
    report.isDryRun = request.isDryRun
    return report
  }

  // MARK: - Beginning

  private func checkRequest() throws(ImportError) {
    if request.inputs.isEmpty { throw ImportError(.request, "There is nothing to import.") }
    guard (1...1_000_000).contains(batchSize) else {
      throw ImportError(.request, "A batch has 1 to 1,000,000 records, not \(batchSize).")
    }
    if request.prune != nil, request.limit != nil {
      throw ImportError(.prune, "A limited import is not complete, and cannot prune.")
    }
    if request.resumes, request.isDryRun || request.options.commit == .all {
      throw ImportError(
        .request,
        "What is to be resumed is an import in batches: no dry run, and not one transaction."
      )
    }
    if let size = request.options.maximumRecordByteCount, !RecordLimit.range.contains(size) {
      throw ImportError(.request, "A record may take 1 MB to 1 GB of memory, not \(size) bytes.")
    }
    if request.retriedFile != nil,
      request.inputs.count > 1 || request.prune != nil || request.limit != nil || request.resumes
        || request.options.commit == .batch
    {
      throw ImportError(
        .request,
        "Rejects are imported again for themselves and as a whole: one file, in one transaction, without pruning."
      )
    }
    if let size = request.maximumInputByteCount, size < 1 {
      throw ImportError(.request, "An input has 1 byte or more, not at most \(size).")
    }
    if let limit = request.limit, limit < 0 {
      throw ImportError(.request, "The limit is a number of records, not \(limit).")
    }
  }

  /// The request's file, or the map's beside the map; a dry run writes none.
  private func makeRejectsFile(beside database: String?) throws(ImportError) -> RejectsFile? {
    guard !request.isDryRun else { return nil }
    guard let path = request.options.rejectsFile ?? map.rejectsPath else { return nil }
    var kept = OutputPlace.Kept.database(database)
    if let file = map.file { kept.append(OutputPlace.Kept(file, as: "the map")) }
    for input in request.inputs {
      switch input {
      case .file(let path): kept.append(OutputPlace.Kept(path, as: "an input"))
      case .standardInput: kept.append(OutputPlace.Kept("/dev/stdin", as: "an input"))
      case .bytes, .records, .rejects, .url, .opened: break
      }
    }
    return try RejectsFile(path: path, besides: kept)
  }

  /// Writes the rejects so far; a run that has read nothing leaves the file alone.
  private func flushRejects() throws {
    guard let walker, walker.counts.read > 0 else { return }
    try rejects?.flush()
  }

  private func startReading(_ model: Model, passing committedCount: Int) -> BatchQueue<DraftBatch> {
    let queue = BatchQueue<DraftBatch>()
    let reading = FeedReading(
      map: map,
      code: code,
      model: model,
      request: request,
      queue: queue,
      cancellation: cancellation,
      batchSize: batchSize,
      committedCount: committedCount,
      notices: notices,
      retried: retried,
      logger: logger
    )
    WorkThread.start("dragoman.read") { reading.run() }
    return queue
  }

  private func makeLedgerEntry() -> ImportLedgerEntry {
    ImportLedgerEntry(
      source: preparation.asked.inputs.map(\.name).joined(separator: " "),
      fingerprint: request.inputs.map(\.fingerprint).joined(separator: " "),
      map: preparation.ledgerName,
      mapHash: preparation.declaredMap.fingerprint,
      started: ImportClock.now()
    )
  }

  // MARK: - Going on with an earlier import

  /// Begins to record what is done, where that is wanted.
  private func startRecording(_ session: WriteSession) throws {
    guard !request.isDryRun, request.recording != .never else { return }
    let limit = request.recording == .always ? nil : WriteSession.recordedRowCount
    recorder = try session.recorder(isWhole: commit == .all, limit: limit)
    if recorder == nil, request.recording == .always {
      notices.add(
        "the SQLite of this system cannot record what an import does: it cannot be taken back"
      )
    }
  }

  /// The part of this import that is committed, where it is to be gone on with.
  private func findEarlierPart(_ session: WriteSession) throws -> EarlierPart? {
    guard request.resumes else { return nil }
    guard let earlier = try EarlierPart(session, of: preparation.declaredMap, preparation.asked)
    else {
      notices.add("there is nothing to resume: no import in batches was stopped; all is imported")
      return nil
    }
    commit = .batch
    return earlier
  }

  /// Prepares the store for what this import keeps there until its end.
  private func prepareKeeping(_ session: WriteSession, _ earlier: EarlierPart?) throws {
    guard !request.isDryRun else { return }
    if earlier == nil {
      // What cannot be read is nobody's who runs. Where another import is under way, only that one can be
      // resumed.
      if let kept = try session.keptRun(), (try? ImportRunState(kept))?.mark.isRunning == true {
        return
      }
      try session.dropRun()
    }
    guard commit == .batch else { return }
    try session.keepRun()
    mark = RunMark()
    modelHash = try session.storedModel().map(FeedHash.text) ?? ""
    if let byteCount = earlier?.state.rejectsByteCount, let rejects,
      !rejects.goOn(behind: byteCount, earlier?.state.rejectsHash)
    {
      notices.add("the rejects file has only the rejects behind those that were committed")
    }
  }

  /// Reads over what is committed.
  private func skip(
    _ earlier: EarlierPart,
    _ queue: BatchQueue<DraftBatch>,
    _ walker: DraftWalker<RowBackend>
  ) throws {
    committed = earlier.entry.committed
    while walker.ordinal < earlier.state.passed,
      let batch = try queue.next(unless: cancellation)
    {
      try walker.skip(batch, holding: earlier.kept.held)
      records.add(batch.records)
      byteCount = batch.consumedByteCount
      queue.reuse(batch)
      progress(currentProgress)
    }
    if !cancellation.isCancelled { try earlier.check(walker.ordinal, records.value) }
    walker.goOn(behind: earlier)
    notices.add("went on behind \(earlier.state.passed) records that were read earlier")
  }

  /// Writes down how far the import is.
  private func keep(_ session: WriteSession, _ entry: ImportLedgerEntry) throws {
    guard let mark, let ledger = entry.id else { return }
    let report = self.report
    let state = ImportRunState(
      mark: mark,
      ledger: ledger,
      inputs: preparation.asked.inputs.map(\.name),
      options: preparation.asked.fingerprint,
      model: modelHash,
      passed: walker?.ordinal ?? 0,
      records: records.value,
      rejectsByteCount: (rejects?.byteCount).map { Int($0) },
      rejectsHash: rejects?.hash.value,
      entities: report.entities,
      relationships: report.relationships,
      issues: report.issues.map {
        .init(code: $0.code.rawValue, entity: $0.entity, attribute: $0.attribute, count: $0.count)
      }
    )
    try session.keep(state: String(decoding: try JSONEncoder().encode(state), as: UTF8.self))
  }

  // MARK: - Commits

  /// Ends an import whose feeds are as they were: nothing is written but the ledger.
  private func finishUnchanged(
    _ session: WriteSession,
    _ since: WriteSession.KeptDownload
  ) throws -> ImportReport.Status {
    notices.add("unchanged since import \(since.run), of \(since.started.prefix(19)) UTC")
    try session.begin()
    var entry = makeLedgerEntry()
    entry.status = .done
    entry.finished = ImportClock.now()
    try session.record(&entry)
    try session.commit()
    return .done
  }

  private func commitBatch(
    _ session: WriteSession,
    _ entry: inout ImportLedgerEntry
  ) throws {
    // What is committed must not be missing from the rejects, so they are written first.
    try rejects?.flush()
    entry.counts = report.counts
    entry.committed = entry.counts.read
    entry.byteCount = byteCount
    try session.record(&entry)
    try preparation.keep(entry, session)
    if entry.status == .running { try keep(session, entry) }
    if let id = entry.id, let recorder {
      if entry.status == .running {
        try recorder.keep(as: id)
      } else {
        try recorder.finish(as: id, hasCounts: entry.counts.changed > 0)
      }
      if recorder.isOver {
        notices.add(
          "more than \(WriteSession.recordedRowCount) rows changed: the import cannot be taken back"
        )
        self.recorder = nil
      }
    }
    try session.commit()
    committed = entry.committed
    logger.debug("committed", metadata: ["records": "\(committed)"])
  }

  private func finish(
    _ session: WriteSession,
    _ entry: inout ImportLedgerEntry
  ) throws -> ImportReport.Status {
    entry.status = .done
    entry.finished = ImportClock.now()
    if request.isDryRun {
      session.rollbackIfOpen()
    } else {
      if session.keepsRun { try session.dropRun() }
      try commitBatch(session, &entry)
      // What went in stands in the file until now: a retry that is stopped here finds it unchanged.
      try retry?.finish()
    }
    return report.counts.rejected > 0 ? .rejected : .done
  }

  /// Undoes what is not committed; of what is, the ledger says that it was stopped.
  private func cancel(_ session: WriteSession, _ entry: inout ImportLedgerEntry) throws {
    session.rollbackIfOpen()
    guard entry.id != nil else { return }
    entry.status = .cancelled
    entry.finished = ImportClock.now()
    try session.begin()
    try session.record(&entry)
    try session.commit()
  }

  // MARK: - Progress

  private var currentProgress: ImportProgress {
    ImportProgress(
      counts: walker?.counts ?? .init(),
      byteCount: byteCount,
      totalByteCount: totalByteCount,
      duration: ContinuousClock().now - start
    )
  }

  private lazy var totalByteCount: Int? = request.inputs.reduce(0) { (total: Int?, input) in
    guard let total, let count = input.byteCount else { return nil }
    return total + count
  }
}
