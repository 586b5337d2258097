/// Makes objects of rows that are read whole: `_pk`, then the columns that their table calls
/// `objectColumns`.
struct RowIntake {
  private let context: ManagedObjectContext
  private let table: Int
  private let entities: EntityNames
  private let columnCount: Int
  /// Whether clean objects become what is read, and not only faults.
  private let refreshes: Bool
  /// Whether something unsaved may concern the rows.
  private let mayDiffer: Bool
  private var buffer: RowBuffer

  /// Rows that share a buffer: one object of them keeps all of them in memory.
  private static var bufferSize: Int { 256 }

  /// - Parameters:
  ///   - context: Where the objects are registered.
  ///   - entity: What rows are of whose `_entity` the model does not have.
  ///   - count: How many rows are expected.
  ///   - refreshes: Whether clean objects become what is read, and not only faults.
  ///   - mayDiffer: Whether something unsaved may concern the rows.
  init(
    _ context: ManagedObjectContext,
    _ entity: EntityLayout,
    count: Int,
    refreshes: Bool = false,
    mayDiffer: Bool = true
  ) {
    self.context = context
    self.refreshes = refreshes
    table = entity.tableIndex
    entities = EntityNames(context.layout, entity)
    columnCount = context.layout.tables[table].columns.count
    self.mayDiffer = mayDiffer
    buffer = RowBuffer(columnCount: columnCount, capacity: min(count, Self.bufferSize))
  }

  /// The object of a row: the registered one, or a new one.
  mutating func take(_ row: StoredRow) -> ManagedObject {
    let place = RowKey(table: table, key: row.integer(0))
    let version = row.integer(1)
    if let known = context.registered(place) {
      // Its changes may have been stored a moment ago, on another thread.
      if known.hasChanges { _ = context.own(known) }
      guard isStale(known, version) else { return known }
      known.content = .row(known.status == .updated ? alone(row) : append(row))
      known.version = version
      known.layout = entities.entity(of: row) ?? known.layout
      context.rebase(known)
      return known
    }
    let entity = entities.entity(of: row) ?? entities.fallback
    let object = ManagedObject(place, entity, .row(append(row)), in: context)
    object.version = version
    context.enroll(object, mayDiffer: mayDiffer)
    return object
  }

  private func isStale(_ object: ManagedObject, _ version: Int64) -> Bool {
    if refreshes, object.status != .clean { return false }
    if case .fault = object.content { return true }
    return refreshes && object.version != version
  }

  /// The row in a buffer of its own: other threads may see it at once, where something unsaved is compared
  /// with it from now on, and nothing is added to a buffer that they see.
  private func alone(_ row: StoredRow) -> RowPlace {
    let buffer = RowBuffer(columnCount: columnCount, capacity: 1)
    buffer.append(row, from: entities.firstColumn)
    return RowPlace(buffer: buffer, row: 0)
  }

  private mutating func append(_ row: StoredRow) -> RowPlace {
    if buffer.rowCount == Self.bufferSize || buffer.isFull {
      // The next rows have about as much text as these.
      let byteCount = min(buffer.arenaEnd / buffer.rowCount, 1 << 16) * Self.bufferSize
      buffer = RowBuffer(
        columnCount: columnCount,
        capacity: Self.bufferSize,
        byteCount: byteCount + byteCount / 8
      )
    }
    buffer.append(row, from: entities.firstColumn)
    return RowPlace(buffer: buffer, row: buffer.rowCount - 1)
  }
}

/// Finds the entity of a row of a family by its `_entity`.
struct EntityNames {
  /// The first column behind `_pk`, `_v` and `_entity`.
  let firstColumn: Int32
  /// What a row is of whose name the model does not have.
  let fallback: EntityLayout
  private let byName: [NameKey: EntityLayout]

  init(_ layout: ModelLayout, _ entity: EntityLayout) {
    fallback = entity
    firstColumn = entity.hasEntityColumn ? 3 : 2
    var byName: [NameKey: EntityLayout] = [:]
    if entity.hasEntityColumn {
      for index in layout.entities[entity.root].family {
        byName[NameKey(layout.entities[index].name)] = layout.entities[index]
      }
    }
    self.byName = byName
  }

  /// The entity of a row; nil for a name that the model does not have.
  func entity(of row: StoredRow) -> EntityLayout? {
    firstColumn == 2 ? fallback : byName[NameKey(row.text(2))]
  }
}
