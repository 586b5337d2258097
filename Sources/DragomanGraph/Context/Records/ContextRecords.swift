extension ManagedObjectContext {
  /// What records of an import do to its objects.
  package var records: ContextRecords { ContextRecords(context: self) }
}

/// Records of an import into a context, which are undone whole or kept whole.
package struct ContextRecords {
  let context: ManagedObjectContext

  var layout: ModelLayout { context.layout }
  /// Whether texts with U+0000 can be stored.
  package var holdNUL: Bool { context.root.store.holdsNUL }

  /// From now on what is done can be undone.
  ///
  /// - Returns: Where the record begins, for `undoRecord`; records may be nested, by hooks that
  ///   import.
  package func beginRecord() -> Int {
    context.overlay.beginRecord()
    context.importing.recordCount += 1
    return context.importing.log.count
  }

  /// What was done since the record began stays, unless a record around it is undone.
  package func endRecord() {
    context.overlay.endRecord()
    context.importing.recordCount -= 1
    guard context.importing.recordCount == 0 else { return }
    context.importing.log = []
    context.importing.denials = []
  }

  /// Undoes everything since the record began, and ends it: what is unsaved is what it was then.
  package func undoRecord(_ start: Int) {
    guard context.importing.recordCount > 0 else { return }
    let places = Set(context.importing.log.dropFirst(start).map(\.place))
    let before = context.overlay.changes
    for place in places { context.importing.keys?.remove(place, in: context) }
    context.overlay.undo()
    context.importing.recordCount -= 1
    context.importing.log.removeLast(context.importing.log.count - start)
    context.importing.denials.removeAll { $0.place >= start }
    for place in places {
      let now = context.overlay[place]
      if let object = context.registered(place) {
        context.settling.restore(object, before[place], now)
      }
      if let now, now.kind != .deleted { context.importing.keys?.insert(place, in: context) }
      context.notices.rollBack(layout.objectID(of: place), before[place]?.kind, now?.kind)
    }
  }

  /// Does all of something, or nothing.
  func whole(_ body: () throws -> Void) throws {
    let start = beginRecord()
    do {
      try body()
    } catch {
      undoRecord(start)
      throw error
    }
    endRecord()
  }

  /// How much was done since the first open record began.
  package var length: Int { context.importing.log.count }

  /// Checks the values of the objects to which something was done since `length` was that number.
  ///
  /// - Throws: `ContextError` `.invalid`, with every fault.
  package func validate(since start: Int) throws {
    var validation = ObjectValidation(context)
    for place in Set(context.importing.log.dropFirst(start).map(\.place)) {
      guard let change = context.overlay[place], change.kind != .deleted,
        change.mark?.isStub != true
      else { continue }
      try validation.checkValues(context.enroll(place, change), change)
    }
    if !validation.faults.isEmpty { throw ContextError(.invalid, validation.faults) }
  }

  /// An object that was given a unique key of another one since `length` was that number, and the columns of the key
  /// as SQLite would name them; nil: there is none.
  package func clash(since start: Int) throws -> (object: ManagedObject, columns: String)? {
    for place in Set(context.importing.log.dropFirst(start).map(\.place)) {
      guard let change = context.overlay[place], change.kind != .deleted else { continue }
      let object = context.enroll(place, change)
      let keys = object.layout.uniqueKeys.filter { key in
        object.layout.columns(key).contains { change.values[$0] != nil }
      }
      if let columns = try context.finder.clash(of: object, in: keys) { return (object, columns) }
    }
    return nil
  }

  /// How many records are open, those of the contexts above included: that of a hook lies in the one before.
  package var depth: Int { context.openRecordCount }

  /// The objects that were deleted since `beginRecord()` gave that number.
  package func deletedObjects(since start: Int) -> [ObjectID] {
    context.importing.log.dropFirst(start).filter(\.isDeletion).map {
      layout.objectID(of: $0.place)
    }
  }

  /// The relationship whose delete rule `deny` forbids a deletion since `beginRecord()` gave that
  /// number, if any: as the deleter of a store has it, by the entity that has the relationship, the first one of
  /// several.
  package func deniedRelationship(since start: Int) throws -> String? {
    var denied: (root: Int, link: RelationshipLayout)?
    for (place, isDeletion) in context.importing.log.dropFirst(start) where isDeletion {
      guard let change = context.overlay[place], change.kind == .deleted else { continue }
      let object = context.enroll(place, change)
      let root = object.layout.root
      for link in object.layout.relationships where link.relationship.deleteRule == .deny {
        if let denied, (denied.root, denied.link.id) <= (root, link.id) { continue }
        if try !context.links.targets(of: link, object).isEmpty { denied = (root, link) }
      }
    }
    for denial in context.importing.denials where denial.place >= start {
      if let denied, (denied.root, denied.link.id) <= (denial.root, denial.link.id) { continue }
      if try denial.targets.contains(where: context.isAlive) { denied = (denial.root, denial.link) }
    }
    return denied.map { "\(layout.entities[$0.link.owner].name).\($0.link.name)" }
  }

  // MARK: - Objects

  /// Makes an object whose values are given by a row of an import.
  ///
  /// - Parameters:
  ///   - entity: The entity.
  ///   - row: The values.
  ///   - columns: The column of each value.
  ///   - arena: Where the values' text and bytes are.
  /// - Returns: The object.
  /// - Throws: `StoreError` where no id can be reserved; `ContextError`.
  package func insert(
    _ entity: EntityLayout,
    _ row: UnsafeBufferPointer<RowValue>,
    _ columns: [Int],
    arena: UnsafeRawPointer
  ) throws -> ManagedObject {
    let buffer = importBuffer(entity.tableIndex)
    buffer.append(row, to: columns, defaults: defaults(of: entity), arena: arena)
    let place = RowPlace(buffer: buffer, row: buffer.rowCount - 1)
    return try context.insert(entity, RowChange(.inserted, entity.index, row: place))
  }

  /// Sets a column to a value of an import.
  ///
  /// - Returns: Whether it was another one.
  package func set(
    _ value: RowValue,
    _ column: Int,
    of object: ManagedObject,
    arena: UnsafeRawBufferPointer
  ) throws -> Bool {
    if let row = object.plainRow, let base = arena.baseAddress,
      row.buffer.equals(row.row, column, value, in: base)
    {
      return false
    }
    let wanted = value.stored(in: arena)
    guard try object.value(column) != wanted || context.isOnlyAbove(column, of: object) else {
      return false
    }
    try context.set(wanted, column: column, of: object)
    return true
  }

  /// The buffer that takes the next row.
  ///
  /// Other threads read what main publishes: there every row has a buffer of its own, which nothing
  /// is added to any more.
  private func importBuffer(_ table: Int) -> RowBuffer {
    let columnCount = layout.tables[table].columns.count
    if context.kind == .main { return RowBuffer(columnCount: columnCount, capacity: 1) }
    if let known = context.importing.buffers[table], known.rowCount < 256, !known.isFull {
      return known
    }
    let made = RowBuffer(columnCount: columnCount, capacity: 256)
    context.importing.buffers[table] = made
    return made
  }

  private func defaults(of entity: EntityLayout) -> [RowDefault] {
    if let known = context.importing.defaults[entity.index] { return known }
    let made = entity.attributes.enumerated().compactMap { slot, attribute in
      attribute.defaultValue.map { RowDefault(column: entity.attributeColumns[slot], value: $0) }
    }
    context.importing.defaults[entity.index] = made
    return made
  }

  // MARK: - Rows

  /// The open transaction, where the rows of entities may be written past the objects, since nobody can tell
  /// the difference; main is told to look at their tables again.
  ///
  /// - Parameter entities: The entities.
  /// - Returns: Nil where one of them has links, something unsaved concerns them or a record is imported
  ///   already, somebody is told of each object, or the store has no rows of its own.
  package func rowSession(of entities: [EntityLayout]) -> WriteSession? {
    let tables = Set(entities.map(\.tableIndex))
    guard let session = context.importing.session as? WriteSession,
      context.importing.recordCount == 0, !context.root.isFollowed,
      session.layout.takesRows(of: layout), !entities.contains(where: layout.isLinked),
      !context.hasChanges(inAny: tables)
    else { return nil }
    context.importing.flushed.note(tables: tables)
    return session
  }

  // MARK: - Flushing

  /// Writes what is unsaved into the open transaction; objects that nobody holds are let go.
  ///
  /// - Returns: How many objects were written.
  @discardableResult
  package func flush() throws -> Int {
    guard let session = context.importing.session, context.hasChanges else { return 0 }
    try SaveChecks(context: context).complete()
    if context.layout.links.contains(where: \.relationship.isCounted) {
      let ends = try ObjectValidation(context).countedEnds(context.overlay.changes)
      context.importing.counted.formUnion(ends)
    }
    let count = context.overlay.read { $0.count }
    context.importing.asked?.note(context.overlay.changes, context.importing.keys)
    let written = try context.root.write(
      context.overlay.changes,
      seen: context.upper,
      in: session,
      context.mergePolicy
    )
    note(written)
    context.overlay.removeAll(isStored: true)
    context.settling.didStoreOwn(written.written)
    context.importing.keys?.removeAll()
    context.importing.probed.removeAll(keepingCapacity: true)
    return count
  }

  /// Checks the number of targets of what was flushed: a target may have come in a later flush.
  ///
  /// - Throws: `ContextError`, `.invalid`, with the objects that have too few, or too many.
  func checkCounts() throws {
    guard !context.importing.counted.isEmpty else { return }
    var validation = ObjectValidation(context)
    try validation.checkCounts(of: context.importing.counted)
    context.importing.counted = []
    guard validation.faults.isEmpty else { throw ContextError(.invalid, validation.faults) }
  }

  /// Notes what was written into the open transaction: main is told once that is committed.
  func note(_ written: RootContext.Write) {
    context.importing.flushed.note(written.written, context.root)
    guard let seen = written.seen.last, !seen.isEmpty else { return }
    var ofMain = written.written
    ofMain.changes = ofMain.changes.part(of: seen, isWhole: true)
    // Main may have links to what is deleted.
    for (place, change) in written.written.changes.sorted where change.kind == .deleted {
      ofMain.changes.keep(change, at: place)
    }
    guard !ofMain.changes.isEmpty else { return }
    context.above.note(ofMain, seen: seen)
  }
}
