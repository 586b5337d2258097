extension ServerSession {
  /// Looks which link leads nowhere.
  func noteDangling(_ error: ServerError) throws {
    try connection.run("ROLLBACK TO SAVEPOINT checked")
    guard let name = error.constraint, let reference = schema.references[name] else { return }
    let column = Schema.quoted(reference.column)
    let key = reference.table.primaryKey.isEmpty ? "t._pk" : "t.owner"
    var found: (table: String, key: Int64?, target: String)?
    try connection.forEachRow(
      "SELECT \(key) FROM \(Schema.quoted(reference.table.name)) AS t WHERE t.\(column) IS NOT NULL"
        + " AND NOT EXISTS (SELECT 1 FROM \(Schema.quoted(reference.target)) AS o"
        + " WHERE o._pk = t.\(column)) LIMIT 1"
    ) { row in
      let isObject = reference.table.primaryKey.isEmpty
      found = (reference.table.name, isObject ? row[0].number : nil, reference.target)
    }
    linkChecks.found = found
  }

  func danglingLink() throws -> (table: String, key: Int64?, target: String)? { linkChecks.found }
}
