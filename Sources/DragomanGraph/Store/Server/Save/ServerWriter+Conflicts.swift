/// What happens to rows that others changed since they were read, and what refuses a save.
extension ServerWriter {
  /// A row that is not there in the version that was read.
  func settle(_ place: RowKey, _ object: RowChange) {
    outcome.merged.insert(place)
    guard let theirs = rows[place] else {
      switch policy {
      case .error:
        conflicts.append(
          SaveConflict(
            object: layout.objectID(of: place),
            property: nil,
            base: .integer(object.version),
            ours: .integer(object.version + 1),
            theirs: .null
          )
        )
      case .storeTrumps, .rollback: outcome.dropped.insert(place)
      case .objectTrumps, .overwrite: insert(place, object)
      }
      return
    }
    let columns = layout.tables[place.table].columns
    var values = object.values
    switch policy {
    case .rollback:
      outcome.dropped.insert(place)
      return
    case .overwrite:
      for column in columns.indices where values[column] == nil {
        values[column] = object.row?.stored(column) ?? .null
      }
    case .objectTrumps: break
    case .error, .storeTrumps:
      for (column, ours) in object.values.sorted(by: { $0.key < $1.key }) {
        let base = object.base(column)
        guard theirs.values[column] != base, theirs.values[column] != ours else { continue }
        if policy == .storeTrumps {
          values[column] = nil
        } else {
          conflicts.append(
            SaveConflict(
              object: layout.objectID(of: place),
              property: columns[column].property,
              base: base,
              ours: ours,
              theirs: theirs.values[column]
            )
          )
        }
      }
    }
    if values.isEmpty {
      outcome.versions[place] = theirs.version
    } else if conflicts.isEmpty {
      set(values, at: place)
    }
  }

  /// A change without the links that went with a row which is kept after all.
  func keepingLinks(_ change: RowChange, at place: RowKey) -> RowChange {
    guard !outcome.kept.isEmpty else { return change }
    var change = change
    for column in layout.linkColumns[place.table] where change.values[column.column] == .null {
      let target = table(layout.links[column.link].destination)
      if let key = change.base(column.column).integer,
        outcome.kept.contains(RowKey(table: target, key: key))
      {
        change.values[column.column] = nil
        outcome.merged.insert(place)
      }
    }
    return change
  }

  /// Where the store wins a row leads no more to what somebody deleted; a required link is refused at the commit.
  func clearLinksToGone(of change: RowChange, at place: RowKey) {
    guard policy == .storeTrumps || policy == .rollback else { return }
    var cleared: [Int: StoredValue] = [:]
    for column in layout.linkColumns[place.table] {
      let link = layout.links[column.link]
      let isNew = change.kind == .inserted
      guard !link.relationship.isRequired, !outcome.dropped.contains(place),
        let key = (isNew ? change.whole(column.column) : change.values[column.column])?.integer,
        isGone(RowKey(table: table(link.destination), key: key))
      else { continue }
      cleared[column.column] = .null
      if let order = column.order { cleared[order] = .null }
    }
    guard !cleared.isEmpty else { return }
    if change.kind == .inserted {
      var change = change
      change.values.merge(cleared) { $1 }
      insert(place, change)
    } else {
      set(cleared, at: place)
    }
    outcome.merged.insert(place)
  }

  /// A row that is kept leads no more to what is deleted in spite of that.
  func clearLinksToDeleted(of place: RowKey) {
    guard let row = rows[place] else { return }
    var cleared: [Int: StoredValue] = [:]
    for column in layout.linkColumns[place.table] {
      let target = table(layout.links[column.link].destination)
      guard let key = row.values[column.column].integer,
        deleted.contains(RowKey(table: target, key: key))
      else { continue }
      cleared[column.column] = .null
      if let order = column.order { cleared[order] = .null }
    }
    if !cleared.isEmpty { set(cleared, at: place) }
  }

  /// Clears what still leads to deleted rows and is not of this save, and notes whose columns were changed by that.
  func clearOthersLinks(in changes: ChangeSet) throws {
    let gone = Dictionary(grouping: deleted, by: \.table).sorted { $0.key < $1.key }
    for (table, places) in gone {
      let keys = ServerParameter(places.map(\.key).sorted())
      for clearing in layout.clearings(of: table) {
        let link = clearing.link
        let sql = LinkQuery(link, in: layout)
          .clearSQL(clearing, of: "= ANY($1::bigint[])", in: layout)
        guard let column = layout.column(of: link) else {
          try connection.run(sql, [keys])
          continue
        }
        // What the context has cleared, with the owners' rows, is clear by now: these are others' links.
        let isNullified =
          layout.inverse(of: link)?.relationship.deleteRule == .nullify
          && !link.relationship.isRequired
        guard link.inverse == nil || isNullified else { continue }
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
    do throws(ServerError) {
      let names = keys.keys.sorted().map(Schema.quoted).joined(separator: ", ")
      try connection.run("SET CONSTRAINTS \(names) IMMEDIATE; SET CONSTRAINTS \(names) DEFERRED")
    } catch {
      guard error.isUniqueViolation, let name = error.constraint, let key = keys[name] else {
        throw error
      }
      throw duplicate(key, error, sorted)
    }
  }

  private func duplicate(
    _ key: Schema.Index,
    _ error: ServerError,
    _ sorted: [(place: RowKey, change: RowChange)]
  ) -> ContextError {
    let names = key.columns.map { "\(key.table).\($0)" }.joined(separator: ", ")
    let place = culprit(key, error, sorted)
    let entity = place.flatMap { place in
      sorted.first { $0.place == place }.map { layout.entities[Int($0.change.entity)] }
    }
    return ContextError(
      .duplicate,
      "Another \(entity?.name ?? key.table) has the same value of \(names), which is unique"
        + (place.map { " (the object is \(entity?.rootName ?? key.table) \($0.key))." } ?? "."),
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
