/// The ledger on a server: the table `_dragoman_imports`, with the columns that a file has.
enum ServerLedger {
  /// The type of a column.
  static func type(of column: String) -> ServerType {
    let texts = ["source", "fingerprint", "map", "map_hash", "started", "finished", "status"]
    return texts.contains(column) ? .text : .bigint
  }

  /// Writes an entry, or writes it anew.
  ///
  /// - Returns: Its number.
  static func save(
    _ entry: ImportLedgerEntry,
    to connection: any ServerConnection
  ) throws -> Int64? {
    let texts = [entry.source, entry.fingerprint, entry.map, entry.mapHash, entry.started]
    let counts = entry.counts
    let numbers = [
      entry.committed, counts.read, counts.inserted, counts.updated, counts.unchanged,
      counts.deleted, counts.skipped, counts.rejected, entry.byteCount,
    ]
    // A name of an input may be anything; what the server cannot hold is no reason to fail.
    var parameters = try texts.map { try ServerParameter($0.replacing("\0", with: "\u{FFFD}")) }
    parameters.append(try entry.finished.map { try ServerParameter($0) } ?? .null)
    parameters.append(try ServerParameter(entry.status.rawValue))
    parameters += numbers.map { ServerParameter(Int64($0)) }
    let values = parameters.indices.map { "$\($0 + 1)::\($0 < 7 ? "text" : "bigint")" }
    let own = ImportLedgerEntry.columns.dropFirst()
    if let id = entry.id {
      parameters.append(ServerParameter(id))
      let assignments = zip(own, values).map { "\($0) = \($1)" }.joined(separator: ", ")
      try connection.run(
        "UPDATE _dragoman_imports SET \(assignments) WHERE id = $\(parameters.count)::bigint",
        parameters
      )
      return id
    }
    var id: Int64?
    try connection.forEachRow(
      "INSERT INTO _dragoman_imports (\(own.joined(separator: ", ")))"
        + " VALUES (\(values.joined(separator: ", "))) RETURNING id",
      parameters
    ) { id = $0[0].number }
    return id
  }
}
