import DragomanPostgreSQL
import Synchronization
import TestServer
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Imports into a server that are recorded, and what is in the way of that.
@Suite("Imports into a server, recorded beside others", .enabled(if: TestServer.isPlain))
struct ServerUndoBesidesTests {
  private let server: TestServer
  private let url: String
  private let schema: String
  private let pair: FileAndServer

  init() throws {
    server = try #require(TestServer.shared)
    url = try server.schema()
    schema = TestServer.schema(of: url)
    pair = FileAndServer(
      file: try SQLiteStore(at: .inMemory),
      server: try PostgreSQLServer(url).store(),
      map: try ImportMap(yaml: ServerUndoTests.shop)
    )
  }

  private static func request(_ feed: String) -> ImportRequest {
    ImportRequest([.bytes(Array(feed.utf8), name: "feed")])
  }

  /// What a user may be given who owns nothing.
  enum Rights: CaseIterable {
    /// All tables, before there was one for what is recorded.
    case beforeRecords
    /// All tables, and that one.
    case withRecords
    /// The same, and new tables.
    case withNewTables
  }

  @Test(
    "Without the right to note changes an import goes on, and says what it cannot",
    arguments: Rights.allCases
  )
  func rights(rights: Rights) async throws {
    defer { pair.server.end() }
    try await pair.run(#"[{"sku":"a","name":"x"},{"sku":"b"}]"#) {
      if rights == .beforeRecords { $0.recording = .never }
    }
    let role = "reporter_\(schema)"
    try server.psql(
      "CREATE ROLE \(role) LOGIN;"
        + " GRANT USAGE\(rights == .withNewTables ? ", CREATE" : "") ON SCHEMA \(schema) TO \(role);"
        + " GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role);"
        + " GRANT USAGE ON ALL SEQUENCES IN SCHEMA \(schema) TO \(role)"
    )
    let store = try PostgreSQLServer(server.url(schema: schema, user: role)).store()
    defer { store.end() }
    func run(_ feed: String) async throws -> ImportReport {
      var request = Self.request(feed)
      request.recording = .always
      return try await Importer(map: pair.map, server: store).run(request)
    }
    let report = try await run(#"[{"sku":"a","name":"y"}]"#)
    let isOwners = rights == .withRecords
    #expect(report.counts.updated == 1)
    // Whoever owns the tables has made the triggers with them, unless nothing was to be recorded.
    let isTold = report.notices.contains { $0.contains("cannot be taken back") }
    #expect(isTold == (rights == .beforeRecords), "\(report.notices)")
    let filter = try Filter(parsing: "sku == 'b'")
    #expect(try store.delete(FetchRequest("Item", filter: filter)).isDone)
    if isOwners { #expect(try store.undoImport(nil).isPossible) }
    // The owner records again, and whoever may not write that goes on all the same.
    _ = try await Importer(map: pair.map, server: pair.server).run(Self.request(#"[{"sku":"c"}]"#))
    #expect(try await run(#"[{"sku":"c","name":"z"}]"#).counts.updated == 1)
  }

  @Test("References that waited and were resolved are taken back, however much lies between")
  func pending() async throws {
    defer { pair.server.end() }
    try await pair.run(#"[{"sku":"0"}]"#)
    let long = String(repeating: "long", count: 300_000)
    let records =
      [#"{"sku":"w","parts":["later","never"]}"#, #"{"sku":"v","parts":["never","later"]}"#]
      + (0..<9).map { #"{"sku":"s\#($0)","name":"\#(long)"}"# } + [#"{"sku":"later"}"#]
    try await pair.run("[\(records.joined(separator: ","))]") {
      $0.options.commit = .batch
      $0.options.batchSize = 1
    }
    try await pair.run(#"[{"sku":"never"}]"#)
    for run in [3, 2] as [Int64] { try pair.undo(run, "\(run)") }
    #expect(try pair.state().count { !$0.hasPrefix("_") } == 1)
    #expect(try pair.serverContents() == pair.fileContents())
  }

  @Test("A column that another program adds between two batches is no reason to fail")
  func column() async throws {
    defer { pair.server.end() }
    try await pair.run(#"[{"sku":"a","name":"x"},{"sku":"b"}]"#)
    let before = try pair.state()
    let count = Atomic<Int>(0)
    let faulty = FaultyServer(url) { [server, schema] sql throws(ServerError) in
      guard sql.hasPrefix("BEGIN"), count.add(1, ordering: .relaxed).newValue == 3 else { return }
      do {
        try server.psql("ALTER TABLE \(schema).\"Item\" ADD COLUMN extra text DEFAULT 'e'")
      } catch {
        throw ServerError(state: "XX000", message: "\(error)")
      }
    }
    let store = try ServerStore(on: faulty)
    defer { store.end() }
    let records = (0..<9).map { number in
      let sku = number % 3 == 0 ? "a" : "n\(number)"
      return #"{"sku":"\#(sku)","name":"n\#(number)"}"#
    }
    var request = Self.request("[\(records.joined(separator: ","))]")
    request.options.commit = .batch
    request.options.batchSize = 2
    let report = try await Importer(map: pair.map, server: store).run(request)
    #expect(report.counts.inserted == 6)
    let names = try server.psql(
      "SELECT count(*) FROM information_schema.columns WHERE table_schema = '\(schema)' AND column_name = 'extra'"
    )
    #expect(names == "1")
    #expect(try pair.server.undoImport(2).isPossible)
    #expect(try pair.state() == before)
  }

  @Test("A migration that makes columns anew ends what is recorded of them, and says so")
  func migrated() async throws {
    defer { pair.server.end() }
    let yaml = ServerUndoTests.shop.replacing(
      "name: name, price",
      with: "name: name, n: { type: int32 }, price"
    )
    let map = try ImportMap(yaml: yaml)
    let importer = Importer(map: map, server: pair.server)
    _ = try await importer.run(Self.request(#"[{"sku":"a","n":1}]"#))
    _ = try await importer.run(Self.request(#"[{"sku":"a","n":2}]"#))
    let model = try ImportMap(yaml: yaml.replacing("type: int32", with: "type: int64")).model()
    _ = try pair.server.migrate(to: model, drops: false)
    do {
      let report = try pair.server.undoImport(2)
      #expect(report.isPossible)
    } catch let error as StoreError {
      let words = "The table Item was migrated since import 2"
      #expect(error.code == .undo && error.message.contains(words), "\(error)")
    }
    _ = try await Importer(
      map: ImportMap(yaml: yaml.replacing("int32", with: "int64")),
      server: pair.server
    )
    .run(Self.request(#"[{"sku":"a","n":3}]"#))
    #expect(try pair.server.undoImport(nil).isPossible)
  }

  @Test(
    "What comes back behind a migration is of the entity, and has the defaults, that were given meanwhile"
  )
  func migratedBetween() async throws {
    try await pair.run(#"[{"sku":"a"},{"sku":"b"}]"#)
    try await pair.run(#"[{"sku":"b","name":"x"}]"#) { $0.prune = .init() }
    let yaml = ServerUndoTests.shop
      .replacing(
        "name: name, price",
        with: "name: name, state: { required: true, default: open }, price"
      )
      .replacing(
        "unique: sku\n",
        with: "unique: sku\n    discriminator: { from: kind, values: { set: Set } }\n"
      )
      .replacing(
        "  Maker:",
        with: "  Set: { parent: Item, attributes: { size: { type: int32 } } }\n  Maker:"
      )
    let model = try ImportMap(yaml: yaml).model()
    try pair.file.migrate(to: model)
    _ = try pair.server.migrate(to: model)
    try pair.undo(2, "migrated")
    let copy = try pair.server.copy(of: .everything)
    defer {
      try? copy.close()
      pair.server.end()
    }
    for store in [pair.file, copy] {
      let rows = try sql(store, "SELECT sku, _entity, state FROM Item ORDER BY sku")
      #expect(rows == ["a|Item|open", "b|Item|open"])
    }
  }

  private static func tables(_ type: String) -> String {
    """
    version: 1
    entities:
      A: { unique: id, attributes: { id: { type: int64 }, v: { type: \(type) }, f: { type: float } } }
      B: { unique: id, attributes: { id: { type: int64 }, v: { type: int32 } } }
    sources:
      a: { format: json, entity: A, records: /a }
      b: { format: json, entity: B, records: /b }
    """
  }

  @Test("A migration that makes a column anew ends what is recorded of its table, and of no other")
  func migratedBeside() async throws {
    let two = FileAndServer(
      file: try SQLiteStore(at: .inMemory),
      server: try PostgreSQLServer(server.schema()).store(),
      map: try ImportMap(yaml: Self.tables("int32"))
    )
    defer {
      two.server.end()
      pair.server.end()
    }
    try await two.run(#"{"a":[{"id":1,"v":1,"f":1}],"b":[{"id":1,"v":1}]}"#)
    try await two.run(#"{"a":[{"id":1,"v":2,"f":1}],"b":[]}"#)
    for _ in 1...2 { try await two.run(#"{"a":[],"b":[{"id":1,"v":2}]}"#) }
    let model = try ImportMap(yaml: Self.tables("int64")).model()
    _ = try two.file.migrate(to: model)
    _ = try two.server.migrate(to: model, drops: false)
    let second = try #require(two.numbers[2])
    let third = try #require(two.numbers[3])
    let copy = try two.server.copy(of: .recorded)
    var (told, expected): ([ImportChange], [ImportChange]) = ([], [])
    try copy.changes(ofImport: third) { told.append($0) }
    try two.file.changes(ofImport: 3) { expected.append($0) }
    #expect(UndoPropertyTests.text(told) == UndoPropertyTests.text(expected) && told.count == 1)
    let was = try two.file.withCopy(asOf: 2) { try two.ranked($0) }
    #expect(try copy.withCopy(asOf: second) { try two.ranked($0) } == was)
    try copy.close()
    let ours = #expect(throws: StoreError.self) { try two.file.undoImport() }
    let theirs = #expect(throws: StoreError.self) { try two.server.undoImport(nil) }
    #expect(ours?.help == "the last one that did is 3: take it back by its number")
    #expect(theirs?.help == "the last one that did is \(third): take it back by its number")
    try two.undo(3, "")
    let error = #expect(throws: StoreError.self) { try two.server.undoImport(second) }
    let words = "The table A was migrated since import \(second)"
    #expect(error?.code == .undo && error?.message.hasPrefix(words) == true, "\(error as Any)")
  }
}
