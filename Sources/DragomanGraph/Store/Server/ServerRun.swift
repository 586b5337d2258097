import Synchronization

/// An import in batches that writes beside others: what it keeps in tables of its own, and the lock that tells
/// whether it is under way.
///
/// The lock is one of the session (`pg_try_advisory_lock`): it is gone with the connection, wherever the process
/// that has it is, and however that ends.
struct ServerRun: Sendable {
  /// What the names of all of them begin with.
  static let prefix = "_dragoman_run"

  private let number: Int32

  /// Runs of this process, whether they are under way and the server's process that had their lock last: a connection that
  /// was cut may keep it for a while, of which this process knows better.
  private static let own = Mutex<[Int32: (isRunning: Bool, backend: Int64)]>([:])

  /// A new one; its number is a random one.
  init() { number = Int32.random(in: 1...Int32.max) }

  /// The run of a table; nil: it is another table.
  init?(_ name: String) {
    guard name.hasPrefix(Self.prefix), let number = Int32(name.dropFirst(Self.prefix.count)),
      number > 0
    else { return nil }
    self.number = number
  }

  /// What its tables are called.
  var name: String { "\(Self.prefix)\(number)" }

  private var waiting: String { "\(name)_waiting" }

  /// The space of keys of runs beside that of writers.
  private var lock: String { "\(Schema.applicationID &+ 1), \(number)" }

  // MARK: - Whether it runs

  /// Takes the lock, and makes the table of what waits.
  ///
  /// - Returns: Whether the connection has the lock: one that was cut may keep it for a while.
  func begin(on connection: any ServerConnection) throws -> Bool {
    try connection.run(
      "CREATE TABLE IF NOT EXISTS \(waiting) (relationship text, owner bigint, list text,"
        + " PRIMARY KEY (relationship, owner))"
    )
    return try hold(on: connection)
  }

  /// Takes the lock on a connection that does not have it.
  ///
  /// - Throws: `StoreError`, `.busy`, where somebody else has it.
  func hold(on connection: any ServerConnection) throws -> Bool {
    let isHeld = try connection.text("SELECT pg_try_advisory_lock(\(lock))::text") == "true"
    let known = Self.own.withLock { $0[number]?.backend }
    if !isHeld, let holder = try holder(connection), holder != known {
      throw StoreError(
        .busy,
        "Another process goes on with the same import.",
        help: "wait for its end"
      )
    }
    let backend = Int64(try connection.text("SELECT pg_backend_pid()::text") ?? "") ?? 0
    Self.own.withLock { $0[number] = (true, isHeld ? backend : known ?? backend) }
    return isHeld
  }

  /// The server's process that has the lock; nil: none.
  private func holder(_ connection: any ServerConnection) throws -> Int64? {
    try connection.text(
      "SELECT pid::text FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2"
        + " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        + " AND classid = \(UInt32(bitPattern: Schema.applicationID &+ 1)) AND objid = \(number)"
    ).flatMap { Int64($0) }
  }

  /// Whether somebody has the lock; nil: a standby does not know who has it on the server that it follows.
  func isRunning(_ connection: any ServerConnection) throws -> Bool? {
    let known = Self.own.withLock { $0[number] }
    if known?.isRunning == true { return true }
    guard let holder = try holder(connection) else {
      return try connection.text("SELECT pg_is_in_recovery()::text") == "true" ? nil : false
    }
    return holder != known?.backend
  }

  /// Gives the lock back.
  func end(on connection: any ServerConnection) {
    Self.own.withLock { $0[number]?.isRunning = false }
    guard connection.isUsable, !connection.isInTransaction else { return connection.close() }
    // A connection that fails here is not used again.
    try? connection.run("SELECT pg_advisory_unlock(\(lock))")
  }

  // MARK: - What it keeps

