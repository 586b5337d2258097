/// Plain `Codable` types as objects of a named entity: attributes by the names of the coding keys,
/// nested types and arrays as relationships.
///
///     struct Person: Codable {
///       var ticketNumber: String
///       var firstName: String?
///     }
///     let rohan = Person(ticketNumber: "T-1001", firstName: "Rohan")
///     try context.save(rohan, as: "Person")
///     let people = try context.query(Person.self, from: "Person")
///
/// A property `objectID: ObjectID?` gets the id when it is read, and finds the object when it is saved;
/// without one the unique key does. It goes through objects: `EntityValue` is several times faster.
extension ManagedObjectContext {
  /// The objects of an entity that satisfy a condition, decoded.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - entity: The entity's name.
  ///   - filter: The condition; nil: all objects.
  ///   - sort: The order.
  ///   - limit: How many at most.
  ///   - offset: How many to leave out at the beginning.
  /// - Returns: The values.
  /// - Throws: `ValueError`, naming entity, attribute, expected and found; `DecodingError` of types
  ///   that decode by hand; `StoreError`, `ContextError`.
  public func query<Value: Decodable>(
    _ type: Value.Type,
    from entity: String,
    _ filter: Filter? = nil,
    sort: [SortKey] = [],
    limit: Int? = nil,
    offset: Int = 0
  ) throws -> [Value] {
    let request = FetchRequest(
      entity,
      filter: filter,
      sortKeys: sort,
      limit: limit,
      offset: offset
    )
    return try fetch(request).map { try ObjectDecoder.value(type, of: $0) }
  }

  /// Saves values as objects of an entity, in a transaction of their own: all of them, or none.
  ///
  /// - Returns: The ids of their objects.
  /// - Throws: `ValueError`, `EncodingError`; as `save(_:reinserting:)` of an `EntityValue`.
  @discardableResult
  public func saveAll(_ values: [some Encodable], as entity: String) throws -> [ObjectID] {
    let entity = try requireEntity(entity)
    return try inChild { child in
      let writer = EncodedObjectWriter(child)
      let ids = try values.map { value in
        let encoder = TargetEncoder(entity, layout)
        try value.encode(to: encoder)
        guard case .object(let node)? = encoder.targets.first, encoder.targets.count == 1 else {
          throw ValueError(
            .schema,
            "\(Swift.type(of: value)) does not encode itself as one object.",
            entity: entity.name
          )
        }
        return try writer.write(node, over: nil).objectID
      }
      try writer.finish()
      return ids
    }
  }

  /// Saves a value as an object of an entity, in a transaction of its own.
  ///
  /// - Returns: The id of its object.
  /// - Throws: as `saveAll(_:as:)`.
  @discardableResult
  public func save(_ value: some Encodable, as entity: String) throws -> ObjectID {
    try saveAll([value], as: entity)[0]
  }
}

/// Finds or makes the objects of encoded values, by the same rules as `ObjectBoxing`.
private final class EncodedObjectWriter {
  private let context: ManagedObjectContext
  private var written: [RowKey: ManagedObject] = [:]
  private var orphans: [ManagedObject] = []

  init(_ context: ManagedObjectContext) { self.context = context }

  func write(_ node: EncodedObject, over former: ManagedObject?) throws -> ManagedObject {
    let object = try find(node) ?? former ?? context.insert(node.entity.name)
    written[object.place] = object
    try context.fire(object)
    for (slot, value) in node.values.sorted(by: { $0.key < $1.key }) {
      let column = node.entity.attributeColumns[slot]
      if try object.value(column) != value { try context.set(value, column: column, of: object) }
    }
    for (slot, targets) in node.targets.sorted(by: { $0.key < $1.key }) {
      let link = node.entity.relationships[slot]
      try self.link(link, targets, object, holdsValues: !node.references.contains(slot))
    }
    return object
  }

  /// Deletes what `cascade` relationships do not hold any more.
  func finish() throws {
    for object in orphans where written[object.place] == nil { try context.delete(object) }
  }

  private func find(_ node: EncodedObject) throws -> ManagedObject? {
    if let id = node.id {
      return try object(id, node.entity, help: "leave objectID out to make a new object of it")
    }
    guard let key = node.entity.uniqueKeys.first else { return nil }
    let values = try key.map { part -> StoredValue in
      switch part.property {
      case .attribute(let slot): node.values[slot] ?? .null
      case .relationship(let slot): try self.key(of: node.targets[slot]?.first)
      }
    }
    return try context.finder.find(node.entity, key, values)
  }

  /// What the column of a to-one has; null where its object is not there yet.
  private func key(of target: EncodedObject.Target?) throws -> StoredValue {
    switch target {
    case .id(let id): .integer(id.primaryKey)
    case .object(let node): try find(node).map { .integer($0.place.key) } ?? .null
    case nil: .null
    }
  }

  private func object(
    _ id: ObjectID,
    _ entity: EntityLayout,
    help: String
  ) throws -> ManagedObject {
    if id.entity.utf8.elementsEqual(entity.rootName.utf8) {
      let place = RowKey(table: entity.tableIndex, key: id.primaryKey)
      let object = try context.register(place, entity)
      if try context.isThere(object) { return object }
    }
    throw ValueError(
      .stale,
      "\(id.entity) \(id.primaryKey) is no \(entity.name) of the store: it was deleted, or never"
        + " saved.",
      entity: entity.name,
      object: id,
      help: help
    )
  }

  private func link(
    _ link: RelationshipLayout,
    _ targets: [EncodedObject.Target],
    _ owner: ManagedObject,
    holdsValues: Bool
  ) throws {
    let before = try context.links.targets(of: link, owner)
    // Objects that cannot be found take over former targets that no other one is.
    let taken = Set(targets.compactMap { $0.id?.primaryKey })
    var free = before.filter { !taken.contains($0.place.key) }[...]
    let destination = context.layout.entities[link.destination]
    let objects = try targets.map { target in
      switch target {
      case .id(let id):
        let object = try object(id, destination, help: "take the id out of the value")
        written[object.place] = object
        return object
      case .object(let node):
        let canBeFound = node.id != nil || !node.entity.uniqueKeys.isEmpty
        return try write(node, over: canBeFound ? nil : free.popFirst())
      }
    }
    try context.links.assign(objects, to: link, owner)
    guard holdsValues, link.relationship.deleteRule == .cascade else { return }
    let kept = Set(objects.map(\.place.key))
    orphans += before.filter { !kept.contains($0.place.key) }
  }
}
