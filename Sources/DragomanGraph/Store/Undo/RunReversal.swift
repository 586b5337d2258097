import GRDB

/// Takes back what an import did, in an open transaction.
///
/// Every row must be as the import left it: one that is not is named and left alone, and the caller rolls back.
struct RunReversal {
  /// What is done to a row.
  private struct Effect {
    /// Whether the row is there before.
    let isThere: Bool
    /// Whether it is there afterwards.
    var stays: Bool
    /// The version that the import left.
    var version: Int64
    /// Whether the last run that is taken back wrote it; all others come to nothing.
    var isOwn = false
  }

  /// How many conflicts are named.
  private static let maximumConflictCount = 100
  /// How many rows are deleted at once.
  private static let portion: Int64 = 20_000

  private let layout: ModelLayout
  private let database: Database
  private let path: String?
  /// Called between portions of the work.
  private let keep: () throws -> Void
  private var recorded = RecordedRun(tables: [])
  private var isLast = false
  private var effects: [RowKey: Effect] = [:]
  /// The keys of the rows that the run at hand wrote, by table, where they are to get something besides.
  private var written: [Int: Set<Int64>] = [:]
  /// Whether rows of any table, of others' too, may refer to objects that are gone.
  private(set) var leavesReferences = false
  private(set) var conflicts: [Conflict] = []
  /// Each once, however many parts of the record tell of it.
  private var known: Set<Conflict> = []
  var conflictCount: Int { known.count }
  /// How many rows of new tables were deleted, by table; those that `effects` has are not counted.
  private var deletions: [Int: Int] = [:]

  init(
    _ layout: ModelLayout,
    in database: Database,
    path: String?,
    keep: @escaping () throws -> Void
  ) {
    self.layout = layout
    self.database = database
    self.path = path
    self.keep = keep
  }

  /// Takes back one import, after all later ones that are to be taken back.
  ///
  /// - Parameters:
  ///   - run: The import's number in the ledger.
  ///   - isLast: Whether it is the one that is asked for.
  /// - Throws: `.undo` where it is not recorded, or the tables are others by now.
  mutating func takeBack(_ run: Int64, isLast: Bool) throws {
    recorded = try load(run)
    written = [:]
    var waiting = WaitingReversal(layout, in: database)
    self.isLast = isLast
    try RecordedRun.forEachChangeset(of: run, sql) { changes in
      let inverted = try changes.inverted()
      try waiting.takeBack(inverted)
      try inverted.withRows { note($0) }
      var found: [Conflict] = []
      var exchanges: [Exchange] = []
      let leaves = try inverted.apply(to: database, without: PendingReference.table) {
        row,
        reason in
        if reason == .refused, let exchange = exchange(row) {
          exchanges.append(exchange)
        } else if let conflict = conflict(row, reason) {
          found.append(conflict)
        }
      }
      leavesReferences = leavesReferences || leaves
      for conflict in found { add(conflict) }
      try resolve(exchanges)
      try keep()
    }
    for table in recorded.newTables { try check(table, of: run) }
    try check(waiting)
    // Nothing will stand, and the objects in the way have to be named.
    guard conflictCount == 0 else { return }
    // What later imports have linked from the other side is not the import's: whoever lost it is to be told.
    let later = try LaterLinks(recorded.newLinks, than: run, sql, database)
    for links in recorded.newLinks { try delete(links, but: later) }
    for table in recorded.newTables { try delete(table) }
    try later.deleteLoose(layout)
    for addition in recorded.additions ?? [] { try give(addition) }
  }

  /// Gives rows that are back what those got meanwhile that were there.
  private mutating func give(_ addition: RowAddition) throws {
    guard let table = tableIndex(addition.table) else { return }
    let keys = (written[table] ?? []).filter {
      effects[RowKey(table: table, key: $0)]?.stays == true
    }
    for key in try addition.give(to: keys.sorted(), in: database) {
      add(Conflict(table: table, key: key, links: nil, reason: .taken))
    }
  }

  private var sql: FileSQL { FileSQL(database: database, path: path) }

  private func load(_ run: Int64) throws -> RecordedRun {
    guard let recorded = try RecordedRun.load(run, sql) else {
      throw StoreError(
        .undo,
        "Of import \(run) nothing is kept that could be taken back.",
        help:
          "the last \(RecordedRun.keptCount) imports that changed something are kept, of a million rows each"
          + " at most, unless an import was told otherwise, until a migration changes columns",
        path: path
      )
    }
    let others = try recorded.tables.filter {
      try !database.columnNames(of: $0.name).starts(with: $0.columns, by: hasSameBytes)
    }
    // What was done to other tables can be taken back all the same.
    let changed: Set<NameKey> =
      others.isEmpty ? [] : try RecordedRun.changedTables(of: run, sql)
    if let table = others.first(where: { changed.contains(NameKey($0.name)) }) {
      throw StoreError(
        .undo,
        "The table \(table.name) was migrated since import \(run), which cannot be taken back any more.",
        path: path
      )
    }
    for table in recorded.newTables.map(\.name) + recorded.newLinks.map(\.name)
    where try !database.hasTable(table) {
      throw StoreError(
        .undo,
        "The table \(table) of import \(run) is not there any more.",
        path: path
      )
    }
    try recorded.checkEntities(of: run, sql, in: database)
    return recorded
  }

