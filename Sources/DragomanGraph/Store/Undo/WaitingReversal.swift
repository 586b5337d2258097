import GRDB

/// Takes back what an import did to references that wait: who waits for whom counts.
///
/// What the import let wait must still do so, and who does not wait any more because of it must not have got
/// anything else since.
struct WaitingReversal {
  /// The references of an object that wait, by one relationship.
  private struct Waiter: Hashable {
    let owner: Int64
    let relationship: String
  }

  private static let table = PendingReference.table
  private static let columns = ["id", "owner", "relationship", "entity", "key"]

  private let layout: ModelLayout
  private let database: Database
  /// Those that waited when the import ended, and do not any more.
  private var missed: Set<Waiter> = []
  /// Those that wait again.
  private var back: Set<Waiter> = []

  init(_ layout: ModelLayout, in database: Database) {
    self.layout = layout
    self.database = database
  }

  /// Takes back a part, before its other rows are.
  ///
  /// - Parameter inverted: The changes of the import, the other way round.
  /// - Throws: `.undo` where rows are not there of which only a part is recorded.
  mutating func takeBack(_ inverted: Changeset) throws {
    var rows: [[(column: String, value: StoredValue)]] = []
    var lost: [(owner: Int64?, relationship: StoredValue?)] = []
    try inverted.withRows { row in
      guard hasSameBytes(row.table, Self.table) else { return }
      let (old, new) = (given(row.old), given(row.new))
      let number: [StoredValue] = [row.old(0) ?? .null]
      let isSame = old.map { "\($0.column) IS ?" }.joined(separator: " AND ")
      switch row.operation {
      case .inserted: return rows.append([("id", row.new(0) ?? .null)] + new)
      case .deleted:
        try run("DELETE FROM \(Self.table) WHERE id = ? AND \(isSame)", number + old.map(\.value))
        guard database.changesCount == 0 else { return }
        // It has another number by now.
        let other = "SELECT id FROM \(Self.table) WHERE \(isSame) ORDER BY id DESC LIMIT 1"
        try run("DELETE FROM \(Self.table) WHERE id = (\(other))", old.map(\.value))
      case .updated:
        // Of such a row only the columns are known that were changed: another one may look the same.
        let sets = new.map { "\($0.column) = ?" }.joined(separator: ", ")
        try run(
          "UPDATE \(Self.table) SET \(sets) WHERE id = ? AND \(isSame)",
          new.map(\.value) + number + old.map(\.value)
        )
      }
      if database.changesCount == 0 { lost.append((row.old(1)?.integer, row.old(2))) }
    }
    for row in lost {
      guard let owner = row.owner, case .text(let relationship)? = row.relationship else {
        throw StoreError(
          .undo,
          "References that waited were changed since, which nobody can tell apart any more."
        )
      }
      let waiter = Waiter(owner: owner, relationship: relationship)
      // Who was deleted since has nothing to be taken back.
      if try isThere(waiter) { missed.insert(waiter) }
    }
    for row in rows {
      let names = row.map(\.column).joined(separator: ", ")
      let places = row.dropFirst().map { _ in ", ?" }.joined()
      try run(
        "INSERT INTO \(Self.table) (\(names)) VALUES"
          + " ((SELECT ?1 WHERE ?1 NOT IN (SELECT id FROM \(Self.table)))\(places))",
        row.map(\.value)
      )
      if let owner = row[1].value.integer, case .text(let relationship) = row[2].value {
        back.insert(Waiter(owner: owner, relationship: relationship))
      }
    }
  }

  /// The objects that were changed since, when all parts are taken back.
  ///
  /// - Parameter leaving: The rows that go when nothing is in the way, by their table in the model.
  /// - Returns: Their tables and keys, and what became of them.
  /// - Throws: What SQLite throws.
  func conflicts(
    besides leaving: [Int: ClosedRange<Int64>]
  ) throws -> [(table: Int, key: Int64, reason: Changeset.Conflict)] {
    let found =
      try missed.map { ($0, Changeset.Conflict.changed) }
      + back.compactMap { waiter in
        if try !isThere(waiter) { return (waiter, .gone) }
        return try hasMore(waiter, besides: leaving) ? (waiter, .changed) : nil
      }
    return found.compactMap { waiter, reason in
      table(of: waiter).map { ($0, waiter.owner, reason) }
    }
  }

  /// The objects of a table that wait and satisfy a test.
  ///
  /// - Parameters:
  ///   - table: The table of the objects, its number in the model.
  ///   - test: SQL.
  ///   - values: Its parameters.
  /// - Returns: Their keys, each once a relationship.
  /// - Throws: What SQLite throws.
  func owners(of table: Int, where test: String, _ values: [Int64] = []) throws -> [Int64] {
    try layout.links.filter { layout.entities[$0.owner].tableIndex == table }.flatMap { link in
      let name = "\(layout.entities[link.owner].name).\(link.name)"
      return try Int64.fetchAll(
        database,
        sql: "SELECT DISTINCT owner FROM \(Self.table) WHERE relationship = ? AND \(test)",
        arguments: [name] + StatementArguments(values)
      )
    }
  }

  // MARK: - What is there

  private func table(of waiter: Waiter) -> Int? {
    layout.relationship(named: waiter.relationship).map { layout.entities[$0.owner].tableIndex }
  }

  private func isThere(_ waiter: Waiter) throws -> Bool {
    guard let table = table(of: waiter) else { return false }
    return try isAny(
      "SELECT 1 FROM main.\(Schema.quoted(layout.tables[table].name)) WHERE _pk = ?",
      [.integer(waiter.owner)]
    )
  }

  /// Whether somebody who waits again waits for more than he may, or has a target by now.
  private func hasMore(
    _ waiter: Waiter,
    besides leaving: [Int: ClosedRange<Int64>]
  ) throws -> Bool {
    guard let link = layout.relationship(named: waiter.relationship) else { return false }
    let (owner, name) = (StoredValue.integer(waiter.owner), StoredValue.text(waiter.relationship))
    let rows = "FROM \(Self.table) WHERE relationship = ? AND owner = ?"
    guard link.isToOne else {
      return try !link.relationship.allowsRepeats
        && isAny("SELECT 1 \(rows) GROUP BY entity, key HAVING count(*) > 1", [name, owner])
    }
    let query = LinkQuery(link, in: layout)
    let stays = leaving[layout.entities[link.destination].tableIndex].map {
      " AND \(query.other) NOT BETWEEN \($0.lowerBound) AND \($0.upperBound)"
    }
    return try isAny("SELECT 1 \(rows) LIMIT 1 OFFSET 1", [name, owner])
      || isAny("SELECT \(query.targets(of: "(?)"))\(stays ?? "")", [owner])
  }

  private func isAny(_ sql: String, _ values: [StoredValue]) throws -> Bool {
    let statement = try RawStatement(kept: sql, in: database)
    defer { statement.reset() }
    for (index, value) in values.enumerated() { try statement.bind(value, Int32(index) + 1) }
    return try statement.step()
  }

  private func run(_ sql: String, _ values: [StoredValue]) throws {
    let statement = try RawStatement(kept: sql, in: database)
    for (index, value) in values.enumerated() { try statement.bind(value, Int32(index) + 1) }
    try statement.run()
  }

  private func given(_ value: (Int32) -> StoredValue?) -> [(column: String, value: StoredValue)] {
    (1...4).compactMap { index in value(index).map { (Self.columns[Int(index)], $0) } }
  }
}
