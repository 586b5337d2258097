import GRDB

/// Storing what is staged: a handful of statements, however many links.
extension LinkStage {
  /// Stores what is staged.
  ///
  /// - Parameter origin: Where a key stands that nobody has.
  /// - Returns: What changed.
  /// - Throws: `StoreError` where the store fails.
  package func flush(origin: (ReferencePlace) -> WaitingPlace) throws(StoreError) -> Outcome {
    guard !isEmpty else { return Outcome() }
    defer { forgetAll() }
    var result = Outcome()
    if try hasNothingToStore() { return result }
    try storeDeferred()
    if let table {
      try flush(to: table, origin, &result)
    } else if case .column(let column) = plan.link.storage {
      // The owners staged are the targets of an exclusive to-one: nothing waits for them.
      if staged.hasRivals { try dropRivals() }
      if waitingCount > 0 { try dropOutdated(&result) }
      try makeExclusive(column, &result)
    }
    try run("DELETE FROM \(links)")
    if staged.hasOldOwners { try run("DELETE FROM \(owners)") }
    return result
  }

  /// Takes the links out whose owner or target another stage has deleted.
  package func dropDeleted() throws(StoreError) {
    guard !isEmpty else { return }
    try storeDeferred()
    try run(
      "DELETE FROM \(links) WHERE target NOT NULL"
        + " AND target NOT IN (SELECT _pk FROM \(Schema.quoted(target.table)))"
        + " OR owner NOT IN (SELECT _pk FROM \(Schema.quoted(owner.table)))"
    )
    if database.changesCount > 0 { staged.hasGaps = true }
  }

  private func flush(
    to table: LinkQuery,
    _ origin: (ReferencePlace) -> WaitingPlace,
    _ result: inout Outcome
  ) throws(StoreError) {
    if staged.hasKeys {
      try run("UPDATE \(links) SET target = (\(lookUp(in: links))) WHERE target IS NULL")
    }
    if table.isSymmetric, try areFriends(in: table) {
      try storeInTurn(in: table, origin, &result)
    } else {
      try store(in: table, origin, &result)
    }
  }

  /// Stores the staged lists, whose targets are looked up.
  func store(
    in table: LinkQuery,
    _ origin: (ReferencePlace) -> WaitingPlace,
    _ result: inout Outcome
  ) throws(StoreError) {
    let betweenCount = result.between.count
    // What is joined to a list takes back nothing that earlier records said.
    if staged.hasOldOwners { try forgetTargets(of: table, &result) }
    let replaced = result.between[betweenCount...]
    if staged.hasKeys, !allowsRepeats { try dropRepeats() }
    if !table.isOwnTable {
      if staged.hasUnlinked { try dropRivals() }
      if waitingCount > 0 { try dropOutdated(&result) }
    }
    if table.place != nil, !plan.replaces { try append(to: table) }
    if staged.hasKeys { result.waiting += numbered(try moveUnresolved(origin)) }
    if table.place != nil, plan.replaces {
      if staged.hasGaps { try closeGaps() }
      if staged.hasOldOwners { try dropUnchanged(in: table) }
    }
    result.lost.formUnion(replaced)
    var changed = Array(replaced)
    if table.isOwnTable {
      if allowsRepeats, table.place != nil, plan.replaces {
        try rewrite(table, &result, &changed)
      } else {
        if staged.hasOldOwners { try unlink(in: table, &result, &changed) }
        try link(in: table, &result, &changed)
      }
    } else {
      try linkColumn(table, &result, &changed)
      if staged.hasOldOwners { try unlinkColumn(table, &result, &changed) }
    }
    result.changed += numbered(changed)
  }

  /// `SELECT _pk …` of the target that has the key of a row of ours.
  func lookUp(in table: String) -> String {
    let name = bare(table)
    let reference = RowSlot.Reference(
      number: 0,
      table: target.table,
      columns: plan.key,
      entities: target.familyNames(in: layout)
    )
    return reference.select(plan.key.indices.map { "\(name).k\($0)" })
  }

  // MARK: - Places in a list

