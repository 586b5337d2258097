import GRDB

/// The links of one relationship on their way into the store.
///
/// While rows are written, links are only put into a temporary table, one prepared `INSERT` each.
/// `flush()` stores them all with a handful of statements, however many they are (`LinkStage+Flush`):
/// keys are looked up by joins on the target's unique index, and what differs is inserted, updated and
/// deleted. Keys that nobody has yet move to a second table and wait for the end of the import
/// (`LinkStage+Waiting`, `LinkStage+Finish`).
///
/// What a stage holds of one owner must come from one record: who stages an owner for the second
/// time flushes first (`holds(_:)`), so that two records about one object behave as two imports.
///
/// Large because one temporary table is filled, joined and emptied in it: all its statements name the same
/// columns.
package final class LinkStage {
  package let plan: Plan
  let database: Database
  let path: String?
  let layout: ModelLayout
  let owner: EntityLayout
  let target: EntityLayout
  /// The tables: staged links, their owners, references that wait.
  ///
  /// They are temporary, but for what waits of an import that can be resumed: that is in the file.
  let links: String
  let owners: String
  let waiting: String
  /// Friends that wait for their turn (`storeInTurn`).
  let turns: String
  let primaryKeys: PrimaryKeys
  /// Those of the owners, which their places in ordered inverses are.
  let ownerKeys: PrimaryKeys
  private let insertLink: RawStatement
  private let insertOwner: RawStatement
  /// The owners that are staged.
  @exclusivity(unchecked) private(set) var stagedOwners: [Int64: StagedOwner] = [:]
  /// The lists of the owners that are staged, one behind the other.
  @exclusivity(unchecked) private var listed: ContiguousArray<Listed> = []
  /// The owner that was staged last.
  @exclusivity(unchecked) private var lastOwner: Int64?
  @exclusivity(unchecked) private var isStaged = false
  /// What is staged, as far as it saves statements to know.
  @exclusivity(unchecked) var staged = Staged()
  /// What is staged and not in the tables.
  @exclusivity(unchecked) var deferred = DeferredLinks()
  /// By the hash of a key, the last owner that names its target, where only one may have it.
  @exclusivity(unchecked) var claims: [Int: Int64] = [:]
  /// How many rows the table of what waits has.
  package internal(set) var waitingCount = 0
  private var markedWaitingCount = 0
  /// Whether references of this relationship wait from earlier imports.
  var hasPending = false
  /// Whether what waits is kept for one that goes on with the import.
  private let isKept: Bool
  /// The tables of what waits of this relationship in an import in batches that is under way beside this one.
  private(set) var othersWaiting: [String] = []
  /// The highest number that a reference that waits in the store had at the beginning of a transaction.
  var lastPending: Int64 = 0

  /// One target of a list as its record gave it.
  package enum Listed: Sendable, Equatable {
    /// An object, by its primary key.
    case object(Int64)
    /// A reference, by the place of its values in the batch.
    case key(Int)
  }

  struct StagedOwner {
    /// The number that its stager gave it.
    let number: Int
    /// How many were staged before it.
    let turn: Int
    /// Its list, a part of `listed`.
    let list: Range<Int>
  }

  /// What is staged, as far as it saves statements to know.
  struct Staged {
    /// Some targets are given by keys.
    var hasKeys = false
    /// Some owners were there before, and may have other links.
    var hasOldOwners = false
    /// Some places in lists are not taken.
    var hasGaps = false
    /// Some targets do not have the link in their own column yet.
    var hasUnlinked = false
    /// Some targets do not have their place yet.
    var hasUnplaced = false
    /// Several objects claim one target.
    var hasRivals = false
  }

  init(
    _ plan: Plan,
    number: Int,
    isKept: Bool,
    keys: (owners: PrimaryKeys, targets: PrimaryKeys),
    database: Database,
    path: String?,
    layout: ModelLayout
  ) throws {
    self.plan = plan
    self.isKept = isKept
    (ownerKeys, primaryKeys) = keys
    self.database = database
    self.path = path
    self.layout = layout
    owner = layout.entities[plan.link.owner]
    target = layout.entities[plan.link.destination]
    name = "\(owner.name).\(plan.link.name)"
    links = "temp._dragoman_links\(number)"
    owners = "temp._dragoman_owners\(number)"
    turns = "temp._dragoman_turns\(number)"
    let (schema, kept) =
      isKept ? ("main", "_dragoman_run_waiting\(number)") : ("temp", "_dragoman_waiting\(number)")
    waiting = "\(schema).\(kept)"
    let parts = plan.key.indices.map { ", k\($0)" }.joined()
    for table in [links, owners, turns] + (isKept ? [] : [waiting]) {
      try database.execute(sql: "DROP TABLE IF EXISTS \(table)")
    }
    // `state` of what waits: null while nobody has the key, 1 when somebody has just come, 0 for
    // targets that are linked and only tell the places of the others.
    try database.execute(
      sql: """
        CREATE TABLE \(links) (
          seq INTEGER PRIMARY KEY, owner INTEGER, position INTEGER, target INTEGER, fresh INTEGER,
          node INTEGER, record INTEGER, ordinal INTEGER\(parts));
        CREATE INDEX temp._dragoman_links\(number)_target ON _dragoman_links\(number) (owner, target);
        CREATE TABLE \(owners) (owner INTEGER PRIMARY KEY);
        CREATE TABLE IF NOT EXISTS \(waiting) (
          seq INTEGER PRIMARY KEY, owner INTEGER, position INTEGER, target INTEGER, state INTEGER,
          ordinal INTEGER, file, line, "column", byte, record\(parts));
        CREATE INDEX IF NOT EXISTS \(waiting)_owner ON \(kept) (owner, target);
        """
    )
    if plan.link.isSymmetric {
      try database.execute(
        sql: "CREATE TABLE \(turns) AS SELECT * FROM \(links);"
          + " CREATE INDEX \(turns)_owner ON _dragoman_turns\(number) (owner)"
      )
    }
    if plan.link.relationship.isOrdered || plan.link.relationship.allowsRepeats, !plan.replaces {
      // A list that grows record by record asks for its last place, and for who waits, at each of them.
      try database.execute(
        sql: """
          CREATE INDEX IF NOT EXISTS \(waiting)_place ON \(kept) (owner, position);
          CREATE INDEX IF NOT EXISTS \(waiting)_key ON \(kept) (owner\(parts));
          """
      )
    }
    if !plan.key.isEmpty, layout.isExclusive(plan.link) || plan.mayEndEarly {
      try database.execute(
        sql: "CREATE INDEX IF NOT EXISTS \(waiting)_rival ON \(kept) (\(parts.dropFirst(2)))"
      )
    }
    let parameters = plan.key.map { _ in ", ?" }.joined()
    insertLink = try RawStatement(
      "INSERT INTO \(links) (owner, position, target, fresh, node, record, ordinal\(parts))"
        + " VALUES (?, ?, ?, ?, ?, ?, ?\(parameters))",
      in: database
    )
    insertOwner = try RawStatement("INSERT OR IGNORE INTO \(owners) VALUES (?)", in: database)
    if isKept {
      try database.execute(
        sql: "CREATE TABLE IF NOT EXISTS \(Self.kept) (number INTEGER PRIMARY KEY, name TEXT);"
          + " INSERT OR REPLACE INTO \(Self.kept) VALUES (\(number), \(Schema.literal(name)))"
      )
      waitingCount = try Int.fetchOne(database, sql: "SELECT count(*) FROM \(waiting)") ?? 0
    }
    try lookForPending()
  }

  /// Looks whether references wait from earlier imports, or from one beside this one, at the beginning of a
  /// transaction.
  func lookForPending() throws {
    hasPending =
      try Bool.fetchOne(
        database,
        sql: "SELECT EXISTS (SELECT 1 FROM _dragoman_pending WHERE relationship = ?)",
        arguments: [name]
      ) ?? false
    lastPending = max(
      lastPending,
      try Int64.fetchOne(database, sql: "SELECT max(id) FROM _dragoman_pending") ?? 0
    )
    // Files of earlier versions have none.
    if hasPending { try database.execute(sql: Schema.pendingIndex) }
    othersWaiting = isKept ? [] : try Self.waiting(of: name, in: database)
  }

  /// Which relationship each table of what waits is of, as long as an import in batches is not at its end.
  private static let kept = "_dragoman_run_relationships"

  /// The tables of what an import in batches, which is not at its end, lets wait of a relationship.
  static func waiting(of relationship: String, in database: Database) throws -> [String] {
    guard try database.hasTable(kept) else { return [] }
    return try Int.fetchAll(
      database,
      sql: "SELECT number FROM \(kept) WHERE name = ? ORDER BY number",
      arguments: [relationship]
    ).map { "main._dragoman_run_waiting\($0)" }
  }

  /// The relationship's name in the file and in reports: `Person.teams`.
  package let name: String

  /// Whether the links have a table of their own, so that the owner's row does not change with them.
  var isTable: Bool {
    if case .joinTable = plan.link.storage { true } else { false }
  }

  // MARK: - Staging

  /// Whether links of an owner are staged already.
  package func holds(_ owner: Int64) -> Bool { stagedOwners[owner] != nil }

  /// The number of an owner whose staged list surely lacks a target; nil: it has it, or a key of which nobody knows whose it is.
  package func number(of owner: Int64, lacking target: Int64) -> Int? {
    guard plan.replaces, let known = stagedOwners[owner] else { return nil }
    let mayHave = listed[known.list].contains { listed in
      if case .object(let key) = listed { key == target } else { true }
    }
    return mayHave ? nil : known.number
  }

  /// The targets of an owner that is staged, in the order of its list.
  func list(of owner: StagedOwner) -> some Collection<Listed> { listed[owner.list] }

  /// Whether links of an owner are staged already, exactly those of a list: staging them again would
  /// change nothing.
  ///
  /// Where targets hold the link, other owners may have taken one since; that is known only of objects
  /// whose rows were written (`Standing`), or if no owner came after this one.
  ///
  /// - Parameters:
  ///   - list: The targets of the list, in its order.
  ///   - owner: The owner's primary key.
  ///   - isSame: Whether two references are the same.
  /// - Returns: Whether nothing is to be done.
  package func holds(
    _ list: some Collection<Listed>,
    of owner: Int64,
    _ isSame: (Int, Int) -> Bool
  ) -> Bool {
    guard let known = stagedOwners[owner], known.list.count == list.count,
      isTable || !staged.hasUnlinked || lastOwner == owner
    else { return false }
    return zip(listed[known.list], list).allSatisfy { earlier, later in
      switch (earlier, later) {
      case (.object(let earlier), .object(let later)): earlier == later
      case (.key(let earlier), .key(let later)): isSame(earlier, later)
      default: false
      }
    }
  }

  /// Whether links are staged that no row has yet, or earlier records wait for targets whose links rows
  /// have: then every link is to be staged.
  package var hasUnlinked: Bool {
    staged.hasUnlinked || (waitingCount > 0 && layout.isExclusive(plan.link))
  }

  /// Whether some targets are named by a key that an object may lose: by another one than its identity.
  package var namesByOtherKeys: Bool {
    guard staged.hasKeys else { return false }
    let identity = target.uniqueKeys.first?.map(\.column)
    return plan.key.map(\.column) != identity
  }

  /// Whether anything is staged.
  package var isEmpty: Bool { !isStaged }

  /// Says that a record gives the links of an owner, if only an empty list.
  ///
  /// - Parameters:
  ///   - owner: The owner's primary key.
  ///   - isNew: Whether the record made the owner, so that it has no links yet.
  ///   - number: What `Outcome` gives back with the owner.
  ///   - list: The targets.
  /// - Throws: `StoreError` where the store fails.
  package func begin(
    _ owner: Int64,
    isNew: Bool,
    number: Int,
    list: some Collection<Listed>
  ) throws(StoreError) {
    let first = listed.count
    listed.append(contentsOf: list)
    if stagedOwners[owner] != nil { staged.hasRivals = true }
    stagedOwners[owner] = StagedOwner(
      number: number,
      turn: stagedOwners.count,
      list: first..<listed.count
    )
    lastOwner = owner
    isStaged = true
    guard plan.replaces, !isNew else { return }
    staged.hasOldOwners = true
    if waitingCount > 0 { try lookUpTargets(of: owner) }
    if deferred.isStored { try insert(owner: owner) } else { deferred.append(owner: owner) }
  }

  func insert(owner: Int64) throws(StoreError) {
    insertOwner.bind(integer: owner, 1)
    try run(insertOwner)
  }

  /// What is known of a target that is staged by its primary key.
  package enum Standing: Sendable {
    /// Nothing: the link is stored when the stage is.
    case unlinked
    /// Its row has the link already, and had it before the record.
    case linked
    /// Its row has the link, by the record; but not its place in the order.
    case linkedNow
    /// Its row has the link, by the record; but a list that is staged may have it, too, and it has no place.
    case contested
    /// Its row was made by the record, with the link and its place.
    case made
  }

  /// Whether an owner may have a target several times.
  var allowsRepeats: Bool { plan.link.relationship.allowsRepeats }

  /// Says that a place in a list is not taken, because the list has the target already.
  package func skipPlace() { staged.hasGaps = true }

  /// Stages a link to a target by its primary key.
  package func add(
    _ owner: Int64,
    position: Int,
    target: Int64,
    _ standing: Standing
  ) throws(StoreError) {
    isStaged = true
    let isUnlinked = standing == .unlinked || standing == .contested
    if isUnlinked { staged.hasUnlinked = true }
    if standing != .made { staged.hasUnplaced = true }
    let isFresh = standing != .unlinked && standing != .linked
    let link = DeferredLinks.Link(
      owner: owner,
      position: position,
      target: target,
      isFresh: isFresh
    )
    if !isUnlinked, !deferred.isStored { return deferred.append(link) }
    try storeDeferred()
    try insert(link)
  }

  func insert(_ link: DeferredLinks.Link) throws(StoreError) {
    insertLink.bind(integer: link.owner, 1)
    insertLink.bind(integer: Int64(link.position), 2)
    insertLink.bind(integer: link.target, 3)
    insertLink.bind(integer: link.isFresh ? 1 : 0, 4)
    for parameter in 5..<8 + plan.key.count { insertLink.bindNull(Int32(parameter)) }
    try run(insertLink)
  }

  /// Stages a link to a target by its key.
  ///
  /// - Parameters:
  ///   - owner: The owner's primary key.
  ///   - position: The place in the list, from 0.
  ///   - key: The parts of the target's key.
  ///   - arena: Where their text is.
  ///   - place: Where the key stands.
  /// - Throws: `StoreError` where the store fails.
  package func add(
    _ owner: Int64,
    position: Int,
    key: UnsafeBufferPointer<RowValue>,
    arena: UnsafeRawPointer,
    at place: ReferencePlace
  ) throws(StoreError) {
    try storeDeferred()
    isStaged = true
    staged.hasKeys = true
    staged.hasUnlinked = true
    staged.hasUnplaced = true
    insertLink.bind(integer: owner, 1)
    insertLink.bind(integer: Int64(position), 2)
    insertLink.bindNull(3)
    insertLink.bind(integer: 0, 4)
    insertLink.bind(integer: Int64(place.node), 5)
    insertLink.bind(integer: Int64(place.record), 6)
    insertLink.bind(integer: Int64(place.ordinal), 7)
    for (index, part) in key.enumerated() { insertLink.bind(part, Int32(8 + index), arena) }
    if case .inverseColumn = plan.link.storage { claims[hash(key, arena)] = owner }
    try run(insertLink)
  }

  private func run(_ statement: RawStatement) throws(StoreError) {
    do throws(DatabaseError) {
      try statement.run()
    } catch {
      throw StoreError(error, path: path)
    }
  }

  // MARK: - What is staged, in memory

  /// Owners with their numbers, each once, in the order of their keys.
  func numbered(_ keys: some Sequence<Int64>) -> [Owner] {
    Set(keys).sorted().compactMap { key in
      stagedOwners[key].map { Owner(key: key, number: $0.number) }
    }
  }

  /// Forgets everything that is staged: it was stored, or undone with its savepoint.
  package func forgetAll() {
    stagedOwners.removeAll(keepingCapacity: true)
    listed.removeAll(keepingCapacity: true)
    lastOwner = nil
    claims.removeAll(keepingCapacity: true)
    staged = Staged()
    deferred.removeAll()
    isStaged = false
  }

  /// Remembers where a record begins, or a run of them, that may be undone.
  package func mark() {
    markedWaitingCount = waitingCount
    deferred.mark()
  }

  /// Goes back to `mark()`: what came after it was undone in the store.
  package func undo() {
    waitingCount = markedWaitingCount
    deferred.undo()
  }

  /// Forgets an owner that was staged by what was undone.
  package func forget(_ owner: Int64) {
    stagedOwners[owner] = nil
    lastOwner = nil
  }
}
