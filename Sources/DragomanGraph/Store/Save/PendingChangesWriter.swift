import GRDB

/// Writes the unsaved changes of a context into the store, within one transaction.
///
/// Deletions come first, then updates, then insertions, then links, so that a key that one object
/// gives up can be taken by another in the same save. What others' rows say of the deleted is cleared
/// last, when this save's own rows lead elsewhere. Every update and deletion names the version
/// that was read: a row that was changed meanwhile is not touched but settled by the merge policy.
///
///     DELETE FROM "Person" WHERE _pk = ? AND _v = ?
///     UPDATE "Person" SET "firstName" = ?, _v = _v + 1 WHERE _pk = ? AND _v = ?
///     INSERT INTO "Person" (_pk, _v, "firstName", …) VALUES (?, 1, ?, …)
final class PendingChangesWriter {
  /// A statement that clears links to a row that is deleted.
  private struct Unlinking {
    let statement: RawStatement
    /// The column of a to-one; nil: it deletes rows of a table of links.
    let column: (table: Int, index: Int)?
  }

  private let database: Database
  let layout: ModelLayout
  let policy: MergePolicy
  /// Whether rows name their entity, by table.
  private let namesEntity: [Bool]
  private var statements: [String: RawStatement] = [:]
  private var insertions: [RawStatement?]
  private var updates: [UpdateShape: RawStatement] = [:]
  private var unlinkings: [Int: [Unlinking]] = [:]
  var outcome = Outcome()
  var conflicts: [SaveConflict] = []
  /// Updates that met a unique key that another row of the save gives up later.
  private var blocked: [(RowKey, RowChange)] = []
  /// Rows that are deleted by now.
  private var deleted: Set<RowKey> = []

  /// - Parameters:
  ///   - database: The connection, in a transaction.
  ///   - layout: What the changes are of.
  ///   - stored: What the file has, which may have grown since: where a family got its first
  ///     sub-entity, rows name theirs.
  ///   - policy: What to do where others changed the same rows.
  init(_ database: Database, _ layout: ModelLayout, in stored: ModelLayout, policy: MergePolicy) {
    self.database = database
    self.layout = layout
    let named = Set(stored.tables.filter(\.hasEntityColumn).map(\.name))
    namesEntity = layout.tables.map { named.contains($0.name) }
    self.policy = policy
    insertions = Array(repeating: nil, count: layout.tables.count)
  }

  /// Writes everything.
  ///
  /// - Throws: `ContextError`: `.conflict` with all conflicts, `.duplicate`; `StoreError`. The
  ///   caller rolls the transaction back.
  func write(_ changes: ChangeSet) throws -> Outcome {
    let rows = changes.sorted
    for (place, change) in rows where change.kind == .deleted {
      try delete(place, in: changes)
    }
    for (place, change) in rows where change.kind == .updated {
      try update(place, keepingLinks(change, at: place))
    }
    // New objects may take keys that others have given up by then.
    try writeBlocked()
    for (place, change) in rows where change.kind == .inserted {
      try insert(place, change)
    }
    try write(changes.links)
    for (place, change) in rows where change.kind != .deleted {
      try clearLinksToGone(of: change, at: place)
      if let mark = change.mark { try write(mark, of: change, at: place) }
    }
    // What still leads to a deleted row is not of this save.
    for place in deleted.sorted(by: { ($0.table, $0.key) < ($1.table, $1.key) }) {
      for unlinking in try unlinking(from: place.table) {
        try clear(unlinking, place.key, in: changes)
      }
    }
    for place in outcome.kept { try clearLinksToDeleted(of: place) }
    if let conflict = ContextError(conflicts) { throw conflict }
    return outcome
  }

  // MARK: - Rows

  /// Which columns of which table an update sets.
  private struct UpdateShape: Hashable {
    let table: Int
    let columns: [Int]
    let isVersioned: Bool
  }

  private func insertion(into index: Int) throws -> RawStatement {
    if let known = insertions[index] { return known }
    let table = layout.tables[index]
    let names =
      ["_pk", "_v"] + (namesEntity[index] ? ["_entity"] : [])
      + table.columns.map { Schema.quoted($0.name) }
    let made = try statement(
      "INSERT INTO \(Schema.quoted(table.name)) (\(names.joined(separator: ", ")))"
        + " VALUES (\(names.indices.map { "?\($0 + 1)" }.joined(separator: ", ")))"
    )
    insertions[index] = made
    return made
  }

