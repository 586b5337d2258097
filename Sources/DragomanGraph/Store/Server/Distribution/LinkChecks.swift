/// Keys that links may lead to and that may not be there, of a transaction on a server that does not hold distributed
/// tables to their references: they are looked for before the commit.
struct LinkChecks {
  /// The keys by table.
  private var suspects: [NameKey: Set<Int64>] = [:]
  /// A link that leads nowhere: its table, its owner's key where that is an object's row, and the table that it leads to.
  var found: (table: String, key: Int64?, target: String)?

  /// Keys of one statement.
  private static let chunk = 50_000

  /// Notes rows that were deleted, or were not there when a link to them was written.
  mutating func note(_ keys: some Sequence<Int64>, of table: String) {
    suspects[NameKey(table), default: []].formUnion(keys)
  }

  /// Looks for a link that leads nowhere; `found` has it afterwards.
  ///
  /// Runs `SELECT _pk FROM … WHERE _pk = ANY($1)` for the tables that rows are gone of, and `SELECT … WHERE link = ANY($1)`
  /// for those that refer to them.
  ///
  /// - Parameters:
  ///   - schema: The tables.
  ///   - connection: In the transaction.
  /// - Throws: `ServerError`.
  mutating func look(in schema: ServerSchema, on connection: any ServerConnection) throws {
    for (target, keys) in suspects {
      let all = Array(keys)
      for start in stride(from: 0, to: all.count, by: Self.chunk) {
        let part = all[start..<min(start + Self.chunk, all.count)]
        var gone = Set(part)
        try connection.forEachRow(
          "SELECT _pk FROM \(Schema.quoted(target.name)) WHERE _pk = ANY($1::bigint[])",
          [ServerParameter(part)]
        ) { gone.remove($0[0].number) }
        if gone.isEmpty { continue }
        found = try link(to: gone, target, schema, connection)
        if found != nil { return }
      }
    }
  }

  private func link(
    to gone: Set<Int64>,
    _ target: NameKey,
    _ schema: ServerSchema,
    _ connection: any ServerConnection
  ) throws -> (table: String, key: Int64?, target: String)? {
    let keys = ServerParameter(gone)
    for table in schema.tables {
      let isObject = table.primaryKey.isEmpty
      for column in table.columns {
        guard let other = column.references, NameKey(other) == target else { continue }
        var found: (table: String, key: Int64?, target: String)?
        try connection.forEachRow(
          "SELECT \(isObject ? "_pk" : "owner") FROM \(Schema.quoted(table.name))"
            + " WHERE \(Schema.quoted(column.name)) = ANY($1::bigint[]) LIMIT 1",
          [keys]
        ) { found = (table.name, isObject ? $0[0].number : nil, target.name) }
        if let found { return found }
      }
    }
    return nil
  }
}
