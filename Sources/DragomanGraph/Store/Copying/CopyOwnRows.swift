/// The rows of a table of ours that belong to a store: the next free keys, what waits, the history, contracts.
struct CopyOwnRows {
  /// A table of ours.
  struct Table {
    let name: String
    let columns: [String]
    let types: [ServerType]
    /// The column by which the rows are in order, and that nobody has twice.
    let key: String
    /// What makes it, where not every store has it.
    var creation: String?

    static let keys = Table(
      name: "_dragoman_keys",
      columns: ["table", "next"],
      types: [.text, .bigint],
      key: "table"
    )
    static let pending = Table(
      name: "_dragoman_pending",
      columns: ["id", "owner", "relationship", "entity", "key"],
      types: [.bigint, .bigint, .text, .text, .text],
      key: "id"
    )
    static let imports = Table(
      name: "_dragoman_imports",
      columns: ImportLedgerEntry.columns,
      types: ImportLedgerEntry.columns.map { ServerLedger.type(of: $0) },
      key: "id"
    )
    static let contracts = Table(
      name: ContractTable.name,
      columns: ContractTable.columns,
      types: [.bigint, .text, .text, .text],
      key: "run",
      creation: ContractTable.creation
    )
  }

  let table: Table
  private(set) var rows: [[StoredValue]] = []

  /// Reads all of them that concern a model.
  ///
  /// - Parameters:
  ///   - source: The store.
  ///   - layout: What of it is copied.
  /// - Returns: The rows by table.
  /// - Throws: `StoreError`, `.busy`, where an import in batches is not at its end: what it keeps belongs to it.
  static func all(of source: some CopyRows, for layout: ModelLayout) throws -> [CopyOwnRows] {
    for name in try source.tables(beginning: ServerRun.prefix)
    where name == ServerRun.prefix || ServerRun(name) != nil {
      // One that has kept nothing has committed nothing.
      try source.forEachRow(["state"], of: name, by: ["state"]) { _ in
        throw StoreError(
          .busy,
          "An import in batches is under way there, or was stopped: references wait in what it keeps.",
          help: "wait for its end, or resume it",
          path: source.name
        )
      }
    }
    let tables = Set(layout.tables.map { NameKey($0.name) })
    let links = Set(layout.links.map { NameKey("\(layout.entities[$0.owner].name).\($0.name)") })
    let hasContracts = try !source.tables(beginning: ContractTable.name).isEmpty
    let own: [Table] = [.keys, .pending, .imports] + (hasContracts ? [.contracts] : [])
    return try own.map { table in
      var found = CopyOwnRows(table: table)
      try source.forEachRow(table.columns, of: table.name, by: [table.key]) { row in
        switch table.name {
        case Table.keys.name where !isAmong(tables, row[0]): break
        case Table.pending.name where !isAmong(links, row[2]): break
        default: found.rows.append(row)
        }
      }
      return found
    }
  }

  private static func isAmong(_ names: Set<NameKey>, _ value: StoredValue) -> Bool {
    if case .text(let text) = value { names.contains(NameKey(text)) } else { false }
  }
}