  func insert(_ place: RowKey, _ object: RowChange) throws {
    outcome.versions[place] = 1
    let table = layout.tables[place.table]
    let statement = try insertion(into: place.table)
    statement.bind(integer: place.key, 1)
    statement.bind(integer: 1, 2)
    var parameter: Int32 = 3
    if namesEntity[place.table] {
      try statement.bind(.text(layout.entities[Int(object.entity)].name), parameter)
      parameter += 1
    }
    if let row = object.row {
      try row.buffer.withArena { arena in
        for column in table.columns.indices {
          if let value = object.values[column] {
            try statement.bind(value, parameter)
          } else {
            statement.bind(row.buffer[row.row, column], parameter, arena)
          }
          parameter += 1
        }
        try run(statement, place, object)
      }
    } else {
      for column in table.columns.indices {
        try statement.bind(object.values[column] ?? .null, parameter)
        parameter += 1
      }
      try run(statement, place, object)
    }
    outcome.versions[place] = 1
  }

  func update(_ place: RowKey, _ object: RowChange) throws {
    do {
      // What was inserted above when it was changed, and stored since, cannot conflict.
      let version = object.version == 0 ? nil : object.version
      if try update(place, object.values, version: version) {
        outcome.versions[place] = try version.map { $0 + 1 } ?? self.version(place)
      } else {
        try settle(place, object)
      }
    } catch let error as DatabaseError where error.isUniqueViolation {
      blocked.append((place, object))
    }
  }

  /// Sets columns of a row; false where the row is not there in this version.
  func update(
    _ place: RowKey,
    _ values: [Int: StoredValue],
    version: Int64?
  ) throws -> Bool {
    let columns = values.keys.sorted()
    let statement = try update(
      UpdateShape(table: place.table, columns: columns, isVersioned: version != nil)
    )
    statement.bind(integer: place.key, 1)
    try statement.bind(version.map(StoredValue.integer) ?? .null, 2)
    for (index, column) in columns.enumerated() {
      try statement.bind(values[column] ?? .null, Int32(index) + 3)
    }
    return try statement.run() > 0
  }

  private func update(_ shape: UpdateShape) throws -> RawStatement {
    if let known = updates[shape] { return known }
    let table = layout.tables[shape.table]
    var assignments = shape.columns.enumerated().map {
      "\(Schema.quoted(table.columns[$1].name)) = ?\($0 + 3)"
    }
    assignments.append("_v = _v + 1")
    let test = shape.isVersioned ? "_v = ?2" : "?2 IS NULL"
    let made = try RawStatement(
      "UPDATE \(Schema.quoted(table.name)) SET \(assignments.joined(separator: ", "))"
        + " WHERE _pk = ?1 AND \(test)",
      in: database
    )
    updates[shape] = made
    return made
  }

  /// Deletes a row, after those whose deletion took it along, and not where one of these was given up.
  private func delete(_ place: RowKey, in changes: ChangeSet) throws {
    // A chain of cascades may be long, and deletions of two contexts may have taken each other along.
    var chain = [place]
    var seen: Set<RowKey> = [place]
    while let cause = changes.causes[chain[chain.count - 1]], !deleted.contains(cause),
      !outcome.kept.contains(cause), seen.insert(cause).inserted
    {
      chain.append(cause)
    }
    for place in chain.reversed() {
      guard let change = changes[place], change.kind == .deleted, !deleted.contains(place),
        !outcome.kept.contains(place)
      else { continue }
      if let cause = changes.causes[place], outcome.kept.contains(cause) {
        outcome.kept.insert(place)
      } else {
        try deleteRow(place, change)
      }
    }
  }

  /// Deletes a row; one that somebody changed is a matter of the merge policy.
  private func deleteRow(_ place: RowKey, _ object: RowChange) throws {
    let table = Schema.quoted(layout.tables[place.table].name)
    // The version of a fault that was never read is not known: it cannot conflict.
    let test = object.version == 0 ? "?2 = 0" : "_v = ?2"
    let statement = try statement("DELETE FROM \(table) WHERE _pk = ?1 AND \(test)")
    statement.bind(integer: place.key, 1)
    statement.bind(integer: object.version, 2)
    deleted.insert(place)
    if try statement.run() > 0 || object.version == 0 { return }
    guard try current(place) != nil else { return }
    switch policy {
    case .error:
      conflicts.append(
        SaveConflict(
          object: layout.objectID(of: place),
          property: nil,
          base: .integer(object.version),
          ours: .null,
          theirs: .integer(try version(place) ?? 0)
        )
      )
    case .storeTrumps, .rollback:
      deleted.remove(place)
      outcome.kept.insert(place)
    case .objectTrumps, .overwrite:
      let again = try self.statement("DELETE FROM \(table) WHERE _pk = ?1")
      again.bind(integer: place.key, 1)
      try again.run()
    }
  }

