/// The writer of a store as an import needs it: transactions, the ledger, and what imports keep for those that come
/// behind them; a file has one (`WriteSession`), and a server (`ServerImport`).
package protocol ImportSession: AnyObject {
  /// The file; nil: there is none.
  var path: String? { get }
  /// The model that rows are written by.
  var layout: ModelLayout { get }
  /// Whether what an import knows from batch to batch lasts longer than the session.
  var keepsRun: Bool { get set }
  /// What the tables are called in which that lasts: this, or this with `_…` behind it.
  var runName: String { get }
  /// The statements of the store.
  var sql: any SharedSQL { get }

  /// The names of the runs that are kept; the last one is named last.
  func keptRunNames() throws(StoreError) -> [String]
  /// Whether a run that is kept is still under way, anywhere, as far as can be known.
  ///
  /// `mark` is what it said of itself; nil: nothing yet.
  func isRunning(_ name: String, _ mark: RunMark?) throws(StoreError) -> Bool
  /// Keeps the run from here on under a name of its own, or goes on under the name of one that does not run any more.
  func claimRun(_ name: String?) throws(StoreError)
  /// Whether several imports can keep their runs at once.
  var keepsSeveralRuns: Bool { get }

  /// What this session begins from now on shares the store with others that do: others write between its
  /// statements, and it finds out. What is open is committed.
  func share() throws
  /// Begins a transaction, unless one is open, beside which nobody else writes.
  func beginAlone() throws(StoreError)
  /// Waits for others who write, however long they take, as long as the closure says so; a file is waited for as long as its
  /// options say.
  func waitForOthers(while isWanted: @escaping () -> Bool)

  /// Begins a transaction.
  ///
  /// - Throws: `StoreError`, `.busy` where somebody else writes and does not end.
  func begin() throws(StoreError)
  /// Begins a transaction, and gives waiting for who writes up when it is asked to stop, where the store can do that.
  ///
  /// - Throws: As `begin()`; `.busy`, too, where it was asked.
  func begin(unless shouldStop: @escaping () -> Bool) throws(StoreError)
  /// The same as `begin()`, unless one is open.
  func beginIfNeeded() throws(StoreError)
  /// Refuses what the commit would, because links lead nowhere; for those who end without one.
  ///
  /// - Throws: `StoreError`, `.protected`; `ContextError`, `.denied`.
  func checkLinks() throws
  /// Makes everything since then durable.
  func commit() throws
  /// Undoes it.
  func rollbackIfOpen()
  /// Adds what a model names and the store does not have yet, in the open transaction.
  ///
  /// - Returns: The joined model.
  /// - Throws: `StoreError`, `.modelConflict`.
  @discardableResult
  func grow(to model: Model) throws(StoreError) -> Model
  /// Writes or rewrites a row of the ledger.
  func record(_ entry: inout ImportLedgerEntry) throws(StoreError)
  /// The stored model as text; nil where there is none yet.
  func storedModel() throws(StoreError) -> String?

  /// Why what is done cannot be recorded, in words; nil: it can be, as far as is known.
  var recordingObstacle: String? { get }
  /// Begins to record what is done to the store's objects from here on, so that it can be taken back.
  ///
  /// Needs an open transaction, after `grow(to:)`.
  ///
  /// - Parameters:
  ///   - isWhole: Whether this transaction holds everything that is to be recorded.
  ///   - earlier: The number of the import whose earlier part is gone on with.
  ///   - limit: How many changed rows are recorded at most; nil: all.
  /// - Returns: nil where it cannot be recorded (`recordingObstacle`), or the earlier part was not.
  /// - Throws: `StoreError`.
  func recorder(
    isWhole: Bool,
    behind earlier: Int64?,
    limit: Int?
  ) throws(StoreError) -> RunRecorder?
}

/// A file has one writer, and one run.
extension ImportSession {
  package var runName: String { "_dragoman_run" }
  package var keepsSeveralRuns: Bool { false }

  package func keptRunNames() throws(StoreError) -> [String] {
    try sql.hasTable(runName) ? [runName] : []
  }

  package func isRunning(_ name: String, _ mark: RunMark?) -> Bool { mark?.isRunning ?? false }

  package func claimRun(_ name: String?) {}

  package func share() {}

  package func beginAlone() throws(StoreError) { try beginIfNeeded() }

  package func waitForOthers(while isWanted: @escaping () -> Bool) {}

  package func begin(unless shouldStop: @escaping () -> Bool) throws(StoreError) { try begin() }
}

extension ImportSession {
  /// A pruner, which is told what a feed has.
  ///
  /// Makes a temporary table, which is gone with the connection, or one of the run's (`keepRun()`).
  package func pruner() throws(StoreError) -> EntityPruner {
    try EntityPruner(sql, layout: layout, keptAs: keepsRun ? runName : nil)
  }
}
