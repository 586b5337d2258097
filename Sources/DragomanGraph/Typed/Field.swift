/// One property of a Swift type, and the attribute or relationship that holds it.
///
/// Which of the two it is, and of which type, the property's own type says. Key paths that lead to
/// fields are what filters, sort keys, maps and live objects take: `\.lastName == "Moreau"`.
///
/// A to-one leads on to the fields of its target: `\.employer.name == "Acme"`, `.ascending(\.employer.name)`.
/// So the members of a field have names that hardly any entity has.
@dynamicMemberLookup
public struct Field<Root: EntityValue, Value>: EntityField {
  /// The place in the schema's list, from 0; negative for a path through a relationship.
  public let schemaSlot: Int
  /// The property's name in the entity; of a path the names with dots between them.
  public let schemaName: String
  /// What the entity says of it.
  public let schemaDefinition: FieldDefinition<Root>

  init(_ slot: Int, _ name: String, _ definition: FieldDefinition<Root>) {
    schemaSlot = slot
    schemaName = name
    schemaDefinition = definition
  }

  /// How a predicate names it.
  var path: FilterPath {
    schemaSlot < 0
      ? FilterPath(steps: schemaName.split(separator: ".").map(String.init))
      : FilterPath(steps: [schemaName])
  }
}

extension Field where Value: ToOneValue {
  /// A field of the target, as predicates and sort keys take it; null where there is no target.
  ///
  /// It is no property of the type itself: it cannot be set, unboxed or mapped.
  public subscript<Property>(
    dynamicMember path: KeyPath<Value.Target.Fields, Field<Value.Target, Property>>
  ) -> Field<Root, Property> {
    let target = Value.Target.fields[keyPath: path]
    return Field<Root, Property>(
      -1,
      "\(schemaName).\(target.schemaName)",
      FieldDefinition(beyond: target.schemaDefinition)
    )
  }
}

/// A field of a type, whatever it holds.
public protocol EntityField<Root>: Sendable {
  /// The type.
  associatedtype Root: EntityValue
  /// The place in the schema's list, from 0.
  var schemaSlot: Int { get }
  /// The property's name in the entity.
  var schemaName: String { get }
  /// What the entity says of it.
  var schemaDefinition: FieldDefinition<Root> { get }
}

/// What an entity says of a field, and how the field's property is boxed; made by `Field`.
public final class FieldDefinition<Root: EntityValue>: Sendable {
  let property: FieldProperty
  /// Whether it is a unique key by itself.
  let isUnique: Bool
  /// The property's Swift type, for messages.
  let valueType: String
  /// What is wrong with the declaration; told when the type is used.
  let fault: String?
  let box: @Sendable (inout Root, inout BoxingRow) throws -> Void

  init(
    _ property: FieldProperty,
    isUnique: Bool,
    valueType: String,
    fault: String? = nil,
    box: @escaping @Sendable (inout Root, inout BoxingRow) throws -> Void
  ) {
    self.property = property
    self.isUnique = isUnique
    self.valueType = valueType
    self.fault = fault
    self.box = box
  }

  /// A field of the target of a relationship: nothing is boxed there.
  convenience init(beyond other: FieldDefinition<some EntityValue>) {
    self.init(other.property, isUnique: false, valueType: other.valueType) { _, _ in }
  }
}

/// What holds the property of a field.
enum FieldProperty: Sendable {
  /// An attribute; whether one of another type would do, too.
  case attribute(Attribute, admits: @Sendable (AttributeType) -> Bool)
  /// A relationship.
  case relationship(RelationshipField)
}

/// A relationship as a field declares it; its destination is a type, whose entity is looked up late:
/// types may refer to each other.
struct RelationshipField: Sendable {
  let target: any EntityValue.Type
  /// Whether the targets are nested values, and no references.
  let holdsValues: Bool
  /// Everything but the destination.
  let template: Relationship

  var relationship: Relationship {
    var relationship = template
    relationship.destination = target.schemaName
    return relationship
  }
}

