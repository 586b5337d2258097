import DragomanPostgreSQL
import Foundation
import TestServer
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Stacks that stay open while others do things to their database.
@Suite("Stacks beside others on a server", .enabled(if: TestServer.isPlain))
struct ServerStackTests {
  private static func model(_ names: [String] = ["net", "gross"], renamed: Bool = false) -> Model {
    var amounts = names.map { Attribute(name: $0, type: .int32) }
    if renamed {
      amounts[0].renamedFrom = names[1]
      amounts[1].renamedFrom = names[0]
    }
    return Model(entities: [
      Entity(
        name: "Bill",
        attributes: [Attribute(name: "id"), Attribute(name: "rate", type: .double)] + amounts,
        uniqueKeys: [["id"]]
      )
    ])
  }

  private func server() throws -> (url: String, schema: String, server: TestServer) {
    let server = try #require(TestServer.shared)
    let url = try server.schema()
    return (url, TestServer.schema(of: url), server)
  }

  private func fill(_ stack: Stack, _ id: String) async throws -> ObjectID {
    try await stack.write { context in
      let bill = try context.insert("Bill")
      bill["id"] = .text(id)
      bill["net"] = 1
      bill["gross"] = 2
      return bill.objectID
    }
  }

  /// Ends the connections of a store, but for the one that asks.
  private func cut(_ server: TestServer, _ application: String) throws {
    let those = "FROM pg_stat_activity WHERE application_name = '\(application)'"
    #expect(try server.psql("SELECT count(pg_terminate_backend(pid)) \(those)") != "0")
    // They end a moment later.
    while try server.psql("SELECT count(*) \(those)") != "0" { Thread.sleep(forTimeInterval: 0.01) }
  }

  private func named(_ url: String, _ application: String) -> String {
    "\(url)\(url.contains("?") ? "&" : "?")application_name=\(application)"
  }

