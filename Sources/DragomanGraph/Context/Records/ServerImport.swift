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
  /// The run that the session keeps; nil: none.
  private var run: ServerRun?
  /// The connection that has the run's lock.
  private var holder: (any ServerConnection)?
  /// What notes changes, so that they can be taken back; nil: nothing does.
  private var notes: ServerNotes?
  private weak var recorder: RunRecorder?
  /// Why nothing does, where the server says so.
  private var obstacle: String?

  fileprivate init(_ store: ServerStore, _ session: ServerSession) {
    self.store = store
    self.session = session
  }

  package var path: String? { nil }
  package var layout: ModelLayout { session.layout }
  package var sql: any SharedSQL { session.sql }

  /// Where the records go; it is there once the store has grown.
  ///
  /// - Throws: `StoreError`, `.badRequest`, before that.
  package var context: ManagedObjectContext {
    get throws(StoreError) {
      if let made { return made }
      throw StoreError(.badRequest, "The store has not grown to the model of the import yet.")
    }
  }

  // MARK: - Transactions

  package func begin() throws(StoreError) {
    try session.begin()
    try naming {
      try holdRun()
      try notes?.hold()
    }
    // Others may have written what is linked to what.
    made?.linkMemory.forgetTargets()
    isOpen = true
  }

  package func beginIfNeeded() throws(StoreError) {
    if !isOpen { try begin() }
  }

  package func share() throws {
    guard !session.sharesWriting else { return }
    if isOpen { try commit() }
    session.sharesWriting = true
  }

  package func waitForOthers(while isWanted: @escaping () -> Bool) { session.waitsOn = isWanted }

  package func beginAlone() throws(StoreError) {
    if isOpen { return try session.excludeOthers() }
    session.sharesWriting = false
    try begin()
  }

  @discardableResult
  package func grow(to model: Model) throws(StoreError) -> Model {
    let grown = try session.grow(to: model)
    try makeContext()
    return grown
  }

  private func makeContext() throws(StoreError) {
    let root = try naming {
      try RootContext(store, attachments: Attachments(), growing: session.layout)
    }
    let context = ManagedObjectContext(.background, root: root)
    context.importing.session = session
    self.root = root
    made = context
  }

  package func record(_ entry: inout ImportLedgerEntry) throws(StoreError) {
    try session.record(&entry)
  }

  /// Writes what is unsaved into the open transaction.
  ///
  /// - Throws: As `ContextRecords.flush()`; `StoreError`, `.busy`, where another writer changed the same objects.
  package func flush() throws { try noticingOthers { _ = try context.records.flush() } }

  /// Commits what was flushed.
  ///
  /// Links that lead nowhere are no matter of others: however often the objects are read, their rule leaves them.
  ///
  /// - Throws: `ContextError` for a link that leads nowhere, `StoreError`; `.busy` where another writer changed the
  ///   same objects.
  package func commit() throws {
    try noticingOthers(of: [.conflict, .duplicate]) {
      if let root { try root.commit(session) } else { try session.commit() }
    }
    isOpen = false
    made?.importing.asked = nil
  }

  /// Where others write, too, what contradicts what was read before is theirs: it passes once it is read again.
  private func noticingOthers(
    of codes: [ContextError.Code] = [.conflict, .duplicate, .denied],
    _ body: () throws -> Void
  ) throws {
    do {
      try body()
    } catch let error as ContextError
      where session.sharesWriting ? codes.contains(error.code) : error.code == .conflict
    {
      let isShared = session.sharesWriting
      var busy = StoreError(
        .busy,
        "Another \(isShared ? "import" : "program") has changed the same objects: \(error.message)",
        help: isShared ? "run it again, or with fewer workers" : "run it again",
        path: store.name
      )
      busy.isPassing = isShared
      throw busy
    }
  }

  package func checkLinks() throws {
    if let root { try root.checkLinks(session) } else { try session.checkLinks() }
  }

  package func rollbackIfOpen() {
    session.rollbackIfOpen()
    notes?.forgetTables()
    made?.rollback()
    made?.importing.asked = nil
    isOpen = false
  }

  private func naming<T>(_ body: () throws -> T) throws(StoreError) -> T {
    try StoreError.namingServer(store.name, body)
  }

  package func storedModel() throws(StoreError) -> String? {
    guard try sql.hasTable("_dragoman_model") else { return nil }
    return try sql.rows(["model"], "FROM _dragoman_model WHERE id = 1").first?
      .stored(0, of: "_dragoman_model")
  }

  /// Deletes objects by the delete rules of the relationships, past the context.
  package func deleter() throws(StoreError) -> ObjectDeleter {
    try ObjectDeleter(sql, layout: layout) { [weak self] () throws(StoreError) in
      try self?.recorder?.keepIfFull()
    }
  }

  // MARK: - What can be taken back

  package var recordingObstacle: String? { session.recordingObstacle ?? obstacle }

  package func recorder(
    isWhole: Bool,
    behind earlier: Int64?,
    limit: Int?
  ) throws(StoreError) -> RunRecorder? {
    switch try session.recording(behind: earlier, limit: limit) {
    case .recorder(let recorder, let notes):
      self.notes = notes
      self.recorder = recorder
      return recorder
    case .obstacle(let words): obstacle = words
    case .earlierPartIsMissing: break
    }
    return nil
  }

  /// Reads what the server holds into a temporary file, with what is recorded of imports, in the open transaction:
  /// none of ours writes meanwhile.
  package func copy() throws(StoreError) -> SQLiteStore {
    try naming { try ServerCopy(session.connection, session.layout).store(of: .recorded) }
  }

  /// Does on the server what was done in a copy of it, in the open transaction.
  ///
  /// - Parameters:
  ///   - copy: The copy, in which an import was taken back.
  ///   - entry: What the copy's ledger says of that.
  /// - Returns: Whether it is recorded, and can be taken back itself.
  /// - Throws: `StoreError`, `.busy` where another program has changed what is written.
  package func repeatUndo(
    of copy: SQLiteStore,
    _ entry: ImportLedgerEntry
  ) throws(StoreError) -> Bool {
    try naming { try ServerUndo(session, copy).run(entry) }
  }

  // MARK: - Runs

  package var runName: String { run?.name ?? ServerRun.prefix }

  package var keepsSeveralRuns: Bool { true }

  package func keptRunNames() throws(StoreError) -> [String] {
    try sql.tables(beginning: ServerRun.prefix).filter { ServerRun($0) != nil }.sorted()
  }

  package func isRunning(_ name: String, _ mark: RunMark?) throws(StoreError) -> Bool {
    guard let run = ServerRun(name) else { return false }
    return try naming { try run.isRunning(session.connection) != false }
  }

  package func claimRun(_ name: String?) throws(StoreError) {
    let run = name.flatMap { ServerRun($0) } ?? ServerRun()
    try naming { if try run.begin(on: session.connection) { holder = session.connection } }
    self.run = run
    session.ownRun = run.name
  }

  /// A connection that was cut holds its locks no more.
  private func holdRun() throws {
    guard let run, holder !== session.connection else { return }
    if try run.hold(on: session.connection) { holder = session.connection }
  }

  /// Keeps lists of targets that wait, as the import's text, and forgets others.
  ///
  /// - Parameters:
  ///   - lists: The owners' lists by relationship; nil: the owner waits no more.
  ///   - owners: Owners that are counted as unchanged until then, or no more.
  /// - Throws: `StoreError`.
  package func keep(
    _ lists: [(relationship: String, owner: Int64, text: String?)],
    _ owners: [KeptRun.UnchangedOwner]
  ) throws(StoreError) {
    guard let run else { return }
    try naming { try run.keep(lists, owners, on: session.connection) }
  }

  /// The owners of whom others have said since what they lead to, besides those that were kept as waiting no more.
  ///
  /// - Throws: `StoreError`.
  package func endedLists() throws(StoreError) -> [(relationship: String, owner: Int64)] {
    guard let run else { return [] }
    return try naming { try run.ended(on: session.connection) }
  }

  /// The lists of targets that wait, of a run.
  ///
  /// - Parameter name: Its name.
  /// - Returns: What `keep` was given.
  /// - Throws: `StoreError`.
  package func keptLists(
    of name: String
  ) throws(StoreError) -> [(relationship: String, owner: Int64, text: String)] {
    guard let run = ServerRun(name) else { return [] }
    return try naming { try run.lists(on: session.connection) }
  }

  fileprivate func end() {
    if let notes {
      session.rollbackIfOpen()
      notes.close()
    }
    run?.end(on: session.connection)
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
