/// What a unique key can be made of.
extension Model {
  /// What is wrong with the unique keys of an entity.
  func uniqueFaults(_ entity: Entity) -> [ModelFault] {
    let names = keyNames(of: entity)
    var faults: [ModelFault] = []
    for key in entity.uniqueKeys {
      if key.isEmpty {
        let message = "A unique key of \(entity.name) has no attributes."
        faults.append(
          ModelFault(rule: .reference, entity: entity.name, part: .unique, message: message)
        )
      }
      for (place, name) in key.enumerated() {
        if !names.contains(where: { hasSameBytes($0, name) }) {
          faults.append(faultyPart(name, of: entity, in: names))
        } else if key[..<place].contains(where: { hasSameBytes($0, name) }) {
          faults.append(
            clash(name, with: "itself in the same key", of: entity, part: .unique)
          )
        }
      }
    }
    return faults
  }

  /// The names a unique key of the entity may use: attributes, to-one relationships, and the to-ones that
  /// are only named as the inverse of another entity's to-many; its own and its ancestors'.
  private func keyNames(of entity: Entity) -> [String] {
    let relationships = lineage(of: entity).flatMap(\.relationships)
    let implied = otherSides(of: entity).filter { _, other in
      other.kind == .toMany
        && !relationships.contains { hasSameBytes($0.name, other.inverse ?? "") }
    }
    return lineage(of: entity).flatMap { $0.attributes.map(\.name) }
      + relationships.filter { $0.kind == .toOne }.map(\.name)
      + implied.compactMap { $0.relationship.inverse }
  }

  /// The relationships that lead to an entity and name an inverse there.
  private func otherSides(of entity: Entity) -> [(owner: Entity, relationship: Relationship)] {
    let lineage = lineage(of: entity)
    return entities.flatMap { owner in
      owner.relationships.filter { relationship in
        relationship.inverse != nil
          && lineage.contains { hasSameBytes($0.name, relationship.destination) }
      }.map { (owner: owner, relationship: $0) }
    }
  }

  /// A part of a key that is none; where another entity's to-one stores it, with what would make it one.
  private func faultyPart(_ name: String, of entity: Entity, in names: [String]) -> ModelFault {
    var fault = unknown("attribute or to-one", name, of: entity, part: .unique, in: names)
    let other = otherSides(of: entity).first { _, relationship in
      relationship.kind == .toOne && hasSameBytes(relationship.inverse ?? "", name)
    }
    if let other {
      fault.suggestion = nil
      fault.message +=
        " It is the other side of the to-one \(other.owner.name).\(other.relationship.name), which stores it:"
        + " declare \(name) as a to-one of \(entity.name) to have it in the key."
    }
    return fault
  }
}

extension ModelLayout {
  /// Of two to-ones that are each other's inverse one has the column: the other cannot be part of a key.
  var keyFaults: [ModelFault] {
    model.entities.flatMap { entity in
      entity.uniqueKeys.joined().compactMap { name -> ModelFault? in
        guard let stored = self.entity(named: entity.name),
          let link = stored.linkSlot(named: name).map({ stored.relationships[$0] }),
          case .inverseColumn = link.storage
        else { return nil }
        return ModelFault(
          rule: .reference,
          entity: entity.name,
          part: .unique,
          message:
            "\(entity.name).\(name) is stored by its inverse, and cannot be part of a key: take it out of it, or its"
            + " inverse out of the key of \(entities[link.destination].name)."
        )
      }
    }
  }
}