  /// Where a to-many holds no target twice, the first place counts.
  private func dropRepeats() throws(StoreError) {
    let name = bare(links)
    let isSame =
      "target NOT NULL AND EXISTS (SELECT 1 FROM \(links) AS _e WHERE _e.owner = \(name).owner"
      + " AND _e.target = \(name).target"
    if table?.place != nil, !plan.replaces {
      // A target that the record names by its key and has nested, too, is not in the list yet.
      try run("UPDATE \(links) SET fresh = 1 WHERE NOT fresh AND \(isSame) AND _e.fresh)")
    }
    try run("DELETE FROM \(links) WHERE \(isSame) AND _e.seq < \(name).seq)")
    if database.changesCount > 0 { staged.hasGaps = true }
  }

  /// Where only one object may have a target, the last one that names it counts.
  private func dropRivals() throws(StoreError) {
    try run(
      "DELETE FROM \(links) WHERE target NOT NULL AND seq NOT IN"
        + " (SELECT max(seq) FROM \(links) WHERE target NOT NULL GROUP BY target)"
    )
    if database.changesCount > 0 { staged.hasGaps = true }
  }

  /// References of earlier records that wait for who has come since, and is another's by a later record,
  /// do not wait any more.
  private func dropOutdated(_ result: inout Outcome) throws(StoreError) {
    if plan.key.isEmpty { return }
    var isTaken =
      "owner NOT IN (SELECT owner FROM \(links)) AND (\(lookUp(in: waiting))) IN"
      + " (SELECT target FROM \(links))"
    if plan.key.allSatisfy(\.lookUps.isEmpty) {
      isTaken = "seq IN (\(awaited) AND _w.owner <> _n.owner)"
    }
    let taken = list(try integers("SELECT seq FROM \(waiting) WHERE state IS NULL AND \(isTaken)"))
    guard taken != "[]" else { return }
    let isOurs = "seq IN (SELECT value FROM json_each(?))"
    let key = plan.key.indices.map { ", k\($0)" }.joined()
    result.add(
      between: try integers(
        "SELECT owner FROM (SELECT DISTINCT owner\(key) FROM \(waiting) WHERE ordinal > 0 AND \(isOurs))",
        [taken]
      )
    )
    try run("DELETE FROM \(waiting) WHERE \(isOurs)", [taken])
    waitingCount -= database.changesCount
  }

  /// Places are counted without what the list does not get.
  private func closeGaps() throws(StoreError) {
    try run(
      "UPDATE \(links) SET position = _r.place FROM (SELECT seq,"
        + " row_number() OVER (PARTITION BY owner ORDER BY seq) - 1 AS place FROM \(links)) AS _r"
        + " WHERE \(bare(links)).seq = _r.seq AND \(bare(links)).position IS NOT _r.place"
    )
  }

  /// What is joined to a list comes behind what is there; what is there stays where it is.
  ///
  /// References that nobody has yet take a place, too, which is theirs when somebody comes.
  private func append(to table: LinkQuery) throws(StoreError) {
    try run("DELETE FROM \(links) AS _l WHERE NOT _l.fresh AND \(isStored(in: table))")
    let column = table.place ?? "NULL"
    let isStaged =
      "EXISTS (SELECT 1 FROM \(links) AS _f WHERE _f.owner = _o.owner"
      + " AND _f.target = _t.\(table.other))"
    let last =
      "max(coalesce((SELECT max(_t.\(column)) FROM \(table.name) AS _t"
      + " WHERE _t.\(table.own) = _o.owner AND NOT \(isStaged)), -1),"
      + " coalesce((SELECT max(_w.position) FROM \(waiting) AS _w WHERE _w.owner = _o.owner), -1))"
    var place = "_b.last + row_number() OVER (PARTITION BY _n.owner ORDER BY _n.seq)"
    if waitingCount > 0 {
      // Who comes now for whom an earlier record waited gets the place that was kept.
      try run(
        "UPDATE \(waiting) SET target = (\(lookUp(in: waiting))) WHERE state IS NULL"
          + " AND \(isAwaited)"
      )
      // A list that may hold a target several times has one place for each.
      let isFirst =
        allowsRepeats
        ? " AND NOT EXISTS (SELECT 1 FROM \(links) AS _e WHERE _e.owner = _n.owner"
          + " AND _e.target = _n.target AND _e.seq < _n.seq)" : ""
      // It may have been taken by another import since the last batch of this one. The plus keeps SQLite from
      // walking through all that waits for the owner, in the order of places, for one target.
      place =
        "coalesce((SELECT min(+_w.position) FROM \(waiting) AS _w WHERE _w.owner = _n.owner"
        + " AND _w.target = _n.target AND NOT EXISTS (SELECT 1 FROM \(table.name) AS _t"
        + " WHERE _t.\(table.own) = _w.owner AND _t.\(column) = _w.position)\(isFirst)), \(place))"
    }
    try run(
      "UPDATE \(links) SET position = _r.place FROM (SELECT _n.seq AS seq, \(place) AS place"
        + " FROM \(links) AS _n JOIN (SELECT _o.owner AS owner, \(last) AS last FROM"
        + " (SELECT DISTINCT owner FROM \(links)) AS _o) AS _b ON _b.owner = _n.owner) AS _r"
        + " WHERE \(bare(links)).seq = _r.seq"
    )
    if !table.isOwnTable {
      // Who comes behind all by the word of its own row has the next key as its place (`EntityStatements.places`).
      let last = try integers("SELECT coalesce(max(position), 0) FROM \(links)").first ?? 0
      if last >= primaryKeys.next { primaryKeys.take(last + 1 - primaryKeys.next) }
    }
  }

