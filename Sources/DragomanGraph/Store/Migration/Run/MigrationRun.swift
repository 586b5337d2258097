import GRDB

/// Carries a plan out, statement by statement, inside a transaction with foreign keys switched off.
///
/// Nothing of SQLite's is relied on that depends on the order of tables: links that move are put
/// aside first, then names change by way of names that nobody has, then tables are altered or made
/// anew (https://www.sqlite.org/lang_altertable.html#otheralter), then links and indexes come back.
struct MigrationRun {
  let database: Database
  let plan: MigrationPlan
  /// Called before each statement; tests let it throw.
  var beforeStatement: () throws -> Void = {}

  let q = Schema.quoted

  init(database: Database, plan: MigrationPlan, beforeStatement: @escaping () throws -> Void) {
    self.database = database
    self.plan = plan
    self.beforeStatement = beforeStatement
  }

  /// Runs the whole migration but for the model.
  ///
  /// - Throws: `StoreError` where something is in the way that no check foresaw; GRDB's errors.
  func run() throws {
    for statement in plan.removals { try execute(statement) }
    try putLinksAside()
    try dropIndexes()
    for table in plan.goneTables { try execute("DROP TABLE \(q(table))") }
    try renameTables()
    for table in plan.tables {
      try checkColumns(of: table)
      try renameColumns(of: table)
      try change(table)
    }
    try makeTables()
    try placeLinks()
    try fill()
    try makeIndexes()
    try renameKeys()
    try renamePending()
    try checkReferences()
  }

  func execute(_ sql: String, _ arguments: StatementArguments = []) throws {
    try beforeStatement()
    try tellingOfTriggers { try database.execute(sql: sql, arguments: arguments) }
  }

  /// Runs what triggers of others may refuse.
  ///
  /// - Throws: `StoreError`, `.modelConflict`, where one does.
  func tellingOfTriggers(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as DatabaseError
      where error.extendedResultCode == .SQLITE_CONSTRAINT_TRIGGER
    {
      throw StoreError(
        .modelConflict,
        "A trigger, which Dragoman did not make, refuses a step: \(error.message ?? "").",
        help: "drop it first, and make it again afterwards"
      )
    }
  }

  // MARK: - What goes

  /// Links that go elsewhere, into temporary tables.
  private func putLinksAside() throws {
    for (index, move) in plan.moves.enumerated() where !move.parts.isEmpty {
      try execute("CREATE TEMP TABLE \(aside(index)) AS \(move.query(plan.old))")
      try execute("CREATE INDEX temp._dragoman_aside_\(index) ON _dragoman_links_\(index) (owner)")
    }
  }

  func aside(_ index: Int) -> String { "_dragoman_links_\(index)" }

  private func dropIndexes() throws {
    for index in plan.oldSchema.indexes {
      let change = plan.tables.first { $0.old == index.table }
      let isKept =
        plan.newSchema.indexes.contains(index)
        && change.map { $0.new == $0.old && plan.renames(of: $0).isEmpty && !isRebuilt($0) }
          ?? plan.keptJoins.contains { $0.old == index.table && $0.new == index.table }
      if !isKept { try drop(index) }
    }
    // A unique key that came later made them needless, but nobody dropped them.
    for index in plan.oldSchema.needlessIndexes { try drop(index) }
  }

  private func drop(_ index: Schema.Index) throws {
    if let removal = try index.removal(in: database) { try execute(removal) }
  }

  // MARK: - Names

  private func renameTables() throws {
    let renames = plan.tableRenames
    for (index, rename) in renames.enumerated() {
      try execute("ALTER TABLE \(q(rename.0)) RENAME TO _dragoman_rename_\(index)")
    }
    for (index, rename) in renames.enumerated() {
      try Schema.checkIsFree(rename.1, in: database)
      try execute("ALTER TABLE _dragoman_rename_\(index) RENAME TO \(q(rename.1))")
    }
  }

  private func renameColumns(of table: MigrationPlan.TableChange) throws {
    let renames = plan.renames(of: table)
    guard !renames.isEmpty else { return }
    let alter = "ALTER TABLE \(q(table.new)) RENAME COLUMN"
    for (index, column) in plan.goneColumns(of: table).enumerated() where column != "_entity" {
      try execute("\(alter) \(q(column)) TO _dragoman_gone_\(index)")
    }
    let names = ownNames(of: table)
    // SQLite goes through all that refers to the table for each name: twice only where it is taken.
    let taken = renames.enumerated().filter { names.contains($1.new) }
    for (index, rename) in taken {
      try execute("\(alter) \(q(rename.old)) TO _dragoman_rename_\(index)")
    }
    for rename in renames where !names.contains(rename.new) {
      try execute("\(alter) \(q(rename.old)) TO \(q(rename.new))")
    }
    for (index, rename) in taken {
      try execute("\(alter) _dragoman_rename_\(index) TO \(q(rename.new))")
    }
  }

