extension ServerSession {
  /// Looks which link leads nowhere.
  func noteDangling(_ error: ServerError) throws {
    try connection.run("ROLLBACK TO SAVEPOINT checked")
    guard let link = try schema.danglingLink(error, on: connection), let owner = link.owner else {
      return
    }
    linkChecks.found = (link.table.name, link.table.primaryKey.isEmpty ? owner : nil, link.target)
  }

  func danglingLink() throws -> (table: String, key: Int64?, target: String)? { linkChecks.found }
}

extension ServerSchema {
  /// Looks which link leads nowhere, where the server refuses one.
  ///
  /// - Parameters:
  ///   - error: What the server says, of the state 23503.
  ///   - connection: One on which that is undone.
  /// - Returns: The link's table and column, the key of its owner, nil where there is no such link any more, and the
  ///   table that it leads to; nil: the reference is none of the model.
  /// - Throws: `ServerError`.
  func danglingLink(
    _ error: ServerError,
    on connection: any ServerConnection
  ) throws -> (table: Schema.Table, column: String, owner: Int64?, target: String)? {
    guard let name = error.constraint, let (table, column, target) = references[name] else {
      return nil
    }
    let link = Schema.quoted(column)
    var owner: Int64?
    try connection.forEachRow(
      "SELECT \(table.primaryKey.isEmpty ? "t._pk" : "t.owner") FROM \(Schema.quoted(table.name)) AS t"
        + " WHERE t.\(link) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(Schema.quoted(target)) AS o"
        + " WHERE o._pk = t.\(link)) ORDER BY 1 LIMIT 1"
    ) { owner = $0[0].number }
    return (table, column, owner, target)
  }
}
