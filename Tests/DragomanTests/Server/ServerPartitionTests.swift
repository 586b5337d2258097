import DragomanPostgreSQL
import Foundation
import Logging
import TestServer
import TestSupport
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Several imports write at once: what is there in the end is what one would have made.
///
/// `DRAGOMAN_ROUNDS` asks for more feeds than the default, `DRAGOMAN_SEED` for one again.
@Suite("Partitions of a feed", .enabled(if: TestServer.isThere))
struct ServerPartitionTests {
  /// People who are of firms and have tags, both nested in them, and lead to each other by keys; what nobody is
  /// follows each policy.
  private static let yaml = """
    version: 1
    entities:
      Firm:
        unique: code
        attributes: { code: { type: string }, name: { type: string } }
        relationships:
          staff: { entity: Person, kind: toMany, inverse: firm }
      Tag:
        unique: name
        attributes: { name: { type: string } }
      Person:
        unique: id
        attributes: { id: { type: int64 }, name: { type: string } }
        deleteWhen: { from: op, equals: D }
        relationships:
          firm: { entity: Firm, kind: toOne, from: firm, inverse: staff }
          tags: { entity: Tag, kind: toMany, from: tags }
          boss: { entity: Person, kind: toOne, key: { id: boss }, onUnresolved: clear }
          friends: { entity: Person, kind: toMany, key: { id: friends }, ordered: true, onUnresolved: POLICY }
          knows: { entity: Person, kind: toMany, key: { id: knows }, assign: union, onUnresolved: pending }
    sources:
      people: { format: json, entity: Person }
    """

  private let server: TestServer

  init() throws { server = try #require(TestServer.shared) }

  /// A feed: what a record says of others follows from their keys, so that the order of partitions says nothing.
  private static func records(_ random: inout SplitMix, count: Int) -> [ForeignValue] {
    let range = count * 3 / 4
    return (0..<count).map { number in
      if number % 29 == 7 { return .object(["id": .string("none")]) }
      let id = Int(random.next() % UInt64(range))
      // Nobody refers to what is deleted: whether a link to it was there first is the order's word.
      if number % 31 == 4 { return .object(["id": .integer(Int64(1000 + number))]) }
      if number % 31 == 5 {
        return .object(["id": .integer(Int64(999 + number)), "op": .string("D")])
      }
      func tags(_ id: Int) -> [ForeignValue] {
        (0..<id % 3).map { place in .object(["name": .string("t\((id + place) % 7)")]) }
      }
      func keys(_ count: Int, _ factor: Int) -> ForeignValue {
        .array(
          (0..<count).map { place -> ForeignValue in
            let key = id * factor + place * place * 7
            return .integer(Int64(key % (range + 9)))
          }
        )
      }
      return .object([
        "id": .integer(Int64(id)), "name": .string("n\(number)"),
        "firm": .object([
          "code": .string("f\(id % 13)"), "name": .string("Firm \(id % 13)"),
        ]),
        "tags": .array(tags(id)),
        "boss": .integer(Int64((id * 5 + 1) % (range + 9))),
        "friends": keys(id % 4, 11), "knows": keys(id % 3, 17),
      ])
    }
  }

  private func importing(
    _ records: [ForeignValue],
    _ map: ImportMap,
    _ url: String,
    _ partition: ImportPartition?
  ) async throws -> ImportReport {
    var request = ImportRequest([.records(records)])
    request.options.batchSize = 16
    request.options.commit = .batch
    request.partition = partition
    return try await ServerImportTests.run(request, map, url)
  }

  private func check(_ url: String, _ expected: SQLiteStore, _ comment: Comment) throws {
    let copy = try PostgreSQLServer(url).copy()
    #expect(try contents(of: copy) == contents(of: expected), comment)
    let waiting =
      "SELECT relationship || ' ' || entity || ' ' || key FROM _dragoman_pending ORDER BY 1"
    #expect(try sql(copy, waiting) == sql(expected, waiting), comment)
    try copy.close()
    // Nothing of what the runs have kept is left.
    let schema = TestServer.schema(of: url)
    #expect(
      try server.psql(
        "SELECT count(*) FROM pg_class WHERE relname LIKE '\\_dragoman\\_run%'"
          + " AND relnamespace = '\(schema)'::regnamespace"
      ) == "0",
      comment
    )
  }

