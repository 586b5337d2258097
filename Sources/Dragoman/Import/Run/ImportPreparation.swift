import DragomanGraph
import Logging

/// What an import does before it locks the database: it fetches the inputs that are URLs, and compares the feed with
/// the last one, where the map has a contract.
final class ImportPreparation {
  let declaredMap: ImportMap
  /// The map, with what its contract makes of it.
  private(set) var map: ImportMap
  /// What the contract makes of the feed; nil where the map has none.
  private(set) var contract: FeedContract?
  /// The request as it was made.
  let asked: ImportRequest
  /// The request, with files in place of URLs.
  private(set) var request: ImportRequest
  private let code: ImportCode
  private let cancellation: Cancellation
  private let logger: Logger
  private var downloads: FeedDownloads?
  private var isContractKept = false

  init(
    _ map: ImportMap,
    _ code: ImportCode,
    _ request: ImportRequest,
    _ cancellation: Cancellation,
    _ logger: Logger
  ) {
    declaredMap = map
    self.map = map
    asked = request
    self.request = request
    self.code = code
    self.cancellation = cancellation
    self.logger = logger
  }

  /// The map's name in the ledger.
  var ledgerName: String { declaredMap.name ?? declaredMap.file ?? "" }

  /// Refuses a partition of what is one whole.
  ///
  /// - Throws: `ImportError`, `.request`.
  func checkDivisible() throws(ImportError) {
    guard asked.partition != nil, declaredMap.hasContract else { return }
    throw ImportError(
      .request,
      "The map has a contract, which compares whole feeds: it cannot be imported in partitions.",
      help: "import without a partition"
    )
  }

  /// Does it.
  ///
  /// - Returns: false where it was stopped.
  /// - Throws: `ImportError`, `.contract`; as `FeedDownloads` and `FeedContract`.
  func run(_ session: some ImportSession) throws -> Bool {
    do {
      try fetch(session)
    } catch  where cancellation.isCancelled {
      return false
    }
    guard unchangedSince == nil, declaredMap.hasContract else { return true }
    let contract = try FeedContract(
      of: declaredMap,
      code,
      request,
      try session.keptContract(of: ledgerName),
      stored: session.layout.model,
      cancellation
    )
    if cancellation.isCancelled { return false }
    self.contract = contract
    map = contract.map
    try contract.checkFrozen()
    return true
  }

  /// The import since which no feed has changed; nil: there is something to import.
  var unchangedSince: KeptDownload? { downloads?.unchangedSince }

  private func fetch(_ session: some ImportSession) throws {
    guard asked.hasURLs else { return }
    // Partitions wait for each other: each of them comes to its end by its records.
    let kept =
      try asked.partition == nil
      ? session.keptDownloads(of: ledgerName).filter { $0.options == options(session) } : []
    let fetched = try FeedDownloads(of: asked, by: declaredMap, unless: kept, cancellation, logger)
    downloads = fetched
    request = fetched.request
  }

  /// Raised where feeds are read otherwise than before: what an older version of Dragoman made of one is no reason to
  /// leave it alone.
  private static let readingVersion = 1

  /// What decides besides the feeds what comes of the import: the map, the options, how feeds are read, and what the tables
  /// are.
  private func options(_ session: some ImportSession) -> String {
    let tables = session.layout.tables.map {
      "\($0.name)(\($0.columns.map(\.name).joined(separator: ",")))"
    }
    let layout = FeedHash.text(tables.sorted().joined(separator: ";"))
    let part = asked.partition.map { " partition \($0)" } ?? ""
    return
      "\(declaredMap.fingerprint) \(asked.fingerprint) \(layout)\(part) reading \(Self.readingVersion)"
  }

  /// Makes sure, in the transaction, that what the feed was compared with still is the last one.
  ///
  /// - Throws: `StoreError`, `.busy`.
  func check(_ session: some ImportSession) throws {
    guard let contract, try session.keptContract(of: ledgerName) != contract.kept else { return }
    throw StoreError(
      .busy,
      "Another import by the same map has ended while the feed was compared with the last one.",
      help: "run it again"
    )
  }

  /// Keeps what the next import wants to know.
  ///
  /// - Parameters:
  ///   - entry: The import's row in the ledger.
  ///   - changed: Whether the import has changed anything so far.
  ///   - session: With an open transaction.
  /// - Throws: `StoreError`.
  func keep(
    _ entry: ImportLedgerEntry,
    changed: Bool,
    _ session: some ImportSession
  ) throws {
    guard let run = entry.id else { return }
    // Feeds that are as they were would change back what this one has changed.
    if changed { try KeptDownload.forgetAll(session.sql) }
    if let contract, !isContractKept {
      try contract.keep(as: run, of: ledgerName, in: session)
      isContractKept = true
    }
    guard entry.status == .done else { return }
    for (url, version) in downloads?.versions ?? [] where version.isTold {
      try session.keep(
        KeptDownload(
          url: url,
          options: options(session),
          tag: version.tag,
          modified: version.modified,
          place: version.place,
          run: run
        ),
        of: ledgerName
      )
    }
  }
}
