/// A background context of a stack and the transactions that its changes are written in: an import that commits
/// when it wants to.
package final class ImportTransactions {
  /// Where the records go.
  package let context: ManagedObjectContext
  private let root: RootContext
  private let session: any StoreWriter
  package private(set) var isOpen = false

  fileprivate init(_ context: ManagedObjectContext, _ root: RootContext, _ session: any StoreWriter)
  {
    self.context = context
    self.root = root
    self.session = session
  }

  /// Begins a transaction, unless one is open.
  ///
  /// - Throws: `StoreError`, `.busy` where somebody else writes and does not end.
  package func beginIfNeeded() throws {
    if isOpen { return }
    try session.begin()
    isOpen = true
  }

  /// Adds what a model names and the store does not have yet, in the open transaction.
  ///
  /// - Throws: `StoreError`, `.modelConflict`.
  package func grow(to model: Model) throws { try session.grow(to: model) }

  /// Writes what is unsaved, and the entry of the ledger, and commits.
  ///
  /// - Throws: `ContextError`, `StoreError`.
  package func commit(_ entry: inout ImportLedgerEntry) throws {
    try context.records.flush()
    try session.record(&entry)
    try root.commit(session)
    isOpen = false
  }

  /// Undoes what is not committed.
  package func rollback() {
    session.rollbackIfOpen()
    isOpen = false
  }
}

extension Stack {
  /// Lends a background context with transactions of its own, on the caller's thread, which waits for the store.
  ///
  /// What is not committed at the end is undone. Main is told to look again.
  package func withTransactions<T>(_ body: (ImportTransactions) throws -> T) throws -> T {
    let root = root
    let context = ManagedObjectContext(.background, root: root)
    defer {
      context.close()
      storeDidChange()
    }
    return try root.store.save { session in
      let transactions = ImportTransactions(context, root, session)
      context.importing.session = session
      defer { context.importing.session = nil }
      let value = try body(transactions)
      transactions.rollback()
      for (written, seen) in context.above.written.list {
        root.main.settle(written, seen: seen, yields: false, root.layout)
      }
      return value
    }
  }
}