  @Test("Who opened a stack before names changed places reads nothing by them any more")
  func migrated() async throws {
    let (url, _, _) = try server()
    let stale = try Stack(Self.model(), at: .postgreSQL(url))
    let id = try await fill(stale, "a")
    #expect(try await stale.read { try $0.object(with: id)["net"] } == 1)
    let new = try Stack(Self.model(renamed: true), at: .postgreSQL(url), onConflict: .migrate)
    let error = await #expect(throws: StoreError.self) {
      _ = try await stale.read { try $0.fetch(FetchRequest("Bill")).count }
    }
    #expect(error?.code == .migrated)
    let unsaved = await #expect(throws: StoreError.self) { _ = try await fill(stale, "b") }
    #expect(unsaved?.help == "open it again with the new model")
    #expect(try await new.read { try $0.object(with: id)["net"] } == 2)
    try new.close()
    try stale.close()
  }

  @Test("What only grew is read and written on, the first sub-entity of an entity included")
  func grown() async throws {
    let (url, _, _) = try server()
    let stack = try Stack(Self.model(), at: .postgreSQL(url))
    let id = try await fill(stack, "a")
    var model = Self.model()
    let on = Attribute(name: "on")
    model.entities.append(Entity(name: "Reminder", attributes: [on], parent: "Bill"))
    let other = try Stack(model, at: .postgreSQL(url))
    try await other.write { try $0.insert("Reminder")["id"] = "r" }
    #expect(try await stack.read { try $0.object(with: id)["net"] } == 1)
    _ = try await fill(stack, "b")
    let names = try await other.read { context in
      try context.fetch(FetchRequest("Bill", sortKeys: [SortKey("id")])).map(\.entityName)
    }
    #expect(names == ["Bill", "Bill", "Reminder"])
    try stack.close()
    try other.close()
  }

  @Test(
    "Tables that were dropped and made anew are another store, to which an open stack says nothing"
  )
  func replaced() async throws {
    let (url, schema, server) = try server()
    let stale = try Stack(Self.model(), at: .postgreSQL(url))
    let id = try await fill(stale, "a")
    try server.psql("DROP SCHEMA \(schema) CASCADE; CREATE SCHEMA \(schema)")
    let new = try Stack(Self.model(), at: .postgreSQL(url))
    _ = try await fill(new, "other")
    let unread = await #expect(throws: StoreError.self) {
      _ = try await stale.read { try $0.object(with: id)["id"] }
    }
    #expect(unread?.code == .migrated)
    let unsaved = await #expect(throws: StoreError.self) { _ = try await fill(stale, "b") }
    #expect(unsaved?.code == .migrated)
    #expect(try server.psql("SELECT id FROM \(schema).\"Bill\"") == "other")
    try new.close()
    try stale.close()
  }

  @Test(
    "A store without a random text of its own works, and gets one when its model is written next"
  )
  func older() async throws {
    let (url, schema, server) = try server()
    let stack = try Stack(Self.model(), at: .postgreSQL(url))
    _ = try await fill(stack, "a")
    try server.psql("DELETE FROM \(schema)._dragoman_model WHERE id = 2")
    _ = try await fill(stack, "b")
    let other = try Stack(Self.model(["net", "gross", "tax"]), at: .postgreSQL(url))
    #expect(try server.psql("SELECT count(*) FROM \(schema)._dragoman_model WHERE id = 2") == "1")
    _ = try await fill(stack, "c")
    #expect(try await stack.read { try $0.fetch(FetchRequest("Bill")).count } == 3)
    try other.close()
    try stack.close()
  }

  @Test(
    "Connections that were cut while they lay idle are passed over: by reads, and by every kind of save"
  )
  func idle() async throws {
    let (url, schema, server) = try server()
    let stack = try Stack(Self.model(), at: .postgreSQL(named(url, schema)))
    let id = try await fill(stack, "a")
    try cut(server, schema)
    #expect(try await stack.read { try $0.object(with: id)["net"] } == 1)
    try cut(server, schema)
    _ = try await fill(stack, "b")
    try cut(server, schema)
    try await MainActor.run { try stack.main.insert("Bill")["id"] = "c" }
    try await stack.saveMain()
    try cut(server, schema)
    _ = try await stack.write(until: .merged) { try $0.insert("Bill")["id"] = "d" }
    try await stack.saveMain()
    #expect(try server.psql("SELECT count(*) FROM \(schema).\"Bill\"") == "4")
    try stack.close()
  }

  @Test("Who waits for another program's row waits once")
  func locked() async throws {
    let (url, schema, server) = try server()
    let stack = try Stack(Self.model(), at: .postgreSQL(named(url, schema)))
    try await stack.write { _ in }
    try server.psql(
      "CREATE FUNCTION \(schema).f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        + " PERFORM nextval('\(schema).n'); RAISE EXCEPTION 'no' USING ERRCODE = '55P03'; END $$;"
        + " CREATE SEQUENCE \(schema).n;"
        + " CREATE TRIGGER n BEFORE INSERT ON \(schema).\"Bill\" FOR EACH ROW EXECUTE FUNCTION \(schema).f()"
    )
    let error = await #expect(throws: StoreError.self) { _ = try await fill(stack, "a") }
    #expect(error?.code == .busy && error?.isPassing == false)
    // A sequence goes on though the insertion is undone.
    #expect(try server.psql("SELECT last_value FROM \(schema).n") == "1")
    try stack.close()
  }

  @Test("A default that no object could have on a server is refused when the stack is opened")
  func defaults() throws {
    let (url, _, _) = try server()
    let model = Model(entities: [
      Entity(name: "A", attributes: [Attribute(name: "a", defaultValue: "x\u{0}")])
    ])
    let error = #expect(throws: StoreError.self) { try Stack(model, at: .postgreSQL(url)) }
    #expect(error?.code == .badRequest && error?.message.contains("A.a") == true)
  }

  @Test("A text that the server cannot hold is refused where it is set, with its attribute")
  func zeroCharacter() async throws {
    let (url, _, _) = try server()
    let stack = try Stack(Self.model(), at: .postgreSQL(url))
    try await stack.write { context in
      let bill = try context.insert("Bill")
      let error = #expect(throws: ContextError.self) { try bill.setValue("a\u{0}", of: "id") }
      #expect(error?.code == .type && error?.message.contains("Bill.id") == true)
    }
    try stack.close()
  }

  @Test("What is no URL is said to be none", arguments: ["", "host=127.0.0.1 dbname=x"])
  func noURL(text: String) {
    let error = #expect(throws: StoreError.self) { try Stack(Self.model(), at: .postgreSQL(text)) }
    #expect(error?.message == "That is no URL of a PostgreSQL server.")
  }
}
