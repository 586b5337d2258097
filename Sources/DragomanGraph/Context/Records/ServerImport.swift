/// The writer of a server as an import needs it: a background context of its own, and the transactions that its
/// changes are written in, when the import wants to.
///
/// The context has a root of its own: unsaved changes of a stack on the same server are not seen.
package final class ServerImport: ImportSession {
  private let store: ServerStore
  private let session: ServerSession
  private var root: RootContext?
  private var made: ManagedObjectContext?
  private var isOpen = false
  package var keepsRun = false

  fileprivate init(_ store: ServerStore, _ session: ServerSession) {
    self.store = store
    self.session = session
  }

  package var path: String? { nil }
  package var layout: ModelLayout { session.layout }
  package var sql: any SharedSQL { ServerSQL(connection: session.connection, name: store.name) }

  /// Where the records go; it is there once the store has grown.
  ///
  /// - Throws: `StoreError`, `.badRequest`, before that.
  package var context: ManagedObjectContext {
    get throws(StoreError) {
      if let made { return made }
      throw StoreError(.badRequest, "The store has not grown to the model of the import yet.")
    }
  }

  package func begin() throws(StoreError) {
    try session.begin()
    isOpen = true
  }

  package func beginIfNeeded() throws(StoreError) {
    if !isOpen { try begin() }
  }

  @discardableResult
  package func grow(to model: Model) throws(StoreError) -> Model {
    let grown = try session.grow(to: model)
    let root = try StoreError.namingServer(store.name) {
      try RootContext(store, attachments: Attachments(), growing: session.layout)
    }
    let context = ManagedObjectContext(.background, root: root)
    context.importing.session = session
    self.root = root
    made = context
    return grown
  }

  package func record(_ entry: inout ImportLedgerEntry) throws(StoreError) {
    try session.record(&entry)
  }

  /// Commits what was flushed (`ContextRecords.flush()`).
  ///
  /// - Throws: `ContextError` for a link that leads nowhere, `StoreError`.
  package func commit() throws {
    if let root { try root.commit(session) } else { try session.commit() }
    isOpen = false
  }

  package func rollbackIfOpen() {
    session.rollbackIfOpen()
    made?.rollback()
    isOpen = false
  }

  package func storedModel() throws(StoreError) -> String? {
    guard try sql.hasTable("_dragoman_model") else { return nil }
    return try sql.rows(["model"], "FROM _dragoman_model WHERE id = 1").first?
      .stored(0, of: "_dragoman_model")
  }

  /// Deletes objects by the delete rules of the relationships, past the context.
  package func deleter() throws(StoreError) -> ObjectDeleter {
    try ObjectDeleter(sql, layout: layout)
  }

  fileprivate func end() {
    made?.importing.session = nil
    made?.close()
    // A courtesy: keys that are not given back are passed over.
    try? root?.keys.release()
  }
}

extension ServerStore {
  /// Lends the writer to an import, on the caller's thread, which waits for the server; what is not committed at the
  /// end is undone.
  package func importing<T>(_ body: (ServerImport) throws -> T) throws -> T {
    try write { session in
      let writer = ServerImport(self, session)
      defer { writer.end() }
      return try body(writer)
    }
  }
}
