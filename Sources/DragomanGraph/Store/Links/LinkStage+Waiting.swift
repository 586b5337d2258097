import Foundation
import GRDB

/// Where a reference stands that nobody has yet.
package struct WaitingPlace: Sendable, Hashable, Codable {
  /// The file.
  package var file: String
  /// The line, from 1.
  package var line: Int
  /// The column, from 1.
  package var column: Int
  /// Bytes from the start of the text, from 0.
  package var byte: Int
  /// The record's number in its file, from 1.
  package var record: Int
  /// The record's number in the import, from 1: reports tell what comes first first.
  package var ordinal: Int

  /// Makes a place.
  package init(file: String, line: Int, column: Int, byte: Int, record: Int, ordinal: Int) {
    self.file = file
    self.line = line
    self.column = column
    self.byte = byte
    self.record = record
    self.ordinal = ordinal
  }
}

/// References that nobody has yet: they wait for the end of the import, or in the store.
extension LinkStage {
  /// Where a reference stands, as the caller of `flush` understands it.
  package struct ReferencePlace: Sendable {
    /// The node of the tape.
    package let node: UInt32
    /// The number of the record in its file.
    package let record: Int
    /// The number of the record in the import.
    package let ordinal: Int

    /// Makes a place.
    package init(node: UInt32, record: Int, ordinal: Int) {
      self.node = node
      self.record = record
      self.ordinal = ordinal
    }
  }

  /// Lets the reference of a to-one wait: nobody has its key yet.
  ///
  /// An owner that is not new has to be forgotten before (`forgetTarget`).
  package func wait(
    _ owner: Int64,
    key: UnsafeBufferPointer<RowValue>,
    arena: UnsafeRawPointer,
    at place: WaitingPlace
  ) throws(StoreError) {
    let bytes = UnsafeRawBufferPointer(start: arena, count: .max)
    let parameters = plan.key.map { _ in ", ?" }.joined()
    try run(
      "INSERT INTO \(waiting) (\(waitingColumns)) VALUES (?, 0, ?, ?, ?, ?, ?, ?\(parameters))",
      binding: [.integer(owner)] + values(of: place) + key.map { $0.stored(in: bytes) }
    )
    waitingCount += 1
  }

  /// Whether an owner has references of this import that wait.
  package func waits(_ owner: Int64) throws(StoreError) -> Bool {
    guard waitingCount > 0 else { return false }
    return try !integers("SELECT 1 FROM \(waiting) WHERE owner = ? LIMIT 1", [owner]).isEmpty
  }

  /// A record gave the to-one of an owner: what waited for it does not wait any more.
  package func forgetTarget(of owner: Int64) throws(StoreError) {
    if waitingCount > 0 {
      try run("DELETE FROM \(waiting) WHERE owner = ?", [owner])
      waitingCount -= database.changesCount
    }
    if hasPending {
      try run("DELETE FROM _dragoman_pending WHERE relationship = ? AND owner = ?", [name, owner])
    }
    for table in othersWaiting { try run("DELETE FROM \(table) WHERE owner = ?", [owner]) }
  }

  /// Ends the waiting for a target, of the records before one: that one has deleted it.
  package func endWaiting(for key: [StoredValue], before ordinal: Int) throws(StoreError) {
    guard waitingCount > 0 else { return }
    let isSame = plan.key.indices.map { "k\($0) IS ?" }.joined(separator: " AND ")
    try run(
      "DELETE FROM \(waiting) WHERE \(isSame) AND state IS NULL AND ordinal < ?",
      binding: key + [.integer(Int64(ordinal))]
    )
    waitingCount -= database.changesCount
  }

  /// A record says anew what an owner has: who of those that earlier records named is there by now was its target in
  /// between (`forgetTargets`).
  func lookUpTargets(of owner: Int64) throws(StoreError) {
    try run(
      "UPDATE \(waiting) SET target = (\(lookUp(in: waiting))) WHERE owner = ? AND state IS NULL",
      [owner]
    )
  }

  /// The same for all staged owners; the targets of their lists are looked up.
  func forgetTargets(of table: LinkQuery, _ result: inout Outcome) throws(StoreError) {
    if waitingCount > 0 {
      let late =
        "SELECT DISTINCT owner, target FROM \(waiting)"
        + " WHERE owner IN (SELECT owner FROM \(owners)) AND state IS NULL AND ordinal > 0"
      result.add(
        between: try integers(
          "SELECT owner FROM (\(late)) AS _w WHERE target NOT NULL AND NOT EXISTS (SELECT 1 FROM"
            + " \(links) AS _l WHERE _l.owner = _w.owner AND _l.target = _w.target) AND NOT EXISTS"
            + " (SELECT 1 FROM \(table.name) AS _t WHERE _t.\(table.own) = _w.owner"
            + " AND _t.\(table.other) = _w.target)"
        )
      )
      try run("DELETE FROM \(waiting) WHERE owner IN (SELECT owner FROM \(owners))")
      waitingCount -= database.changesCount
    }
    if hasPending {
      try run(
        "DELETE FROM _dragoman_pending WHERE relationship = ?"
          + " AND owner IN (SELECT owner FROM \(owners))",
        [name]
      )
    }
    for table in othersWaiting {
      try run("DELETE FROM \(table) WHERE owner IN (SELECT owner FROM \(owners))")
    }
  }

