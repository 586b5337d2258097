/// Deletes objects by the delete rules of the relationships, any number with a few statements.
///
/// The objects are marked first, in a temporary table; `delete()` adds what `cascade` takes with
/// them, refuses what `deny` protects, clears the links to them, and deletes them. A relationship
/// with the rule `noAction` keeps its links: SQLite then refuses the commit if one dangles.
package final class ObjectDeleter {
  /// What was deleted.
  package struct Outcome: Sendable, Hashable {
    /// How many objects, by the name of their entity.
    package var deleted: [String: Int] = [:]
    /// The relationship, as `Entity.relationship`, whose rule `deny` forbids it: nothing was done.
    package var denied: String?

    /// Nothing yet.
    package init() {}
  }

  let sql: any SharedSQL
  /// The temporary table of marks.
  let table: String
  let layout: ModelLayout
  private let onPortion: () throws(StoreError) -> Void

  /// - Parameters:
  ///   - sql: The statements of the store.
  ///   - layout: The tables.
  ///   - onPortion: Called between portions of rows.
  /// - Throws: `StoreError`.
  init(
    _ sql: any SharedSQL,
    layout: ModelLayout,
    onPortion: @escaping () throws(StoreError) -> Void = {}
  ) throws(StoreError) {
    self.onPortion = onPortion
    self.sql = sql
    self.layout = layout
    table = "\(sql.temporarySchema)._dragoman_doomed"
    try sql.run(
      "CREATE TEMP TABLE IF NOT EXISTS _dragoman_doomed"
        + " (root INTEGER, pk BIGINT, done INTEGER DEFAULT 0, PRIMARY KEY (root, pk),"
        // Those that are not done are found among many that are.
        + " UNIQUE (done, root, pk))\(sql.keyedTable)"
    )
    try sql.run("DELETE FROM \(table)")
  }

  /// Marks one object.
  package func mark(_ key: Int64, of entity: EntityLayout) throws(StoreError) {
    try sql.run(
      "INSERT INTO \(table) (root, pk) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
      [.integer(Int64(entity.root)), .integer(key)]
    )
  }

  /// Marks many.
  func mark(_ keys: [Int64], of entity: EntityLayout) throws(StoreError) {
    try sql.insert(keys.map { (Int64(entity.root), $0) }, into: "\(table) (root, pk)")
  }

  /// Marks the objects that a `SELECT` of primary keys finds, which ends in a condition.
  func mark(_ select: String, of entity: EntityLayout) throws(StoreError) {
    try sql.run(
      "INSERT INTO \(table) (root, pk) SELECT \(entity.root), \(select) ON CONFLICT DO NOTHING"
    )
  }

  /// Deletes the marked objects and what their rules take with them.
  ///
  /// - Returns: How many, or what forbids it; the marks are gone in either case.
  /// - Throws: `StoreError` where the store fails.
  package func delete() throws(StoreError) -> Outcome {
    var outcome = Outcome()
    try spread()
    let roots = try roots()
    for root in roots {
      if let denied = try denial(root) {
        outcome.denied = denied
        try sql.run("DELETE FROM \(table)")
        return outcome
      }
    }
    // While the rows are there, whoever tells of the changes finds their keys.
    for root in roots { try clearLinks(to: root, leavesLinks: false) }
    for root in roots {
      // In a table of one entity the deletion itself counts.
      let counts = layout.entities[root].hasEntityColumn ? try markedCounts(of: root) : nil
      let count = try deleteRows(of: root)
      for (entity, count) in counts ?? [root: count] {
        outcome.deleted[layout.entities[entity].name] = count
      }
    }
    for root in roots {
      try clearLinks(to: root, leavesLinks: true)
      try forgetReferences(of: root)
    }
    try sql.run("DELETE FROM \(table)")
    return outcome
  }

  /// Deletes the doomed rows of a root's table.
  ///
  /// - Returns: How many there were.
  private func deleteRows(of root: Int) throws(StoreError) -> Int {
    let table = Schema.quoted(layout.entities[root].table)
    var (count, behind) = (0, Int64.min)
    while true {
      let keys = try sql.integers(
        "pk",
        "FROM \(self.table) WHERE root = ?1 AND pk >= ?2 ORDER BY pk LIMIT \(sql.portion)",
        [.integer(Int64(root)), .integer(behind)]
      )
      guard let first = keys.first, let last = keys.last else { return count }
      count += try sql.run(
        "DELETE FROM \(table) WHERE _pk IN"
          + " (SELECT pk FROM \(self.table) WHERE root = ?1 AND pk BETWEEN ?2 AND ?3)",
        [.integer(Int64(root)), .integer(first), .integer(last)]
      )
      sql.note(deleted: keys, from: layout.entities[root].table)
      try onPortion()
      if keys.count < sql.portion || last == .max { return count }
      behind = last + 1
    }
  }

  func roots(where test: String = "1 = 1") throws(StoreError) -> [Int] {
    try sql.integers("DISTINCT root", "FROM \(table) WHERE \(test)").map { Int($0) }.sorted()
  }

  // MARK: - Rules

  func doomed(_ root: Int) -> String {
    "(SELECT pk FROM \(table) WHERE root = \(root)\(sql.apart))"
  }

  /// The relationships that objects of a root's table may have, each once.
  func links(of root: Int) -> [RelationshipLayout] {
    layout.entities.filter { $0.root == root }.flatMap { entity in
      entity.relationships.filter { $0.owner == entity.index }
    }
  }

  /// Adds what `cascade` takes along, until nothing new is found.
  func spread() throws(StoreError) {
    while true {
      let roots = try roots(where: "done = 0")
      if roots.isEmpty { return }
      try sql.run("UPDATE \(table) SET done = 1 WHERE done = 0")
      for root in roots {
        let owners = "(SELECT pk FROM \(table) WHERE root = \(root) AND done = 1)"
        for link in links(of: root) where link.relationship.deleteRule == .cascade {
          try mark(
            LinkQuery(link, in: layout).targets(of: owners),
            of: layout.entities[link.destination]
          )
        }
      }
      try sql.run("UPDATE \(table) SET done = 2 WHERE done = 1")
    }
  }

  /// The relationship that forbids the deletion of an object of a root's table.
  private func denial(_ root: Int) throws(StoreError) -> String? {
    for link in links(of: root) where link.relationship.deleteRule == .deny {
      let destination = layout.entities[link.destination].root
      let targets = LinkQuery(link, in: layout).targets(of: doomed(root))
      let found = try sql.count(
        "FROM (SELECT \(targets) EXCEPT SELECT pk FROM \(table) WHERE root = \(destination)) AS t"
      )
      if found > 0 { return "\(layout.entities[link.owner].name).\(link.name)" }
    }
    return nil
  }

  /// Clears links of the doomed objects of a root's table: those that their rules do not leave, or, once the
  /// rows are deleted, of the others those that have lost both ends.
  private func clearLinks(to root: Int, leavesLinks: Bool) throws(StoreError) {
    let doomed = "IN \(doomed(root))"
    for clearing in layout.clearings(of: layout.entities[root].tableIndex)
    where clearing.leavesLinks == leavesLinks {
      let links = LinkQuery(clearing.link, in: layout)
      if links.isOwnTable, clearing.end == .target, !leavesLinks {
        let owners = Schema.quoted(layout.entities[clearing.link.owner].table)
        try sql.run(
          "UPDATE \(owners) SET _v = _v + 1 WHERE _pk IN"
            + " (SELECT \(links.own) FROM \(links.name) WHERE \(links.other) \(doomed))"
        )
      }
      try sql.run(links.clearSQL(clearing, of: doomed, in: layout, apart: sql.apart))
    }
  }

  /// What the deleted objects of a root's table have waited for is not waited for any more.
  private func forgetReferences(of root: Int) throws(StoreError) {
    // By their names, and not by what all begin with: how a server orders texts is the database's matter.
    let names = links(of: root).map {
      Schema.literal("\(layout.entities[$0.owner].name).\($0.name)")
    }
    guard !names.isEmpty else { return }
    try sql.run(
      "DELETE FROM _dragoman_pending WHERE relationship IN (\(names.joined(separator: ", ")))"
        + " AND owner IN \(doomed(root))"
    )
  }
}
