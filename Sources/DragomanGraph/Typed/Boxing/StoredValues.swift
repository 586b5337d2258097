/// Unboxes values straight from the rows of the store, and makes no objects.
///
/// A type without nested values is unboxed while SQLite steps through the rows. For others the rows
/// are gathered first, level by level, with one statement for 500 rows or owners, and then unboxed
/// from memory: the number of statements grows with the depth and not with the number of values.
final class StoredValues: UnboxingSource {
  private let context: ManagedObjectContext
  private let bindings: ValueBindings
  private let reader: any StoreReader
  private var shelves: [ObjectIdentifier: Shelf] = [:]
  /// Rows that are still to be read, by type.
  private var wanted: [(type: any EntityValue.Type, keys: [Int64])] = []

  /// The shelf of the value that is being unboxed.
  private var current: Shelf?

  private static let batchSize = 500

  init(_ context: ManagedObjectContext, _ reader: any StoreReader) {
    self.context = context
    self.reader = reader
    bindings = context.valueBindings
  }

  /// The values of a request, of which there are no more than `limit`, if it is given.
  func values<Value: EntityValue>(
    _ request: ResolvedRequest,
    _ binding: ValueBinding,
    limit: Int? = nil
  ) throws -> [Value] {
    if binding.needsLinks { return try gathered(request) }
    let columns = SlotColumns(binding)
    var values: [Value] = []
    values.reserveCapacity(min(limit ?? 0, Self.reservedCount))
    try reader.fetch(request, .columns(columns.names)) { row in
      values.append(try Value(from: UnboxingRow(binding, self, columns.places, row: row)))
    }
    return values
  }

  /// For more values than that no memory is set aside, since a limit may be larger than what there is.
  private static let reservedCount = 100_000

  /// The values of objects by their keys, in their order; those that are gone are left out.
  func values<Value: EntityValue>(_ keys: [Int64]) throws -> [Value] {
    try gather(Value.self, keys)
    try gatherWanted()
    return try keys.compactMap { try nested(Value.self, $0) }
  }

  /// The values of objects, by their keys; those that are gone are left out.
  func valuesByKey<Value: EntityValue>(_ keys: [Int64]) throws -> [Int64: Value] {
    try gather(Value.self, keys)
    try gatherWanted()
    var values: [Int64: Value] = [:]
    for key in keys { values[key] = try nested(Value.self, key) }
    return values
  }

  // MARK: - Gathering

  /// Rows of one type, and the links that start from them.
  private class Shelf {
    let binding: ValueBinding
    let columns: SlotColumns
    var rows: [Int64: RowPlace] = [:]
    /// The targets by owner, by slot; of relationships that have no column in the row.
    var links: [[Int64: [Int64]]]
    private var buffer: RowBuffer?

    init(_ binding: ValueBinding) {
      self.binding = binding
      columns = SlotColumns(binding)
      links = Array(repeating: [:], count: binding.slots.count)
    }

    /// Keeps a row and gives its key; nil where it is known.
    func add(_ row: StoredRow) -> Int64? {
      let key = row.integer(0)
      guard rows[key] == nil else { return nil }
      let known = buffer.flatMap { $0.isFull ? nil : $0 }
      let buffer = known ?? RowBuffer(columnCount: columns.names.count, capacity: 64)
      self.buffer = buffer
      buffer.append(row, from: 1)
      rows[key] = RowPlace(buffer: buffer, row: buffer.rowCount - 1)
      return key
    }
  }

  /// A shelf with the values that were unboxed already: many rows may share a target.
  private final class TypedShelf<Value: EntityValue>: Shelf {
    var values: [Int64: Value] = [:]
  }

  private func shelf<Value: EntityValue>(_ type: Value.Type) throws -> TypedShelf<Value> {
    let id = ObjectIdentifier(type)
    if let known = shelves[id] as? TypedShelf<Value> { return known }
    let made = TypedShelf<Value>(try bindings.binding(type, context.layout))
    shelves[id] = made
    return made
  }

