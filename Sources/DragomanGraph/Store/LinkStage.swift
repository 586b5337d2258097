import GRDB
import GRDBSQLite

/// The links of one relationship on their way into the store.
///
/// While rows are written, links are only put into a temporary table, one prepared `INSERT` each.
/// `flush()` stores them all with a handful of statements, however many they are: keys are looked
/// up by joins on the target's unique index, and what differs is inserted, updated and deleted. Keys
/// that nobody has yet move to a second table and wait for the end of the import (`LinkStage+Waiting`).
///
/// What a stage holds of one owner must come from one record: who stages an owner for the second
/// time flushes first (`holds(_:)`), so that two records about one object behave as two imports.
package final class LinkStage {
  /// Which relationship, and how its links are assigned.
  package struct Plan: Sendable {
    /// The relationship.
    package var link: RelationshipLayout
    /// The attributes and columns of the target's key; empty where targets are known by `_pk`.
    package var key: [(name: String, column: String)]
    /// Whether the links staged are all the links of their owner.
    package var replaces: Bool
    /// Whether objects that are unlinked are deleted.
    package var deletesUnlinked: Bool

    /// Describes a stage.
    package init(
      link: RelationshipLayout,
      key: [(name: String, column: String)],
      replaces: Bool,
      deletesUnlinked: Bool
    ) {
      self.link = link
      self.key = key
      self.replaces = replaces
      self.deletesUnlinked = deletesUnlinked
    }
  }

  /// What a flush did.
  package struct Outcome: Sendable {
    /// The owners whose links are others than before; an owner may occur several times.
    package var changedOwners: [Int64] = []
    /// How many links were made.
    package var linked = 0
    /// How many links were removed.
    package var unlinked = 0
    /// Objects deleted because they were unlinked, by entity.
    package var deleted: [String: Int] = [:]
    /// The relationship whose delete rule `deny` forbids that.
    package var denied: String?
  }

  let plan: Plan
  let database: Database
  let path: String?
  let layout: ModelLayout
  let owner: EntityLayout
  let target: EntityLayout
  let links: String
  let owners: String
  let waiting: String
  let insertLink: Statement
  let insertOwner: Statement
  let deleter: ObjectDeleter
  let primaryKeys: PrimaryKeys
  private var stagedOwners: Set<Int64> = []
  private var hasKeys = false
  private var isStaged = false
  /// How many references wait for their target.
  package internal(set) var waitingCount = 0
  /// Whether references of this relationship wait from earlier imports.
  var hasPending: Bool

  init(
    _ plan: Plan,
    number: Int,
    primaryKeys: PrimaryKeys,
    database: Database,
    path: String?,
    layout: ModelLayout
  ) throws {
    self.plan = plan
    self.primaryKeys = primaryKeys
    self.database = database
    self.path = path
    self.layout = layout
    owner = layout.entities[plan.link.owner]
    target = layout.entities[plan.link.destination]
    links = "temp._dragoman_links\(number)"
    owners = "temp._dragoman_owners\(number)"
    waiting = "temp._dragoman_waiting\(number)"
    deleter = try ObjectDeleter(database: database, path: path, layout: layout)
    let parts = plan.key.indices.map { ", k\($0)" }.joined()
    for table in [links, owners, waiting] {
      try database.execute(sql: "DROP TABLE IF EXISTS \(table)")
    }
    try database.execute(
      sql: """
        CREATE TABLE \(links) (
          seq INTEGER PRIMARY KEY, owner INTEGER, position INTEGER, target INTEGER, place, record\(parts));
        CREATE INDEX temp._dragoman_links\(number)_target ON _dragoman_links\(number) (owner, target);
        CREATE TABLE \(owners) (owner INTEGER PRIMARY KEY);
        CREATE TABLE \(waiting) (
          seq INTEGER PRIMARY KEY, owner INTEGER, position INTEGER, target INTEGER, outcome, file,
          line, "column", byte,
          record\(parts));
        CREATE INDEX temp._dragoman_waiting\(number)_owner ON _dragoman_waiting\(number) (owner);
        """
    )
    let parameters = plan.key.map { _ in ", ?" }.joined()
    insertLink = try database.makeStatement(
      sql: "INSERT INTO \(links) (owner, position, target, place, record\(parts))"
        + " VALUES (?, ?, ?, ?, ?\(parameters))"
    )
    insertOwner = try database.makeStatement(sql: "INSERT OR IGNORE INTO \(owners) VALUES (?)")
    hasPending =
      try Bool.fetchOne(
        database,
        sql: "SELECT EXISTS (SELECT 1 FROM _dragoman_pending WHERE relationship = ?)",
        arguments: ["\(owner.name).\(plan.link.name)"]
      ) ?? false
  }

  /// The relationship's name in the file and in reports: `Person.teams`.
  package var name: String { "\(owner.name).\(plan.link.name)" }

  /// The owner's entity, the relationship and the target's entity by name.
  package var ownerName: String { owner.name }
  package var relationshipName: String { plan.link.name }
  package var targetName: String { target.name }
  /// How many values a reference has.
  package var keyCount: Int { plan.key.count }
  /// Whether a part of the target's key is not to be shown.
  package var isSensitive: Bool {
    plan.key.contains { key in
      target.attributeSlot(named: key.name).map { target.attributes[$0].isSensitive } ?? false
    }
  }
  /// Whether the links have a table of their own, so that the owner's row does not change with them.
  package var isTable: Bool {
    if case .joinTable = plan.link.storage { true } else { false }
  }

  // MARK: - Staging

  /// Whether links of an owner are staged already.
  package func holds(_ owner: Int64) -> Bool { stagedOwners.contains(owner) }

  /// Whether anything is staged.
  package var isEmpty: Bool { !isStaged }

  /// Says that a record gives the links of an owner, if only an empty list.
  package func begin(_ owner: Int64) throws(StoreError) {
    stagedOwners.insert(owner)
    isStaged = true
    if plan.replaces || waitingCount > 0 || hasPending {
      let handle = insertOwner.sqliteStatement
      sqlite3_bind_int64(handle, 1, owner)
      try step(handle)
    }
  }

  /// Stages a link to a target by its primary key.
  package func add(_ owner: Int64, position: Int, target: Int64) throws(StoreError) {
    isStaged = true
    let handle = insertLink.sqliteStatement
    sqlite3_bind_int64(handle, 1, owner)
    sqlite3_bind_int64(handle, 2, Int64(position))
    sqlite3_bind_int64(handle, 3, target)
    for parameter in 4..<6 + plan.key.count { sqlite3_bind_null(handle, Int32(parameter)) }
    try step(handle)
  }

  /// Stages a link to a target by its key.
  ///
  /// - Parameters:
  ///   - owner: The owner's primary key.
  ///   - position: The place in the list, from 0.
  ///   - key: The parts of the target's key.
  ///   - arena: Where their text is.
  ///   - place: Where the key stands, as the caller of `flush` understands it.
  ///   - record: The number of the record.
  /// - Throws: `StoreError` where the store fails.
  package func add(
    _ owner: Int64,
    position: Int,
    key: UnsafeBufferPointer<RowValue>,
    arena: UnsafeRawPointer,
    place: UInt32,
    record: Int
  ) throws(StoreError) {
    isStaged = true
    hasKeys = true
    let handle = insertLink.sqliteStatement
    sqlite3_bind_int64(handle, 1, owner)
    sqlite3_bind_int64(handle, 2, Int64(position))
    sqlite3_bind_null(handle, 3)
    sqlite3_bind_int64(handle, 4, Int64(place))
    sqlite3_bind_int64(handle, 5, Int64(record))
    for (index, part) in key.enumerated() {
      PreparedSentence.bind(part, to: handle, Int32(6 + index), arena)
    }
    try step(handle)
  }

  private func step(_ handle: OpaquePointer?) throws(StoreError) {
    let code = sqlite3_step(handle)
    sqlite3_reset(handle)
    guard code == SQLITE_DONE else {
      throw StoreError(DatabaseError(resultCode: ResultCode(rawValue: code)), path: path)
    }
  }

  // MARK: - Flushing

  /// Stores what is staged.
  ///
  /// - Parameters:
  ///   - origin: Where the place of a key stands that nobody has.
  ///   - outcome: What is kept with it for `finish`.
  /// - Returns: What changed.
  /// - Throws: `StoreError` where the store fails.
  package func flush(
    origin: (UInt32, Int) -> WaitingPlace,
    outcome: (Int64) -> Int = { _ in 0 }
  ) throws(StoreError) -> Outcome {
    guard isStaged else { return Outcome() }
    defer { clear() }
    if case .column = plan.link.storage {
      // The owners staged are the targets of an exclusive to-one: nothing waits for them.
    } else {
      if waitingCount > 0 { try forgetWaiting("IN (SELECT owner FROM \(owners))") }
      if hasPending { try forgetPending("IN (SELECT owner FROM \(owners))") }
    }
    if hasKeys {
      try run("UPDATE \(links) SET target = (\(lookUp(in: links))) WHERE target IS NULL")
      try moveUnresolved(origin: origin, outcome: outcome)
    }
    var result = Outcome()
    switch plan.link.storage {
    case .column(let column): try makeExclusive(column, &result)
    case .inverseColumn(let column, let order): try storeColumn(column, order, &result)
    case .joinTable(let join, let isOwner):
      let table = LinkTable(join, isOwner: isOwner)
      try dropRepeats()
      if plan.replaces { try unlink(in: table, &result) }
      try link(in: table, appends: !plan.replaces, &result)
    }
    try run("DELETE FROM \(links)")
    try run("DELETE FROM \(owners)")
    return result
  }

  /// Forgets in memory what is staged, after it was stored, or undone with its savepoint.
  private func clear() {
    stagedOwners.removeAll(keepingCapacity: true)
    hasKeys = false
    isStaged = false
  }

  /// Forgets everything that is staged: it was undone.
  package func forgetAll() { clear() }

  /// Goes back to an earlier number of waiting references: later ones were undone.
  package func restoreWaitingCount(_ count: Int) { waitingCount = count }

  /// Forgets an owner whose record was undone.
  package func forget(_ owner: Int64) { stagedOwners.remove(owner) }

  /// `SELECT _pk …` of the target that has the key of a row of ours.
  func lookUp(in table: String) -> String {
    let name = table.replacing("temp.", with: "")
    let reference = RowSlot.Reference(
      number: 0,
      table: target.table,
      columns: plan.key.map(\.column),
      entities: target.root == target.index ? [] : target.family.map { layout.entities[$0].name }
    )
    return reference.select(plan.key.indices.map { "\(name).k\($0)" })
  }

  /// Where a to-many holds no target twice, the first place counts.
  private func dropRepeats() throws(StoreError) {
    guard !plan.link.relationship.allowsRepeats else { return }
    let name = links.replacing("temp.", with: "")
    try run(
      "DELETE FROM \(links) WHERE EXISTS (SELECT 1 FROM \(links) AS e WHERE e.owner = \(name).owner"
        + " AND e.target = \(name).target AND e.seq < \(name).seq)"
    )
  }

  /// A to-one whose inverse is one: nobody else has the target.
  private func makeExclusive(_ column: String, _ result: inout Outcome) throws(StoreError) {
    let table = Schema.quoted(owner.table)
    let name = Schema.quoted(column)
    try run(
      "UPDATE \(table) SET \(name) = NULL, _v = _v + 1 WHERE \(name) IN (SELECT target FROM \(links))"
        + " AND NOT EXISTS (SELECT 1 FROM \(links) AS _l WHERE _l.owner = \(table)._pk"
        + " AND _l.target = \(table).\(name))"
    )
    result.unlinked += database.changesCount
  }

  /// The links are a column of the targets.
  private func storeColumn(
    _ column: String,
    _ order: String?,
    _ result: inout Outcome
  ) throws(StoreError) {
    let table = Schema.quoted(target.table)
    let name = Schema.quoted(column)
    let place = order.map(Schema.quoted)
    let last = place.map {
      "(SELECT coalesce(max(\($0)), -1) + 1 FROM \(table) AS _t WHERE _t.\(name) = _l.owner)"
    }
    let position = plan.replaces ? "position" : "\(last ?? "0") + position"
    let set = place.map { ", \($0) = _s.place" } ?? ""
    var differs = "\(table).\(name) IS NOT _s.owner"
    if let place, plan.replaces { differs += " OR \(table).\(place) IS NOT _s.place" }
    let changed = try owners(
      "UPDATE \(table) SET \(name) = _s.owner\(set), _v = _v + 1 FROM"
        + " (SELECT target, owner, \(position) AS place, max(seq) FROM \(links) AS _l GROUP BY target) AS _s"
        + " WHERE \(table)._pk = _s.target AND (\(differs)) RETURNING \(name)"
    )
    result.changedOwners += changed
    result.linked += changed.count
    guard plan.replaces else { return }
    let unlinked =
      "FROM \(table) WHERE \(name) IN (SELECT owner FROM \(owners)) AND NOT EXISTS"
      + " (SELECT 1 FROM \(links) AS _l WHERE _l.owner = \(table).\(name) AND _l.target = \(table)._pk)"
    let lost = try owners("SELECT \(name) \(unlinked)")
    guard !lost.isEmpty else { return }
    result.changedOwners += lost
    result.unlinked += lost.count
    if plan.deletesUnlinked {
      try deleter.mark("_pk \(unlinked)", of: target)
      try delete(&result)
    } else {
      let clear = place.map { ", \($0) = NULL" } ?? ""
      try run(
        "UPDATE \(table) SET \(name) = NULL\(clear), _v = _v + 1 WHERE _pk IN (SELECT _pk \(unlinked))"
      )
    }
  }

  func delete(_ result: inout Outcome) throws(StoreError) {
    let outcome = try deleter.delete()
    result.denied = outcome.denied ?? result.denied
    result.deleted.merge(outcome.deleted, uniquingKeysWith: +)
  }

  // MARK: - SQL

  func run(
    _ sql: String,
    _ arguments: StatementArguments = StatementArguments()
  ) throws(StoreError) {
    do {
      try database.cachedStatement(sql: sql).execute(arguments: arguments)
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// Runs a statement that gives owners.
  func owners(_ sql: String) throws(StoreError) -> [Int64] {
    do {
      return try Int64.fetchAll(try database.cachedStatement(sql: sql))
    } catch {
      throw StoreError(error, path: path)
    }
  }
}
