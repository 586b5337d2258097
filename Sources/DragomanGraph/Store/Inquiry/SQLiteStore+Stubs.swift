import GRDB

extension SQLiteStore {
  /// How many objects hold a key only until their record comes.
  ///
  /// Runs `SELECT count(_stub)` over each table that can have any, which reads the whole of it.
  ///
  /// - Returns: The number of all entities.
  /// - Throws: `StoreError` where the file cannot be read.
  package func stubCount() throws(StoreError) -> Int {
    let tables = layout.entities.filter { $0.root == $0.index && $0.hasStubColumn }.map(\.table)
    return try read { database in
      try tables.reduce(0) { count, table in
        let sql = "SELECT count(_stub) FROM \(Schema.quoted(table))"
        return count + (try Int.fetchOne(database, sql: sql) ?? 0)
      }
    }
  }

  /// Whether an object holds a key only until its record comes.
  ///
  /// - Parameter id: The object.
  /// - Returns: false, too, where there is no such object.
  /// - Throws: `StoreError` where the file cannot be read.
  package func isStub(_ id: ObjectID) throws(StoreError) -> Bool {
    let root = layout.entities.first { hasSameBytes($0.name, id.entity) }
    guard let root, root.hasStubColumn else { return false }
    return try read { database in
      try Bool.fetchOne(
        database,
        sql: "SELECT _stub IS NOT NULL FROM \(Schema.quoted(root.table)) WHERE _pk = ?",
        arguments: [id.primaryKey]
      ) ?? false
    }
  }
}
