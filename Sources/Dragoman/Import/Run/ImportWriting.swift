import DragomanGraph
import Foundation
import Logging

/// One import on the writing thread: transactions, batches in order, the ledger, the report.
///
/// Large because it is the import from end to end: what was asked, what it writes to, and what it has counted
/// so far.
final class ImportWriting<Sink: ImportSink> {
  private let sink: Sink
  private var session: Sink.Session { sink.session }
  /// What is done before the database is locked.
  private let preparation: ImportPreparation
  private let code: ImportCode
  private let cancellation: Cancellation
  private let logger: Logger
  private let progress: (ImportProgress) -> Void
  private let start = ContinuousClock().now
  private let notices = NoticeLog()
  /// What is to be told once this import has committed anything: of stopped ones that it ends, or that there are none to
  /// go on with.
  private var lateNotices: [String] = []
  private let retried = RetriedLines()
  private var commit: ImportMap.ImportOptions.Commit
  private var walker: DraftWalker<Sink.Backend>?
  private var pruning: FeedPruning?
  private var pruned = 0
  private var rejects: ImportRejects?
  private var committed = 0
  /// The number of the committed row of the ledger.
  private var ledgerNumber: Int64?
  private var byteCount = 0
  /// Whether the reader has come to its end, and all that it has read was taken.
  private var hasRead = false
  /// What it keeps in the store, for one that goes on with it.
  private var keeper: RunKeeper?
  /// What is recorded so that it can be taken back.
  private var recording: ImportRecording?

  /// The other partitions of this import at its end.
  private enum Partitions: Equatable {
    /// All are through, or there are none: the names of what they have kept.
    case all([String])
    /// Others are still to come: references wait for them.
    case awaited
  }

  /// The map, with what its contract makes of it.
  private var map: ImportMap { preparation.map }
  /// The request, with files in place of URLs.
  private var request: ImportRequest { preparation.request }

  /// Records a batch.
  ///
  /// A transaction that holds everything is not cut into batches of the user's size.
  private var batchSize: Int {
    commit == .batch
      ? request.options.batchSize ?? map.importOptions.batchSize ?? 1000 : request.wholeBatchSize
  }

  init(
    _ sink: Sink,
    map: ImportMap,
    code: ImportCode,
    request: ImportRequest,
    cancellation: Cancellation,
    logger: Logger,
    progress: @escaping (ImportProgress) -> Void
  ) {
    self.sink = sink
    preparation = ImportPreparation(map, code, request, cancellation, logger)
    self.code = code
    self.cancellation = cancellation
    self.logger = logger
    self.progress = progress
    // Partitions write beside each other: none may hold others up until its end.
    let usual = request.partition == nil ? ImportMap.ImportOptions.Commit.all : .batch
    commit =
      request.retriedFile == nil
      ? request.options.commit ?? map.importOptions.commit ?? usual : .all
  }

  /// Imports everything into the session's store.
  ///
  /// - Returns: The status that the import ended with.
  /// - Throws: `ReadError`, `StoreError`, `MapFaults` or `ImportError`; what was not committed is
  ///   rolled back by the session.
  func run() throws -> ImportReport.Status {
    defer {
      keeper?.end()
      recording?.stop()
    }
    do {
      let status = try importAll()
      try flushRejects()
      if status == .cancelled { keepRejectsEnd() }
      return status
    } catch {
      // The cause is what the run ends with; of rejects that cannot be written a notice tells.
      do {
        // Counts and rejects are those of all records so far, as long as the store has not failed. Who stops an
        // import waits for no index.
        if !cancellation.isCancelled, !(error is StoreError) { try walker?.settleBroken() }
        try flushRejects()
        if !(error is StoreError) { keepRejectsEnd() }
      } catch let other {
        if (error as? ImportError)?.code != .inputOutput { notices.add("\(other)") }
      }
      throw error
    }
  }

