/// One row on its way into a value, lent to `EntityValue.init(from:)`: it reads straight from SQLite,
/// from a live object or from a detached one, and cannot be kept.
public struct UnboxingRow: ~Copyable {
  // Whoever lends the row holds all three: a row costs no counting of references.
  unowned(unsafe) let table: SlotTable
  /// What the slots are in the model; nil for a detached object.
  unowned(unsafe) let binding: ValueBinding?
  unowned(unsafe) let source: UnboxingSource
  /// The `_pk`, or the number of a detached object.
  let key: Int64
  /// Where each slot is: a column of the statement, or an index into the values; negative: nowhere.
  private let places: UnsafeBufferPointer<Int32>
  private let row: StoredRow?
  private let values: UnsafePointer<RowValue>?
  private let arena: UnsafeRawPointer?

  /// A row of the store whose first column is `_pk`.
  init(
    _ binding: ValueBinding,
    _ source: UnboxingSource,
    _ places: UnsafeBufferPointer<Int32>,
    row: StoredRow
  ) {
    table = binding.table
    self.binding = binding
    self.source = source
    key = row.integer(0)
    self.places = places
    self.row = row
    values = nil
    arena = nil
  }

  /// Values in memory, in an arena.
  init(
    _ table: SlotTable,
    _ binding: ValueBinding?,
    _ source: UnboxingSource,
    key: Int64,
    _ places: UnsafeBufferPointer<Int32>,
    values: UnsafePointer<RowValue>,
    arena: UnsafeRawPointer
  ) {
    self.table = table
    self.binding = binding
    self.source = source
    self.key = key
    self.places = places
    row = nil
    self.values = values
    self.arena = arena
  }

  /// The id of the object; nil where the row is that of a detached object.
  public var objectID: ObjectID? { binding?.objectID(key) }

  /// The value of a property that an attribute holds.
  ///
  /// - Throws: `ValueError` where it does not fit.
  @inlinable
  public subscript<Root, Value: AttributeValue>(_ field: Field<Root, Value>) -> Value {
    get throws {
      do {
        return try Value(unboxing: column(field.schemaSlot))
      } catch {
        throw explained(error, field.schemaSlot)
      }
    }
  }

  /// The value of a property that is stored through a pair of functions.
  ///
  /// - Throws: `ValueError` where what is stored does not fit; what the function throws.
  public subscript<Root, Transform: ValueTransform>(
    _ field: Field<Root, Transformed<Transform>>
  ) -> Transform.Value {
    get throws {
      do {
        return try Transformed<Transform>(unboxing: column(field.schemaSlot)).value
      } catch {
        throw explained(error, field.schemaSlot)
      }
    }
  }

  /// The value of an optional property that is stored through a pair of functions.
  ///
  /// - Throws: `ValueError` where what is stored does not fit; what the function throws.
  public subscript<Root, Transform: ValueTransform>(
    _ field: Field<Root, Transformed<Transform>?>
  ) -> Transform.Value? {
    get throws {
      do {
        return try Transformed<Transform>?(unboxing: column(field.schemaSlot))?.value
      } catch {
        throw explained(error, field.schemaSlot)
      }
    }
  }

  /// The value of a property that a relationship holds: nested values, or references.
  ///
  /// - Throws: `ValueError` where a required target is missing, where a value would hold itself, and
  ///   what nested values throw.
  public subscript<Root, Value: RelationshipValue>(_ field: Field<Root, Value>) -> Value {
    get throws {
      do {
        return try Value(unboxing: links(field.schemaSlot))
      } catch {
        throw explained(error, field.schemaSlot)
      }
    }
  }

  /// The value of an attribute by its name, for operators.
  ///
  /// - Throws: `ValueError.schema` for a name that is no field; as the subscript.
  public func value<Value: AttributeValue>(named name: String) throws -> Value {
    let slot = try slot(named: name)
    do {
      return try Value(unboxing: column(slot))
    } catch {
      throw explained(error, slot)
    }
  }

  /// The value of a relationship by its name, for operators.
  ///
  /// - Throws: `ValueError.schema` for a name that is no field; as the subscript.
  public func value<Value: RelationshipValue>(named name: String) throws -> Value {
    let slot = try slot(named: name)
    do {
      return try Value(unboxing: links(slot))
    } catch {
      throw explained(error, slot)
    }
  }