  /// Keeps lists of targets that wait, and owners that are counted as unchanged until then; an owner without an
  /// entity is so no more.
  func keep(
    _ lists: [(relationship: String, owner: Int64, text: String?)],
    _ owners: [KeptRun.UnchangedOwner],
    on connection: any ServerConnection
  ) throws {
    var kept = [ServerArray(.text), ServerArray(.bigint), ServerArray(.text)]
    for list in lists {
      try kept[0].append(.text(list.relationship))
      kept[1].append(list.owner)
      try kept[2].append(list.text.map { .text($0) } ?? .null)
    }
    if !lists.isEmpty {
      try connection.run(
        "INSERT INTO \(waiting) SELECT * FROM \(kept.unnested) ON CONFLICT (relationship, owner)"
          + " DO UPDATE SET list = excluded.list",
        kept.parameters
      )
    }
    let gone = owners.filter(\.entity.isEmpty)
    if !gone.isEmpty {
      try connection.run(
        "DELETE FROM \(name)_unchanged AS u USING unnest($1::bigint[], $2::bigint[]) AS n(r, k)"
          + " WHERE u.root = n.r AND u.pk = n.k",
        [ServerParameter(gone.map { Int64($0.root) }), ServerParameter(gone.map(\.key))]
      )
    }
    let left = owners.filter { !$0.entity.isEmpty }
    guard !left.isEmpty else { return }
    var said = [
      ServerArray(.bigint), ServerArray(.bigint), ServerArray(.text), ServerArray(.bigint),
    ]
    for owner in left {
      said[0].append(Int64(owner.root))
      said[1].append(owner.key)
      try said[2].append(.text(owner.entity))
      said[3].append(Int64(owner.isTop ? 1 : 0))
    }
    try connection.run(
      "INSERT INTO \(name)_unchanged (root, pk, entity, top) SELECT * FROM \(said.unnested)"
        + " ON CONFLICT (root, pk) DO UPDATE SET entity = excluded.entity, top = excluded.top",
      said.parameters
    )
  }

  /// Forgets lists of owners of whom others have said since what they lead to.
  ///
  /// Who keeps them finds out when they come to their end (`ended`). Two imports may say the same of each other's owners:
  /// each locks their rows in one order, with its own ones, which it keeps later, among them.
  ///
  /// - Parameters:
  ///   - owners: They, by relationship.
  ///   - runs: Those that may have lists of them.
  ///   - own: The one that says so; nil: it keeps none.
  ///   - connection: In a transaction.
  /// - Throws: `ServerError`.
  static func endWaiting(
    _ owners: [String: Set<Int64>],
    in runs: [ServerRun],
    besides own: ServerRun?,
    on connection: any ServerConnection
  ) throws {
    var said = [ServerArray(.text), ServerArray(.bigint)]
    for (relationship, owners) in owners {
      for owner in owners {
        try said[0].append(.text(relationship))
        said[1].append(owner)
      }
    }
    for run in (runs + (own.map { [$0] } ?? [])).sorted(by: { $0.number < $1.number }) {
      try connection.run(
        "SELECT FROM \(run.waiting) AS w JOIN \(said.unnested) AS n(r, o)"
          + " ON w.relationship = n.r AND w.owner = n.o ORDER BY w.relationship, w.owner FOR UPDATE OF w",
        said.parameters
      )
      if run.number == own?.number { continue }
      try connection.run(
        "UPDATE \(run.waiting) AS w SET list = NULL FROM \(said.unnested) AS n(r, o)"
          + " WHERE w.relationship = n.r AND w.owner = n.o AND w.list IS NOT NULL",
        said.parameters
      )
    }
  }

  /// The owners that had a list and have none any more.
  func ended(on connection: any ServerConnection) throws -> [(relationship: String, owner: Int64)] {
    var found: [(relationship: String, owner: Int64)] = []
    try connection.forEachRow("SELECT relationship, owner FROM \(waiting) WHERE list IS NULL") {
      row in
      if let relationship = row[0].text { found.append((relationship, row[1].number)) }
    }
    return found
  }

  /// The lists of targets that wait.
  func lists(
    on connection: any ServerConnection
  ) throws -> [(relationship: String, owner: Int64, text: String)] {
    var found: [(relationship: String, owner: Int64, text: String)] = []
    try connection.forEachRow(
      "SELECT relationship, owner, list FROM \(waiting) WHERE list IS NOT NULL ORDER BY relationship, owner"
    ) { row in
      guard let relationship = row[0].text, let text = row[2].text else { return }
      found.append((relationship, row[1].number, text))
    }
    return found
  }
}

extension ServerSession {
  func otherRuns() throws -> OtherRuns {
    var (names, lastPending): ([String], Int64) = ([], 0)
    // Those of another user may be closed to this one.
    try connection.forEachRow(
      "SELECT left(relname::text, -8), 0::bigint"
        + " \(ServerSQL.tables(beginning: ServerRun.prefix, allowing: "SELECT", "UPDATE"))"
        + " AND right(relname::text, 8) = '_waiting' UNION ALL SELECT NULL, max(id) FROM _dragoman_pending"
    ) { row in
      if let name = row[0].text { names.append(name) } else { lastPending = row[1].number }
    }
    let others = names.filter { $0 != ownRun && ServerRun($0) != nil }
    return OtherRuns(names: others.sorted(), lastPending: lastPending)
  }

  func endWaiting(_ owners: [String: Set<Int64>], in runs: [String]) throws {
    try ServerRun.endWaiting(
      owners,
      in: runs.compactMap { ServerRun($0) },
      besides: ownRun.flatMap { ServerRun($0) },
      on: connection
    )
  }
}
