/// Fills tables of a server that are empty from a file, by `COPY … FROM STDIN`.
///
/// A first import goes into a temporary file, in bulk, and from there to the server: what records mean there is what
/// they mean in a file, and indexes, unique keys and references are made of what is in the tables by then.
final class ServerLoad {
  private let session: ServerSession
  /// The model of the server with that of the import.
  private let grown: Model
  /// The tables that are filled.
  private let tables: [Schema.Table]
  /// Those of them that are not there yet.
  private let new: Set<NameKey>
  private let schema: ServerSchema
  /// The next free keys when the import began.
  private var keys: [NameKey: Int64] = [:]

  /// Looks whether all tables of a model are empty, and nothing waits; nil: they are not.
  ///
  /// - Parameters:
  ///   - session: Its open transaction is the only one that writes.
  ///   - model: What the import brings.
  /// - Throws: `ServerError`.
  init?(_ session: ServerSession, _ model: Model) throws {
    self.session = session
    // What contradicts the model of the server is told by the usual way.
    guard let grown = try? session.layout.model.grown(to: model, at: "", help: "") else {
      return nil
    }
    self.grown = grown
    let layout = ModelLayout(grown)
    schema = ServerSchema(layout, session.committed.distribution)
    let wanted = Set(Schema(ModelLayout(model)).tables.map { NameKey($0.name) })
    let tables = schema.tables.filter { wanted.contains(NameKey($0.name)) }
    let known = Set(Schema(session.layout).tables.map { NameKey($0.name) })
    self.tables = tables
    new = Set(tables.map { NameKey($0.name) }.filter { !known.contains($0) })
    let there = tables.map(\.name).filter { known.contains(NameKey($0)) }.map(Schema.quoted)
    let tests = (there + (session.committed.stamp == nil ? [] : ["_dragoman_pending"])).map {
      "EXISTS (SELECT 1 FROM \($0))"
    }
    guard !tests.isEmpty else { return }
    let holds = try session.connection.text("SELECT (\(tests.joined(separator: " OR ")))::text")
    if holds != "false" { return nil }
  }

  /// A temporary file for the import, whose objects get the keys that they would get on the server.
  func makeFile() throws -> SQLiteStore {
    let file = try SQLiteStore(at: .temporary)
    try file.grow(to: grown)
    guard session.committed.stamp != nil else { return file }
    keys = try readKeys("")
    try file.write { writing in
      try writing.begin()
      for (table, key) in keys {
        try writing.database.execute(
          sql: "INSERT OR REPLACE INTO _dragoman_keys (\"table\", next) VALUES (?, ?)",
          arguments: [table.name, key]
        )
      }
      try writing.commit()
    }
    return file
  }

  /// Makes the tables, fills them, makes what belongs to them, and writes the history.
  ///
  /// A user who may not make tables is told before the feed is read.
  ///
  /// - Parameters:
  ///   - file: What `makeFile` made.
  ///   - check: Run now and then; what it throws ends it.
  ///   - make: Imports into the file, and says whether what it did is to be kept.
  /// - Returns: What `make` says.
  /// - Throws: What the closures throw; `ServerError`, `StoreError`.
  func fill(
    from file: SQLiteStore,
    _ check: () throws -> Void,
    _ make: (SQLiteStore) throws -> Bool
  ) throws -> Bool {
    // Kept apart from what the server says.
    var result = Result<Bool, any Error>.success(false)
    do {
      try session.grow(to: grown) {
        result = Result { try make(file) }
        guard try result.get() else { return }
        do {
          try file.write { reading in
            for table in tables { try copy(table, reading, check) }
            try copyKeys(reading)
            try copyWaiting(reading)
          }
        } catch {
          result = .failure(error)
          throw error
        }
      }
    } catch {
      _ = try result.get()
      throw error
    }
    guard try result.get() else { return false }
    let last = try file.write { try $0.lastLedgerEntry(where: { _ in true }) }
    guard var entry = last, let number = entry.id else { return true }
    entry.id = nil
    try session.record(&entry)
    let isRecorded = try file.write { try $0.sql.hasTable(RecordedRun.table) }
    guard let own = entry.id, isRecorded, session.recordingObstacle == nil else { return true }
    // Where it may not be kept, nothing is recorded.
    _ = try session.tryToRecord {
      try session.prepareRecords()
      try file.write { try ServerUndo.keep(number, as: own, $0.sql, session.sql) }
      // New tables are nobody else's yet: nobody waits for their triggers.
      try ServerNotes.makeTriggers(for: ServerNotes.tables(of: session), session)
    }
    return true
  }

