import DragomanPostgreSQL
import Foundation
import TestServer
import TestSupport
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Servers that are migrated while things happen: statements that fail, connections that are cut, others at work; and
/// what works by the new model afterwards.
///
/// `DRAGOMAN_ROUNDS` asks for more places than the default.
@Suite("Servers that are migrated", .enabled(if: TestServer.isThere))
struct ServerMigrationTests {
  private static let old = """
    version: 1
    entities:
      Person:
        unique: id
        attributes: { id: { type: int64 }, name: { type: string, index: true }, born: { type: date }, fee: { type: string } }
        relationships:
          boss: { entity: Person, kind: toOne, key: { id: boss }, onUnresolved: pending, inverse: staff }
          staff: { entity: Person, kind: toMany, inverse: boss }
          friends: { entity: Person, kind: toMany, key: { id: friends }, ordered: true, onUnresolved: clear }
          firm: { entity: Firm, kind: toOne, key: { code: firm }, onUnresolved: pending }
      Firm:
        unique: code
        attributes: { code: { type: int32 } }
    sources:
      people: { format: json, entity: Person, records: people }
      firms: { format: json, entity: Firm, records: firms }
    """

  /// Another table, other names and types, a key that waits in another form, a to-one that becomes a list, a new required attribute.
  private static let new = """
    version: 1
    entities:
      Person:
        table: Human
        unique: id
        attributes:
          id: { from: id, type: string }
          title: { from: name, renamedFrom: name, type: string, index: true }
          born: { from: born, type: timestamp }
          fee: { from: fee, type: decimal, scale: 2 }
          rank: { from: rank, type: int16, required: true, default: 3 }
        relationships:
          boss: { entity: Person, kind: toOne, key: { id: boss }, onUnresolved: pending, inverse: staff }
          staff: { entity: Person, kind: toMany, ordered: true, inverse: boss }
          friends: { entity: Person, kind: toMany, key: { id: friends }, onUnresolved: clear }
          firm: { entity: Firm, kind: toMany, key: { code: firm }, onUnresolved: pending }
      Firm:
        unique: code
        attributes: { code: { type: string } }
    sources:
      people: { format: json, entity: Person, records: people }
      firms: { format: json, entity: Firm, records: firms }
    """

  private let server: TestServer
  private let before: ImportMap
  private let after: ImportMap

  init() throws {
    server = try #require(TestServer.shared)
    before = try ImportMap(yaml: Self.old)
    after = try ImportMap(yaml: Self.new)
  }

  /// People with bosses who do not come and firms that do not, too.
  private static let feed: String = {
    let people = (0..<40).map { number -> String in
      let friends = (0..<number % 4).map { String((number + 3 * $0) % 40) }
      let firm = number % 5 == 0 ? String(number) : "null"
      return """
        {"id": \(number), "name": "n\(number)", "fee": "\(number).5", "born": "19\(50 + number)-02-03",
         "boss": \((number * 7) % 45), "friends": [\(friends.joined(separator: ","))], "firm": \(firm)}
        """
    }
    return #"{"people": [\#(people.joined(separator: ","))], "firms": [{"code": 10}]}"#
  }()

  private static func request(_ feed: String) -> ImportRequest {
    ImportRequest([.bytes(Array(feed.utf8), name: "feed.json")])
  }

  /// A file and a schema that have had the same import.
  private func twins() async throws -> (file: SQLiteStore, url: String) {
    let file = try SQLiteStore(at: .inMemory)
    _ = try await Importer(map: before, store: file).run(Self.request(Self.feed))
    let url = try server.schema()
    _ = try await ServerImportTests.run(Self.request(Self.feed), before, url)
    return (file, url)
  }

  private func state(_ store: SQLiteStore) throws -> [String] {
    try contents(of: store)
      + sql(
        store,
        "SELECT relationship || ' ' || entity || ' ' || key || ' ' || owner FROM _dragoman_pending ORDER BY 1"
      )
  }

  private func state(_ url: String) throws -> [String] {
    let copy = try PostgreSQLServer(url).copy()
    defer { try? copy.close() }
    return try state(copy)
  }

  @Test("A statement that fails, each in turn, leaves what was there; then the migration is done")
  func failures() async throws {
    let (file, url) = try await twins()
    let was = try state(url)
    #expect(try was == state(file))
    var place = 1
    while true {
      let counter = StatementCounter(failing: place, "XX000")
      let isArmed = Armed()
      let store = try ServerStore(
        on: FaultyServer(url) { sql throws(ServerError) in
          if isArmed.value { try counter.see(sql) }
        }
      )
      defer { store.end() }
      isArmed.value = true
      do {
        try store.migrate(to: after.model())
        #expect(!counter.isFailed)
        break
      } catch {
        #expect(counter.isFailed && error.code == .refused, "statement \(place): \(error)")
        #expect(try state(url) == was, "statement \(place)")
      }
      place += 1
    }
    #expect(place > 40)
    try file.migrate(to: after.model())
    #expect(try state(url) == state(file))
  }

  /// Whether statements are counted: what opens the store is not the migration's.
  private final class Armed: @unchecked Sendable {
    // Set by the test before the migration begins.
    var value = false
  }

