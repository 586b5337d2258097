/// Boxes values into the live objects of a context: finds or makes the object of each, sets what
/// differs, and links nested values.
///
///     objectID          the object, or an error where it is gone
///     unique key        the object that has it, stored or made a moment ago
///     position          a nested value without either takes over a former target of its owner
///     otherwise         a new object
final class ObjectBoxing {
  private let context: ManagedObjectContext
  private let bindings: ValueBindings
  private let reinserts: Bool
  private var buffers: [ObjectIdentifier: [BoxingBuffer]] = [:]
  private var depth = 0
  /// The objects that were boxed or referred to: nobody else holds those that did not change.
  private var boxed: [RowKey: ManagedObject] = [:]
  /// Former targets of `cascade` relationships that their owners do not hold any more.
  private var orphans: [ManagedObject] = []

  init(_ context: ManagedObjectContext, reinserts: Bool) {
    self.context = context
    self.reinserts = reinserts
    bindings = context.valueBindings
  }

  /// The object of a value, with the value's properties.
  ///
  /// - Parameters:
  ///   - value: The value; it and the values in it get their ids.
  ///   - object: The object, where it is known; nil: it is looked for.
  ///   - former: A former target of its owner that a value without identity takes over.
  /// - Returns: The object.
  /// - Throws: `ValueError`, `ContextError`, `StoreError`.
  @discardableResult
  func box<Value: EntityValue>(
    _ value: inout Value,
    onto object: ManagedObject? = nil,
    over former: ((ValueBinding) -> ManagedObject?)? = nil
  ) throws -> ManagedObject {
    let binding = try bindings.binding(Value.self, context.layout)
    depth += 1
    defer { depth -= 1 }
    guard depth <= ValueError.maximumDepth else {
      throw ValueError.tooDeep(binding.entity.name, instead: "Ref<\(Value.self)>")
    }
    let buffer = takeBuffer(binding)
    defer { buffers[ObjectIdentifier(binding), default: []].append(buffer) }
    let keys = KeyLinks(binding, buffer, self)
    var row = BoxingRow(binding.table, attributes: buffer, links: keys)
    try value.box(into: &row)

    let known = try object ?? find(value, binding, buffer)
    let object: ManagedObject
    keys.clear()
    if let known {
      object = known
      try update(known, binding, buffer)
    } else if let former = former?(binding) {
      object = former
      try update(former, binding, buffer)
    } else {
      object = try insert(binding, buffer)
    }
    boxed[object.place] = object
    value.storedID = object.objectID
    if keys.isNeeded {
      var row = BoxingRow(
        binding.table,
        attributes: nil,
        links: ObjectLinks(binding, object, context, self)
      )
      try value.box(into: &row)
    }
    return object
  }

  /// The object of a value that exists; nil where there is none.
  ///
  /// Writes nothing.
  func find<Value: EntityValue>(_ value: Value) throws -> ManagedObject? {
    let binding = try bindings.binding(Value.self, context.layout)
    let buffer = takeBuffer(binding)
    defer { buffers[ObjectIdentifier(binding), default: []].append(buffer) }
    var copy = value
    if value.storedID == nil {
      var row = BoxingRow(
        binding.table,
        attributes: buffer,
        links: KeyLinks(binding, buffer, self)
      )
      try copy.box(into: &row)
    }
    return try find(value, binding, buffer)
  }

  /// Ends a batch: deletes what was left behind, unless another value of the batch holds it.
  func finish() throws {
    for object in orphans where boxed[object.place] == nil { try context.delete(object) }
    orphans = []
  }

  /// A former target that its owner does not hold any more.
  func leave(_ object: ManagedObject) { orphans.append(object) }

  /// Looks the objects of many values up together.
  ///
  /// - Returns: Those with ids, which the caller holds until the values are boxed.
  func prepare<Value: EntityValue>(_ values: ArraySlice<Value>) throws -> [ManagedObject] {
    let binding = try bindings.binding(Value.self, context.layout)
    let ids = values.compactMap(\.storedID)
    for id in ids { _ = try binding.key(id) }
    let objects = try context.objects(with: ids)
    guard ids.count < values.count, let slots = binding.keySlots,
      let key = binding.entity.uniqueKeys.first,
      slots.allSatisfy({ if case .attribute = binding.slots[$0] { true } else { false } })
    else { return objects }
    let buffer = takeBuffer(binding)
    defer { buffers[ObjectIdentifier(binding), default: []].append(buffer) }
    var keys: [[StoredValue]] = []
    for value in values where value.storedID == nil {
      buffer.reset()
      var copy = value
      var row = BoxingRow(binding.table, attributes: buffer, links: nil)
      try copy.box(into: &row)
      keys.append(slots.map { buffer.stored($0) })
    }
    context.finder.forgetProbes()
    try context.finder.probe(binding.entity, key, keys)
    return objects
  }

  private func takeBuffer(_ binding: ValueBinding) -> BoxingBuffer {
    guard let known = buffers[ObjectIdentifier(binding)]?.popLast() else {
      return BoxingBuffer(binding.table.attributes)
    }
    known.reset()
    return known
  }

  // MARK: - Finding

