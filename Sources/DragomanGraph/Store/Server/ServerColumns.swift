/// The tables of a server as they are: their numbers, and their columns in the order of their rows.
struct ServerColumns {
  private var tables: [NameKey: (oid: Int64, columns: [NameKey: Int])] = [:]

  /// Reads the catalog: `pg_class` and `pg_attribute`.
  init(_ connection: any ServerConnection) throws {
    try connection.forEachRow(
      "SELECT c.relname::text, c.oid::bigint, a.attname::text FROM pg_class AS c"
        + " JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
        + " WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())"
        + " AND c.relkind IN ('r', 'p') ORDER BY c.oid, a.attnum"
    ) { row in
      guard let name = row[0].text, let column = row[2].text else { return }
      let oid = row[1].number
      let place = tables[NameKey(name)]?.columns.count ?? 0
      tables[NameKey(name), default: (oid, [:])].columns[NameKey(column)] = place
    }
  }

  /// The number of a table; nil: there is none.
  func oid(of table: String) -> Int64? { tables[NameKey(table)]?.oid }

  /// Whether the first columns of a table are these.
  func begin(with columns: [String], in table: String) -> Bool {
    let places = tables[NameKey(table)]?.columns ?? [:]
    return columns.enumerated().allSatisfy { places[NameKey($0.element)] == $0.offset }
  }

  /// A table with its columns in the order in which its rows have them: a column that was added is behind.
  func ordered(_ table: Schema.Table) -> Schema.Table {
    guard let places = tables[NameKey(table.name)]?.columns else { return table }
    var ordered = table
    ordered.columns.sort { left, right in
      places[NameKey(left.name)] ?? .max < places[NameKey(right.name)] ?? .max
    }
    return ordered
  }
}