  /// How many rows of a table of objects came back, went, and have their former values.
  func counts(of table: Int) -> (restored: Int, deleted: Int, changed: Int) {
    var counts = (restored: 0, deleted: deletions[table] ?? 0, changed: 0)
    for (place, effect) in effects where place.table == table {
      switch (effect.isThere, effect.stays) {
      case (false, true): counts.restored += 1
      case (true, false): counts.deleted += 1
      case (true, true): counts.changed += effect.isOwn ? 1 : 0
      case (false, false): break
      }
    }
    return counts
  }

  // MARK: - Rows

  private func columns(of table: String) -> [String]? {
    recorded.tables.first { hasSameBytes($0.name, table) }?.columns
  }

  private func tableIndex(_ name: String) -> Int? {
    layout.tables.firstIndex { hasSameBytes($0.name, name) }
  }

  private mutating func note(_ row: Changeset.Row) {
    guard let table = tableIndex(row.table), let columns = columns(of: row.table),
      let keyColumn = columns.firstIndex(of: "_pk"),
      let versionColumn = columns.firstIndex(of: "_v"),
      let key = row.key(Int32(keyColumn))?.integer
    else { return }
    let version =
      (row.operation == .inserted ? row.new(Int32(versionColumn)) : row.old(Int32(versionColumn)))?
      .integer ?? 0
    let place = RowKey(table: table, key: key)
    var effect =
      effects[place]
      ?? Effect(isThere: row.operation != .inserted, stays: true, version: version)
    effect.stays = row.operation != .deleted
    effect.version = max(effect.version, version)
    effect.isOwn = effect.isOwn || isLast
    effects[place] = effect
    if recorded.additions != nil { written[table, default: []].insert(key) }
  }

  /// What is told of a row that was left alone; nil: it is as it should be all the same.
  private func conflict(_ row: Changeset.Row, _ reason: Changeset.Conflict) -> Conflict? {
    // Somebody has deleted already what is to be deleted.
    if row.operation == .deleted, reason == .gone { return nil }
    if let table = tableIndex(row.table) {
      let column = columns(of: row.table)?.firstIndex(of: "_pk") ?? 0
      return Conflict(
        table: table,
        key: row.key(Int32(column))?.integer,
        links: nil,
        reason: reason
      )
    }
    guard let columns = columns(of: row.table), let owner = columns.firstIndex(of: "owner") else {
      return nil
    }
    // The same link, made again.
    if row.operation == .inserted, reason == .taken, !columns.contains("position") { return nil }
    guard let owners = owners(of: row.table) else { return nil }
    return Conflict(
      table: owners,
      key: row.key(Int32(owner))?.integer,
      links: row.table,
      reason: reason
    )
  }

  /// The table of the owners of a table of links.
  private func owners(of links: String) -> Int? {
    for link in layout.links {
      if case .joinTable(let join, isOwner: true) = link.storage, hasSameBytes(join.name, links) {
        return tableIndex(join.ownerTable)
      }
    }
    return nil
  }

  private mutating func add(_ conflict: Conflict) {
    guard known.insert(conflict).inserted, conflicts.count < Self.maximumConflictCount else {
      return
    }
    conflicts.append(conflict)
  }

  /// Objects that go must not wait for what the import did not let them wait for.
  private mutating func check(_ waiting: WaitingReversal) throws {
    var leaving: [Int: ClosedRange<Int64>] = [:]
    for new in recorded.newTables where new.first <= new.last {
      if let table = tableIndex(new.name) { leaving[table] = new.first...new.last }
    }
    for found in try waiting.conflicts(besides: leaving) {
      add(Conflict(table: found.table, key: found.key, links: nil, reason: found.reason))
    }
    var late: [(table: Int, key: Int64)] = []
    for table in Set(effects.filter { !$0.value.stays }.map(\.key.table)) {
      let isGone = "owner NOT IN (SELECT _pk FROM main.\(Schema.quoted(layout.tables[table].name)))"
      late += try waiting.owners(of: table, where: isGone).map { (table, $0) }
        .filter { effects[RowKey(table: $0, key: $1)]?.stays == false }
    }
    for new in recorded.newTables {
      guard let last = recorded.lastWaiting, let table = tableIndex(new.name) else { continue }
      let isNew = "owner BETWEEN ? AND ? AND id > ?"
      late += try waiting.owners(of: table, where: isNew, [new.first, new.last, last])
        .map { (table, $0) }
    }
    for (table, key) in late {
      add(Conflict(table: table, key: key, links: nil, reason: .changed))
    }
  }

  // MARK: - Values that rows take from each other

