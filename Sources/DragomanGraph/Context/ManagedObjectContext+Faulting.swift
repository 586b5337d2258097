extension ManagedObjectContext {
  /// The object at a place: the registered one, or a new fault.
  func register(_ place: RowKey, _ entity: EntityLayout) throws -> ManagedObject {
    if let known = registered(place) { return known }
    try checkOpen()
    let object = ManagedObject(place, entity, .fault(nil), in: self)
    enroll(object)
    return object
  }

  /// The object of a row that differs here.
  func enroll(_ place: RowKey, _ change: RowChange) -> ManagedObject {
    if let known = registered(place) { return known }
    let entity = layout.entities[Int(change.entity)]
    let object = ManagedObject(place, entity, .fault(nil), in: self)
    enroll(object)
    return object
  }

  /// Registers a new object, with what is unsaved of it if anything may be.
  func enroll(_ object: ManagedObject, mayDiffer: Bool = true) {
    let place = object.place
    identities[place.table][place.key] = object
    guard mayDiffer else { return }
    if let own = overlay[place] {
      follow(own, object)
    } else if let upper = changeAbove(place) {
      object.layout = layout.entities[Int(upper.entity)]
    }
  }

  /// The registered object at a place.
  func registered(_ place: RowKey) -> ManagedObject? {
    identities[place.table][place.key]
  }

  /// An object is let go.
  func forget(_ place: RowKey, _ object: ManagedObject) {
    identities[place.table].forget(place.key, object)
  }

  /// Reads the object's values if they are not here yet, and those of its companions with them.
  ///
  /// Runs `SELECT _pk, _v, … FROM "Person" WHERE _pk IN (…)`.
  /// - Throws: `ContextError`: `.missing` where the row is gone, `.deleted`, `.foreignContext`,
  ///   `.stackClosed`; `StoreError`.
  func fire(_ object: ManagedObject) throws {
    guard case .fault(let batch) = object.content else { return }
    if object.status == .gone || object.status == .deleted {
      throw ContextError(
        .deleted,
        "\(object.layout.name) \(object.place.key) was deleted.",
        object: object.objectID
      )
    }
    try checkOpen()
    if let upper = changeAbove(object.place) {
      if upper.kind == .deleted {
        throw ContextError(
          .deleted,
          "\(object.layout.name) \(object.place.key) was deleted.",
          object: object.objectID
        )
      }
      object.layout = layout.entities[Int(upper.entity)]
      // There is no row to be read.
      if upper.kind == .inserted { return }
    }
    try load(batch?.keys ?? [object.place.key], of: object.place.table)
    guard case .fault = object.content else { return }
    throw ContextError(
      .missing,
      "\(object.layout.name) \(object.place.key) is not in the store (any more).",
      object: object.objectID,
      help: "it was deleted elsewhere, or never saved"
    )
  }

  /// Reads the object's values; an error is recorded.
  func tryFire(_ object: ManagedObject) {
    do {
      try fire(object)
    } catch {
      record(error)
    }
  }

  /// Reads rows of a table and gives them to the registered faults.
  private func load(_ keys: [Int64], of table: Int) throws {
    let wanted = keys.filter { key in
      guard let object = registered(RowKey(table: table, key: key)) else { return false }
      if case .fault = object.content { return true }
      return false
    }
    let columns = layout.tables[table].objectColumns
    var intake = RowIntake(self, layout.entities[layout.tables[table].root], count: wanted.count)
    try read { reader in
      try reader.rows(at: wanted, of: table, reading: columns) { _ = intake.take($0) }
    }
  }

  /// What is unsaved of an object is compared with the row that was read now, where it had lost its own.
  func rebase(_ object: ManagedObject) {
    guard object.status == .updated, case .row(let row) = object.content else { return }
    let (place, version) = (object.place, object.version)
    overlay.change { [layout] changes in
      guard var change = changes[place], change.kind == .updated, change.row == nil else { return }
      change.row = row
      change.version = version
      changes.set(change, at: place, layout)
    }
  }

  /// The rows of a table that differ from the store, here or above.
  func pendingPlaces(in table: Int) -> Set<RowKey> {
    var pending: Set<RowKey> = []
    for changes in layers where changes.hasRows(in: table) {
      for key in changes.rows(in: table).keys { pending.insert(RowKey(table: table, key: key)) }
    }
    return pending
  }

  /// The unsaved changes, here and above, the nearest first.
  var layers: [ChangeSet] {
    let upper = upper
    return [overlay.changes] + upper
  }

  /// What is unsaved in the contexts above, the nearest first.
  var upper: [ChangeSet] {
    if kind == .main { return [] }
    let upper = above.current(layout)
    // Settling reads: what is met in the middle of a read is settled behind it.
    if !above.stored.isEmpty, !isReading { settling.didStoreAbove(above.takeStored()) }
    return upper
  }

  /// Differs once somebody has stored a part of what is unsaved, here or above.
  var settles: Int { overlay.settles &+ above.settleCount }

  /// Whether anything is unsaved above.
  ///
  /// It is asked for with each value that is read, and mostly nothing has happened above meanwhile.
  var hasChangesAbove: Bool {
    if kind == .main { return false }
    if !above.isCurrent || !above.stored.isEmpty { _ = upper }
    return !above.isEmpty
  }

  /// Whether the contexts above, or this one, have unsaved changes in a table, or of links.
  func hasChanges(inAny tables: Set<Int>) -> Bool {
    layers.contains { changes in
      !changes.links.isEmpty || tables.contains { changes.hasRows(in: $0) }
    }
  }

  // MARK: - Reading

  /// Reads from the store: through the open session where there is one.
  ///
  /// - Throws: `.stackClosed`, `.foreignContext`; what the store and `body` throw.
  func read<T>(_ body: (any StoreReader) throws -> T) throws -> T {
    try checkOpen()
    let wasReading = isReading
    isReading = true
    defer { isReading = wasReading }
    if let session = openSession { return try session.read(layout, body) }
    do {
      return try root.store.read(layout, body)
    } catch {
      // The stack may have been closed meanwhile.
      try checkOpen()
      throw error
    }
  }
}
