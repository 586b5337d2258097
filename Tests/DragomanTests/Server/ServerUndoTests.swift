import DragomanPostgreSQL
import TestServer
import TestSupport
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Imports into a server, taken back: each step beside the same in a file.
///
/// `DRAGOMAN_ROUNDS` asks for more cases than the default, `DRAGOMAN_SEED` for one case again.
@Suite("Imports into a server, taken back", .enabled(if: TestServer.isPlain))
struct ServerUndoTests {
  private let server: TestServer

  init() throws { server = try #require(TestServer.shared) }

  // MARK: - Random imports

  @Test(
    "What is imported into empty tables again, with references that wait, can be taken back again"
  )
  func loadedTwice() async throws {
    let server = try #require(TestServer.shared)
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          T:
            unique: code
            attributes: { code: code }
            relationships: { boss: { entity: T, kind: toOne, key: { code: boss }, onUnresolved: pending } }
        sources: { j: { format: json, entity: T } }
        """
    )
    let pair = FileAndServer(
      file: try SQLiteStore(at: .inMemory),
      server: try PostgreSQLServer(server.schema()).store(),
      map: map
    )
    defer { pair.server.end() }
    for _ in 0..<2 {
      try await pair.run(#"[{"code":"A","boss":"Q"},{"code":"B","boss":"R"}]"#)
      try pair.undo(try #require(try pair.file.history(limit: 1).first?.id), "")
    }
    try await pair.run(#"[{"code":"A","boss":"Q"}]"#)
    try await pair.run(#"[{"code":"B","boss":"S"},{"code":"Q"}]"#)
    for run in try pair.file.history(limit: 2).map(\.id) {
      try pair.undo(try #require(run), "\(run ?? 0)")
    }
  }

  @Test(
    "Random links of every kind: told, taken back and done again as in a file",
    arguments: TestPlace.all.filter { $0 != .citus }
  )
  func links(at place: TestPlace) async throws {
    let server = try #require(place.server)
    var total = 0
    for seed in Seeds.seeds(10) {
      var random = SplitMix(state: seed)
      let sample = LinkCase.random(&random)
      let requests = sample.rounds.map {
        ImportRequest([.records($0.records.map(\.foreign))], mode: $0.mode)
      }
      let map = try ImportMap(yaml: sample.scheme.description)
      let words = "\(place.rawValue) DRAGOMAN_SEED=\(seed)\n\(sample)"
      total += try await check(map, requests, &random, words, server)
    }
    #expect(Seeds.asked != nil || total > 10)
  }

  @Test("Random attributes, keys and policies: the same")
  func values() async throws {
    var total = 0
    for seed in Seeds.seeds(10) {
      var random = SplitMix(state: seed)
      let sample = SinkCase.random(&random)
      guard !sample.scheme.isCode, !sample.holdsNUL else { continue }
      let requests = sample.rounds.map {
        ImportRequest([.records($0.records.map(\.foreign))], mode: $0.mode)
      }
      let map = try sample.scheme.map()
      let words = "DRAGOMAN_SEED=\(seed) \(sample)"
      total += try await check(map, requests, &random, words, server)
    }
    #expect(Seeds.asked != nil || total > 10)
  }

  /// Imports into both, and takes back in several ways; gives how many imports had done something.
  private func check(
    _ map: ImportMap,
    _ requests: [ImportRequest],
    _ random: inout SplitMix,
    _ place: String,
    _ server: TestServer
  ) async throws -> Int {
    let words = Comment(rawValue: place)
    let file = try SQLiteStore(at: .inMemory)
    let pair = FileAndServer(
      file: file,
      server: try PostgreSQLServer(server.schema()).store(),
      map: map
    )
    defer { pair.server.end() }
    for request in requests {
      var request = request
      if random.chance(50) {
        request.options.commit = .batch
        request.options.batchSize = .random(in: 1...5, using: &random)
      } else {
        request.wholeBatchSize = .random(in: 1...6, using: &random)
      }
      request.recording = random.chance(30) ? .always : .upToAMillionRows
      try await pair.run(request, words)
    }
    let runs = try file.write { try $0.recordedRuns() }.reversed()
    let recorded = try pair.server.importing { try $0.recordedRuns() }.reversed()
    #expect(recorded.map(\.number) == runs.map { pair.numbers[$0.number] }, words)
    let copy = try pair.server.copy(of: .recorded)
    for run in runs.map(\.number) {
      var (told, expected): ([ImportChange], [ImportChange]) = ([], [])
      try file.changes(ofImport: run) { expected.append($0) }
      try copy.changes(ofImport: try #require(pair.numbers[run])) { told.append($0) }
      #expect(UndoPropertyTests.text(told) == UndoPropertyTests.text(expected), words)
      let was = try file.withCopy(asOf: run) { try pair.ranked($0) }
      #expect(
        try copy.withCopy(asOf: pair.numbers[run] ?? 0) { try pair.ranked($0) } == was,
        words
      )
    }
    try copy.close()
    // Here and there back and forth, in the end all the way back.
    var open = runs.map(\.number)
    while let run = open.popLast() {
      try pair.undo(run, words)
      if random.chance(40), let undo = try file.history(limit: 1).first?.id, undo > run {
        try pair.undo(undo, words)
        try pair.undo(try #require(try file.history(limit: 1).first?.id), words)
      }
    }
    let end = try pair.state()
    #expect(end == [], words)
    return runs.filter { !$0.isEmpty }.count
  }

  static let shop = """
    version: 1
    entities:
      Item:
        unique: sku
        attributes: { sku: sku, name: name, price: { type: decimal } }
        relationships:
          parts: { entity: Item, kind: toMany, ordered: true, key: { sku: parts }, onUnresolved: pending }
          maker: { entity: Maker, kind: toOne, key: { id: maker }, onUnresolved: stub }
      Maker: { unique: id, attributes: { id: { type: int64 }, name: name } }
    sources: { json: { format: json, entity: Item } }
    """

  private func pair(_ yaml: String = shop, _ url: String? = nil) throws -> FileAndServer {
    FileAndServer(
      file: try SQLiteStore(at: .inMemory),
      server: try PostgreSQLServer(url ?? server.schema()).store(),
      map: try ImportMap(yaml: yaml)
    )
  }

  @Test("What another program has changed since is named, and nothing is done")
  func conflicts() async throws {
    let url = try server.schema()
    let pair = try pair(Self.shop, url)
    defer { pair.server.end() }
    try await pair.run(#"[{"sku":"a","name":"x","maker":1},{"sku":"b","parts":["a"]}]"#)
    try await pair.run(#"[{"sku":"a","name":"y","price":1.50},{"sku":"c"}]"#)
    for change in [
      #"UPDATE "Item" SET name = 'mine', _v = _v + 1 WHERE sku = 'a'"#,
      #"DELETE FROM "Item" WHERE sku = 'a'"#,
      #"INSERT INTO "Item_parts" (owner, position, target) SELECT b._pk, 1, c._pk FROM "Item" AS b, "Item" AS c"#
        + " WHERE b.sku = 'b' AND c.sku = 'c'",
    ] {
      let schema = TestServer.schema(of: url)
      try server.psql(
        "SET search_path = \(schema); BEGIN;"
          + " SET CONSTRAINTS ALL DEFERRED; \(change.hasPrefix("DELETE") ? #"DELETE FROM "Item_parts";"# : "")"
          + " \(change); COMMIT"
      )
      let before = try pair.state()
      let report = try pair.server.undoImport(2)
      #expect(!report.isPossible, "\(change)")
      #expect(report.conflicts.allSatisfy { $0.entity == "Item" && $0.object != nil }, "\(report)")
      #expect(try pair.state() == before)
      #expect(try pair.server.copy(of: .history).history().map(\.status) == [.done, .done])
    }
  }

  @Test("Deleted objects come back with their links, and what was pruned")
  func deleted() async throws {
    let pair = try pair()
    defer { pair.server.end() }
    try await pair.run(
      #"[{"sku":"a","maker":1},{"sku":"b","parts":["a","later"],"maker":2},{"sku":"c","parts":["b"]}]"#
    )
    try await pair.run(#"[{"sku":"a"},{"sku":"b"}]"#) { $0.prune = .init() }
    let request = FetchRequest("Item", filter: try Filter(parsing: "sku == 'b'"))
    #expect(try pair.server.delete(request).isDone)
    try pair.file.delete(request)
    pair.numbers[3] = 3
    for run in [3, 2] as [Int64] { try pair.undo(run, "run \(run)") }
    try await pair.run(#"[{"sku":"later"}]"#)
    #expect(try sql(pair.file, "SELECT count(*) FROM Item_parts") == ["3"])
  }

  @Test("A model that grew between two imports is no reason to refuse")
  func grown() async throws {
    let url = try server.schema()
    let first = try pair(Self.shop, url)
    try await first.run(#"[{"sku":"a","name":"x"},{"sku":"b"}]"#)
    try await first.run(#"[{"sku":"a","name":"y","maker":7}]"#)
    first.server.end()
    let more = Self.shop.replacing(
      "name: string, price",
      with: "name: string, colour: string, price"
    )
    let second = FileAndServer(
      file: first.file,
      server: try PostgreSQLServer(url).store(),
      map: try ImportMap(yaml: more)
    )
    defer { second.server.end() }
    second.numbers = first.numbers
    try await second.run(#"[{"sku":"a","colour":"red","parts":["b"]},{"sku":"c","colour":"blue"}]"#)
    for run in [3, 2, 1] as [Int64] { try second.undo(run, "run \(run)") }
    #expect(try second.state() == [])
  }

  @Test("What cannot be taken back is told as of a file")
  func refusals() async throws {
    let pair = try pair()
    defer { pair.server.end() }
    #expect(throws: StoreError.self) { try pair.server.undoImport(nil) }
    try await pair.run(#"[{"sku":"a","name":"x"}]"#)
    try await pair.run(#"[{"sku":"a","name":"y"}]"#) { $0.recording = .never }
    for run in [nil, 2, 1, 9] as [Int64?] {
      var (said, expected): (StoreError?, StoreError?)
      var (report, other): (UndoReport?, UndoReport?)
      do { report = try pair.server.undoImport(run) } catch { said = error as? StoreError }
      do { other = try pair.file.undoImport(run) } catch { expected = error as? StoreError }
      #expect(said?.message == expected?.message && said?.code == expected?.code)
      #expect(
        report?.isPossible == other?.isPossible && report?.conflictCount == other?.conflictCount
      )
    }
    try await pair.run(#"[{"sku":"b"}]"#)
    try pair.undo(3, "")
    #expect(throws: StoreError.self) { try pair.server.undoImport(3) }
    // What replaced values have been would come back as they were.
    let model = try ImportMap(yaml: Self.shop.replacing("type: decimal", with: "type: double"))
      .model()
    _ = try pair.server.migrate(to: model, drops: false)
    #expect(throws: StoreError.self) { try pair.server.undoImport(1) }
  }

  @Test("A preview tells what would change, and changes nothing")
  func preview() async throws {
    let pair = try pair()
    defer { pair.server.end() }
    try await pair.run(#"[{"sku":"a","name":"x"},{"sku":"b","parts":["a"]}]"#)
    try await pair.run(#"[{"sku":"a","name":"y","maker":3},{"sku":"b","parts":[]}]"#)
    let before = try pair.state()
    var (told, expected): ([ImportChange], [ImportChange]) = ([], [])
    let report = try pair.server.undoImport(nil) { told.append($0) }
    let other = try pair.file.previewUndo { expected.append($0) }
    #expect(UndoPropertyTests.text(told) == UndoPropertyTests.text(expected) && told.count == 3)
    #expect(report.entities == other.entities)
    #expect(try pair.state() == before)
  }

  @Test("Partitions are taken back one by one; their notes do not mix")
  func partitions() async throws {
    let url = try server.schema()
    let pair = try pair(Self.shop, url)
    defer { pair.server.end() }
    try await pair.run(#"[{"sku":"p","name":"kept"}]"#)
    let records = (0..<60).map { #"{"sku":"s\#($0 % 40)","name":"n\#($0)","price":\#($0 % 5)}"# }
    let feed = "[" + records.joined(separator: ",") + "]"
    let map = pair.map
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 1...3 {
        group.addTask {
          var request = ImportRequest([.bytes(Array(feed.utf8), name: "feed")])
          request.options.batchSize = 7
          request.partition = ImportPartition(number, of: 3)
          let store = try PostgreSQLServer(url).store()
          defer { store.end() }
          return try await Importer(map: map, server: store).run(request).counts.read
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(counts == 60)
    for run in try pair.server.copy(of: .history).history().compactMap(\.id).reversed() {
      let report = try pair.server.undoImport(run)
      #expect(report.isPossible, "\(run) \(report.conflicts)")
    }
    #expect(try pair.state() == [])
  }

  // MARK: - What goes wrong

  /// A store whose statements are counted once it is open.
  private func faultyStore(_ url: String, _ counter: StatementCounter) throws -> ServerStore {
    let isArmed = Armed()
    let faulty = FaultyServer(url) { sql throws(ServerError) in
      if isArmed.value { try counter.see(sql) }
    }
    let store = try ServerStore(on: faulty)
    isArmed.value = true
    return store
  }

  @Test("An error at any statement of an undo leaves everything as it was")
  func statements() async throws {
    let url = try server.schema()
    let pair = try pair(Self.shop, url)
    defer { pair.server.end() }
    try await pair.run(#"[{"sku":"a","name":"x","maker":1},{"sku":"b","parts":["a","later"]}]"#)
    try await pair.run(#"[{"sku":"a","name":"y","parts":["b"]},{"sku":"c","maker":2}]"#)
    let request = FetchRequest("Item", filter: try Filter(parsing: "sku == 'b'"))
    #expect(try pair.server.delete(request).isDone && pair.file.delete(request).isDone)
    let before = try pair.state()
    var place = 1
    while true {
      let counter = StatementCounter(failing: place, "53100")
      let faulty = try faultyStore(url, counter)
      defer { faulty.end() }
      let report = try? faulty.undoImport(3)
      guard counter.isFailed else {
        #expect(report?.isPossible == true)
        break
      }
      // A connection that fails at the last word may have been heard.
      if report != nil { break }
      #expect(try pair.state() == before, "statement \(place)")
      place += 1
    }
    #expect(place > 15)
    pair.numbers[3] = 3
    #expect(try pair.file.undoImport(3).isPossible)
    #expect(try pair.serverContents() == pair.fileContents())
  }

  @Test(
    "A connection that is cut takes its notes along; the import and its undo are whole",
    arguments: CuttingProxy.Loss.allCases
  )
  func cut(loss: CuttingProxy.Loss) async throws {
    let direct = try server.schema()
    let pair = try pair(Self.shop, direct)
    defer { pair.server.end() }
    try await pair.run(#"[{"sku":"s1","name":"x"},{"sku":"s2","parts":["s1"]}]"#)
    let before = try pair.state()
    let feed = (0..<40).map {
      #"{"sku":"s\#($0)","name":"n\#($0)","parts":["s\#(($0 + 39) % 40)"]}"#
    }
    var request = ImportRequest([
      .bytes(Array("[\(feed.joined(separator: ","))]".utf8), name: "feed")
    ])
    request.options.commit = .batch
    request.options.batchSize = 5
    func run(_ place: Int) async throws -> (proxy: CuttingProxy, opened: Int) {
      let proxy = try CuttingProxy(to: server.socketPath, cuttingAt: place, losing: loss)
      defer { proxy.end() }
      let url = server.url(schema: TestServer.schema(of: direct), by: proxy)
      let store = try PostgreSQLServer(url).store()
      defer { store.end() }
      let opened = proxy.byteCount
      _ = try await Importer(map: pair.map, server: store).run(request)
      let last = try #require(try pair.server.copy(of: .history).history().last?.id)
      let report = try pair.server.undoImport(last)
      #expect(report.isPossible, "\(loss) at \(place): \(report.conflicts)")
      #expect(try pair.state() == before, "\(loss) at \(place)")
      return (proxy, opened)
    }
    // Who opens a store whose connection is cut is told.
    let (whole, opened) = try await run(.max)
    let count = Seeds.setting("DRAGOMAN_ROUNDS").map { Int($0) } ?? 8
    for number in 0..<count {
      let place = opened + 1 + (whole.byteCount - opened - 1) * number / count
      #expect(try await run(place).proxy.isCut)
    }
  }

  @Test("A connection that has noted is as clean as a new one")
  func clean() async throws {
    let url = try server.schema()
    let pair = try pair(Self.shop, url)
    defer { pair.server.end() }
    for feed in [
      #"[{"sku":"a"}]"#, #"[{"sku":"a","name":"y"}]"#, #"[{"sku":"a","name":"z"},{"sku":"#,
    ] {
      var request = ImportRequest([.bytes(Array(feed.utf8), name: "feed")])
      request.options.commit = .batch
      _ = try? await Importer(map: pair.map, server: pair.server).run(request)
      let left = try server.psql(
        "SELECT count(*) FROM pg_class AS n JOIN pg_class AS t ON n.relname = '_dragoman_noted_' || t.oid"
          + " WHERE t.relnamespace = '\(TestServer.schema(of: url))'::regnamespace"
      )
      #expect(left == "0")
    }
  }
}
