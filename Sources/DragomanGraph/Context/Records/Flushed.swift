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
    if !root.isFollowed { isTooMuch = true }
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

  /// Notes that there is something new in tables, nobody knows what.
  mutating func note(tables: Set<Int>) {
    self.tables.formUnion(tables)
    giveUp()
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
    try await run { try root.whileOpen { try root.declare(keys, in: nil) } }
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
      let value = try root.whileOpen { try context.writeInOneTransaction(body) }
      root.tell()
      return value
    }
  }
}

extension ManagedObjectContext {
  fileprivate func writeInOneTransaction<T>(_ body: (ManagedObjectContext) throws -> T) throws -> T
  {
    try root.store.save { session in
      try session.begin()
      importing.session = session
      defer { importing.session = nil }
      let value = try body(self)
      try records.flush()
      try records.checkCounts()
      try root.commit(session)
      for (written, seen) in above.written.list {
        root.main.settle(written, seen: seen, yields: false, root.layout)
      }
      root.addNews(importing.flushed, above.written.list.map(\.changes), by: self)
      return value
    }
  }
}
