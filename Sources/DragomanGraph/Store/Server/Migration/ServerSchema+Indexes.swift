/// Indexes of tables that hold objects.
extension ServerSchema {
  /// Makes an index.
  ///
  /// - Throws: `StoreError`, `.modelConflict`, where objects share the values of a unique key, with their number; what
  ///   the server throws.
  func make(_ index: Schema.Index, _ sql: String, on connection: any ServerConnection) throws {
    guard index.isUnique else { return try connection.run(sql) }
    // Distributed tables have no constraint for it.
    if distribution != nil {
      let count = try sharedCount(index, on: connection)
      if count > 0 { throw StoreError.sharedValues(of: index, count) }
    }
    do throws(ServerError) {
      try connection.run("SAVEPOINT indexed; \(sql); RELEASE SAVEPOINT indexed")
    } catch {
      guard error.isUniqueViolation else { throw error }
      try connection.run("ROLLBACK TO SAVEPOINT indexed")
      throw StoreError.sharedValues(of: index, try sharedCount(index, on: connection))
    }
  }

  /// How many objects share the values of an index.
  private func sharedCount(
    _ index: Schema.Index,
    on connection: any ServerConnection
  ) throws -> Int64 {
    let columns = index.columns.map(Schema.quoted)
    var count: Int64 = 0
    try connection.forEachRow(
      "SELECT coalesce(sum(n), 0)::bigint FROM (SELECT count(*) AS n FROM \(Schema.quoted(index.table))"
        + " WHERE \(columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND "))"
        + " GROUP BY \(columns.joined(separator: ", ")) HAVING count(*) > 1) AS shared"
    ) { count = $0[0].number }
    return count
  }
}
