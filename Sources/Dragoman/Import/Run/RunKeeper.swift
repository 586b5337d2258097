import DragomanGraph
import Foundation

/// Keeps in the store, with each batch, how far an import in batches has come, for one that goes on with it.
final class RunKeeper {
  private let request: ImportRequest
  /// Who this import is.
  private let mark: RunMark
  /// A hash of the store's model.
  private let modelHash: String
  /// The records so far.
  private var records = FeedHash()
  /// What was written down last.
  private var written: String?
  /// What that says; or what the part says that is gone on with.
  private var state: ImportRunState?

  /// Prepares the store for what an import keeps there until its end; nil where nothing is kept: by an import in
  /// one transaction, a dry run, a retry of rejects, or beside another one that keeps its own.
  ///
  /// - Parameters:
  ///   - session: The store, in an open transaction.
  ///   - request: The import.
  ///   - commit: How much of it is committed at once.
  ///   - map: What the ledger calls its map.
  ///   - earlier: The part that is gone on with.
  ///   - ended: Gets what is to be told, once this import has committed anything, of those that were stopped and end by
  ///     that.
  /// - Throws: `StoreError`; what reading back throws.
  init?(
    _ session: some ImportSession,
    _ request: ImportRequest,
    _ commit: ImportMap.ImportOptions.Commit,
    by map: String,
    behind earlier: EarlierPart?,
    _ ended: inout [String]
  ) throws {
    // Rejects that are mended in between leave one that was stopped alone.
    guard !request.isDryRun, request.retriedFile == nil else { return nil }
    if earlier == nil {
      for name in try session.keptRunNames() {
        // What cannot be read is nobody's who runs.
        let kept = try session.keptRun(named: name)
        let state = kept.flatMap { try? ImportRunState($0) }
        if try session.isRunning(name, state?.mark) {
          // Where there is one place only, only that import can be resumed.
          if session.keepsSeveralRuns { continue }
          return nil
        }
        // One that ended before its first commit has left its tables; what cannot be read nobody goes on with.
        guard let state else {
          if kept == nil || !session.keepsSeveralRuns { try session.dropRun(named: name) }
          continue
        }
        let entry = try session.ledgerEntry(state.ledger)
        let isReplaced = state.isReplaced(
          by: request,
          isSameMap: entry.map { hasSameBytes($0.map, map) } ?? false,
          keepsSeveral: session.keepsSeveralRuns
        )
        guard isReplaced else { continue }
        if let entry { try Self.giveUp(state, entry, session, &ended) }
        try session.dropRun(named: name)
      }
      if !session.keepsSeveralRuns { try session.endForgottenRuns() }
    }
    guard commit == .batch else { return nil }
    try session.claimRun(earlier?.kept.name)
    try session.keepRun()
    modelHash = try session.storedModel().map(FeedHash.text) ?? ""
    self.request = request
    mark = RunMark()
    state = earlier?.state
  }

  /// Says that an import which was stopped cannot be gone on with any more: in a notice, and in the ledger.
  private static func giveUp(
    _ state: ImportRunState,
    _ entry: ImportLedgerEntry,
    _ session: some ImportSession,
    _ ended: inout [String]
  ) throws {
    var entry = entry
    guard [.running, .stopped, .cancelled].contains(entry.status) else { return }
    entry.finish(entry.status == .cancelled ? .cancelled : .stopped)
    try session.record(&entry)
    ended.append(
      "import \(state.ledger) was stopped behind \(MessageWords.count(state.passed, "record")), and this one ends it: the"
        + " references and lists that it had kept for its end are gone, and it cannot be resumed any more"
    )
  }

  /// A hash of the records so far.
  var recordsHash: UInt64 { records.value }

  /// Makes sure that what was written down last stands there still.
  ///
  /// Needs an open transaction.
  /// - Throws: `StoreError`, `.busy`, where another process, which could not see that this import runs (in another
  ///   container, on another machine), has gone on with it or taken it back.
  func check(_ session: some ImportSession) throws {
    // On a server a lock keeps others away.
    guard let written, !session.keepsSeveralRuns else { return }
    guard try session.keptState().map({ hasSameBytes($0, written) }) != true else { return }
    throw StoreError(
      .busy,
      "Another process has gone on with this import, or taken it back, since its last batch was committed.",
      help:
        "let one process at a time import into a file: of one in another container nobody sees that it runs",
      path: session.path
    )
  }

  /// Sees the records of a batch.
  func see(_ batch: DraftBatch) { records.add(batch.records) }

  /// Writes down how far the import is: `passed` records are read, and the rejects so far are in their file; or that
  /// it is over, and its references wait for other partitions (`isParked`).
  func keep(
    _ entry: ImportLedgerEntry,
    _ report: ImportReport,
    passed: Int,
    _ rejects: RejectsFile?,
    _ session: some ImportSession,
    isParked: Bool = false
  ) throws {
    guard let ledger = entry.id else { return }
    let state = ImportRunState(
      mark: mark,
      ledger: ledger,
      inputs: request.inputs.map(\.name),
      partition: request.partition,
      isParked: isParked ? true : nil,
      mapHash: entry.mapHash,
      options: request.fingerprint,
      model: modelHash,
      passed: passed,
      records: records.value,
      rejectsByteCount: (rejects?.byteCount).map { Int($0) },
      rejectsHash: rejects?.hash.value,
      entities: report.entities,
      relationships: report.relationships,
      issues: report.issues.map {
        .init(code: $0.code.rawValue, entity: $0.entity, attribute: $0.attribute, count: $0.count)
      }
    )
    try write(state, session)
  }

  private func write(_ state: ImportRunState, _ session: some ImportSession) throws {
    let text = String(decoding: try JSONEncoder().encode(state), as: UTF8.self)
    try session.keep(state: text)
    written = text
    self.state = state
  }

  /// Writes down what the rejects file is left as, by an import that ends before its end: behind the lines that are
  /// committed it may have others.
  ///
  /// Commits that.
  func keep(end rejects: RejectsFile, _ session: some ImportSession) throws {
    guard var state, let byteCount = state.rejectsByteCount, off_t(byteCount) != rejects.byteCount
    else { return }
    session.rollbackIfOpen()
    try session.begin()
    try check(session)
    state.mark = mark
    state.leftByteCount = Int(rejects.byteCount)
    state.leftHash = rejects.hash.value
    try write(state, session)
    try session.commit()
  }

  /// The import has ended.
  func end() { mark.end() }
}
