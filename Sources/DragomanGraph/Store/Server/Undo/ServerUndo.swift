/// Does on a server what was done in a copy of it, where an import was taken back: the rows that changed are written,
/// and what the copy says of it.
struct ServerUndo {
  private let session: ServerSession
  private let copy: SQLiteStore

  /// - Parameters:
  ///   - session: Its transaction is open, and is the one that the copy was made in.
  ///   - copy: What was made in it.
  init(_ session: ServerSession, _ copy: SQLiteStore) {
    self.session = session
    self.copy = copy
  }

  /// Writes everything but the commit.
  ///
  /// - Parameter entry: What the copy's ledger says of it.
  /// - Returns: Whether it can be taken back itself.
  /// - Throws: `StoreError`, `ServerError`.
  func run(_ entry: ImportLedgerEntry) throws -> Bool {
    let (sql, number) = (session.sql, entry.id ?? 0)
    return try copy.write { reading in
      let recorded = try RecordedRun.load(number, reading.sql)
      let parts = try RecordedRun.parts(of: number, reading.sql).reversed()
      let writer = try ChangedRows(session)
      try session.connection.run("SET CONSTRAINTS ALL DEFERRED")
      for part in parts {
        try writer.write(try RecordedRun.changeset(part, of: number, reading.sql))
      }
      var own = entry
      own.id = nil
      try session.record(&own)
      let isRecorded = recorded.map { $0.rowCount <= WriteSession.recordedRowCount } ?? false
      if isRecorded, let own = own.id { try Self.keep(number, as: own, reading.sql, sql) }
      // What was undone, and what stands again.
      let statuses = try self.statuses(sql)
      for (run, status) in try self.statuses(reading.sql) where run != number {
        guard let known = statuses[run], known != status else { continue }
        try sql.run(
          "UPDATE _dragoman_imports SET status = ?1 WHERE id = ?2",
          [status, .integer(run)]
        )
      }
      try RecordedRun.dropOld(sql)
      return isRecorded
    }
  }

