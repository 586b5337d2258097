extension Model {
  /// The model that the store has after a migration to `new`.
  ///
  /// What has a successor becomes it and keeps its place in the order; what is new comes behind.
  /// What `new` does not name stays, under the new names of what it refers to, unless `drops`. An
  /// identity that changes takes the place of the old one.
  func migrated(to new: Model, _ match: ModelMatch, drops: Bool) -> Model {
    var merged: [Entity] = []
    for (index, entity) in entities.enumerated() {
      if let successor = match.successor(ofEntity: index) {
        merged.append(
          entity.merged(index, with: new, successor, match, in: self, drops: drops)
        )
      } else if !drops {
        merged.append(entity.kept(index, beside: new, match, in: self))
      }
    }
    for (index, entity) in new.entities.enumerated() where match.entities[index] == nil {
      merged.append(entity)
    }
    return Model(entities: merged).completingInverses()
  }

  /// The model with each entity in the table of its root.
  func withTablesOfRoots() -> Model {
    var model = self
    for index in entities.indices {
      if let root = ancestors(of: entities[index]).last { model.entities[index].table = root.table }
    }
    return model
  }
}

extension Entity {
  /// This entity with the new names of what it refers to, and without what moved elsewhere.
  fileprivate func kept(
    _ index: Int,
    beside new: Model,
    _ match: ModelMatch,
    in old: Model
  ) -> Entity {
    var entity = self
    entity.attributes = attributes.enumerated().compactMap { property, attribute in
      let place = ModelMatch.Place(entity: index, property: property)
      return match.successor(ofAttribute: place) == nil ? attribute : nil
    }
    entity.relationships = relationships.enumerated().compactMap { property, relationship in
      let place = ModelMatch.Place(entity: index, property: property)
      guard match.successor(ofRelationship: place) == nil else { return nil }
      return relationship.kept(beside: new, match, in: old)
    }
    entity.uniqueKeys = uniqueKeys.map { renamed($0, index, new, match) }
    entity.indexes = indexes.map { renamed($0, index, new, match) }
    entity.parent = parent.map { name in
      let old = old.entities.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
      return old.flatMap(match.successor(ofEntity:)).map { new.entities[$0].name } ?? name
    }
    return entity
  }

  fileprivate func merged(
    _ index: Int,
    with new: Model,
    _ successor: Int,
    _ match: ModelMatch,
    in old: Model,
    drops: Bool
  ) -> Entity {
    var entity = new.entities[successor]
    let kept = kept(index, beside: new, match, in: old)
    entity.renamedFrom = entity.renamedFrom ?? renamedFrom
    // Which objects are stubs must not be forgotten.
    entity.admitsStubs = entity.admitsStubs || admitsStubs
    entity.attributes = ordered(
      attributes.enumerated().map { property, attribute in
        let place = ModelMatch.Place(entity: index, property: property)
        if let found = match.successor(ofAttribute: place) {
          return found.entity == successor
            ? entity.attributes[found.property].merged(with: attribute, drops: drops) : nil
        }
        return drops ? nil : attribute
      },
      entity.attributes
    ) { $0.name }
    entity.relationships = ordered(
      relationships.enumerated().map { property, relationship in
        let place = ModelMatch.Place(entity: index, property: property)
        if let found = match.successor(ofRelationship: place) {
          guard found.entity == successor else { return nil }
          var merged = entity.relationships[found.property]
          merged.renamedFrom = merged.renamedFrom ?? relationship.renamedFrom
          return merged
        }
        return drops ? nil : relationship.kept(beside: new, match, in: old)
      },
      entity.relationships
    ) { $0.name }
    guard !drops else { return entity }
    // Below another parent it is found by the keys of that one, unless it names one of its own.
    let isMoved = kept.parent.map(NameKey.init) != entity.parent.map(NameKey.init)
    let inherited = isMoved ? new.ancestors(of: entity).flatMap(\.uniqueKeys) : []
    let identityChanges =
      (entity.identity ?? inherited.first) != nil
      && kept.identity.map { !entity.uniqueKeys.contains($0) } ?? false
    let columns = Set(
      entity.attributes.map { NameKey($0.name) }
        + entity.relationships.filter { $0.kind == .toOne }.map { NameKey($0.name) }
    )
    // Names that are not the entity's own are inherited: validation sees to them.
    let gone = Set(
      entity.relationships.filter { $0.kind == .toMany }.map { NameKey($0.name) }
    ).subtracting(columns)
    for key in kept.uniqueKeys.dropFirst(identityChanges ? 1 : 0)
    where !entity.uniqueKeys.contains(key) && !inherited.contains(key)
      && !key.contains(where: { gone.contains(NameKey($0)) })
    {
      entity.uniqueKeys.append(key)
    }
    for list in kept.indexes where !entity.indexes.contains(list) { entity.indexes.append(list) }
    return entity
  }

  /// What goes on in its old place, then what is new.
  private func ordered<Property>(
    _ old: [Property?],
    _ new: [Property],
    _ name: (Property) -> String
  ) -> [Property] {
    let first = old.compactMap { $0 }
    let names = Set(first.map { NameKey(name($0)) })
    return first + new.filter { !names.contains(NameKey(name($0))) }
  }

  /// The names of a key after the migration.
  private func renamed(
    _ key: [String],
    _ index: Int,
    _ new: Model,
    _ match: ModelMatch
  ) -> [String] {
    key.map { name in
      if let own = attributes.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }),
        let found = match.successor(ofAttribute: .init(entity: index, property: own))
      {
        return new.entities[found.entity].attributes[found.property].name
      }
      if let own = relationships.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }),
        let found = match.successor(ofRelationship: .init(entity: index, property: own))
      {
        return new.entities[found.entity].relationships[found.property].name
      }
      return name
    }
  }
}

extension Attribute {
  /// This attribute with what stays of the one that it goes on with.
  fileprivate func merged(with old: Attribute, drops: Bool) -> Attribute {
    var merged = self
    merged.renamedFrom = renamedFrom ?? old.renamedFrom
    guard !drops else { return merged }
    merged.isIndexed = isIndexed || old.isIndexed
    if type == .enum, old.type == .enum, let known = old.allowedValues {
      merged.allowedValues = allowedValues.map { added in
        known + added.filter { !known.contains($0) }
      }
    }
    return merged
  }
}

extension Relationship {
  /// This relationship with the new names of its destination and its inverse.
  fileprivate func kept(beside new: Model, _ match: ModelMatch, in old: Model) -> Relationship {
    var kept = self
    guard
      let target = old.entities.firstIndex(where: { $0.name.utf8.elementsEqual(destination.utf8) })
    else { return kept }
    if let successor = match.successor(ofEntity: target) {
      kept.destination = new.entities[successor].name
    }
    guard let inverse else { return kept }
    let lineage =
      [old.entities[target]] + old.ancestors(of: old.entities[target])
    for entity in lineage {
      guard let owner = old.entities.firstIndex(where: { $0.name == entity.name }),
        let property = entity.relationships.firstIndex(where: {
          $0.name.utf8.elementsEqual(inverse.utf8)
        })
      else { continue }
      if let found = match.successor(ofRelationship: .init(entity: owner, property: property)) {
        let back = new.entities[found.entity].relationships[found.property]
        // The other side has another inverse now: this one goes on by itself.
        kept.inverse = back.inverse == nil || back.inverse == name ? back.name : nil
      }
      break
    }
    return kept
  }
}
