import GRDB

/// Finding objects by their unique keys, many of an import together.
extension ManagedObjectContext {
  /// Begins to find objects by their unique keys.
  ///
  /// - Returns: false where that was begun already, by an import whose hook imports.
  package func beginImport() -> Bool {
    guard importing.keys == nil else { return false }
    importing.above = [:]
    // Records that come one after the other would look at all that is unsaved, each of them.
    if let known = importing.lastKeys, known.round == overlay.round, known.layout === layout {
      importing.keys = known.keys
      return true
    }
    let index = KeyIndex(layout)
    for (place, change) in overlay.changes.sorted where change.kind != .deleted {
      index.insert(place, in: self)
    }
    importing.keys = index
    return true
  }

  /// Ends what `beginImport()` began.
  package func endImport() {
    importing.lastKeys = importing.keys.map { ($0, overlay.round, layout) }
    importing.keys = nil
    importing.above = [:]
    importing.probed = [:]
  }

  /// Looks up many keys at once, so that `find` need not ask the store for each.
  ///
  /// Runs one prepared `SELECT … WHERE key = ?` for each key, on one connection.
  package func probe(
    _ entity: EntityLayout,
    _ key: [EntityLayout.KeyPart],
    _ values: [[StoredValue]]
  ) throws {
    let columns = entity.columns(key)
    let found = try stored(entity, columns, values)
    let lookup = Lookup(table: entity.tableIndex, columns: columns)
    if importing.probed[lookup]?.isEmpty ?? true {
      importing.probed[lookup] = found
    } else {
      importing.probed[lookup]?.merge(found) { _, later in later }
    }
  }

  /// The stored objects with these values of a unique key; nil for values that no row has.
  private func stored(
    _ entity: EntityLayout,
    _ columns: [Int],
    _ values: [[StoredValue]]
  ) throws -> [KeyIndex.Values: ManagedObject?] {
    let table = layout.tables[entity.tableIndex]
    let tests = columns.enumerated().map {
      "\(Schema.quoted(table.columns[$1].name)) = ?\($0 + 1)"
    }
    let sql =
      "\(selection(of: entity.tableIndex)) FROM \(Schema.quoted(table.name))"
      + " WHERE \(tests.joined(separator: " AND "))"
    let entities = EntityNames(layout, entity.tableIndex)
    var found: [KeyIndex.Values: ManagedObject?] = [:]
    found.reserveCapacity(values.count)
    try read { database in
      let statement = try RawStatement(sql, in: database)
      var buffer = RowBuffer(columnCount: table.columns.count, capacity: 64)
      for parts in values {
        if buffer.isFull { buffer = RowBuffer(columnCount: table.columns.count, capacity: 64) }
        let wanted = KeyIndex.Values(parts)
        guard wanted.isComplete else { continue }
        for (index, part) in parts.enumerated() { try statement.bind(part, Int32(index) + 1) }
        var object: ManagedObject?
        try statement.forEachRow { row in
          object = stored(row, entity, entities, buffer)
        }
        found.updateValue(object, forKey: wanted)
      }
    }
    return found
  }

  /// Forgets what `probe` found; while a record is open that is left to the import around.
  package func forgetProbes() {
    if importing.recordCount == 0 { importing.probed.removeAll(keepingCapacity: true) }
  }

  /// The object of an entity with these values of a unique key, as this context sees it; nil: none.
  ///
  /// One of another branch of the family is none, though no object may have its key beside it.
  package func find(
    _ entity: EntityLayout,
    _ key: [EntityLayout.KeyPart],
    _ values: [StoredValue]
  ) throws -> ManagedObject? {
    let holder = try holder(of: values, of: key, entity)
    return holder.flatMap { entity.family.contains($0.layout.index) ? $0 : nil }
  }