  private func gathered<Value: EntityValue>(_ request: ResolvedRequest) throws -> [Value] {
    let shelf = try shelf(Value.self)
    var order: [Int64] = []
    try reader.fetch(request, .columns(shelf.columns.names)) { row in
      if let key = shelf.add(row) { order.append(key) }
    }
    try gatherLinks(shelf, order)
    try gatherWanted()
    return try order.compactMap { try nested(Value.self, $0) }
  }

  private func gatherWanted() throws {
    while let next = wanted.popLast() { try gather(next.type, next.keys) }
  }

  private func gather<Value: EntityValue>(_ type: Value.Type, _ keys: [Int64]) throws {
    let shelf = try shelf(type)
    let missing = Array(Set(keys.filter { shelf.rows[$0] == nil })).sorted()
    guard !missing.isEmpty else { return }
    let entity = shelf.binding.entity
    let columns = shelf.columns.names
    // The ids of a family do not tell which of its entities an object is of.
    let isPart = entity.root != entity.index
    var added: [Int64] = []
    for batch in missing.batches(Self.batchSize) {
      let names = columns + (isPart ? ["_entity"] : [])
      try reader.rows(at: batch, of: entity.tableIndex, reading: names) { row in
        if isPart, let found = context.layout.entity(named: row.text(Int32(names.count))) {
          try shelf.binding.check(found, row.integer(0))
        }
        if let key = shelf.add(row) { added.append(key) }
      }
    }
    try gatherLinks(shelf, added)
  }

  private func gatherLinks(_ shelf: Shelf, _ owners: [Int64]) throws {
    for (slot, property) in shelf.binding.slots.enumerated() {
      guard case .link(let link) = property else { continue }
      var targets: [Int64] = []
      if link.column == nil {
        for batch in owners.batches(Self.batchSize) {
          for (owner, stored) in try reader.targets(of: link.layout, batch) {
            shelf.links[slot][owner] = stored.keys
            if link.holdsValues { targets += stored.keys }
          }
        }
      } else if link.holdsValues {
        let place = Int(shelf.columns.places[slot]) - 1
        targets = owners.compactMap { owner in
          guard let row = shelf.rows[owner] else { return nil }
          let value = row.buffer[row.row, place]
          return value.kind == .integer ? value.integer : nil
        }
      }
      if !targets.isEmpty { wanted.append((link.target, targets)) }
    }
  }

  // MARK: - Unboxing what was gathered

  override func value<Value: EntityValue>(_ type: Value.Type, _ key: Int64) throws -> Value? {
    let shelf = try shelf(type)
    if let known = shelf.values[key] { return known }
    guard let place = shelf.rows[key] else { return nil }
    let outer = current
    current = shelf
    defer { current = outer }
    let value = try place.buffer.withRow(place.row) { values, arena in
      try Value(
        from: UnboxingRow(
          shelf.binding.table,
          shelf.binding,
          self,
          key: key,
          shelf.columns.rowPlaces,
          values: values,
          arena: arena
        )
      )
    }
    shelf.values[key] = value
    return value
  }

  override func links(_ slot: Int, of row: borrowing UnboxingRow) throws -> UnboxingLinks {
    guard let binding = row.binding, case .link(let link) = binding.slots[slot] else {
      throw row.table.unknown(slot: slot)
    }
    let root = context.layout.entities[link.layout.destination].rootName
    return link.column == nil
      ? UnboxingLinks(self, root, current?.links[slot][row.key] ?? [])
      : UnboxingLinks(self, root, try row.integer(slot))
  }
}

extension RowBuffer {
  /// Lends the values of a row, and the arena that they refer to.
  func withRow<T>(
    _ row: Int,
    _ body: (UnsafePointer<RowValue>, UnsafeRawPointer) throws -> T
  ) rethrows -> T {
    try withUnsafeTemporaryAllocation(of: RowValue.self, capacity: max(1, columnCount)) { values in
      for column in 0..<columnCount { values.initializeElement(at: column, to: self[row, column]) }
      guard let base = values.baseAddress else { preconditionFailure("a row has columns") }
      return try withArena { arena in try body(UnsafePointer(base), arena) }
    }
  }
}

extension [Int64] {
  /// Parts of at most that many.
  fileprivate func batches(_ size: Int) -> [[Int64]] {
    stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
  }
}
