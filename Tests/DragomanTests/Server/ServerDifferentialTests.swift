import DragomanPostgreSQL
import TestServer
import TestSupport
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Random maps and records, by rows into a file and through a context into a server.
///
/// `DRAGOMAN_ROUNDS` asks for more cases than the default, `DRAGOMAN_SEED` for one case again.
@Suite("Imports, the file's sink against a server's", .enabled(if: TestServer.isThere))
struct ServerDifferentialTests {
  @Test(
    "Random attributes, keys and policies: the same counts, issues and rows",
    arguments: TestPlace.all
  )
  func values(at place: TestPlace) async throws {
    let server = try #require(place.server)
    var count = 0
    for seed in Seeds.seeds(place == .citus ? 15 : 40) {
      var random = SplitMix(state: seed)
      let sample = SinkCase.random(&random)
      // What a mapper in code computes is no matter of the store; a text with U+0000 is refused.
      guard !sample.scheme.isCode, !sample.holdsNUL else { continue }
      count += 1
      let words: Comment = "DRAGOMAN_SEED=\(seed) \(sample)"
      let map = try sample.scheme.map()
      let store = try SQLiteStore(at: .inMemory)
      let url = try server.schema()
      for (number, round) in sample.rounds.enumerated() {
        var request = ImportRequest([.records(round.records.map(\.foreign))], mode: round.mode)
        let expected = try await Importer(map: map, store: store).run(request)
        // What a batch writes is looked up ahead for the next one.
        request.wholeBatchSize = [4096, 1, 2, 5][Int(seed % 4)]
        let report = try await ServerImportTests.run(request, map, url)
        #expect(report.counts == expected.counts, "\(number) \(words)")
        #expect(Self.sorted(report.issues) == Self.sorted(expected.issues), "\(number) \(words)")
        #expect(report.entities == expected.entities, "\(number) \(words)")
        let copy = try PostgreSQLServer(url).copy()
        #expect(try contents(of: copy) == contents(of: store), "\(number) \(words)")
        try copy.close()
      }
    }
    #expect(count > 0 || Seeds.asked != nil)
  }

  /// In no order of the feed: what a batch is told of first is what it was mapped to.
  private static func sorted(_ issues: [ImportReport.Group]) -> [ImportReport.Group] {
    issues.sorted {
      ($0.code.rawValue, $0.entity, $0.attribute ?? "")
        < ($1.code.rawValue, $1.entity, $1.attribute ?? "")
    }
  }

  @Test(
    "Random links of every kind: the same rows and links, and the same counts",
    arguments: TestPlace.all
  )
  func links(at place: TestPlace) async throws {
    let server = try #require(place.server)
    for seed in Seeds.seeds(place == .citus ? 10 : 25) {
      var random = SplitMix(state: seed)
      let sample = LinkCase.random(&random)
      let words: Comment = "DRAGOMAN_SEED=\(seed)\n\(sample)"
      let map = try ImportMap(yaml: sample.scheme.description)
      let store = try SQLiteStore(at: .inMemory)
      let url = try server.schema()
      for (number, round) in sample.rounds.enumerated() {
        var request = ImportRequest([.records(round.records.map(\.foreign))], mode: round.mode)
        let expected = try await Importer(map: map, store: store).run(request)
        // What a batch writes is looked up ahead for the next one.
        request.wholeBatchSize = [4096, 1, 2, 5][Int(seed % 4)]
        let report = try await ServerImportTests.run(request, map, url)
        // As in `LinkCase.differences`: counts of an owner that comes twice are open.
        if Set(round.records.map(\.id)).count == round.records.count {
          #expect(report.counts == expected.counts, "\(number) \(words)")
          #expect(report.linkSummary == expected.linkSummary, "\(number) \(words)")
          #expect(Self.sorted(report.issues) == Self.sorted(expected.issues), "\(number) \(words)")
        }
        let copy = try PostgreSQLServer(url).copy()
        #expect(
          try sample.scheme.contents(of: copy) == sample.scheme.contents(of: store),
          "\(number) \(words)"
        )
        try copy.close()
        let (theirs, ours) = try await (exported(url, by: map), exported(store, by: map))
        #expect(theirs == ours, "\(number) \(words)")
      }
    }
  }

  private func exported(_ url: String, by map: ImportMap) async throws -> String {
    let server = try PostgreSQLServer(url).store()
    defer { server.end() }
    return try await Self.records(of: Exporter(map: map, server: server))
  }

  private func exported(_ store: SQLiteStore, by map: ImportMap) async throws -> String {
    try await Self.records(of: Exporter(map: map, store: store))
  }

  /// The records of an export, or why there is none.
  private static func records(of exporter: Exporter) async throws -> String {
    do {
      let bytes = try await exporter.bytes(ExportRequest(entity: "P", format: .json))
      return String(decoding: bytes, as: UTF8.self)
    } catch let error as ExportError { return "\(error)" }
  }
}

extension SinkCase {
  /// Whether a text of it holds what PostgreSQL cannot hold.
  var holdsNUL: Bool {
    rounds.contains { round in
      round.records.contains {
        $0.foreign.json.contains("\\u0000") || $0.foreign.json.contains("\0")
      }
    }
  }
}
