import Foundation
import GRDB

/// Where a reference stands that nobody has yet.
package struct WaitingPlace: Sendable, Hashable {
  /// The file.
  package var file: String
  /// The line, from 1.
  package var line: Int
  /// The column, from 1.
  package var column: Int
  /// Bytes from the start of the text, from 0.
  package var byte: Int
  /// The record's number, from 1.
  package var record: Int

  /// Makes a place.
  package init(file: String, line: Int, column: Int, byte: Int, record: Int) {
    self.file = file
    self.line = line
    self.column = column
    self.byte = byte
    self.record = record
  }
}

extension LinkStage {
  /// What becomes of references that nobody has at the end of an import.
  package enum Unresolved: Sendable {
    /// They are dropped.
    case clear
    /// An object is made that holds the key only.
    case stub
    /// They are kept in the store until their target comes.
    case pending
  }

  /// What the end of an import made of the references that waited.
  package struct Finish: Sendable {
    /// Owners whose links changed, with what was kept for them.
    package var changed: [Int64: Int] = [:]
    /// How many links were made.
    package var linked = 0
    /// How many references nobody has.
    package var unresolved = 0
    /// The first of them: the key's parts and the place.
    package var examples: [(key: [StoredValue], place: WaitingPlace)] = []
    /// How many stubs were made.
    package var stubs = 0
  }

  /// Lets the reference of a to-one wait: nobody has its key yet.
  ///
  /// An owner that is not new has to be forgotten before (`forgetTarget`).
  package func wait(
    _ owner: Int64,
    key: UnsafeBufferPointer<RowValue>,
    arena: UnsafeRawPointer,
    at place: WaitingPlace,
    outcome: Int
  ) throws(StoreError) {
    let bytes = UnsafeRawBufferPointer(start: arena, count: .max)
    let values = key.map { Self.databaseValue($0.stored(in: bytes)) }
    try insertWaiting([owner.databaseValue, 0.databaseValue], place, outcome, values)
  }

  /// A record gave the to-one of an owner: what waited for it does not wait any more.
  package func forgetTarget(of owner: Int64) throws(StoreError) {
    if waitingCount > 0 { try forgetWaiting("= \(owner)") }
    if hasPending { try forgetPending("= \(owner)") }
  }

  func forgetWaiting(_ test: String) throws(StoreError) {
    try run("DELETE FROM \(waiting) WHERE owner \(test)")
    waitingCount -= database.changesCount
  }

  func forgetPending(_ test: String) throws(StoreError) {
    try run("DELETE FROM _dragoman_pending WHERE relationship = ? AND owner \(test)", [name])
  }

  private func insertWaiting(
    _ link: [DatabaseValue],
    _ place: WaitingPlace,
    _ outcome: Int,
    _ key: [DatabaseValue]
  ) throws(StoreError) {
    let parts = plan.key.indices.map { ", k\($0)" }.joined()
    let parameters = plan.key.map { _ in ", ?" }.joined()
    let values: [any DatabaseValueConvertible] =
      link + [outcome, place.file, place.line, place.column, place.byte, place.record] + key
    try run(
      "INSERT INTO \(waiting) (owner, position, outcome, file, line, \"column\", byte, record\(parts))"
        + " VALUES (?, ?, ?, ?, ?, ?, ?, ?\(parameters))",
      StatementArguments(values)
    )
    waitingCount += 1
  }

  /// Moves staged links whose target is not there to those that wait.
  func moveUnresolved(
    origin: (UInt32, Int) -> WaitingPlace,
    outcome: (Int64) -> Int
  ) throws(StoreError) {
    let parts = plan.key.indices.map { ", k\($0)" }.joined()
    do {
      let rows = try Row.fetchAll(
        try database.cachedStatement(
          sql: "SELECT owner, position, place, record\(parts) FROM \(links) WHERE target IS NULL"
            + " ORDER BY seq"
        )
      )
      guard !rows.isEmpty else { return }
      for row in rows {
        let values = Array(row.databaseValues)
        let owner: Int64 = row[0]
        let place = origin(UInt32(clamping: row[2] as Int64), row[3])
        try insertWaiting(Array(values[0..<2]), place, outcome(owner), Array(values[4...]))
      }
    } catch {
      throw StoreError(error, path: path)
    }
    try run("DELETE FROM \(links) WHERE target IS NULL")
  }

  // MARK: - The end

