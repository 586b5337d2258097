import DragomanGraph
import Foundation
import Logging

/// One import of feeds through a context of a stack, on the writing thread: for stores that have no rows in bulk.
///
/// It reads, maps and counts as `ImportWriting` does; what a draft means is the same walker's.
final class StackImporting {
  private let map: ImportMap
  private let code: ImportCode
  private let asked: ImportRequest
  private let cancellation: Cancellation
  private let logger: Logger
  private let progress: (ImportProgress) -> Void
  private let start = ContinuousClock().now
  private let notices = NoticeLog()
  private let commit: ImportMap.ImportOptions.Commit
  private var walker: DraftWalker<ObjectBackend>?
  private var rejects: RejectsFile?
  private var committed = 0
  private var byteCount = 0

  private var batchSize: Int {
    commit == .batch ? asked.options.batchSize ?? map.importOptions.batchSize ?? 1000 : 4096
  }

  init(
    map: ImportMap,
    code: ImportCode,
    request: ImportRequest,
    cancellation: Cancellation,
    logger: Logger,
    progress: @escaping (ImportProgress) -> Void
  ) {
    self.map = map
    self.code = code
    asked = request
    self.cancellation = cancellation
    self.logger = logger
    self.progress = progress
    commit = request.options.commit ?? map.importOptions.commit ?? .all
  }

  /// Imports everything into a stack.
  ///
  /// - Returns: The status that the import ended with.
  /// - Throws: `ReadError`, `StoreError`, `ContextError`, `MapFaults`, `ImportError`; what was not committed is
  ///   undone.
  func run(_ stack: Stack) throws -> ImportReport.Status {
    do {
      try asked.check(batchSize: batchSize)
      try map.checkPaths()
      try code.checkNoHooks()
      try checkAbilities()
      let status = try stack.withTransactions { try importAll($0) }
      try flushRejects()
      return status
    } catch {
      // The cause is what the run ends with; of rejects that cannot be written a notice tells.
      do {
        try flushRejects()
      } catch let other {
        if (error as? ImportError)?.code != .inputOutput { notices.add("\(other)") }
      }
      throw error
    }
  }

  /// Refuses what only files can do yet.
  private func checkAbilities() throws(ImportError) {
    let wanted =
      [
        ("pruning", asked.prune != nil), ("the differences of a dry run", asked.changes != nil),
        ("going on with an import that was stopped", asked.resumes),
        ("recording an import so that it can be taken back", asked.recording == .always),
        ("importing rejects again", asked.retriedFile != nil),
        ("a map's contract", map.hasContract),
      ].filter(\.1).map(\.0)
    guard !wanted.isEmpty else { return }
    throw ImportError(
      .request,
      "A database on a server cannot do this yet: \(wanted.joined(separator: ", ")).",
      help: "docs/scale.md says what it can do"
    )
  }

  private func importAll(_ transactions: ImportTransactions) throws -> ImportReport.Status {
    var request = asked
    if asked.hasURLs {
      do {
        request = try FeedDownloads(of: asked, by: map, unless: [], cancellation, logger).request
      } catch  where cancellation.isCancelled {
        return .cancelled
      }
    }
    rejects = try makeRejectsFile()
    try transactions.beginIfNeeded()
    try transactions.grow(to: map.model())
    let context = transactions.context
    let backend = ObjectBackend(context, code: code)
    let walker = DraftWalker(
      backend,
      mode: request.mode,
      maximumRejects: request.options.maximumRejects ?? map.importOptions.maximumRejects,
      rejects: rejects
    )
    self.walker = walker
    let isOutermost = context.finder.beginImport()
    defer { if isOutermost { context.finder.endImport() } }
    var entry = makeLedgerEntry(request)
    let queue = startReading(request, context.model)
    defer { queue.stop() }
    while let batch = try queue.next(unless: cancellation) {
      request.observer?.see(batch)
      try transactions.beginIfNeeded()
      try walker.apply(batch)
      byteCount = batch.consumedByteCount
      let isStrange = batch.isStrange
      queue.reuse(batch)
      try flushRejects()
      if !walker.isWaiting {
        // References that wait are unsaved until their target comes, and so is what has them.
        if commit == .batch && !request.isDryRun && !isStrange {
          try commitBatch(transactions, &entry)
        } else {
          try context.records.flush()
        }
      }
      progress(currentProgress)
    }
    if cancellation.isCancelled { return try cancel(transactions, &entry) }
    try transactions.beginIfNeeded()
    do {
      try walker.finish(unless: cancellation)
    } catch  where cancellation.isCancelled {
      return try cancel(transactions, &entry)
    }
    if request.isDryRun {
      // What the store would refuse is told.
      try context.records.flush()
      transactions.rollback()
    } else {
      entry.finish()
      try commitBatch(transactions, &entry)
    }
    return report.counts.rejected > 0 ? .rejected : .done
  }

