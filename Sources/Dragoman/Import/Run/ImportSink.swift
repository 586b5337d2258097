import DragomanGraph

/// Where one import writes: rows of a file in bulk, or objects of a context on a server.
///
/// Everything else of an import is the same: `ImportWriting`.
protocol ImportSink: AnyObject {
  associatedtype Backend: DraftBackend
  associatedtype Session: ImportSession

  /// Transactions, the ledger, what is kept.
  var session: Session { get }

  /// Refuses what the store cannot do.
  func check(_ request: ImportRequest) throws(ImportError)
  /// Makes what drafts are written by, in the open transaction, once the store has grown.
  ///
  /// - Parameters:
  ///   - request: The import.
  ///   - pruning: What remembers what the feed has; nil: nothing is pruned.
  ///   - isWhole: Whether one transaction holds everything.
  /// - Returns: The backend.
  /// - Throws: `StoreError`.
  func makeBackend(
    _ request: ImportRequest,
    _ pruning: FeedPruning?,
    isWhole: Bool
  ) throws -> Backend
  /// Begins to record what is done, so that it can be taken back; nil: nothing is recorded.
  func record(
    _ request: ImportRequest,
    _ commit: ImportMap.ImportOptions.Commit,
    behind earlier: Int64?,
    _ notices: NoticeLog
  ) throws -> ImportRecording?

  /// Whether what was written so far can be committed for itself.
  func mayCommit(_ walker: DraftWalker<Backend>) -> Bool
  /// Puts what is not written yet into the open transaction.
  func flush() throws
  /// Ends a statement of `body` that runs when it is asked to stop, where the store can do that.
  func interruptible(when shouldStop: @escaping () -> Bool, _ body: () throws -> Void) throws
  /// Deletes what the feed does not have.
  ///
  /// - Returns: How many objects; and what was not, and why.
  func prune(
    _ pruning: FeedPruning,
    _ rule: ImportRequest.Prune,
    after counts: ImportLedgerEntry.Counts
  ) throws -> (count: Int, notices: [String])
  /// Tells whoever observes what the whole import came to.
  func tellNet() throws
}

/// A file.
final class RowSink: ImportSink {
  let session: WriteSession
  private var backend: RowBackend?

  init(_ session: WriteSession) { self.session = session }

  func check(_ request: ImportRequest) {}

  func makeBackend(
    _ request: ImportRequest,
    _ pruning: FeedPruning?,
    isWhole: Bool
  ) throws -> RowBackend {
    let made = RowBackend(
      session: session,
      request: request,
      changeLog: request.changes == nil ? nil : try session.changeLog(),
      pruning: pruning,
      // A batch that is committed has its indexes.
      mayLoad: isWhole
    )
    backend = made
    return made
  }

  func record(
    _ request: ImportRequest,
    _ commit: ImportMap.ImportOptions.Commit,
    behind earlier: Int64?,
    _ notices: NoticeLog
  ) throws -> ImportRecording? {
    try ImportRecording(session, request, commit, behind: earlier, notices)
  }

  func mayCommit(_ walker: DraftWalker<RowBackend>) -> Bool { true }

  func flush() {}

  func interruptible(when shouldStop: @escaping () -> Bool, _ body: () throws -> Void) throws {
    try session.interruptible(when: shouldStop, body)
  }

  func prune(
    _ pruning: FeedPruning,
    _ rule: ImportRequest.Prune,
    after counts: ImportLedgerEntry.Counts
  ) throws -> (count: Int, notices: [String]) {
    guard let backend else { return (0, []) }
    let outcome = try pruning.prune(rule, after: counts, with: { try backend.madeDeleter() })
    try backend.tell(isPruning: true, at: nil)
    return outcome
  }

  func tellNet() throws { try backend?.tellNet() }
}

/// A server.
final class ObjectSink: ImportSink {
  let session: ServerImport
  private let code: ImportCode

  init(_ session: ServerImport, _ code: ImportCode) {
    self.session = session
    self.code = code
  }

  func check(_ request: ImportRequest) throws(ImportError) {
    let wanted = [
      ("the differences of a dry run", request.changes != nil),
      ("recording an import so that it can be taken back", request.recording == .always),
    ].filter(\.1).map(\.0)
    guard !wanted.isEmpty else { return }
    throw ImportError(
      .request,
      "A database on a server cannot do this yet: \(wanted.joined(separator: ", ")).",
      help: "docs/scale.md says what it can do"
    )
  }

  func makeBackend(
    _ request: ImportRequest,
    _ pruning: FeedPruning?,
    isWhole: Bool
  ) throws -> ObjectBackend {
    let context = try session.context
    _ = context.finder.beginImport()
    return ObjectBackend(context, code: code, pruning: pruning)
  }

  func record(
    _ request: ImportRequest,
    _ commit: ImportMap.ImportOptions.Commit,
    behind earlier: Int64?,
    _ notices: NoticeLog
  ) -> ImportRecording? { nil }

  /// References that wait are unsaved until their target comes, and so is what has them; records that wait are known
  /// to this import only.
  func mayCommit(_ walker: DraftWalker<ObjectBackend>) -> Bool {
    !walker.isWaiting && walker.held.isEmpty
  }

  func flush() throws { try session.context.records.flush() }

  func interruptible(when shouldStop: @escaping () -> Bool, _ body: () throws -> Void) throws {
    try body()
  }

  func prune(
    _ pruning: FeedPruning,
    _ rule: ImportRequest.Prune,
    after counts: ImportLedgerEntry.Counts
  ) throws -> (count: Int, notices: [String]) {
    try flush()
    return try pruning.prune(rule, after: counts, with: { try session.deleter() })
  }

  func tellNet() {}
}
