extension ManagedObjectContext {
  /// Finds its objects by their unique keys.
  package var finder: KeyFinder { KeyFinder(context: self) }
}

/// Finds objects of a context by their unique keys, many of an import together.
package struct KeyFinder {
  let context: ManagedObjectContext

  private var layout: ModelLayout { context.layout }

  /// Begins to find objects by their unique keys.
  ///
  /// - Returns: false where that was begun already, by an import whose hook imports.
  package func beginImport() -> Bool {
    guard context.importing.keys == nil else { return false }
    context.importing.above = [:]
    // Records that come one after the other would look at all that is unsaved, each of them.
    if let known = context.importing.lastKeys, known.round == context.overlay.round,
      known.layout === layout
    {
      context.importing.keys = known.keys
      return true
    }
    let index = KeyIndex(layout)
    for (place, change) in context.overlay.changes.sorted where change.kind != .deleted {
      index.insert(place, in: context)
    }
    context.importing.keys = index
    return true
  }

  /// Ends what `beginImport()` began.
  package func endImport() {
    context.importing.lastKeys = context.importing.keys.map { ($0, context.overlay.round, layout) }
    context.importing.keys = nil
    context.importing.above = [:]
    context.importing.probed = [:]
    context.importing.asked = nil
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
    if context.importing.probed[lookup]?.isEmpty ?? true {
      context.importing.probed[lookup] = found
    } else {
      context.importing.probed[lookup]?.merge(found) { _, later in later }
    }
  }

  /// Asks for many keys that `probe` is given next, where the store works at that meanwhile.
  ///
  /// Nobody else may write until then.
  package func ask(
    _ entity: EntityLayout,
    _ key: [EntityLayout.KeyPart],
    _ values: [[StoredValue]]
  ) throws {
    let lookup = Lookup(table: entity.tableIndex, columns: entity.columns(key))
    let complete = values.filter { !$0.contains(.null) }
    let asked = try context.read { reader in
      try reader.ask(
        having: complete,
        in: lookup.columns,
        of: lookup.table,
        reading: layout.tables[lookup.table].objectColumns
      )
    }
    context.importing.asked = asked.map { AskedKeys(lookup, complete, $0) }
  }

  /// Takes what has come of what was asked for.
  package func listen() { context.importing.asked?.listen() }

  /// The stored objects with these values of a unique key; nil for values that no row has.
  private func stored(
    _ entity: EntityLayout,
    _ columns: [Int],
    _ values: [[StoredValue]]
  ) throws -> [KeyIndex.Values: ManagedObject?] {
    let complete = values.filter { !$0.contains(.null) }
    let table = layout.tables[entity.tableIndex]
    var objects: [ManagedObject?] = Array(repeating: nil, count: complete.count)
    var intake = RowIntake(context, entity, count: complete.count)
    try context.read { reader in
      var places = Array(complete.indices)
      if let asked = context.importing.asked, asked.keys == complete,
        asked.lookup == Lookup(table: entity.tableIndex, columns: columns)
      {
        context.importing.asked = nil
        places = try asked.take { place, row in objects[place] = intake.take(row) }
      }
      try reader.rows(
        having: places.map { complete[$0] },
        in: columns,
        of: entity.tableIndex,
        reading: table.objectColumns
      ) { place, row in objects[places[place]] = intake.take(row) }
    }
    var found: [KeyIndex.Values: ManagedObject?] = [:]
    found.reserveCapacity(complete.count)
    for (parts, object) in zip(complete, objects) {
      found.updateValue(object, forKey: KeyIndex.Values(parts))
    }
    return found
  }

  /// Forgets what `probe` found; while a record is open that is left to the import around.
  package func forgetProbes() {
    if context.importing.recordCount == 0 {
      context.importing.probed.removeAll(keepingCapacity: true)
    }
  }

  /// The objects with unsaved changes that may have these values, by a unique key among them; nil where that is not known
  /// without a look at all.
  ///
  /// - Parameters:
  ///   - entity: The entity.
  ///   - values: Values of attributes, by their columns.
  /// - Returns: The objects.
  /// - Throws: What reading the store throws.
  func unsaved(_ entity: EntityLayout, having values: [Int: StoredValue]) throws -> [RowKey]? {
    guard let index = context.importing.keys, !context.hasChangesAbove else { return nil }
    for key in entity.uniqueKeys {
      let columns = entity.columns(key)
      let wanted = columns.compactMap { values[$0] }
      guard wanted.count == columns.count, !wanted.isEmpty else { continue }
      let parts = KeyIndex.Values(wanted)
      let places = index.places(of: parts, columns, in: entity.tableIndex)
      // The index knows whose key is unsaved, not what else is.
      guard let stored = try stored(parts, wanted, columns, entity)?.place, !places.contains(stored)
      else { return places }
      return places + [stored]
    }
    return nil
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
    if let place = context.importing.keys?.place(
      of: wanted,
      columns,
      in: table,
      besides: other?.place
    ) {
      let object = try context.register(place, entity)
      if !object.isDeleted { return object }
    }
    if let place = try placeAbove(wanted, columns, entity), place != other?.place {
      let object = try context.register(place, entity)
      try context.fire(object)
      if !context.isDeleted(object), has(object, values, columns) { return object }
    }
    let stored = try stored(wanted, values, columns, entity)
    // Where a record was undone that had more to say of it than values, it is read again.
    if let stored, stored.isFault, try !context.isAlive(stored) { return nil }
    // Its key may have been changed since it was stored, here or above.
    guard let stored, stored !== other, !context.isDeleted(stored), has(stored, values, columns)
    else {
      return nil
    }
    return stored
  }

  /// Whether the store has an object with these values of a unique key that is deleted above only, so that nobody who
  /// saves here before can have them.
  package func isHeldByDeleted(
    _ entity: EntityLayout,
    _ key: [EntityLayout.KeyPart],
    _ values: [StoredValue]
  ) throws -> Bool {
    guard context.storesPastAbove, context.hasChangesAbove else { return false }
    let wanted = KeyIndex.Values(values)
    guard wanted.isComplete,
      let stored = try stored(wanted, values, entity.columns(key), entity)
    else { return false }
    return !stored.isDeleted && context.changeAbove(stored.place)?.kind == .deleted
  }

  /// The stored object with these values, whatever is unsaved of it.
  private func stored(
    _ wanted: KeyIndex.Values,
    _ values: [StoredValue],
    _ columns: [Int],
    _ entity: EntityLayout
  ) throws -> ManagedObject? {
    let lookup = Lookup(table: entity.tableIndex, columns: columns)
    if let known = context.importing.probed[lookup]?[wanted] { return known }
    let found = try self.stored(entity, columns, [values])[wanted] ?? nil
    // Outside an import others may write the key before it is asked for again.
    if context.importing.keys != nil {
      context.importing.probed[lookup, default: [:]][wanted] = .some(found)
    }
    return found
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
    guard context.hasChangesAbove else { return nil }
    let lookup = Lookup(table: entity.tableIndex, columns: columns)
    if context.importing.aboveRound != context.above.round {
      context.importing.aboveRound = context.above.round
      context.importing.above = [:]
    }
    if let known = context.importing.above[lookup] { return known[values] }
    var places: [KeyIndex.Values: RowKey] = [:]
    for changes in context.upper {
      for (key, change) in changes.rows(in: entity.tableIndex) where change.kind != .deleted {
        let place = RowKey(table: entity.tableIndex, key: key)
        let object = try context.register(place, layout.entities[Int(change.entity)])
        guard try context.isAlive(object) else { continue }
        let values = KeyIndex.Values(columns.map { object.knownValue($0) })
        if values.isComplete { places[values] = place }
      }
    }
    if context.importing.keys != nil { context.importing.above[lookup] = places }
    return places[values]
  }

  /// A unique key of the entity, besides the identity, that another object has; its columns as
  /// SQLite would name them.
  package func clash(of object: ManagedObject) throws -> String? {
    try clash(of: object, in: object.layout.uniqueKeys.dropFirst())
  }

  /// The same for these keys.
  func clash(
    of object: ManagedObject,
    in keys: some Sequence<[EntityLayout.KeyPart]>
  ) throws -> String? {
    let entity = object.layout
    for key in keys {
      let values = entity.columns(key).map { object.knownValue($0) }
      let isTaken =
        try holder(of: values, of: key, entity, besides: object) != nil
        || isHeldByDeleted(entity, key, values)
      if isTaken {
        return key.map { "\(entity.table).\($0.column)" }.joined(separator: ", ")
      }
    }
    return nil
  }
}

extension ManagedObjectContext {
  /// Whether what it saves is stored before what is unsaved above: not where it is merged into that.
  fileprivate var storesPastAbove: Bool {
    switch kind {
    case .main: false
    case .background: above.seen == nil
    case .nested: parent?.kind == .main || parent?.storesPastAbove == true
    }
  }
}

/// What to look for where.
struct Lookup: Hashable {
  let table: Int
  let columns: [Int]

  /// A table has few keys: hashing the list would cost more than it tells apart.
  func hash(into hasher: inout Hasher) { hasher.combine(table) }
}