  /// The import in its order: what is asked is checked, the store is opened for it, batches are written, and what
  /// waits for the end is done.
  private func importAll() throws -> ImportReport.Status {
    try request.check(batchSize: batchSize, commit: commit)
    try preparation.checkDivisible()
    try map.checkPaths()
    try code.checkNoHooks()
    try sink.check(preparation.asked)
    guard try preparation.run(session) else { return .cancelled }
    if let since = preparation.unchangedSince { return try finishUnchanged(since) }

    let earlier: EarlierPart?
    do {
      earlier = try begin()
    } catch let error as StoreError where error.code == .busy && cancellation.isCancelled {
      return .cancelled
    }
    let model = try session.grow(to: code.model ?? map.model())
    let walker = try prepareWriting(behind: earlier)
    var entry = earlier?.entry ?? makeLedgerEntry()

    let queue = startReading(model, passing: earlier?.state.passed ?? 0)
    defer { queue.stop() }
    guard
      try writeBatches(of: queue, walker, behind: earlier, &entry),
      let gathered = try writeEnd(walker, entry)
    else {
      try cancel(&entry)
      return .cancelled
    }
    return try finish(&entry, gathered)
  }

  /// Writes batch after batch, and commits those that may be.
  ///
  /// - Returns: Whether all were written; else it was asked to stop in the middle of one.
  private func writeBatches(
    of queue: BatchQueue<DraftBatch>,
    _ walker: DraftWalker<Sink.Backend>,
    behind earlier: EarlierPart?,
    _ entry: inout ImportLedgerEntry
  ) throws -> Bool {
    let shares =
      commit == .batch && !request.isDryRun && !map.hasContract && sink.mayShare(request)
    if commit == .all || request.isDryRun { sink.lookAhead { queue.following } }
    if let earlier {
      if shares { try session.share() }
      try skip(earlier, queue, walker)
    }
    while let batch = try next(queue) {
      // The tables are there by now, and the feed can be read.
      if shares { try session.share() }
      // Others may write while the next batch is on its way.
      try session.beginIfNeeded()
      try keeper?.check(session)
      byteCount = batch.consumedByteCount
      let earlierCount = walker.ordinal
      do {
        try apply(batch, walker)
      } catch  where cancellation.isCancelled {
        return false
      }
      request.observer?.see(batch)
      keeper?.see(batch)
      let isStrange = batch.isStrange
      queue.reuse(batch)
      // Whatever ends the run now, the rejects so far are in the file.
      try flushRejects()
      // Of an input that may prove to be another map's nothing is kept.
      if sink.mayCommit(walker) {
        try sink.flush()
        // A feed without records is no batch: what it ends with may refuse it.
        let isWhole = commit == .batch && !isStrange && walker.ordinal > earlierCount
        if isWhole && !request.isDryRun {
          try commitBatch(&entry)
        } else {
          if isWhole { try session.checkLinks() }
          try recording?.keepIfFull()
        }
      }
      progress(currentProgress)
    }
    return true
  }

  /// Does what waits for the end of the feeds: references are resolved, and what is no longer in them is pruned.
  ///
  /// - Returns: What there is of other partitions; nil: it was asked to stop.
  private func writeEnd(
    _ walker: DraftWalker<Sink.Backend>,
    _ entry: ImportLedgerEntry
  ) throws -> Partitions? {
    try session.beginAlone()
    try keeper?.check(session)
    let gathered = try sink.gather(
      walker,
      preparation.asked,
      preparation.declaredMap,
      keeper?.recordsHash,
      entry
    )
    do {
      try sink.interruptible(
        when: { [cancellation] in cancellation.isCancelled },
        {
          try walker.finish(unless: cancellation, isLast: gathered != nil)
          // What the store would refuse is told, by a dry run too.
          try sink.flush()
          if let rule = request.prune, !cancellation.isCancelled { try prune(rule, walker) }
          try sink.tellNet()
          // What the end does is done whole.
          if cancellation.isCancelled { throw CancellationError() }
        }
      )
    } catch  where cancellation.isCancelled {
      return nil
    }
    return gathered.map(Partitions.all) ?? .awaited
  }

  /// The next batch; nil at the end.
  private func next(_ queue: BatchQueue<DraftBatch>) throws -> DraftBatch? {
    do {
      let batch = try queue.next(unless: cancellation)
      if batch == nil { hasRead = !cancellation.isCancelled }
      return batch
    } catch {
      hasRead = true
      throw error
    }
  }

