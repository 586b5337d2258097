extension ServerMigration {
  /// Rows that are read and written at once.
  private static let portion: Int64 = 5_000

  /// Writes the values of columns anew that are converted, or of another type from now on.
  ///
  /// The new column takes the place of the old one when it is full. Runs `SELECT … ORDER BY _pk LIMIT 5000` and an
  /// `UPDATE … FROM unnest(…)` for each portion.
  func rewrite(_ change: MigrationPlan.TableChange, _ table: Schema.Table) throws {
    let columns = rewrittenColumns(of: change)
    guard !columns.isEmpty else { return }
    let name = q(table.name)
    let types = columns.map { new.type(of: $0.name, in: table.name) }
    for (index, type) in types.enumerated() {
      try connection.run(
        "ALTER TABLE \(name) ADD COLUMN _dragoman_new_\(index) \(type.declaration)"
      )
    }
    let sources = columns.map { q($0.name) }
    let filled = sources.map { "\($0) IS NOT NULL" }.joined(separator: " OR ")
    let reading =
      "SELECT _pk, \(sources.joined(separator: ", ")) FROM \(name) WHERE _pk > $1::bigint AND (\(filled))"
      + " ORDER BY _pk LIMIT \(Self.portion)"
    let settings = columns.indices.map { "_dragoman_new_\($0) = n.c\($0)" }
    let names = columns.indices.map { "c\($0)" }
    var last = Int64.min
    while true {
      var count = 0
      var lists = [ServerArray(.bigint)] + types.map { ServerArray($0) }
      try connection.forEachRow(reading, [ServerParameter(last)]) { row in
        last = row[0].number
        lists[0].append(last)
        for (index, column) in columns.enumerated() {
          let value = try converted(StoredValue(row[index + 1]), column, change)
          try lists[index + 1].append(value)
        }
        count += 1
      }
      guard count > 0 else { break }
      let written = try refusing(columns, of: table) { () throws(ServerError) in
        try connection.run(
          "UPDATE \(name) AS t SET \(settings.joined(separator: ", ")) FROM \(lists.unnested)"
            + " AS n(k, \(names.joined(separator: ", "))) WHERE t._pk = n.k",
          lists.parameters
        )
      }
      try StoreError.check(written, is: count, in: table.name)
    }
    for (index, column) in columns.enumerated() {
      try connection.run("ALTER TABLE \(name) DROP COLUMN \(q(column.name))")
      try connection.run(
        "ALTER TABLE \(name) RENAME COLUMN _dragoman_new_\(index) TO \(q(column.name))"
      )
    }
  }

  private func converted(
    _ value: StoredValue,
    _ column: Schema.Column,
    _ change: MigrationPlan.TableChange
  ) throws(StoreError) -> StoredValue {
    guard let number = change.sources[column.name]?.conversion else { return value }
    guard let converted = plan.conversions[number].convert(value),
      new.type(of: column.name, in: change.new) != .numeric
        || converted.string.map({ DecimalText.fitsServer($0.utf8) }) ?? true
    else {
      throw StoreError(
        .modelConflict,
        "A value of \(change.new).\(column.name) does not convert.",
        help: "correct the data or the model; nothing was changed"
      )
    }
    return converted
  }

  /// Names what a server does not take that a file would.
  private func refusing<T>(
    _ columns: [Schema.Column],
    of table: Schema.Table,
    _ body: () throws(ServerError) -> T
  ) throws -> T {
    do throws(ServerError) {
      return try body()
    } catch {
      guard error.state.hasPrefix("22") else { throw error }
      throw StoreError(
        .modelConflict,
        "The server takes not every value of \(columns.map(\.name).joined(separator: ", ")) of \(table.name) in its"
          + " new form (SQLSTATE \(error.state)).",
        help: "correct the data or the model; nothing was changed"
      )
    }
  }

  // MARK: - Names and defaults

  /// Writes places, the new names of entities, and the defaults that take the place of null.
  func fill() throws {
    for statement in plan.orderings { try connection.run(statement) }
    for change in plan.tables {
      let table = q(change.new)
      switch plan.naming(of: change) {
      case nil: break
      case .all(let name):
        try connection.run(
          "UPDATE \(table) SET _entity = $1::text",
          [try ServerParameter(name)]
        )
      case .renamed(let renames):
        let cases = renames.map { "WHEN \(Schema.literal($0.old)) THEN \(Schema.literal($0.new))" }
        let known = renames.map { Schema.literal($0.old) }.joined(separator: ", ")
        try connection.run(
          "UPDATE \(table) SET _entity = CASE _entity \(cases.joined(separator: " ")) END"
            + " WHERE _entity IN (\(known))"
        )
      }
    }
    for fill in plan.fills { try connection.fill(fill) }
  }

  // MARK: - References that wait

  /// Gives the references that wait the new names, by the code that does it in a file: their keys are JSON as SQLite
  /// writes it.
  func renamePending() throws {
    guard try connection.text("SELECT 1::text FROM _dragoman_pending LIMIT 1") != nil else {
      return
    }
    let copy = ServerCopy(connection, plan.old)
    let file = try copy.store(of: RequestTables(noneOf: plan.old))
    defer { try? file.close() }
    try copy.copyWaiting(to: file)
    let columns = ServerCopy.pendingColumns.joined(separator: ", ")
    try file.write { session in
      try session.begin()
      try ConversionFunction.with(plan.conversions, on: session.database) {
        try MigrationRun(database: session.database, plan: plan, beforeStatement: {})
          .renamePending()
      }
      try connection.run("DELETE FROM _dragoman_pending")
      var text = CopyText([.bigint, .bigint, .text, .text, .text])
      let rows = try RawStatement(
        "SELECT \(columns) FROM _dragoman_pending ORDER BY id",
        in: session.database
      )
      try connection.copy("COPY _dragoman_pending (\(columns)) FROM STDIN") { send in
        try rows.forEachRow { row in
          try text.append(row)
          if text.isFull { try text.send(send) }
        }
        try text.send(send)
      }
      try session.commit()
    }
  }
}

extension ServerConnection {
  /// Puts a default in the place of null.
  ///
  /// Runs `UPDATE … SET … = $1 WHERE … IS NULL`; versions stay.
  func fill(_ fill: MigrationPlan.Fill) throws {
    let type = ServerType(fill.type)
    let column = Schema.quoted(fill.column)
    let names = fill.entities.map { $0.map(Schema.literal).joined(separator: ", ") }
    try run(
      "UPDATE \(Schema.quoted(fill.table)) SET \(column) = $1::\(type.rawValue) WHERE \(column) IS NULL"
        + (names.map { " AND _entity IN (\($0))" } ?? ""),
      [try ServerParameter(fill.value, type)]
    )
  }
}
