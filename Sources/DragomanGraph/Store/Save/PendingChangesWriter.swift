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
final class PendingChangesWriter: ChangeSetWriter {
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
  var outcome = SaveOutcome()
  var conflicts: [SaveConflict] = []
  /// Updates that met a unique key that another row of the save gives up later.
  private var blocked: [(RowKey, RowChange)] = []
  /// Rows that are deleted by now.
  private(set) var deleted: Set<RowKey> = []

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
  func write(_ changes: ChangeSet) throws -> SaveOutcome {
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
    try settleOneToOnes(rows, in: changes)
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
    try clearLinksOfKept(in: changes)
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

  func set(_ values: [Int: StoredValue], at place: RowKey, of change: RowChange) throws {
    var settled = change
    settled.values = values
    settled.version = 0
    try update(place, settled)
  }

  private func update(_ place: RowKey, _ object: RowChange) throws {
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
  private func update(
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

  func deleteRow(_ place: RowKey, _ object: RowChange) throws {
    let table = Schema.quoted(layout.tables[place.table].name)
    // The version of a fault that was never read is not known: it cannot conflict.
    let test = object.version == 0 ? "?2 = 0" : "_v = ?2"
    let statement = try statement("DELETE FROM \(table) WHERE _pk = ?1 AND \(test)")
    statement.bind(integer: place.key, 1)
    statement.bind(integer: object.version, 2)
    deleted.insert(place)
    if try statement.run() > 0 || object.version == 0 { return }
    guard let theirs = try version(place) else { return }
    guard settlesDeletion(place, object, theirVersion: theirs) else {
      if storeWins { deleted.remove(place) }
      return
    }
    let again = try self.statement("DELETE FROM \(table) WHERE _pk = ?1")
    again.bind(integer: place.key, 1)
    try again.run()
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
        + ": \(entity.rootName) \(place.key) cannot have it, too.",
      object: layout.objectID(of: place),
      help: "change the value and save again"
    )
  }

  // MARK: - What is there

  func stored(_ place: RowKey) throws -> (version: Int64, values: [StoredValue])? {
    let table = layout.tables[place.table]
    let names = ["_pk", "_v"] + table.columns.map { Schema.quoted($0.name) }
    let statement = try statement(
      "SELECT \(names.joined(separator: ", ")) FROM \(Schema.quoted(table.name)) WHERE _pk = ?1"
    )
    statement.bind(integer: place.key, 1)
    var found: (version: Int64, values: [StoredValue])?
    try statement.forEachRow { row in
      found = (row.integer(1), table.columns.indices.map { row.stored(Int32($0) + 2) })
    }
    return found
  }

  func isThere(_ place: RowKey) throws -> Bool { try version(place) != nil }

  func rivals(of place: RowKey, by column: Int, to target: Int64) throws -> [RowKey] {
    let table = layout.tables[place.table]
    let (name, column) = (Schema.quoted(table.name), Schema.quoted(table.columns[column].name))
    let statement = try statement(
      "SELECT _o._pk FROM \(name) AS _n JOIN \(name) AS _o ON _o.\(column) = ?2 AND _o._pk <> ?1"
        + " WHERE _n._pk = ?1 AND _n.\(column) = ?2"
    )
    statement.bind(integer: place.key, 1)
    statement.bind(integer: target, 2)
    var rivals: [RowKey] = []
    try statement.forEachRow { rivals.append(RowKey(table: place.table, key: $0.integer(0))) }
    return rivals
  }

  func version(_ place: RowKey) throws -> Int64? {
    let table = Schema.quoted(layout.tables[place.table].name)
    let statement = try statement("SELECT _v FROM \(table) WHERE _pk = ?1")
    statement.bind(integer: place.key, 1)
    var version: Int64?
    try statement.forEachRow { version = $0.integer(0) }
    return version
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