  /// The names of the columns that Dragoman has made in a table.
  private func ownNames(of table: MigrationPlan.TableChange) -> NameRegister {
    var names = NameRegister()
    for column in plan.oldSchema.table(named: table.old)?.columns ?? [] {
      _ = names.insert(column.name)
    }
    return names
  }

  /// Columns that somebody else has added are not taken over.
  ///
  /// - Throws: `StoreError`, `.modelConflict`, where one has the name of a column that is to come.
  private func checkColumns(of table: MigrationPlan.TableChange) throws {
    guard let new = plan.newSchema.table(named: table.new) else { return }
    let known = ownNames(of: table)
    let found = try String.fetchAll(
      database,
      sql: "SELECT name FROM pragma_table_xinfo(?)",
      arguments: [table.new]
    )
    var strange = NameRegister()
    for name in found where !known.contains(name) { _ = strange.insert(name) }
    guard let taken = new.columns.first(where: { strange.contains($0.name) }) else { return }
    throw StoreError(
      .modelConflict,
      "The table \(table.new) has a column \(taken.name) already that Dragoman does not know as an attribute.",
      help: "rename or drop it, or give the attribute another one with `column:` in the map"
    )
  }

  // MARK: - Tables

  private func isRebuilt(_ table: MigrationPlan.TableChange) -> Bool {
    guard let old = plan.oldSchema.table(named: table.old),
      let new = plan.newSchema.table(named: table.new)
    else { return false }
    return !plan.goneColumns(of: table).isEmpty
      || new.columns.contains { column in
        guard let source = table.sources[column.name],
          let known = old.columns.first(where: { hasSameBytes($0.name, source.column) })
        else { return false }
        return known.type != column.type || (known.references == nil) != (column.references == nil)
      }
  }

  private func change(_ table: MigrationPlan.TableChange) throws {
    guard let new = plan.newSchema.table(named: table.new) else { return }
    if isRebuilt(table) { return try rebuild(table, as: new) }
    for column in new.columns where table.sources[column.name] == nil {
      try execute("ALTER TABLE \(q(table.new)) ADD COLUMN \(column.sql)")
    }
    let converted = new.columns.filter { table.sources[$0.name]?.conversion != nil }
    guard !converted.isEmpty else { return }
    let settings = converted.map { "\(q($0.name)) = \(value(of: $0, in: table))" }
    try execute("UPDATE \(q(table.new)) SET \(settings.joined(separator: ", "))")
  }

  private func value(of column: Schema.Column, in table: MigrationPlan.TableChange) -> String {
    let name = q(column.name)
    guard let number = table.sources[column.name]?.conversion else { return name }
    return "\(ConversionFunction.name)(\(name), \(number))"
  }

  /// The columns that somebody else has added to a table, which go on with their values.
  ///
  /// - Throws: `.modelConflict` where one cannot be made anew.
  private func strangeColumns(
    of table: MigrationPlan.TableChange,
    _ new: Schema.Table
  ) throws -> [(name: String, sql: String)] {
    let known = Set(
      (new.columns + (plan.oldSchema.table(named: table.old)?.columns ?? [])).map {
        NameKey($0.name)
      }
    )
    let place = "PRAGMA table_xinfo"
    let rows = try Row.fetchAll(database, sql: "\(place)(\(q(table.new)))")
    let referring = Set(
      try Row.fetchAll(database, sql: "PRAGMA foreign_key_list(\(q(table.new)))")
        .map { NameKey(try $0.stored("from", of: place)) }
    )
    return try rows.compactMap { row in
      let name: String = try row.stored("name", of: place)
      guard !known.contains(NameKey(name)), !name.hasPrefix("_dragoman_") else { return nil }
      let type: String = try row.stored("type", of: place)
      let isRequired = try row.stored("notnull", of: place, as: Int.self) != 0
      let value = try row.stored("dflt_value", of: place, as: String?.self)
      let isMade = try row.stored("hidden", of: place, as: Int.self) != 0
      if isMade || referring.contains(NameKey(name)) || (isRequired && value == nil) {
        throw StoreError(
          .modelConflict,
          "The column \(name) of \(table.new), which Dragoman did not make, cannot be made anew beside the"
            + " columns that change: it is generated, a reference, or NOT NULL without a default.",
          help: "drop it first, and make it again afterwards"
        )
      }
      let rules = (isRequired ? " NOT NULL" : "") + (value.map { " DEFAULT (\($0))" } ?? "")
      return (q(name), "\(q(name)) \(type)\(rules)")
    }
  }