  /// Writes a batch.
  ///
  /// In one transaction it is ended in the middle where it is asked to stop: it may make indexes, which takes seconds.
  private func apply(
    _ batch: DraftBatch,
    _ walker: DraftWalker<Sink.Backend>
  ) throws {
    guard commit == .all else { return try walker.apply(batch) }
    try sink.interruptible(
      when: { [cancellation] in cancellation.isCancelled },
      { try walker.apply(batch) }
    )
  }

  private func prune(_ rule: ImportRequest.Prune, _ walker: DraftWalker<Sink.Backend>) throws {
    if let absent = notices.absentSources.first {
      throw ImportError(
        .prune,
        "The source \(absent) matched nothing: pruning would delete what it should have brought."
      )
    }
    guard let pruning else { return }
    let outcome = try sink.prune(pruning, rule, after: walker.tally.counts)
    pruned = outcome.count
    for notice in outcome.notices { notices.add(notice) }
  }

  /// What was done so far.
  var report: ImportReport {
    var report = walker?.tally.report() ?? ImportReport()
    report.number = ledgerNumber
    report.pruned = pruned
    report.committed = committed
    report.byteCount = byteCount
    report.notices = notices.all
    // How far the reader was ahead of an import that broke off is chance.
    report.unmatchedPaths = hasRead ? notices.unmatchedPaths : []
    report.drift = preparation.contract?.drift
    report.duration = ContinuousClock().now - start
    report.isDryRun = request.isDryRun
    return report
  }

  // MARK: - Beginning

  /// Begins the transaction, when nobody else is importing in batches.
  ///
  /// - Returns: The part of this import that is committed, where it is to be gone on with.
  private func begin() throws -> EarlierPart? {
    if commit == .batch, !request.isDryRun {
      session.waitForOthers { [cancellation] in !cancellation.isCancelled }
    }
    try session.begin { [cancellation] in cancellation.isCancelled }
    try preparation.check(session)
    return try findEarlierPart()
  }

  /// Makes what batches are written by, and what is kept beside the objects.
  private func prepareWriting(behind earlier: EarlierPart?) throws -> DraftWalker<Sink.Backend> {
    let rejects = try ImportRejects(
      request,
      map,
      retried,
      beside: session.path,
      cancellation,
      notices
    )
    self.rejects = rejects
    keeper = try RunKeeper(
      session,
      preparation.asked,
      commit,
      by: preparation.ledgerName,
      behind: earlier,
      &lateNotices
    )
    if let earlier { try rejects.goOn(behind: earlier.state) }
    let ledger = earlier?.state.ledger
    recording = try ImportRecording(session, request, commit, behind: ledger, notices)
    pruning = request.prune == nil ? nil : try FeedPruning(session)
    let walker = DraftWalker(
      try sink.makeBackend(request, pruning, isWhole: commit == .all),
      mode: request.mode,
      maximumRejects: request.maximumRejects(by: map),
      maximumWaitingByteCount: request.maximumWaitingByteCount(by: map),
      rejects: rejects.output
    )
    self.walker = walker
    return walker
  }

  /// Writes the rejects so far; a run that has read nothing, and commits nothing, leaves the file alone.
  private func flushRejects(beforeCommit commits: Bool = false) throws {
    guard let rejects, let walker, commits || walker.tally.counts.read > 0 else { return }
    try rejects.flush()
  }

  /// Keeps what the rejects file is left as; where that fails, one who goes on does not know it, and keeps all lines.
  private func keepRejectsEnd() {
    guard let file = rejects?.leftFile else { return }
    do {
      try keeper?.keep(end: file, session)
    } catch {
      logger.debug("the end of the rejects file is not kept", metadata: ["error": "\(error)"])
    }
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
    let part = preparation.asked.partition.map { " (partition \($0))" } ?? ""
    return ImportLedgerEntry(
      source: (preparation.asked.sourceName
        ?? preparation.asked.inputs.map(\.name).joined(separator: " ")) + part,
      fingerprint: request.inputs.map(\.fingerprint).joined(separator: " "),
      map: preparation.ledgerName,
      mapHash: preparation.declaredMap.fingerprint,
      started: ImportClock.now()
    )
  }

  // MARK: - Going on with an earlier import

