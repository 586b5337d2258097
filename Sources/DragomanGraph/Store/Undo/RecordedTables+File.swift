import GRDB

extension RecordedTables {
  /// The tables of a file, in an open transaction.
  ///
  /// Runs `SELECT EXISTS` and `PRAGMA table_info` a table.
  ///
  /// - Parameters:
  ///   - layout: The model.
  ///   - database: The connection.
  ///   - isWhole: Whether the transaction holds everything that is recorded.
  /// - Throws: What SQLite refuses.
  init(_ layout: ModelLayout, in database: Database, isWhole: Bool) throws {
    let tables = Schema(layout).tables
    var empty: Set<String> = []
    if isWhole {
      for table in tables where try !database.hasRows(table.name) { empty.insert(table.name) }
    }
    newTables = tables.filter { $0.primaryKey.isEmpty && empty.contains($0.name) }.map(\.name)
    newLinks = tables.compactMap { table in
      guard !table.primaryKey.isEmpty, empty.contains(table.name),
        let owners = table.columns.first(where: { $0.name == "owner" })?.references,
        empty.contains(owners)
      else { return nil }
      return RecordedRun.NewLinks(name: table.name, owners: owners)
    }
    let new = Set(newTables + newLinks.map(\.name))
    var names = tables.map(\.name).filter { !new.contains($0) }
    // References of new objects that wait go with them.
    if !names.isEmpty { names.append(PendingReference.table) }
    noted = try names.map { .init(name: $0, columns: try database.columnNames(of: $0)) }
  }
}

extension Database {
  /// The columns of a table, in the order in which its rows have them.
  func columnNames(of table: String) throws -> [String] {
    try Row.fetchAll(self, sql: "PRAGMA main.table_info(\(Schema.quoted(table)))").map {
      try $0.stored("name", of: table)
    }
  }

  /// Whether a table has rows.
  func hasRows(_ table: String) throws -> Bool {
    try Bool.fetchOne(self, sql: "SELECT EXISTS (SELECT 1 FROM main.\(Schema.quoted(table)))")
      == true
  }
}
