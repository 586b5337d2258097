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
      ? FilterPath(steps: schemaName.parts(at: "."))
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
  ///     let score = Field(1, "score", \Player.score, default: 0, rules: .init(minimum: 0, maximum: 100))
  ///     let born = Field(2, "born", \Player.born) { $0.type = .date }
  ///
  /// - Parameters:
  ///   - slot: The place in the schema's list, from 0.
  ///   - name: The attribute's name.
  ///   - path: The property.
  ///   - isUnique: Whether no two objects have the same value; the first unique key is the one by
  ///     which a value finds its object.
  ///   - default: The value of objects that are made without one; nil: null.
  ///   - rules: What values must obey beside their type.
  ///   - define: Changes what the property's type says of the attribute: its type, whether it is
  ///     required (unless the property is an optional), the values allowed (those of the cases).
  public init(
    _ slot: Int,
    _ name: String,
    _ path: any KeyPath<Root, Value> & Sendable,
    isUnique: Bool = false,
    default: Value? = nil,
    rules: AttributeRules<Value>? = nil,
    _ define: (inout Attribute) -> Void = { _ in }
  ) {
    var attribute = Attribute(
      name: name,
      type: Value.attributeType,
      isRequired: !Value.isOptional,
      allowedValues: Value.allowedValues
    )
    define(&attribute)
    // Texts of decimals depend on it.
    if let rules { attribute.rules.scale = rules.scale }
    var fault: String?
    do {
      if let value = `default` { attribute.defaultValue = try value.stored(as: attribute) }
      if let rules {
        let stored = attribute
        attribute.rules = try rules.withLimits { try $0.stored(as: stored) }
      }
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

  /// An attribute that holds the property through a pair of functions.
  private init(
    transformed slot: Int,
    _ name: String,
    type: String,
    isUnique: Bool,
    _ define: (inout Attribute) -> Void,
    value: @escaping @Sendable (Root) -> Value
  ) {
    var attribute = Attribute(
      name: name,
      type: Value.attributeType,
      isRequired: !Value.isOptional
    )
    define(&attribute)
    self.init(
      slot,
      name,
      FieldDefinition(
        .attribute(attribute) { Value.admits($0) },
        isUnique: isUnique,
        valueType: type
      ) { root, row in
        try row.set(slot, value(root))
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
    isUnique: Bool = false,
    _ define: (inout Attribute) -> Void = { _ in }
  ) where Value == Transformed<Transform> {
    let type = "\(Transform.Value.self)"
    self.init(transformed: slot, name, type: type, isUnique: isUnique, define) {
      Value($0[keyPath: path])
    }
  }

  /// Declares an attribute that holds an optional property through a pair of functions.
  public init<Transform: ValueTransform>(
    _ slot: Int,
    _ name: String,
    _ path: any KeyPath<Root, Transform.Value?> & Sendable,
    by transform: Transform.Type,
    isUnique: Bool = false,
    _ define: (inout Attribute) -> Void = { _ in }
  ) where Value == Transformed<Transform>? {
    let type = "\(Transform.Value.self)?"
    self.init(transformed: slot, name, type: type, isUnique: isUnique, define) {
      $0[keyPath: path].map { Transformed<Transform>($0) }
    }
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
  ///   - define: Changes what the property's type says of the relationship: whether its order is
  ///     stored (that of arrays, not of sets), whether there must be a target (for to-ones that are no
  ///     optional).
  public init(
    _ slot: Int,
    _ name: String,
    _ path: any KeyPath<Root, Value> & Sendable,
    isUnique: Bool = false,
    inverse: String? = nil,
    deleteRule: Relationship.DeleteRule = .nullify,
    _ define: (inout Relationship) -> Void = { _ in }
  ) {
    let template = Relationship(
      name: name,
      destination: "",
      kind: Value.relationshipKind,
      isOrdered: Value.isOrdered,
      inverse: inverse,
      deleteRule: deleteRule,
      isRequired: Value.isRequired
    ).with(define)
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
