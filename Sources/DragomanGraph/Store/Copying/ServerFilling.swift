/// A database that a copy fills: until it is whole, the table `_dragoman_copies` says how far it is, and there is no
/// model, so that nobody takes it for a store.
final class ServerFilling: CopyTarget {
  let rows: ServerRows
  private let connection: any ServerConnection
  private var schema = ServerSchema(ModelLayout(Model()))
  private var layout = ModelLayout(Model())

  init(connection: any ServerConnection, name: String) {
    self.connection = connection
    rows = ServerRows(connection: connection, name: name)
  }

  /// The row with an empty name holds the model.
  private static let ownTable =
    "CREATE TABLE _dragoman_copies (\"table\" text COLLATE \"C\" PRIMARY KEY, rows bigint, hash bigint, model text)"

  // MARK: - Beginning

  func begin(_ layout: ModelLayout, startsAnew: Bool) throws -> [NameKey: CopyProgress] {
    self.layout = layout
    schema = ServerSchema(layout, try ServerDistribution(connection))
    var isAlone = false
    try connection.forEachRow(
      "SELECT pg_try_advisory_lock(\(Schema.applicationID), hashtext(current_schema() || ' copy'))"
    ) { isAlone = $0[0].number != 0 }
    guard isAlone else {
      throw StoreError(
        .busy,
        "Another copy into this database is under way.",
        help: "wait for its end"
      )
    }
    let model = try layout.storedText()
    guard let known = try connection.text("SELECT to_regclass('_dragoman_copies')::text") else {
      try make(model)
      return [:]
    }
    let stored = try connection.text("SELECT model FROM \(known) WHERE \"table\" = ''")
    if startsAnew {
      try drop(stored)
      try make(model)
      return [:]
    }
    guard stored == model else {
      throw StoreError(
        .output,
        "A copy of something else into this database was stopped: of other entities, or of another model.",
        help: "run that one again, or begin anew"
      )
    }
    var progress: [NameKey: CopyProgress] = [:]
    try connection.forEachRow("SELECT \"table\", rows, hash FROM \(known) WHERE \"table\" <> ''") {
      row in
      let hash = ContentHash(value: UInt64(bitPattern: row[2].number))
      progress[NameKey(row[0].text ?? "")] = CopyProgress(rowCount: Int(row[1].number), hash: hash)
    }
    return progress
  }

  private func checkIsEmpty() throws {
    guard try ServerModel(connection).stamp != nil else { return }
    throw StoreError(
      .output,
      "The database holds a store already: a copy goes into an empty one.",
      help: "name another database, or a schema of its own: ?options=-csearch_path%3Dmyschema"
    )
  }

  /// Makes the tables in a database that is empty, while nobody else writes.
  private func make(_ model: String) throws {
    try connection.run("BEGIN; \(ServerSession.lock)")
    try checkIsEmpty()
    try connection.run(ServerSchema.ownTables)
    try connection.run(Self.ownTable)
    for sql in try schema.additions(to: ServerSchema(ModelLayout(Model()))).tables {
      try connection.run(sql)
    }
    try connection.run(
      "INSERT INTO _dragoman_copies (\"table\", model) VALUES ('', $1::text)",
      [try ServerParameter(model)]
    )
    try connection.run("COMMIT")
  }

  /// Drops what a copy that was stopped has made.
  private func drop(_ model: String?) throws {
    var names = try rows.tables(beginning: "_dragoman_")
    if let model { names += try Schema(ServerModel.layout(of: model)).tables.map(\.name) }
    try connection.run("BEGIN")
    for name in names { try connection.run("DROP TABLE IF EXISTS \(Schema.quoted(name)) CASCADE") }
    try connection.run("COMMIT")
  }

  // MARK: - Rows

  func add(_ rows: [[StoredValue]], to table: Schema.Table, _ progress: CopyProgress) throws {
    let types = table.columns.map { schema.type(of: $0.name, in: table.name) }
    try connection.run("BEGIN")
    try insert(rows, table.columns.map(\.name), types, into: table.name)
    try connection.run(
      "INSERT INTO _dragoman_copies (\"table\", rows, hash) VALUES ($1::text, $2::bigint, $3::bigint)"
        + " ON CONFLICT (\"table\") DO UPDATE SET rows = excluded.rows, hash = excluded.hash",
      [
        try ServerParameter(table.name), ServerParameter(Int64(progress.rowCount)),
        ServerParameter(Int64(bitPattern: progress.hash.value)),
      ]
    )
    try connection.run("COMMIT")
  }

  private func insert(
    _ rows: [[StoredValue]],
    _ columns: [String],
    _ types: [ServerType],
    into table: String
  ) throws {
    guard !rows.isEmpty else { return }
    var arrays = types.map { ServerArray($0) }
    for row in rows {
      for index in columns.indices {
        do {
          try arrays[index].append(row[index])
        } catch {
          throw StoreError(
            .modelConflict,
            "\(table).\(columns[index]) of the row \(columns[0]) \(row[0].summary) cannot be copied: \(error.message)",
            help: error.help
          )
        }
      }
    }
    let names = columns.map(Schema.quoted).joined(separator: ", ")
    try connection.run(
      "INSERT INTO \(Schema.quoted(table)) (\(names)) SELECT * FROM \(arrays.unnested)",
      arrays.parameters
    )
  }

  // MARK: - The end

  func end(_ own: [CopyOwnRows], from source: String) throws {
    try connection.run("BEGIN; \(ServerSession.lock)")
    try checkHasNoModel()
    let empty = ServerSchema(ModelLayout(Model()))
    let references = try schema.additions(to: empty).references
    for (_, sql) in schema.newIndexes(than: empty) { try connection.run(sql) }
    do throws(ServerError) {
      for sql in references { try connection.run(sql) }
    } catch {
      guard error.state == "23503" else { throw error }
      try connection.run("ROLLBACK")
      guard let link = try schema.danglingLink(error, on: connection) else { throw error }
      let isObject = link.table.primaryKey.isEmpty
      let place = isObject ? "\(link.table.name).\(link.column)" : link.table.name
      throw dangling(place, link.owner, to: link.target, from: source)
    }
    for own in own {
      if let creation = own.table.creation { try connection.run(creation) }
      for start in stride(from: 0, to: own.rows.count, by: Self.batchCount) {
        let rows = Array(own.rows[start..<min(start + Self.batchCount, own.rows.count)])
        try insert(rows, own.table.columns, own.table.types, into: own.table.name)
      }
    }
    for table in [CopyOwnRows.Table.pending.name, CopyOwnRows.Table.imports.name] {
      try connection.run(
        "SELECT setval(pg_get_serial_sequence('\(table)', 'id'), (SELECT max(id) FROM \(table)))"
      )
    }
    try ServerModel.save(layout, to: connection)
    try connection.run("DROP TABLE _dragoman_copies")
    try connection.run("COMMIT")
  }

  /// Nobody else has made a store of it meanwhile.
  private func checkHasNoModel() throws {
    guard try connection.text("SELECT count(*)::text FROM _dragoman_model") != "0" else { return }
    throw StoreError(.output, "Somebody else has made a store of the database meanwhile.")
  }

  /// Rows of our own tables that are sent at once.
  private static let batchCount = 5_000
}
