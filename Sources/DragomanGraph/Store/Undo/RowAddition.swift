import GRDB

/// What the rows of a table got in a column when the model was changed since an import: rows that come back get it, too.
///
/// A record of an import has its rows as they were then. In a column that is newer, or that was not required yet, they
/// have null.
struct RowAddition: Codable {
  /// The table.
  let table: String
  /// The column in which null became something.
  let column: String
  /// What it became.
  let value: StoredValue
  /// The entities whose rows got it; nil: all rows did.
  var entities: [String]?

  /// The name of the entity that all rows of a table were of when it got sub-entities or a parent.
  static func name(_ entity: String, in table: String) -> RowAddition {
    RowAddition(table: table, column: "_entity", value: .text(entity))
  }

  /// Writes down for all imports that are recorded what was done to the rows that are there.
  ///
  /// Runs `SELECT` and `INSERT … ON CONFLICT DO UPDATE` a recorded import, in the open transaction. A record that cannot
  /// be read is dropped.
  ///
  /// - Parameters:
  ///   - additions: What was done, in its order.
  ///   - sql: The statements of the writer.
  /// - Throws: `StoreError`.
  static func note(_ additions: [RowAddition], _ sql: any SharedSQL) throws {
    if additions.isEmpty { return }
    for run in try RecordedRun.all(sql) {
      guard var recorded = try RecordedRun.readable(run, sql) else {
        // Without it, who can read the record would bring rows back that lack it.
        try RecordedRun.drop(run, sql)
        continue
      }
      recorded.additions = (recorded.additions ?? []) + additions
      try recorded.save(as: run, sql)
    }
  }

  /// Gives it to rows that have null there.
  ///
  /// Runs an `UPDATE` a row.
  ///
  /// - Parameters:
  ///   - keys: The keys of the rows.
  ///   - database: The connection, in a transaction.
  /// - Returns: The keys of the rows that cannot have it, as others have it and no two may.
  /// - Throws: What SQLite throws.
  func give(to keys: [Int64], in database: Database) throws -> [Int64] {
    let names = entities.map { $0.map(Schema.literal).joined(separator: ", ") }
    let column = Schema.quoted(column)
    let statement = try RawStatement(
      kept:
        "UPDATE main.\(Schema.quoted(table)) SET \(column) = ?2 WHERE _pk = ?1 AND \(column) IS NULL"
        + (names.map { " AND _entity IN (\($0))" } ?? ""),
      in: database
    )
    return try keys.filter { key in
      statement.bind(integer: key, 1)
      try statement.bind(value, 2)
      do throws(DatabaseError) {
        try statement.run()
        return false
      } catch {
        guard error.resultCode == .SQLITE_CONSTRAINT, database.isInsideTransaction else {
          throw error
        }
        return true
      }
    }
  }
}

extension RecordedRun {
  /// Refuses rows that would come back as objects of no entity: their table got sub-entities, or a parent, by a version
  /// of Dragoman that did not write down how it named the rows that were there.
  ///
  /// - Parameters:
  ///   - run: The run.
  ///   - sql: The statements of the file.
  ///   - database: Its connection.
  /// - Throws: `StoreError`, `.undo`.
  func checkEntities(of run: Int64, _ sql: FileSQL, in database: Database) throws {
    let unnamed = try tables.filter { table in
      let isNoted = additions?.contains {
        hasSameBytes($0.table, table.name) && $0.column == "_entity"
      }
      return try !table.columns.contains("_entity") && isNoted != true
        && database.columnNames(of: table.name).contains("_entity")
    }
    if unnamed.isEmpty { return }
    let names = Set(unnamed.map { NameKey($0.name) })
    var lost: String?
    try Self.forEachChangeset(of: run, sql) { changes in
      try changes.withRows { row in
        if row.operation == .deleted, names.contains(NameKey(row.table)) { lost = row.table }
      }
    }
    guard let lost else { return }
    throw StoreError(
      .undo,
      "An older version of Dragoman has given sub-entities to the table \(lost) since import \(run), which cannot be"
        + " taken back any more.",
      path: sql.path
    )
  }
}