// MARK: - Attributes

extension Field where Value: AttributeValue {
  /// Declares an attribute.
  ///
  /// - Parameters:
  ///   - slot: The place in the schema's list, from 0.
  ///   - name: The attribute's name.
  ///   - path: The property.
  ///   - type: The attribute's type; nil is what the property's type says.
  ///   - isUnique: Whether no two objects have the same value; the first unique key is the one by
  ///     which a value finds its object.
  ///   - isRequired: Whether null is refused; nil: unless the property is an optional.
  ///   - default: The value of objects that are made without one; nil: null.
  ///   - isIndexed: Whether the column has an index.
  ///   - column: The column's name; nil is the attribute's name.
  ///   - scale: Decimals: digits behind the point; nil: as given.
  ///   - allowedValues: Enumerations: the raw values; nil: those of the cases, where they are known.
  ///   - minimum: The smallest value.
  ///   - maximum: The largest value.
  ///   - minimumLength: The least number of Unicode scalars.
  ///   - maximumLength: The largest number of Unicode scalars.
  ///   - pattern: A regular expression that the whole text matches.
  ///   - isSensitive: Whether values are masked in messages.
  ///   - renamedFrom: The attribute's former name, for migration.
  public init(
    _ slot: Int,
    _ name: String,
    _ path: any KeyPath<Root, Value> & Sendable,
    type: AttributeType? = nil,
    isUnique: Bool = false,
    isRequired: Bool? = nil,
    default: Value? = nil,
    isIndexed: Bool = false,
    column: String? = nil,
    scale: Int? = nil,
    allowedValues: [String]? = nil,
    minimum: Value? = nil,
    maximum: Value? = nil,
    minimumLength: Int? = nil,
    maximumLength: Int? = nil,
    pattern: String? = nil,
    isSensitive: Bool = false,
    renamedFrom: String? = nil
  ) {
    var attribute = Attribute(
      name: name,
      type: type ?? Value.attributeType,
      isRequired: isRequired ?? !Value.isOptional,
      isIndexed: isIndexed,
      column: column,
      scale: scale,
      allowedValues: allowedValues ?? Value.allowedValues,
      minimumLength: minimumLength,
      maximumLength: maximumLength,
      pattern: pattern,
      isSensitive: isSensitive,
      renamedFrom: renamedFrom
    )
    var fault: String?
    do {
      attribute.defaultValue = try `default`?.stored(as: attribute)
      attribute.minimum = try minimum?.stored(as: attribute)
      attribute.maximum = try maximum?.stored(as: attribute)
    } catch {
      fault = "the default, minimum or maximum does not fit: \(error)"
    }
    self.init(
      slot,
      name,
      FieldDefinition(
        .attribute(attribute) { Value.admits($0) },
        isUnique: isUnique,
        valueType: "\(Value.self)",
        fault: fault
      ) { root, row in
        try row.set(slot, root[keyPath: path])
      }
    )
  }
}

extension Field {
  /// Declares an attribute that holds the property through a pair of functions.
  public init<Transform: ValueTransform>(
    _ slot: Int,
    _ name: String,
    _ path: any KeyPath<Root, Transform.Value> & Sendable,
    by transform: Transform.Type,
    type: AttributeType? = nil,
    isUnique: Bool = false,
    isRequired: Bool? = nil,
    isIndexed: Bool = false,
    column: String? = nil,
    isSensitive: Bool = false,
    renamedFrom: String? = nil
  ) where Value == Transformed<Transform> {
    let attribute = Attribute(
      name: name,
      type: type ?? Value.attributeType,
      isRequired: isRequired ?? !Value.isOptional,
      isIndexed: isIndexed,
      column: column,
      isSensitive: isSensitive,
      renamedFrom: renamedFrom
    )
    self.init(
      slot,
      name,
      FieldDefinition(
        .attribute(attribute) { Value.admits($0) },
        isUnique: isUnique,
        valueType: "\(Transform.Value.self)"
      ) { root, row in
        try row.set(slot, Value(root[keyPath: path]))
      }
    )
  }

