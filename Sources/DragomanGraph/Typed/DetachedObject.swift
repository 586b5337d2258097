/// A value as an object without a context: what would be stored, by name.
///
///     let object = try person.detached()
///     print(object.attributes["salary"] ?? .null)  // "118000.50"
///     let same = try Person(object)
///
/// It is a value itself: it can be compared, passed on, and unboxed into any type that describes the
/// entity.
public struct DetachedObject: Sendable, Hashable {
  /// A target of a relationship.
  public enum Target: Sendable, Hashable {
    /// A nested value.
    case object(DetachedObject)
    /// A reference.
    case reference(RefAddress)
  }

  /// The name of the entity.
  public var entity: String
  /// The id of the value's object, where it is known.
  public var objectID: ObjectID?
  /// The attributes in their stored form; null is there as `.null`.
  public var attributes: [String: StoredValue]
  /// The targets of the relationships, in order.
  public var targets: [String: [Target]]

  /// Makes an object.
  public init(
    entity: String,
    objectID: ObjectID? = nil,
    attributes: [String: StoredValue] = [:],
    targets: [String: [Target]] = [:]
  ) {
    self.entity = entity
    self.objectID = objectID
    self.attributes = attributes
    self.targets = targets
  }
}

extension EntityValue {
  /// The value as an object without a context.
  ///
  /// - Throws: `ValueError` where a property does not fit its attribute.
  public func detached() throws -> DetachedObject {
    let table = try SlotTable(Self.self)
    let buffer = BoxingBuffer(table.attributes)
    let links = DetachedLinks(table)
    var row = BoxingRow(table, attributes: buffer, links: links)
    var copy = self
    try copy.box(into: &row)
    var object = DetachedObject(entity: table.entity, objectID: storedID, targets: links.targets)
    for (slot, name) in table.names.enumerated() where buffer.row[slot].kind != .absent {
      object.attributes[name] = buffer.stored(slot)
    }
    return object
  }

  /// Unboxes an object without a context; what it does not have is null.
  ///
  /// - Throws: `ValueError` where something does not fit, or the object is of another entity.
  public init(_ object: DetachedObject) throws {
    let source = DetachedValues(object)
    guard let value = try source.nested(Self.self, 0) else {
      throw ValueError(.null, "There is no object.", entity: object.entity)
    }
    self = value
    storedID = object.objectID
  }
}

/// Collects the targets of a value that is boxed without a context.
private final class DetachedLinks: LinkBoxing {
  private let table: SlotTable
  private(set) var targets: [String: [DetachedObject.Target]] = [:]

  init(_ table: SlotTable) { self.table = table }

  override func link<Value: RelationshipValue>(
    _ slot: Int,
    _ value: inout Value,
    keepsIDs: Bool
  ) throws {
    let found = DetachedTargets()
    var links = BoxingLinks(found)
    try value.box(into: &links)
    targets[table.names[slot]] = found.targets
  }
}

private final class DetachedTargets: LinkTargets {
  private(set) var targets: [DetachedObject.Target] = []

  override func add<Value: EntityValue>(_ value: inout Value) throws {
    targets.append(.object(try value.detached()))
  }

  override func add<Value: EntityValue>(_ reference: Ref<Value>) throws {
    targets.append(.reference(reference.address))
  }
}

/// Unboxes values from detached objects; the key of an object is its number.
private final class DetachedValues: UnboxingSource {
  private var targets: [DetachedObject.Target]

  init(_ object: DetachedObject) { targets = [.object(object)] }

  override func value<Value: EntityValue>(_ type: Value.Type, _ key: Int64) throws -> Value? {
    let table = try SlotTable(type)
    guard case .object(let object) = targets[Int(key)] else {
      throw ValueError(
        .type,
        "A reference stands where \(type) is a nested value.",
        entity: table.entity
      )
    }
    guard object.entity.utf8.elementsEqual(table.entity.utf8) else {
      throw ValueError(
        .type,
        "The object is one of \(object.entity), and \(type) describes \(table.entity).",
        entity: table.entity
      )
    }
    let buffer = RowBuffer(columnCount: table.names.count, capacity: 1)
    buffer.append(table.names.map { object.attributes[$0] ?? .null })
    let places = UnsafeMutableBufferPointer<Int32>.allocate(capacity: table.names.count)
    defer { places.deallocate() }
    for slot in places.indices { places[slot] = Int32(slot) }
    // A row does not hold its table.
    var value = try withExtendedLifetime(table) {
      try buffer.withRow(0) { values, arena in
        try Value(
          from: UnboxingRow(
            table,
            nil,
            self,
            key: key,
            UnsafeBufferPointer(places),
            values: values,
            arena: arena
          )
        )
      }
    }
    value.storedID = object.objectID
    return value
  }

  override func links(_ slot: Int, of row: borrowing UnboxingRow) throws -> UnboxingLinks {
    guard case .object(let object) = targets[Int(row.key)] else {
      return try super.links(slot, of: row)
    }
    let start = Int64(targets.count)
    targets += object.targets[row.table.names[slot]] ?? []
    return UnboxingLinks(self, "", Array(start..<Int64(targets.count)))
  }

  override func address(of key: Int64, _ entity: String) -> RefAddress {
    switch targets[Int(key)] {
    case .reference(let address): address
    case .object(let object): object.address
    }
  }
}

extension DetachedObject {
  /// How a reference to the object finds it.
  fileprivate var address: RefAddress { objectID.map(RefAddress.id) ?? .key([]) }
}
