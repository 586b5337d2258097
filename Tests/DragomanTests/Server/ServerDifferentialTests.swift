import DragomanPostgreSQL
import TestServer
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Random maps and records, by rows into a file and through a context into a server.
///
/// `DRAGOMAN_ROUNDS` asks for more cases than the default, `DRAGOMAN_SEED` for one case again.
@Suite("Imports, the file's sink against a server's", .enabled(if: TestServer.isThere))
struct ServerDifferentialTests {
  @Test("Random attributes, keys and policies: the same counts, issues and rows")
  func values() async throws {
    let server = try #require(TestServer.shared)
    var count = 0
    for seed in SinkDifferentialTests.seeds(40) {
      var random = SplitMix(state: seed)
      let sample = SinkCase.random(&random)
      // What a mapper in code computes is no matter of the store; a text with U+0000 is refused.
      guard !sample.scheme.isCode, !sample.holdsNUL else { continue }
      count += 1
      let place: Comment = "DRAGOMAN_SEED=\(seed) \(sample)"
      let map = try sample.scheme.map()
      let store = try SQLiteStore(at: .inMemory)
      let url = try server.schema()
      for (number, round) in sample.rounds.enumerated() {
        let request = ImportRequest([.records(round.records.map(\.foreign))], mode: round.mode)
        let expected = try await Importer(map: map, store: store).run(request)
        let report = try await ServerImportTests.run(request, map, url)
        #expect(report.counts == expected.counts, "\(number) \(place)")
        #expect(report.issues == expected.issues, "\(number) \(place)")
        #expect(report.entities == expected.entities, "\(number) \(place)")
        let copy = try PostgreSQLServer(url).copy()
        #expect(try contents(of: copy) == contents(of: store), "\(number) \(place)")
        try copy.close()
      }
    }
    #expect(count > 0 || SinkDifferentialTests.setting("DRAGOMAN_SEED") != nil)
  }

  @Test("Random links of every kind: the same rows and links, and the same counts")
  func links() async throws {
    let server = try #require(TestServer.shared)
    for seed in SinkDifferentialTests.seeds(25) {
      var random = SplitMix(state: seed)
      let sample = LinkCase.random(&random)
      let place: Comment = "DRAGOMAN_SEED=\(seed)\n\(sample)"
      let map = try ImportMap(yaml: sample.scheme.description)
      let store = try SQLiteStore(at: .inMemory)
      let url = try server.schema()
      for (number, round) in sample.rounds.enumerated() {
        let request = ImportRequest([.records(round.records.map(\.foreign))], mode: round.mode)
        let expected = try await Importer(map: map, store: store).run(request)
        let report = try await ServerImportTests.run(request, map, url)
        // As in `LinkCase.differences`: counts of an owner that comes twice are open.
        if Set(round.records.map(\.id)).count == round.records.count {
          #expect(report.counts == expected.counts, "\(number) \(place)")
          #expect(report.linkSummary == expected.linkSummary, "\(number) \(place)")
          #expect(report.issues == expected.issues, "\(number) \(place)")
        }
        let copy = try PostgreSQLServer(url).copy()
        #expect(
          try sample.scheme.contents(of: copy) == sample.scheme.contents(of: store),
          "\(number) \(place)"
        )
        try copy.close()
      }
    }
  }
}

extension SinkCase {
  /// Whether a text of it holds what PostgreSQL cannot hold.
  fileprivate var holdsNUL: Bool {
    rounds.contains { round in
      round.records.contains {
        $0.foreign.json.contains("\\u0000") || $0.foreign.json.contains("\0")
      }
    }
  }
}
