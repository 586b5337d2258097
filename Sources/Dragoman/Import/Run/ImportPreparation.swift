import DragomanGraph

/// What an import does before it locks the database: it compares the feed with the last one, where the map has a
/// contract.
final class ImportPreparation {
  let declaredMap: ImportMap
  /// The map, with what its contract makes of it.
  private(set) var map: ImportMap
  /// What the contract makes of the feed; nil where the map has none.
  private(set) var contract: FeedContract?
  private let code: ImportCode
  private let request: ImportRequest
  private let cancellation: Cancellation
  private var isKept = false

  init(
    _ map: ImportMap,
    _ code: ImportCode,
    _ request: ImportRequest,
    _ cancellation: Cancellation
  ) {
    declaredMap = map
    self.map = map
    self.code = code
    self.request = request
    self.cancellation = cancellation
  }

  /// The map's name in the ledger.
  var ledgerName: String { declaredMap.name ?? declaredMap.file ?? "" }

  /// Does it.
  ///
  /// - Returns: false where it was stopped.
  /// - Throws: `ImportError`, `.contract`; as `FeedContract`.
  func run(_ session: WriteSession) throws -> Bool {
    guard declaredMap.hasContract else { return true }
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

  /// Makes sure, in the transaction, that what the feed was compared with still is the last one.
  ///
  /// - Throws: `StoreError`, `.busy`.
  func check(_ session: WriteSession) throws {
    guard let contract, try session.keptContract(of: ledgerName) != contract.kept else { return }
    throw StoreError(
      .busy,
      "Another import by the same map has ended while the feed was compared with the last one.",
      help: "run it again"
    )
  }

  /// Keeps once what the next import wants to know.
  ///
  /// - Parameters:
  ///   - run: The import's number in the ledger.
  ///   - session: With an open transaction.
  func keep(as run: Int64, _ session: WriteSession) throws {
    guard let contract, !isKept else { return }
    try contract.keep(as: run, of: ledgerName, in: session)
    isKept = true
  }
}