  /// The part of this import that is committed, where it is to be gone on with.
  private func findEarlierPart() throws -> EarlierPart? {
    guard request.resumes else { return nil }
    guard let earlier = try EarlierPart(session, of: preparation.declaredMap, preparation.asked)
    else {
      let reason = try EarlierPart.absence(session, of: makeLedgerEntry())
      // Of an import that is refused yet it would not be true.
      lateNotices.append("there is nothing to resume: \(reason); all is imported")
      return nil
    }
    commit = .batch
    return earlier
  }

  /// Reads over what is committed.
  private func skip(
    _ earlier: EarlierPart,
    _ queue: BatchQueue<DraftBatch>,
    _ walker: DraftWalker<Sink.Backend>
  ) throws {
    committed = earlier.entry.committed
    do {
      while walker.ordinal < earlier.state.passed,
        let batch = try queue.next(unless: cancellation)
      {
        try walker.skip(batch, holding: earlier.kept.held)
        keeper?.see(batch)
        byteCount = batch.consumedByteCount
        queue.reuse(batch)
        progress(currentProgress)
      }
      if !cancellation.isCancelled { try earlier.check(walker.ordinal, keeper?.recordsHash) }
    } catch {
      // Nothing of what was read over was imported: the counts say so.
      walker.tally.counts.read = 0
      throw error
    }
    walker.tally.goOn(behind: earlier)
    let records = MessageWords.count(earlier.state.passed, "record that was", "records that were")
    notices.add("went on behind \(records) read earlier")
  }

  // MARK: - Commits

  /// Ends an import whose feeds are as they were: nothing is written but the ledger.
  private func finishUnchanged(_ since: KeptDownload) throws -> ImportReport.Status {
    notices.add("unchanged since import \(since.run), of \(since.started.prefix(19)) UTC")
    try session.begin()
    recording = try ImportRecording(session, request, commit, behind: nil, notices)
    var entry = makeLedgerEntry()
    entry.finish()
    try session.record(&entry)
    try recording?.keep(entry)
    try session.commit()
    ledgerNumber = entry.id
    return .done
  }

  /// Commits; `parks` says that it is over, and its references wait for other partitions.
  private func commitBatch(_ entry: inout ImportLedgerEntry, parks: Bool = false) throws {
    // What is committed must not be missing from the rejects, so they are written first.
    try flushRejects(beforeCommit: true)
    let report = report
    entry.counts = report.counts
    entry.counts.deleted += pruned
    entry.committed = entry.counts.read
    entry.byteCount = byteCount
    try session.record(&entry)
    try preparation.keep(entry, changed: report.hasChanges || pruned > 0, session)
    if entry.status == .running || parks {
      try sink.keep()
      try keeper?.keep(
        entry,
        report,
        passed: walker?.ordinal ?? 0,
        rejects?.file,
        session,
        isParked: parks
      )
      try pruning?.flush()
    }
    try recording?.keep(entry)
    try session.commit()
    rejects?.didCommit()
    for notice in lateNotices { notices.add(notice) }
    lateNotices = []
    committed = entry.committed
    ledgerNumber = entry.id
    logger.debug("committed", metadata: ["records": "\(committed)"])
  }

  private func finish(
    _ entry: inout ImportLedgerEntry,
    _ partitions: Partitions
  ) throws -> ImportReport.Status {
    entry.finish()
    if request.isDryRun {
      try session.checkLinks()
      session.rollbackIfOpen()
    } else {
      if session.keepsRun, case .all(let runs) = partitions {
        try session.dropRun()
        for name in runs { try session.dropRun(named: name) }
      }
      try commitBatch(&entry, parks: partitions == .awaited)
      try rejects?.finishRetry()
    }
    return report.counts.rejected > 0 ? .rejected : .done
  }

  /// Undoes what is not committed; of what is, the ledger says that it was stopped.
  private func cancel(_ entry: inout ImportLedgerEntry) throws {
    session.rollbackIfOpen()
    // Of one transaction nothing is left to tell of.
    guard commit == .batch, entry.id != nil else { return }
    entry.finish(.cancelled)
    try session.begin()
    try session.record(&entry)
    try session.commit()
  }

  // MARK: - Progress

  private var currentProgress: ImportProgress {
    ImportProgress(
      counts: walker?.tally.counts ?? .init(),
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
