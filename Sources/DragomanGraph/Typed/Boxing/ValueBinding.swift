import Synchronization

/// The fields of a Swift type by slot, as messages and boxing need them.
final class SlotTable: Sendable {
  /// The entity's name.
  let entity: String
  /// The names of the fields.
  let names: [String]
  /// The attributes; relationships have a placeholder.
  let attributes: [Attribute]

  init(entity: String, names: [String], attributes: [Attribute]) {
    self.entity = entity
    self.names = names
    self.attributes = attributes
  }

  /// The fields as the type itself declares them.
  convenience init<Value: EntityValue>(_ type: Value.Type) throws(ValueError) {
    let schema = Value.schema
    for (slot, field) in schema.fields.enumerated() {
      guard field.schemaSlot == slot else {
        throw ValueError(
          .schema,
          "\(Value.self) declares the field \"\(field.schemaName)\" with slot \(field.schemaSlot), and it is number"
            + " \(slot) in the list of its schema.",
          entity: schema.name,
          property: field.schemaName,
          help: "number the fields from 0, in the order of the list"
        )
      }
      if let fault = field.schemaDefinition.fault {
        throw ValueError(
          .schema,
          "\(Value.self).\(field.schemaName) is declared wrongly: \(fault).",
          entity: schema.name,
          property: field.schemaName
        )
      }
    }
    self.init(
      entity: schema.name,
      names: schema.fields.map { $0.schemaName },
      attributes: schema.fields.map { field in
        if case .attribute(let attribute, _) = field.schemaDefinition.property { return attribute }
        return Attribute(name: field.schemaName)
      }
    )
  }

  /// Adds the entity and the property to what went wrong with a value.
  func explained(_ error: any Error, _ slot: Int, _ object: ObjectID?) -> any Error {
    guard let mismatch = error as? ValueMismatch, names.indices.contains(slot) else {
      return error
    }
    let found = attributes[slot].isSensitive ? "another value" : mismatch.found
    return ValueError(
      mismatch.code,
      "\(entity).\(names[slot]) takes \(mismatch.expected); found \(found)"
        + "\(object.map { " in \($0.entity) \($0.primaryKey)" } ?? "").",
      entity: entity,
      property: names[slot],
      object: object,
      help: mismatch.code == .null ? "make the property an optional" : nil
    )
  }

  func unknown(slot: Int) -> ValueError {
    ValueError(
      .schema,
      "\(entity) has no field with slot \(slot): it is one of another type.",
      entity: entity
    )
  }
}

/// A Swift type and the entity of a model that holds its values: which slot is which column.
final class ValueBinding: Sendable {
  /// What a slot is in the model.
  enum Slot: Sendable {
    /// An attribute, and its column in the table.
    case attribute(Attribute, column: Int)
    /// A relationship.
    case link(Link)
  }

  /// A relationship of a slot.
  struct Link: Sendable {
    let layout: RelationshipLayout
    /// The column in the owner's table, where it has one.
    let column: Int?
    /// Whether the targets are nested values.
    let holdsValues: Bool
    let target: any EntityValue.Type
  }

  let layout: ModelLayout
  let entity: EntityLayout
  let slots: [Slot]
  /// The column of each slot in the table; -1: it has none.
  let columns: [Int]
  /// The column of each slot for a row that is inserted: a relationship without one has no value.
  let rowColumns: [Int]
  let table: SlotTable
  /// The slots of the entity's identity, in the order of the key; nil: it has none, or the type lacks
  /// a part of it.
  let keySlots: [Int]?
  /// Whether a value is one row: attributes, and references in columns that no other row knows of.
  let isFlat: Bool
  /// Whether unboxing needs more than the row.
  let needsLinks: Bool

