/// What a server does not check of tables that it distributes: unique keys, and where links lead.
///
/// Nobody else writes meanwhile (`ServerDistribution.turn`).
extension ServerWriter {
  /// Looks whether others have the unique keys that this save gives objects.
  ///
  /// Runs the statement of `ServerReader.rows(having:)` for each key of a table.
  ///
  /// - Throws: `ContextError`, `.duplicate`.
  func checkDistributedKeys(_ sorted: [(place: RowKey, change: RowChange)]) throws {
    let reader = ServerReader(connection, layout, isDistributed: true)
    let tables = Dictionary(grouping: written, by: \.table).sorted { $0.key < $1.key }
    for (table, places) in tables {
      let columns = layout.tables[table].columns
      for key in schema.keys.values where hasSameBytes(key.table, layout.tables[table].name) {
        let parts = key.columns.compactMap { name in
          columns.firstIndex { hasSameBytes($0.name, name) }
        }
        // What the layout of the save does not know it does not write.
        guard parts.count == key.columns.count else { continue }
        let keyed = places.filter { giving in gives(giving, parts) }.sorted { $0.key < $1.key }
        for chunk in keyed.chunked {
          let chunk = Array(chunk)
          let values = chunk.map { place in parts.map { value($0, at: place) } }
          var other: RowKey?
          try reader.rows(having: values, in: parts, of: table, reading: []) { index, row in
            if row.integer(0) != chunk[index].key { other = other ?? chunk[index] }
          }
          if let other { throw duplicate(key, at: other, sorted) }
        }
      }
    }
  }

  /// The objects that were inserted or changed.
  private var written: [RowKey] { Array(inserted.keys) + updated.keys }

  private func value(_ column: Int, at place: RowKey) -> StoredValue {
    inserted[place]?.whole(column) ?? rows[place]?.values[column] ?? .null
  }

  /// Whether the save gives an object other values of a key, all of which are there.
  private func gives(_ place: RowKey, _ key: [Int]) -> Bool {
    guard !deleted.contains(place) else { return false }
    let isNew = inserted[place] != nil || key.contains { updated[place]?[$0] != nil }
    return isNew && key.allSatisfy { value($0, at: place) != .null }
  }

  /// Notes what links lead to that is gone, or was never there.
  func note(_ changes: ChangeSet, in checks: inout LinkChecks) throws {
    for (table, places) in Dictionary(grouping: deleted, by: \.table) {
      checks.note(places.map(\.key), of: layout.tables[table].name)
    }
    for (table, keys) in targets(of: changes).sorted(by: { $0.key < $1.key }) {
      var missing = keys
      try connection.forEachRow(
        "SELECT _pk FROM \(Schema.quoted(layout.tables[table].name)) WHERE _pk = ANY($1::bigint[])",
        [ServerParameter(keys)]
      ) { missing.remove($0[0].number) }
      if !missing.isEmpty { checks.note(missing, of: layout.tables[table].name) }
    }
  }

  /// What links of this save lead to that it has neither read nor made, by table.
  private func targets(of changes: ChangeSet) -> [Int: Set<Int64>] {
    var found: [Int: Set<Int64>] = [:]
    func add(_ key: Int64, _ entity: Int) {
      let place = rowKey(key, entity)
      if rows[place] != nil || inserted[place] != nil { return }
      found[place.table, default: []].insert(key)
    }
    for place in written {
      for column in layout.linkColumns[place.table] {
        guard inserted[place] != nil || updated[place]?[column.column] != nil,
          let key = value(column.column, at: place).integer
        else { continue }
        add(key, layout.links[column.link].destination)
      }
    }
    for owner in changes.links.owners {
      let link = layout.links[owner.link]
      add(owner.owner, link.owner)
      for (key, isThere) in changes.links.pairs[owner] ?? [:] where isThere {
        add(key, link.destination)
      }
      for key in changes.links.lists[owner]?.targets ?? [] { add(key, link.destination) }
    }
    return found
  }
}
