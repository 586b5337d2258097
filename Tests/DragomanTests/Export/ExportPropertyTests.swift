import TestSupport
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Random maps and objects: what is exported comes back, or is refused by name.
@Suite struct ExportPropertyTests {
  @Test(
    "An export of random objects by a random map comes back to the last value",
    arguments: [ForeignFormat.json, .ndjson, .xml, .csv]
  )
  func roundTrip(format: ForeignFormat) async throws {
    var refusedCount = 0
    var valueCount = 0
    for seed in Seeds.seeds(50) {
      var random = try RandomExport(seed: seed)
      valueCount += random.rows.count * random.map.entities[0].attributes.count
      let store = try random.store()
      guard let bytes = try await exported(&random, store, format, &refusedCount) else { continue }
      let source = try random.store()
      let place: Comment =
        "DRAGOMAN_SEED=\(seed), \(format): \(String(decoding: bytes.prefix(2000), as: UTF8.self))"

      // Into the same store: nothing changes.
      let again = try await imported(bytes, format, by: random.map, into: source)
      #expect(again.counts.unchanged == random.rows.count, "\(again.issues) \(place)")
      #expect(again.counts.read == random.rows.count, place)

      // Into an empty store: the same contents, and the same bytes again.
      let copy = try SQLiteStore(at: .inMemory)
      _ = try await imported(bytes, format, by: random.map, into: copy)
      let rows = try (Self.rows(source), Self.rows(copy))
      #expect(rows.0.map { $0.map(\.text) } == rows.1.map { $0.map(\.text) }, place)
      #expect(rows.0 == rows.1, place)
      let second = try await Exporter(map: random.map, store: copy)
        .bytes(ExportRequest(format: format))
      #expect(
        String(decoding: second, as: UTF8.self) == String(decoding: bytes, as: UTF8.self),
        place
      )
    }
    // Refusing must stay the exception, else nothing is tested.
    #expect(refusedCount * 5 < valueCount)
  }

  /// Exports; a value that is refused becomes null, or its row goes, until nothing is refused.
  private func exported(
    _ random: inout RandomExport,
    _ store: SQLiteStore,
    _ format: ForeignFormat,
    _ refusedCount: inout Int
  ) async throws -> [UInt8]? {
    var store = store
    for _ in 0..<500 {
      do {
        return try await Exporter(map: random.map, store: store)
          .bytes(ExportRequest(format: format))
      } catch let error as ExportError where error.code == .value {
        refusedCount += 1
        let key = try #require(
          error.message.firstMatch(of: /of P (.*?) (is|has|holds|would)/)?.output.1
        )
        let column = try #require(
          random.map.entities[0].attributes.firstIndex { error.message.hasPrefix("\($0.name) of") }
        )
        let row = try #require(
          random.rows.firstIndex { $0[0].text == key },
          "\(error)"
        )
        if column == 0 || random.rows[row][column] == .null {
          random.rows.remove(at: row)
        } else {
          random.rows[row][column] = .null
        }
        store = try random.store()
      } catch let error as ExportError where error.code == .map {
        return nil
      }
    }
    Issue.record("the export is refused for ever")
    return nil
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

  private static func rows(_ store: SQLiteStore) throws -> [[StoredValue]] {
    var rows: [[StoredValue]] = []
    guard store.model.entity(named: "P") != nil else { return [] }
    try store.forEachRow(FetchRequest("P", sortKeys: [SortKey("id")])) { rows.append($0.values) }
    return rows
  }
}