  /// The columns of what waits, without those that say what became of it.
  private var waitingColumns: String {
    "owner, position, ordinal, file, line, \"column\", byte, record" + keyColumns
  }

  private var keyColumns: String { plan.key.indices.map { ", k\($0)" }.joined() }

  private func values(of place: WaitingPlace) -> [StoredValue] {
    [
      .integer(Int64(place.ordinal)), .text(place.file), .integer(Int64(place.line)),
      .integer(Int64(place.column)), .integer(Int64(place.byte)), .integer(Int64(place.record)),
    ]
  }

  /// Moves staged links whose target is not there to those that wait.
  ///
  /// Where a list is ordered, the targets that are there are kept with them, because they tell
  /// where the others belong.
  ///
  /// - Parameter origin: Where a key stands.
  /// - Returns: The owners.
  /// - Throws: `StoreError` where the store fails.
  func moveUnresolved(
    _ origin: (ReferencePlace) -> WaitingPlace
  ) throws(StoreError) -> Set<Int64> {
    var found: Set<Int64> = []
    do {
      let rows = try Row.fetchAll(
        try database.keptStatement(
          "SELECT seq, owner, node, record, ordinal FROM \(links) WHERE target IS NULL"
            + " ORDER BY seq"
        )
      )
      guard !rows.isEmpty else { return [] }
      for row in rows {
        let place = ReferencePlace(
          node: UInt32(clamping: try row.stored(2, of: links, as: Int64.self)),
          record: try row.stored(3, of: links),
          ordinal: try row.stored(4, of: links)
        )
        // The key stays in SQLite, whatever it holds.
        try run(
          "INSERT INTO \(waiting) (\(waitingColumns))"
            + " SELECT owner, position, ?, ?, ?, ?, ?, ?\(keyColumns) FROM \(links) WHERE seq = ?",
          binding: values(of: origin(place)) + [.integer(try row.stored(0, of: links))]
        )
        waitingCount += 1
        found.insert(try row.stored(1, of: links))
      }
    } catch {
      throw StoreError(error, path: path)
    }
    staged.hasGaps = true
    if table?.place != nil, plan.replaces {
      try run(
        "INSERT INTO \(waiting) (owner, position, target, state) SELECT owner, position, target, 0"
          + " FROM \(links) WHERE target NOT NULL AND owner IN (SELECT value FROM json_each(?))"
          + " ORDER BY seq",
        [list(found.sorted())]
      )
      waitingCount += database.changesCount
    }
    try run("DELETE FROM \(links) WHERE target IS NULL")
    return found
  }

  // MARK: - References that wait in the store

  /// Takes the references that wait from earlier imports, so that `finish` resolves them, too.
  package func adoptPending() throws(StoreError) {
    guard hasPending else { return }
    let values = plan.key.map { key in
      ", (SELECT \(PendingReference.value(in: "e")) FROM json_each(_dragoman_pending.key) AS e"
        + " WHERE e.key = \(Schema.literal(key.name)))"
    }.joined()
    let names = plan.key.map { Schema.literal($0.name) + ", 1" }.joined(separator: ", ")
    let isOurs =
      "relationship = ? AND (SELECT count(*) FROM json_each(_dragoman_pending.key)) = \(plan.key.count)"
      + " AND NOT EXISTS (SELECT 1 FROM json_each(_dragoman_pending.key) AS e WHERE e.key NOT IN"
      + " (SELECT n.key FROM json_each(json_object(\(names))) AS n))"
    try run(
      "INSERT INTO \(waiting) (\(waitingColumns))"
        + " SELECT owner, \(Self.firstAdoptedPlace) + id, 0, '', 0, 0, 0, 0\(values)"
        + " FROM _dragoman_pending WHERE \(isOurs) ORDER BY id",
      [name]
    )
    waitingCount += database.changesCount
    try run("DELETE FROM _dragoman_pending WHERE \(isOurs)", [name])
  }

  /// Keeps in the store what nobody has, of what passes a test.
  ///
  /// What waits already keeps its number, and no number is given again that the import has seen: what it did is
  /// recorded as rows that came and went, and not as rows that became others (`RunReversal`).
  func keepPending(_ test: String) throws(StoreError) {
    let key = plan.key.enumerated().map { ($1.name, "k\($0)") }
    // A list names a target once, unless it may have it several times.
    let group = allowsRepeats ? "seq" : "owner\(keyColumns)"
    let adopted = "min(CASE WHEN ordinal = 0 THEN position END)"
    // What waits already does so in the order in which it came.
    let order = "\(adopted) NULLS LAST, min(seq)"
    try run(
      "INSERT INTO _dragoman_pending (id, owner, relationship, entity, key)"
        + " SELECT CASE WHEN typeof(\(adopted)) = 'integer' THEN \(adopted) - \(Self.firstAdoptedPlace)"
        + " WHEN ?1 < \(Int64.max / 2) THEN row_number() OVER (ORDER BY \(order))"
        + " + max(?1, (SELECT coalesce(max(id), 0) FROM _dragoman_pending)) END,"
        + " owner, ?2, ?3, \(PendingReference.json(key)) FROM \(waiting)"
        + " WHERE state IS NULL AND \(test) GROUP BY \(group) ORDER BY \(order)",
      binding: [.integer(lastPending), .text(name), .text(target.name)]
    )
    if database.changesCount > 0 { hasPending = true }
  }
}