  @Test(
    "A connection that is cut at any byte, before or behind the server: the migration is done once",
    arguments: CuttingProxy.Loss.allCases
  )
  func cuts(loss: CuttingProxy.Loss) async throws {
    // What the clients had sent when the store was open: before that a cut is told.
    var opened = 0
    func run(_ place: Int) async throws -> (url: String, file: SQLiteStore, proxy: CuttingProxy) {
      let (file, direct) = try await twins()
      let proxy = try CuttingProxy(to: server.socketPath, cuttingAt: place, losing: loss)
      defer { proxy.end() }
      let url = server.url(schema: TestServer.schema(of: direct), by: proxy)
      let store = try PostgreSQLServer(url).store()
      defer { store.end() }
      opened = proxy.byteCount
      try store.migrate(to: after.model())
      try file.migrate(to: after.model())
      return (direct, file, proxy)
    }
    let whole = try await run(.max).proxy.byteCount
    let count = Seeds.setting("DRAGOMAN_ROUNDS").map { Int($0) } ?? 8
    let first = opened + 1
    // The last bytes are the COMMIT, and the farewell behind it.
    for place in (0..<count).map({ first + (whole - first) * $0 / count }) + [
      whole - 40, whole - 9,
    ] {
      let (url, file, proxy) = try await run(place)
      #expect(proxy.isCut)
      #expect(try state(url) == state(file), "\(loss) at \(place) of \(whole)")
    }
  }

  @Test(
    "Imports by the old map are refused with the remedy; by the new one they go on, contexts too"
  )
  func goesOn() async throws {
    let (file, url) = try await twins()
    let request = Self.request(#"{"people": [{"id": "40", "boss": "1", "firm": "5"}]}"#)
    let failure = await #expect(throws: ImportFailure.self) {
      try await ServerImportTests.run(request, after, url)
    }
    let expected = await #expect(throws: ImportFailure.self) {
      try await Importer(map: after, store: file).run(request)
    }
    let told = failure?.cause as? StoreError
    #expect(told?.code == .modelConflict && told?.help?.contains("onConflict: .migrate") == true)
    #expect(told?.message == (expected?.cause as? StoreError)?.message)
    #expect(told?.help == (expected?.cause as? StoreError)?.help)

    let stale = try Stack(before.model(), at: .postgreSQL(url))
    let stack = try Stack(after.model(), at: .postgreSQL(url), onConflict: .migrate)
    #expect(try stack.migration == file.migrate(to: after.model()))
    // A person whom somebody has waited for comes, and a firm.
    let firm = Self.request(#"{"firms": [{"code": "5"}]}"#)
    for request in [request, firm] {
      let report = try await ServerImportTests.run(request, after, url)
      ServerImportTests.compare(
        report,
        try await Importer(map: after, store: file).run(request),
        "after the migration"
      )
    }
    let copy = try PostgreSQLServer(url).copy()
    // An import into a file gives no place to whom it links by the to-one: they come last, by key.
    for query in [
      "SELECT id, title, born, fee, rank FROM Human ORDER BY 1",
      "SELECT h.id, f.code FROM Human_firm l JOIN Human h ON h._pk = l.owner JOIN Firm f ON f._pk = l.target"
        + " ORDER BY 1, 2",
      "SELECT b.id, p.id FROM Human p JOIN Human b ON b._pk = p.boss"
        + " ORDER BY 1, p._staff_order IS NULL, p._staff_order, p._pk",
      "SELECT p.relationship, p.entity, p.key, h.id FROM _dragoman_pending p JOIN Human h ON h._pk = p.owner"
        + " ORDER BY 4, 1, 3",
    ] { #expect(try sql(copy, query) == sql(file, query), "\(query)") }
    try copy.close()
    #expect(try sql(file, "SELECT count(*) FROM Human_firm") == ["3"])

    let ranks = try await stack.read { context in
      let filter = try Filter(parsing: "staff.@count > 0 AND title == 'n1'")
      return try context.fetch(FetchRequest("Person", filter: filter)).map {
        "\($0["rank"]) \($0[many: "firm"].count) \($0["born"])"
      }
    }
    #expect(ranks == ["\(StoredValue.integer(3)) 0 \(StoredValue.text("1951-02-03 00:00:00"))"])
    try await stack.write { context in
      let human = try context.insert("Person")
      human["id"] = "new"
      human["rank"] = .integer(1)
      human[many: "staff"] = try context.fetch(
        FetchRequest("Person", filter: try Filter(parsing: "title == 'n2'"))
      )
    }
    // Who holds objects of the old model writes nothing.
    let error = await #expect(throws: StoreError.self) {
      try await stale.write { context in try context.insert("Person")["id"] = .integer(1000) }
    }
    #expect(error?.code == .migrated)
    let unread = await #expect(throws: (any Error).self) {
      try await stale.read { context in try context.fetch(FetchRequest("Person")).count }
    }
    #expect("\(String(describing: unread))".contains("store.migrated"))
    try stale.close()
    try stack.close()
    let again = try Stack(after.model(), at: .postgreSQL(url), onConflict: .migrate)
    #expect(again.migration == nil)
    try again.close()
  }

  @Test("What objects of a sub-entity wait for goes with them")
  func droppedKind() async throws {
    let url = try #require(TestServer.shared).schema()
    let (old, new) = MigratedStoreTests.kinds
    let map = try ImportMap(yaml: old)
    let server = try PostgreSQLServer(url).store()
    defer { server.end() }
    let feed = #"[{"id":2,"kind":"car","owner":"p9","tags":["p8"]},{"id":4,"owner":"p7"}]"#
    _ = try await Importer(map: map, server: server)
      .run(ImportRequest([.bytes(Array(feed.utf8), name: "feed")]))
    _ = try server.migrate(to: try ImportMap(yaml: new).model(), drops: true)
    let copy = try server.copy(of: .everything)
    #expect(
      try copy.pendingReferences().map { "\($0.relationship) \($0.ownerKey.parts.map(\.value))" }
        == ["Thing.owner \([StoredValue.integer(4)])"]
    )
    try copy.close()
  }
}