  private func commitBatch(
    _ transactions: ImportTransactions,
    _ entry: inout ImportLedgerEntry
  ) throws {
    // What is committed must not be missing from the rejects, so they are written first.
    try rejects?.flush()
    entry.counts = report.counts
    entry.committed = entry.counts.read
    entry.byteCount = byteCount
    try transactions.commit(&entry)
    committed = entry.committed
    logger.debug("committed", metadata: ["records": "\(committed)"])
  }

  /// Undoes what is not committed; of what is, the ledger says that it was stopped.
  private func cancel(
    _ transactions: ImportTransactions,
    _ entry: inout ImportLedgerEntry
  ) throws -> ImportReport.Status {
    transactions.rollback()
    guard commit == .batch, entry.id != nil else { return .cancelled }
    transactions.context.rollback()
    entry.finish(.cancelled)
    try transactions.beginIfNeeded()
    try transactions.commit(&entry)
    return .cancelled
  }

  /// What was done so far.
  var report: ImportReport {
    var report = walker?.tally.report() ?? ImportReport()
    report.committed = committed
    report.byteCount = byteCount
    report.notices = notices.all
    report.unmatchedPaths = notices.unmatchedPaths
    report.duration = ContinuousClock().now - start
    report.isDryRun = asked.isDryRun
    return report
  }

  // MARK: - Beginning

  private func makeRejectsFile() throws(ImportError) -> RejectsFile? {
    guard !asked.isDryRun, let path = asked.options.rejectsFile ?? map.rejectsPath else {
      return nil
    }
    var kept: [OutputPlace.Kept] = []
    if let file = map.file { kept.append(OutputPlace.Kept(file, as: "the map")) }
    for case .file(let path) in asked.inputs {
      kept.append(OutputPlace.Kept(path, as: "an input"))
    }
    return try RejectsFile(path: path, besides: kept)
  }

  /// Writes the rejects so far; a run that has read nothing leaves the file alone.
  private func flushRejects() throws {
    guard let walker, walker.tally.counts.read > 0 else { return }
    try rejects?.flush()
  }

  private func startReading(_ request: ImportRequest, _ model: Model) -> BatchQueue<DraftBatch> {
    let queue = BatchQueue<DraftBatch>()
    let reading = FeedReading(
      map: map,
      code: code,
      model: model,
      request: request,
      queue: queue,
      cancellation: cancellation,
      batchSize: batchSize,
      committedCount: 0,
      notices: notices,
      retried: RetriedLines(),
      logger: logger
    )
    WorkThread.start("dragoman.read") { reading.run() }
    return queue
  }

  private func makeLedgerEntry(_ request: ImportRequest) -> ImportLedgerEntry {
    ImportLedgerEntry(
      source: asked.inputs.map(\.name).joined(separator: " "),
      fingerprint: request.inputs.map(\.fingerprint).joined(separator: " "),
      map: map.name ?? map.file ?? "",
      mapHash: map.fingerprint,
      started: ImportClock.now()
    )
  }

  private var currentProgress: ImportProgress {
    ImportProgress(
      counts: walker?.tally.counts ?? .init(),
      byteCount: byteCount,
      totalByteCount: totalByteCount,
      duration: ContinuousClock().now - start
    )
  }

  private lazy var totalByteCount: Int? = asked.inputs.reduce(0) { (total: Int?, input) in
    guard let total, let count = input.byteCount else { return nil }
    return total + count
  }
}