  private func copy(
    _ table: Schema.Table,
    _ reading: WriteSession,
    _ check: () throws -> Void
  ) throws {
    let names = table.columns.map { Schema.quoted($0.name) }.joined(separator: ", ")
    let rows = try RawStatement(
      "SELECT \(names) FROM \(Schema.quoted(table.name))",
      in: reading.database
    )
    guard try rows.step() else { return }
    defer { rows.reset() }
    var text = CopyText(table.columns.map { schema.type(of: $0, in: table) })
    // Who reads later need not look whether the rows are committed: nobody sees the table before.
    let freezes = new.contains(NameKey(table.name)) ? " WITH (FREEZE)" : ""
    var rowCount = 0
    let storedCount = try session.connection.copy(
      "COPY \(Schema.quoted(table.name)) (\(names)) FROM STDIN\(freezes)"
    ) { send in
      repeat {
        try text.append(rows.row)
        rowCount += 1
        guard text.isFull else { continue }
        try check()
        try text.send(send)
      } while try rows.step()
      try text.send(send)
    }
    try StoreError.check(storedCount, is: rowCount, in: table.name)
  }

  private func readKeys(_ clause: String) throws -> [NameKey: Int64] {
    var next: [NameKey: Int64] = [:]
    try session.connection.forEachRow("SELECT \"table\", next FROM _dragoman_keys \(clause)") {
      row in
      if let table = row[0].text { next[NameKey(table)] = row[1].number }
    }
    return next
  }

  private func copyKeys(_ reading: WriteSession) throws {
    if session.committed.stamp != nil, try readKeys("FOR UPDATE") != keys {
      // A stack has reserved keys for objects that it has not saved yet: the same ones.
      var busy = StoreError(
        .busy,
        "Keys of new objects were reserved by somebody else while the feed was read.",
        help: "run it again"
      )
      busy.isPassing = true
      throw busy
    }
    var lists = [ServerArray(.text), ServerArray(.bigint)]
    try RawStatement("SELECT \"table\", next FROM _dragoman_keys", in: reading.database)
      .forEachRow { row in
        try lists[0].append(row.stored(0))
        lists[1].append(row.integer(1))
      }
    try session.connection.run(
      "INSERT INTO _dragoman_keys AS k (\"table\", next) SELECT * FROM unnest($1::text[], $2::bigint[])"
        + " ON CONFLICT (\"table\") DO UPDATE SET next = greatest(k.next, excluded.next)",
      lists.parameters
    )
  }

  private func copyWaiting(_ reading: WriteSession) throws {
    let columns = ["id", "owner", "relationship", "entity", "key"]
    var text = CopyText([.bigint, .bigint, .text, .text, .text])
    let rows = try RawStatement(
      "SELECT \(columns.joined(separator: ", ")) FROM _dragoman_pending ORDER BY id",
      in: reading.database
    )
    guard try rows.step() else { return }
    defer { rows.reset() }
    let own = columns.joined(separator: ", ")
    // What is recorded of the import names them by the numbers that they have in the file; nothing else waits here.
    try session.connection.run(
      "CREATE TEMPORARY TABLE _dragoman_waiting (id bigint, owner bigint, relationship text, entity text,"
        + " key text) ON COMMIT DROP"
    )
    try session.connection.copy("COPY pg_temp._dragoman_waiting FROM STDIN") { send in
      repeat {
        try text.append(rows.row)
        if text.isFull { try text.send(send) }
      } while try rows.step()
      try text.send(send)
    }
    try session.connection.run(
      "INSERT INTO _dragoman_pending (\(own)) SELECT \(own) FROM pg_temp._dragoman_waiting ORDER BY id"
    )
    try session.connection.run(
      "SELECT setval(pg_get_serial_sequence('_dragoman_pending', 'id'), max(id)) FROM _dragoman_pending"
    )
  }
}

extension ServerStore {
  /// Imports into tables that are empty, by a temporary file.
  ///
  /// - Parameters:
  ///   - model: What the import brings.
  ///   - check: Run now and then while the server is filled; what it throws ends it.
  ///   - make: Imports into the file.
  /// - Returns: Whether `make` says that what it did is to be kept; nil: the tables hold something, and nothing was
  ///   done.
  /// - Throws: `StoreError`, and what the closures throw; nothing was written then.
  package func loading(
    _ model: Model,
    _ check: () throws -> Void,
    _ make: (SQLiteStore) throws -> Bool
  ) throws -> Bool? {
    try write { session in
      try session.begin()
      guard let load = try ServerLoad(session, model) else { return nil }
      let file = try load.makeFile()
      defer { try? file.close() }
      guard try load.fill(from: file, check, make) else { return false }
      try session.commit()
      return true
    }
  }
}
