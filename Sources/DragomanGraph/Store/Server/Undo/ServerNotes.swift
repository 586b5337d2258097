/// Notes which rows of a server's tables are changed, and what was in them before, for one connection.
///
/// Triggers of the tables put rows before and after into temporary tables of the connection, where it has some, so that
/// every way to change a row is seen:
///
///     CREATE TRIGGER _dragoman_note_insert AFTER INSERT ON "Person" REFERENCING NEW TABLE AS new_rows
///       FOR EACH STATEMENT EXECUTE FUNCTION _dragoman_note()
///
/// What is noted becomes a changeset of SQLite: what is kept means the same on a server and in a file.
final class ServerNotes: ChangeNotes {
  /// How many bytes of notes are kept in one piece.
  private static let portionByteCount = 4 << 20
  private static let places = "_dragoman_place"

  /// A table, with its columns in the order of the server's rows, and where its notes are.
  struct Noted {
    let table: Schema.Table
    let notes: String
    let oid: Int64
  }

  /// What is noted.
  private(set) var tables: [Noted]
  private let session: ServerSession
  /// The stored model for which the temporary tables were made.
  private var stamp: ServerStamp?
  private var isOver = false
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
    tables = try Self.tables(of: session)
    try Self.makeTriggers(for: tables, session)
    try hold()
  }

  /// The tables of the stored model, and that of references that wait.
  static func tables(of session: ServerSession) throws -> [Noted] {
    let columns = try ServerColumns(session.connection)
    return (Schema(session.layout).tables + [pending]).compactMap { table in
      columns.oid(of: table.name).map {
        Noted(table: columns.ordered(table), notes: "_dragoman_noted_\($0)", oid: $0)
      }
    }
  }

  // MARK: - Triggers

  /// Notes where the connection has a table for it, and the columns that this table has.
  private static let function = """
    CREATE FUNCTION _dragoman_note() RETURNS trigger LANGUAGE plpgsql AS $note$
    DECLARE
      notes text := 'pg_temp._dragoman_noted_' || TG_RELID;
      columns text;
    BEGIN
      IF to_regclass(notes) IS NOT NULL THEN
        SELECT string_agg('r.' || quote_ident(attname), ', ' ORDER BY attnum) INTO columns
          FROM pg_attribute WHERE attrelid = to_regclass(notes) AND attnum > 2;
        notes := 'INSERT INTO ' || notes || ' SELECT nextval(''pg_temp.\(places)''), ';
        IF TG_OP <> 'INSERT' THEN
          EXECUTE notes || 'true, ' || columns || ' FROM old_rows AS r';
        END IF;
        IF TG_OP <> 'DELETE' THEN
          EXECUTE notes || 'false, ' || columns || ' FROM new_rows AS r';
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

  /// Makes the triggers that are missing.
  static func makeTriggers(for tables: [Noted], _ session: ServerSession) throws {
    let connection = session.connection
    // A session of this role, which loaders like, runs only the triggers that are enabled for it, or always.
    let isReplica = try connection.text("SHOW session_replication_role") == "replica"
    var noting: Set<Int64> = []
    try connection.forEachRow(
      "SELECT tgrelid::bigint FROM pg_trigger WHERE tgrelid = ANY($1::oid[])"
        + " AND starts_with(tgname::text, '_dragoman_note_') AND tgenabled = ANY ('{\(isReplica ? "R" : "O"),A}')"
        + " GROUP BY tgrelid HAVING count(*) = \(events.count)",
      [ServerParameter(tables.map(\.oid))]
    ) { noting.insert($0[0].number) }
    let missing = tables.filter { !noting.contains($0.oid) }
    if missing.isEmpty { return }
    let known = try connection.text("SELECT to_regproc('_dragoman_note')::text")
    if known == nil { try connection.run(function) }
    // A table with checks that wait cannot be changed.
    try connection.run("SET CONSTRAINTS ALL IMMEDIATE")
    for noted in missing {
      let name = Schema.quoted(noted.table.name)
      for (event, rows) in events {
        try connection.run(
          "DROP TRIGGER IF EXISTS _dragoman_note_\(event) ON \(name);"
            + " CREATE TRIGGER _dragoman_note_\(event) AFTER \(event.uppercased()) ON \(name)"
            + " REFERENCING \(rows) FOR EACH STATEMENT EXECUTE FUNCTION _dragoman_note();"
            + (isReplica
              ? " ALTER TABLE \(name) ENABLE ALWAYS TRIGGER _dragoman_note_\(event)" : "")
        )
      }
    }
    try connection.run("SET CONSTRAINTS ALL DEFERRED")
  }

  // MARK: - Notes

  /// Makes the temporary tables on the writer's connection, where it has none: one that was cut has lost them; and anew
  /// where others have made the model grow.
  ///
  /// - Throws: `ServerError`.
  func hold() throws {
    let connection = session.connection
    guard !isOver, holder !== connection || stamp != session.committed.stamp else { return }
    var script = removal
    if holder != nil { tables = try Self.tables(of: session) }
    stamp = session.committed.stamp
    script += "CREATE TEMPORARY SEQUENCE \(Self.places) CACHE 1000;"
    for noted in tables {
      script +=
        " CREATE TEMPORARY TABLE \(noted.notes) AS SELECT 0::bigint AS \(Self.places),"
        + " false AS _dragoman_was, t.* FROM \(Schema.quoted(noted.table.name)) AS t WITH NO DATA;"
    }
    try connection.run(script)
    holder = connection
  }

  private var removal: String {
    "DROP TABLE IF EXISTS \(tables.map { "pg_temp.\($0.notes)" }.joined(separator: ", "));"
      + " DROP SEQUENCE IF EXISTS pg_temp.\(Self.places);"
  }

  func end() {
    isOver = true
    guard let connection = holder, connection === session.connection, connection.isUsable else {
      return
    }
    guard connection.isInTransaction else { return close() }
    // Tables that stay for now do no harm: they go with the writer (`close()`).
    do {
      try connection.run("SAVEPOINT noted; \(removal) RELEASE SAVEPOINT noted")
    } catch {
      try? connection.run("ROLLBACK TO SAVEPOINT noted")
    }
  }

  /// Takes the temporary tables off the connection, outside of a transaction; one that does not let them go is not used
  /// again.
  func close() {
    isOver = true
    guard let connection = holder, connection === session.connection, connection.isUsable else {
      return
    }
    holder = nil
    do { try connection.run(removal) } catch { connection.close() }
  }

  /// What was made in a transaction that was rolled back is not there.
  func forgetTables() { holder = nil }

  func isFull() throws -> Bool {
    try StoreError.namingServer(session.sql.name) { try byteCount() > Self.portionByteCount }
  }

  private func byteCount() throws -> Int {
    let sizes = tables.map { "pg_table_size('pg_temp.\($0.notes)')" }.joined(separator: " + ")
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
    var noted: [Noted] = []
    try session.connection.forEachRow("SELECT \(tests.joined(separator: ", "))") { row in
      noted = tables.enumerated().filter { row[$0.offset].number > 0 }.map(\.element)
    }
    guard !noted.isEmpty else { return Changeset([]) }
    let changes = try changeset(noted)
    try session.connection.run(
      "TRUNCATE \(noted.map { "pg_temp.\($0.notes)" }.joined(separator: ", "))"
    )
    return changes
  }

  /// What the first and the last note of each row come to.
  private func changeset(_ noted: [Noted]) throws -> Changeset {
    var writer = ChangesetWriter()
    for noted in noted {
      let table = noted.table
      writer.begin(table)
      let key = table.key.map(Schema.quoted).joined(separator: ", ")
      let columns = table.columns.map { Schema.quoted($0.name) }.joined(separator: ", ")
      try session.connection.forEachRow(
        "SELECT _dragoman_was, \(columns) FROM pg_temp.\(noted.notes) ORDER BY \(key), \(Self.places)",
        [],
        streams: true
      ) { row in writer.add(row + 1, isOfBefore: row[0].number != 0) }
    }
    return writer.finish()
  }
}

extension Schema.Table {
  /// The columns that say which row it is.
  var key: [String] {
    primaryKey.isEmpty
      ? [columns.first { $0.type.hasSuffix("PRIMARY KEY") }?.name ?? "_pk"] : primaryKey
  }
}
