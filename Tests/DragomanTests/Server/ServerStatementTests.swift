import DragomanPostgreSQL
import Foundation
import TestServer
import TestSupport
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Answers of a server that end an import, at each statement in turn.
///
/// `DRAGOMAN_ROUNDS` asks for more statements than the default; as many as there are, for all of them.
@Suite("Statements that a server refuses", .enabled(if: TestServer.isThere))
struct ServerStatementTests {
  private static let yaml = """
    version: 1
    entities:
      Person:
        unique: id
        attributes: { id: { type: int64 }, name: { type: string } }
        relationships:
          boss: { entity: Person, kind: toOne, key: { id: boss }, onUnresolved: stub, inverse: staff }
          staff: { entity: Person, kind: toMany, inverse: boss }
          friends: { entity: Person, kind: toMany, key: { id: friends }, ordered: true, onUnresolved: clear }
    """

  private let server: TestServer
  private let map: ImportMap

  init() throws {
    server = try #require(TestServer.shared)
    map = try ImportMap(yaml: Self.yaml)
  }

  /// Forward references, so that batches are committed whose references wait.
  private static let records = (0..<40).map { number -> ForeignValue in
    let friends = (0..<number % 3).map { place -> ForeignValue in
      .integer(Int64((number + place * 11) % 33))
    }
    return .object([
      "id": .integer(Int64(number % 30)), "name": .string("n\(number)"),
      "boss": .integer(Int64((number * 7 + 3) % 33)), "friends": .array(friends),
    ])
  }

  @Test(
    "40001 at each statement: the contents, counts and the history of an unbroken import",
    arguments: [ImportMap.ImportOptions.Commit.batch, .all]
  )
  func serialization(commit: ImportMap.ImportOptions.Commit) async throws {
    var request = ImportRequest([.records(Self.records)])
    request.options.commit = commit
    request.options.batchSize = 10
    let file = try SQLiteStore(at: .inMemory)
    let expected = try await Importer(map: map, store: file).run(request)

    func run(_ place: Int) async throws -> (StatementCounter, ImportReport, String) {
      let url = try server.schema()
      let counter = StatementCounter(failing: place, "40001")
      let isArmed = Armed()
      let faulty = FaultyServer(url) { sql throws(ServerError) in
        if isArmed.value { try counter.see(sql) }
      }
      let store = try ServerStore(on: faulty)
      defer { store.end() }
      isArmed.value = true
      return (counter, try await Importer(map: map, server: store).run(request), url)
    }
    let count = try await run(.max).0.count
    #expect(count > 15)
    let rounds = Seeds.setting("DRAGOMAN_ROUNDS").map { Int($0) } ?? 20
    for number in 0..<min(rounds, count) {
      let place = 1 + number * count / min(rounds, count)
      let (counter, report, url) = try await run(place)
      let comment: Comment = "\(commit) statement \(place) of \(count)"
      #expect(counter.isFailed, comment)
      #expect(report.counts == expected.counts, comment)
      #expect(report.linkSummary == expected.linkSummary, comment)
      let copy = try PostgreSQLServer(url).copy()
      #expect(try contents(of: copy) == contents(of: file), comment)
      try copy.close()
      let schema = TestServer.schema(of: url)
      #expect(
        try server.psql("SELECT status, committed, read FROM \(schema)._dragoman_imports")
          == "done|40|40",
        comment
      )
      #expect(
        try server.psql(
          "SELECT count(*) FROM pg_class WHERE relname LIKE '\\_dragoman\\_run%'"
            + " AND relnamespace = '\(schema)'::regnamespace"
        ) == "0",
        comment
      )
    }
  }

  @Test("A server that is too old is refused, with its version")
  func tooOld() throws {
    let url = try server.schema()
    let old = FaultyServer(
      url,
      answering: { sql in
        guard sql.contains("server_version_num") else { return nil }
        return [.integer(120_015), .text(Self.bytes("UTF8")), .text(Self.bytes("public"))]
      },
      { _ throws(ServerError) in }
    )
    let error = #expect(throws: StoreError.self) { try ServerStore(on: old) }
    #expect(error?.code == .refused)
    #expect(error?.message.contains("PostgreSQL 12") == true)
  }

  @Test("A server that takes advisory locks and keeps none is refused before anything is done")
  func noLocks() throws {
    let url = try server.schema()
    let careless = FaultyServer(
      url,
      answering: { $0.contains("pg_locks") ? [.text(Self.bytes("false"))] : nil },
      { _ throws(ServerError) in }
    )
    let error = #expect(throws: StoreError.self) { try ServerStore(on: careless) }
    #expect(error?.code == .refused)
    #expect(error?.message.contains("advisory locks") == true)
  }

  @Test(
    "An import that was killed is stopped; a standby, which does not see that, says that it is not at its end"
  )
  func standby() async throws {
    let url = try server.schema()
    let schema = TestServer.schema(of: url)
    var request = ImportRequest([.records(Self.records)])
    request.options.commit = .batch
    _ = try await ServerImportTests.run(request, map, url)
    try server.psql(
      "UPDATE \(schema)._dragoman_imports SET status = 'running', finished = NULL;"
        + " CREATE TABLE \(schema)._dragoman_run7 (id integer PRIMARY KEY, state text);"
        + " INSERT INTO \(schema)._dragoman_run7 SELECT 1,"
        + " '{\"mark\": {\"process\": 1, \"begun\": \"\", \"name\": \"\"}, \"ledger\": ' || id || '}'"
        + " FROM \(schema)._dragoman_imports"
    )
    for isStandby in [false, true] {
      let store = try ServerStore(
        on: FaultyServer(
          url,
          answering: {
            isStandby && $0.contains("pg_is_in_recovery") ? [.text(Self.bytes("true"))] : nil
          },
          { _ throws(ServerError) in }
        )
      )
      defer { store.end() }
      let copy = try store.copy(of: .history)
      #expect(try copy.history().map(\.status) == [isStandby ? .unfinished : .stopped])
      try copy.close()
    }
  }

  /// Bytes that live as long as the process.
  private static func bytes(_ text: StaticString) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }

  @Test("A table that somebody has changed is told, and what is there stays")
  func changed() async throws {
    let url = try server.schema()
    let schema = TestServer.schema(of: url)
    let store = try PostgreSQLServer(url).store()
    defer { store.end() }
    var request = ImportRequest([.records(Self.records)])
    request.options.commit = .batch
    request.options.batchSize = 10
    _ = try await Importer(map: map, server: store).run(request)
    try server.psql("ALTER TABLE \(schema).\"Person\" RENAME COLUMN name TO title")
    let failure = await #expect(throws: ImportFailure.self) {
      try await Importer(map: map, server: store).run(request)
    }
    #expect((failure?.cause as? StoreError)?.code == .damaged)
    #expect(try server.psql("SELECT count(title) FROM \(schema).\"Person\"") == "30")
  }
}
