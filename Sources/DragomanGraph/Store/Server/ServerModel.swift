/// The model that is stored on a server, in `_dragoman_model`.
struct ServerModel: Sendable {
  /// The model compiled.
  let layout: ModelLayout
  /// What tells it and its store from others; nil where there is none yet.
  let stamp: ServerStamp?
  /// How the tables lie on several machines; nil: they lie on one.
  let distribution: ServerDistribution?

  init(_ layout: ModelLayout, _ stamp: ServerStamp?, _ distribution: ServerDistribution?) {
    self.layout = layout
    self.stamp = stamp
    self.distribution = distribution
  }

  /// The tables of the model.
  var schema: ServerSchema { ServerSchema(layout, distribution) }

  /// Reads it; a schema without tables has an empty one.
  ///
  /// - Throws: `StoreError`: `.notAStore`, `.newerFormat` or `.damaged`.
  init(_ connection: any ServerConnection) throws {
    let distribution = try ServerDistribution(connection)
    var tables: [String] = []
    try connection.forEachRow(
      "SELECT relname::text \(ServerSQL.tables) ORDER BY relname = '_dragoman_copies' DESC,"
        + " relname = '_dragoman_model' DESC, relname LIMIT 6"
    ) { tables.append($0[0].text ?? "") }
    guard tables.first != "_dragoman_copies" else {
      throw StoreError(
        .notAStore,
        "A copy into this database has not come to its end.",
        help: "run it again: it goes on where it was stopped"
      )
    }
    guard tables.first == "_dragoman_model" else {
      guard tables.isEmpty else {
        throw StoreError(
          .notAStore,
          "The schema holds tables that Dragoman did not make: \(tables.prefix(5).joined(separator: ", ")).",
          help: "name another database, or a schema of its own: ?options=-csearch_path%3Dmyschema"
        )
      }
      self.init(ModelLayout(Model()), nil, distribution)
      return
    }
    // Asked first: where the model is written in between, it is looked at once more.
    let stamp = try ServerStamp(connection)
    var found: (format: Int64, model: String)?
    try connection.forEachRow("SELECT format, model FROM _dragoman_model WHERE id = 1") {
      found = ($0[0].number, $0[1].text ?? "")
    }
    guard let found, let stamp else {
      throw StoreError(.damaged, "The database has lost its model (_dragoman_model is empty).")
    }
    guard found.format <= Int64(Schema.formatVersion) else {
      throw StoreError(
        .newerFormat,
        "The database has format \(found.format); this version of Dragoman knows \(Schema.formatVersion).",
        help: "use a newer version of Dragoman"
      )
    }
    self.init(try Self.layout(of: found.model), stamp, distribution)
    do {
      try schema.checkTypes(connection)
    } catch let error as StoreError {
      // A migration may have come between.
      guard try ServerStamp(connection) != stamp else { throw error }
      try self.init(connection)
    }
  }

  /// A model as it is stored, compiled.
  ///
  /// - Throws: `StoreError`, `.damaged`.
  static func layout(of text: String) throws(StoreError) -> ModelLayout {
    try ModelLayout(stored: text)
  }

  /// Stores a model in place of the one that was there.
  static func save(_ layout: ModelLayout, to connection: any ServerConnection) throws {
    let text = try layout.storedText()
    try connection.run(
      "INSERT INTO _dragoman_model (id, format, model) VALUES (1, \(Schema.formatVersion), $1::text)"
        + " ON CONFLICT (id) DO UPDATE SET model = excluded.model",
      [try ServerParameter(text)]
    )
    try connection.run(ServerStamp.making)
  }

  /// Refuses a server that cannot hold a store.
  ///
  /// - Throws: `StoreError`, `.refused` or `.unreachable`.
  static func checkServer(_ connection: any ServerConnection) throws {
    var (version, encoding, schema) = (Int64(0), "", String?.none)
    try connection.forEachRow(
      "SELECT current_setting('server_version_num')::bigint, current_setting('server_encoding'),"
        + " current_schema()::text"
    ) { row in
      version = row[0].number
      encoding = row[1].text ?? ""
      schema = row[2].text
    }
    guard version >= 130_000 else {
      throw StoreError(
        .refused,
        "The server is PostgreSQL \(version / 10_000), which is too old: 13 is needed.",
        help: "upgrade the server, or name another one"
      )
    }
    guard encoding == "UTF8" else {
      throw StoreError(
        .refused,
        "The database has the encoding \(encoding), which cannot hold every text.",
        help: "make it with createdb -E UTF8 -T template0"
      )
    }
    guard schema != nil else {
      throw StoreError(
        .missing,
        "The search_path of the connection names no schema that is there.",
        help: "make the schema with CREATE SCHEMA, or correct search_path"
      )
    }
    try checkLocks(connection)
  }

  /// Writers wait for each other by advisory locks: a server that has the functions and keeps no locks would let all
  /// of them write at once.
  private static func checkLocks(_ connection: any ServerConnection) throws {
    let lock = Schema.applicationID &+ 3
    let isHeld = try connection.text(
      "SELECT (pg_try_advisory_xact_lock_shared(\(lock), 0) AND EXISTS (SELECT FROM pg_locks"
        + " WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
        + " AND classid = \(UInt32(bitPattern: lock))))::text"
    )
    guard isHeld == "true" else {
      throw StoreError(
        .refused,
        "The server keeps no advisory locks, by which those who write wait for each other.",
        help: "name a server of PostgreSQL itself"
      )
    }
  }
}

/// What tells a store on a server from another one in its place, and its model from another one.
struct ServerStamp: Sendable, Equatable {
  /// The table that holds the model (`tableoid`): one that was dropped and made again, or restored from a dump, has
  /// another number.
  let table: Int64
  /// A random text that the store got when it was made; nil in older ones, until their model is written again.
  let id: String?
  /// The transaction that wrote the model (`xmin`).
  let transaction: String

  /// Reads it; nil where there is no model.
  ///
  /// - Throws: `ServerError`.
  init?(_ connection: any ServerConnection) throws {
    var found: (table: Int64, id: String?, transaction: String)?
    try connection.forEachRow(
      "SELECT tableoid::bigint, (SELECT model FROM _dragoman_model WHERE id = 2), xmin::text"
        + " FROM _dragoman_model WHERE id = 1"
    ) { found = ($0[0].number, $0[1].text, $0[2].text ?? "") }
    guard let found else { return nil }
    (table, id, transaction) = found
  }

  /// Gives the store its random text, unless it has one.
  static let making =
    "INSERT INTO _dragoman_model (id, model) VALUES (2, md5(random()::text || clock_timestamp()::text))"
    + " ON CONFLICT (id) DO NOTHING"

  /// Whether it is the same store, whatever its model is by now.
  func isOfStore(of other: ServerStamp) -> Bool {
    table == other.table && (id == nil || other.id == nil || id == other.id)
  }

  /// Ends with an error of the state `outdated` where the model is another one by now: so it needs no answer.
  var check: String {
    "SELECT 1 / count(*) FROM _dragoman_model WHERE id = 1 AND tableoid = \(table)"
      + " AND xmin::text = \(Schema.literal(transaction))"
  }

  /// The state of that error: a division by zero.
  static let outdated = "22012"
}

extension StoreError {
  /// What is told to somebody whose store is not there any more.
  static func replaced(at name: String) -> StoreError {
    StoreError(
      .migrated,
      "The tables of the database were dropped, replaced or restored while it was in use; nothing of the open"
        + " transaction is kept.",
      help: "open it again",
      path: name
    )
  }
}