  init<Value: EntityValue>(_ type: Value.Type, in layout: ModelLayout) throws(ValueError) {
    let declared = try SlotTable(type)
    guard let entity = layout.entity(named: declared.entity) else {
      throw ValueError(
        .schema,
        "The model has no entity \"\(declared.entity)\", which \(Value.self) describes.",
        entity: declared.entity,
        help: nearest(to: declared.entity, in: layout.model.entities.map(\.name))
          .map { "did you mean \"\($0)\"?" } ?? "open the stack with Model(\(Value.self).self)"
      )
    }
    var slots: [Slot] = []
    for field in Value.schema.fields {
      slots.append(try Self.slot(field.schemaName, field.schemaDefinition, entity, layout))
    }
    let table = SlotTable(
      entity: entity.name,
      names: declared.names,
      attributes: zip(slots, declared.attributes).map { slot, declared in
        if case .attribute(let attribute, _) = slot { attribute } else { declared }
      }
    )
    self.layout = layout
    self.entity = entity
    self.slots = slots
    columns = slots.map { slot in
      switch slot {
      case .attribute(_, let column): column
      case .link(let link): link.column ?? -1
      }
    }
    rowColumns = columns.map { max($0, 0) }
    self.table = table
    keySlots = Self.keySlots(of: entity, table.names)
    for slot in keySlots ?? [] {
      if case .link(let link) = slots[slot] { try Self.checkKey(type, link, layout) }
    }
    isFlat = slots.allSatisfy { slot in
      guard case .link(let link) = slot else { return true }
      guard !link.holdsValues, link.column != nil else { return false }
      // Of a sub-entity the key alone does not tell whether the target is one.
      let destination = layout.entities[link.layout.destination]
      guard destination.root == destination.index else { return false }
      guard let inverse = layout.inverse(of: link.layout) else { return true }
      // An ordered inverse keeps the place of each object, a one-to-one takes its target away.
      return !inverse.isToOne && !inverse.isListed
    }
    needsLinks = slots.contains { slot in
      guard case .link(let link) = slot else { return false }
      return link.holdsValues || link.column == nil
    }
  }

  private static func keySlots(of entity: EntityLayout, _ names: [String]) -> [Int]? {
    guard let identity = entity.uniqueKeys.first else { return nil }
    let slots = identity.compactMap { part in
      names.firstIndex { $0.utf8.elementsEqual(part.name.utf8) }
    }
    return slots.count == identity.count ? slots : nil
  }

  /// Refuses a part of the unique key that holds values which cannot be found themselves.
  private static func checkKey<Value: EntityValue>(
    _ type: Value.Type,
    _ link: Link,
    _ layout: ModelLayout
  ) throws(ValueError) {
    guard link.holdsValues, !(link.target is any PersistentValue.Type),
      let target = layout.entity(named: link.target.schemaName),
      keySlots(of: target, link.target.fieldNames) == nil
    else { return }
    throw ValueError(
      .schema,
      "\(Value.self).\(link.layout.name) is part of the unique key of \(Value.schema.name), and"
        + " \(link.target) has neither a unique key nor an objectID: no \(Value.schema.name) could"
        + " be found by it.",
      entity: Value.schema.name,
      property: link.layout.name,
      help: "give \(link.target) a unique key, or declare the property with Ref"
    )
  }

  private static func slot<Value: EntityValue>(
    _ name: String,
    _ definition: FieldDefinition<Value>,
    _ entity: EntityLayout,
    _ layout: ModelLayout
  ) throws(ValueError) -> Slot {
    switch (definition.property, entity.property(named: name)) {
    case (.attribute(let declared, let admits), .attribute(let slot)):
      let attribute = entity.attributes[slot]
      guard admits(attribute.type) else {
        throw misfit(
          "\(Value.self).\(name) is \(definition.valueType), and \(entity.name).\(name) is"
            + " \(attribute.type.withArticle), which it cannot hold.",
          entity,
          name,
          help: declared.type == attribute.type
            ? nil : "declare the property as a type for \(attribute.type.rawValue)"
        )
      }
      return .attribute(attribute, column: entity.attributeColumns[slot])
    case (.relationship(let field), .relationship(let slot)):
      let link = entity.relationships[slot]
      guard link.relationship.kind == field.template.kind else {
        throw misfit(
          "\(Value.self).\(name) is \(definition.valueType), and \(entity.name).\(name) is"
            + " \(link.isToOne ? "a to-one" : "a to-many").",
          entity,
          name
        )
      }
      // A type of an ancestor reads what is below it, too.
      let target = layout.entity(named: field.target.schemaName)
      guard let target, layout.entities[link.destination].lineage.contains(target.index) else {
        throw misfit(
          "\(entity.name).\(name) leads to \(layout.entities[link.destination].name), and"
            + " \(Value.self).\(name) to \(field.target).",
          entity,
          name
        )
      }
      try checkCycle(Value.self, field, link, layout)
      let column = entity.linkColumns[slot]
      return .link(
        Link(layout: link, column: column, holdsValues: field.holdsValues, target: field.target)
      )
    case (.attribute, .relationship), (.relationship, .attribute):
      throw misfit(
        "\(Value.self).\(name) is \(definition.valueType), which is no"
          + " \(entity.attributeSlot(named: name) == nil ? "relationship" : "attribute"); \(entity.name).\(name)"
          + " is one.",
        entity,
        name
      )
    case (_, nil):
      throw misfit(
        "\(entity.name) has no property \"\(name)\", which \(Value.self) describes.",
        entity,
        name,
        help: nearest(to: name, in: entity.propertyNames).map { "did you mean \"\($0)\"?" }
      )
    }
  }

