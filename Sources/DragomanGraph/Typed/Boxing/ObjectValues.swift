/// Unboxes values from the live objects of a context, with what is not saved.
final class ObjectValues: UnboxingSource {
  private let context: ManagedObjectContext
  private let bindings: ValueBindings
  private var columns: [ObjectIdentifier: SlotColumns] = [:]
  /// The objects whose values are being unboxed, which keeps them registered.
  private var objects: [ManagedObject] = []

  init(_ context: ManagedObjectContext) {
    self.context = context
    bindings = context.valueBindings
  }

  /// The value of an object.
  ///
  /// - Throws: `ValueError`, `ContextError` where the object was deleted.
  func value<Value: EntityValue>(_ type: Value.Type, of object: ManagedObject) throws -> Value {
    try context.fire(object)
    if let value = try nested(type, object.place.key) { return value }
    throw ContextError(
      .deleted,
      "\(object.layout.name) \(object.place.key) was deleted and has no value.",
      object: object.objectID
    )
  }

  override func value<Value: EntityValue>(_ type: Value.Type, _ key: Int64) throws -> Value? {
    let binding = try bindings.binding(type, context.layout)
    let place = RowKey(table: binding.entity.tableIndex, key: key)
    let object = try context.register(place, binding.entity)
    guard !object.isDeleted else { return nil }
    do {
      try context.fire(object)
    } catch let error as ContextError where error.code == .missing || error.code == .deleted {
      return nil
    }
    try binding.check(object.layout, key)
    objects.append(object)
    defer { objects.removeLast() }
    // A row does not hold its binding.
    return try withExtendedLifetime(binding) {
      try object.withCurrentRow { values, arena in
        try Value(
          from: UnboxingRow(
            binding.table,
            binding,
            self,
            key: key,
            places(binding),
            values: values,
            arena: arena
          )
        )
      }
    }
  }

  /// The column of each slot among all columns of the table.
  private func places(_ binding: ValueBinding) -> UnsafeBufferPointer<Int32> {
    let id = ObjectIdentifier(binding)
    if let known = columns[id] { return known.tablePlaces }
    let made = SlotColumns(binding)
    columns[id] = made
    return made.tablePlaces
  }

  override func links(_ slot: Int, of row: borrowing UnboxingRow) throws -> UnboxingLinks {
    guard let binding = row.binding, case .link(let link) = binding.slots[slot],
      let object = objects.last
    else { throw row.table.unknown(slot: slot) }
    let targets = try context.links.targets(of: link.layout, object)
    let root = context.layout.entities[link.layout.destination].rootName
    return UnboxingLinks(self, root, targets.map(\.place.key))
  }
}

extension ManagedObject {
  /// Lends the values of all columns of the object's table, with what is not saved.
  func withCurrentRow<T>(
    _ body: (UnsafePointer<RowValue>, UnsafeRawPointer) throws -> T
  ) throws -> T {
    try context.fire(self)
    if let row = plainRow {
      return try row.buffer.withRow(row.row, body)
    }
    let count = context.layout.tables[place.table].columns.count
    let buffer = RowBuffer(columnCount: count, capacity: 1)
    buffer.append(try (0..<count).map { try value($0) })
    return try buffer.withRow(0, body)
  }
}
