/// The entity of a Swift type: its name, its rules, and its fields by slot.
public struct EntitySchema<Root: EntityValue>: Sendable, Adjustable {
  /// The entity's name.
  public let name: String
  /// The fields, by slot.
  let fields: [any EntityField<Root>]
  let definitions: [FieldDefinition<Root>]
  private let table: String?
  private let parent: (any EntityValue.Type)?
  private let isAbstract: Bool
  private let uniqueKeys: [[String]]
  private let indexes: [[String]]
  /// The entity's former name, for migration.
  public var renamedFrom: String?

  /// Describes an entity.
  ///
  /// - Parameters:
  ///   - name: The entity's name.
  ///   - table: The table's name; nil is the entity's name.
  ///   - parent: The type of the parent entity; fields that it has are inherited.
  ///   - isAbstract: Whether there are objects of sub-entities only.
  ///   - uniqueKeys: Unique keys of several properties; those of single fields come behind them.
  ///   - indexes: Indexes over several properties.
  ///   - fields: Every field, in the order of the slots.
  public init(
    _ name: String,
    table: String? = nil,
    parent: (any EntityValue.Type)? = nil,
    isAbstract: Bool = false,
    uniqueKeys: [[String]] = [],
    indexes: [[String]] = [],
    _ fields: [any EntityField<Root>]
  ) {
    self.name = name
    self.table = table
    self.parent = parent
    self.isAbstract = isAbstract
    self.uniqueKeys = uniqueKeys
    self.indexes = indexes
    self.fields = fields
    definitions = fields.map { $0.schemaDefinition }
  }

  /// The entity, as a `Model` has it.
  ///
  /// The names of destinations are looked up here and not before: types may refer to each other.
  public var entity: Entity {
    let above = parent?.entity
    let inherited = Set(parent?.propertyNames.map(NameKey.init) ?? [])
    var attributes: [Attribute] = []
    var relationships: [Relationship] = []
    var keys = uniqueKeys
    for field in fields where !inherited.contains(NameKey(field.schemaName)) {
      switch field.schemaDefinition.property {
      case .attribute(let attribute, _): attributes.append(attribute)
      case .relationship(let link): relationships.append(link.relationship)
      }
      if field.schemaDefinition.isUnique { keys.append([field.schemaName]) }
    }
    return Entity(
      name: name,
      table: above?.table ?? table,
      attributes: attributes,
      relationships: relationships,
      uniqueKeys: keys,
      parent: above?.name,
      isAbstract: isAbstract
    ).with {
      $0.indexes = indexes
      $0.renamedFrom = renamedFrom
    }
  }

  /// The unique key by which objects are found: the first of its own, or else its parent's.
  var identity: [String]? { entity.identity ?? parent?.identity }

  /// The types that this one needs: its parent, and the targets of its relationships.
  var neighbours: [any EntityValue.Type] {
    let targets = definitions.compactMap { definition in
      if case .relationship(let link) = definition.property { link.target } else { nil }
    }
    return (parent.map { [$0] } ?? []) + targets
  }

  var fieldNames: [String] { fields.map { $0.schemaName } + (parent?.propertyNames ?? []) }
}

extension EntityValue {
  /// The names of the unique key by which objects are found; nil: there is none.
  package static var identity: [String]? { schema.identity }

  /// The names of the type's own fields, by slot.
  static var fieldNames: [String] { schema.fields.map { $0.schemaName } }

  /// The names of all fields, those of the ancestors included.
  fileprivate static var propertyNames: [String] { schema.fieldNames }

  fileprivate static var neighbours: [any EntityValue.Type] { schema.neighbours }

  /// The entities of this type and of all types that can be reached from it.
  package static var reachableEntities: [Entity] {
    var found: [any EntityValue.Type] = [Self.self]
    var known: Set<ObjectIdentifier> = [ObjectIdentifier(Self.self)]
    var next = 0
    while next < found.count {
      for type in found[next].neighbours where known.insert(ObjectIdentifier(type)).inserted {
        found.append(type)
      }
      next += 1
    }
    return found.map { $0.entity }
  }
}