  /// The test of a reference that waits, whether it may be for a target that is staged.
  ///
  /// The keys are compared without their columns' affinity, as the index has them.
  private var isAwaited: String {
    guard plan.key.allSatisfy(\.lookUps.isEmpty) else {
      return "owner IN (SELECT owner FROM \(links) WHERE target NOT NULL)"
    }
    return "seq IN (\(awaited) AND _w.owner = _n.owner)"
  }

  /// A `SELECT` of the references that wait for a target that is staged, where keys are columns.
  private var awaited: String {
    let tests = plan.key.enumerated().map { index, part in
      "_w.k\(index) = +_t.\(Schema.quoted(part.column))"
    }
    return "SELECT _w.seq FROM \(links) AS _n JOIN \(Schema.quoted(target.table)) AS _t"
      + " ON _t._pk = _n.target CROSS JOIN \(waiting) AS _w ON \(tests.joined(separator: " AND "))"
  }

  /// Takes the owners out whose list is stored in the order in which it is staged, whatever the
  /// numbers that stand for the places.
  private func dropUnchanged(in table: LinkQuery) throws(StoreError) {
    let place = "_t.\(table.place ?? "NULL")"
    let stored =
      "SELECT group_concat(\(table.other)) FROM (SELECT \(table.other) FROM \(table.name) AS _t"
      + " WHERE _t.\(table.own) = _o.owner ORDER BY \(place) IS NULL, \(place), _t.\(table.other))"
    let staged =
      "SELECT group_concat(target) FROM (SELECT target FROM \(links) AS _l"
      + " WHERE _l.owner = _o.owner ORDER BY _l.position)"
    let same = try integers(
      "DELETE FROM \(owners) AS _o WHERE (\(stored)) IS (\(staged)) AND NOT EXISTS (SELECT 1 FROM"
        + " \(links) AS _f WHERE _f.owner = _o.owner AND _f.fresh) RETURNING owner"
    )
    guard !same.isEmpty else { return }
    try run("DELETE FROM \(links) WHERE owner IN (SELECT value FROM json_each(?))", [list(same)])
  }

  // MARK: - Tables of links

  /// Removes the links of the staged owners that are not staged, and moves those that are to their
  /// places.
  private func unlink(
    in table: LinkQuery,
    _ result: inout Outcome,
    _ changed: inout [Int64]
  ) throws(StoreError) {
    let name = table.name
    let lost =
      "\(table.own) IN (SELECT owner FROM \(owners)) AND NOT EXISTS (SELECT 1 FROM \(links) AS _l"
      + " WHERE _l.owner = \(name).\(table.own) AND _l.target = \(name).\(table.other))"
    if plan.deletesUnlinked {
      result.gone += try integers("SELECT DISTINCT \(table.other) FROM \(name) WHERE \(lost)")
    }
    let gone = try integers("DELETE FROM \(name) WHERE \(lost) RETURNING \(table.own)")
    if table.isSymmetric { try unlinkBack(in: table) }
    result.unlinked += gone.count
    result.lost.formUnion(gone)
    changed += gone
    if let place = table.place, plan.replaces {
      // Through numbers that no place has: two rows of one list may not have the same.
      let moved = try integers(
        "UPDATE \(name) SET \(place) = -1 - _l.position FROM \(links) AS _l"
          + " WHERE \(name).\(table.own) = _l.owner AND \(name).\(table.other) = _l.target"
          + " AND \(name).\(place) IS NOT _l.position RETURNING \(table.own)"
      )
      if !moved.isEmpty { try settlePlaces(place, in: table, of: moved) }
      changed += moved
    }
  }

