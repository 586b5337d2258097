extension ServerStore {
  /// What `migrate(to:drops:)` would do; nothing is changed.
  ///
  /// The data is checked as it is at one moment, by what checks a file: the tables that the checks are about are read into
  /// a temporary one.
  ///
  /// - Parameters:
  ///   - model: The model that is wanted.
  ///   - drops: Whether what the model does not name goes.
  /// - Returns: The plan; empty when the server has the model already.
  /// - Throws: `StoreError`.
  package func migration(to model: Model, drops: Bool = false) throws(StoreError) -> Migration {
    try StoreError.namingServer(name) {
      try moment { connection in
        let stored = try ServerModel(connection).layout
        return try Self.migration(from: stored, to: model, drops, connection)
      }
    }
  }

  /// Changes what the server holds to another model, in one transaction: all of it happens, or nothing.
  ///
  /// Nobody else writes meanwhile; who reads waits from the first change to the end, as long as its `lock_timeout`
  /// says. What `SQLiteStore.migrate(to:drops:)` does in a file.
  ///
  /// - Parameters:
  ///   - model: The model that is wanted.
  ///   - drops: Whether what the model does not name goes, with its values.
  /// - Returns: What was done; empty when the server had the model already.
  /// - Throws: `StoreError`: `.modelConflict` with everything that is in the way; `.busy` beside an import in batches;
  ///   nothing has changed then.
  @discardableResult
  package func migrate(to model: Model, drops: Bool = false) throws(StoreError) -> Migration {
    try StoreError.namingServer(name) {
      try again {
        try write { session in
          try session.begin()
          let migration = try session.migrate(to: model, drops: drops)
          try session.commit()
          return migration
        }
      }
    }
  }

  /// Migrates what a stack is opened on, dropping nothing.
  ///
  /// - Returns: What was done; nil: nothing, or there was nothing yet.
  /// - Throws: As `migrate(to:drops:)`.
  func opened(for model: Model) throws(StoreError) -> Migration? {
    let stored = layout.model
    // Nothing to do takes no lock: an import may be running.
    let planned = Migration(from: stored, to: model)
    if planned.model == stored && planned.faults.isEmpty {
      // What is asked of tables that are there may be refused.
      if !references.isEmpty { try grow(to: model) }
      return nil
    }
    let migration = try migrate(to: model)
    return stored.entities.isEmpty || migration.isEmpty ? nil : migration
  }

  /// The plan with the faults of the data.
  ///
  /// - Parameters:
  ///   - layout: What the server holds.
  ///   - model: The model that is wanted.
  ///   - drops: Whether what the model does not name goes.
  ///   - connection: In a transaction.
  /// - Returns: The plan.
  /// - Throws: `StoreError`, `ServerError`.
  static func migration(
    from layout: ModelLayout,
    to model: Model,
    _ drops: Bool,
    _ connection: any ServerConnection
  ) throws -> Migration {
    var migration = Migration(from: layout.model, to: model, drops: drops)
    guard let plan = migration.plan, plan.isComplete else { return migration }
    do throws(StoreError) {
      try ServerSchema(plan.new).check()
    } catch {
      migration.faults.append(error.message)
    }
    let checks = MigrationChecks(plan: plan)
    guard !checks.tables.isEmpty || !plan.conversions.isEmpty else { return migration }
    let server = ServerCopy(connection, layout)
    let copy = try server.store(of: RequestTables(named: checks.tables, of: layout))
    defer { try? copy.close() }
    if !plan.conversions.isEmpty { try server.copyWaiting(to: copy) }
    migration.faults += try copy.read { database in
      try ConversionFunction.with(plan.conversions, on: database) {
        try checks.faults(in: database)
          + MigrationRun(database: database, plan: plan, beforeStatement: {}).pendingFaults()
      }
    }
    return migration
  }
}

extension ServerSession {
  /// Changes the tables to another model, in the open transaction.
  ///
  /// - Parameters:
  ///   - model: The model that is wanted.
  ///   - drops: Whether what the model does not name goes.
  /// - Returns: What was done.
  /// - Throws: `StoreError`, `ServerError`; the transaction must be rolled back then.
  func migrate(to model: Model, drops: Bool) throws -> Migration {
    let stored = layout
    // Nobody changes what is checked, by whatever means.
    try lock(stored, "SHARE ROW EXCLUSIVE")
    let migration = try ServerStore.migration(from: stored, to: model, drops, connection)
    guard migration.faults.isEmpty, let plan = migration.plan else {
      throw StoreError(
        .modelConflict,
        migration.faults.joined(separator: " "),
        help: "correct the data or the model; nothing was changed"
      )
    }
    guard migration.model != stored.model else { return migration }
    guard committed.stamp != nil else {
      try grow(to: migration.model)
      return migration
    }
    try checkNobodyImports()
    // Before the locks: who begins to read on several machines takes its turn first, too.
    if schema.distribution != nil { try takeTurn() }
    // Readers that began before have ended then, and others see the whole change.
    try lock(stored, "ACCESS EXCLUSIVE")
    let distribution = try distributing(
      plan.new,
      besides: plan.keptTables.map(\.name),
      schema.distribution?.after(plan)
    )
    try ServerMigration(connection, plan, from: schema.distribution, to: distribution).run()
    try plan.carryOver(sql)
    let layout = plan.layout(after: stored)
    try ServerModel.save(layout, to: connection)
    adopt(layout, distribution)
    return migration
  }

  /// Locks the model and the tables that it names.
  ///
  /// - Throws: `StoreError`, `.busy`, which does not pass by itself: who reads or writes for long was waited for.
  private func lock(_ stored: ModelLayout, _ mode: String) throws {
    guard committed.stamp != nil else { return }
    let names = ["_dragoman_model"] + Schema(stored).tables.map { Schema.quoted($0.name) }
    do throws(ServerError) {
      try connection.run("LOCK TABLE \(names.joined(separator: ", ")) IN \(mode) MODE")
    } catch {
      guard error.state == "55P03" else { throw error }
      throw StoreError(
        .busy,
        "Another program reads or writes the tables and did not end in time.",
        help: "try again when it has finished"
      )
    }
  }

  /// Imports in batches let go of the lock of writers between two batches.
  ///
  /// - Throws: `StoreError`, `.busy`.
  private func checkNobodyImports() throws {
    let sql = ServerSQL(connection: connection, name: "")
    for table in try sql.tables(beginning: ServerRun.prefix) {
      guard let run = ServerRun(table), try run.isRunning(connection) != false else { continue }
      throw StoreError(
        .busy,
        "An import in batches is under way.",
        help: "wait for its end"
      )
    }
  }
}
