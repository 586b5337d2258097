/// A to-many that is its own inverse: each link has a row in both directions, and is one link all the same.
extension LinkStage {
  /// Whether one of the staged owners is linked to another, or is to be.
  func areFriends(in table: LinkQuery) throws(StoreError) -> Bool {
    guard stagedOwners.count > 1 else { return false }
    let areOurs = "IN (SELECT value FROM json_each(?1))"
    let found = try integers(
      "SELECT EXISTS (SELECT 1 FROM \(links) WHERE target \(areOurs) AND target <> owner)"
        + " OR EXISTS (SELECT 1 FROM \(table.name) WHERE \(table.own) \(areOurs)"
        + " AND \(table.other) \(areOurs) AND \(table.own) <> \(table.other))",
      [list(Array(stagedOwners.keys))]
    )
    return found == [1]
  }

  /// Stores the lists of friends one after the other: each has the last word of its owner's links so far.
  func storeInTurn(
    in table: LinkQuery,
    _ origin: (ReferencePlace) -> WaitingPlace,
    _ result: inout Outcome
  ) throws(StoreError) {
    try run("INSERT INTO \(turns) SELECT * FROM \(links)")
    staged.hasOldOwners = plan.replaces
    for (owner, _) in stagedOwners.sorted(by: { $0.value.turn < $1.value.turn }) {
      try run("DELETE FROM \(links)")
      try run("DELETE FROM \(owners)")
      try run("INSERT INTO \(links) SELECT * FROM \(turns) WHERE owner = ?", [owner])
      if plan.replaces { try insert(owner: owner) }
      try store(in: table, origin, &result)
    }
    try run("DELETE FROM \(turns)")
  }

  /// Makes the rows of the other direction that are not there.
  func linkBack(in table: LinkQuery) throws(StoreError) {
    let place = table.place.map { ", \($0)" } ?? ""
    let value = table.place.map { ", \(following($0, in: table, of: table.own))" } ?? ""
    try run(
      "INSERT INTO \(table.name) (\(table.own), \(table.other)\(place)) SELECT _l.target, _l.owner\(value)"
        + " FROM \(links) AS _l WHERE NOT EXISTS (SELECT 1 FROM \(table.name) AS _t"
        + " WHERE _t.\(table.own) = _l.target AND _t.\(table.other) = _l.owner)"
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
}
