/// The live object of a Swift type: the same property names, over one object of a context.
///
///     let person = try context.live(Person.self, \.ticketNumber == "T-1001")
///     let name = try person?.lastName
///     person?.lastName = "Moreau"  // what does not fit is told by the save
///     try person?.set(\.lastName, to: "Moreau")  // at once
///     try person?.update { $0.visits += 1 }
///
/// Nothing is looked up by name: the key path leads to a slot, the slot to a column. What cannot be read
/// is thrown at once. Like the object it belongs to its context and cannot leave it; `value` can.
@dynamicMemberLookup
public struct Managed<Value: EntityValue> {
  /// The object.
  public let object: ManagedObject
  private let binding: ValueBinding

  /// Sees an object as one of the type.
  ///
  /// - Throws: `ValueError.schema` where the type does not describe its entity, `.type` for an object
  ///   of another entity.
  public init(_ object: ManagedObject) throws {
    try self.init(object, object.context.binding(Value.self))
  }

  init(_ object: ManagedObject, _ binding: ValueBinding) throws {
    if !binding.entity.family.contains(object.layout.index) {
      // A fault may turn out to be of a sub-entity.
      try object.context.fire(object)
      try binding.check(object.layout, object.place.key)
    }
    self.object = object
    self.binding = binding
  }

  /// The object's permanent id; it is safe to pass on.
  public var objectID: ObjectID { object.objectID }

  /// The object as a value, with what is not saved and with its nested values.
  ///
  /// - Throws: `ValueError` where something does not fit; `ContextError` where the row is gone.
  public var value: Value {
    get throws { try ObjectValues(object.context).value(Value.self, of: object) }
  }

  /// Changes the object by changing its value: what differs becomes an unsaved change.
  ///
  /// - Throws: What `change` throws, and then nothing is changed; `ValueError`, `ContextError`.
  public func update(_ change: (inout Value) throws -> Void) throws {
    var value = try value
    try change(&value)
    let context = object.context
    let isOutermost = context.finder.beginImport()
    defer { if isOutermost { context.finder.endImport() } }
    context.saysWhatIsAbove = false
    defer { context.saysWhatIsAbove = true }
    let boxing = ObjectBoxing(context, reinserts: false)
    try boxing.box(&value, onto: object)
    try boxing.finish()
  }

  // MARK: - Attributes

  /// A property that an attribute holds.
  ///
  /// - Throws: `ValueError` where it does not fit; `ContextError` where the row is gone.
  public subscript<Property: AttributeValue>(
    dynamicMember path: KeyPath<Value.Fields, Field<Value, Property>>
  ) -> Property {
    get throws { try read(Value.fields[keyPath: path].schemaSlot) }
  }

  /// A property that is stored through a pair of functions.
  ///
  /// - Throws: `ValueError` where it does not fit; what the function throws.
  public subscript<Transform: ValueTransform>(
    dynamicMember path: KeyPath<Value.Fields, Field<Value, Transformed<Transform>>>
  ) -> Transform.Value {
    get throws {
      let transformed: Transformed<Transform> = try read(Value.fields[keyPath: path].schemaSlot)
      return transformed.value
    }
  }

  /// An optional property that is stored through a pair of functions.
  ///
  /// - Throws: `ValueError` where it does not fit; what the function throws.
  public subscript<Transform: ValueTransform>(
    dynamicMember path: KeyPath<Value.Fields, Field<Value, Transformed<Transform>?>>
  ) -> Transform.Value? {
    get throws {
      let transformed: Transformed<Transform>? = try read(Value.fields[keyPath: path].schemaSlot)
      return transformed?.value
    }
  }

  /// Sets a property that an attribute holds.
  ///
  /// - Throws: `ValueError` where it does not fit; `ContextError` where the object is gone.
  public func set<Property: AttributeValue>(
    _ path: KeyPath<Value.Fields, Field<Value, Property>>,
    to property: Property
  ) throws {
    try write(Value.fields[keyPath: path].schemaSlot, property)
  }

  /// Sets a property that is stored through a pair of functions.
  ///
  /// - Throws: `ValueError` where it does not fit; what the function throws.
  public func set<Transform: ValueTransform>(
    _ path: KeyPath<Value.Fields, Field<Value, Transformed<Transform>>>,
    to property: Transform.Value
  ) throws {
    try write(Value.fields[keyPath: path].schemaSlot, Transformed<Transform>(property))
  }

