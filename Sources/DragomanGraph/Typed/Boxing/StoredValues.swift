import GRDB
import GRDBSQLite

/// Unboxes values straight from the rows of the store, and makes no objects.
///
/// A type without nested values is unboxed while SQLite steps through the rows. For others the rows
/// are gathered first, level by level, with one statement for 500 rows or owners, and then unboxed
/// from memory: the number of statements grows with the depth and not with the number of values.
final class StoredValues: UnboxingSource {
  private let context: ManagedObjectContext
  private let bindings: ValueBindings
  private let database: Database
  private var shelves: [ObjectIdentifier: Shelf] = [:]
  /// Rows that are still to be read, by type.
  private var wanted: [(type: any EntityValue.Type, keys: [Int64])] = []

  /// The shelf of the value that is being unboxed.
  private var current: Shelf?

  private static let batchSize = 500

  init(_ context: ManagedObjectContext, _ database: Database) {
    self.context = context
    self.database = database
    bindings = context.valueBindings
  }

  /// The values of a plan, of which there are no more than `limit`, if it is given.
  func values<Value: EntityValue>(
    _ plan: FetchPlan,
    _ binding: ValueBinding,
    limit: Int? = nil
  ) throws -> [Value] {
    let columns = SlotColumns(binding)
    let sql = plan.objectsSQL(columns.names)
    if binding.needsLinks { return try gathered(sql, plan.arguments, binding) }
    var values: [Value] = []
    values.reserveCapacity(min(limit ?? 0, Self.reservedCount))
    var failure: (any Error)?
    try FetchStatement.run(sql, plan.arguments, database) { statement in
      do {
        values.append(
          try Value(
            from: UnboxingRow(
              binding,
              self,
              columns.places,
              statement: statement
            )
          )
        )
        return true
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
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

    /// Keeps the statement's current row; false where it is known.
    func add(_ statement: OpaquePointer) -> Int64? {
      let key = sqlite3_column_int64(statement, 0)
      guard rows[key] == nil else { return nil }
      let known = buffer.flatMap { $0.isFull ? nil : $0 }
      let buffer = known ?? RowBuffer(columnCount: columns.names.count - 1, capacity: 64)
      self.buffer = buffer
      buffer.append(statement, from: 1)
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

  private func gathered<Value: EntityValue>(
    _ sql: String,
    _ arguments: [StoredValue],
    _ binding: ValueBinding
  ) throws -> [Value] {
    let shelf = try shelf(Value.self)
    var order: [Int64] = []
    try FetchStatement.run(sql, arguments, database) { statement in
      if let key = shelf.add(statement) { order.append(key) }
      return true
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
    var columns = shelf.columns.names.map(Schema.quoted)
    // The ids of a family do not tell which of its entities an object is of.
    let entityColumn = entity.root == entity.index ? nil : Int32(columns.count)
    if entityColumn != nil {
      let names = entity.familyNames(in: context.layout).map(Schema.literal)
      columns.append("CASE WHEN _entity NOT IN (\(names.joined(separator: ", "))) THEN _entity END")
    }
    let statement = try RawStatement(
      "SELECT \(columns.joined(separator: ", ")) FROM \(Schema.quoted(entity.table))"
        + " WHERE _pk IN (SELECT value FROM json_each(?1))",
      in: database
    )
    var added: [Int64] = []
    for batch in missing.batches(Self.batchSize) {
      try statement.bind(.text(batch.jsonList), 1)
      try statement.forEachRow { row in
        if let entityColumn, sqlite3_column_type(row, entityColumn) != SQLITE_NULL,
          let found = context.layout.entity(named: columnText(row, entityColumn))
        {
          try shelf.binding.check(found, sqlite3_column_int64(row, 0))
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
        let found = try self.targets(of: link.layout, owners)
        for (owner, keys) in found {
          shelf.links[slot][owner] = keys
          if link.holdsValues { targets += keys }
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

  /// Runs `SELECT owner, target … WHERE owner IN (…)`, in the order of the relationship.
  private func targets(
    of link: RelationshipLayout,
    _ owners: [Int64]
  ) throws -> [Int64: [Int64]] {
    guard let sql = link.targetsSQL(context.layout) else { return [:] }
    let statement = try RawStatement(sql, in: database)
    var found: [Int64: [Int64]] = [:]
    for batch in owners.batches(Self.batchSize) {
      try statement.bind(.text(batch.jsonList), 1)
      try statement.forEachRow { row in
        found[columnInteger(row, 0), default: []].append(columnInteger(row, 1))
      }
    }
    return found
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

extension RelationshipLayout {
  /// `SELECT owner, target … WHERE owner IN (…)` in the order of the relationship; nil for one in a
  /// column of its owner.
  fileprivate func targetsSQL(_ layout: ModelLayout) -> String? {
    let list = "IN (SELECT value FROM json_each(?1))"
    switch storage {
    case .column: return nil
    case .inverseColumn(let column, let order):
      let table = Schema.quoted(layout.entities[destination].table)
      let name = Schema.quoted(column)
      let first = order.map { "\(Schema.quoted($0)) IS NULL, \(Schema.quoted($0)), " } ?? ""
      return "SELECT \(name), _pk FROM \(table) WHERE \(name) \(list) ORDER BY \(first)_pk"
    case .joinTable(let join, isOwner: true):
      let order = join.hasPosition ? "position" : "target"
      return "SELECT owner, target FROM \(Schema.quoted(join.name)) WHERE owner \(list)"
        + " ORDER BY \(order)"
    case .joinTable(let join, isOwner: false):
      // An owner that holds its target twice is one object to the target.
      let order =
        join.hasInversePosition
        ? "min(inverse_position) IS NULL, min(inverse_position), owner" : "owner"
      return "SELECT target, owner FROM \(Schema.quoted(join.name)) WHERE target \(list)"
        + " GROUP BY target, owner ORDER BY \(order)"
    }
  }
}

extension [Int64] {
  /// The numbers as a JSON array.
  fileprivate var jsonList: String { "[\(map(String.init).joined(separator: ","))]" }

  /// Parts of at most that many.
  fileprivate func batches(_ size: Int) -> [[Int64]] {
    stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
  }
}
