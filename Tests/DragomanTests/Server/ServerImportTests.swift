import DragomanPostgreSQL
import Foundation
import TestServer
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// The same feeds into a file and into a server: the same contents, the same report.
@Suite("Imports into a server", .enabled(if: TestServer.isThere))
struct ServerImportTests {
  /// A map and the feeds that are imported by it, one after the other.
  static let feeds: [(map: String, feeds: [String])] = [
    ("people", ["people.json", "people-partial.json", "people.ndjson", "people.xml"]),
    ("orders", ["orders.json", "orders-changes.json"]),
    ("catalogue", ["catalogue.xml"]), ("fixtures", ["fixtures.json"]),
    ("invoices", ["invoices.json"]), ("observations", ["observations.json"]),
    ("stations", ["stations.csv"]), ("stock", ["stock-dirty.ndjson"]),
  ]

  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test(
    "A feed has the same contents and the same report as in a file, also the second time",
    arguments: feeds.map(\.map),
    TestPlace.all
  )
  func same(name: String, at place: TestPlace) async throws {
    let server = try #require(place.server)
    let feeds = try #require(Self.feeds.first { $0.map == name }?.feeds)
    let map = try ImportMap(
      contentsOf: Self.root.appendingPathComponent("Maps/\(name).map.yaml").path
    )
    let store = try SQLiteStore(at: .inMemory)
    let url = try server.schema()
    for feed in feeds + feeds.suffix(1) {
      let path = Self.root.appendingPathComponent("SampleData/\(feed)").path
      var request = ImportRequest([.file(path)])
      request.options.rejectsFile = "/dev/null"
      let expected = try await Importer(map: map, store: store).run(request)
      let report = try await Self.run(request, map, url)
      Self.compare(report, expected, "\(feed)")
      let copy = try PostgreSQLServer(url).copy()
      #expect(try contents(of: copy) == contents(of: store), "\(feed)")
      #expect(try waiting(copy) == waiting(store), "\(feed)")
      try copy.close()
    }
  }

  /// One import, as the tool does it.
  static func run(_ request: ImportRequest, _ map: ImportMap, _ url: String) async throws
    -> ImportReport
  {
    let store = try PostgreSQLServer(url).store()
    defer { store.end() }
    return try await Importer(map: map, server: store).run(request)
  }

  static func compare(
    _ report: ImportReport,
    _ expected: ImportReport,
    _ comment: Comment
  ) {
    #expect(report.status == expected.status, comment)
    #expect(report.counts == expected.counts, comment)
    #expect(report.entitySummary == expected.entitySummary, comment)
    #expect(report.linkSummary == expected.linkSummary, comment)
    #expect(report.issues == expected.issues, comment)
    #expect(report.committed == expected.committed, comment)
    #expect(report.unmatchedPaths == expected.unmatchedPaths, comment)
  }

  func waiting(_ store: SQLiteStore) throws -> [String] {
    try sql(
      store,
      "SELECT relationship || ' ' || entity || ' ' || key FROM _dragoman_pending ORDER BY 1"
    )
  }

  private static let yaml = """
    version: 1
    entities:
      Person:
        unique: id
        attributes:
          id: { type: int64 }
          name: { type: string }
        relationships:
          boss: { entity: Person, kind: toOne, key: { id: boss }, onUnresolved: pending }
    """