  private func slot(named name: String) throws -> Int {
    if let slot = table.names.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) {
      return slot
    }
    throw ValueError(
      .schema,
      "\(table.entity) has no field \"\(name)\".",
      entity: table.entity,
      help: nearest(to: name, in: table.names).map { "did you mean \"\($0)\"?" }
    )
  }

  @usableFromInline
  func column(_ slot: Int) throws -> ColumnValue {
    guard places.indices.contains(slot), places[slot] >= 0 else { throw table.unknown(slot: slot) }
    if let row { return row[places[slot]] }
    guard let values, let arena else { return .null }
    return values[Int(places[slot])].column(in: arena)
  }

  /// The integer in the column of a slot that has one.
  func integer(_ slot: Int) throws -> Int64? {
    if case .integer(let integer) = try column(slot) { integer } else { nil }
  }

  private func links(_ slot: Int) throws -> UnboxingLinks {
    guard table.names.indices.contains(slot) else { throw table.unknown(slot: slot) }
    return try source.links(slot, of: self)
  }

  @usableFromInline
  func explained(_ error: any Error, _ slot: Int) -> any Error {
    table.explained(error, slot, objectID)
  }
}

/// The targets of one relationship of a row that is being unboxed.
public struct UnboxingLinks: ~Copyable {
  /// The keys of the targets; those of a column are no list.
  private enum Keys {
    case one(Int64)
    case list([Int64])
  }

  private let source: UnboxingSource
  private let entity: String
  private let keys: Keys

  /// The targets of a to-many, or of a to-one that has no column.
  ///
  /// - Parameters:
  ///   - source: Where they come from.
  ///   - entity: The name that their ids have.
  ///   - keys: Their keys.
  init(_ source: UnboxingSource, _ entity: String, _ keys: [Int64]) {
    self.source = source
    self.entity = entity
    self.keys = .list(keys)
  }

  /// The target of a to-one that has a column.
  init(_ source: UnboxingSource, _ entity: String, _ key: Int64?) {
    self.source = source
    self.entity = entity
    keys = key.map { .one($0) } ?? .list([])
  }

  /// How the first target is referred to; nil where there is none.
  var firstAddress: RefAddress? {
    switch keys {
    case .one(let key): source.address(of: key, entity)
    case .list(let keys): keys.first.map { source.address(of: $0, entity) }
    }
  }

  /// How the targets are referred to, in order.
  var addresses: [RefAddress] {
    switch keys {
    case .one(let key): [source.address(of: key, entity)]
    case .list(let keys): keys.map { source.address(of: $0, entity) }
    }
  }

  /// The nested value of the first target that is there.
  func firstValue<Value: EntityValue>() throws -> Value? {
    switch keys {
    case .one(let key): return try source.nested(Value.self, key)
    case .list(let keys):
      for key in keys {
        if let value = try source.nested(Value.self, key) { return value }
      }
      return nil
    }
  }

  /// The nested values of the targets that are there, in order.
  func values<Value: EntityValue>() throws -> [Value] {
    switch keys {
    case .one(let key): try source.nested(Value.self, key).map { [$0] } ?? []
    case .list(let keys): try keys.compactMap { try source.nested(Value.self, $0) }
    }
  }
}

/// Where nested values and links of rows come from: the store, a context, a detached object.
class UnboxingSource {
  private var nesting = Nesting<Int64>()

  /// The targets of a relationship.
  func links(_ slot: Int, of row: borrowing UnboxingRow) throws -> UnboxingLinks {
    UnboxingLinks(self, "", [])
  }

  /// How the target of that key is referred to.
  func address(of key: Int64, _ entity: String) -> RefAddress {
    .id(ObjectID(entity: entity, primaryKey: key))
  }

  /// The value of an object; nil where it is gone.
  func value<Value: EntityValue>(_ type: Value.Type, _ key: Int64) throws -> Value? { nil }

  /// The value of an object inside of others.
  final func nested<Value: EntityValue>(_ type: Value.Type, _ key: Int64) throws -> Value? {
    try nesting.enter(
      type,
      key,
      entity: Value.schema.name,
      number: key,
      instead: "Ref<\(Value.self)>"
    )
    defer { nesting.leave() }
    return try value(type, key)
  }
}
