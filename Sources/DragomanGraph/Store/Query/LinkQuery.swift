/// Where the links of a relationship are, seen from the side of their owners, and how they are asked for.
///
/// Whatever the storage is, a link is a row of some table that has a column for its owner and one for
/// its target; the key of a row that is an object's own is one of the two. Whoever asks for targets,
/// for owners (by the inverse) or for their number does it here.
struct LinkQuery {
  /// The table, quoted: one of its own, the owner's, or the target's.
  let name: String
  /// The columns of the owner and of the target.
  let own: String
  let other: String
  /// The column that orders the targets of an owner, and the one that orders the owners of a target.
  let place: String?
  let otherPlace: String?
  /// Whether each link has a row in both directions.
  let isSymmetric: Bool
  /// Whether the links have a table of their own.
  let isOwnTable: Bool

  private static let position = "position"

  init(_ link: RelationshipLayout, in layout: ModelLayout) {
    switch link.storage {
    case .column(let column):
      name = Schema.quoted(layout.entities[link.owner].table)
      own = "_pk"
      other = Schema.quoted(column)
      place = nil
      let inverse = layout.inverse(of: link)?.storage
      if case .inverseColumn(_, let order?) = inverse {
        otherPlace = Schema.quoted(order)
      } else {
        otherPlace = nil
      }
      isSymmetric = false
      isOwnTable = false
    case .inverseColumn(let column, let order):
      name = Schema.quoted(layout.entities[link.destination].table)
      own = Schema.quoted(column)
      other = "_pk"
      place = order.map(Schema.quoted)
      otherPlace = nil
      isSymmetric = false
      isOwnTable = false
    case .joinTable(let join, let isOwner):
      name = Schema.quoted(join.name)
      own = isOwner ? "owner" : "target"
      other = isOwner ? "target" : "owner"
      let position = join.hasPosition ? Self.position : nil
      let inverse = join.hasInversePosition ? "inverse_position" : nil
      place = isOwner ? position : inverse
      otherPlace = isOwner ? inverse : position
      isSymmetric = join.isSymmetric
      isOwnTable = true
    }
  }

  /// Whether the row of a link is its target's.
  var isOfTarget: Bool { other == "_pk" }

  /// Whether targets have places of their own, which may have gaps.
  var hasPlaces: Bool { place != nil && place != Self.position }

  /// The number of links.
  var countSQL: String { "SELECT count(\(own == "_pk" ? other : own)) FROM \(name)" }

  /// The keys of the targets of owners, without order: what stands behind a `SELECT`; `owners` is a list of
  /// keys in parentheses, or another `SELECT`.
  func targets(of owners: String) -> String {
    "\(other) FROM \(name) WHERE \(own) IN \(owners) AND \(other) IS NOT NULL"
  }

  /// Takes links away, one end of which is deleted and has a key that satisfies a test.
  ///
  /// - Parameters:
  ///   - clearing: Which ones; its relationship is this one.
  ///   - test: The test.
  ///   - layout: The model's.
  ///   - apart: What ends a subquery about other rows (`SharedSQL.apart`).
  /// - Returns: A statement, which runs when the rows are deleted where links are left that have an end yet.
  func clearSQL(
    _ clearing: LinkClearing,
    of test: String,
    in layout: ModelLayout,
    apart: String = ""
  ) -> String {
    let (near, far) = clearing.end == .owner ? (own, other) : (other, own)
    guard isOwnTable else {
      let places = otherPlace.map { ", \($0) = NULL" } ?? ""
      return "UPDATE \(name) SET \(other) = NULL\(places), _v = _v + 1 WHERE \(other) \(test)"
    }
    let link = clearing.link
    let entity = clearing.end == .owner ? link.destination : link.owner
    // `NOT IN` of many rows a server answers row by row.
    let rows = "(SELECT _pk FROM \(Schema.quoted(layout.entities[entity].table))\(apart)) AS t"
    let isOver =
      clearing.leavesLinks ? " AND NOT EXISTS (SELECT 1 FROM \(rows) WHERE t._pk = \(far))" : ""
    return "DELETE FROM \(name) WHERE \(near) \(test)\(isOver)"
  }

  /// Owners whose key satisfies a test and their targets, those of one owner in the order of the
  /// relationship; what has no place comes last.
  ///
  /// The third column is the place of those that `hasPlaces`.
  func linksSQL(of test: String) -> String {
    let source = "FROM \(name) WHERE \(own) \(test) AND \(other) IS NOT NULL"
    let select = "SELECT \(own), \(other) \(source)"
    // A list that holds its target twice is one owner to the target.
    let mayRepeat = otherPlace == Self.position
    let group = mayRepeat ? " GROUP BY \(own), \(other)" : ""
    guard let place else { return "\(select)\(group) ORDER BY \(other)" }
    if place == Self.position { return "\(select) ORDER BY \(place)" }
    let first = mayRepeat ? "min(\(place))" : place
    return "SELECT \(own), \(other), \(first) \(source)\(group)"
      + " ORDER BY \(first) IS NULL, \(first), \(other)"
  }

  /// The targets of one owner among others; both are tests.
  func targetsSQL(of owner: String, among targets: String) -> String {
    "SELECT \(other) FROM \(name) WHERE \(own) \(owner) AND \(other) \(targets)"
  }

  /// The owners of targets whose key satisfies a test.
  func ownersSQL(of test: String) -> String {
    "SELECT \(own) FROM \(name) WHERE \(other) \(test) AND \(own) IS NOT NULL"
  }

  /// All rows of a table of links of owners whose key satisfies a test, those of one owner in order: owner, target
  /// and, where the inverse has an order, the place in it.
  func listsSQL(of test: String) -> String {
    let places = otherPlace.map { ", \($0)" } ?? ""
    let order = [own] + placeOrder("")
    return "SELECT \(own), \(other)\(places) FROM \(name) WHERE \(own) \(test)"
      + " ORDER BY \(order.joined(separator: ", "))"
  }

  /// The terms that put the targets of an owner in order: what has no place comes last.
  ///
  /// Links of files that were written before to-ones took places have none.
  private func placeOrder(_ prefix: String) -> [String] {
    guard let place else { return [] }
    return (place == Self.position ? [] : ["\(prefix)\(place) IS NULL"]) + ["\(prefix)\(place)"]
  }

  /// Targets with columns of theirs, and the key of their owner behind these, the owners together.
  ///
  /// What has no order of its own comes by the unique key, whatever the history of the file is.
  func rowsSQL(_ target: EntityLayout, _ columns: [String]) -> String {
    let table = Schema.quoted(target.table)
    let link = isOfTarget ? "t" : "j"
    let source = isOfTarget ? "\(table) t" : "\(name) j JOIN \(table) t ON t._pk = j.\(other)"
    let key = (target.uniqueKeys.first ?? []).map { "t.\(Schema.quoted($0.column))" }
    let order =
      ["\(link).\(own)"] + (place == nil ? key : placeOrder("\(link).")) + ["t._pk"]
    return "SELECT " + columns.map { "t.\(Schema.quoted($0)), " }.joined() + "\(link).\(own)"
      + " FROM \(source) WHERE \(link).\(own) IN (SELECT value FROM json_each(?1))"
      + " ORDER BY \(order.joined(separator: ", "))"
  }
}