  /// Links what waited and is there by now, and applies the policy to the rest.
  ///
  /// - Parameters:
  ///   - policy: What becomes of references that nobody has.
  ///   - exampleCount: How many of them are described.
  /// - Returns: What was linked, and what is left.
  /// - Throws: `StoreError` where the store fails.
  package func finish(
    _ policy: Unresolved,
    exampleCount: Int
  ) throws(StoreError) -> Finish {
    var finish = Finish()
    guard waitingCount > 0 else { return finish }
    try run(
      "DELETE FROM \(waiting) WHERE owner NOT IN (SELECT _pk FROM \(Schema.quoted(owner.table)))"
    )
    try resolve(&finish)
    finish.unresolved = try count("SELECT count(*) FROM \(waiting)")
    if finish.unresolved > 0 {
      try describe(exampleCount, &finish)
      switch policy {
      case .clear: break
      case .pending: try keepPending()
      case .stub:
        try makeStubs(&finish)
        try resolve(&finish)
      }
    }
    try run("DELETE FROM \(waiting)")
    waitingCount = 0
    return finish
  }

  /// Takes the references that wait from earlier imports, so that `finish` resolves them, too.
  package func adoptPending() throws(StoreError) {
    guard hasPending else { return }
    let parts = plan.key.indices.map { ", k\($0)" }.joined()
    let values = plan.key.map { key in
      ", json_extract(_dragoman_pending.key, \(Schema.literal("$.\"\(key.name)\"")))"
    }.joined()
    let names = plan.key.map { Schema.literal($0.name) + ", 1" }.joined(separator: ", ")
    let isOurs =
      "relationship = ? AND (SELECT count(*) FROM json_each(_dragoman_pending.key)) = \(plan.key.count)"
      + " AND NOT EXISTS (SELECT 1 FROM json_each(_dragoman_pending.key) AS e WHERE e.key NOT IN"
      + " (SELECT n.key FROM json_each(json_object(\(names))) AS n))"
    try run(
      "INSERT INTO \(waiting) (owner, position, outcome, file, line, \"column\", byte, record\(parts))"
        + " SELECT owner, 1 << 30, 0, '', 0, 0, 0, 0\(values) FROM _dragoman_pending"
        + " WHERE \(isOurs) ORDER BY id",
      [name]
    )
    waitingCount += database.changesCount
    try run("DELETE FROM _dragoman_pending WHERE \(isOurs)", [name])
  }

  private func resolve(_ finish: inout Finish) throws(StoreError) {
    try run("UPDATE \(waiting) SET target = (\(lookUp(in: waiting))) WHERE target IS NULL")
    guard database.changesCount > 0 else { return }
    var outcome = Outcome()
    switch plan.link.storage {
    case .column(let column): try resolveColumn(column, &outcome)
    case .inverseColumn(let column, let order): try resolveInverse(column, order, &outcome)
    case .joinTable(let join, let isOwner):
      try run(
        "INSERT INTO \(links) (owner, position, target) SELECT owner, position, target"
          + " FROM \(waiting) WHERE target IS NOT NULL ORDER BY seq"
      )
      let table = LinkTable(join, isOwner: isOwner)
      let hasOld = try count("SELECT count(*) FROM \(waiting) WHERE position = 1 << 30") > 0
      try link(in: table, appends: !plan.replaces || hasOld, &outcome)
      try run("DELETE FROM \(links)")
      let changed = Set(outcome.changedOwners)
      for owner in changed { try bumpVersion(of: owner) }
    }
    finish.linked += outcome.linked
    do {
      let kept = try Row.fetchAll(
        try database.cachedStatement(
          sql: "SELECT owner, max(outcome) FROM \(waiting) WHERE target IS NOT NULL GROUP BY owner"
        )
      )
      let changed = Set(outcome.changedOwners)
      for row in kept where changed.contains(row[0]) { finish.changed[row[0]] = row[1] }
    } catch {
      throw StoreError(error, path: path)
    }
    try run("DELETE FROM \(waiting) WHERE target IS NOT NULL")
  }

  private func resolveColumn(_ column: String, _ outcome: inout Outcome) throws(StoreError) {
    let table = Schema.quoted(owner.table)
    let name = Schema.quoted(column)
    let isExclusive = target.linkSlot(named: plan.link.relationship.inverse ?? "").map {
      target.relationships[$0].isToOne
    }
    var source = waiting
    if isExclusive == true {
      source = "(SELECT owner, target, max(seq) FROM \(waiting) GROUP BY target)"
      try run(
        "UPDATE \(table) SET \(name) = NULL, _v = _v + 1 WHERE \(name) IN"
          + " (SELECT target FROM \(waiting))"
      )
    }
    outcome.changedOwners = try owners(
      "UPDATE \(table) SET \(name) = w.target, _v = _v + 1 FROM \(source) AS w"
        + " WHERE \(table)._pk = w.owner AND w.target IS NOT NULL AND \(table).\(name) IS NOT w.target"
        + " RETURNING _pk"
    )
    outcome.linked = outcome.changedOwners.count
  }

  private func resolveInverse(
    _ column: String,
    _ order: String?,
    _ outcome: inout Outcome
  ) throws(StoreError) {
    let table = Schema.quoted(target.table)
    let name = Schema.quoted(column)
    let place = order.map { ", \(Schema.quoted($0)) = w.position" } ?? ""
    outcome.changedOwners = try owners(
      "UPDATE \(table) SET \(name) = w.owner\(place), _v = _v + 1 FROM"
        + " (SELECT target, owner, position, max(seq) FROM \(waiting) WHERE target IS NOT NULL"
        + " GROUP BY target) AS w"
        + " WHERE \(table)._pk = w.target AND \(table).\(name) IS NOT w.owner RETURNING \(name)"
    )
    outcome.linked = outcome.changedOwners.count
  }

  /// A link in a table of its own changes the owner.
  package func bumpVersion(of key: Int64) throws(StoreError) {
    try run("UPDATE \(Schema.quoted(owner.table)) SET _v = _v + 1 WHERE _pk = ?", [key])
  }

  private func keepPending() throws(StoreError) {
    let key = plan.key.enumerated().map { "\(Schema.literal($1.name)), k\($0)" }
    try run(
      "INSERT INTO _dragoman_pending (owner, relationship, entity, key)"
        + " SELECT owner, ?, ?, json_object(\(key.joined(separator: ", "))) FROM \(waiting) ORDER BY seq",
      [name, target.name]
    )
    hasPending = true
  }

  /// Makes an object for each key that nobody has: the key, and the defaults.
  private func makeStubs(_ finish: inout Finish) throws(StoreError) {
    let parts = plan.key.indices.map { "k\($0)" }.joined(separator: ", ")
    let given = Set(plan.key.map(\.column))
    let defaults = target.attributes.filter { $0.defaultValue != nil && !given.contains($0.column) }
    var columns = ["_pk", "_v", "_stub"]
    var values = ["? + row_number() OVER (ORDER BY first) - 1", "1", "1"]
    if target.hasEntityColumn {
      columns.append("_entity")
      values.append(Schema.literal(target.name))
    }
    columns += plan.key.map { Schema.quoted($0.column) } + defaults.map { Schema.quoted($0.column) }
    values += plan.key.indices.map { "k\($0)" } + defaults.map { _ in "?" }
    let arguments: [any DatabaseValueConvertible] =
      [primaryKeys.next] + defaults.map { Self.databaseValue($0.defaultValue ?? .null) }
    try run(
      "INSERT INTO \(Schema.quoted(target.table)) (\(columns.joined(separator: ", ")))"
        + " SELECT \(values.joined(separator: ", ")) FROM"
        + " (SELECT \(parts), min(seq) AS first FROM \(waiting) GROUP BY \(parts))",
      StatementArguments(arguments)
    )
    finish.stubs = database.changesCount
    primaryKeys.take(finish.stubs)
  }

  private func describe(_ count: Int, _ finish: inout Finish) throws(StoreError) {
    let parts = plan.key.indices.map { ", k\($0)" }.joined()
    do {
      let rows = try Row.fetchAll(
        database,
        sql: "SELECT file, line, \"column\", byte, record\(parts) FROM \(waiting)"
          + " ORDER BY seq LIMIT \(count)"
      )
      finish.examples = rows.map { row in
        (
          row.databaseValues.dropFirst(5).map(Self.stored),
          WaitingPlace(file: row[0], line: row[1], column: row[2], byte: row[3], record: row[4])
        )
      }
    } catch {
      throw StoreError(error, path: path)
    }
  }

  private static func stored(_ value: DatabaseValue) -> StoredValue {
    switch value.storage {
    case .null: .null
    case .int64(let integer): .integer(integer)
    case .double(let real): .real(real)
    case .string(let text): .text(text)
    case .blob(let data): .blob(Array(data))
    }
  }

  private static func databaseValue(_ value: StoredValue) -> DatabaseValue {
    switch value {
    case .null: .null
    case .integer(let integer): integer.databaseValue
    case .real(let real): real.databaseValue
    case .text(let text): text.databaseValue
    case .blob(let bytes): Data(bytes).databaseValue
    }
  }

  private func count(_ sql: String) throws(StoreError) -> Int {
    Int(try owners(sql).first ?? 0)
  }
}
