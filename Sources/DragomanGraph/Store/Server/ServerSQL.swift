import GRDB

/// The statements that a server takes as a file does.
package struct ServerSQL: SharedSQL {
  /// The tables of the schema, as what follows `SELECT …`.
  static let tables =
    "FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())"
    + " AND relkind IN ('r', 'p')"

  /// Those whose names begin so, and of which this user has all of some privileges.
  static func tables(beginning start: String, allowing privileges: String...) -> String {
    let tests = privileges.map { " AND has_table_privilege(oid, '\($0)')" }
    return "\(tables) AND starts_with(relname::text, \(Schema.literal(start)))\(tests.joined())"
  }

  let connection: any ServerConnection
  /// The server in messages.
  let name: String
  /// Whether the tables lie on several machines.
  var isDistributed = false
  /// Told which rows of which table are deleted, where the server does not look for links to them.
  var onDeletion: (([Int64], String) -> Void)?

  package var temporarySchema: String { "pg_temp" }
  package var keyedTable: String { "" }
  package var bytesType: String { "bytea" }
  package var portion: Int { 50_000 }
  package var apart: String { isDistributed ? ServerDistribution.apart : "" }

  package func note(deleted keys: [Int64], from table: String) { onDeletion?(keys, table) }

  @discardableResult
  package func run(_ sql: String, _ values: [StoredValue]) throws(StoreError) -> Int {
    try StoreError.namingServer(name) {
      try connection.run(Self.numbered(sql), try values.map(Self.parameter))
    }
  }

  package func values(
    _ columns: [String],
    _ source: String,
    _ values: [StoredValue]
  ) throws(StoreError) -> [[StoredValue]] {
    try StoreError.namingServer(name) {
      var found: [[StoredValue]] = []
      try connection.forEachRow(
        "SELECT \(columns.joined(separator: ", ")) \(Self.numbered(source))",
        try values.map(Self.parameter)
      ) { row in found.append(columns.indices.map { StoredValue(row[$0]) }) }
      return found
    }
  }

  package func hasTable(_ name: String) throws(StoreError) -> Bool {
    try !rows(["relname::text"], Self.tables + " AND relname = ?1", [.text(name)]).isEmpty
  }

  package func tables(beginning start: String) throws(StoreError) -> [String] {
    try names(Self.tables(beginning: start))
  }

  /// The tables whose names begin so, and which this user may read.
  func readableTables(beginning start: String) throws(StoreError) -> [String] {
    try names(Self.tables(beginning: start, allowing: "SELECT"))
  }

  private func names(_ source: String) throws(StoreError) -> [String] {
    try rows(["relname::text"], source).map { row throws(StoreError) in
      try row.stored(0, of: "pg_class")
    }
  }

  package func insert(_ pairs: [(Int64, Int64)], into table: String) throws(StoreError) {
    guard !pairs.isEmpty else { return }
    try StoreError.namingServer(name) {
      _ = try connection.run(
        "INSERT INTO \(table) SELECT * FROM unnest($1::bigint[], $2::bigint[]) ON CONFLICT DO NOTHING",
        [ServerParameter(pairs.map(\.0)), ServerParameter(pairs.map(\.1))]
      )
    }
  }

  private static func parameter(_ value: StoredValue) throws(StoreError) -> ServerParameter {
    switch value {
    case .null: .null
    case .integer(let integer): ServerParameter(integer)
    // A name of a feed may be anything; what the server cannot hold is no reason to fail.
    case .text(let text): try ServerParameter(text.replacing("\0", with: "\u{FFFD}"))
    case .real: try ServerParameter(value, .real)
    case .blob: try ServerParameter(value, .bytes)
    }
  }

  /// `$1` in place of `?1`, outside of quotes.
  private static func numbered(_ sql: String) -> String {
    var bytes: [UInt8] = []
    var quote: UInt8?
    for byte in sql.utf8 {
      if let open = quote {
        if byte == open { quote = nil }
        bytes.append(byte)
      } else {
        if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") { quote = byte }
        bytes.append(byte == UInt8(ascii: "?") ? UInt8(ascii: "$") : byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
