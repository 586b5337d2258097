import DragomanGraph
import TestSupport
import Testing

@testable import Dragoman

/// Random maps with relationships and random graphs: what is exported comes back with its links.
@Suite("Exports of random graphs") struct LinkExportPropertyTests {
  @Test(
    "An export of a random graph changes nothing, and makes the same graph in an empty store",
    arguments: [ForeignFormat.json, .xml]
  )
  func roundTrip(format: ForeignFormat) async throws {
    var refusedCount = 0
    let seeds = Seeds.seeds(40)
    for seed in seeds {
      var random = SplitMix(state: seed)
      let sample = LinkCase.random(&random)
      let map = try ImportMap(
        yaml: sample.scheme.description + "\n  xml: { format: xml, entity: P, records: /r/p }"
          + "\nexport: { include: { company: nested, skills: nested } }"
      )
      let store = try SQLiteStore(at: .inMemory)
      for round in sample.rounds {
        _ = try await Importer(map: map, store: store)
          .run(ImportRequest([.records(round.records.map(\.foreign))], mode: round.mode))
      }
      let bytes: [UInt8]
      do {
        bytes = try await Exporter(map: map, store: store).bytes(
          ExportRequest(entity: "P", format: format)
        )
      } catch let error as ExportError where error.code == .map {
        refusedCount += 1
        continue
      }
      let before = try sample.scheme.contents(of: store)
      let place: Comment =
        "DRAGOMAN_SEED=\(seed) \(sample)\n\(before)\n\(String(decoding: bytes, as: UTF8.self))"

      let again = try await imported(bytes, format, by: map, into: store)
      #expect(again.counts.unchanged == again.counts.read, "\(again.linkSummary) \(place)")
      #expect(again.counts.read == before.count { $0.hasPrefix("P ") }, place)
      #expect(again.linkSummary == [], place)
      #expect(try sample.scheme.contents(of: store) == before, place)

      let copy = try SQLiteStore(at: .inMemory)
      _ = try await imported(bytes, format, by: map, into: copy)
      // Companies and skills that nobody has are not part of an export of people.
      let found = try sample.scheme.contents(of: copy)
      #expect(found.filter { $0.hasPrefix("P ") } == before.filter { $0.hasPrefix("P ") }, place)
      #expect(Set(found).isSubset(of: before), place)
    }
    #expect(refusedCount * 5 <= seeds.count)
  }

  private func imported(
    _ bytes: [UInt8],
    _ format: ForeignFormat,
    by map: ImportMap,
    into store: SQLiteStore
  ) async throws -> ImportReport {
    try await Importer(map: map, store: store)
      .run(ImportRequest([.bytes(bytes, name: "export.\(format.rawValue)")]))
  }
}