  private func statuses(_ sql: any SharedSQL) throws(StoreError) -> [Int64: StoredValue] {
    let rows = try sql.values(["id", "status"], "FROM _dragoman_imports", [])
    return Dictionary(
      rows.compactMap { row in row[0].integer.map { ($0, row[1]) } },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// Keeps what a file has recorded.
  ///
  /// - Parameters:
  ///   - run: The run's number in the file.
  ///   - own: Its number on the server.
  ///   - file: The statements of the file.
  ///   - sql: Those of the server.
  /// - Throws: `StoreError`.
  static func keep(
    _ run: Int64,
    as own: Int64,
    _ file: any SharedSQL,
    _ sql: any SharedSQL
  ) throws(StoreError) {
    guard try file.hasTable(RecordedRun.table) else { return }
    if try !sql.hasTable(RecordedRun.table) { try RecordedRun.makeTable(sql) }
    let parts = try file.integers(
      "part",
      "FROM \(RecordedRun.table) WHERE run = ?1 ORDER BY part",
      [.integer(run)]
    )
    for part in parts {
      guard let bytes = try RecordedRun.part(part, of: run, file) else { continue }
      try RecordedRun.add(bytes, as: part, to: own, sql)
    }
  }
}

/// Writes the rows of changesets into a server's tables, by sets.
private final class ChangedRows {
  /// Which columns of which table an update sets.
  private struct Shape: Hashable {
    let table: NameKey
    let columns: [Int]
  }

  private let session: ServerSession
  private let tables: [NameKey: Schema.Table]
  /// The server's numbers of references that wait again, by those that the copy gave them.
  private var numbers: [StoredValue: StoredValue] = [:]

  /// Reads how the server's rows look.
  init(_ session: ServerSession) throws {
    self.session = session
    let columns = try ServerColumns(session.connection)
    tables = Dictionary(
      (Schema(session.layout).tables + [ServerNotes.pending]).map {
        (NameKey($0.name), columns.ordered($0))
      },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// Writes a changeset: what goes first, what comes last.
  ///
  /// - Throws: `StoreError`, `.busy` where a row is not as it was; `ServerError`.
  func write(_ changes: Changeset) throws {
    var (deletions, insertions): ([NameKey: [[StoredValue]]], [NameKey: [[StoredValue]]]) = (
      [:], [:]
    )
    var updates: [Shape: [[StoredValue]]] = [:]
    try changes.withRows { row in
      let name = NameKey(row.table)
      let table = try self.table(name)
      let places = table.columns.indices.map { Int32($0) }
      func old(_ place: Int32) -> StoredValue {
        let value = row.old(place) ?? .null
        return table.name == PendingReference.table && place == 0 ? numbers[value] ?? value : value
      }
      switch row.operation {
      case .deleted: deletions[name, default: []].append(places.map(old))
      case .inserted:
        insertions[name, default: []].append(places.map { row.new($0) ?? .null })
      case .updated:
        let columns = table.columns.indices.filter { row.new(Int32($0)) != nil }
        let test = testedColumns(of: table, among: columns).map { old(Int32($0)) }
        updates[Shape(table: name, columns: columns), default: []]
          .append(test + columns.map { row.new(Int32($0)) ?? .null })
      }
    }
    for (name, rows) in deletions.sorted(by: { $0.key.name < $1.key.name }) {
      for chunk in rows.chunked { try delete(chunk, from: name) }
    }
    for (shape, rows) in updates.sorted(by: { $0.key.table.name < $1.key.table.name }) {
      for chunk in rows.chunked { try update(chunk, shape) }
    }
    for (name, rows) in insertions.sorted(by: { $0.key.name < $1.key.name }) {
      for chunk in rows.chunked { try insert(chunk, into: name) }
    }
  }

  private func table(_ name: NameKey) throws(StoreError) -> Schema.Table {
    if let table = tables[name] { return table }
    throw StoreError(
      .damaged,
      "What is recorded tells of a table \(name.name) that there is not."
    )
  }

  /// The columns that say which row it is, and the version where that changes.
  private func testedColumns(of table: Schema.Table, among changed: [Int]) -> [Int] {
    let key = table.columns.indices.filter { table.key.contains(table.columns[$0].name) }
    return key + changed.filter { table.columns[$0].isOwn && table.columns[$0].name == "_v" }
  }

  private func delete(_ rows: ArraySlice<[StoredValue]>, from name: NameKey) throws {
    let table = try table(name)
    let columns = testedColumns(of: table, among: Array(table.columns.indices))
    let (lists, names) = try lists(
      of: columns,
      in: table,
      rows.map { row in columns.map { row[$0] } }
    )
    let count = try session.connection.run(
      "DELETE FROM \(Schema.quoted(table.name)) AS t USING \(lists.unnested)"
        + " AS n(\(names.joined(separator: ", "))) WHERE \(test(columns, table, names))",
      lists.parameters
    )
    try check(count, rows.count, table.name)
  }

  private func update(_ rows: ArraySlice<[StoredValue]>, _ shape: Shape) throws {
    let table = try table(shape.table)
    let tested = testedColumns(of: table, among: shape.columns)
    let (lists, names) = try lists(of: tested + shape.columns, in: table, Array(rows))
    let sets = zip(shape.columns, names.dropFirst(tested.count))
      .map { "\(Schema.quoted(table.columns[$0].name)) = n.\($1)" }
    let count = try session.connection.run(
      "UPDATE \(Schema.quoted(table.name)) AS t SET \(sets.joined(separator: ", "))"
        + " FROM \(lists.unnested) AS n(\(names.joined(separator: ", ")))"
        + " WHERE \(test(tested, table, names))",
      lists.parameters
    )
    try check(count, rows.count, table.name)
  }

  private func insert(_ rows: ArraySlice<[StoredValue]>, into name: NameKey) throws {
    let table = try table(name)
    let columns = Array(table.columns.indices)
    let rows = table.name == PendingReference.table ? try renumbered(rows) : Array(rows)
    let (lists, _) = try lists(of: columns, in: table, rows)
    let names = columns.map { Schema.quoted(table.columns[$0].name) }
    let count = try session.connection.run(
      "INSERT INTO \(Schema.quoted(table.name)) (\(names.joined(separator: ", ")))"
        + " SELECT * FROM \(lists.unnested)",
      lists.parameters
    )
    try check(count, rows.count, table.name)
  }

  /// References that wait, with numbers of the server.
  private func renumbered(_ rows: ArraySlice<[StoredValue]>) throws -> [[StoredValue]] {
    var free: [StoredValue] = []
    try session.connection.forEachRow(
      "SELECT nextval(pg_get_serial_sequence('\(PendingReference.table)', 'id'))"
        + " FROM generate_series(1, \(rows.count))"
    ) { free.append(StoredValue($0[0])) }
    return zip(rows, free).map { row, number in
      numbers[row[0]] = number
      return [number] + row.dropFirst()
    }
  }

  // MARK: - SQL

  /// The values of columns as lists, and what they are called in a statement.
  private func lists(
    of columns: [Int],
    in table: Schema.Table,
    _ rows: [[StoredValue]]
  ) throws -> ([ServerArray], [String]) {
    var lists = columns.map { ServerArray(type(of: table.columns[$0], in: table)) }
    for row in rows {
      for (place, value) in row.enumerated() { try lists[place].append(value) }
    }
    return (lists, columns.indices.map { "c\($0)" })
  }

  private func type(of column: Schema.Column, in table: Schema.Table) -> ServerType {
    guard table.name == PendingReference.table else {
      return session.schema.type(of: column, in: table)
    }
    return column.type == "TEXT" ? .text : .bigint
  }

  private func test(_ columns: [Int], _ table: Schema.Table, _ names: [String]) -> String {
    zip(columns, names).map { column, name in
      let own = Schema.quoted(table.columns[column].name)
      return table.key.contains(table.columns[column].name)
        ? "t.\(own) = n.\(name)" : "t.\(own) IS NOT DISTINCT FROM n.\(name)"
    }.joined(separator: " AND ")
  }

  private func check(_ count: Int, _ wanted: Int, _ table: String) throws(StoreError) {
    guard count != wanted else { return }
    throw StoreError(
      .busy,
      "Another program has changed the table \(table) meanwhile; nothing was changed.",
      help: "run it again"
    )
  }
}
