import DragomanPostgreSQL
import Foundation
import TestServer
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// What is otherwise where tables lie on several machines; what is the same, other suites say of both
/// (`TestPlace`), and all of them with `DRAGOMAN_SERVER_TESTS=citus`.
@Suite("Stores on Citus", .enabled(if: TestCluster.isThere))
struct ServerDistributedTests {
  private static let yaml = """
    version: 1
    entities:
      Country:
        unique: code
        attributes: { code: { type: string }, name: { type: string } }
      Person:
        unique: [[id], [email]]
        attributes: { id: { type: int64 }, email: { type: string }, name: { type: string } }
        relationships:
          home: { entity: Country, kind: toOne, key: { code: home }, onUnresolved: stub }
          friends: { entity: Person, kind: toMany, key: { id: friends }, onUnresolved: pending }
    sources:
      people: { format: json, entity: Person }
    """

  private let server: TestServer
  private let map: ImportMap

  init() throws {
    server = try #require(TestCluster.shared).coordinator
    map = try ImportMap(yaml: Self.yaml)
  }

  private static func person(_ id: Int, _ more: [String: ForeignValue] = [:]) -> ForeignValue {
    .object(
      ForeignRecord(
        [("id", .integer(Int64(id))), ("email", .string("e\(id)"))]
          + more.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
      )
    )
  }

  /// One import, as the tool does it.
  @discardableResult
  private func run(
    _ records: [ForeignValue],
    _ url: String,
    references: [String] = [],
    batchSize: Int? = nil
  ) async throws -> ImportReport {
    let store = try PostgreSQLServer(url).store(references: references)
    defer { store.end() }
    var request = ImportRequest([.records(records)])
    if let batchSize {
      request.options.commit = .batch
      request.options.batchSize = batchSize
    }
    return try await Importer(map: map, server: store).run(request)
  }

  /// The tables of a store that are distributed: how, and beside which others.
  private func tables(_ url: String) throws -> String {
    try server.psql(
      "SELECT relname, partmethod, dense_rank() OVER (ORDER BY partmethod, colocationid) FROM pg_dist_partition"
        + " JOIN pg_class AS c ON c.oid = logicalrelid WHERE relnamespace = "
        + "'\(TestServer.schema(of: url))'::regnamespace ORDER BY relname"
    )
  }