  private static func misfit(
    _ message: String,
    _ entity: EntityLayout,
    _ property: String,
    help: String? = nil
  ) -> ValueError {
    ValueError(.schema, message, entity: entity.name, property: property, help: help)
  }

  /// The id of an object of the entity.
  func objectID(_ key: Int64) -> ObjectID { ObjectID(entity: entity.rootName, primaryKey: key) }

  /// The key of an id.
  ///
  /// - Throws: `ValueError.stale` for an id of another family.
  func key(_ id: ObjectID) throws(ValueError) -> Int64 {
    guard id.entity.utf8.elementsEqual(entity.rootName.utf8) else {
      throw ValueError(
        .stale,
        "\(id.uri) is no object of \(entity.name): its objects have ids of \(entity.rootName).",
        entity: entity.name,
        object: id
      )
    }
    return id.primaryKey
  }

  /// Checks that an object of the family is one of the entity.
  ///
  /// - Throws: `ValueError.type` for one of another branch of the family.
  func check(_ found: EntityLayout, _ key: Int64) throws(ValueError) {
    guard !entity.family.contains(found.index) else { return }
    throw ValueError(
      .type,
      "\(found.name) \(key) is no \(entity.name).",
      entity: entity.name,
      object: objectID(key)
    )
  }
}

/// The bindings of a stack's Swift types; made when a type is used for the first time.
final class ValueBindings: Sendable {
  private struct Known {
    let layout: ModelLayout
    var bindings: [ObjectIdentifier: ValueBinding] = [:]
  }

  private let known = Mutex<Known?>(nil)

  /// The binding of a type.
  ///
  /// - Throws: `ValueError.schema` where the type does not describe its entity.
  func binding<Value: EntityValue>(
    _ type: Value.Type,
    _ layout: ModelLayout
  ) throws(ValueError) -> ValueBinding {
    let id = ObjectIdentifier(type)
    let found = known.withLock { $0?.layout === layout ? $0?.bindings[id] : nil }
    if let found { return found }
    let made = try ValueBinding(type, in: layout)
    known.withLock { known in
      // After a reset the layout is another one.
      if known?.layout !== layout { known = Known(layout: layout) }
      known?.bindings[id] = made
    }
    return made
  }

  /// The root names of the entities whose objects values of a type are made of: its own, those of
  /// nested values, and those that hold the links to its references.
  ///
  /// - Throws: as `binding(_:_:)`.
  func rootNames<Value: EntityValue>(
    of type: Value.Type,
    _ layout: ModelLayout
  ) throws(ValueError) -> Set<String> {
    var names: Set<String> = []
    var known: Set<ObjectIdentifier> = []
    var open: [any EntityValue.Type] = [type]
    while let next = open.popLast() {
      guard known.insert(ObjectIdentifier(next)).inserted else { continue }
      let binding = try binding(next, layout)
      names.insert(binding.entity.rootName)
      for case .link(let link) in binding.slots {
        if link.holdsValues {
          open.append(link.target)
        } else if link.column == nil, layout.inverse(of: link.layout) != nil {
          names.insert(layout.entities[link.layout.destination].rootName)
        }
      }
    }
    return names
  }
}

extension RootContext {
  var valueBindings: ValueBindings { attachments.value { ValueBindings() } }
}

extension ManagedObjectContext {
  var valueBindings: ValueBindings { root.valueBindings }

  func binding<Value: EntityValue>(_ type: Value.Type) throws(ValueError) -> ValueBinding {
    try valueBindings.binding(type, layout)
  }
}
