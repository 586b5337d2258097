import Dragoman
import DragomanGraph
import Testing

/// docs/policies.md#limits: records that wait for objects take memory, up to a limit.
@Suite("Records that wait take no more memory than admitted") struct WaitingLimitTests {
  private static let count = 3000

  /// People who each name the one behind them, or before them.
  private static func people(in order: some Sequence<Int>, naming step: Int) -> String {
    let records = order.map { id in
      let boss = (0..<count).contains(id + step) ? "\(id + step)" : "null"
      return #"{"id":\#(id),"boss":\#(boss)}"#
    }
    return "[\(records.joined(separator: ","))]"
  }

  private static func fixture(_ relationship: String, _ options: String = "") throws
    -> ImportFixture
  {
    try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { boss: { entity: P, kind: toOne, key: { id: boss }, \(relationship) } }
      sources: { p: { format: json, entity: P } }
      import: { maxWaitingSize: 1\(options) }
      """
    )
  }

  @Test("More of them end the import; what the request says counts before what the map says")
  func bounds() async throws {
    let fixture = try Self.fixture("onUnresolved: reject")
    let feed = Self.people(in: 0..<Self.count, naming: 1)
    let error = await #expect(throws: ImportFailure.self) { try await fixture.run(feed) }
    let cause = try #require(error?.cause as? ImportError)
    #expect(cause.code == .tooManyWaiting)
    #expect(
      cause.message == "More than 1 MB of records wait for objects that have not come."
    )
    #expect(cause.help?.contains("`maxWaitingSize` under `import:`") == true)
    let counts = try #require(error?.report.counts)
    #expect(counts.read == 0 && counts.rejected == 0)
    // Nothing of it was written.
    let report = try await fixture.run(feed) { $0.options.maximumWaitingByteCount = 64 << 20 }
    #expect(report.summary == "read \(Self.count), inserted \(Self.count)")
  }

  @Test("Records that wait for nobody, and references that wait in the database, are not bounded")
  func others() async throws {
    let behind = try Self.fixture("onUnresolved: reject")
    let inOrder = Self.people(in: 0..<Self.count, naming: -1)
    #expect(try await behind.run(inOrder).counts.inserted == Self.count)
    let pending = try Self.fixture("onUnresolved: pending")
    let ahead = Self.people(in: 0..<Self.count, naming: 1)
    #expect(try await pending.run(ahead).counts.inserted == Self.count)
  }

  @Test("In batches what was committed before stays, and the next import goes on")
  func batches() async throws {
    let fixture = try Self.fixture("onUnresolved: reject", ", commit: batch, batchSize: 10")
    let count = Self.count
    let feed = Self.people(in: [count - 1] + Array(0..<count - 1), naming: 1)
    await #expect(throws: ImportFailure.self) { try await fixture.run(feed) }
    let report = try await fixture.run(feed) { $0.options.maximumWaitingByteCount = 64 << 20 }
    #expect(report.counts.inserted + report.counts.unchanged == count)
    #expect(try fixture.store.count(FetchRequest("P", filter: .where("boss", .equalTo, nil))) == 1)
  }

  @Test("Whoever raises the bound goes on with an import in batches, in the map or in the request")
  func resumed() async throws {
    let count = Self.count
    let feed = Self.people(in: [count - 1] + Array(0..<count - 1), naming: 1)
    for isInMap in [true, false] {
      let first = try Self.fixture("onUnresolved: reject", ", commit: batch, batchSize: 10")
      let failure = await #expect(throws: ImportFailure.self) { try await first.run(feed) }
      #expect(failure?.report.counts.read == failure?.report.counts.inserted)
      var map = first.map
      if isInMap { map.importOptions.maximumWaitingByteCount = 64 << 20 }
      var request = ImportRequest([.bytes(Array(feed.utf8), name: "feed1")])
      request.resumes = true
      let importer = Importer(map: map, store: first.store)
      if !isInMap {
        // It fails as before, and what was read over counts for nothing.
        let again = await #expect(throws: ImportFailure.self) { try await importer.run(request) }
        #expect((again?.cause as? ImportError)?.code == .tooManyWaiting)
        let counts = try #require(again?.report.counts)
        #expect(counts.read == counts.inserted + counts.updated + counts.unchanged)
        request.options.maximumWaitingByteCount = 64 << 20
      }
      let report = try await importer.run(request)
      #expect(report.counts.inserted == count)
      #expect(report.notices.contains { $0.hasPrefix("went on behind") })
    }
  }

  @Test("A bound that is none is refused", arguments: [0, 1 << 10, 1 << 41])
  func invalid(size: Int) async throws {
    let fixture = try Self.fixture("onUnresolved: reject")
    let error = await #expect(throws: ImportFailure.self) {
      try await fixture.run("[]") { $0.options.maximumWaitingByteCount = size }
    }
    #expect((error?.cause as? ImportError)?.code == .request)
  }
}
