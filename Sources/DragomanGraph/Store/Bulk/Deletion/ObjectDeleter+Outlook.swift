/// What a deletion comes to before anything is deleted.
extension ObjectDeleter {
  /// Adds to the marked objects what their rules take along, and tells what deleting them comes to.
  ///
  /// - Parameter exampleCount: How many protected objects of each relationship are told.
  /// - Returns: What `delete()` will do, as long as nothing else is marked.
  /// - Throws: `StoreError` where the store fails.
  func outlook(examples exampleCount: Int) throws(StoreError) -> Deletion {
    let matched = try markedCounts()
    try spread()
    let all = try markedCounts()
    var protections: [Deletion.Protection] = []
    for root in try roots() {
      for link in links(of: root) {
        if let found = try protection(link, of: root, exampleCount) { protections.append(found) }
      }
    }
    let counts = layout.entities.compactMap { entity in
      all[entity.index].map { count in
        let own = matched[entity.index] ?? 0
        return Deletion.Count(entity: entity.name, matched: own, cascaded: count - own)
      }
    }
    return Deletion(counts: counts, protections: protections)
  }

  /// The numbers of marked objects by their own entity's index.
  private func markedCounts() throws(StoreError) -> [Int: Int] {
    var counts: [Int: Int] = [:]
    for root in try roots() {
      counts.merge(try markedCounts(of: root)) { own, _ in own }
    }
    return counts
  }

  /// The same of a root's table.
  func markedCounts(of root: Int) throws(StoreError) -> [Int: Int] {
    let entity = layout.entities[root]
    let source = "FROM \(Schema.quoted(entity.table)) WHERE _pk IN \(doomed(root))"
    guard entity.hasEntityColumn else {
      let count = try sql.count(source)
      return count > 0 ? [root: count] : [:]
    }
    var counts: [Int: Int] = [:]
    for row in try sql.values(["_entity", "count(*)"], "\(source) GROUP BY _entity", []) {
      guard case .text(let name) = row[0], let own = layout.entity(named: name),
        let count = row[1].integer
      else { continue }
      counts[own.index] = Int(count)
    }
    return counts
  }

  /// The marked objects of a root's table that a relationship of theirs keeps.
  private func protection(
    _ link: RelationshipLayout,
    of root: Int,
    _ exampleCount: Int
  ) throws(StoreError) -> Deletion.Protection? {
    switch link.relationship.deleteRule {
    case .deny: break
    case .noAction:
      // Its own column goes with the row.
      if case .column = link.storage { return nil }
    case .nullify, .cascade: return nil
    }
    let query = LinkQuery(link, in: layout)
    let others = doomed(layout.entities[link.destination].root)
    let owners =
      "SELECT DISTINCT \(query.own) FROM \(query.name) WHERE \(query.own) IN \(doomed(root))"
      + " AND \(query.other) IS NOT NULL"
      + " AND NOT EXISTS (SELECT 1 FROM \(others) AS d WHERE d.pk = \(query.name).\(query.other))"
    let objectCount = try sql.count("FROM (\(owners)) AS t")
    guard objectCount > 0 else { return nil }
    let owner = layout.entities[link.owner]
    let examples = try ObjectKeyReader(owner, in: layout)
      .objects(where: "t._pk IN (\(owners))", limit: exampleCount, sql)
    return Deletion.Protection(
      relationship: "\(owner.name).\(link.name)",
      rule: link.relationship.deleteRule,
      objectCount: objectCount,
      examples: examples.map { found in
        Deletion.Example(
          objectID: ObjectID(entity: owner.rootName, primaryKey: found.primaryKey),
          entity: found.entity,
          key: found.key
        )
      }
    )
  }
}
