import DragomanGraph

extension ImportMap {
  /// The model of what the map imports: its entities with their attributes and unique keys.
  ///
  /// Attributes of the identity are required unless the map says `required: false` (docs/maps.md
  /// "One record"); a sub-entity shares its root's table. Literals that do not fit their type are
  /// left out: `validate()` reports them. Inverses that one side names are declared on both.
  public func model() -> Model {
    let map = markingSensitive()
    var model = Model(entities: map.entities.map { $0.entity(in: map) }).completingInverses()
    for relationship in entities.flatMap(\.relationships)
    where (relationship.onUnresolved ?? defaults.onUnresolved) == .stub {
      guard
        let target = model.entities.firstIndex(where: {
          $0.name.utf8.elementsEqual(relationship.entity.utf8)
        })
      else { continue }
      model.entities[target].admitsStubs = true
    }
    return model
  }

  /// The entity of that name, compared byte for byte.
  public func entity(named name: String) -> EntityMap? {
    entities.first { $0.name.utf8.elementsEqual(name.utf8) }
  }

  /// The entity and its ancestors, nearest first.
  ///
  /// Stops at a name that is missing or met before, and where `Model.ancestors(of:)` does.
  func lineage(of entity: EntityMap) -> [EntityMap] {
    var found = [entity]
    while let parent = found[found.count - 1].parent, let next = self.entity(named: parent),
      !found.contains(where: { $0.name.utf8.elementsEqual(next.name.utf8) }),
      found.count <= Model.maximumAncestorCount + 1
    {
      found.append(next)
    }
    return found
  }

  /// The policies of an attribute or a relationship of the last of some entities, each of which inherits from the next.
  func policies(_ own: ValuePolicies, of lineage: ArraySlice<EntityMap>) -> ResolvedPolicies {
    ResolvedPolicies([own] + lineage.map(\.policies) + [defaults.policies])
  }
}

extension ImportMap {
  /// Whether feeds say something of a relationship.
  ///
  /// One with `from` or `key` is read where these say; `from: []` names no place. One with neither is read
  /// by its own name, unless it is the other side of a relationship that is read: that one says
  /// everything. Where two name each other and neither has a path, both are read.
  func readsFeed(_ relationship: RelationshipMap, of owner: EntityMap) -> Bool {
    let sides = entities.lazy.flatMap { entity in entity.relationships.lazy.map { (entity, $0) } }
    return readsFeed(
      relationship,
      of: owner,
      among: sides.filter { hasSameBytes($0.1.inverse ?? "", relationship.name) }
    )
  }

  /// The same where the relationships of entities are known whose inverse has the name.
  func readsFeed(
    _ relationship: RelationshipMap,
    of owner: EntityMap,
    among others: some Sequence<(EntityMap, RelationshipMap)>
  ) -> Bool {
    if let from = relationship.from { return !from.isEmpty }
    if relationship.key != nil { return true }
    let family = lineage(of: owner)
    for (entity, other) in others {
      guard other.from.map({ !$0.isEmpty }) ?? true,
        other != relationship || entity.name != owner.name,
        let target = self.entity(named: other.entity),
        family.contains(where: { hasSameBytes($0.name, target.name) })
          || lineage(of: target).contains(where: { hasSameBytes($0.name, owner.name) })
      else { continue }
      let isExplicit = other.from != nil || other.key != nil
      let isMutual = relationship.inverse.map { hasSameBytes($0, other.name) } ?? false
      if isExplicit || !isMutual { return false }
    }
    return true
  }
}

extension ForeignPaths {
  /// Whether no format has a path.
  var isEmpty: Bool { json.isEmpty && xml.isEmpty && csv.isEmpty }
}

extension EntityMap {
  /// The attribute of that name, compared byte for byte.
  public func attribute(named name: String) -> AttributeMap? {
    attributes.first { $0.name.utf8.elementsEqual(name.utf8) }
  }

  fileprivate func entity(in map: ImportMap) -> Entity {
    let lineage = map.lineage(of: self)
    let identity = lineage.lazy.compactMap(\.uniqueKeys.first).first ?? []
    let root = lineage[lineage.count - 1]
    return Entity(
      name: name,
      table: root.table ?? root.name,
      attributes: attributes.map { attribute in
        attribute.attribute(
          isKey: identity.contains { $0.utf8.elementsEqual(attribute.name.utf8) }
        )
      },
      relationships: relationships.map(\.relationship),
      uniqueKeys: uniqueKeys,
      parent: parent
    ).with { $0.renamedFrom = renamedFrom }
  }
}

extension AttributeMap {
  /// The attribute the map describes; `isKey` makes it required where the map does not say.
  func attribute(isKey: Bool) -> Attribute {
    Attribute(
      name: name,
      type: type,
      isRequired: isRequired ?? isKey,
      defaultValue: defaultValue.flatMap(storedValue(ofLiteral:)),
      isIndexed: isIndexed,
      allowedValues: rawValues,
      rules: rules.withLimits(storedValue(ofLiteral:))
    ).with {
      $0.column = column ?? name
      $0.isSensitive = isSensitive
      $0.renamedFrom = renamedFrom
    }
  }
}

extension RelationshipMap {
  /// The relationship the map describes.
  var relationship: Relationship {
    Relationship(
      name: name,
      destination: entity,
      kind: kind,
      isOrdered: isOrdered,
      inverse: inverse,
      deleteRule: onDelete ?? .nullify
    ).with {
      $0.allowsRepeats = allowsRepeats
      $0.renamedFrom = renamedFrom
    }
  }
}
