extension ServerStore {
  /// Runs `INSERT INTO _dragoman_keys … ON CONFLICT … DO UPDATE` in a transaction of its own, on a connection of its
  /// own: a writer may have one open.
  func reserveKeys(_ count: Int64, of tables: [String]) throws -> [Int64] {
    guard !tables.isEmpty else { return [] }
    return try connected { try Self.reserveKeys(count, of: tables, on: $0) }
  }

  /// Reserves keys in the transaction that is open on a connection, or in one of its own.
  static func reserveKeys(
    _ count: Int64,
    of tables: [String],
    on connection: any ServerConnection
  ) throws -> [Int64] {
    var starts: [String: Int64] = [:]
    var names = ServerArray(.text)
    // In one order, so that two that reserve for several tables do not wait for each other.
    for table in tables.sorted() { try names.append(.text(table)) }
    try connection.forEachRow(
      "INSERT INTO _dragoman_keys AS k (\"table\", next) SELECT t, 1 + $2::bigint FROM unnest($1::text[])"
        + " AS n(t) ON CONFLICT (\"table\") DO UPDATE SET next = k.next + $2::bigint"
        + " RETURNING \"table\", next",
      [names.parameter, ServerParameter(count)]
    ) { row in starts[row[0].text ?? ""] = row[1].number - count }
    return try tables.map { table in
      guard let start = starts[table] else {
        throw StoreError(.damaged, "The server gave no keys for the table \(table).")
      }
      return start
    }
  }

  func releaseKeys(_ blocks: [(table: String, next: Int64, end: Int64)]) throws {
    try connected { connection in
      for block in blocks {
        try connection.run(
          "UPDATE _dragoman_keys SET next = $1::bigint WHERE \"table\" = $2::text AND next = $3::bigint",
          [
            ServerParameter(block.next), try ServerParameter(block.table),
            ServerParameter(block.end),
          ]
        )
      }
    }
  }
}