  /// A row of a table of objects that has only to wait for others.
  private func exchange(_ row: Changeset.Row) -> Exchange? {
    guard row.operation == .updated, let table = tableIndex(row.table),
      let columns = columns(of: row.table),
      let place = columns.firstIndex(of: "_pk"), let key = row.key(Int32(place))?.integer
    else { return nil }
    let values = columns.enumerated().compactMap { index, column in
      index == place ? nil : row.new(Int32(index)).map { (column, $0) }
    }
    return Exchange(table: table, key: key, values: values)
  }

  /// Lets all of them give up what they have, and then take what they had.
  private mutating func resolve(_ exchanges: [Exchange]) throws {
    for exchange in exchanges {
      // A version is nobody else's.
      let given = exchange.values.map(\.column).filter { $0 != "_v" }
      if given.isEmpty { continue }
      let sets = given.map { "\(Schema.quoted($0)) = NULL" }.joined(separator: ", ")
      try database.execute(
        sql: "UPDATE main.\(name(of: exchange)) SET \(sets) WHERE _pk = ?",
        arguments: [exchange.key]
      )
    }
    for exchange in exchanges {
      let sets = exchange.values.map { "\(Schema.quoted($0.column)) = ?" }.joined(separator: ", ")
      let statement = try RawStatement(
        "UPDATE main.\(name(of: exchange)) SET \(sets) WHERE _pk = ?",
        in: database
      )
      for (index, value) in exchange.values.enumerated() {
        try statement.bind(value.value, Int32(index) + 1)
      }
      statement.bind(integer: exchange.key, Int32(exchange.values.count) + 1)
      do throws(DatabaseError) {
        try statement.run()
      } catch {
        // A trigger of somebody's may have rolled back everything.
        guard error.resultCode == .SQLITE_CONSTRAINT, database.isInsideTransaction else {
          throw error
        }
        add(Conflict(table: exchange.table, key: exchange.key, links: nil, reason: .taken))
      }
    }
  }

  private func name(of exchange: Exchange) -> String {
    Schema.quoted(layout.tables[exchange.table].name)
  }

  // MARK: - Tables that were empty

  /// Versions only rise: a row that has the one that the import left is as it left it.
  private mutating func check(_ new: RecordedRun.NewTable, of run: Int64) throws {
    guard let table = tableIndex(new.name) else { return }
    var kept = RowVersions(new, of: run, sql)
    let changed = try Row.fetchCursor(
      database,
      sql: "SELECT _pk, _v FROM main.\(Schema.quoted(new.name))"
        + " WHERE _v IS NOT 1 AND _pk BETWEEN ? AND ? ORDER BY _pk",
      arguments: [new.first, new.last]
    )
    while let row = try changed.next() {
      let key: Int64 = try row.stored(0, of: new.name)
      if try kept.version(of: key) != (row.stored(1, of: new.name, as: Int64?.self)) {
        add(Conflict(table: table, key: key, links: nil, reason: .changed))
      }
    }
  }

  private func delete(_ links: RecordedRun.NewLinks, but later: LaterLinks) throws {
    guard let owners = recorded.newTable(links.owners) else { return }
    try forEachPortion(of: owners) { first, last in
      try database.execute(
        sql: "DELETE FROM main.\(Schema.quoted(links.name)) WHERE owner BETWEEN ? AND ?"
          + " AND NOT (\(later.test(for: links)))",
        arguments: [first, last]
      )
    }
  }

  private mutating func delete(_ new: RecordedRun.NewTable) throws {
    guard let table = tableIndex(new.name) else { return }
    var count = 0
    try forEachPortion(of: new) { first, last in
      try database.execute(
        sql: "DELETE FROM main.\(Schema.quoted(new.name)) WHERE _pk BETWEEN ? AND ?",
        arguments: [first, last]
      )
      count += database.changesCount
    }
    for (place, effect) in effects
    where place.table == table && effect.stays && (new.first...new.last).contains(place.key) {
      effects[place]?.stays = false
      count -= 1
    }
    deletions[table, default: 0] += count
    for link in layout.links where layout.entities[link.owner].tableIndex == table {
      try database.execute(
        sql: """
          DELETE FROM main.\(PendingReference.table)
          WHERE relationship = ? AND owner BETWEEN ? AND ?
          """,
        arguments: ["\(layout.entities[link.owner].name).\(link.name)", new.first, new.last]
      )
    }
  }

  private func forEachPortion(
    of table: RecordedRun.NewTable,
    _ body: (Int64, Int64) throws -> Void
  ) throws {
    var first = table.first
    while first <= table.last {
      let last = min(first.addingReportingOverflow(Self.portion - 1).partialValue, table.last)
      try body(first, last)
      try keep()
      if last == table.last { return }
      first = last + 1
    }
  }

  // MARK: - Versions

  /// No version is given twice: who has read what the import wrote must see that it is gone.
  func raiseVersions() throws {
    for (place, effect) in effects where effect.stays {
      let table = Schema.quoted(layout.tables[place.table].name)
      let statement = try RawStatement(
        kept: "UPDATE main.\(table) SET _v = max(_v, ?2) + 1 WHERE _pk = ?1",
        in: database
      )
      statement.bind(integer: place.key, 1)
      statement.bind(integer: effect.version, 2)
      try statement.run()
    }
  }
}
