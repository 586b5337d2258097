/// The side of a copy that is filled.
protocol CopyTarget: CopyRows {
  /// Begins, or goes on where an earlier copy was stopped.
  ///
  /// - Parameters:
  ///   - layout: What is to be there.
  ///   - startsAnew: Whether what a copy that was stopped has left goes first.
  /// - Returns: What is there already, by table.
  /// - Throws: `StoreError`, `.output`, where something else is there.
  func begin(_ layout: ModelLayout, startsAnew: Bool) throws -> [NameKey: CopyProgress]

  /// Adds rows of a table, and notes how far it has come with them.
  func add(_ rows: [[StoredValue]], to table: Schema.Table, _ progress: CopyProgress) throws

  /// Makes what was added a store: indexes, constraints, the next free keys, what waits, the history.
  func end(_ own: CopyOwnRows) throws
}

/// How far the copy of a table has come.
struct CopyProgress: Equatable {
  /// How many rows are there, the first ones by key.
  var rowCount = 0
  /// Their hash.
  var hash = ContentHash()

  mutating func add(_ row: [StoredValue]) {
    rowCount += 1
    for value in row { hash.add(value: value) }
  }

  /// The hash in 16 hexadecimal digits.
  var digest: String { hash.digits }
}

/// The rows of the tables that every store has.
struct CopyOwnRows {
  static let keyColumns = ["table", "next"]
  static let pendingColumns = ["id", "owner", "relationship", "entity", "key"]
  static let importColumns = ImportLedgerEntry.columns

  /// The next free key of each table.
  var keys: [[StoredValue]] = []
  /// References that wait.
  var pending: [[StoredValue]] = []
  /// The history.
  var imports: [[StoredValue]] = []

  /// Reads what concerns the tables and relationships of a model.
  init(_ source: some CopyRows, for layout: ModelLayout) throws {
    let tables = Set(layout.tables.map { NameKey($0.name) })
    let links = Set(
      layout.links.map { NameKey("\(layout.entities[$0.owner].name).\($0.name)") }
    )
    func name(_ value: StoredValue) -> NameKey? {
      if case .text(let text) = value { NameKey(text) } else { nil }
    }
    try source.forEachRow(Self.keyColumns, of: "_dragoman_keys", by: ["table"]) { row in
      if let name = name(row[0]), tables.contains(name) { keys.append(row) }
    }
    try source.forEachRow(Self.pendingColumns, of: "_dragoman_pending", by: ["id"]) { row in
      if let name = name(row[2]), links.contains(name) { pending.append(row) }
    }
    try source.forEachRow(Self.importColumns, of: "_dragoman_imports", by: ["id"]) {
      imports.append($0)
    }
  }
}
