import DragomanPostgreSQL
import TestServer
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// What administrators do to a database, or say for a user: told, and never taken for success.
@Suite("Administrators of a server", .enabled(if: TestServer.isPlain))
struct ServerAdministratorTests {
  private let server: TestServer
  private let url: String
  private let schema: String
  private let map: ImportMap

  init() throws {
    server = try #require(TestServer.shared)
    url = try server.schema()
    schema = TestServer.schema(of: url)
    map = try ImportMap(yaml: ServerUndoTests.shop)
  }

  private func run(
    _ feed: String,
    on store: ServerStore,
    _ change: (inout ImportRequest) -> Void = { _ in }
  ) async throws -> ImportReport {
    var request = ImportRequest([.bytes(Array(feed.utf8), name: "feed")])
    change(&request)
    return try await Importer(map: map, server: store).run(request)
  }

  private func sql(_ text: String) throws {
    try server.psql("SET search_path = \(schema); \(text)")
  }

  @Test("A trigger that takes rows away from an import into empty tables is noticed")
  func droppingTrigger() async throws {
    let store = try PostgreSQLServer(url).store()
    defer { store.end() }
    let feed = #"[{"sku":"a"},{"sku":"b"},{"sku":"c"}]"#
    _ = try await run(feed, on: store)
    #expect(try store.delete(FetchRequest("Item", filter: Filter(parsing: "TRUEPREDICATE"))).isDone)
    try sql(
      "CREATE FUNCTION drop_b() RETURNS trigger LANGUAGE plpgsql AS"
        + " $$BEGIN IF NEW.sku = 'b' THEN RETURN NULL; END IF; RETURN NEW; END$$;"
        + " CREATE TRIGGER drop_b BEFORE INSERT ON \"Item\" FOR EACH ROW EXECUTE FUNCTION drop_b()"
    )
    let failure = await #expect(throws: ImportFailure.self) { try await run(feed, on: store) }
    #expect((failure?.cause as? StoreError)?.code == .refused)
    let copy = try store.copy(of: .everything)
    defer { try? copy.close() }
    #expect(try copy.count(FetchRequest("Item")) == 0)
  }

  @Test("Sessions do not end because a feed comes slowly")
  func idle() throws {
    let server = PostgreSQLServer("\(url)%20-cidle_in_transaction_session_timeout%3D1000")
    let connection = try server.connect()
    defer { connection.close() }
    #expect(try connection.text("SHOW idle_in_transaction_session_timeout") == "0")
  }

  @Test("What an administrator sets for all sessions of a database changes nothing")
  func settings() async throws {
    let options = "%20-cquote_all_identifiers%3Don"
    let store = try PostgreSQLServer(url + options).store()
    _ = try await run(#"[{"sku":"a"}]"#, on: store)
    store.end()
    let again = try PostgreSQLServer(url + options).store()
    #expect(again.layout.entity(named: "Item") != nil)
    again.end()
    let connection = try PostgreSQLServer(url).connect()
    defer { connection.close() }
    // Servers before PostgreSQL 14 do not have it.
    let timeout = try connection.text("SELECT current_setting('idle_session_timeout', true)")
    #expect(timeout == nil || timeout == "0")
  }

  @Test("Imports of a session whose triggers do not fire are recorded all the same")
  func replicaRole() async throws {
    let store = try PostgreSQLServer(url).store()
    _ = try await run(#"[{"sku":"a","name":"x"}]"#, on: store)
    store.end()
    let replica = try PostgreSQLServer("\(url)%20-csession_replication_role%3Dreplica").store()
    let report = try await run(#"[{"sku":"a","name":"y"}]"#, on: replica) { $0.recording = .always }
    #expect(report.counts.updated == 1 && report.notices.isEmpty, "\(report.notices)")
    replica.end()
    let again = try PostgreSQLServer(url).store()
    defer { again.end() }
    #expect(try again.undoImport(nil).isPossible)
    #expect(try server.psql("SELECT name FROM \(schema).\"Item\"").contains("x"))
  }

  @Test(
    "A column whose type was changed is refused by name",
    arguments: ["numeric(12,0)", "double precision", "text"]
  )
  func changedType(type: String) async throws {
    let store = try PostgreSQLServer(url).store()
    _ = try await run(#"[{"sku":"a","price":1.55}]"#, on: store)
    store.end()
    try sql("ALTER TABLE \"Item\" ALTER price TYPE \(type)")
    let error = #expect(throws: StoreError.self) {
      let store = try PostgreSQLServer(url).store()
      defer { store.end() }
      _ = try store.copy(of: .everything)
    }
    #expect(error?.code == .damaged)
    #expect(error?.message.contains("Item.price is of the type \(type)") == true)
    try sql("ALTER TABLE \"Item\" ALTER price TYPE numeric USING price::numeric")
    try PostgreSQLServer(url).store().end()
  }

  @Test("Rows that a dropped constraint has let in are damage of the server's")
  func droppedConstraint() async throws {
    let store = try PostgreSQLServer(url).store()
    defer { store.end() }
    _ = try await run(#"[{"sku":"a"}]"#, on: store)
    try sql(
      "ALTER TABLE \"Item\" DROP CONSTRAINT \"Item_unique_sku\";"
        + " INSERT INTO \"Item\" (_pk, _v, sku) VALUES (900, 1, 'a')"
    )
    let error = #expect(throws: StoreError.self) { try store.copy(of: .everything) }
    #expect(error?.code == .damaged)
    #expect(error?.message.contains("Item") == true)
  }

  @Test("Names of the server's own columns are told as such", arguments: ["xmin", "ctid"])
  func systemColumns(name: String) async throws {
    let store = try PostgreSQLServer(url).store()
    defer { store.end() }
    let map = try ImportMap(
      yaml: """
        version: 1
        entities: { Box: { unique: id, attributes: { id: id, \(name): { type: double } } } }
        sources: { json: { format: json, entity: Box } }
        """
    )
    let failure = await #expect(throws: ImportFailure.self) {
      try await Importer(map: map, server: store)
        .run(ImportRequest([.bytes(Array(#"[{"id":"1"}]"#.utf8), name: "f")]))
    }
    let cause = failure?.cause as? StoreError
    #expect(cause?.code == .modelConflict)
    #expect(cause?.message.contains("every table of the server") == true)
  }

  @Test("A user, or a database, that takes no more connections is not called unknown")
  func refusedConnections() throws {
    try server.psql("CREATE ROLE few_\(schema) LOGIN CONNECTION LIMIT 0")
    try server.psql("CREATE DATABASE closed_\(schema) ALLOW_CONNECTIONS false")
    let closed = url.replacing("/postgres?", with: "/closed_\(schema)?")
    for address in [server.url(schema: schema, user: "few_\(schema)"), closed] {
      let error = #expect(throws: StoreError.self) { try PostgreSQLServer(address).store() }
      #expect(error?.code == .unreachable, "\(String(describing: error))")
    }
  }
}
