import GRDB

/// Notes which rows of a server's tables are changed, and what was in them before, for one connection.
///
/// Triggers of the tables put rows before and after into temporary tables of the connection, where it has some, so that
/// every way to change a row is seen:
///
///     CREATE TRIGGER _dragoman_note_insert AFTER INSERT ON "Person" REFERENCING NEW TABLE AS new_rows
///       FOR EACH STATEMENT EXECUTE FUNCTION _dragoman_note()
///
/// What is noted becomes a changeset of SQLite, by a temporary file that gets the rows before and then those after: what
/// is kept means the same on a server and in a file.
final class ServerNotes: ChangeNotes {
  /// How many bytes of notes are kept in one piece.
  private static let portionByteCount = 4 << 20
  private static let places = "_dragoman_place"

  /// The tables, with their columns in the order of the server's rows, and where their notes are.
  let tables: [(table: Schema.Table, notes: String, oid: Int64)]
  private let session: ServerSession
  /// The connection that has the temporary tables.
  private var holder: (any ServerConnection)?

  /// The table of references that wait, as a file has it.
  static let pending = Schema.Table(
    name: PendingReference.table,
    columns: [
      Schema.Column(name: "id", type: "INTEGER PRIMARY KEY"),
      Schema.Column(name: "owner", type: "INTEGER"),
      Schema.Column(name: "relationship", type: "TEXT"),
      Schema.Column(name: "entity", type: "TEXT"),
      Schema.Column(name: "key", type: "TEXT"),
    ],
    primaryKey: []
  )

  /// Begins to note, in the open transaction; makes triggers where there are none.
  ///
  /// - Parameter session: The writer, beside which nobody else writes now.
  /// - Throws: `ServerError`.
  init(_ session: ServerSession) throws {
    self.session = session
    let columns = try ServerColumns(session.connection)
    tables = (Schema(session.layout).tables + [Self.pending]).compactMap { table in
      columns.oid(of: table.name).map {
        (columns.ordered(table), "_dragoman_noted_\($0)", $0)
      }
    }
    try makeTriggers()
    try hold()
  }

  // MARK: - Triggers

  /// Notes where the connection has a table for it.
  private static let function = """
    CREATE FUNCTION _dragoman_note() RETURNS trigger LANGUAGE plpgsql AS $note$
    DECLARE
      notes text := 'pg_temp._dragoman_noted_' || TG_RELID;
      place text := 'nextval(''pg_temp.\(places)'')';
    BEGIN
      IF to_regclass(notes) IS NOT NULL THEN
        IF TG_OP <> 'INSERT' THEN
          EXECUTE 'INSERT INTO ' || notes || ' SELECT ' || place || ', true, r.* FROM old_rows AS r';
        END IF;
        IF TG_OP <> 'DELETE' THEN
          EXECUTE 'INSERT INTO ' || notes || ' SELECT ' || place || ', false, r.* FROM new_rows AS r';
        END IF;
      END IF;
      RETURN NULL;
    END
    $note$
    """

  private static let events = [
    ("insert", "NEW TABLE AS new_rows"), ("update", "OLD TABLE AS old_rows NEW TABLE AS new_rows"),
    ("delete", "OLD TABLE AS old_rows"),
  ]

  private func makeTriggers() throws {
    let connection = session.connection
    var noting: Set<Int64> = []
    try connection.forEachRow(
      "SELECT tgrelid::bigint FROM pg_trigger WHERE tgrelid = ANY($1::oid[])"
        + " AND starts_with(tgname::text, '_dragoman_note_') AND tgenabled <> 'D'"
        + " GROUP BY tgrelid HAVING count(*) = \(Self.events.count)",
      [ServerParameter(tables.map(\.oid))]
    ) { noting.insert($0[0].number) }
    let missing = tables.filter { !noting.contains($0.oid) }
    if missing.isEmpty { return }
    let known = try connection.text("SELECT to_regproc('_dragoman_note')::text")
    if known == nil { try connection.run(Self.function) }
    // A table with checks that wait cannot be changed.
    try connection.run("SET CONSTRAINTS ALL IMMEDIATE")
    for (table, _, _) in missing {
      let name = Schema.quoted(table.name)
      for (event, rows) in Self.events {
        try connection.run(
          "DROP TRIGGER IF EXISTS _dragoman_note_\(event) ON \(name);"
            + " CREATE TRIGGER _dragoman_note_\(event) AFTER \(event.uppercased()) ON \(name)"
            + " REFERENCING \(rows) FOR EACH STATEMENT EXECUTE FUNCTION _dragoman_note()"
        )
      }
    }
    try connection.run("SET CONSTRAINTS ALL DEFERRED")
  }

  // MARK: - Notes

  /// Makes the temporary tables on the writer's connection, where it has none: one that was cut has lost them.
  ///
  /// - Throws: `ServerError`.
  func hold() throws {
    let connection = session.connection
    guard holder !== connection else { return }
    var script = removal + "CREATE TEMPORARY SEQUENCE \(Self.places);"
    for (table, notes, _) in tables {
      script +=
        " CREATE TEMPORARY TABLE \(notes) ON COMMIT DELETE ROWS AS SELECT 0::bigint AS \(Self.places),"
        + " false AS _dragoman_was, t.* FROM \(Schema.quoted(table.name)) AS t WITH NO DATA;"
    }
    try connection.run(script)
    holder = connection
  }

  private var removal: String {
    "DROP TABLE IF EXISTS \(tables.map { "pg_temp.\($0.notes)" }.joined(separator: ", "));"
      + " DROP SEQUENCE IF EXISTS pg_temp.\(Self.places);"
  }

