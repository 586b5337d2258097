import GRDB

/// References that wait in `_dragoman_pending` know relationships, entities and attributes by name:
/// they follow what is renamed, and go with what goes.
extension MigrationRun {
  /// Gives the references that wait the new names.
  func renamePending() throws {
    let place = PendingReference.table
    try PendingReference.check(database)
    let known = try Row.fetchAll(
      database,
      sql: "SELECT DISTINCT relationship, entity FROM _dragoman_pending ORDER BY 1, 2"
    )
    guard !known.isEmpty else { return }
    for row in known {
      let relationship: String = try row.stored(0, of: place)
      let entity: String = try row.stored(1, of: place)
      let isOurs = "relationship = ? AND entity = ?"
      guard let names = successors(ofRelationship: relationship, to: entity) else {
        try execute(
          "DELETE FROM _dragoman_pending WHERE \(isOurs)",
          [relationship, entity]
        )
        continue
      }
      let key =
        names.attributes.isEmpty
        ? "key"
        : "(SELECT json_group_object(CASE _e.key \(names.attributes) ELSE _e.key END, _e.value)"
          + " FROM json_each(_dragoman_pending.key) AS _e)"
      // Through names that no relationship has: two of them may change places.
      try execute(
        "UPDATE _dragoman_pending SET relationship = ?, entity = ?, key = \(key) WHERE \(isOurs)",
        ["_" + names.relationship, names.entity, relationship, entity]
      )
    }
    try execute(
      "UPDATE _dragoman_pending SET relationship = substr(relationship, 2)"
        + " WHERE substr(relationship, 1, 1) = '_'"
    )
  }

  /// The new names of a relationship and its target, and the new names of the target's attributes as
  /// branches of a `CASE`; nil where one of the two is gone.
  private func successors(
    ofRelationship name: String,
    to target: String
  ) -> (relationship: String, entity: String, attributes: String)? {
    let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
    guard parts.count == 2, let owner = plan.old.entity(named: parts[0]),
      let property = owner.entity.relationships.firstIndex(where: {
        $0.name.utf8.elementsEqual(parts[1].utf8)
      }),
      let place = plan.match.successor(
        ofRelationship: ModelMatch.Place(entity: owner.index, property: property)
      ),
      let destination = plan.old.entity(named: target),
      let entity = plan.match.successor(ofEntity: destination.index)
    else { return nil }
    var branches: [String] = []
    for ancestor in destination.lineage {
      for (property, attribute) in plan.old.entities[ancestor].entity.attributes.enumerated() {
        guard
          let place = plan.match.successor(
            ofAttribute: ModelMatch.Place(entity: ancestor, property: property)
          )
        else { continue }
        let successor = plan.new.entities[place.entity].entity.attributes[property: place]
        if !successor.name.utf8.elementsEqual(attribute.name.utf8) {
          branches.append(
            "WHEN \(Schema.literal(attribute.name)) THEN \(Schema.literal(successor.name))"
          )
        }
      }
    }
    let link = plan.new.entities[place.entity].entity.relationships[property: place]
    return (
      "\(plan.new.entities[place.entity].name).\(link.name)", plan.new.entities[entity].name,
      branches.joined(separator: " ")
    )
  }
}