  @Test(
    "Four at once, keys that come again, shared objects, links between them: one import's contents",
    arguments: ["clear", "stub", "pending"]
  )
  func atOnce(policy: String) async throws {
    let map = try ImportMap(yaml: Self.yaml.replacing("POLICY", with: policy))
    for seed in Seeds.seeds(3) {
      var random = SplitMix(state: seed)
      let records = Self.records(&random, count: 160)
      let comment: Comment = "DRAGOMAN_SEED=\(seed) \(policy)"
      let store = try SQLiteStore(at: .inMemory)
      let expected = try await Importer(map: map, store: store)
        .run(ImportRequest([.records(records)]))
      let url = try server.schema()
      let reports = try await withThrowingTaskGroup(of: ImportReport.self) { group in
        for number in 1...4 {
          group.addTask {
            try await importing(records, map, url, ImportPartition(number, of: 4))
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      try check(url, store, comment)
      // Each record is counted once, by whoever had it.
      var joined = ImportReport()
      for report in reports { joined.add(report) }
      #expect(joined.counts == expected.counts, comment)
      // Each part is taken back by its own number.
      #expect(joined.number == nil && Set(reports.compactMap(\.number)).count == 4, comment)
      #expect(joined.status == .rejected, comment)
    }
  }

  @Test(
    "One after the other, in whatever order: the last one resolves what waits",
    arguments: [1, 2]
  )
  func inTurn(first: Int) async throws {
    let map = try ImportMap(yaml: Self.yaml.replacing("POLICY", with: "clear"))
    var random = SplitMix(state: UInt64(first))
    let records = Self.records(&random, count: 90)
    let store = try SQLiteStore(at: .inMemory)
    _ = try await Importer(map: map, store: store).run(ImportRequest([.records(records)]))
    let url = try server.schema()
    let order = first == 1 ? [1, 2, 3] : [3, 1, 2]
    for number in order {
      _ = try await importing(records, map, url, ImportPartition(number, of: 3))
    }
    try check(url, store, "\(order)")
    // The history has a row for each, which says which.
    let ledger = "SELECT source FROM \(TestServer.schema(of: url))._dragoman_imports ORDER BY id"
    #expect(
      try server.psql(ledger) == order.map { "records (partition \($0)/3)" }.joined(separator: "\n")
    )
    // The same again, as in a file.
    _ = try await Importer(map: map, store: store).run(ImportRequest([.records(records)]))
    for number in order {
      let report = try await importing(records, map, url, ImportPartition(number, of: 3))
      #expect(report.counts.inserted <= report.counts.deleted, "\(number)")
    }
    let copy = try PostgreSQLServer(url).copy()
    #expect(try contents(of: copy) == contents(of: store), "again")
    try copy.close()
  }

  @Test("Partitions of an older version of the feed are not taken for those of the new one")
  func newer() async throws {
    let map = try ImportMap(yaml: Self.yaml.replacing("POLICY", with: "clear"))
    var random = SplitMix(state: 11)
    let records = Self.records(&random, count: 90)
    let store = try SQLiteStore(at: .inMemory)
    _ = try await Importer(map: map, store: store).run(ImportRequest([.records(records)]))
    let url = try server.schema()
    for number in [1, 2] {
      _ = try await importing(
        Array(records.prefix(60)),
        map,
        url,
        ImportPartition(number, of: 3)
      )
    }
    // The third is the first of the new ones: others are still to come.
    for number in [3, 1, 2] {
      _ = try await importing(records, map, url, ImportPartition(number, of: 3))
    }
    try check(url, store, "newer")
  }

  @Test("Every record falls to one part, and always to the same")
  func division() async throws {
    let map = try ImportMap(yaml: Self.yaml.replacing("POLICY", with: "clear"))
    let records = (0..<40).map { ForeignValue.object(["id": .integer(Int64($0 % 20))]) }
    var reads: [Int] = []
    let url = try server.schema()
    for number in 1...3 {
      let part = ImportPartition(number, of: 3)
      let report = try await importing(records, map, url, part)
      let reversed = try await importing(records.reversed(), map, url, part)
      #expect(report.counts.read == reversed.counts.read)
      // Keys that come twice come to the same part.
      #expect(report.counts.read % 2 == 0)
      reads.append(report.counts.read)
    }
    #expect(reads.reduce(0, +) == 40)
    #expect(reads.allSatisfy { $0 > 0 })
  }

  @Test("What cannot be divided is refused, and nothing is done")
  func refusals() async throws {
    let url = try server.schema()
    let bare = "version: 1\nentities:\n  P:\n    attributes: { id: { type: int64 } }\n"
    let rejecting = """
      version: 1
      entities:
        P:
          unique: id
          attributes: { id: { type: int64 } }
          relationships:
            o: { entity: P, kind: toOne, key: { id: o }, onUnresolved: reject }
      """
    let contract =
      "version: 1\nentities:\n  P:\n    contract: evolve\n    unique: id\n"
      + "    attributes: { id: { type: int64 } }\n"
    let plain =
      "version: 1\nentities:\n  P:\n    unique: id\n    attributes: { id: { type: int64 } }\n"
    let placed = """
      version: 1
      entities:
        Firm:
          unique: code
          attributes: { code: { type: string } }
          relationships:
            staff: { entity: P, kind: toMany, inverse: firm, ordered: true }
        P:
          unique: id
          attributes: { id: { type: int64 } }
          relationships:
            firm: { entity: Firm, kind: toOne, from: firm, inverse: staff }
      sources:
        p: { format: json, entity: P }
      """
    var cases: [(String, (inout ImportRequest) -> Void, String)] = [
      (placed, { _ in }, "P.firm puts its objects behind"),
      (plain, { $0.inputs = [.standardInput] }, "can be read once"),
      (bare, { _ in }, "has no unique key"), (rejecting, { _ in }, "rejects records whose target"),
      (contract, { _ in }, "contract"),
      (plain, { $0.prune = ImportRequest.Prune() }, "cannot prune"),
      (plain, { $0.options.commit = .all }, "commits in batches"),
      (plain, { $0.partition = ImportPartition(5, of: 4) }, "not 5/4"),
    ]
    cases.append((plain, { $0.partition = ImportPartition(0, of: 4) }, "not 0/4"))
    for (yaml, change, words) in cases {
      var request = ImportRequest([.records([.object(["id": .integer(1)])])])
      request.partition = ImportPartition(2, of: 4)
      change(&request)
      do {
        _ = try await ServerImportTests.run(request, try ImportMap(yaml: yaml), url)
        Issue.record("\(words) was not refused")
      } catch let failure as ImportFailure {
        #expect("\(failure.cause)".contains(words), "\(failure.cause)")
      }
    }
    let tables =
      "SELECT count(*) FROM pg_class WHERE relnamespace = '\(TestServer.schema(of: url))'::regnamespace"
    #expect(try server.psql(tables) == "0")
    let file = Importer(map: try ImportMap(yaml: plain), store: try SQLiteStore(at: .inMemory))
    let request = ImportRequest([.records([])]).with { $0.partition = ImportPartition(1, of: 2) }
    let failure = await #expect(throws: ImportFailure.self) { try await file.run(request) }
    let told = String(describing: failure?.cause)
    #expect(told.contains("A file has one writer"))
  }

  @Test("Who changes the same objects at the same time finds out, and does it again")
  func contention() async throws {
    let map = try ImportMap(yaml: Self.yaml.replacing("POLICY", with: "clear"))
    let url = try server.schema()
    // All say the same of the same few objects, in batches of their own.
    let records = (0..<60).map { number -> ForeignValue in
      let id = number % 6
      return .object([
        "id": .integer(Int64(id)), "name": .string("n\(number)"),
        "firm": .object(["code": .string("f\(id % 2)"), "name": .string("x\(number)")]),
      ])
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          var request = ImportRequest([.records(records)])
          request.options.batchSize = 3
          request.options.commit = .batch
          let report = try await ServerImportTests.run(request, map, url)
          #expect(report.counts.read == 60)
          #expect(report.status == .done)
        }
      }
      try await group.waitForAll()
    }
    let store = try SQLiteStore(at: .inMemory)
    _ = try await Importer(map: map, store: store).run(ImportRequest([.records(records)]))
    // Whose last batch comes last has the last word, and it is the same for all.
    try check(url, store, "four times the same")
  }

