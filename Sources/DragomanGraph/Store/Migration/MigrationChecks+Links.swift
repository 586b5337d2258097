extension MigrationChecks {
  var linkChecks: [Check] {
    var checks: [Check] = []
    for move in plan.moves {
      let name = "\(plan.new.entities[move.link.owner].name).\(move.link.name)"
      if let stray = move.strays {
        checks.append(
          linkCheck(
            on: stray.owner,
            reading: [stray],
            "_pk IN (SELECT owner FROM (\(LinkMove.query(stray, false, plan.old))))"
          ) { count, examples in
            "\(name) cannot lead to \(plan.new.entities[move.link.destination].name):"
              + " \(MessageWords.count(count, "object has", "objects have")) links to objects of another"
              + " table (\(examples))."
          }
        )
        continue
      }
      let links = move.query(plan.old)
      guard let owner = oldEntity(move.link.owner) else { continue }
      if move.link.isToOne {
        checks.append(
          linkCheck(on: owner, reading: move.sources, Self.several("owner", "target", links)) {
            count,
            examples in
            "\(name) cannot be to-one: \(MessageWords.count(count, "object has", "objects have"))"
              + " several targets (\(examples))."
          }
        )
      } else if !move.repeats && move.parts.contains(where: { $0.link.relationship.allowsRepeats })
      {
        let repeated =
          "_pk IN (SELECT owner FROM (\(links)) GROUP BY owner, target HAVING count(*) > 1)"
        checks.append(
          linkCheck(on: owner, reading: move.sources, repeated) { count, examples in
            "\(name) cannot be without repeats: \(MessageWords.count(count, "object has", "objects have"))"
              + " a target more than once (\(examples))."
          }
        )
      }
    }
    return checks + inverseChecks + ownerChecks + destinationChecks
  }

  /// One-to-one: no two owners may have the same target.
  private var inverseChecks: [Check] {
    links.compactMap { link, known in
      guard case .column = link.storage, let inverse = plan.new.inverse(of: link),
        inverse.isToOne, let target = oldEntity(inverse.owner)
      else { return nil }
      let move = plan.moves.first { $0.link == link && $0.strays == nil }
      if move == nil {
        guard let known else { return nil }
        if plan.old.inverse(of: known)?.isToOne == true { return nil }
      }
      guard let query = move?.query(plan.old) ?? known.map({ LinkMove.query($0, false, plan.old) })
      else { return nil }
      let sources = move?.sources ?? [known].compactMap { $0 }
      let name = "\(plan.new.entities[inverse.owner].name).\(inverse.name)"
      return linkCheck(on: target, reading: sources, Self.several("target", "owner", query)) {
        count,
        examples in
        "\(name) cannot be to-one: \(MessageWords.count(count, "object has", "objects have"))"
          + " several targets (\(examples))."
      }
    }
  }

  /// Links of objects that will not have the relationship any more.
  private var ownerChecks: [Check] {
    strayChecks("owner", \.owner) { name, owner, count, examples in
      "\(name) cannot move: links stand in \(MessageWords.count(count, "object"))"
        + " \(Self.strangers(count, to: owner)) (\(examples))."
    }
  }

  /// Links that lead to objects which the new destination does not include.
  private var destinationChecks: [Check] {
    strayChecks("target", \.destination) { name, destination, count, examples in
      "\(name) cannot lead to \(destination.name):"
        + " links lead to \(MessageWords.count(count, "object")) of another entity (\(examples))."
    }
  }

  /// Links at one end of which are objects that are none of the new entity there.
  ///
  /// - Parameters:
  ///   - column: The end in the query of the links.
  ///   - end: The entity there.
  ///   - sentence: What is said, by the relationship, the new entity, how many objects there are, and some of them.
  /// - Returns: A check for each relationship that may have such links.
  private func strayChecks(
    _ column: String,
    _ end: KeyPath<RelationshipLayout, Int>,
    _ sentence: @escaping (String, EntityLayout, Int, String) -> String
  ) -> [Check] {
    links.compactMap { link, known in
      guard let known else { return nil }
      let before = known[keyPath: end]
      let after = plan.new.entities[link[keyPath: end]]
      let lost = strays(of: before, to: after)
      guard !lost.isEmpty, plan.oldTable(of: after.table) == plan.old.entities[before].table else {
        return nil
      }
      let name = "\(plan.new.entities[link.owner].name).\(link.name)"
      let query = LinkMove.query(known, false, plan.old)
      return linkCheck(
        on: before,
        reading: [known],
        "_pk IN (SELECT \(column) FROM (\(query))) AND \(isOne(of: lost))"
      ) { sentence(name, after, $0, $1) }
    }
  }

  /// The new relationships where they are declared, with what they go on with.
  private var links: [(RelationshipLayout, RelationshipLayout?)] {
    plan.new.entities.flatMap { entity in
      entity.relationships.filter { $0.owner == entity.index }
        .map { ($0, plan.predecessor(of: $0)) }
    }
  }

  private func linkCheck(
    on entity: Int,
    reading links: [RelationshipLayout],
    _ condition: String,
    _ sentence: @escaping (Int, String) -> String
  ) -> Check {
    let layout = plan.old.entities[entity]
    return Check(
      table: layout.table,
      condition: condition,
      shown: key(of: layout, behind: nil),
      links: links,
      sentence: sentence
    )
  }

  private static func several(_ one: String, _ many: String, _ links: String) -> String {
    "_pk IN (SELECT \(one) FROM (\(links)) GROUP BY \(one) HAVING count(DISTINCT \(many)) > 1)"
  }
}
