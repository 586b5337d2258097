import GRDBSQLite

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
  private let statement: OpaquePointer?
  private let values: UnsafePointer<RowValue>?
  private let arena: UnsafeRawPointer?

  /// The current row of a statement whose first column is `_pk`.
  init(
    _ binding: ValueBinding,
    _ source: UnboxingSource,
    _ places: UnsafeBufferPointer<Int32>,
    statement: OpaquePointer
  ) {
    table = binding.table
    self.binding = binding
    self.source = source
    key = sqlite3_column_int64(statement, 0)
    self.places = places
    self.statement = statement
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
    statement = nil
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
        return try Value(unboxing: column(field.slot))
      } catch {
        throw explained(error, field.slot)
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
        return try Transformed<Transform>(unboxing: column(field.slot)).value
      } catch {
        throw explained(error, field.slot)
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
        return try Transformed<Transform>?(unboxing: column(field.slot))?.value
      } catch {
        throw explained(error, field.slot)
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
        return try Value(unboxing: links(field.slot))
      } catch {
        throw explained(error, field.slot)
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
    if let statement { return FetchedRow.column(places[slot], of: statement) }
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
  private let source: UnboxingSource
  private let keys: [Int64]
  private let addressOf: (Int64) -> RefAddress

  init(
    _ source: UnboxingSource,
    _ keys: [Int64],
    _ addressOf: @escaping (Int64) -> RefAddress
  ) {
    self.source = source
    self.keys = keys
    self.addressOf = addressOf
  }

  /// How the targets are referred to, in order.
  var addresses: [RefAddress] { keys.map(addressOf) }

  /// The nested values of the targets that are there, in order.
  func values<Value: EntityValue>() throws -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(keys.count)
    for key in keys {
      if let value = try source.nested(Value.self, key) { values.append(value) }
    }
    return values
  }
}

/// Where nested values and links of rows come from: the store, a context, a detached object.
class UnboxingSource {
  /// The values that are being unboxed, outermost first.
  private var open: [(type: ObjectIdentifier, key: Int64)] = []

  /// Deeper than this and the stack of a thread may end.
  private static let maximumDepth = 256

  /// The targets of a relationship.
  func links(_ slot: Int, of row: borrowing UnboxingRow) throws -> UnboxingLinks {
    UnboxingLinks(self, []) { .id(ObjectID(entity: "", primaryKey: $0)) }
  }

  /// The value of an object; nil where it is gone.
  func value<Value: EntityValue>(_ type: Value.Type, _ key: Int64) throws -> Value? { nil }

  /// The value of an object inside of others.
  final func nested<Value: EntityValue>(_ type: Value.Type, _ key: Int64) throws -> Value? {
    let id = ObjectIdentifier(type)
    guard !open.contains(where: { $0.type == id && $0.key == key }) else {
      throw ValueError(
        .cycle,
        "\(Value.schema.name) \(key) would hold itself: it is reached again through its own"
          + " relationships.",
        entity: Value.schema.name,
        help: "declare one of the properties on the way as Ref<\(Value.self)>"
      )
    }
    guard open.count < Self.maximumDepth else {
      throw ValueError(
        .cycle,
        "Values are nested more than \(Self.maximumDepth) deep.",
        entity: Value.schema.name,
        help: "declare one of the properties on the way as Ref<\(Value.self)>"
      )
    }
    open.append((id, key))
    defer { open.removeLast() }
    return try value(type, key)
  }
}