  /// A change without the links that went with a row which is kept after all.
  private func keepingLinks(_ change: RowChange, at place: RowKey) -> RowChange {
    guard !outcome.kept.isEmpty else { return change }
    var change = change
    for column in layout.linkColumns[place.table]
    where change.values[column.column] == .null {
      let target = layout.entities[layout.links[column.link].destination].tableIndex
      if let key = change.base(column.column).integer,
        outcome.kept.contains(RowKey(table: target, key: key))
      {
        change.values[column.column] = nil
        outcome.merged.insert(place)
      }
    }
    return change
  }

  /// What clears the links to a row that is deleted, where no inverse does so.
  private func unlinking(from table: Int) throws -> [Unlinking] {
    if let known = unlinkings[table] { return known }
    var made: [Unlinking] = []
    for clearing in layout.clearings(of: table) {
      let link = clearing.link
      let links = LinkQuery(link, in: layout)
      let sql = links.clearSQL(clearing, of: "= ?1", in: layout)
      if links.isOwnTable {
        made.append(Unlinking(statement: try statement(sql), column: nil))
      } else if link.inverse == nil || isNullified(link) {
        // What the context has cleared, with the owners' rows, is clear by now: these are others' links.
        let owner = layout.entities[link.owner].tableIndex
        let column = layout.column(of: link).map { (owner, $0.column) }
        let clearing = try statement(sql + " RETURNING _pk, _v")
        made.append(Unlinking(statement: clearing, column: column))
      }
    }
    unlinkings[table] = made
    return made
  }

  /// Whether links to what is deleted become null, whoever has made them since the context looked.
  private func isNullified(_ link: RelationshipLayout) -> Bool {
    layout.inverse(of: link)?.relationship.deleteRule == .nullify && !link.relationship.isRequired
  }

  /// Clears links to a row that is deleted, and notes whose columns were changed by that.
  private func clear(_ unlinking: Unlinking, _ key: Int64, in changes: ChangeSet) throws {
    unlinking.statement.bind(integer: key, 1)
    guard let (table, column) = unlinking.column else {
      try unlinking.statement.run()
      return
    }
    try unlinking.statement.forEachRow { row in
      let place = RowKey(table: table, key: row.integer(0))
      outcome.versions[place] = row.integer(1)
      outcome.merged.insert(place)
      if changes[place] == nil { outcome.cleared[place, default: [:]][column] = .null }
    }
  }

  /// A row that is kept leads no more to what is deleted in spite of that.
  private func clearLinksToDeleted(of place: RowKey) throws {
    guard let values = try current(place) else { return }
    var cleared: [Int: StoredValue] = [:]
    for column in layout.linkColumns[place.table] {
      let target = layout.entities[layout.links[column.link].destination].tableIndex
      guard let key = values[column.column].integer,
        deleted.contains(RowKey(table: target, key: key))
      else { continue }
      cleared[column.column] = .null
      if let order = column.order { cleared[order] = .null }
    }
    if !cleared.isEmpty { _ = try update(place, cleared, version: nil) }
  }

  /// Objects whose unique keys were in each other's way: the keys are freed first, then set.
  private func writeBlocked() throws {
    for (place, object) in blocked {
      let keys = layout.entities[Int(object.entity)].uniqueKeys.joined()
      let columns = layout.tables[place.table].columns
      var freed: [Int: StoredValue] = [:]
      for column in object.values.keys
      where keys.contains(where: { $0.column == columns[column].name }) {
        freed[column] = .null
      }
      _ = try update(place, freed, version: nil)
    }
    for (place, object) in blocked {
      do {
        _ = try update(place, object.values, version: nil)
        outcome.versions[place] = try version(place) ?? object.version + 2
      } catch let error as DatabaseError where error.isUniqueViolation {
        throw duplicate(error, place, object)
      }
    }
  }

  private func run(
    _ statement: RawStatement,
    _ place: RowKey,
    _ object: RowChange
  ) throws {
    do {
      try statement.run()
    } catch {
      throw error.isUniqueViolation ? duplicate(error, place, object) : error
    }
  }

  private func duplicate(
    _ error: DatabaseError,
    _ place: RowKey,
    _ object: RowChange
  ) -> ContextError {
    let columns = (error.message ?? "").replacing("UNIQUE constraint failed: ", with: "")
    let entity = layout.entities[Int(object.entity)]
    return ContextError(
      .duplicate,
      "Another \(entity.name) has the same value of \(columns), which is unique"
        + " (the object is \(entity.rootName) \(place.key)).",
      object: layout.objectID(of: place),
      help: "change the value and save again"
    )
  }

  /// A statement, of which a model has a few: kept by the connection, and looked for once a save.
  func statement(_ sql: String) throws -> RawStatement {
    if let known = statements[sql] { return known }
    let made = try RawStatement(kept: sql, in: database)
    statements[sql] = made
    return made
  }
}

extension DatabaseError {
  /// Whether a unique index refused the statement.
  var isUniqueViolation: Bool { extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE }
}