  /// Declares an attribute that holds an optional property through a pair of functions.
  public init<Transform: ValueTransform>(
    _ slot: Int,
    _ name: String,
    _ path: any KeyPath<Root, Transform.Value?> & Sendable,
    by transform: Transform.Type,
    type: AttributeType? = nil,
    isUnique: Bool = false,
    isRequired: Bool? = nil,
    isIndexed: Bool = false,
    column: String? = nil,
    isSensitive: Bool = false,
    renamedFrom: String? = nil
  ) where Value == Transformed<Transform>? {
    let attribute = Attribute(
      name: name,
      type: type ?? Value.attributeType,
      isRequired: isRequired ?? false,
      isIndexed: isIndexed,
      column: column,
      isSensitive: isSensitive,
      renamedFrom: renamedFrom
    )
    self.init(
      slot,
      name,
      FieldDefinition(
        .attribute(attribute) { Value.admits($0) },
        isUnique: isUnique,
        valueType: "\(Transform.Value.self)?"
      ) { root, row in
        try row.set(slot, root[keyPath: path].map { Transformed<Transform>($0) })
      }
    )
  }
}

extension AttributeValue {
  /// The value as an attribute stores it.
  func stored(as attribute: Attribute) throws -> StoredValue {
    let buffer = BoxingBuffer([attribute])
    var column = BoxingColumn(buffer, 0)
    try box(into: &column)
    return buffer.stored(0)
  }
}

// MARK: - Relationships

extension Field where Value: RelationshipValue {
  /// Declares a relationship.
  ///
  /// - Parameters:
  ///   - slot: The place in the schema's list, from 0.
  ///   - name: The relationship's name.
  ///   - path: The property: a value, an optional, an array or a set of values or of references.
  ///   - isUnique: Whether no two objects lead to the same one.
  ///   - inverse: The name of the target's relationship that points back.
  ///   - deleteRule: What becomes of the targets when the object is deleted, and with `cascade`
  ///     also when a value is saved that does not hold them any more.
  ///   - isOrdered: To-manies: whether the order is stored; nil: of arrays, not of sets.
  ///   - allowsRepeats: To-manies: whether a target may occur more than once.
  ///   - isRequired: Whether there must be a target; nil: for to-ones that are no optional.
  ///   - maximumCount: To-manies: the largest number of targets.
  ///   - renamedFrom: The relationship's former name, for migration.
  public init(
    _ slot: Int,
    _ name: String,
    _ path: any KeyPath<Root, Value> & Sendable,
    isUnique: Bool = false,
    inverse: String? = nil,
    deleteRule: Relationship.DeleteRule = .nullify,
    isOrdered: Bool? = nil,
    allowsRepeats: Bool = false,
    isRequired: Bool? = nil,
    maximumCount: Int? = nil,
    renamedFrom: String? = nil
  ) {
    let template = Relationship(
      name: name,
      destination: "",
      kind: Value.relationshipKind,
      isOrdered: isOrdered ?? Value.isOrdered,
      allowsRepeats: allowsRepeats,
      inverse: inverse,
      deleteRule: deleteRule,
      isRequired: isRequired ?? Value.isRequired,
      maximumCount: maximumCount,
      renamedFrom: renamedFrom
    )
    let property = RelationshipField(
      target: Value.Target.self,
      holdsValues: Value.holdsValues,
      template: template
    )
    // Key paths to properties are immutable and hold nothing that is not Sendable.
    nonisolated(unsafe) let writable = path as? WritableKeyPath<Root, Value>
    self.init(
      slot,
      name,
      FieldDefinition(
        .relationship(property),
        isUnique: isUnique,
        valueType: "\(Value.self)"
      ) { root, row in
        if let writable {
          try row.link(slot, &root[keyPath: writable], keepsIDs: true)
        } else {
          var value = root[keyPath: path]
          try row.link(slot, &value, keepsIDs: false)
        }
      }
    )
  }
}