  /// The object of an entity's family that has these values of a unique key; nil: none.
  ///
  /// `other` is an object that is not asked for, though it may have the values.
  package func holder(
    of values: [StoredValue],
    of key: [EntityLayout.KeyPart],
    _ entity: EntityLayout,
    besides other: ManagedObject? = nil
  ) throws -> ManagedObject? {
    let wanted = KeyIndex.Values(values)
    guard wanted.isComplete else { return nil }
    let columns = entity.columns(key)
    let table = entity.tableIndex
    if let place = importing.keys?.place(of: wanted, columns, in: table, besides: other?.place) {
      let object = try register(place, entity)
      if !object.isDeleted { return object }
    }
    if let place = try placeAbove(wanted, columns, entity), place != other?.place {
      let object = try register(place, entity)
      try fire(object)
      if !isDeleted(object), has(object, values, columns) { return object }
    }
    let lookup = Lookup(table: table, columns: columns)
    let stored: ManagedObject?
    if let known = importing.probed[lookup]?[wanted] {
      stored = known
    } else {
      let found = try self.stored(entity, columns, [values])
      stored = found[wanted] ?? nil
      // Outside an import others may write the key before it is asked for again.
      if importing.keys != nil { importing.probed[lookup, default: [:]][wanted] = .some(stored) }
    }
    // Its key may have been changed since it was stored, here or above.
    guard let stored, stored !== other, !isDeleted(stored), has(stored, values, columns) else {
      return nil
    }
    return stored
  }

  private func has(_ object: ManagedObject, _ values: [StoredValue], _ columns: [Int]) -> Bool {
    zip(columns, values).allSatisfy { object.knownValue($0) == $1 }
  }

  /// The objects with unsaved changes in the contexts above, by a key.
  private func placeAbove(
    _ values: KeyIndex.Values,
    _ columns: [Int],
    _ entity: EntityLayout
  ) throws -> RowKey? {
    guard hasChangesAbove else { return nil }
    let lookup = Lookup(table: entity.tableIndex, columns: columns)
    if importing.aboveRound != above.round {
      importing.aboveRound = above.round
      importing.above = [:]
    }
    if let known = importing.above[lookup] { return known[values] }
    var places: [KeyIndex.Values: RowKey] = [:]
    for changes in upper {
      for (key, change) in changes.rows(in: entity.tableIndex) where change.kind != .deleted {
        let place = RowKey(table: entity.tableIndex, key: key)
        let object = try register(place, layout.entities[Int(change.entity)])
        guard try isAlive(object) else { continue }
        let values = KeyIndex.Values(columns.map { object.knownValue($0) })
        if values.isComplete { places[values] = place }
      }
    }
    if importing.keys != nil { importing.above[lookup] = places }
    return places[values]
  }

  /// The object of a row that was read.
  private func stored(
    _ row: OpaquePointer,
    _ entity: EntityLayout,
    _ entities: EntityNames,
    _ buffer: RowBuffer
  ) -> ManagedObject {
    let place = RowKey(table: entity.tableIndex, key: columnInteger(row, 0))
    if let known = registered(place) {
      guard case .fault = known.content else { return known }
      buffer.append(row, from: entities.firstColumn)
      known.content = .row(RowPlace(buffer: buffer, row: buffer.rowCount - 1))
      known.version = columnInteger(row, 1)
      known.layout = entities.entity(of: row) ?? known.layout
      return known
    }
    buffer.append(row, from: entities.firstColumn)
    let object = ManagedObject(
      place,
      entities.entity(of: row) ?? entity,
      .row(RowPlace(buffer: buffer, row: buffer.rowCount - 1)),
      in: self
    )
    object.version = columnInteger(row, 1)
    enroll(object)
    return object
  }
}

/// What to look for where.
struct Lookup: Hashable {
  let table: Int
  let columns: [Int]

  /// A table has few keys: hashing the list would cost more than it tells apart.
  func hash(into hasher: inout Hasher) { hasher.combine(table) }
}
