/// What writers do where tables lie on several machines.
extension ServerSession {
  /// How the tables of a model are to lie on several machines, beside those that are there.
  func distributing(
    _ layout: ModelLayout,
    besides tables: [String],
    _ known: ServerDistribution?
  ) throws -> ServerDistribution? {
    if store.references.isEmpty { return known }
    guard var distribution = known else { throw ServerDistribution.missing(store.references) }
    try distribution.addReferences(of: store.references, in: layout, besides: tables)
    try distribution.beginWriting(on: connection)
    return distribution
  }

  /// The statements of the open transaction that a file takes as well.
  var sql: ServerSQL {
    var sql = ServerSQL(connection: connection, name: store.name)
    guard schema.distribution != nil else { return sql }
    sql.isDistributed = true
    sql.onDeletion = { [weak self] in self?.linkChecks.note($0, of: $1) }
    return sql
  }

  /// Waits until nobody else writes, commits or begins to read.
  func takeTurn() throws {
    try waiting("SAVEPOINT turn; \(ServerDistribution.turn)", undoing: "ROLLBACK TO SAVEPOINT turn")
    try connection.run("RELEASE SAVEPOINT turn")
  }
}