  private static let waitingMap = BesideImportTests.waitingMap.replacing("ndjson", with: "json")

  /// A feed about people whose boss and friend are still to come.
  private static func feed(_ name: String, boss: Int, _ ids: ClosedRange<Int> = 1...8) -> String {
    let records = ids.map { #"{"id":\#($0),"n":"\#(name)","boss":\#(boss),"fr":[\#(boss)]}"# }
    return "[\(records.joined(separator: ",\n"))]"
  }

  private func importing(
    _ text: String,
    _ name: String,
    _ url: String,
    _ change: (inout ImportRequest) -> Void = { _ in }
  ) async throws {
    var request = ImportRequest([.bytes(Array(text.utf8), name: name)])
    request.options.batchSize = 2
    change(&request)
    _ = try await ServerImportTests.run(request, ImportMap(yaml: Self.waitingMap), url)
  }

  /// Brings the bosses of both imports: who has the values of one has its links.
  private func checkWords(_ url: String) async throws {
    try await importing(#"[{"id":90},{"id":91}]"#, "late.json", url)
    let copy = try PostgreSQLServer(url).copy()
    defer { try? copy.close() }
    let rows = try sql(
      copy,
      "SELECT DISTINCT p.n, b.id, f.id FROM P p LEFT JOIN P b ON b._pk = p.boss LEFT JOIN P_fr l"
        + " ON l.owner = p._pk LEFT JOIN P f ON f._pk = l.target WHERE p.id < 90 ORDER BY 1"
    )
    #expect(rows == ["A|90|90", "B|91|91"])
    #expect(try sql(copy, "SELECT count(*) FROM _dragoman_pending") == ["0"])
  }

  @Test("An import that goes on does not put back what another one has said since")
  func laterWordBeforeResume() async throws {
    let url = try server.schema()
    let feed = Self.feed("A", boss: 90, 1...12)
    let cut = Self.feed("A", boss: 90, 1...9).dropLast() + ",{"
    _ = await #expect(throws: ImportFailure.self) {
      try await importing(String(cut), "a.json", url) { $0.options.commit = .batch }
    }
    try await importing(Self.feed("B", boss: 91), "b.json", url)
    try await importing(feed, "a.json", url) { $0.resumes = true }
    try await checkWords(url)
  }

  @Test("Nor does one that is under way", arguments: [ImportMap.ImportOptions.Commit.all, .batch])
  func laterWordBeside(commit: ImportMap.ImportOptions.Commit) async throws {
    let url = try server.schema()
    try await importing(#"[{"id":5}]"#, "first.json", url)
    let map = try ImportMap(yaml: Self.waitingMap)
    func run(
      _ text: String,
      _ commit: ImportMap.ImportOptions.Commit,
      behind: @escaping () throws -> Void
    ) throws {
      let store = try PostgreSQLServer(url).store()
      defer { store.end() }
      var request = ImportRequest([.bytes(Array(text.utf8), name: "\(text.count).json")])
      (request.options.commit, request.options.batchSize) = (commit, 4)
      var fault: (any Error)?
      _ = try store.importing { session in
        try ImportWriting(
          ObjectSink(session, ImportCode()),
          map: map,
          code: ImportCode(),
          request: request,
          cancellation: Cancellation(),
          logger: Logger(label: "test")
        ) { _ in
          do { try behind() } catch { fault = error }
        }
        .run()
      }
      if let fault { throw fault }
    }
    var count = 0
    try run(Self.feed("A", boss: 90, 1...12), .batch) {
      count += 1
      if count == 2 { try run(Self.feed("B", boss: 91), commit) {} }
    }
    try await checkWords(url)
  }

  @Test("Nor does the last of several partitions")
  func laterWordBetweenPartitions() async throws {
    let url = try server.schema()
    let records = (1...8).map { id -> ForeignValue in
      .object([
        "id": .integer(Int64(id)), "n": .string("A"), "boss": .integer(90),
        "fr": .array([.integer(90)]),
      ])
    }
    let map = try ImportMap(yaml: Self.waitingMap)
    _ = try await importing(records, map, url, ImportPartition(1, of: 2))
    try await importing(Self.feed("B", boss: 91), "b.json", url)
    _ = try await importing(records, map, url, ImportPartition(2, of: 2))
    try await checkWords(url)
  }

  @Test("A whole import of the same inputs takes the place of a partition that waits for others")
  func endedPartition() async throws {
    let url = try server.schema()
    let records = (1...8).map { id -> ForeignValue in
      .object(["id": .integer(Int64(id)), "boss": .integer(90)])
    }
    let map = try ImportMap(yaml: Self.waitingMap)
    _ = try await importing(records, map, url, ImportPartition(1, of: 2))
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).db").path
    defer { try? FileManager.default.removeItem(atPath: file) }
    let place = CopyPlace.server(PostgreSQLServer(url))
    let error = #expect(throws: StoreError.self) { try place.copy(to: .file(file)) }
    #expect(error?.code == .busy && error?.message.contains("import 1 was stopped") == true)
    #expect(try place.copy(to: .file(file), leavingStopped: true).pendingCount == 0)
    try FileManager.default.removeItem(atPath: file)
    _ = try await importing(records, map, url, nil)
    #expect(try place.copy(to: .file(file)).pendingCount == 8)
  }

  @Test("A run that another connection has the lock of runs; one whose lock is free does not")
  func runs() throws {
    let url = try server.schema()
    let one = try PostgreSQLServer(url).connect()
    let other = try PostgreSQLServer(url).connect()
    // Numbers that this process has not given to a run: only the server knows of them.
    let run = try #require(ServerRun("_dragoman_run1234567"))
    #expect(try run.isRunning(one) == false)
    try other.run("SELECT pg_advisory_lock(\(Schema.applicationID &+ 1), 1234567)")
    #expect(try run.isRunning(one) == true)
    other.close()
    // The server lets go of the lock when it notices.
    let end = ContinuousClock.now + .seconds(900)
    while try run.isRunning(one) == true, ContinuousClock.now < end {}
    #expect(try run.isRunning(one) == false)
    one.close()
    #expect(ServerRun("_dragoman_run") == nil && ServerRun("_dragoman_run12_held") == nil)
  }
}
