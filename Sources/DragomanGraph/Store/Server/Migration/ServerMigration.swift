/// Carries a plan of migration out on a server, statement by statement, in the transaction that is open: what
/// `MigrationRun` does in a file.
///
/// PostgreSQL's tables are changed where they are, so that what others have put on them stays:
///
///     ALTER TABLE "P" RENAME TO _dragoman_rename_0
///     ALTER TABLE "Person" ADD COLUMN _dragoman_new_0 text COLLATE "C"
///     UPDATE "Person" AS t SET _dragoman_new_0 = n.c0 FROM unnest($1, $2) AS n(k, c0) WHERE t._pk = n.k
///     ALTER TABLE "Person" DROP COLUMN "born"
///
/// Links, names and defaults are written by the statements that a file gets; values are converted here, by the code that
/// converts those of files.
struct ServerMigration {
  let connection: any ServerConnection
  let plan: MigrationPlan
  let old: ServerSchema
  let new: ServerSchema
  /// The indexes that both have.
  private let commonIndexes: Set<NameKey>

  let q = Schema.quoted

  /// - Parameters:
  ///   - connection: In a transaction.
  ///   - plan: What is to be done.
  ///   - before: How the tables lie on several machines; nil: they lie on one.
  ///   - after: The same of the new tables.
  init(
    _ connection: any ServerConnection,
    _ plan: MigrationPlan,
    from before: ServerDistribution?,
    to after: ServerDistribution?
  ) {
    self.connection = connection
    self.plan = plan
    old = ServerSchema(plan.old, before)
    new = ServerSchema(plan.new, after)
    commonIndexes = Set(old.indexes.map(\.identity)).intersection(new.indexes.map(\.identity))
  }

  /// Runs the whole migration but for the model.
  ///
  /// - Throws: `StoreError` where something is in the way that no check foresaw; `ServerError`.
  func run() throws {
    // A table with checks that wait cannot be changed, and other nodes do not hear of SET CONSTRAINTS.
    if isDistributed { try dropReferences() }
    for statement in plan.removals { try connection.run(statement) }
    try putLinksAside()
    try connection.run("SET CONSTRAINTS ALL IMMEDIATE")
    if !isDistributed { try dropReferences() }
    try dropIndexes()
    for table in plan.goneTables { try connection.run("DROP TABLE \(q(table))") }
    try rename(plan.tableRenames) { "ALTER TABLE \($0) RENAME TO \($1)" }
    for table in plan.tables { try change(table) }
    let tables = plan.keptTables + plan.madeTables
    for table in plan.madeTables {
      for statement in new.creation(of: table, among: tables) { try connection.run(statement) }
    }
    try placeLinks()
    try fill()
    try makeConstraints()
    try comment()
    try renameKeys()
    try renamePending()
  }

  // MARK: - Links

  /// Links that go elsewhere, into temporary tables.
  private func putLinksAside() throws {
    for (index, move) in plan.moves.enumerated() where !move.parts.isEmpty {
      try connection.run(
        "CREATE TEMPORARY TABLE _dragoman_links_\(index) ON COMMIT DROP AS \(move.query(plan.old));"
          + " CREATE INDEX ON pg_temp._dragoman_links_\(index) (owner)"
      )
    }
  }

  private func placeLinks() throws {
    for (index, move) in plan.moves.enumerated() where !move.parts.isEmpty {
      let aside = "pg_temp._dragoman_links_\(index)"
      for statement in plan.placements(of: move, from: aside) { try connection.run(statement) }
      try connection.run("DROP TABLE \(aside)")
    }
  }

  // MARK: - Names

  /// Renames by way of names that nobody has: two may change places.
  ///
  /// - Parameters:
  ///   - renames: The old and the new names.
  ///   - sql: The statement that gives the first name's bearer the second one; both are quoted.
  /// - Throws: `ServerError`.
  private func rename(
    _ renames: [(old: String, new: String)],
    _ sql: (String, String) -> String
  ) throws {
    let between = renames.indices.map { "_dragoman_rename_\($0)" }
    for (rename, name) in zip(renames, between) { try connection.run(sql(q(rename.old), name)) }
    for (rename, name) in zip(renames, between) { try connection.run(sql(name, q(rename.new))) }
  }

  /// The next keys follow their tables; those of tables that went stay, so that keys never return.
  private func renameKeys() throws {
    let renames = plan.tables.filter { !hasSameBytes($0.old, $0.new) }
    for (index, rename) in renames.enumerated() {
      try connection.run(
        "UPDATE _dragoman_keys SET \"table\" = $1::text WHERE \"table\" = $2::text",
        [try ServerParameter("_dragoman_rename_\(index)"), try ServerParameter(rename.old)]
      )
    }
    for (index, rename) in renames.enumerated() {
      let between = try ServerParameter("_dragoman_rename_\(index)")
      try connection.run(
        "INSERT INTO _dragoman_keys AS k (\"table\", next)"
          + " SELECT $1::text, next FROM _dragoman_keys WHERE \"table\" = $2::text"
          + " ON CONFLICT (\"table\") DO UPDATE SET next = greatest(k.next, excluded.next)",
        [try ServerParameter(rename.new), between]
      )
      try connection.run("DELETE FROM _dragoman_keys WHERE \"table\" = $1::text", [between])
    }
  }

