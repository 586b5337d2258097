import GRDB

/// What an import needs of a context; the pipeline's context sink uses it.
extension ManagedObjectContext {
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
    return try insert(entity, RowChange(.inserted, entity.index, row: place))
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
    guard try object.value(column) != wanted else { return false }
    try set(wanted, column: column, of: object)
    return true
  }

  /// The buffer that takes the next row.
  ///
  /// Other threads read what main publishes: there every row has a buffer of its own, which nothing
  /// is added to any more.
  private func importBuffer(_ table: Int) -> RowBuffer {
    let columnCount = layout.tables[table].columns.count
    if kind == .main { return RowBuffer(columnCount: columnCount, capacity: 1) }
    if let known = importing.buffers[table], known.rowCount < 256, !known.isFull { return known }
    let made = RowBuffer(columnCount: columnCount, capacity: 256)
    importing.buffers[table] = made
    return made
  }

  private func defaults(of entity: EntityLayout) -> [RowDefault] {
    if let known = importing.defaults[entity.index] { return known }
    let made = entity.attributes.enumerated().compactMap { slot, attribute in
      attribute.defaultValue.map { RowDefault(column: entity.attributeColumns[slot], value: $0) }
    }
    importing.defaults[entity.index] = made
    return made
  }

  /// A unique key of the entity, besides the identity, that another object has; its columns as
  /// SQLite would name them.
  package func clash(of object: ManagedObject) throws -> String? {
    let entity = object.layout
    for key in entity.uniqueKeys.dropFirst() {
      let values = entity.columns(key).map { object.knownValue($0) }
      if try holder(of: values, of: key, entity, besides: object) != nil {
        return key.map { "\(entity.table).\($0.column)" }.joined(separator: ", ")
      }
    }
    return nil
  }

  /// Throws the first error that a property could not throw, and forgets it.
  package func throwRecordedError() throws { try throwRecorded() }

  // MARK: - Flushing

  /// Writes what is unsaved into the open transaction; objects that nobody holds are let go.
  ///
  /// - Returns: How many objects were written.
  @discardableResult
  package func flush() throws -> Int {
    guard let session, hasChanges else { return 0 }
    try completeChanges()
    let count = overlay.read { $0.count }
    let written = try root.write(overlay.changes, seen: upper, in: session, mergePolicy)
    note(written)
    didSave(written)
    importing.keys?.removeAll()
    importing.probed.removeAll(keepingCapacity: true)
    return count
  }

  /// Notes what was written into the open transaction: main is told once that is committed.
  func note(_ written: RootContext.Write) {
    flushed.note(written.written, root)
    guard let seen = written.seen.last, !seen.isEmpty else { return }
    var ofMain = written.written
    ofMain.changes = ofMain.changes.part(of: seen, isWhole: true)
    // Main may have links to what is deleted.
    for (place, change) in written.written.changes.sorted where change.kind == .deleted {
      ofMain.changes.keep(change, at: place)
    }
    guard !ofMain.changes.isEmpty else { return }
    above.note(ofMain, seen: seen)
  }
}

/// What an import has flushed: enough to tell main and observers of it after the commit.
struct Flushed {
  /// More changes than this are told as "look again".
  static let maximumCount = 10_000

  var tables: Set<Int> = []
  var notice = ChangeNotice()
  var isTooMuch = false

  mutating func note(_ written: WrittenChanges, _ root: RootContext) {
    for table in written.changes.tables.keys { tables.insert(table) }
    for key in written.changes.links.owners {
      tables.insert(root.layout.entities[root.layout.links[key.link].owner].tableIndex)
    }
    // Who begins to listen before the commit is told to look again.
    if !root.notices.hasObservers, root.followers.isEmpty { isTooMuch = true }
    guard !isTooMuch else { return }
    notice.merge(ChangeNotice(written.changes, root.layout))
    limit()
  }

  /// Notes a new object of a table; nil: nobody knows which.
  mutating func note(inserted id: @autoclosure () -> ObjectID?, table: Int) {
    tables.insert(table)
    guard !isTooMuch else { return }
    guard let id = id() else { return giveUp() }
    notice.inserted.insert(id)
    limit()
  }

  /// Notes a changed object of a table; nil: nobody knows which.
  mutating func note(updated id: @autoclosure () -> ObjectID?, _ names: Set<String>, table: Int) {
    tables.insert(table)
    guard !isTooMuch else { return }
    guard let id = id() else { return giveUp() }
    if !notice.inserted.contains(id) { notice.updated[id] = names }
    limit()
  }

  private mutating func limit() {
    if notice.count > Self.maximumCount { giveUp() }
  }

  private mutating func giveUp() {
    isTooMuch = true
    notice = ChangeNotice()
  }

  /// The notice after the commit.
  func told(_ layout: ModelLayout) -> ChangeNotice {
    guard isTooMuch else { return notice }
    let names = tables.map { layout.entities[layout.tables[$0].root].name }
    return ChangeNotice(refreshedEntities: Set(names))
  }
}

extension ChangeNotice {
  /// How many objects are named.
  var count: Int { inserted.count + updated.count + deleted.count }

  /// Joins a later notice of the same transaction.
  mutating func merge(_ later: ChangeNotice) {
    inserted.formUnion(later.inserted)
    for (id, names) in later.updated where !inserted.contains(id) {
      updated[id, default: []].formUnion(names)
    }
    for id in later.deleted {
      updated[id] = nil
      if inserted.remove(id) == nil { deleted.insert(id) }
    }
    refreshedEntities.formUnion(later.refreshedEntities)
  }
}

extension Stack {
  /// Makes unique keys known to the store and to contexts that the model does not have yet.
  ///
  /// - Throws: `StoreError`, `.modelConflict`, where objects share the values of a key.
  package func declare(_ keys: [DeclaredKey]) async throws {
    let root = root
    try await run { try root.declare(keys, in: nil) }
  }

  /// Runs a closure with a background context that writes through one transaction: `flush()` puts
  /// what is unsaved into it, and everything is committed at the end, or nothing.
  ///
  /// Main is told once, after the commit.
  package func writeInOneTransaction<T: Sendable>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> T
  ) async throws -> T {
    let root = root
    return try await run {
      let context = ManagedObjectContext(.background, root: root)
      defer { context.close() }
      let value = try root.store.write { session in
        try session.begin()
        context.session = session
        defer { context.session = nil }
        let value = try body(context)
        try context.flush()
        try root.commit(session)
        for (written, seen) in context.above.written.list {
          root.main.settle(written, seen: seen, yields: false, root.layout)
        }
        return value
      }
      root.announce(context.flushed, context.above.written.list.map(\.changes), by: context)
      return value
    }
  }
}
