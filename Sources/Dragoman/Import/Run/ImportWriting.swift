import DragomanGraph
import Foundation
import Logging

/// One import on the writing thread: transactions, batches in order, the ledger, the report.
final class ImportWriting {
  private let map: ImportMap
  private let code: ImportCode
  private let request: ImportRequest
  private let cancellation: Cancellation
  private let logger: Logger
  private let progress: (ImportProgress) -> Void
  private let start = ContinuousClock().now
  private let notices = NoticeLog()
  private let commit: ImportMap.ImportOptions.Commit
  private let batchSize: Int
  private var walker: DraftWalker<RowBackend>?
  private var pruned = 0
  private var rejects: RejectsFile?
  private var committed = 0
  private var byteCount = 0

  /// A transaction that holds everything is not cut into batches of the user's size.
  private static let recordsOfUncommittedBatch = 4096

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
    self.request = request
    self.cancellation = cancellation
    self.logger = logger
    self.progress = progress
    commit = request.options.commit ?? map.importOptions.commit ?? .all
    batchSize =
      commit == .batch
      ? request.options.batchSize ?? map.importOptions.batchSize ?? 1000
      : Self.recordsOfUncommittedBatch
  }

  /// Imports everything into the session's store.
  ///
  /// - Returns: The status that the import ended with.
  /// - Throws: `ReadError`, `StoreError`, `MapFaults` or `ImportError`; what was not committed is
  ///   rolled back by the session.
  func run(_ session: WriteSession) throws -> ImportReport.Status {
    do {
      let status = try importAll(session)
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

  private func importAll(_ session: WriteSession) throws -> ImportReport.Status {
    try checkRequest()
    try map.checkPaths()
    try code.checkNoHooks()
    try session.begin()
    let model = try session.grow(to: code.model ?? map.model())
    rejects = try makeRejectsFile(beside: session.path)
    let backend = RowBackend(
      session: session,
      request: request,
      changeLog: request.changes == nil ? nil : try session.changeLog(),
      pruner: request.prune == nil ? nil : try session.pruner()
    )
    let walker = DraftWalker(
      backend,
      mode: request.mode,
      maximumRejects: request.options.maximumRejects ?? map.importOptions.maximumRejects,
      rejects: rejects
    )
    self.walker = walker
    var entry = makeLedgerEntry()

    let queue = startReading(model)
    defer { queue.stop() }
    while let batch = try queue.next(unless: cancellation) {
      try walker.apply(batch)
      byteCount = batch.consumedByteCount
      let isStrange = batch.isStrange
      queue.reuse(batch)
      // Whatever ends the run now, the rejects so far are in the file.
      try flushRejects()
      // Of an input that may prove to be another map's nothing is kept.
      if commit == .batch && !request.isDryRun && !isStrange {
        try commitBatch(session, &entry)
        try session.begin()
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
        }
      )
    } catch  where cancellation.isCancelled {
      // References that wait are those of records that come again when the import is repeated.
      session.rollbackIfOpen()
      if commit == .batch && !request.isDryRun { try session.begin() }
    }
    return try finish(session, &entry)
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
    if let size = request.options.maximumRecordByteCount, !RecordLimit.range.contains(size) {
      throw ImportError(.request, "A record may take 1 MB to 1 GB of memory, not \(size) bytes.")
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
      case .bytes, .records: break
      }
    }
    return try RejectsFile(path: path, besides: kept)
  }

  /// Writes the rejects so far; a run that has read nothing leaves the file alone.
  private func flushRejects() throws {
    guard let walker, walker.counts.read > 0 else { return }
    try rejects?.flush()
  }

  private func startReading(_ model: Model) -> BatchQueue {
    let queue = BatchQueue()
    let reading = FeedReading(
      map: map,
      code: code,
      model: model,
      request: request,
      queue: queue,
      cancellation: cancellation,
      batchSize: batchSize,
      notices: notices,
      logger: logger
    )
    Importer.thread("dragoman.read") { reading.run() }
    return queue
  }

  private func makeLedgerEntry() -> ImportLedgerEntry {
    ImportLedgerEntry(
      source: request.inputs.map(\.name).joined(separator: " "),
      fingerprint: request.inputs.map(\.fingerprint).joined(separator: " "),
      map: map.name ?? map.file ?? "",
      mapHash: map.fingerprint,
      started: ImportClock.now()
    )
  }

  // MARK: - Commits

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
    try session.commit()
    committed = entry.committed
    logger.debug("committed", metadata: ["records": "\(committed)"])
  }

  private func finish(
    _ session: WriteSession,
    _ entry: inout ImportLedgerEntry
  ) throws -> ImportReport.Status {
    let isCancelled = cancellation.isCancelled
    let isKept = !request.isDryRun && (!isCancelled || commit == .batch)
    entry.status = isCancelled ? .cancelled : .done
    entry.finished = ImportClock.now()
    if isKept {
      try commitBatch(session, &entry)
    } else {
      session.rollbackIfOpen()
    }
    if isCancelled { return .cancelled }
    return report.counts.rejected > 0 ? .rejected : .done
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
