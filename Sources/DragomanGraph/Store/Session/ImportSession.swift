/// The writer of a store as an import needs it: transactions, the ledger, and what imports keep for those that come
/// behind them; a file has one (`WriteSession`), and a server (`ServerImport`).
package protocol ImportSession: AnyObject {
  /// The file; nil: there is none.
  var path: String? { get }
  /// The model that rows are written by.
  var layout: ModelLayout { get }
  /// Whether what an import knows from batch to batch lasts longer than the session.
  var keepsRun: Bool { get set }
  /// The statements of the store.
  var sql: any SharedSQL { get }

  /// Begins a transaction.
  ///
  /// - Throws: `StoreError`, `.busy` where somebody else writes and does not end.
  func begin() throws(StoreError)
  /// The same, unless one is open.
  func beginIfNeeded() throws(StoreError)
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
}

extension ImportSession {
  /// A pruner, which is told what a feed has.
  ///
  /// Makes a temporary table, which is gone with the connection, or one of the run's (`keepRun()`).
  package func pruner() throws(StoreError) -> EntityPruner {
    try EntityPruner(sql, layout: layout, isKept: keepsRun)
  }
}
