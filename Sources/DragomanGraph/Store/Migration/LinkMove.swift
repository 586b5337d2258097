/// Links that go from one place of storage to another.
struct LinkMove: Sendable {
  /// Old links that go on in the new ones.
  struct Part {
    let link: RelationshipLayout
    /// Whether it is the inverse that went on: owner and target change places.
    let isFlipped: Bool
  }

  /// The new relationship, the side that stores the links.
  let link: RelationshipLayout
  /// Its inverse.
  let inverse: RelationshipLayout?
  /// Where the links come from.
  let parts: [Part]
  /// An old relationship that leads to another table, so that it may have no links.
  var strays: RelationshipLayout?

  /// The old links: `owner`, `target`, `position`, `inverse_position`, by the old names.
  func query(_ old: ModelLayout) -> String {
    var selects = parts.map { Self.query($0.link, $0.isFlipped, old) }
    if case .joinTable(let join, _) = link.storage, join.isSymmetric {
      for part in parts where !Self.isSymmetric(part.link) {
        selects.append(Self.query(part.link, !part.isFlipped, old))
      }
    }
    let all = selects.joined(separator: " UNION ALL ")
    // Several rows of one pair are one link, unless the relationship has repeats.
    let mayRepeat = parts.contains { $0.link.relationship.allowsRepeats } || repeats
    if mayRepeat && parts.count == 1 { return all }
    return "SELECT owner, target, min(position) AS position,"
      + " min(inverse_position) AS inverse_position FROM (\(all)) GROUP BY owner, target"
  }

  /// Whether the new relationship may hold a target more than once.
  var repeats: Bool {
    link.relationship.allowsRepeats || inverse?.relationship.allowsRepeats ?? false
  }

  static func isSymmetric(_ link: RelationshipLayout) -> Bool {
    if case .joinTable(let join, _) = link.storage { join.isSymmetric } else { false }
  }

  /// The links of one old relationship.
  static func query(_ link: RelationshipLayout, _ isFlipped: Bool, _ old: ModelLayout) -> String {
    let q = Schema.quoted
    let table: String
    var columns: (owner: String, target: String, position: String, inverse: String)
    switch link.storage {
    case .column(let column):
      table = old.entities[link.owner].table
      columns = ("_pk", q(column), "NULL", "NULL")
      if let name = link.relationship.inverse,
        let slot = old.entities[link.destination].linkSlot(named: name),
        case .inverseColumn(_, let order?) = old.entities[link.destination].relationships[slot]
          .storage
      {
        columns.inverse = q(order)
      }
    case .inverseColumn(let column, let order):
      table = old.entities[link.destination].table
      columns = (q(column), "_pk", order.map(q) ?? "NULL", "NULL")
    case .joinTable(let join, let isOwner):
      table = join.name
      let position = join.hasPosition ? "position" : "NULL"
      let inverse = join.hasInversePosition ? "inverse_position" : "NULL"
      columns =
        isOwner
        ? ("owner", "target", position, inverse) : ("target", "owner", inverse, position)
    }
    if isFlipped {
      swap(&columns.owner, &columns.target)
      swap(&columns.position, &columns.inverse)
    }
    return "SELECT \(columns.owner) AS owner, \(columns.target) AS target,"
      + " \(columns.position) AS position, \(columns.inverse) AS inverse_position"
      + " FROM \(q(table)) WHERE \(columns.owner) NOT NULL AND \(columns.target) NOT NULL"
  }
}
