/// The writing connection to a server, lent to a closure: transactions, growth of the model, changes, the ledger.
///
/// Large because it keeps what a transaction has begun with, and what whoever writes wants of the next ones.
final class ServerSession: StoreWriter {
  private let lent: LentConnection
  let store: ServerStore
  /// The model with what the open transaction adds.
  private(set) var layout: ModelLayout
  /// The model without it.
  private(set) var committed: ServerModel
  private var isGrown = false
  /// Whether something may have been made for the model.
  private var isInUse = false
  /// Whether who has waited for another program's rows as long as `lock_timeout` says does not wait again.
  var waitsOnce = false
  /// Whether the open transaction makes our own tables, which nobody else sees yet.
  private var makesStore = false
  private(set) var schema: ServerSchema
  /// Keys that are reserved and not used.
  private var keys: [String: (next: Int64, end: Int64, size: Int64)] = [:]
  /// Asked, where others do not let go of the lock of writers in time, whether to wait on; nil: no.
  var waitsOn: (() -> Bool)?
  /// What marks the last commit.
  private var mark: Int64?
  /// What links of the open transaction may lead to in vain, where the server does not look for it, and the one that
  /// forbade the last commit.
  var linkChecks = LinkChecks()
  /// The run that this session keeps; nil: none.
  var ownRun: String?
  /// Whether others that share, too, may write at the same time: who does finds out by versions and unique keys that
  /// somebody was there, and does it again.
  var sharesWriting = false

  init(_ lent: LentConnection, _ store: ServerStore, _ stored: ServerModel) {
    self.lent = lent
    self.store = store
    committed = stored
    layout = stored.layout
    schema = stored.schema
  }

  /// The connection; another one where the answer to a commit was lost.
  var connection: any ServerConnection { lent.connection }

  private func naming<T>(_ body: () throws -> T) throws(StoreError) -> T {
    try StoreError.namingServer(store.name) { try waitingOnce(body) }
  }

