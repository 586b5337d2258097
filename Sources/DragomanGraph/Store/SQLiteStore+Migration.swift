import GRDB

extension SQLiteStore {
  /// What `migrate(to:drops:)` would do; nothing is changed.
  ///
  /// The data is checked from one snapshot: values that do not convert, keys that are not unique,
  /// and whatever else is in the way stands in `faults`, all of it.
  ///
  /// - Parameters:
  ///   - model: The model that is wanted.
  ///   - drops: Whether what the model does not name goes.
  /// - Returns: The plan; empty when the file has the model already.
  /// - Throws: `StoreError` where the file cannot be read.
  public func migration(to model: Model, drops: Bool = false) throws(StoreError) -> Migration {
    try read { database in
      try Self.migration(from: try StoredModel.load(database).model, to: model, drops, database)
    }
  }

  /// Changes the file to another model, in one transaction: all of it happens, or nothing.
  ///
  /// Runs `ALTER TABLE`, `CREATE TABLE`, `INSERT … SELECT`, `UPDATE` and `DROP TABLE`, as the plan
  /// says, then `PRAGMA foreign_key_check`. A file without a model gets it.
  ///
  /// - Parameters:
  ///   - model: The model that is wanted.
  ///   - drops: Whether what the model does not name goes, with its values.
  /// - Returns: What was done; empty when the file had the model already.
  /// - Throws: `.modelConflict` with everything that is in the way; nothing has changed then.
  @discardableResult
  public func migrate(to model: Model, drops: Bool = false) throws(StoreError) -> Migration {
    try migrate(to: model, drops: drops, beforeStatement: {})
  }

  /// `migrate(to:drops:)` with a hook in front of each statement.
  func migrate(
    to model: Model,
    drops: Bool,
    beforeStatement: () throws -> Void
  ) throws(StoreError) -> Migration {
    try StoreError.naming(path) {
      try write { session in
        // The rows of a table that is made anew must not count as deleted. Has no effect inside a
        // transaction, so it is the first thing and the last.
        try session.database.execute(sql: "PRAGMA foreign_keys = OFF")
        defer {
          session.rollbackIfOpen()
          try? session.database.execute(sql: "PRAGMA foreign_keys = ON")
        }
        try session.begin()
        let migration = try withoutActuallyEscaping(beforeStatement) { hook in
          try Self.migrate(session, to: model, drops, beforeStatement: hook)
        }
        try session.commit()
        return migration
      }
    }
  }

  private static func migrate(
    _ session: WriteSession,
    to model: Model,
    _ drops: Bool,
    beforeStatement: @escaping () throws -> Void
  ) throws -> Migration {
    let database = session.database
    let known = try StoredModel.load(database)
    let stored = known.model
    let migration = try Self.migration(from: stored, to: model, drops, database)
    guard migration.faults.isEmpty, let plan = migration.plan else {
      throw StoreError(
        .modelConflict,
        migration.faults.joined(separator: " "),
        help: "correct the data or the model; nothing was changed"
      )
    }
    guard migration.model != stored else {
      if !migration.steps.isEmpty { try session.grow(to: stored) }
      return migration
    }
    if try !database.hasTable("_dragoman_model") { try StoredModel.initialize(database) }
    try ConversionFunction.with(plan.conversions, on: database) {
      try MigrationRun(database: database, plan: plan, beforeStatement: beforeStatement).run()
    }
    try plan.carryOver(session.sql)
    try beforeStatement()
    let layout = plan.layout(after: known)
    try StoredModel.save(layout, to: database)
    if layout.migrations != known.migrations {
      // Who reads looks at the model where the tables have changed, and where only values were converted they have not.
      try database.execute(
        sql: "CREATE TABLE _dragoman_migrated (id); DROP TABLE _dragoman_migrated"
      )
    }
    session.adopt(layout)
    return migration
  }

  /// The plan with the faults of the data.
  private static func migration(
    from stored: Model,
    to model: Model,
    _ drops: Bool,
    _ database: Database
  ) throws -> Migration {
    var migration = Migration(from: stored, to: model, drops: drops)
    guard let plan = migration.plan, plan.isComplete else { return migration }
    let lost = try plan.oldSchema.lostKeys(in: database)
    for index in lost where plan.newSchema.indexes.contains(index) {
      migration.steps.append(Migration.Step(remaking: index, in: plan.old))
    }
    migration.faults += try ConversionFunction.with(plan.conversions, on: database) {
      try MigrationChecks(plan: plan, lostKeys: lost).faults(in: database)
        + MigrationRun(database: database, plan: plan, beforeStatement: {}).pendingFaults()
    }
    if plan.faults.isEmpty {
      migration.faults += try MigrationTrial(plan: plan).faults(in: database)
    }
    return migration
  }
}

extension SQLiteStore {
  /// Whether indexes of unique keys are gone.
  func lacksKeys() throws(StoreError) -> Bool {
    let schema = Schema(layout)
    return try read { try !schema.lostKeys(in: $0).isEmpty }
  }
}

extension MigrationPlan {
  /// Takes along what a store keeps beside its objects, or forgets it.
  ///
  /// - Throws: `StoreError`, and what SQLite throws.
  func carryOver(_ sql: any SharedSQL) throws {
    // Values that imports replaced would come back as they were before.
    if onlyAdds { try RowAddition.note(additions, sql) } else { try RecordedRun.dropAll(sql) }
    try KeptDownload.forgetAll(sql)
    try ContractNames(self).rename(sql)
  }
}
