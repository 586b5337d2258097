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
  /// Whether what was written so far can be committed for itself.
  func mayCommit(_ walker: DraftWalker<Backend>) -> Bool
  /// Whether others may write between this import's transactions and beside them.
  func mayShare(_ request: ImportRequest) -> Bool
  /// Keeps what waits for the end of the import with what is committed.
  func keep() throws
  /// Gathers what other partitions have left for the end, where this one is the last; the names of what they kept.
  ///
  /// - Parameters:
  ///   - walker: What has walked this one's records.
  ///   - request: The import.
  ///   - map: Its map.
  ///   - records: A hash of all records of the feed.
  ///   - entry: This one's row in the ledger.
  /// - Returns: Nil where others are still to come.
  /// - Throws: `StoreError`.
  func gather(
    _ walker: DraftWalker<Backend>,
    _ request: ImportRequest,
    _ map: ImportMap,
    _ records: UInt64?,
    _ entry: ImportLedgerEntry
  ) throws -> [String]?
  /// Lets what the next batches are about be looked up ahead, as long as one transaction holds them all.
  ///
  /// - Parameter next: The batch behind the one at hand, if it is there already.
  func lookAhead(_ next: @escaping () -> DraftBatch?)
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
  /// Whether the file is on its way to a server, which cannot hold U+0000.
  private let isForServer: Bool

  init(_ session: WriteSession, isForServer: Bool = false) {
    self.session = session
    self.isForServer = isForServer
  }

  func check(_ request: ImportRequest) throws(ImportError) {
    guard let partition = request.partition, partition.count > 1 else { return }
    throw ImportError(
      .request,
      "A file has one writer: partition \(partition) is for a database on a server.",
      help: "import without a partition, or into a server: docs/scale.md"
    )
  }

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
      // A batch that is committed has its indexes, and who observes batches sees what became of them.
      mayLoad: isWhole && request.observer == nil,
      isForServer: isForServer
    )
    backend = made
    return made
  }

  func mayCommit(_ walker: DraftWalker<RowBackend>) -> Bool { true }

  func mayShare(_ request: ImportRequest) -> Bool { false }

  func keep() {}

  func lookAhead(_ next: @escaping () -> DraftBatch?) {}

  func gather(
    _ walker: DraftWalker<RowBackend>,
    _ request: ImportRequest,
    _ map: ImportMap,
    _ records: UInt64?,
    _ entry: ImportLedgerEntry
  ) -> [String]? { [] }

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
  private var backend: ObjectBackend?

  init(_ session: ServerImport, _ code: ImportCode) {
    self.session = session
    self.code = code
  }

  func check(_ request: ImportRequest) throws(ImportError) {
    guard request.changes != nil else { return }
    throw ImportError(
      .request,
      "What an import changes on a server is told of a dry run only.",
      help: "docs/scale.md says what a server can do"
    )
  }

  func makeBackend(
    _ request: ImportRequest,
    _ pruning: FeedPruning?,
    isWhole: Bool
  ) throws -> ObjectBackend {
    let context = try session.context
    _ = context.finder.beginImport()
    let made = ObjectBackend(
      context,
      code: code,
      pruning: pruning,
      keepsWaiting: session.keepsRun,
      listsObjects: false
    )
    if session.keepsRun {
      for list in try session.keptLists(of: session.runName) {
        made.keptLists[list.relationship, default: []].append((list.owner, list.text))
      }
    }
    made.others.isPartner = { [session] name in
      guard request.partition != nil else { return false }
      return try session.keptState(of: name).map { state in
        (try? ImportRunState(state))?.isPart(of: request) ?? false
      }
    }
    backend = made
    return made
  }

  /// Records that wait are known to this import only, and so is who has a target last that only one may have.
  func mayCommit(_ walker: DraftWalker<ObjectBackend>) -> Bool {
    guard walker.held.isEmpty else { return false }
    guard session.keepsRun else { return !walker.isWaiting }
    return !walker.stages.all.contains { $0.backend.layout.isExclusive($0.link) && $0.isWaiting }
  }

  /// Where only one object may have a target, the last writer gets it: nobody else may write in between.
  func mayShare(_ request: ImportRequest) -> Bool {
    let layout = session.layout
    return request.prune == nil && !layout.links.contains { layout.isExclusive($0) }
  }

  func keep() throws {
    guard session.keepsRun, let backend else { return }
    try session.keep(backend.takeChangedLists(), backend.takeUnchanged())
  }

  func gather(
    _ walker: DraftWalker<ObjectBackend>,
    _ request: ImportRequest,
    _ map: ImportMap,
    _ records: UInt64?,
    _ entry: ImportLedgerEntry
  ) throws -> [String]? {
    // Others may have let references wait, or resolved them, since they were read; and what they have said of objects
    // is later than what this one lets wait of them.
    try backend?.others.tell()
    _ = try backend?.others.look()
    backend?.forgetAdopted()
    let endedLists = Dictionary(grouping: try session.endedLists(), by: \.relationship)
    for stage in walker.stages.all {
      for list in endedLists[stage.name] ?? [] { stage.forgetEnded(of: list.owner) }
    }
    guard let partition = request.partition, !request.isDryRun else { return [] }
    var ended: Set<Int> = [partition.number]
    var names: [String] = []
    var lists: [String: [(owner: Int64, text: String)]] = [:]
    for name in try session.keptRunNames() where name != session.runName {
      guard let kept = try session.keptRun(named: name), let state = try? ImportRunState(kept),
        state.isPart(of: request, map), state.isParked == true, let other = state.partition
      else { continue }
      names.append(name)
      // What waits of another version of the feed waits for nobody: this one has said it anew.
      guard state.records == records, ended.insert(other.number).inserted else { continue }
      for list in try session.keptLists(of: name) {
        lists[list.relationship, default: []].append((list.owner, list.text))
      }
    }
    for number in 1...partition.count where !ended.contains(number) {
      // One that is imported again when all were over has nobody to wait for.
      guard try isOver(ImportPartition(number, of: partition.count), request, entry) else {
        return nil
      }
    }
    for stage in walker.stages.all {
      if let left = lists[stage.name] { try stage.join(left) }
    }
    return names
  }

  /// Whether the ledger has another partition of the same feed, by the same map.
  private func isOver(
    _ other: ImportPartition,
    _ request: ImportRequest,
    _ entry: ImportLedgerEntry
  ) throws -> Bool {
    let areFiles = request.inputs.allSatisfy { if case .file = $0 { true } else { false } }
    // What the others have read has to be known.
    guard let partition = request.partition, areFiles else { return false }
    let source = entry.source.replacing("(partition \(partition))", with: "(partition \(other))")
    return try session.lastLedgerEntry { known in
      known.source == source && known.mapHash == entry.mapHash
        && known.fingerprint == entry.fingerprint && known.status == .done
    } != nil
  }

  func lookAhead(_ next: @escaping () -> DraftBatch?) { backend?.following = next }

  func flush() throws {
    try backend?.others.tell()
    try session.flush()
  }

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
