/// One row on its way out of a value, lent to `EntityValue.box(into:)`.
///
/// A value with relationships is boxed twice: its attributes first, so that its object can be found
/// by them, then its links. What the turn at hand is not for is passed over.
public struct BoxingRow: ~Copyable {
  private let table: SlotTable
  private let buffer: BoxingBuffer?
  private let links: LinkBoxing?

  /// Makes a row.
  ///
  /// - Parameters:
  ///   - table: The fields.
  ///   - buffer: Takes the attributes; nil: they are passed over.
  ///   - links: Takes the relationships; nil: they are passed over.
  init(_ table: SlotTable, attributes buffer: BoxingBuffer?, links: LinkBoxing?) {
    self.table = table
    self.buffer = buffer
    self.links = links
  }

  /// Boxes a property that an attribute holds.
  ///
  /// - Throws: `ValueError` where the value does not fit the attribute.
  public mutating func set<Root, Value: AttributeValue>(
    _ field: Field<Root, Value>,
    _ value: Value
  ) throws {
    try set(field.schemaSlot, value)
  }

  /// Boxes a property that an attribute holds; the value stays as it is.
  ///
  /// - Throws: `ValueError` where the value does not fit the attribute.
  public mutating func set<Root, Value: AttributeValue>(
    _ field: Field<Root, Value>,
    _ value: inout Value
  ) throws {
    try set(field.schemaSlot, value)
  }

  /// Boxes a property that is stored through a pair of functions.
  ///
  /// - Throws: `ValueError` where what is stored does not fit; what the function throws.
  public mutating func set<Root, Transform: ValueTransform>(
    _ field: Field<Root, Transformed<Transform>>,
    _ value: Transform.Value
  ) throws {
    try set(field.schemaSlot, Transformed<Transform>(value))
  }

  /// Boxes a property that is stored through a pair of functions; the value stays as it is.
  ///
  /// - Throws: `ValueError` where what is stored does not fit; what the function throws.
  public mutating func set<Root, Transform: ValueTransform>(
    _ field: Field<Root, Transformed<Transform>>,
    _ value: inout Transform.Value
  ) throws {
    try set(field.schemaSlot, Transformed<Transform>(value))
  }

  /// Boxes an optional property that is stored through a pair of functions.
  ///
  /// - Throws: `ValueError` where what is stored does not fit; what the function throws.
  public mutating func set<Root, Transform: ValueTransform>(
    _ field: Field<Root, Transformed<Transform>?>,
    _ value: Transform.Value?
  ) throws {
    try set(field.schemaSlot, value.map { Transformed<Transform>($0) })
  }

  /// Boxes an optional property that is stored through a pair of functions; the value stays as it is.
  ///
  /// - Throws: `ValueError` where what is stored does not fit; what the function throws.
  public mutating func set<Root, Transform: ValueTransform>(
    _ field: Field<Root, Transformed<Transform>?>,
    _ value: inout Transform.Value?
  ) throws {
    try set(field.schemaSlot, value.map { Transformed<Transform>($0) })
  }

  /// Boxes a property that a relationship holds; nested values do not get their ids.
  ///
  /// - Throws: `ValueError`, `ContextError` of nested values and of links.
  public mutating func set<Root, Value: RelationshipValue>(
    _ field: Field<Root, Value>,
    _ value: Value
  ) throws {
    var copy = value
    try link(field.schemaSlot, &copy, keepsIDs: false)
  }

  /// Boxes a property that a relationship holds; nested values get their ids.
  ///
  /// - Throws: `ValueError`, `ContextError` of nested values and of links.
  public mutating func set<Root, Value: RelationshipValue>(
    _ field: Field<Root, Value>,
    _ value: inout Value
  ) throws {
    try link(field.schemaSlot, &value, keepsIDs: true)
  }

  /// Boxes an attribute by its slot.
  func set(_ slot: Int, _ value: some AttributeValue) throws {
    guard let buffer else { return }
    guard table.names.indices.contains(slot) else { throw table.unknown(slot: slot) }
    do {
      var column = BoxingColumn(buffer, slot)
      try value.box(into: &column)
    } catch {
      throw table.explained(error, slot, nil)
    }
  }

  /// Boxes a relationship by its slot; `keepsIDs`: what is written into the value is not lost.
  func link(_ slot: Int, _ value: inout some RelationshipValue, keepsIDs: Bool) throws {
    guard let links else { return }
    guard table.names.indices.contains(slot) else { throw table.unknown(slot: slot) }
    do {
      try links.link(slot, &value, keepsIDs: keepsIDs)
    } catch {
      throw table.explained(error, slot, nil)
    }
  }
}

/// Takes the relationships of a value that is boxed.
class LinkBoxing {
  /// Takes one.
  func link<Value: RelationshipValue>(
    _ slot: Int,
    _ value: inout Value,
    keepsIDs: Bool
  ) throws {}
}

/// The targets of one relationship while a value is boxed; lent to a `RelationshipValue`.
public struct BoxingLinks {
  private let targets: LinkTargets

  init(_ targets: LinkTargets) { self.targets = targets }

  /// Boxes a nested value.
  mutating func add<Value: EntityValue>(_ value: inout Value) throws { try targets.add(&value) }

  /// Links what a reference leads to.
  mutating func add<Value: EntityValue>(_ reference: Ref<Value>) throws {
    try targets.add(reference)
  }
}

/// Collects the targets of one relationship.
class LinkTargets {
  /// Adds a nested value.
  func add<Value: EntityValue>(_ value: inout Value) throws {}
  /// Adds what a reference leads to.
  func add<Value: EntityValue>(_ reference: Ref<Value>) throws {}
}
