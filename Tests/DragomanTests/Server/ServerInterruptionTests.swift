import DragomanPostgreSQL
import Foundation
import TestServer
import TestSupport
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Transactions and connections that end in the middle: the contents and the counts are those of an unbroken run.
///
/// `DRAGOMAN_ROUNDS` asks for more places than the default.
@Suite("Imports that a server interrupts", .enabled(if: TestServer.isThere))
struct ServerInterruptionTests {
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
  private let request: ImportRequest
  private let expected: ImportReport
  private let file: SQLiteStore

  init() async throws {
    server = try #require(TestServer.shared)
    map = try ImportMap(yaml: Self.yaml)
    let records = (0..<60).map { Self.record($0) }
    var request = ImportRequest([.records(records)])
    request.options.commit = ImportMap.ImportOptions.Commit.batch
    request.options.batchSize = 10
    self.request = request
    file = try SQLiteStore(at: .inMemory)
    expected = try await Importer(map: map, store: file).run(request)
  }

  private static func record(_ number: Int) -> ForeignValue {
    if number == 31 { return .object(["id": .string("no")]) }
    let id = number % 50
    // Nothing waits for what comes later: every batch is committed.
    let earlier = [id - 1, id - 2, id / 2].filter { $0 >= 0 && $0 < id && $0 != 31 }
    let friends = Set(earlier).sorted().map { ForeignValue.integer(Int64($0)) }
    return .object([
      "id": .integer(Int64(id)), "name": .string("n\(number)"),
      "boss": friends.first ?? .null, "friends": .array(friends),
    ])
  }

  private func check(_ report: ImportReport, _ url: String, _ comment: Comment) throws {
    #expect(report.counts == expected.counts, comment)
    #expect(report.entities == expected.entities, comment)
    #expect(report.status == expected.status, comment)
    let copy = try PostgreSQLServer(url).copy()
    #expect(try contents(of: copy) == contents(of: file), comment)
    try copy.close()
    let ledger = "SELECT status, committed, read, rejected FROM"
    let entries = try server.psql("\(ledger) \(TestServer.schema(of: url))._dragoman_imports")
    #expect(entries.hasSuffix("done|60|60|1"), "\(comment) \(entries)")
  }

  @Test(
    "A transaction that is ended at any row of any table is done again",
    .enabled(if: TestServer.isPlain),
    arguments: ["40001", "40P01", "55P03"]
  )
  func states(state: String) async throws {
    for place in [1, 2, 5, 12, 20, 33, 47, 60, 90] {
      let url = try server.schema()
      let schema = TestServer.schema(of: url)
      let prepared = try PostgreSQLServer(url).store()
      try prepared.grow(to: map.model())
      prepared.end()
      let tables = ["\"Person\"", "\"Person_friends\"", "_dragoman_imports", "_dragoman_run"]
      // What a sequence has counted stays counted when the transaction is undone: each place is met once.
      try server.psql(
        "CREATE SEQUENCE \(schema).n; CREATE FUNCTION \(schema).f() RETURNS trigger LANGUAGE plpgsql AS $$"
          + " BEGIN IF nextval('\(schema).n') = \(place) THEN RAISE EXCEPTION 'no' USING ERRCODE = '\(state)';"
          + " END IF; RETURN NEW; END $$;"
          + tables.prefix(3).map {
            "CREATE TRIGGER n BEFORE INSERT OR UPDATE ON \(schema).\($0) FOR EACH ROW EXECUTE FUNCTION"
              + " \(schema).f();"
          }.joined()
      )
      let report = try await ServerImportTests.run(request, map, url)
      try check(report, url, "\(state) at \(place)")
      #expect(try server.psql("SELECT last_value > \(place) FROM \(schema).n") == "t")
    }
  }

  @Test(
    "One that ends for good fails, and what is committed stays",
    .enabled(if: TestServer.isPlain),
    .timeLimit(.minutes(60))
  )
  func forGood() async throws {
    let url = try server.schema()
    let schema = TestServer.schema(of: url)
    let prepared = try PostgreSQLServer(url).store()
    try prepared.grow(to: map.model())
    prepared.end()
    try server.psql(
      "CREATE FUNCTION \(schema).f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id = 25 THEN"
        + " RAISE EXCEPTION 'no' USING ERRCODE = '40001'; END IF; RETURN NEW; END $$;"
        + " CREATE TRIGGER n BEFORE INSERT ON \(schema).\"Person\" FOR EACH ROW EXECUTE FUNCTION \(schema).f()"
    )
    do {
      _ = try await ServerImportTests.run(request, map, url)
      Issue.record("it came to an end")
    } catch let failure as ImportFailure {
      #expect((failure.cause as? StoreError)?.code == .busy)
      #expect(failure.report.committed == 20)
    }
    #expect(try server.psql("SELECT count(*) FROM \(schema).\"Person\"") == "20")
  }

  @Test("Who is cancelled does not wait for the next attempt")
  func cancelled() {
    var error = StoreError(.busy, "no")
    error.isPassing = true
    var patience = Patience()
    var isCancelled = false
    var count = 0
    for number in 1...5 {
      let goesOn = patience.wait(after: error) {
        count += 1
        return isCancelled
      }
      #expect(goesOn)
      // Asked once, and not again and again while time passes.
      if isCancelled { #expect(count == 1) }
      if number == 2 { isCancelled = true }
      count = 0
    }
    let isLast = !patience.wait(after: error)
    #expect(isLast)
  }

  @Test(
    "A connection that is cut at any byte, before or behind the server",
    arguments: CuttingProxy.Loss.allCases
  )
  func cuts(loss: CuttingProxy.Loss) async throws {
    func run(_ place: Int) async throws -> (ImportReport, String, CuttingProxy) {
      let direct = try server.schema()
      let proxy = try CuttingProxy(to: server.socketPath, cuttingAt: place, losing: loss)
      defer { proxy.end() }
      let url = server.url(schema: TestServer.schema(of: direct), by: proxy)
      let store = try PostgreSQLServer(url).store()
      defer { store.end() }
      return (try await Importer(map: map, server: store).run(request), direct, proxy)
    }
    let (_, _, whole) = try await run(.max)
    let first = 2000
    let count = Seeds.setting("DRAGOMAN_ROUNDS").map { Int($0) } ?? 24
    for number in 0..<count {
      let place = first + (whole.byteCount - first) * number / count
      let (report, url, proxy) = try await run(place)
      #expect(proxy.isCut)
      try check(report, url, "\(loss) at \(place) of \(whole.byteCount)")
    }
  }

  @Test("A commit whose answer is lost is looked up: nothing is done twice")
  func commits() async throws {
    let url = try server.schema()
    let store = try PostgreSQLServer(url).store()
    defer { store.end() }
    try store.grow(to: map.model())
    let schema = TestServer.schema(of: url)
    #expect(try server.psql("SELECT count(*) FROM \(schema)._dragoman_commits") == "1")
    _ = try await Importer(map: map, server: store).run(request)
    // One mark a session is left, of its last commit.
    #expect(try server.psql("SELECT count(*) FROM \(schema)._dragoman_commits") == "2")
  }
}