  /// Makes the table anew and copies the rows.
  private func rebuild(_ table: MigrationPlan.TableChange, as new: Schema.Table) throws {
    let additions = try Row.fetchAll(
      database,
      sql: """
        SELECT type, name, sql FROM sqlite_master
        WHERE tbl_name = ? COLLATE NOCASE AND type IN ('index', 'trigger') AND sql NOT NULL
        """,
      arguments: [table.new]
    )
    let temporary = "_dragoman_new"
    try execute(
      Schema.Table(name: temporary, columns: new.columns, primaryKey: new.primaryKey).sql
    )
    let strange = try strangeColumns(of: table, new)
    for column in strange { try execute("ALTER TABLE \(temporary) ADD COLUMN \(column.sql)") }
    let columns = new.columns.filter { table.sources[$0.name] != nil }
    let names = columns.map { q($0.name) } + strange.map(\.name)
    let values = columns.map { value(of: $0, in: table) } + strange.map(\.name)
    try execute(
      "INSERT INTO \(temporary) (\(names.joined(separator: ", ")))"
        + " SELECT \(values.joined(separator: ", "))"
        + " FROM \(q(table.new)) ORDER BY _pk"
    )
    try execute("DROP TABLE \(q(table.new))")
    // Views and triggers that name the table are left as they are: it is there again at once.
    try execute("PRAGMA legacy_alter_table = ON")
    defer { try? database.execute(sql: "PRAGMA legacy_alter_table = OFF") }
    try execute("ALTER TABLE \(temporary) RENAME TO \(q(table.new))")
    for addition in additions {
      let schema = "sqlite_master"
      let type: String = try addition.stored("type", of: schema)
      let name: String = try addition.stored("name", of: schema)
      do {
        try execute(try addition.stored("sql", of: schema))
      } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
        throw StoreError(
          .modelConflict,
          "The \(type) \(name), which Dragoman did not make, does not fit \(table.new) any more:"
            + " \(error.message ?? "").",
          help: "drop it first, and make it again afterwards"
        )
      }
    }
  }

  private func makeTables() throws {
    for table in plan.madeTables {
      try Schema.checkIsFree(table.name, in: database)
      try execute(table.sql)
    }
  }

  // MARK: - The end

  private func makeIndexes() throws {
    for index in plan.newSchema.indexes {
      if try index.isThere(in: database) { continue }
      do {
        try execute(index.sql)
      } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
        throw StoreError.sharedValues(of: index)
      }
    }
  }

  /// The next ids follow their tables; those of tables that went stay, so that ids never return.
  private func renameKeys() throws {
    let renames = plan.tables.filter { !$0.old.utf8.elementsEqual($0.new.utf8) }
    guard !renames.isEmpty else { return }
    for (index, rename) in renames.enumerated() {
      try execute(
        "UPDATE _dragoman_keys SET \"table\" = ? WHERE \"table\" = ?",
        ["_dragoman_rename_\(index)", rename.old]
      )
    }
    for (index, rename) in renames.enumerated() {
      try execute(
        "INSERT INTO _dragoman_keys (\"table\", next)"
          + " SELECT ?, next FROM _dragoman_keys WHERE \"table\" = ?"
          + " ON CONFLICT (\"table\") DO UPDATE SET next = max(next, excluded.next)",
        [rename.new, "_dragoman_rename_\(index)"]
      )
      try execute(
        "DELETE FROM _dragoman_keys WHERE \"table\" = ?",
        ["_dragoman_rename_\(index)"]
      )
    }
  }

  private func checkReferences() throws {
    try beforeStatement()
    let strays = try Row.fetchAll(database, sql: "PRAGMA foreign_key_check")
    guard let first = strays.first else { return }
    let list = "PRAGMA foreign_key_check"
    let table: String = try first.stored("table", of: list)
    let target: String = try first.stored("parent", of: list)
    throw StoreError(
      .damaged,
      MessageWords.count(strays.count, "reference leads", "references lead")
        + " to objects that do not exist, the first from \(table)"
        + " to \(target).",
      help: "`PRAGMA foreign_key_check` lists them; clear them, and run the migration again"
    )
  }
}
