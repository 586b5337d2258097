import DragomanGraph

extension EntityMap {
  /// The map that describes an entity of a model and says nothing of feeds.
  init(_ entity: Entity) {
    self.init(
      name: entity.name,
      table: entity.parent == nil ? entity.table : nil,
      parent: entity.parent,
      uniqueKeys: entity.uniqueKeys,
      attributes: entity.attributes.map { AttributeMap($0) },
      relationships: entity.relationships.map { relationship in
        RelationshipMap(
          name: relationship.name,
          entity: relationship.destination,
          kind: relationship.kind,
          inverse: relationship.inverse
        ).with {
          $0.isOrdered = relationship.isOrdered
          $0.allowsRepeats = relationship.allowsRepeats
          $0.onDelete = relationship.deleteRule
          $0.renamedFrom = relationship.renamedFrom
        }
      }
    )
    renamedFrom = entity.renamedFrom
  }
}

extension AttributeMap {
  /// The map that describes an attribute of a model and says nothing of feeds.
  init(_ attribute: Attribute) {
    self.init(
      name: attribute.name,
      type: attribute.type,
      isRequired: attribute.isRequired,
      defaultValue: attribute.defaultValue?.literal(of: attribute.type),
      rules: attribute.rules.withLimits { $0.literal(of: attribute.type) }
    )
    format.values = (attribute.allowedValues ?? []).map { .init(foreign: $0, local: $0) }
    isIndexed = attribute.isIndexed
    column = attribute.column == attribute.name ? nil : attribute.column
    isSensitive = attribute.isSensitive
    renamedFrom = attribute.renamedFrom
  }
}

extension StoredValue {
  /// The value as the map writes literals; nil for null.
  fileprivate func literal(of type: AttributeType) -> String? {
    switch self {
    case .null: nil
    case .integer(let value): type == .bool ? (value == 0 ? "false" : "true") : String(value)
    case .real(let value): String(value)
    case .text(let text): text
    case .blob(let bytes):
      "\\x" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
  }
}

extension Model {
  /// The attributes of an entity, those of its oldest ancestor first.
  func allAttributes(of entity: Entity) -> [Attribute] {
    ([entity] + ancestors(of: entity)).reversed().flatMap(\.attributes)
  }

  /// The unique keys of an entity, its own first: the first of all is the identity.
  func allUniqueKeys(of entity: Entity) -> [[String]] {
    ([entity] + ancestors(of: entity)).flatMap(\.uniqueKeys)
  }
}
