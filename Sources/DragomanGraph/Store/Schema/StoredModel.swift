import GRDB

/// The model that is stored with the file, in `_dragoman_model`.
struct StoredModel: Sendable {
  /// The model compiled.
  let layout: ModelLayout
  /// The text that stands in the file; nil where it has no model yet.
  let text: String?

  /// Reads it.
  ///
  /// - Throws: as `load(_:)`; `.damaged` for what is no table.
  init(_ database: Database) throws {
    layout = try Self.load(database)
    let strangers = try Self.strangers(in: database)
    if !strangers.isEmpty {
      let names = Set(Schema(layout).tables.map { Self.folded($0.name) })
      try Self.check(strangers) { names.contains($0) }
    }
    try Self.check(generated: Schema(layout).tables, in: database)
    text = try Self.text(database)
  }

  /// Describes a model that was written in the open transaction.
  init(_ layout: ModelLayout, in database: Database) throws {
    self.layout = layout
    text = try Self.text(database)
  }

  /// What the file has now, if that is another model than this one.
  func changed(in database: Database) throws -> StoredModel? {
    try Self.text(database) == text ? nil : StoredModel(database)
  }

  /// The text that stands in the file; nil where it has no model yet.
  static func text(_ database: Database) throws -> String? {
    guard try database.hasTable("_dragoman_model") else { return nil }
    return try database.storedValue(
      "SELECT model FROM _dragoman_model WHERE id = 1",
      of: "_dragoman_model",
      as: String.self
    )
  }

  /// The stored model; empty for a database without tables.
  ///
  /// Reads `PRAGMA encoding`, `PRAGMA application_id`, `PRAGMA user_version`, `sqlite_master` and `_dragoman_model`.
  /// - Throws: `.notAStore`, `.newerFormat` or `.damaged`.
  static func load(_ database: Database) throws -> ModelLayout {
    let encoding = try String.fetchOne(database, sql: "PRAGMA encoding") ?? ""
    guard encoding == "UTF-8" else {
      throw StoreError(
        .notAStore,
        "The database holds its text as \(encoding), and Dragoman compares text as UTF-8.",
        help: "open another file"
      )
    }
    let application = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
    let tables = try String.fetchAll(
      database,
      sql: """
        SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
        """
    )
    guard application == Schema.applicationID else {
      if application == 0 && tables.isEmpty { return ModelLayout(Model()) }
      throw StoreError(
        .notAStore,
        tables.isEmpty
          ? "The database belongs to another program (application_id \(application))."
          : "The database holds tables that Dragoman did not make: \(tables.prefix(5).joined(separator: ", ")).",
        help: "open another file"
      )
    }
    try check(try strangers(in: database)) { $0.starts(with: "_dragoman_".utf8) }
    try check(generated: [], in: database)
    let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    guard version <= Schema.formatVersion else {
      throw StoreError(
        .newerFormat,
        "The database has format \(version); this version of Dragoman knows \(Schema.formatVersion).",
        help: "use a newer version of Dragoman"
      )
    }
    let text = try database.storedValue(
      "SELECT model FROM _dragoman_model WHERE id = 1",
      of: "_dragoman_model",
      as: String.self
    )
    guard let text else {
      throw StoreError(.damaged, "The database has lost its model (_dragoman_model is empty).")
    }
    return try ModelLayout(stored: text)
  }

  /// The views and virtual tables of a database: what has no page of its own
  /// (https://www.sqlite.org/schematab.html).
  private static func strangers(in database: Database) throws -> [String] {
    try String.fetchAll(
      database,
      sql:
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND coalesce(rootpage, 0) = 0"
    )
  }

  /// Refuses one that has the name of a table of the model, or of our own: what it does when it is read is its maker's
  /// to say.
  ///
  /// - Throws: `.damaged`.
  private static func check(_ strangers: [String], isTable: ([UInt8]) -> Bool) throws(StoreError) {
    guard let name = strangers.first(where: { isTable(folded($0)) }) else { return }
    throw StoreError(
      .damaged,
      "\(name) is a view or a virtual table, and not the table that it should be."
    )
  }

  /// Refuses columns of tables that are computed when they are read: that is their maker's to say, and nothing ends one
  /// function of SQLite.
  ///
  /// - Throws: `.damaged`.
  private static func check(generated tables: [Schema.Table], in database: Database) throws {
    let found = try Row.fetchAll(
      database,
      sql: """
        SELECT m.name, x.name FROM sqlite_master m, pragma_table_xinfo(m.name) x
        WHERE m.type = 'table' AND x.hidden IN (2, 3)
        """
    )
    for row in found {
      let (table, column): (String, String) = (row[0], row[1])
      let isOurs = folded(table).starts(with: "_dragoman_".utf8)
      let isModels = tables.contains {
        folded($0.name) == folded(table)
          && $0.columns.contains { folded($0.name) == folded(column) }
      }
      guard isOurs || isModels else { continue }
      throw StoreError(
        .damaged,
        "The column \(column) of \(table) is computed when it is read, and not stored as it should be."
      )
    }
  }

  /// A name as SQLite compares it: letters of ASCII have no case.
  private static func folded(_ name: String) -> [UInt8] {
    name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }

  /// Makes our own tables in a database that has none.
  static func initialize(_ database: Database) throws {
    try database.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
    try database.execute(sql: "PRAGMA user_version = \(Schema.formatVersion)")
    for statement in Schema.ownTables { try database.execute(sql: statement) }
  }

  /// Stores the model in place of the one that was there.
  static func save(_ layout: ModelLayout, to database: Database) throws {
    let text = try layout.storedText()
    try database.execute(
      sql: "INSERT INTO _dragoman_model (id, model) VALUES (1, ?)"
        + " ON CONFLICT (id) DO UPDATE SET model = excluded.model",
      arguments: [text]
    )
  }
}
