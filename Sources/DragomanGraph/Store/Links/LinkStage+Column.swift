/// Links that are a column of an object's own row.
extension LinkStage {
  /// Whether a staged list of another owner names a target by this key; it may say so of another key.
  package func isClaimed(
    _ key: UnsafeBufferPointer<RowValue>,
    arena: UnsafeRawPointer,
    byOthersThan owner: Int64
  ) -> Bool {
    claims.isEmpty ? false : claims[hash(key, arena)].map { $0 != owner } ?? false
  }

  /// Whether a target that only one object may have, by a to-one of its own, is staged as that of an object.
  package func isClaimed(_ target: Int64, by owner: Int64) -> Bool {
    stagedOwners[target].map { list(of: $0).elementsEqual(CollectionOfOne(.object(owner))) }
      ?? false
  }

  func hash(_ key: UnsafeBufferPointer<RowValue>, _ arena: UnsafeRawPointer) -> Int {
    var hasher = Hasher()
    for part in key {
      if part.kind == .text || part.kind == .blob {
        let bytes = UnsafeRawBufferPointer(start: arena + Int(part.bits), count: Int(part.length))
        hasher.combine(bytes: bytes)
      } else {
        hasher.combine(part.bits)
      }
    }
    return hasher.finalize()
  }

  /// A to-one whose inverse is one: nobody else has the target.
  func makeExclusive(_ column: String, _ result: inout Outcome) throws(StoreError) {
    let table = Schema.quoted(owner.table)
    let name = Schema.quoted(column)
    try run(
      "UPDATE \(table) SET \(name) = NULL, _v = _v + 1 WHERE \(name) IN (SELECT target FROM \(links))"
        + " AND NOT EXISTS (SELECT 1 FROM \(links) AS _l WHERE _l.owner = \(table)._pk"
        + " AND _l.target = \(table).\(name))"
    )
    result.unlinked += database.changesCount
  }

  /// The links are a column of the targets: the last owner that names a target has it.
  func linkColumn(
    _ table: LinkQuery,
    _ result: inout Outcome,
    _ changed: inout [Int64]
  ) throws(StoreError) {
    let name = table.name
    if staged.hasUnlinked {
      let place = table.place.map { ", \($0) = _s.place" } ?? ""
      let last = "(SELECT target, owner, position AS place FROM \(links)) AS _s"
      result.unlinked += try count(
        "SELECT count(*) FROM \(last) JOIN \(name) AS _t ON _t._pk = _s.target"
          + " WHERE _t.\(table.own) NOT NULL AND _t.\(table.own) IS NOT _s.owner"
      )
      let made = try integers(
        "UPDATE \(name) SET \(table.own) = _s.owner\(place), _v = _v + 1 FROM \(last)"
          + " WHERE \(name)._pk = _s.target AND \(name).\(table.own) IS NOT _s.owner"
          + " RETURNING \(table.own)"
      )
      result.linked += made.count
      changed += made
    }
    // A target that only moves is no other link.
    if let place = table.place, staged.hasUnplaced || staged.hasGaps {
      changed += try integers(
        "UPDATE \(name) SET \(place) = _l.position, _v = _v + 1 FROM \(links) AS _l"
          + " WHERE \(name)._pk = _l.target AND \(name).\(table.own) = _l.owner"
          + " AND \(name).\(place) IS NOT _l.position RETURNING \(table.own)"
      )
    }
  }

  /// Clears the column of the targets that the staged owners do not have any more.
  func unlinkColumn(
    _ table: LinkQuery,
    _ result: inout Outcome,
    _ changed: inout [Int64]
  ) throws(StoreError) {
    let name = table.name
    let unlinked =
      "FROM \(name) WHERE \(table.own) IN (SELECT owner FROM \(owners)) AND NOT EXISTS"
      + " (SELECT 1 FROM \(links) AS _l WHERE _l.owner = \(name).\(table.own)"
      + " AND _l.target = \(name)._pk)"
    let lost = try integers("SELECT \(table.own) \(unlinked)")
    guard !lost.isEmpty else { return }
    changed += lost
    result.lost.formUnion(lost)
    result.unlinked += lost.count
    if plan.deletesUnlinked { result.gone += try integers("SELECT _pk \(unlinked)") }
    let clear = table.place.map { ", \($0) = NULL" } ?? ""
    try run(
      "UPDATE \(name) SET \(table.own) = NULL\(clear), _v = _v + 1 WHERE _pk IN"
        + " (SELECT _pk \(unlinked))"
    )
  }

  /// Which targets nobody has, where the links are a column of theirs.
  package func withoutOwner(among keys: [Int64]) throws(StoreError) -> [Int64] {
    guard let table, !table.isOwnTable else { return keys }
    return try integers(
      "SELECT _pk FROM \(table.name) WHERE \(table.own) IS NULL"
        + " AND _pk IN (SELECT value FROM json_each(?))",
      [list(keys)]
    )
  }
}