  private func waitingOnce<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as ServerError where error.state == "55P03" && waitsOnce {
      var busy = StoreError(error, on: store.name)
      busy.isPassing = false
      throw busy
    }
  }

  // MARK: - Transactions

  /// Waits for other writers: `pg_advisory_xact_lock`, or `pg_advisory_xact_lock_shared`, as long as `lock_timeout`
  /// says.
  ///
  /// - Throws: `StoreError`: `.busy`; `.migrated` where somebody has changed the model so that what was made for it
  ///   does not fit any more.
  func begin() throws(StoreError) {
    try naming {
      linkChecks = LinkChecks()
      try lent.begin { _ in
        try waiting(
          "BEGIN ISOLATION LEVEL READ COMMITTED; SET CONSTRAINTS ALL DEFERRED; "
            + (sharesWriting ? Self.sharedLock : Self.lock),
          undoing: "ROLLBACK"
        )
      }
      try takeCurrent()
      try schema.distribution?.beginWriting(on: connection)
      if !sharesWriting { try schema.distribution?.waitForNodes(on: connection) }
    }
  }

  /// Takes the model that is there now, as far as nothing was made for the old one.
  private func takeCurrent() throws {
    defer { isInUse = true }
    guard let known = committed.stamp else {
      // Another process may have made the tables meanwhile.
      return take(try ServerModel(connection))
    }
    let stamp: ServerStamp?
    do {
      stamp = try ServerStamp(connection)
    } catch let error as ServerError where error.state == "42P01" {
      stamp = nil
    }
    guard let stamp, stamp.isOfStore(of: known) else { throw StoreError.replaced(at: store.name) }
    guard stamp != known else { return }
    let now = try ServerModel(connection)
    guard !isInUse || now.layout.takesRows(of: layout) else {
      throw StoreError(
        .migrated,
        "The model of the database was changed by another process while this one wrote; what was committed"
          + " before that stands.",
        help: "run it again"
      )
    }
    take(now)
  }

  /// Lets nobody else write until the open transaction ends, which has let others.
  ///
  /// - Throws: `StoreError`, `.busy`.
  func excludeOthers() throws(StoreError) {
    guard sharesWriting else { return }
    try naming {
      try waiting("SAVEPOINT alone; \(Self.lock)", undoing: "ROLLBACK TO SAVEPOINT alone")
      try connection.run("RELEASE SAVEPOINT alone")
      try schema.distribution?.waitForNodes(on: connection)
    }
  }

  /// Runs what takes a lock, and again where others do not let go of it, as long as `waitsOn` says so.
  func waiting(_ script: String, undoing: String) throws {
    while true {
      do throws(ServerError) {
        return try connection.run(script)
      } catch {
        guard error.state == "55P03" else { throw error }
        if waitsOn?() == true {
          try connection.run(undoing)
          continue
        }
        // Who waits for another writer has waited long enough.
        var busy = StoreError(error, on: store.name)
        busy.isPassing = false
        throw busy
      }
    }
  }

  private func take(_ model: ServerModel) {
    guard model.stamp != committed.stamp else { return }
    committed = model
    layout = model.layout
    schema = model.schema
  }

  func commit() throws(StoreError) {
    try checkLinks()
    try naming {
      if schema.distribution != nil { try takeTurn() }
      let model =
        isGrown
        ? ServerModel(layout, try ServerStamp(connection), schema.distribution)
        : committed
      try commitMarked(hasTables: model.stamp != nil)
      committed = model
      isGrown = false
      makesStore = false
    }
  }

  func checkLinks() throws(StoreError) {
    try naming {
      do throws(ServerError) {
        // What is behind it is looked at at its own end again.
        try connection.run(
          "SAVEPOINT checked; SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED; RELEASE checked"
        )
      } catch {
        if error.state == "23503" { try noteDangling(error) }
        throw error
      }
      guard schema.distribution != nil else { return }
      // The server does not look for it by itself between tables that are distributed.
      try linkChecks.look(in: schema, on: connection)
      guard let found = linkChecks.found else { return }
      throw ServerError(
        state: "23503",
        message: "a row of \(found.table) refers to one of \(found.target) that is not there"
      )
    }
  }

  /// The lock of writers, held until the transaction ends.
  static let lock =
    "SELECT pg_advisory_xact_lock(\(Schema.applicationID), hashtext(current_schema()))"

  /// The same, shared with other batches of imports.
  private static let sharedLock =
    "SELECT pg_advisory_xact_lock_shared(\(Schema.applicationID), hashtext(current_schema()))"

  /// Commits with a mark in `_dragoman_commits`, by which a commit whose answer is lost is looked up.
  private func commitMarked(hasTables: Bool) throws {
    guard hasTables else { return try connection.run("COMMIT") }
    let mark = Int64.random(in: 1...Int64.max)
    do throws(ServerError) {
      // Marks of others that ended without a next commit are of no use after a day.
      try connection.run(
        "INSERT INTO _dragoman_commits (id) VALUES (\(mark)); DELETE FROM _dragoman_commits WHERE"
          + " id = \(self.mark ?? 0) OR made < now() - interval '1 day'; COMMIT"
      )
    } catch {
      guard error.isLoss, try isCommitted(mark) else { throw error }
    }
    self.mark = mark
  }

  /// Looks on a new connection whether a commit is there; whoever may still work at it is waited for.
  private func isCommitted(_ mark: Int64) throws -> Bool {
    var patience = Patience()
    while true {
      do {
        let other = try store.connect()
        try other.run("BEGIN; \(Self.lock)")
        let hasTable = try other.text("SELECT to_regclass('_dragoman_commits')::text") != nil
        let isThere =
          try hasTable
          && other.text("SELECT id::text FROM _dragoman_commits WHERE id = \(mark)") != nil
        try other.run("COMMIT")
        lent.replace(by: other)
        return isThere
      } catch {
        var told = (error as? ServerError).map { StoreError($0, on: store.name) } ?? error
        if patience.wait(after: told) { continue }
        // Nobody knows what became of it: to do it again by itself would be a guess.
        if var unknown = told as? StoreError {
          unknown.isPassing = false
          told = unknown
        }
        throw told
      }
    }
  }

  /// Undoes everything since `begin`.
  func rollbackIfOpen() {
    if isGrown {
      layout = committed.layout
      schema = committed.schema
      isGrown = false
    }
    if makesStore { keys = [:] }
    makesStore = false
    connection.forgetAnswer()
    guard connection.isUsable, connection.isInTransaction else { return }
    // A connection that fails here is not used again.
    try? connection.run("ROLLBACK")
  }

  // MARK: - Work

  private func reader(_ layout: ModelLayout) -> ServerReader {
    ServerReader(connection, layout, isDistributed: schema.distribution != nil)
  }

  func read<T>(_ layout: ModelLayout, _ body: (any StoreReader) throws -> T) throws -> T {
    guard layout.migrations == self.layout.migrations else {
      throw StoreError.migrated(at: store.name)
    }
    return try StoreError.onServer(store.name) { try body(reader(layout)) }
  }

  func write(
    _ changes: ChangeSet,
    _ layout: ModelLayout,
    _ policy: MergePolicy
  ) throws -> SaveOutcome {
    guard layout === self.layout || self.layout.holds(layout) else {
      throw StoreError.migrated(at: store.name)
    }
    return try StoreError.onServer(store.name) {
      try waitingOnce { try written(changes, layout, policy) }
    }
  }

  private func written(
    _ changes: ChangeSet,
    _ layout: ModelLayout,
    _ policy: MergePolicy
  ) throws -> SaveOutcome {
    let writer = ServerWriter(connection, layout, in: self.layout, schema, policy: policy)
    guard let distribution = schema.distribution else { return try writer.write(changes) }
    if sharesWriting {
      try takeTurn()
      try distribution.waitForNodes(on: connection)
    }
    let outcome = try writer.write(changes)
    try writer.note(changes, in: &linkChecks)
    return outcome
  }

  func nextKey(in table: String) throws(StoreError) -> Int64 {
    if let block = keys[table], block.next < block.end {
      keys[table]?.next += 1
      return block.next
    }
    let size = min((keys[table]?.size ?? 500) * 2, 1 << 16)
    let start = try naming {
      makesStore
        ? try ServerStore.reserveKeys(size, of: [table], on: connection)[0]
        : try store.reserveKeys(size, of: [table])[0]
    }
    keys[table] = (start + 1, start + size, size)
    return start
  }

  /// Runs `CREATE TABLE`, `ALTER TABLE … ADD COLUMN`, `ADD CONSTRAINT` and `CREATE INDEX`, all in the open
  /// transaction.
  @discardableResult
  func grow(to model: Model) throws(StoreError) -> Model { try grow(to: model, filling: {}) }

  /// The same; new tables are filled before they get indexes, unique keys and references.
  @discardableResult
  func grow(to model: Model, filling fill: () throws -> Void) throws(StoreError) -> Model {
    try naming {
      let grown = try layout.model.grown(
        to: model,
        at: store.name,
        help:
          "change the map, open the store with `onConflict: .migrate`, or import into another database"
      )
      let isNew = try connection.text("SELECT to_regclass('_dragoman_model')::text") == nil
      let new = ModelLayout(grown, migrations: layout.migrations)
      let known = schema.tables.map(\.name)
      let distribution = try distributing(new, besides: known, schema.distribution)
      guard isNew || grown != layout.model else {
        try fill()
        return grown
      }
      // A table with checks that wait cannot be changed.
      try connection.run("SET CONSTRAINTS ALL IMMEDIATE")
      if isNew {
        try connection.run(ServerSchema.ownTables)
        makesStore = true
      }
      let schema = ServerSchema(new, distribution)
      let (tables, references) = try schema.additions(to: self.schema)
      for statement in tables { try connection.run(statement) }
      try fill()
      for statement in references { try connection.run(statement) }
      for (index, sql) in schema.newIndexes(than: self.schema) {
        try schema.make(index, sql, on: connection)
      }
      for entity in new.entities where entity.root == entity.index && entity.hasEntityColumn {
        guard schema.namesEntities(of: entity.table, unlike: self.schema) else { continue }
        try connection.run(
          "UPDATE \(Schema.quoted(entity.table)) SET _entity = $1::text",
          [try ServerParameter(entity.name)]
        )
        try RowAddition.note([.name(entity.name, in: entity.table)], sql)
      }
      try connection.run("SET CONSTRAINTS ALL DEFERRED")
      try ServerModel.save(new, to: connection)
      layout = new
      self.schema = schema
      isGrown = true
      return grown
    }
  }

  /// Takes over the model that a migration has written in the open transaction.
  func adopt(_ new: ModelLayout, _ distribution: ServerDistribution?) {
    layout = new
    schema = ServerSchema(new, distribution)
    isGrown = true
  }

  func record(_ entry: inout ImportLedgerEntry) throws(StoreError) {
    let written = entry
    entry.id = try naming { try ServerLedger.save(written, to: connection) }
  }
}