  @Test(
    "Objects lie by their keys, links beside their owners, references on all nodes; our own tables stay"
  )
  func layout() async throws {
    let url = try server.schema()
    try await run([Self.person(1, ["home": .string("DE")])], url, references: ["Country"])
    #expect(try tables(url) == "Country|n|2\nPerson|h|1\nPerson_friends|h|1")
    let schema = TestServer.schema(of: url)
    let constraints = try server.psql(
      "SELECT conname FROM pg_constraint WHERE contype IN ('f', 'u')"
        + " AND connamespace = '\(schema)'::regnamespace ORDER BY 1"
    )
    #expect(constraints == "Person_friends_owner_fkey\nPerson_home_fkey")
    let distribution = try PostgreSQLServer(url).distribution()
    #expect(distribution?.nodeCount == 2 && distribution?.referenceTables == ["Country"])
    // The second import, in batches, changes what the first one has made and what refers to it.
    let report = try await run(
      (1...9).map { Self.person($0, ["home": .string($0 % 2 == 0 ? "DE" : "FR")]) },
      url,
      references: ["Country"],
      batchSize: 2
    )
    #expect(report.counts.inserted == 8 && report.counts.updated == 1)
    #expect(
      try server.psql(
        "SELECT code, count(*) FROM \(schema).\"Person\" AS p JOIN \(schema).\"Country\" AS c ON c._pk = home"
          + " GROUP BY code ORDER BY code"
      ) == "DE|4\nFR|5"
    )
  }

  @Test(
    "References are refused of entities that are not there, of tables that are, and where there are no nodes"
  )
  func references() async throws {
    let url = try server.schema()
    try await run([Self.person(1)], url)
    for (entity, code) in [("Person", StoreError.Code.modelConflict), ("Nobody", .badRequest)] {
      let failure = await #expect(throws: ImportFailure.self) {
        try await run([Self.person(2)], url, references: [entity])
      }
      #expect((failure?.cause as? StoreError)?.code == code, "\(entity)")
    }
    #expect(try tables(url) == "Country|h|1\nPerson|h|1\nPerson_friends|h|1")
    let plain = try #require(TestServer.shared)
    guard plain !== server else { return }
    let other = try plain.schema()
    let error = #expect(throws: StoreError.self) {
      try PostgreSQLServer(other).store(references: ["Country"])
    }
    #expect(error?.code == .badRequest)
  }

  @Test("Imports that write the same keys at once make each object once")
  func keys() async throws {
    let url = try server.schema()
    try await run([Self.person(0)], url)
    let records = (1...40).map { Self.person($0, ["friends": .array([.integer(Int64($0 % 7))])]) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        // All begin elsewhere, so that each inserts what the others look for.
        let own = Array(records[(number * 10)...] + records[..<(number * 10)])
        group.addTask {
          let report = try await run(own, url, batchSize: 3)
          #expect(report.status == .done && report.counts.read == 40)
        }
      }
      try await group.waitForAll()
    }
    let table = "\(TestServer.schema(of: url)).\"Person\""
    let counts = "SELECT count(*), count(DISTINCT id), count(DISTINCT email) FROM \(table)"
    #expect(try server.psql(counts) == "41|41|41")
    // What one object has another one cannot get, by its other key.
    let taken = ForeignValue.object([
      "id": .integer(99), "email": .string("e7"), "name": .string("x"),
    ])
    let report = try await run([taken], url)
    let store = try SQLiteStore(at: .inMemory)
    _ = try await Importer(map: map, store: store).run(ImportRequest([.records(records)]))
    let expected = try await Importer(map: map, store: store).run(
      ImportRequest([.records([taken])])
    )
    #expect(report.counts == expected.counts && report.issues == expected.issues)
    #expect(try server.psql(counts) == "41|41|41")
  }

  @Test("A key that is to be unique is looked for among what is there")
  func laterKeys() async throws {
    let url = try server.schema()
    let loose = try ImportMap(yaml: Self.yaml.replacing("[[id], [email]]", with: "[[id]]"))
    let store = try PostgreSQLServer(url).store()
    let twice = [Self.person(1), .object(["id": .integer(2), "email": .string("e1")])]
    _ = try await Importer(map: loose, server: store).run(ImportRequest([.records(twice)]))
    store.end()
    let failure = await #expect(throws: ImportFailure.self) { try await run([Self.person(3)], url) }
    let cause = try #require(failure?.cause as? StoreError)
    #expect(cause.code == .modelConflict && cause.message.contains("email"))
  }

  @Test(
    "A migration leaves tables where they lie, renamed ones too, and what is new lies beside them"
  )
  func migration() async throws {
    let url = try server.schema()
    let people = (1...9).map {
      Self.person(
        $0,
        ["home": .string($0 % 2 == 0 ? "DE" : "FR"), "friends": .array([.integer(1)])]
      )
    }
    try await run(people, url, references: ["Country"])
    let later = try ImportMap(
      yaml: Self.yaml.replacing("  Country:\n", with: "  Nation:\n")
        .replacing("entity: Country", with: "entity: Nation")
        .replacing("id: { type: int64 }", with: "id: { type: string }")
        .replacing(
          "sources:",
          with: "  Tag: { unique: word, attributes: { word: word } }\nsources:"
        )
    )
    let before = try server.psql(Self.homes(in: url, "Country"))
    var model = later.model()
    let nation = try #require(model.entities.firstIndex { $0.name == "Nation" })
    model.entities[nation].renamedFrom = "Country"
    let steps = try PostgreSQLServer(url).migrate(to: model).steps.map(\.sentence)
    #expect(
      steps == [
        "Rename the entity Country to Nation.", "Rename the table Country to Nation.",
        "Convert Person.id from int64 to string.", "Add the entity Tag (word).",
      ]
    )
    #expect(try tables(url) == "Nation|n|2\nPerson|h|1\nPerson_friends|h|1\nTag|h|1")
    #expect(try PostgreSQLServer(url).distribution()?.referenceTables == ["Nation"])
    #expect(try server.psql(Self.homes(in: url, "Nation")) == before)
    let schema = TestServer.schema(of: url)
    let constraints = try server.psql(
      "SELECT conname FROM pg_constraint WHERE contype IN ('f', 'u')"
        + " AND connamespace = '\(schema)'::regnamespace ORDER BY 1"
    )
    #expect(constraints == "Person_friends_owner_fkey\nPerson_home_fkey")
    #expect(throws: (any Error).self) { try server.psql("DELETE FROM \(schema).\"Nation\"") }
    // By the new model, in batches: keys are found on all nodes.
    let store = try PostgreSQLServer(url).store()
    defer { store.end() }
    var request = ImportRequest([
      .records([
        .object(["id": .string("9"), "email": .string("e9"), "home": .string("DE")]),
        .object(["id": .string("x"), "email": .string("ex"), "home": .string("IT")]),
      ])
    ])
    request.options.commit = .batch
    request.options.batchSize = 1
    let counts = try await Importer(map: later, server: store).run(request).counts
    #expect(counts.read == 2 && counts.updated == 1 && counts.inserted == 1)
  }

  /// Who lives where, by the tables of a store.
  private static func homes(in url: String, _ country: String) -> String {
    let schema = TestServer.schema(of: url)
    return
      "SELECT id, code, count(f.target) FROM \(schema).\"Person\" AS p JOIN \(schema).\"\(country)\" AS c"
      + " ON c._pk = home LEFT JOIN \(schema).\"Person_friends\" AS f ON f.owner = p._pk"
      + " GROUP BY id, code ORDER BY id"
  }

  @Test("A link to what somebody deletes meanwhile is refused, and so is what a rule leaves behind")
  func dangling() async throws {
    let model = Model(entities: [
      Entity(
        name: "Person",
        attributes: [Attribute(name: "name", type: .string)],
        relationships: [
          Relationship(name: "boss", destination: "Person", kind: .toOne, inverse: "staff"),
          Relationship(
            name: "staff",
            destination: "Person",
            kind: .toMany,
            inverse: "boss",
            deleteRule: .noAction
          ),
        ]
      )
    ])
    let url = try server.schema()
    let first = try Stack(model, at: .postgreSQL(url))
    try await first.write { context in
      for name in ["a", "b", "c"] { try context.insert("Person")["name"] = .text(name) }
    }
    let byName = FetchRequest("Person", sortKeys: [SortKey("name")])
    do {
      try await first.write { context in
        let people = try context.fetch(byName)
        people[0][one: "boss"] = people[1]
        // Another program is quicker.
        try server.psql("DELETE FROM \(TestServer.schema(of: url)).\"Person\" WHERE name = 'b'")
      }
      Issue.record("a link leads nowhere")
    } catch let error as ContextError {
      #expect(error.code == .denied)
    }
    try await first.write { context in
      let people = try context.fetch(byName)
      people[0][one: "boss"] = people[1]
    }
    do {
      try await first.write { context in try context.delete(try context.fetch(byName)[1]) }
      Issue.record("a link leads nowhere")
    } catch let error as ContextError {
      #expect(error.code == .denied)
    }
    let names = try await first.read { try $0.fetch(byName).map { $0["name"] } }
    #expect(names == ["a", "c"])
    try first.close()
  }

  @Test("Who reads sees one moment of all nodes, while others commit")
  func moments() async throws {
    let url = try server.schema()
    let people: @Sendable (String) -> [ForeignValue] = { name in
      (1...60).map { Self.person($0, ["name": .string(name)]) }
    }
    try await run(people("0"), url)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { for number in 1...12 { try await run(people("\(number)"), url) } }
      group.addTask {
        for _ in 0..<30 {
          let copy = try PostgreSQLServer(url).copy()
          let names = try sql(copy, "SELECT DISTINCT name FROM Person")
          #expect(names.count == 1)
          try copy.close()
        }
      }
      try await group.waitForAll()
    }
  }

  @Test(
    "What a node has prepared and does not show yet is waited for, and keys are not given twice"
  )
  func prepared() async throws {
    // Whoever writes into the database waits: it is nobody else's.
    let cluster = try TestCluster(workerCount: 1)
    let server = cluster.coordinator
    let url = try server.schema()
    try await run([Self.person(1)], url)
    // A node that was lost at the moment of a commit: the coordinator has committed, the node has it prepared.
    let worker = cluster.workers[0]
    let gid = "citus_0_\(Int.random(in: 1...999_999))_1_1"
    try worker.psql("BEGIN; SELECT txid_current(); PREPARE TRANSACTION '\(gid)'")
    try server.psql(
      "INSERT INTO pg_dist_transaction (groupid, gid) SELECT groupid, '\(gid)' FROM pg_dist_node"
        + " WHERE nodeport = \(worker.port)"
    )
    let store = try PostgreSQLServer(url).store()
    let error = #expect(throws: StoreError.self) { try store.grow(to: map.model()) }
    #expect(error?.code == .busy && error?.isPassing == true)
    store.end()
    try worker.psql("COMMIT PREPARED '\(gid)'")
    #expect(try await run([Self.person(2)], url).counts.inserted == 1)
  }

  @Test(
    "A node that is down ends imports as unreachable, and nothing is half-written; a coordinator alone is enough"
  )
  func down() async throws {
    let cluster = try TestCluster(workerCount: 1)
    let url = try cluster.coordinator.schema()
    try await run((1...20).map { Self.person($0) }, url)
    let count = "SELECT count(*) FROM \(TestServer.schema(of: url)).\"Person\""
    #expect(try cluster.coordinator.psql(count) == "20")
    cluster.workers[0].end()
    let failure = await #expect(throws: ImportFailure.self) {
      try await run([Self.person(21)], url)
    }
    let cause = try #require(failure?.cause as? StoreError)
    #expect(cause.code == .unreachable && cause.isPassing, "\(cause)")
    #expect(cause.message.contains("127.0.0.1:\(cluster.workers[0].port)"), "\(cause)")
    #expect(!cause.message.contains("postgres@"))
    let error = #expect(throws: StoreError.self) { try PostgreSQLServer(url).copy() }
    #expect(error?.code == .unreachable)
    let entries = "SELECT count(*) FROM \(TestServer.schema(of: url))._dragoman_imports"
    #expect(try cluster.coordinator.psql(entries) == "1")

    let alone = try TestCluster(workerCount: 0).coordinator
    let other = try alone.schema()
    let report = try await run((1...5).map { Self.person($0) }, other, references: ["Country"])
    #expect(report.counts.inserted == 5)
    let again = try await run((1...6).map { Self.person($0) }, other, batchSize: 2)
    #expect(again.counts.inserted == 1 && again.counts.unchanged == 5)
  }

  @Test("A worker is no place for a store, and a store that was made before nodes came stays whole")
  func places() async throws {
    let cluster = try #require(TestCluster.shared)
    let error = #expect(throws: StoreError.self) {
      try PostgreSQLServer(cluster.workers[0].url(schema: "public")).store()
    }
    #expect(error?.code == .refused && error?.message.contains("worker") == true)
    try server.psql("CREATE DATABASE early")
    let url = server.url(schema: "public").replacing("/postgres?", with: "/early?")
    try await run([Self.person(1)], url)
    try server.psql("CREATE EXTENSION citus", database: "early")
    #expect(try PostgreSQLServer(url).distribution() == nil)
    #expect(try await run([Self.person(1), Self.person(2)], url).counts.inserted == 1)
    let constraints = "SELECT count(*) FROM pg_constraint WHERE conname LIKE 'Person_unique%'"
    #expect(try server.psql(constraints, database: "early") == "2")
  }
}
