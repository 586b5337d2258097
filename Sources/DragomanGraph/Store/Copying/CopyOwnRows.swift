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
  ///   - leavesStopped: Whether what imports keep that were stopped stays behind.
  /// - Returns: The rows by table.
  /// - Throws: `StoreError`, `.busy`, where an import in batches is not at its end: what it keeps belongs to it.
  static func all(
    of source: some CopyRows,
    for layout: ModelLayout,
    leavingStopped leavesStopped: Bool
  ) throws -> [CopyOwnRows] {
    try checkRuns(of: source, leavesStopped)
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
        case Table.imports.name: found.rows.append(Self.stopping(row))
        default: found.rows.append(row)
        }
      }
      return found
    }
  }

  /// Where the status stands in a row of an import.
  private static let status = ImportLedgerEntry.columns.firstIndex(of: "status")

  /// The row of an import; one that is not at its end was stopped, as far as the copy knows.
  private static func stopping(_ row: [StoredValue]) -> [StoredValue] {
    guard let status, row[status] == .text(ImportLedgerEntry.Status.running.rawValue) else {
      return row
    }
    var row = row
    row[status] = .text(ImportLedgerEntry.Status.stopped.rawValue)
    return row
  }

  /// Refuses to copy beside imports in batches that are not at their end, but for those that were stopped where they are
  /// to be left.
  private static func checkRuns(of source: some CopyRows, _ leavesStopped: Bool) throws {
    for name in try source.tables(beginning: ServerRun.prefix)
    where name == ServerRun.prefix || ServerRun(name) != nil {
      var state: String?
      try source.forEachRow(["state"], of: name, by: ["state"]) { state = $0[0].string }
      // One that has kept nothing has committed nothing.
      guard let state else { continue }
      let run = RunOwner(state).map { "import \($0.ledger)" } ?? "an import in batches"
      if try source.isRunning(name, state) {
        throw StoreError(
          .busy,
          "There \(run) is under way, in batches: references wait in what it keeps.",
          help: "wait for its end",
          path: source.name
        )
      }
      if leavesStopped { continue }
      throw StoreError(
        .busy,
        "There \(run) was stopped between two batches, or waits for other partitions: references wait in what"
          + " it keeps.",
        help:
          "go on with it, import the whole of its inputs again, take it back, or leave what it keeps behind",
        path: source.name
      )
    }
  }

  private static func isAmong(_ names: Set<NameKey>, _ value: StoredValue) -> Bool {
    if case .text(let text) = value { names.contains(NameKey(text)) } else { false }
  }
}
