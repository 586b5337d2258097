import GRDB

/// A table of links, seen from one of its two sides.
struct LinkTable {
  /// The table, quoted.
  let name: String
  /// The columns of this side and of the other one.
  let own: String
  let other: String
  /// The column that orders the targets of this side, and that of the other side.
  let place: String?
  let otherPlace: String?
  /// Whether each link has a row in both directions.
  let isSymmetric: Bool

  init(_ join: RelationshipLayout.JoinTable, isOwner: Bool) {
    name = Schema.quoted(join.name)
    own = isOwner ? "owner" : "target"
    other = isOwner ? "target" : "owner"
    let position = join.hasPosition ? "position" : nil
    let inverse = join.hasInversePosition ? "inverse_position" : nil
    place = isOwner ? position : inverse
    otherPlace = isOwner ? inverse : position
    isSymmetric = join.isSymmetric
  }
}

extension LinkStage {
  /// Removes the links of the staged owners that are not staged.
  func unlink(in table: LinkTable, _ result: inout Outcome) throws(StoreError) {
    let name = table.name
    var staged = "_l.owner = \(name).\(table.own) AND _l.target = \(name).\(table.other)"
    if let place = table.place { staged += " AND _l.position = \(name).\(place)" }
    let lost =
      "\(table.own) IN (SELECT owner FROM \(owners)) AND NOT EXISTS"
      + " (SELECT 1 FROM \(links) AS _l WHERE \(staged))"
    if plan.deletesUnlinked {
      let pair =
        "\(table.own) IN (SELECT owner FROM \(owners)) AND NOT EXISTS (SELECT 1 FROM \(links) AS _l"
        + " WHERE _l.owner = \(name).\(table.own) AND _l.target = \(name).\(table.other))"
      try deleter.mark("\(table.other) FROM \(name) WHERE \(pair)", of: target)
    }
    if table.isSymmetric {
      try run(
        "DELETE FROM \(name) WHERE \(table.other) IN (SELECT owner FROM \(owners)) AND NOT EXISTS"
          + " (SELECT 1 FROM \(links) AS _l WHERE _l.owner = \(name).\(table.other)"
          + " AND _l.target = \(name).\(table.own))"
      )
    }
    if let otherPlace = table.otherPlace {
      // A link that only changes its place here keeps its place on the other side.
      try run(
        "UPDATE \(links) SET place = (SELECT \(otherPlace) FROM \(name) WHERE"
          + " \(name).\(table.own) = \(bare(links)).owner AND \(name).\(table.other) = \(bare(links)).target)"
      )
    }
    let changed = try owners("DELETE FROM \(name) WHERE \(lost) RETURNING \(table.own)")
    result.changedOwners += changed
    result.unlinked += changed.count
    if plan.deletesUnlinked { try delete(&result) }
  }

  /// Makes the staged links that are not there.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - appends: Whether new targets come behind those that are there; otherwise a link's place is
  ///     the one that is staged.
  ///   - result: What was done.
  /// - Throws: `StoreError` where the store fails.
  func link(
    in table: LinkTable,
    appends: Bool,
    _ result: inout Outcome
  ) throws(StoreError) {
    let name = table.name
    var isThere = "j.\(table.own) = _l.owner AND j.\(table.other) = _l.target"
    if let place = table.place, !appends { isThere += " AND j.\(place) = _l.position" }
    var columns = [table.own, table.other]
    var values = ["_l.owner", "_l.target"]
    let following = { (place: String, side: String, key: String) in
      "(SELECT coalesce(max(\(place)), -1) FROM \(name) WHERE \(side) = _l.\(key))"
        + " + row_number() OVER (PARTITION BY _l.\(key) ORDER BY _l.seq)"
    }
    if let place = table.place {
      columns.append(place)
      values.append(appends ? following(place, table.own, "owner") : "_l.position")
    }
    if let place = table.otherPlace {
      columns.append(place)
      values.append("coalesce(_l.place, \(following(place, table.other, "target")))")
    }
    let made = try owners(
      "INSERT OR IGNORE INTO \(name) (\(columns.joined(separator: ", "))) SELECT"
        + " \(values.joined(separator: ", ")) FROM \(links) AS _l WHERE _l.target IS NOT NULL"
        + " AND NOT EXISTS (SELECT 1 FROM \(name) AS j WHERE \(isThere)) ORDER BY _l.seq"
        + " RETURNING \(table.own)"
    )
    result.changedOwners += made
    result.linked += made.count
    if table.isSymmetric {
      try run(
        "INSERT OR IGNORE INTO \(name) (\(table.other), \(table.own)) SELECT _l.owner, _l.target"
          + " FROM \(links) AS _l WHERE _l.target IS NOT NULL"
      )
    }
  }

  /// The name of a temporary table as its columns are qualified by it.
  func bare(_ table: String) -> String { table.replacing("temp.", with: "") }
}
