/// Fills tables of a server that are empty from a file, by `COPY … FROM STDIN`.
///
/// A first import goes into a temporary file, in bulk, and from there to the server: what records mean there is what
/// they mean in a file, and indexes, unique keys and references are made of what is in the tables by then.
struct ServerLoad {
  private let session: ServerSession
  /// The model of the server with that of the import.
  private let grown: Model
  /// The tables that are filled.
  private let tables: [Schema.Table]
  /// Those of them that are not there yet.
  private let new: Set<String>
  private let schema: ServerSchema

  /// Looks whether all tables of a model are empty, and nothing waits; nil: they are not.
  ///
  /// - Parameters:
  ///   - session: Its open transaction is the only one that writes.
  ///   - model: What the import brings.
  init?(_ session: ServerSession, _ model: Model) throws {
    self.session = session
    // What contradicts the model of the server is told by the usual way.
    guard let grown = try? session.layout.model.grown(to: model, at: "", help: "") else {
      return nil
    }
    self.grown = grown
    let layout = ModelLayout(grown)
    schema = ServerSchema(layout)
    let wanted = Set(Schema(ModelLayout(model)).tables.map(\.name))
    let tables = schema.tables.filter { wanted.contains($0.name) }
    let known = Set(Schema(session.layout).tables.map(\.name))
    self.tables = tables
    new = Set(tables.map(\.name).filter { !known.contains($0) })
    let there = tables.map(\.name).filter(known.contains).map(Schema.quoted)
    let tests = (there + (session.committed.hash == nil ? [] : ["_dragoman_pending"])).map {
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
    guard session.committed.hash != nil else { return file }
    var next: [(table: String, key: Int64)] = []
    try session.connection.forEachRow("SELECT \"table\", next FROM _dragoman_keys") { row in
      if let table = row[0].text { next.append((table, row[1].number)) }
    }
    try file.write { writing in
      try writing.begin()
      for (table, key) in next {
        try writing.database.execute(
          sql: "INSERT OR REPLACE INTO _dragoman_keys (\"table\", next) VALUES (?, ?)",
          arguments: [table, key]
        )
      }
      try writing.commit()
    }
    return file
  }

  /// Makes the tables, fills them, makes what belongs to them, and writes the history.
  ///
  /// - Parameters:
  ///   - file: What `makeFile` made, with the import in it.
  ///   - check: Run now and then; what it throws ends it.
  func fill(from file: SQLiteStore, _ check: () throws -> Void) throws {
    try file.write { reading in
      try session.grow(to: grown) {
        for table in tables { try copy(table, reading, check) }
        try copyKeys(reading)
        try copyWaiting(reading)
      }
      guard var entry = try reading.lastLedgerEntry(where: { _ in true }) else { return }
      entry.id = nil
      try session.record(&entry)
    }
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
    let freezes = new.contains(table.name) ? " WITH (FREEZE)" : ""
    try session.connection.copy(
      "COPY \(Schema.quoted(table.name)) (\(names)) FROM STDIN\(freezes)"
    ) { send in
      repeat {
        try text.append(rows.row)
        guard text.isFull else { continue }
        try check()
        try text.send(send)
      } while try rows.step()
      try text.send(send)
    }
  }

  private func copyKeys(_ reading: WriteSession) throws {
    var lists = [ServerArray(.text), ServerArray(.bigint)]
    try RawStatement("SELECT \"table\", next FROM _dragoman_keys", in: reading.database)
      .forEachRow { row in
        try lists[0].append(row.stored(0))
        lists[1].append(row.integer(1))
      }
    try session.connection.run(
      "INSERT INTO _dragoman_keys AS k (\"table\", next) SELECT * FROM unnest($1::text[], $2::bigint[])"
        + " ON CONFLICT (\"table\") DO UPDATE SET next = greatest(k.next, excluded.next)",
      lists.map(\.parameter)
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
    let own = columns.dropFirst().joined(separator: ", ")
    // Their numbers are the server's.
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
  }
}

/// Rows as the lines of `COPY … FROM STDIN`
/// (https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.3.55.9.2).
struct CopyText {
  private let types: [ServerType]
  private var bytes: ContiguousArray<UInt8> = []

  /// So much is sent at once.
  private static let byteCount = 1 << 18

  init(_ types: [ServerType]) {
    self.types = types
    bytes.reserveCapacity(Self.byteCount + Self.byteCount / 8)
  }

  /// Whether it is time to send.
  var isFull: Bool { bytes.count >= Self.byteCount }

  /// Adds a row.
  ///
  /// - Throws: `StoreError`, `.badRequest`, for a text with U+0000.
  mutating func append(_ row: StoredRow) throws {
    for (index, type) in types.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: "\t")) }
      switch row[Int32(truncatingIfNeeded: index)] {
      case .null:
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(UInt8(ascii: "N"))
      case .integer(let integer): append(integer)
      case .real(let real): bytes.append(contentsOf: real.description.utf8)
      case .text(let text) where type == .timestamp || type == .date:
        let civil = try type.bytes(.text(String(decoding: text, as: UTF8.self)))
        bytes.append(contentsOf: civil)
      case .text(let text): try append(text)
      case .blob(let blob):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(contentsOf: try type.bytes(.blob(Array(blob))))
      }
    }
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Sends the rows, and forgets them.
  mutating func send(_ send: (UnsafeRawBufferPointer) throws -> Void) throws {
    guard !bytes.isEmpty else { return }
    try bytes.withUnsafeBytes { try send($0) }
    bytes.removeAll(keepingCapacity: true)
  }

  private mutating func append(_ integer: Int64) {
    guard integer >= 0 else { return bytes.append(contentsOf: String(integer).utf8) }
    let start = bytes.count
    var rest = integer
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
  }

  private mutating func append(_ text: UnsafeRawBufferPointer) throws {
    var begun = 0
    for (place, byte) in text.enumerated() where byte < 0x20 || byte == UInt8(ascii: "\\") {
      let letter: UInt8
      switch byte {
      case 0: throw ServerArray.nul
      case 9: letter = UInt8(ascii: "t")
      case 10: letter = UInt8(ascii: "n")
      case 13: letter = UInt8(ascii: "r")
      case UInt8(ascii: "\\"): letter = byte
      default: continue
      }
      bytes.append(contentsOf: text[begun..<place])
      bytes.append(UInt8(ascii: "\\"))
      bytes.append(letter)
      begun = place + 1
    }
    bytes.append(contentsOf: text[begun...])
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
      // The transaction waits for the feed.
      try session.connection.run("SET LOCAL idle_in_transaction_session_timeout = 0")
      let file = try load.makeFile()
      defer { try? file.close() }
      guard try make(file) else { return false }
      try load.fill(from: file, check)
      try session.commit()
      return true
    }
  }
}
