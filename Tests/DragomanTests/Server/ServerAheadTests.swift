import DragomanPostgreSQL
import Synchronization
import TestServer
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// What a batch is about is looked up on a server while the batch before it is applied.
@Suite("Look-ups ahead of a batch", .enabled(if: TestServer.isThere))
struct ServerAheadTests {
  private static let yaml = """
    version: 1
    entities:
      Person:
        unique: [[id], [login]]
        version: at
        deleteWhen: { from: gone, equals: true }
        attributes:
          id: { type: int64 }
          login: { type: string, onMissing: keep }
          name: { type: string, onMissing: keep }
          at: { type: int64, onMissing: keep }
        relationships:
          boss: { entity: Person, kind: toOne, key: { id: boss }, onUnresolved: stub, onMissing: keep }
    """

  private let server: TestServer
  private let map: ImportMap

  init() throws {
    server = try #require(TestServer.shared)
    map = try ImportMap(yaml: Self.yaml)
  }

  private static func person(_ id: Int64, _ more: [(String, ForeignValue)] = []) -> ForeignValue {
    .object(ForeignRecord([("id", .integer(id))] + more))
  }

  @Test(
    "What one batch inserts, changes, deletes and renames, the next one finds so",
    arguments: [1, 2, 3]
  )
  func meeting(batchSize: Int) async throws {
    let first = (1...6).map { number in
      Self.person(number, [("login", .string("l\(number)")), ("at", .integer(1))])
    }
    let second: [ForeignValue] = [
      Self.person(1, [("name", .string("a"))]), Self.person(1, [("name", .string("b"))]),
      Self.person(1, [("name", .string("c")), ("at", .integer(5))]),
      Self.person(1, [("name", .string("older")), ("at", .integer(4))]),
      Self.person(2, [("gone", .bool(true))]), Self.person(2, [("name", .string("again"))]),
      Self.person(2, [("gone", .bool(true))]), Self.person(2, [("gone", .bool(true))]),
      Self.person(20, [("login", .string("new"))]), Self.person(20, [("name", .string("n"))]),
      Self.person(3, [("login", .string("l30"))]), Self.person(21, [("login", .string("l3"))]),
      Self.person(22, [("login", .string("l3"))]), Self.person(4, [("boss", .integer(23))]),
      Self.person(23, [("name", .string("no stub"))]), Self.person(5, [("boss", .integer(2))]),
      Self.person(2, [("login", .string("l5"))]), Self.person(5, [("gone", .bool(true))]),
      Self.person(2, [("login", .string("l5"))]),
    ]
    let file = try SQLiteStore(at: .inMemory)
    let url = try server.schema()
    for records in [first, second, second] {
      var request = ImportRequest([.records(records)])
      request.wholeBatchSize = batchSize
      let expected = try await Importer(map: map, store: file).run(request)
      let report = try await ServerImportTests.run(request, map, url)
      ServerImportTests.compare(report, expected, "\(batchSize)")
      let copy = try PostgreSQLServer(url).copy()
      #expect(try contents(of: copy) == contents(of: file))
      try copy.close()
    }
  }

  @Test("A batch is looked up before the one before it is written, under one transaction only")
  func ahead() async throws {
    for commit in [ImportMap.ImportOptions.Commit.all, .batch] {
      let url = try server.schema()
      var records = (0..<200).map { Self.person($0) }
      _ = try await ServerImportTests.run(ImportRequest([.records(records)]), map, url)
      let said = Mutex<[Bool]>([])
      let watched = FaultyServer(url) { sql throws(ServerError) in
        if sql.contains("AS k(place") { said.withLock { $0.append(true) } }
        if sql.hasPrefix("UPDATE \"Person\"") { said.withLock { $0.append(false) } }
      }
      let store = try ServerStore(on: watched)
      defer { store.end() }
      records = (0..<200).map { Self.person($0, [("name", .string("n"))]) }
      var request = ImportRequest([.records(records)])
      request.options.batchSize = 2
      request.wholeBatchSize = 2
      request.options.commit = commit
      let report = try await Importer(map: map, server: store).run(request)
      #expect(report.counts.updated == 200)
      // Two batches are written one behind the other where the second one was looked up before.
      let isAhead = said.withLock { said in zip(said, said.dropFirst()).contains { !$0 && !$1 } }
      #expect(isAhead == (commit == .all), "\(commit)")
    }
  }
}