  // MARK: - Tables

  private func change(_ change: MigrationPlan.TableChange) throws {
    guard let table = plan.newSchema.table(named: change.new) else { return }
    for column in plan.goneColumns(of: change) {
      try connection.run("ALTER TABLE \(q(table.name)) DROP COLUMN \(q(column))")
    }
    try rename(plan.renames(of: change)) {
      "ALTER TABLE \(q(table.name)) RENAME COLUMN \($0) TO \($1)"
    }
    for column in table.columns where change.sources[column.name] == nil {
      try connection.run(new.addition(of: column, to: table))
    }
    try rewrite(change, table)
  }

  /// The columns of a table whose values are written anew: they are converted, or of another type on a server.
  func rewrittenColumns(of change: MigrationPlan.TableChange) -> [Schema.Column] {
    guard let table = plan.newSchema.table(named: change.new) else { return [] }
    return table.columns.filter { column in
      guard let source = change.sources[column.name] else { return false }
      return source.conversion != nil
        || old.type(of: source.column, in: change.old) != new.type(of: column.name, in: change.new)
    }
  }

  // MARK: - Constraints

  private var isDistributed: Bool { old.distribution != nil }

  /// Drops the references that do not stay as they are; where tables are distributed, all of them.
  private func dropReferences() throws {
    for table in old.tables {
      for column in table.columns
      where column.references != nil && !keepsReference(of: column.name, in: table.name) {
        try connection.run(old.removal(ofReferenceOf: column, in: table))
      }
    }
  }

  /// Drops the unique keys and indexes that do not stay as they are.
  private func dropIndexes() throws {
    for index in old.indexes where !keeps(index) {
      try connection.run(old.removal(of: index))
    }
    // A unique key that came later made them needless, but nobody dropped them.
    for index in plan.oldSchema.needlessIndexes { try connection.run(old.removal(of: index)) }
  }

  private func makeConstraints() throws {
    for index in new.indexes where !keeps(index) {
      try new.make(index, new.creation(of: index), on: connection)
    }
    for table in new.tables {
      for column in table.columns {
        guard let reference = new.referenceSQL(of: column, in: table),
          !keepsReference(of: column.name, in: table.name)
        else { continue }
        do throws(ServerError) {
          try connection.run(reference)
        } catch {
          guard error.state == "23503" else { throw error }
          throw StoreError(
            .damaged,
            "References of \(table.name).\(column.name) lead to objects of \(column.references ?? "") that do not"
              + " exist.",
            help: "clear them, and run the migration again"
          )
        }
      }
    }
  }

  /// Whether an index of the old or the new schema is in both, and its columns stay.
  private func keeps(_ index: Schema.Index) -> Bool {
    guard commonIndexes.contains(index.identity) else { return false }
    guard let change = changeOfSameName(index.table) else { return keepsJoin(index.table) }
    return index.columns.allSatisfy { stays($0, in: change) }
  }

  /// What happens to a table that keeps its name; nil: there is none.
  private func changeOfSameName(_ table: String) -> MigrationPlan.TableChange? {
    plan.tables.first { hasSameBytes($0.old, table) && hasSameBytes($0.new, table) }
  }

  /// Whether a table of links stays as it is.
  private func keepsJoin(_ table: String) -> Bool {
    plan.keptJoins.contains { hasSameBytes($0.old, table) && hasSameBytes($0.new, table) }
  }

  /// Whether a column keeps its name and its values.
  private func stays(_ column: String, in change: MigrationPlan.TableChange) -> Bool {
    guard let source = change.sources[column], hasSameBytes(source.column, column) else {
      return false
    }
    return !rewrittenColumns(of: change).contains { hasSameBytes($0.name, column) }
  }

  /// Whether a reference of the old schema is one of the new schema: owner and column keep their names, and the target
  /// is the same table.
  private func keepsReference(of column: String, in table: String) -> Bool {
    if isDistributed { return false }
    let isThere =
      if let change = changeOfSameName(table) {
        stays(column, in: change)
      } else {
        keepsJoin(table)
      }
    guard isThere, let known = Self.target(of: column, in: table, plan.oldSchema),
      let wanted = Self.target(of: column, in: table, plan.newSchema)
    else { return false }
    return plan.oldTable(of: wanted).map { hasSameBytes($0, known) } ?? false
  }

  private static func target(
    of column: String,
    in table: String,
    _ schema: Schema
  ) -> String? {
    schema.tables.first { hasSameBytes($0.name, table) }?.columns
      .first { hasSameBytes($0.name, column) }?.references
  }

  // MARK: - Comments

  /// What columns say of their properties, where they have not said it yet.
  private func comment() throws {
    for table in new.tables {
      let change = plan.tables.first { hasSameBytes($0.new, table.name) }
      let rewritten = change.map { rewrittenColumns(of: $0).map(\.name) } ?? []
      for column in table.columns {
        let known = change.flatMap { change in
          change.sources[column.name].flatMap { old.comment(of: $0.column, in: change.old) }
        }
        guard
          known != new.comment(of: column.name, in: table.name) || rewritten.contains(column.name)
        else { continue }
        let sql =
          new.commentSQL(of: column, in: table)
          ?? "COMMENT ON COLUMN \(q(table.name)).\(q(column.name)) IS NULL"
        try connection.run(sql)
      }
    }
  }
}
