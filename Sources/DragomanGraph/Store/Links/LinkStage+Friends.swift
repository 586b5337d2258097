/// A to-many that is its own inverse: each link has a row in both directions, and is one link all the same.
extension LinkStage {
  /// Makes the staged links that are not there, and the rows of their other direction.
  func linkFriends(
    in table: LinkQuery,
    _ result: inout Outcome,
    _ changed: inout [Int64]
  ) throws(StoreError) {
    let isNew = "NOT \(isStored(in: table))"
    // Two friends that name each other are one link, by the first of them.
    let made = try integers(
      "SELECT owner FROM \(links) AS _l WHERE \(isNew) AND NOT EXISTS (SELECT 1 FROM \(links) AS _r"
        + " WHERE _r.owner = _l.target AND _r.target = _l.owner AND _r.seq < _l.seq)"
    )
    result.linked += made.count
    changed += made
    _ = try insert(into: table, isNew)
    try linkBack(in: table)
  }

  /// Makes the rows of the other direction that are not there.
  private func linkBack(in table: LinkQuery) throws(StoreError) {
    let place = table.place.map { ", \($0)" } ?? ""
    let value = table.place.map { ", \(following($0, in: table, of: table.own))" } ?? ""
    try run(
      "INSERT INTO \(table.name) (\(table.own), \(table.other)\(place)) SELECT _l.target, _l.owner\(value)"
        + " FROM \(links) AS _l WHERE NOT EXISTS (SELECT 1 FROM \(table.name) AS _t"
        + " WHERE _t.\(table.own) = _l.target AND _t.\(table.other) = _l.owner)"
    )
  }

  /// How many pairs of friends the rows are that pass a test.
  func count(ofFriends test: String, in table: LinkQuery) throws(StoreError) -> Int {
    let (first, second) = ("min(owner, target)", "max(owner, target)")
    return try count(
      "SELECT count(*) FROM (SELECT DISTINCT \(first), \(second) FROM \(table.name) WHERE \(test))"
    )
  }

  /// Removes the rows that lead to the staged owners from who is in none of their lists.
  func unlinkBack(in table: LinkQuery) throws(StoreError) {
    let name = table.name
    try run(
      "DELETE FROM \(name) WHERE \(table.other) IN (SELECT owner FROM \(owners)) AND NOT EXISTS"
        + " (SELECT 1 FROM \(links) AS _l WHERE _l.owner = \(name).\(table.other)"
        + " AND _l.target = \(name).\(table.own))"
    )
  }

  /// Of friends, takes the links out that lead to who is staged later, with a list that does not lead back: where they
  /// are not stored, they were links in between.
  func dropDenied(
    by table: LinkQuery,
    _ result: inout Outcome,
    _ changed: inout [Int64]
  ) throws(StoreError) {
    let isDenied =
      "EXISTS (SELECT 1 FROM \(owners) AS _o JOIN \(owners) AS _f ON _f.owner = _l.target"
      + " WHERE _o.owner = _l.owner AND _f.place > _o.place) AND NOT EXISTS (SELECT 1 FROM \(links)"
      + " AS _b WHERE _b.owner = _l.target AND _b.target = _l.owner)"
    let denied = try integers("SELECT seq FROM \(links) AS _l WHERE \(isDenied)")
    if denied.isEmpty { return }
    let isListed = "seq IN (SELECT value FROM json_each(?))"
    let areNew = "\(links) AS _l WHERE \(isListed) AND NOT \(isStored(in: table))"
    let deniers = try integers("SELECT target FROM \(areNew)", [list(denied)])
    changed += try integers("SELECT owner FROM \(areNew)", [list(denied)])
    changed += deniers
    result.lost.formUnion(deniers)
    result.linked += deniers.count
    result.unlinked += deniers.count
    try run("DELETE FROM \(links) WHERE \(isListed)", [list(denied)])
    staged.hasGaps = true
  }
}