  /// Sets an optional property that is stored through a pair of functions.
  ///
  /// - Throws: `ValueError` where it does not fit; what the function throws.
  public func set<Transform: ValueTransform>(
    _ path: KeyPath<Value.Fields, Field<Value, Transformed<Transform>?>>,
    to property: Transform.Value?
  ) throws {
    try write(
      Value.fields[keyPath: path].schemaSlot,
      property.map { Transformed<Transform>($0) }
    )
  }

  /// What a slot is; a field that the schema does not list has none.
  private func slot(_ slot: Int) throws -> ValueBinding.Slot {
    guard binding.slots.indices.contains(slot) else { throw binding.table.unknown(slot: slot) }
    return binding.slots[slot]
  }

  private func column(_ slot: Int) throws -> (Attribute, Int) {
    guard case .attribute(let attribute, let column) = try self.slot(slot) else {
      throw binding.table.unknown(slot: slot)
    }
    return (attribute, column)
  }

  private func read<Property: AttributeValue>(_ slot: Int) throws -> Property {
    let (_, column) = try column(slot)
    do {
      if let row = object.plainRow {
        return try row.buffer.withArena { arena in
          try Property(unboxing: row.buffer[row.row, column].column(in: arena))
        }
      }
      return try object.value(column).withColumn { try Property(unboxing: $0) }
    } catch {
      throw binding.table.explained(error, slot, object.objectID)
    }
  }

  private func write(_ slot: Int, _ property: some AttributeValue) throws {
    let (attribute, column) = try column(slot)
    do {
      try object.context.set(
        property.stored(as: attribute),
        column: column,
        of: object
      )
    } catch {
      throw binding.table.explained(error, slot, object.objectID)
    }
  }

  // MARK: - Relationships

  /// The live objects of a relationship: one, an optional or an array, as the property is.
  ///
  /// - Throws: `ValueError` where a required target is missing; `ContextError`, `StoreError`.
  public subscript<Property: RelationshipValue>(
    dynamicMember path: KeyPath<Value.Fields, Field<Value, Property>>
  ) -> Property.Live {
    get throws {
      let slot = Value.fields[keyPath: path].schemaSlot
      do {
        return try Property.live(object.context.links.targets(of: link(slot), object))
      } catch {
        throw binding.table.explained(error, slot, object.objectID)
      }
    }
  }

  /// Makes a relationship lead to other live objects of the same context.
  ///
  /// - Throws: `ContextError`, `StoreError`.
  public func set<Property: RelationshipValue>(
    _ path: KeyPath<Value.Fields, Field<Value, Property>>,
    to targets: Property.Live
  ) throws {
    let link = try link(Value.fields[keyPath: path].schemaSlot)
    try object.context.links.assign(Property.objects(targets), to: link, object)
  }

  private func link(_ slot: Int) throws -> RelationshipLayout {
    guard case .link(let link) = try self.slot(slot) else {
      throw binding.table.unknown(slot: slot)
    }
    return link.layout
  }
}

extension ManagedObjectContext {
  /// Makes an object of a type's entity, with the defaults of its attributes.
  ///
  /// - Throws: as `insert(_:)` by name; `ValueError.schema`.
  public func insert<Value: EntityValue>(_ type: Value.Type) throws -> Managed<Value> {
    let binding = try binding(type)
    return try Managed(insert(binding.entity.name), binding)
  }

  /// The live objects that satisfy a condition.
  ///
  /// - Throws: `ValueError`, `StoreError`, `ContextError`, as `fetch(_:)`.
  public func liveObjects<Value: EntityValue>(
    _ type: Value.Type = Value.self,
    _ filter: ValueFilter<Value>? = nil,
    sort: [ValueSort<Value>] = [],
    limit: Int? = nil,
    offset: Int = 0
  ) throws -> [Managed<Value>] {
    let binding = try binding(type)
    return try fetch(request(filter, sort, limit, offset)).map { try Managed($0, binding) }
  }

  /// The only live object that satisfies a condition; nil where there is none.
  ///
  /// - Throws: `ContextError.ambiguous` where there are several; as `liveObjects`.
  public func live<Value: EntityValue>(
    _ type: Value.Type = Value.self,
    _ filter: ValueFilter<Value>
  ) throws -> Managed<Value>? {
    let binding = try binding(type)
    return try fetchOne(request(filter, [], nil, 0)).map { try Managed($0, binding) }
  }

  /// The live object of an id; nil where there is none.
  ///
  /// - Throws: `ValueError`, `StoreError`, `ContextError`.
  public func live<Value: EntityValue>(
    _ type: Value.Type = Value.self,
    with id: ObjectID
  ) throws -> Managed<Value>? {
    let binding = try binding(type)
    _ = try binding.key(id)
    return try existingObject(with: id).map { try Managed($0, binding) }
  }
}
