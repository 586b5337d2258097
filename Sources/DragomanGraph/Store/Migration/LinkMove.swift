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

  /// The old relationships that the links are read of.
  var sources: [RelationshipLayout] { parts.map(\.link) }

  /// The table that has the links of a relationship.
  static func table(of link: RelationshipLayout, in layout: ModelLayout) -> String {
    switch link.storage {
    case .column: layout.entities[link.owner].table
    case .inverseColumn: layout.entities[link.destination].table
    case .joinTable(let join, _): join.name
    }
  }

  /// The old links: `owner`, `target`, `position`, `inverse_position`, by the old names.
  func query(_ old: ModelLayout) -> String {
    var selects = parts.map { Self.query($0.link, $0.isFlipped, old) }
    if case .joinTable(let join, _) = link.storage, join.isSymmetric {
      for part in parts where !part.link.isSymmetric {
        selects.append(Self.query(part.link, !part.isFlipped, old))
      }
    }
    let all = selects.joined(separator: " UNION ALL ")
    // Several rows of one pair are one link, unless the relationship has repeats.
    let mayRepeat = parts.contains { $0.link.relationship.allowsRepeats } || repeats
    if mayRepeat && parts.count == 1 && !link.isToOne { return all }
    return "SELECT owner, target, min(position) AS position,"
      + " min(inverse_position) AS inverse_position FROM (\(all)) AS links GROUP BY owner, target"
  }

  /// Whether the new relationship may hold a target more than once.
  var repeats: Bool {
    link.relationship.allowsRepeats || inverse?.relationship.allowsRepeats ?? false
  }

  /// The links of one old relationship.
  static func query(_ link: RelationshipLayout, _ isFlipped: Bool, _ old: ModelLayout) -> String {
    let links = LinkQuery(link, in: old)
    var ends = (links.own, links.other)
    var places = (links.place ?? Self.none, links.otherPlace ?? Self.none)
    if isFlipped {
      ends = (ends.1, ends.0)
      places = (places.1, places.0)
    }
    return "SELECT \(ends.0) AS owner, \(ends.1) AS target,"
      + " \(places.0) AS position, \(places.1) AS inverse_position"
      + " FROM \(links.name) WHERE \(ends.0) IS NOT NULL AND \(ends.1) IS NOT NULL"
  }

  /// No place: a number also where no link has one.
  private static let none = "CAST(NULL AS bigint)"
}
