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
      var value = PendingReference.value(in: "_e")
      if !names.conversions.isEmpty {
        let branches = names.conversions.map { conversion in
          "WHEN \(Schema.literal(conversion.old.name)) THEN"
            + " \(ConversionFunction.name)(\(value), \(conversion.number))"
        }
        value = "CASE _e.key \(branches.joined(separator: " ")) ELSE \(value) END"
      }
      let name =
        names.attributes.isEmpty ? "_e.key" : "CASE _e.key \(names.attributes) ELSE _e.key END"
      let key =
        "(SELECT json_group_object(_p.name, \(PendingReference.json("_p.value"))) FROM"
        + " (SELECT \(name) AS name, \(value) AS value FROM json_each(_dragoman_pending.key) AS _e) AS _p)"
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

  /// The references that wait for keys that have no new form, a sentence for each part of a key.
  ///
  /// Runs `SELECT` over `_dragoman_pending`; the conversions must be registered.
  ///
  /// - Returns: What is in the way.
  /// - Throws: `StoreError`, `.damaged`, for rows that are not as they are written; GRDB's errors.
  func pendingFaults() throws -> [String] {
    guard !plan.conversions.isEmpty, try database.hasTable(PendingReference.table) else {
      return []
    }
    let place = PendingReference.table
    try PendingReference.check(database)
    let known = try Row.fetchAll(
      database,
      sql: "SELECT DISTINCT relationship, entity FROM _dragoman_pending ORDER BY 1, 2"
    )
    var faults: [String] = []
    for row in known {
      let relationship: String = try row.stored(0, of: place)
      let entity: String = try row.stored(1, of: place)
      let names = successors(ofRelationship: relationship, to: entity)
      for conversion in names?.conversions ?? [] {
        let value = PendingReference.value(in: "_e")
        let from =
          "FROM _dragoman_pending AS p, json_each(p.key) AS _e WHERE p.relationship = \(Schema.literal(relationship))"
          + " AND p.entity = \(Schema.literal(entity)) AND _e.key = \(Schema.literal(conversion.old.name))"
          + " AND \(value) NOT NULL AND \(ConversionFunction.name)(\(value), \(conversion.number)) IS NULL"
        let count = try Int.fetchOne(database, sql: "SELECT count(*) \(from)") ?? 0
        guard count > 0 else { continue }
        var examples: [String] = []
        let isSensitive = conversion.old.isSensitive || conversion.new.isSensitive
        try RawStatement(
          "SELECT DISTINCT \(value) \(from) ORDER BY p.id LIMIT \(MigrationChecks.exampleCount)",
          in: database
        ).forEachRow { examples.append(isSensitive ? "•••" : MigrationChecks.text($0.stored(0))) }
        faults.append(
          "\(entity).\(conversion.new.name) cannot become \(conversion.new.described) from"
            + " \(conversion.old.described): \(MessageWords.count(count, "reference")) of"
            + " \(relationship) \(count == 1 ? "waits" : "wait") for what does not convert"
            + " (\(examples.joined(separator: "; ")))."
        )
      }
    }
    return faults
  }

  /// A part of a key that gets another form.
  private struct Conversion {
    let old: Attribute
    let new: Attribute
    let number: Int
  }

  /// The new names of a relationship and its target, the new names of the target's attributes as
  /// branches of a `CASE`, and the conversions of those that get another form; nil where one of the two
  /// is gone.
  private func successors(
    ofRelationship name: String,
    to target: String
  ) -> (
    relationship: String, entity: String, attributes: String, conversions: [Conversion]
  )? {
    let parts = name.parts(at: ".", maxSplits: 1)
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
    var conversions: [Conversion] = []
    for ancestor in destination.lineage {
      for (property, attribute) in plan.old.entities[ancestor].entity.attributes.enumerated() {
        guard
          let place = plan.match.successor(
            ofAttribute: ModelMatch.Place(entity: ancestor, property: property)
          )
        else { continue }
        let successor = plan.new.entities[place.entity].entity.attributes[property: place]
        let table = plan.tables.first { $0.new == plan.new.entities[place.entity].table }
        if let number = table?.sources[successor.column]?.conversion {
          conversions.append(Conversion(old: attribute, new: successor, number: number))
        }
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
      branches.joined(separator: " "), conversions
    )
  }
}