  func end() {
    guard let connection = holder, connection === session.connection, connection.isUsable else {
      return
    }
    // What fails here is undone with its transaction, and then done again.
    if (try? connection.run(removal)) != nil, !connection.isInTransaction { holder = nil }
  }

  func isFull() throws -> Bool {
    try StoreError.namingServer(session.sql.name) { try byteCount() > Self.portionByteCount }
  }

  private func byteCount() throws -> Int {
    let sizes = tables.map { "pg_relation_size('pg_temp.\($0.notes)')" }.joined(separator: " + ")
    let text = try session.connection.text("SELECT (\(sizes))::text")
    return text.flatMap { Int($0) } ?? 0
  }

  func take() throws -> Changeset {
    try StoreError.onServer(session.sql.name) { try changes() }
  }

  private func changes() throws -> Changeset {
    let tests = tables.map {
      "(SELECT count(*) FROM (SELECT FROM pg_temp.\($0.notes) LIMIT 1) AS f)"
    }
    var noted: [(table: Schema.Table, notes: String, oid: Int64)] = []
    try session.connection.forEachRow("SELECT \(tests.joined(separator: ", "))") { row in
      noted = tables.enumerated().filter { row[$0.offset].number > 0 }.map(\.element)
    }
    guard !noted.isEmpty else { return Changeset([]) }
    let changes = try changeset(noted.map { ($0.table, $0.notes) })
    try session.connection.run(
      "TRUNCATE \(noted.map { "pg_temp.\($0.notes)" }.joined(separator: ", "))"
    )
    return changes
  }

  /// What the first and the last note of each row come to.
  private func changeset(_ noted: [(table: Schema.Table, notes: String)]) throws -> Changeset {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    // A file that SQLite deletes: notes may be larger than memory.
    let scratch = try DatabaseQueue(path: "", configuration: configuration)
    defer { try? scratch.close() }
    return try scratch.write { database in
      for (table, notes) in noted {
        try database.execute(sql: table.sql)
        let row = try ScratchRow(table, in: database)
        try forEachNote(of: table, in: notes, isLast: false) { wasThere, values in
          if wasThere { try row.put(values) }
        }
      }
      let recording = try ChangesetRecording(of: noted.map(\.table.name), in: database)
      defer { recording.end() }
      for (table, notes) in noted {
        let row = try ScratchRow(table, in: database)
        try forEachNote(of: table, in: notes, isLast: true) { isGone, values in
          try isGone ? row.remove(values) : row.put(values)
        }
      }
      return try recording.take()
    }
  }

  /// Lends the first or the last note of each row: whether it is of before a change, and the row.
  private func forEachNote(
    of table: Schema.Table,
    in notes: String,
    isLast: Bool,
    _ body: (Bool, UnsafePointer<ColumnValue>) throws -> Void
  ) throws {
    let key = table.key.map(Schema.quoted).joined(separator: ", ")
    let columns = table.columns.map { Schema.quoted($0.name) }.joined(separator: ", ")
    try session.connection.forEachRow(
      "SELECT DISTINCT ON (\(key)) _dragoman_was, \(columns) FROM pg_temp.\(notes)"
        + " ORDER BY \(key), \(Self.places)\(isLast ? " DESC" : "")",
      [],
      streams: true
    ) { row in try body(row[0].number != 0, row + 1) }
  }
}

/// Rows of a table of the temporary file.
private struct ScratchRow {
  private let insertion: RawStatement
  /// nil: the table has nothing but its key.
  private let update: RawStatement?
  private let removal: RawStatement
  private let columnCount: Int
  private let keyPlaces: [Int]

  init(_ table: Schema.Table, in database: Database) throws {
    let name = Schema.quoted(table.name)
    let columns = table.columns.map { Schema.quoted($0.name) }
    let keyPlaces = table.columns.indices.filter { table.key.contains(table.columns[$0].name) }
    let places = columns.indices.map { "?\($0 + 1)" }
    let isRow = keyPlaces.map { "\(columns[$0]) = \(places[$0])" }.joined(separator: " AND ")
    let sets = columns.indices.filter { !keyPlaces.contains($0) }
      .map { "\(columns[$0]) = \(places[$0])" }.joined(separator: ", ")
    insertion = try RawStatement(
      "INSERT INTO \(name) (\(columns.joined(separator: ", ")))"
        + " VALUES (\(places.joined(separator: ", "))) ON CONFLICT DO NOTHING",
      in: database
    )
    update =
      sets.isEmpty
      ? nil : try RawStatement("UPDATE \(name) SET \(sets) WHERE \(isRow)", in: database)
    removal = try RawStatement("DELETE FROM \(name) WHERE \(isRow)", in: database)
    columnCount = columns.count
    self.keyPlaces = keyPlaces
  }

  /// Makes the row what the values say.
  func put(_ values: UnsafePointer<ColumnValue>) throws {
    for column in 0..<columnCount { insertion.bind(values[column], Int32(column) + 1) }
    guard try insertion.run() == 0, let update else { return }
    for column in 0..<columnCount { update.bind(values[column], Int32(column) + 1) }
    try update.run()
  }

  func remove(_ values: UnsafePointer<ColumnValue>) throws {
    for column in keyPlaces { removal.bind(values[column], Int32(column) + 1) }
    try removal.run()
  }
}

extension Schema.Table {
  /// The columns that say which row it is.
  var key: [String] {
    primaryKey.isEmpty
      ? [columns.first { $0.type.hasSuffix("PRIMARY KEY") }?.name ?? "_pk"] : primaryKey
  }
}
