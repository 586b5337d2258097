import GRDB

/// Reads what a server holds, at one moment, into a temporary file that is laid out as docs/file.md says.
///
/// All that reads a file reads a server so, and cannot mean anything else: exports, reports, predicates that only
/// this side can decide. The server sends every row of the tables once, and the file goes when it is closed.
package struct ServerCopy {
  private let connection: any ServerConnection
  private let layout: ModelLayout

  /// - Parameters:
  ///   - connection: In a transaction that sees one moment.
  ///   - layout: What the server holds.
  init(_ connection: any ServerConnection, _ layout: ModelLayout) {
    self.connection = connection
    self.layout = layout
  }

  /// A store of some tables.
  func store(of tables: RequestTables) throws -> SQLiteStore {
    let store = try SQLiteStore(at: .temporary)
    guard !layout.entities.isEmpty else { return store }
    try store.write { session in
      try session.begin()
      try session.grow(to: layout.model)
      try arrange(session)
      try session.commit()
    }
    try store.write { session in
      try session.database.execute(sql: "PRAGMA foreign_keys=OFF")
      defer { try? session.database.execute(sql: "PRAGMA foreign_keys=ON") }
      try session.begin()
      let names = tables.objects.map { layout.tables[$0].name } + tables.links
      for table in Schema(layout).tables where names.contains(table.name) {
        try copy(table.name, table.columns.map(\.name), to: session.database)
        guard table.primaryKey.isEmpty else { continue }
        // What is made in the copy gets keys of its own.
        try session.database.execute(
          sql: "INSERT OR REPLACE INTO _dragoman_keys (\"table\", next)"
            + " SELECT ?, ifnull(max(_pk), 0) + 1 FROM \(Schema.quoted(table.name))",
          arguments: [table.name]
        )
      }
      try session.commit()
    }
    return store
  }

  /// Gives tables that are still empty the columns in the order of the server's rows, which changes that are recorded
  /// know them by.
  private func arrange(_ session: WriteSession) throws {
    let columns = try ServerColumns(connection)
    let schema = Schema(layout)
    for table in schema.tables {
      let ordered = columns.ordered(table)
      if ordered == table { continue }
      try session.database.execute(sql: "DROP TABLE \(Schema.quoted(table.name))")
      try session.database.execute(sql: ordered.sql)
      for index in schema.indexes where index.table == table.name {
        try session.database.execute(sql: index.sql)
      }
    }
  }

  /// What is copied.
  package enum Part {
    /// Objects, links, references that wait, the history.
    case everything
    /// The same, and what imports keep for later ones: contracts, and what is recorded so that it can be taken back.
    case recorded
    /// The history only.
    case history
    /// The tables that a request is about; it is made for the model of what is there.
    case request((ModelLayout) throws -> FetchRequest)
  }

  /// A store of a part.
  func store(of part: Part) throws -> SQLiteStore {
    let store: SQLiteStore
    switch part {
    case .everything, .recorded: store = try self.store(of: RequestTables(all: layout))
    case .history: store = try self.store(of: RequestTables(noneOf: layout))
    case .request(let make):
      let request = try make(layout)
      return try self.store(of: RequestTables(ResolvedRequest(request, in: layout), in: layout))
    }
    try copyWaiting(to: store)
    guard !layout.entities.isEmpty else { return store }
    try store.write { session in
      try session.begin()
      try copy("_dragoman_imports", ImportLedgerEntry.columns, to: session.database)
      try markUnfinished(in: session.database)
      if case .recorded = part { try copyKept(to: session) }
      try session.commit()
    }
    return store
  }

  /// Says of imports that have kept how far they came, and do not run any more, that they were stopped, and of those of
  /// which that cannot be known, that they are not at their end.
  private func markUnfinished(in database: Database) throws {
    let sql = ServerSQL(connection: connection, name: "")
    let running = try Int.fetchOne(
      database,
      sql: "SELECT count(*) FROM _dragoman_imports WHERE status = ?",
      arguments: [ImportLedgerEntry.Status.running.rawValue]
    )
    guard running != 0 else { return }
    for name in try sql.readableTables(beginning: ServerRun.prefix) {
      guard let run = ServerRun(name) else { continue }
      let isRunning = try run.isRunning(connection)
      guard isRunning != true, let state = try state(of: name), let owner = RunOwner(state) else {
        continue
      }
      let status: ImportLedgerEntry.Status = isRunning == nil ? .unfinished : .stopped
      try database.execute(
        sql: "UPDATE _dragoman_imports SET status = ? WHERE id = ? AND status = ?",
        arguments: [
          status.rawValue, owner.ledger, ImportLedgerEntry.Status.running.rawValue,
        ]
      )
    }
  }

  /// What a run has kept; nil: nothing, or an import that has not ended is removing it.
  private func state(of run: String) throws -> String? {
    // Nobody waits for that import's end.
    try connection.run("SAVEPOINT looking; SET LOCAL lock_timeout = '50ms'")
    var state: String?
    do {
      state = try connection.text("SELECT state FROM \(run)")
    } catch let error as ServerError {
      // https://www.postgresql.org/docs/current/errcodes-appendix.html: lock_not_available, undefined_table.
      guard ["55P03", "42P01"].contains(error.state) else { throw error }
    }
    try connection.run("ROLLBACK TO SAVEPOINT looking")
    return state
  }

  private func copyKept(to session: WriteSession) throws {
    let sql = ServerSQL(connection: connection, name: "")
    if try sql.hasTable(RecordedRun.table) {
      try RecordedRun.makeTable(session.sql)
      try copy(RecordedRun.table, RecordedRun.columns, to: session.database)
    }
    if try sql.hasTable(ContractTable.name) {
      try session.sql.run(ContractTable.creation)
      try copy(ContractTable.name, ContractTable.columns, to: session.database)
    }
  }

  /// Adds the references that wait to a store.
  func copyWaiting(to store: SQLiteStore) throws {
    guard !layout.entities.isEmpty else { return }
    try store.write { session in
      try session.begin()
      try copy("_dragoman_pending", Self.pendingColumns, to: session.database)
      try session.commit()
    }
  }

  /// The columns of the table of references that wait.
  static let pendingColumns = ["id", "owner", "relationship", "entity", "key"]

  private func copy(_ table: String, _ columns: [String], to database: Database) throws {
    let names = columns.map(Schema.quoted).joined(separator: ", ")
    let insertion = try RawStatement(
      "INSERT INTO \(Schema.quoted(table)) (\(names))"
        + " VALUES (\(columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")))",
      in: database
    )
    try connection.forEachRow(
      "SELECT \(names) FROM \(Schema.quoted(table))",
      [],
      streams: true
    ) { row in
      for index in columns.indices { insertion.bind(row[index], Int32(index) + 1) }
      do {
        try insertion.run()
      } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
        throw StoreError(
          .damaged,
          "The rows of \(table) on the server are not as its model says: \(error.message ?? "a constraint").",
          help: "another program may have changed them, or dropped the constraint; restore a backup"
        )
      }
    }
  }
}
