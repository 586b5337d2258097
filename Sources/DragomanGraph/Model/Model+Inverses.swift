extension Model {
  /// The model with every inverse declared on both sides.
  ///
  /// A map says `inverse: employees` on one side only; the other side is added to the target:
  /// to-many beside a to-one, to-one beside a to-many. Where the target has a relationship of that
  /// name without an inverse, it becomes the inverse.
  public func completingInverses() -> Model {
    // What was set since the model was made, or comes from a file, is made canonical, too.
    var model = Model(entities: entities)
    for entity in entities {
      for relationship in entity.relationships {
        guard let inverse = relationship.inverse,
          let target = self.entity(named: relationship.destination)
        else { continue }
        model.complete(inverse, of: relationship, from: entity, on: target)
      }
    }
    return model
  }

  private mutating func complete(
    _ inverse: String,
    of relationship: Relationship,
    from owner: Entity,
    on target: Entity
  ) {
    let lineage = [target] + ancestors(of: target)
    // An attribute of that name is a fault, which `validate()` tells.
    guard !lineage.contains(where: { $0.attribute(named: inverse) != nil }) else { return }
    for entity in lineage {
      guard let place = entities.firstIndex(where: { hasSameBytes($0.name, entity.name) }),
        let back = entities[place].relationships.firstIndex(where: {
          $0.name.utf8.elementsEqual(inverse.utf8)
        })
      else { continue }
      if entities[place].relationships[back].inverse == nil {
        entities[place].relationships[back].inverse = relationship.name
      }
      return
    }
    guard let place = entities.firstIndex(where: { hasSameBytes($0.name, target.name) }) else {
      return
    }
    entities[place].relationships.append(
      Relationship(
        name: inverse,
        destination: owner.name,
        kind: relationship.kind == .toOne ? .toMany : .toOne,
        inverse: relationship.name
      )
    )
  }
}
