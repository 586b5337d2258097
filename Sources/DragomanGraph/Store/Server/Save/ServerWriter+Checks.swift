/// What others' rows say of what is deleted, and what refuses a save.
extension ServerWriter {
  /// Clears what still leads to deleted rows and is not of this save, and notes whose columns were changed by that.
  func clearOthersLinks(in changes: ChangeSet) throws {
    let gone = Dictionary(grouping: deleted, by: \.table).sorted { $0.key < $1.key }
    for (table, places) in gone {
      let keys = ServerParameter(places.map(\.key).sorted())
      for clearing in layout.clearings(of: table) {
        let link = clearing.link
        let sql = LinkQuery(link, in: layout)
          .clearSQL(
            clearing,
            of: "= ANY($1::bigint[])",
            in: layout,
            apart: schema.distribution == nil ? "" : ServerDistribution.apart
          )
        guard let column = layout.column(of: link) else {
          try connection.run(sql, [keys])
          continue
        }
        // What the context has cleared, with the owners' rows, is clear by now: these are others' links.
        guard link.inverse == nil || isNullified(link) else { continue }
        let owner = self.table(link.owner)
        try connection.forEachRow(sql + " RETURNING _pk, _v", [keys]) { row in
          let place = RowKey(table: owner, key: row[0].number)
          outcome.versions[place] = row[1].number
          outcome.merged.insert(place)
          if changes[place] == nil { outcome.cleared[place, default: [:]][column.column] = .null }
        }
      }
    }
  }

  /// Lets the server check the unique keys of the tables that were written.
  ///
  /// - Throws: `ContextError`, `.duplicate`.
  func checkKeys(_ sorted: [(place: RowKey, change: RowChange)]) throws {
    let tables = Set(sorted.map { layout.tables[$0.place.table].name })
    let keys = schema.keys.filter { tables.contains($0.value.table) }
    guard !keys.isEmpty else { return }
    guard schema.distribution == nil else { return try checkDistributedKeys(sorted) }
    do throws(ServerError) {
      let names = keys.keys.sorted().map(Schema.quoted).joined(separator: ", ")
      try connection.run("SET CONSTRAINTS \(names) IMMEDIATE; SET CONSTRAINTS \(names) DEFERRED")
    } catch {
      guard error.isUniqueViolation, let name = error.constraint, let key = keys[name] else {
        throw error
      }
      throw duplicate(key, at: culprit(key, error, sorted), sorted)
    }
  }

  func duplicate(
    _ key: Schema.Index,
    at place: RowKey?,
    _ sorted: [(place: RowKey, change: RowChange)]
  ) -> ContextError {
    let names = key.columns.map { "\(key.table).\($0)" }.joined(separator: ", ")
    let entity = place.flatMap { place in
      sorted.first { $0.place == place }.map { layout.entities[Int($0.change.entity)] }
    }
    return ContextError(
      .duplicate,
      "Another \(entity?.name ?? key.table) has the same value of \(names), which is unique"
        + (place.map { ": \(entity?.rootName ?? key.table) \($0.key) cannot have it, too." } ?? "."),
      object: place.map { layout.objectID(of: $0) },
      help: "change the value and save again"
    )
  }

  /// The row of this save whose key is the one that the server names: `Key (email)=(x) …`.
  private func culprit(
    _ key: Schema.Index,
    _ error: ServerError,
    _ sorted: [(place: RowKey, change: RowChange)]
  ) -> RowKey? {
    for (place, change) in sorted.reversed() where change.kind != .deleted {
      let table = layout.tables[place.table]
      guard table.name == key.table else { continue }
      let columns = key.columns.compactMap { name in
        table.columns.firstIndex { hasSameBytes($0.name, name) }
      }
      let texts = columns.map { column -> String in
        let value = inserted[place]?.whole(column) ?? rows[place]?.values[column] ?? .null
        let bytes = (try? ServerType(table.columns[column]).bytes(value)) ?? []
        return String(decoding: bytes, as: UTF8.self)
      }
      if error.detail.contains(")=(\(texts.joined(separator: ", "))") { return place }
    }
    return nil
  }
}