  @Test(
    "In batches as in one transaction: the same contents, and the ledger tells of all records",
    arguments: TestPlace.all
  )
  func batches(at place: TestPlace) async throws {
    let server = try #require(place.server)
    let map = try ImportMap(yaml: Self.yaml)
    let url = try server.schema()
    let records: [ForeignValue] = (0..<25).map { number in
      .object([
        "id": .integer(Int64(number)), "name": .string("n\(number % 7)"),
        "boss": .integer(Int64(number + 3)),
      ])
    }
    var request = ImportRequest([.records(records)])
    request.options.commit = .batch
    request.options.batchSize = 4
    let report = try await Self.run(request, map, url)
    #expect(report.counts.inserted == 25)
    #expect(report.committed == 25)
    let schema = TestServer.schema(of: url)
    #expect(
      try server.psql("SELECT status, committed, read, inserted FROM \(schema)._dragoman_imports")
        == "done|25|25|25"
    )
    #expect(try server.psql("SELECT count(*), count(boss) FROM \(schema).\"Person\"") == "25|22")
    #expect(try server.psql("SELECT count(*) FROM \(schema)._dragoman_pending") == "3")
    // They wait in an export, too.
    let store = try PostgreSQLServer(url).store()
    let bytes = try await Exporter(map: map, server: store).bytes(ExportRequest(format: .json))
    store.end()
    #expect(String(decoding: bytes, as: UTF8.self).split(separator: "\"boss\":").count == 26)
    // Who waited for them comes with another import.
    let more: [ForeignValue] = (25..<28).map { .object(["id": .integer(Int64($0))]) }
    let second = try await Self.run(ImportRequest([.records(more)]), map, url)
    #expect(second.counts.inserted == 3)
    #expect(try server.psql("SELECT count(boss) FROM \(schema).\"Person\"") == "25")
    #expect(try server.psql("SELECT count(*) FROM \(schema)._dragoman_pending") == "0")
  }

  @Test(
    "A link that noAction leaves without a target is named, by a dry run too",
    arguments: TestPlace.all
  )
  func noAction(at place: TestPlace) async throws {
    let server = try #require(place.server)
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          A:
            unique: id
            attributes: { id: { type: int64 } }
            deleteWhen: { from: del, equals: "true" }
            relationships:
              r: { entity: A, kind: toOne, key: { id: r }, inverse: back }
              back: { entity: A, kind: toMany, inverse: r, onDelete: noAction }
        """
    )
    let url = try server.schema()
    let records: [ForeignValue] = [
      .object(["id": .integer(1)]), .object(["id": .integer(2), "r": .integer(1)]),
    ]
    _ = try await Self.run(ImportRequest([.records(records)]), map, url)
    let gone: ForeignValue = .object(["id": .integer(1), "del": .bool(true)])
    for isDryRun in [true, false] {
      let error = await #expect(throws: ImportFailure.self) {
        try await Self.run(ImportRequest([.records([gone])], isDryRun: isDryRun), map, url)
      }
      #expect((error?.cause as? ContextError)?.code == .denied)
    }
    // Batches of a file are written beside those of others: it is none of theirs.
    for isDryRun in [true, false] {
      let error = await #expect(throws: ImportFailure.self) {
        let input = ImportInput.bytes(
          Array(#"[{"id":1,"del":true},{"id":2,"r":null}]"#.utf8),
          name: "in.json"
        )
        var request = ImportRequest([input], isDryRun: isDryRun)
        (request.options.commit, request.options.batchSize) = (.batch, 1)
        return try await Self.run(request, map, url)
      }
      #expect((error?.cause as? ContextError)?.code == .denied)
    }
    #expect(
      try server.psql("SELECT count(*), count(r) FROM \(TestServer.schema(of: url)).\"A\"") == "2|1"
    )
  }

  @Test(
    "What lists join and nobody has waits as in a file, however often it is imported",
    arguments: TestPlace.all,
    ["", ", ordered: true", ", ordered: true, repeats: true", ", inverse: a, ordered: true"]
  )
  func joinedWaiting(at place: TestPlace, rest: String) async throws {
    let server = try #require(place.server)
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          B: { unique: id, attributes: { id: { type: int64 } } }
          A:
            unique: id
            attributes: { id: { type: int64 }, name: name }
            relationships:
              bs: { entity: B, kind: toMany, key: { id: bs }, assign: union, onUnresolved: pending\(rest) }
              cs: { entity: B, kind: toMany, key: { id: cs }, onUnresolved: pending }
        sources:
          a: { format: json, entity: A, records: a }
          b: { format: json, entity: B, records: b }
        """
    )
    let store = try SQLiteStore(at: .inMemory)
    let url = try server.schema()
    let first =
      #"{"a":[{"id":1,"bs":[5,4],"cs":[7,8]},{"id":2,"bs":[9,9],"cs":[8]},{"id":1,"bs":[6],"cs":[7]}]}"#
    let second = #"{"a":[{"id":1,"name":"n","bs":[3,5],"cs":[8]}]}"#
    for (number, feed) in [
      first, first, second, first, #"{"b":[{"id":4},{"id":8},{"id":5}]}"#, second, first,
      #"{"b":[{"id":9},{"id":3},{"id":6},{"id":7}]}"#,
    ].enumerated() {
      let request = ImportRequest([.bytes(Array(feed.utf8), name: "feed.json")])
      let expected = try await Importer(map: map, store: store).run(request)
      let report = try await Self.run(request, map, url)
      Self.compare(report, expected, "\(number)")
      let copy = try PostgreSQLServer(url).copy()
      #expect(try contents(of: copy) == contents(of: store), "\(number)")
      #expect(try waiting(copy) == waiting(store), "\(number)")
      try copy.close()
    }
  }

  @Test(
    "Records that are held and rejected at the end of an import in batches prune nothing, as in a file",
    arguments: TestPlace.all
  )
  func heldAndPruned(at place: TestPlace) async throws {
    let server = try #require(place.server)
    let map = try ImportMap(yaml: Self.yaml.replacing("pending", with: "reject"))
    let store = try SQLiteStore(at: .inMemory)
    let url = try server.schema()
    for feed in [
      #"[{"id":1},{"id":2,"boss":9},{"id":3}]"#, #"[{"id":1},{"id":4,"boss":1},{"id":5}]"#,
      #"[{"id":5},{"id":2,"boss":9},{"id":6,"boss":7},{"id":7}]"#,
    ] {
      var request = ImportRequest([.bytes(Array(feed.utf8), name: "feed.json")])
      request.prune = ImportRequest.Prune()
      request.options.commit = .batch
      request.options.batchSize = 2
      let expected = try await Importer(map: map, store: store).run(request)
      let report = try await Self.run(request, map, url)
      Self.compare(report, expected, "\(feed)")
      #expect(report.pruned == expected.pruned)
      let copy = try PostgreSQLServer(url).copy()
      #expect(try contents(of: copy) == contents(of: store), "\(feed)")
      try copy.close()
    }
  }

  @Test(
    "An object that a rejected record would have completed, or made one of a sub-entity, is found by the next",
    arguments: [
      (
        "boss: { entity: P, kind: toOne, key: { id: boss }, onUnresolved: stub }", "",
        #"[{"id":7,"boss":6}]"#,
        #"[{"id":6,"tasks":[{"no":1}]},{"id":6,"n":"a"}]"#
      ),
      (
        "", "discriminator: { from: kind, values: { c: C } }", #"[{"id":7}]"#,
        #"[{"id":7,"kind":"c","tasks":[{"no":1}]},{"id":7,"kind":"c","n":"a"}]"#
      ),
    ]
  )
  func rejectedCompletion(link: String, entity: String, first: String, second: String) async throws
  {
    let server = try #require(TestServer.shared)
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          P:
            unique: id
            \(entity)
            attributes: { id: { type: int64 }, n: {} }
            relationships:
              tasks: { entity: T, kind: toMany, inverse: p }
              \(link)
          C: { parent: P, attributes: { firm: {} } }
          T: { unique: [p, no], attributes: { no: { type: int32 }, title: { required: true } } }
        sources: { j: { format: json, entity: P } }
        """
    )
    let store = try SQLiteStore(at: .inMemory)
    let url = try server.schema()
    for feed in [first, second] {
      let request = ImportRequest([.bytes(Array(feed.utf8), name: "feed.json")])
      let expected = try await Importer(map: map, store: store).run(request)
      Self.compare(try await Self.run(request, map, url), expected, "\(feed)")
    }
    let copy = try PostgreSQLServer(url).copy()
    #expect(try contents(of: copy) == contents(of: store))
    try copy.close()
  }

  @Test("An import in batches that failed before it wrote anything is in nobody's way")
  func failedEmpty() async throws {
    let server = try #require(TestServer.shared)
    let map = try ImportMap(yaml: Self.yaml)
    let url = try server.schema()
    var request = ImportRequest([.bytes(Array(#"[{"id":1,"name":"a"}]"#.utf8), name: "feed.json")])
    _ = try await Self.run(request, map, url)
    request = ImportRequest([.bytes(Array("[]".utf8), name: "empty.json")])
    request.prune = ImportRequest.Prune()
    request.options.commit = .batch
    await #expect(throws: ImportFailure.self) { try await Self.run(request, map, url) }
    let path = NSTemporaryDirectory() + "failed-\(UUID().uuidString).db"
    defer { try? FileManager.default.removeItem(atPath: path) }
    _ = try CopyPlace.server(PostgreSQLServer(url)).copy(to: .file(path))
    request = ImportRequest([.bytes(Array(#"[{"id":2,"name":"b"}]"#.utf8), name: "other.json")])
    request.options.commit = .batch
    _ = try await Self.run(request, map, url)
    let runs =
      "SELECT count(*) FROM pg_class WHERE relnamespace = '\(TestServer.schema(of: url))'::regnamespace"
      + " AND relname LIKE '\\_dragoman\\_run%'"
    #expect(try server.psql(runs) == "0")
  }

  @Test(
    "A dry run leaves nothing, not even tables, and neither does an import that fails",
    arguments: TestPlace.all
  )
  func nothing(at place: TestPlace) async throws {
    let server = try #require(place.server)
    let map = try ImportMap(yaml: Self.yaml)
    let url = try server.schema()
    let tables =
      "SELECT count(*) FROM pg_class WHERE relnamespace = '\(TestServer.schema(of: url))'::regnamespace"
    let record = ForeignValue.object(["id": .integer(1), "name": .string("a")])
    var request = ImportRequest([.records([record])], isDryRun: true)
    let report = try await Self.run(request, map, url)
    #expect(report.counts.inserted == 1)
    #expect(try server.psql(tables) == "0")
    request = ImportRequest([.file("/nowhere/feed.json")])
    await #expect(throws: ImportFailure.self) { try await Self.run(request, map, url) }
    #expect(try server.psql(tables) == "0")
  }

  @Test("What only files can do is refused before anything is done")
  func refusals() async throws {
    let server = try #require(TestServer.shared)
    let map = try ImportMap(yaml: Self.yaml)
    let url = try server.schema()
    var request = ImportRequest([.records([])])
    request.changes = { _ in }
    do {
      _ = try await Self.run(request, map, url)
      Issue.record("it was not refused")
    } catch let failure as ImportFailure {
      #expect((failure.cause as? ImportError)?.code == .request)
    }
  }

  @Test(
    "A table whose name is one of the server's own is refused before anything is done",
    arguments: [ImportMap.ImportOptions.Commit.all, .batch]
  )
  func catalogNames(commit: ImportMap.ImportOptions.Commit) async throws {
    let server = try #require(TestServer.shared)
    let url = try server.schema()
    let tables =
      "SELECT count(*) FROM pg_class WHERE relnamespace = '\(TestServer.schema(of: url))'::regnamespace"
    let yaml = Self.yaml.replacing("Person", with: "pg_class")
    var request = ImportRequest([.bytes(Array(#"[{"id":1,"name":"a"}]"#.utf8), name: "feed.json")])
    request.options.commit = commit
    do {
      _ = try await Self.run(request, ImportMap(yaml: yaml), url)
      Issue.record("it was not refused")
    } catch let failure as ImportFailure {
      let cause = failure.cause as? StoreError
      #expect(cause?.code == .modelConflict, "\(failure)")
      #expect(cause?.message.contains("The table pg_class has a name that begins with pg_") == true)
      #expect(cause?.help?.contains("table:") == true)
    }
    #expect(try server.psql(tables) == "0")
    // The entity may be called so.
    let named = yaml.replacing("unique: id", with: "table: classes\n    unique: id")
    let report = try await Self.run(request, ImportMap(yaml: named), url)
    #expect(report.counts.inserted == 1)
  }

  @Test(
    "A decimal of more digits than a server holds is a reject with its place",
    arguments: [true, false]
  )
  func manyDigits(isFirst: Bool) async throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          P: { unique: id, attributes: { id: { type: int64 }, n: { type: decimal } } }
        sources: { json: { format: json, entity: P } }
        """
    )
    let url = try #require(TestServer.shared).schema()
    func run(_ text: String) async throws -> ImportReport {
      try await Self.run(ImportRequest([.bytes(Array(text.utf8), name: "feed")]), map, url)
    }
    // Behind the first import one goes record by record.
    if !isFirst { _ = try await run(#"[{"id":9}]"#) }
    let nines = String(repeating: "9", count: 16_383)
    let report = try await run(#"[{"id":1,"n":0.\#(nines)},{"id":2,"n":0.\#(nines)9},{"id":3}]"#)
    #expect(report.counts.inserted == 2 && report.counts.rejected == 1)
    #expect(report.issues.map(\.code) == [.range] && report.issues.first?.attribute == "n")
  }
}