  /// Turns the numbers that stand for new places into these.
  func settlePlaces(
    _ place: String,
    in table: LinkQuery,
    of moved: [Int64]
  ) throws(StoreError) {
    try run(
      "UPDATE \(table.name) SET \(place) = -1 - \(place) WHERE \(table.own) IN"
        + " (SELECT value FROM json_each(?)) AND \(place) < 0",
      [list(Array(Set(moved)))]
    )
  }

  /// Makes the staged links that are not there.
  func link(
    in table: LinkQuery,
    _ result: inout Outcome,
    _ changed: inout [Int64]
  ) throws(StoreError) {
    let made = try insert(into: table, "NOT \(isStored(in: table))")
    result.linked += made.count
    changed += made
    if table.isSymmetric { try linkBack(in: table) }
  }

  /// The test of a staged link `_l`, whether it is stored.
  func isStored(in table: LinkQuery) -> String {
    "EXISTS (SELECT 1 FROM \(table.name) AS _t WHERE _t.\(table.own) = _l.owner"
      + " AND _t.\(table.other) = _l.target)"
  }

  /// The place behind all others on the side of a staged link's target.
  func following(_ place: String, in table: LinkQuery, of column: String) -> String {
    "(SELECT coalesce(max(\(place)), -1) FROM \(table.name) WHERE \(column) = _l.target)"
      + " + row_number() OVER (PARTITION BY _l.target ORDER BY _l.seq)"
  }

  /// Makes a row of each staged link that passes a test.
  private func insert(into table: LinkQuery, _ test: String) throws(StoreError) -> [Int64] {
    var columns = [table.own, table.other]
    var values = ["_l.owner", "_l.target"]
    if let place = table.place {
      columns.append(place)
      values.append("_l.position")
    }
    if let place = table.otherPlace {
      columns.append(place)
      values.append(following(place, in: table, of: table.other))
    }
    return try integers(
      "INSERT INTO \(table.name) (\(columns.joined(separator: ", "))) SELECT"
        + " \(values.joined(separator: ", ")) FROM \(links) AS _l WHERE \(test) ORDER BY _l.seq"
        + " RETURNING \(table.own)"
    )
  }

  /// Stores lists that may hold a target several times: whole, because places are all that tells
  /// their links apart.
  private func rewrite(
    _ table: LinkQuery,
    _ result: inout Outcome,
    _ changed: inout [Int64]
  ) throws(StoreError) {
    let stored = "SELECT \(table.own) AS owner, \(table.other) AS target FROM \(table.name)"
    let old = "\(stored) WHERE \(table.own) IN (SELECT owner FROM \(owners))"
    let new = "SELECT owner, target FROM \(links)"
    result.linked += try count("SELECT count(*) FROM (\(new) EXCEPT \(old))")
    let lost = try integers("SELECT owner FROM (\(old) EXCEPT \(new))")
    result.unlinked += lost.count
    result.lost.formUnion(lost)
    if plan.deletesUnlinked {
      result.gone += try integers("SELECT DISTINCT target FROM (\(old) EXCEPT \(new))")
    }
    // Whose list is as it was is not staged any more.
    changed += try integers("SELECT owner FROM \(owners)")
    try run("DELETE FROM \(table.name) WHERE \(table.own) IN (SELECT owner FROM \(owners))")
    changed += try insert(into: table, "1")
  }

  /// A link in a table of its own changes the owner.
  package func bumpVersions(of keys: [Int64]) throws(StoreError) {
    guard !keys.isEmpty else { return }
    try run(
      "UPDATE \(Schema.quoted(owner.table)) SET _v = _v + 1 WHERE _pk IN"
        + " (SELECT value FROM json_each(?))",
      [list(keys)]
    )
  }

  // MARK: - SQL

  /// Where the links of a to-many are; nil for a to-one that its owner has as a column.
  var table: LinkQuery? {
    if case .column = plan.link.storage { nil } else { LinkQuery(plan.link, in: layout) }
  }

  /// The name of a table of ours, without its schema, as its columns are qualified by it.
  func bare(_ table: String) -> String { String(table.drop { $0 != "." }.dropFirst()) }

  /// Integers as one parameter: a JSON array.
  func list(_ keys: [Int64]) -> String { "[\(keys.map(String.init).joined(separator: ","))]" }
}