  private func find<Value: EntityValue>(
    _ value: Value,
    _ binding: ValueBinding,
    _ buffer: BoxingBuffer
  ) throws -> ManagedObject? {
    if let id = value.storedID {
      let place = RowKey(table: binding.entity.tableIndex, key: try binding.key(id))
      let object = try context.register(place, binding.entity)
      if try context.isThere(object) {
        try binding.check(object.layout, id.primaryKey)
        return object
      }
      guard reinserts else {
        throw ValueError(
          .stale,
          "\(id.entity) \(id.primaryKey) is not in the store any more: it was deleted, or never"
            + " saved.",
          entity: binding.entity.name,
          object: id,
          help: "set objectID to nil, or save with `reinserting: true`, to make a new object of it"
        )
      }
    }
    guard let slots = binding.keySlots, let key = binding.entity.uniqueKeys.first else {
      return nil
    }
    return try context.finder.find(binding.entity, key, slots.map { buffer.stored($0) })
  }

  // MARK: - Writing

  private func insert(_ binding: ValueBinding, _ buffer: BoxingBuffer) throws -> ManagedObject {
    guard !binding.entity.entity.isAbstract else {
      throw ContextError(
        .invalid,
        "\(binding.entity.name) is abstract: there are objects of its sub-entities only."
      )
    }
    if let slots = binding.keySlots, let key = binding.entity.uniqueKeys.first,
      binding.entity.root != binding.entity.index,
      let other = try context.finder.holder(
        of: slots.map { buffer.stored($0) },
        of: key,
        binding.entity
      )
    {
      throw ContextError.keyOfRelative(other.layout.name, binding.entity.name, other.objectID)
    }
    return try context.records.insert(
      binding.entity,
      buffer.row,
      binding.rowColumns,
      arena: buffer.base
    )
  }

  private func update(
    _ object: ManagedObject,
    _ binding: ValueBinding,
    _ buffer: BoxingBuffer
  ) throws {
    try context.fire(object)
    for (slot, property) in binding.slots.enumerated() {
      guard case .attribute(_, let column) = property else { continue }
      let value = buffer.row[slot]
      guard value.kind != .absent else { continue }
      _ = try context.records.set(value, column, of: object, arena: buffer.bytes)
    }
  }

  /// The object that a reference leads to; nil where there is none.
  func find<Value: EntityValue>(_ reference: Ref<Value>) throws -> ManagedObject? {
    try context.object(of: reference, bindings.binding(Value.self, context.layout))
  }

  /// The object that a reference leads to.
  ///
  /// - Throws: `ValueError.stale` where there is none.
  func target<Value: EntityValue>(of reference: Ref<Value>) throws -> ManagedObject {
    let binding = try bindings.binding(Value.self, context.layout)
    guard let object = try context.object(of: reference, binding) else {
      throw ValueError.dangling(reference, binding)
    }
    boxed[object.place] = object
    return object
  }
}

extension ValueError {
  /// A reference to an object that is not there.
  static func dangling<Value: EntityValue>(
    _ reference: Ref<Value>,
    _ binding: ValueBinding
  ) -> ValueError {
    let entity = binding.entity
    switch reference.address {
    case .id(let id):
      return ValueError(
        .stale,
        "The reference to \(id.entity) \(id.primaryKey) leads nowhere: the object was deleted, or"
          + " never saved.",
        entity: entity.name,
        object: id,
        help: "save the target first"
      )
    case .key(let key):
      let parts = zip(entity.uniqueKeys.first ?? [], key).map { part, value in
        if case .attribute(let slot) = part.property, entity.attributes[slot].isSensitive {
          return "(a value)"
        }
        return value.summary
      }
      return ValueError(
        .stale,
        "The reference to \(entity.name) \(parts.joined(separator: ", ")) leads nowhere:"
          + " no object has that key.",
        entity: entity.name,
        help: "save the target first"
      )
    }
  }
}

extension ManagedObjectContext {
  /// Whether an object is stored or unsaved here or above; reads its row.
  func isThere(_ object: ManagedObject) throws -> Bool {
    guard !isDeleted(object) else { return false }
    do {
      try fire(object)
      return true
    } catch let error as ContextError where error.code == .missing || error.code == .deleted {
      return false
    }
  }

  /// The object that a reference leads to; nil where there is none.
  func object<Value: EntityValue>(
    of reference: Ref<Value>,
    _ binding: ValueBinding
  ) throws -> ManagedObject? {
    switch reference.address {
    case .id(let id):
      let place = RowKey(table: binding.entity.tableIndex, key: try binding.key(id))
      let object = try register(place, binding.entity)
      return try isThere(object) ? object : nil
    case .key(let values):
      guard let key = binding.entity.uniqueKeys.first, key.count == values.count else {
        throw ValueError(
          .schema,
          "\(binding.entity.name) is not found by a key of \(MessageWords.count(values.count, "value")).",
          entity: binding.entity.name,
          help: binding.entity.uniqueKeys.first.map {
            "its key is \($0.map(\.name).joined(separator: ", "))"
          } ?? "it has no unique key"
        )
      }
      return try finder.find(binding.entity, key, values)
    }
  }
}
