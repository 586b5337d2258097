/// What happens to rows that others changed since they were read.
extension PendingChangesWriter {
  /// A row that is not there in the version that was read.
  func settle(_ place: RowKey, _ object: RowChange) throws {
    outcome.merged.insert(place)
    guard let theirs = try current(place) else {
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
      case .objectTrumps, .overwrite: try insert(place, object)
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
        guard theirs[column] != base, theirs[column] != ours else { continue }
        if policy == .storeTrumps {
          values[column] = nil
        } else {
          conflicts.append(
            SaveConflict(
              object: layout.objectID(of: place),
              property: columns[column].property,
              base: base,
              ours: ours,
              theirs: theirs[column]
            )
          )
        }
      }
    }
    if values.isEmpty {
      outcome.versions[place] = try version(place) ?? object.version
    } else if conflicts.isEmpty {
      var settled = object
      settled.values = values
      settled.version = 0
      try update(place, settled)
    }
  }

  /// Whether a link may not be written because somebody deleted what it leads to and the store wins.
  func isGone(_ place: RowKey) throws -> Bool {
    switch policy {
    case .storeTrumps, .rollback: try version(place) == nil
    case .error, .objectTrumps, .overwrite: false
    }
  }

  /// Where the store wins a row leads no more to what somebody deleted; a required link is refused at
  /// the commit.
  func clearLinksToGone(of change: RowChange, at place: RowKey) throws {
    guard policy == .storeTrumps || policy == .rollback else { return }
    var cleared: [Int: StoredValue] = [:]
    for column in layout.linkColumns[place.table] {
      let link = layout.links[column.link]
      let isNew = change.kind == .inserted
      guard !link.relationship.isRequired, !outcome.dropped.contains(place),
        let key = (isNew ? change.whole(column.column) : change.values[column.column])?.integer,
        try isGone(RowKey(table: layout.entities[link.destination].tableIndex, key: key))
      else { continue }
      cleared[column.column] = .null
      if let order = column.order { cleared[order] = .null }
    }
    guard !cleared.isEmpty, try update(place, cleared, version: nil) else { return }
    outcome.versions[place] = try version(place)
    outcome.merged.insert(place)
  }

  /// The values of a row as the store has them now.
  func current(_ place: RowKey) throws -> [StoredValue]? {
    let table = layout.tables[place.table]
    let names = ["_pk"] + table.columns.map { Schema.quoted($0.name) }
    let statement = try statement(
      "SELECT \(names.joined(separator: ", ")) FROM \(Schema.quoted(table.name)) WHERE _pk = ?1"
    )
    statement.bind(integer: place.key, 1)
    var values: [StoredValue]?
    try statement.forEachRow { row in
      let buffer = RowBuffer(columnCount: table.columns.count, capacity: 1)
      buffer.append(row, from: 1)
      values = table.columns.indices.map { buffer.stored(0, $0) }
    }
    return values
  }

  func version(_ place: RowKey) throws -> Int64? {
    let table = Schema.quoted(layout.tables[place.table].name)
    let statement = try statement("SELECT _v FROM \(table) WHERE _pk = ?1")
    statement.bind(integer: place.key, 1)
    var version: Int64?
    try statement.forEachRow { version = $0.integer(0) }
    return version
  }
}

extension ContextError {
  /// What is told of conflicts; nil: there are none.
  init?(_ conflicts: [SaveConflict]) {
    guard let first = conflicts.first else { return nil }
    self.init(
      .conflict,
      (conflicts.count == 1
        ? "A property was changed elsewhere since this context read it:"
        : "\(conflicts.count) properties were changed elsewhere since this context read them;"
          + " the first is")
        + " \(first.property ?? "the object itself") of \(first.object.entity)"
        + " \(first.object.primaryKey): read \(first.base.summary), here \(first.ours.summary),"
        + " in the store \(first.theirs.summary).",
      object: first.object,
      help: "refresh the object and save again, or choose a merge policy",
      conflicts: conflicts
    )
  }
}
