import GRDB

/// Names that a file has for something else: SQLite has one space of names for tables, views and indexes, and ignores
/// the case of ASCII letters.
extension Schema.Index {
  /// Whether a database has the index already.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - path: Its file, for messages.
  /// - Returns: Whether it is there.
  /// - Throws: `StoreError`, `.modelConflict`, where something that Dragoman did not make has its name.
  func isThere(in database: Database, at path: String? = nil) throws -> Bool {
    guard let type = try Schema.holder(of: name, in: database) else { return false }
    if try isThis(database) { return true }
    let kind = isUnique ? "a unique key" : "an index"
    throw StoreError(
      .modelConflict,
      "The \(type) \(name), which Dragoman did not make, has the name that \(kind) of \(table) over"
        + " \(columns.joined(separator: ", ")) gets.",
      help: "drop it first, and make it again under another name",
      path: path
    )
  }

  /// Drops the index where the database has it; one of somebody else with its name stays.
  ///
  /// - Returns: The statement that is to be run; nil: none.
  func removal(in database: Database) throws -> String? {
    try isThis(database) ? "DROP INDEX \(Schema.quoted(name))" : nil
  }

  /// Whether the index of this name is one of the table's, over these columns and nothing else.
  ///
  /// Runs `PRAGMA index_list` and `PRAGMA index_xinfo`.
  fileprivate func isThis(_ database: Database) throws -> Bool {
    let place = "PRAGMA index_list"
    let list = try Row.fetchOne(
      database,
      sql: "SELECT \"unique\", partial FROM pragma_index_list(?) WHERE name = ? COLLATE NOCASE",
      arguments: [table, name]
    )
    guard let list, try list.stored("unique", of: place, as: Int.self) == (isUnique ? 1 : 0),
      try list.stored("partial", of: place, as: Int.self) == 0
    else { return false }
    let found = try String.fetchAll(
      database,
      sql: "SELECT CASE WHEN \"desc\" = 0 AND coll = 'BINARY' THEN coalesce(name, '') ELSE '' END"
        + " FROM pragma_index_xinfo(?) WHERE \"key\" ORDER BY seqno",
      arguments: [name]
    )
    return found.elementsEqual(columns, by: hasSameBytes)
  }
}

extension Schema {
  /// The unique keys whose indexes a database does not have: somebody has dropped them.
  ///
  /// - Parameter database: The database; one without tables has lost nothing.
  /// - Returns: The indexes that are to be made again.
  /// - Throws: `StoreError`, `.modelConflict`, where something that Dragoman did not make has the name of one.
  func lostKeys(in database: Database) throws -> [Index] {
    try indexes.filter { index in
      guard index.isUnique, try !index.isThis(database), try database.hasTable(index.table) else {
        return false
      }
      return try !index.isThere(in: database)
    }
  }

  /// What has a name in a database: `table`, `view` or `index`; nil: nothing.
  static func holder(of name: String, in database: Database) throws -> String? {
    try String.fetchOne(
      database,
      sql: "SELECT type FROM sqlite_master WHERE name = ? COLLATE NOCASE AND type <> 'trigger'",
      arguments: [name]
    )
  }

  /// Refuses the name of a table that is to be made where something else has it: what we did not make is not taken
  /// over.
  ///
  /// - Parameters:
  ///   - table: The name.
  ///   - database: The database.
  ///   - path: Its file, for messages.
  /// - Throws: `StoreError`, `.modelConflict`.
  static func checkIsFree(
    _ table: String,
    in database: Database,
    at path: String? = nil
  ) throws {
    guard let type = try holder(of: table, in: database) else { return }
    throw StoreError(
      .modelConflict,
      "The database has \(type == "index" ? "an" : "a") \(type) \(table) already that Dragoman does not know as an"
        + " entity.",
      help: "give the entity another name with `table:` in the map",
      path: path
    )
  }
}
