import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Every feed that is here, imported, exported and imported again.
@Suite struct FeedExportTests {
  /// A feed with the map it is imported by.
  struct Feed: Sendable, CustomTestStringConvertible {
    let map: String
    let feed: String
    /// Whether the export can be compared with the feed.
    var isCanonical = false
    var testDescription: String { "\(feed) by \(map)" }
  }

  static let sampleFeeds = [
    Feed(map: "Maps/people.map.yaml", feed: "SampleData/people.json"),
    Feed(map: "Maps/people.map.yaml", feed: "SampleData/people.ndjson"),
    Feed(map: "Maps/people.map.yaml", feed: "SampleData/people.xml"),
    Feed(map: "Maps/people.map.yaml", feed: "SampleData/people-partial.json"),
    Feed(map: "Maps/invoices.map.yaml", feed: "SampleData/invoices.json"),
    Feed(
      map: "Maps/observations.map.yaml",
      feed: "SampleData/observations.json",
      isCanonical: true
    ),
    Feed(map: "Maps/fixtures.map.yaml", feed: "SampleData/fixtures.json"),
    Feed(map: "Maps/stations.map.yaml", feed: "SampleData/stations.csv"),
    Feed(map: "Maps/stock.map.yaml", feed: "SampleData/stock-dirty.ndjson"),
  ]

  @Test("A sample comes back from its export in every format of its map", arguments: sampleFeeds)
  func comesBack(feed: Feed) async throws {
    let root = DocumentFile.root
    let map = try ImportMap(contentsOf: root.appending(path: feed.map).path)
    try await check(map, root.appending(path: feed.feed), isCanonical: feed.isCanonical)
  }

  static let elements = """
    version: 1
    entities:
      E:
        unique: number
        attributes:
          number: { from: atomic_number, type: int32 }
          name: name
          symbol: symbol
          weight: { from: atomic_weight, type: double }
          radius: { from: ionic_radius, type: decimal }
          phase: phase
          crystal: most_stable_crystal
    sources: { json: { format: json, entity: E, records: /elements } }
    """
  static let quakes = """
    version: 1
    defaults: { dates: [unix-ms] }
    entities:
      Q:
        unique: id
        attributes:
          id: id
          magnitude: { from: properties.mag, type: decimal }
          place: properties.place
          at: { from: properties.time, type: timestamp }
          updated: { from: properties.updated, type: timestamp }
          url: { from: properties.url, type: url }
          gap: { from: properties.gap, type: double }
          rms: { from: properties.rms, type: double }
          code: properties.code
          longitude: { from: "geometry.coordinates[0]", type: double }
          latitude: { from: "geometry.coordinates[1]", type: double }
          depth: { from: "geometry.coordinates[2]", type: double }
    sources: { json: { format: json, entity: Q, records: /features } }
    """
  static let matches = """
    version: 1
    entities:
      M:
        unique: [date, home, away]
        attributes:
          date: { type: date }
          time: time
          home: team1
          away: team2
          round: round
          goals: { from: score.ft, type: json }
    sources: { json: { format: json, entity: M, records: /matches } }
    """

  @Test(
    "A feed of the world comes back from its export",
    arguments: [
      ("earthquakes/earthquakes.json", quakes), ("corpora-cc0/elements.json", elements),
      ("football/2024-25_en.1.json", matches), ("football/2010-11_en.1.json", matches),
    ]
  )
  func feeds(path: String, yaml: String) async throws {
    let file = DocumentFile.root.appending(path: "../shared/feeds/\(path)").standardized
    guard FileManager.default.fileExists(atPath: file.path) else {
      print("skipped: there is no ../shared/feeds/\(path)")
      return
    }
    try await check(try ImportMap(yaml: yaml), file, isCanonical: true)
  }

  // MARK: - The circle

  private func check(_ map: ImportMap, _ feed: URL, isCanonical: Bool) async throws {
    let store = try SQLiteStore(at: .inMemory)
    _ = try await Importer(map: map, store: store).run(ImportRequest([.file(feed.path)]))
    let entity = map.entities[0].name
    let rows = try Self.rows(entity, store)
    try #require(!rows.isEmpty)
    var formats: [ForeignFormat] = [.json, .ndjson]
    if map.sources.contains(where: { $0.format == .xml }) { formats.append(.xml) }
    if map.sources.contains(where: { $0.format == .csv }) { formats = [.csv] }
    if map.sources.allSatisfy({ $0.format == .ndjson }) { formats = [.ndjson] }
    for format in formats {
      for shape in [ExportStyle.Shape.nested, .flat] {
        let request = ExportRequest(format: format, style: ExportStyle(shape: shape))
        let bytes = try await Exporter(map: map, store: store).bytes(request)
        let input = ImportRequest([.bytes(bytes, name: "export.\(format.rawValue)")])
        let again = try await Importer(map: map, store: store).run(input)
        #expect(again.counts.unchanged == rows.count, "\(format) \(shape) \(again.issues)")
        let copy = try SQLiteStore(at: .inMemory)
        _ = try await Importer(map: map, store: copy).run(input)
        #expect(try Self.rows(entity, copy) == rows)
        let second = try await Exporter(map: map, store: copy).bytes(request)
        #expect(second == bytes, "\(format) \(shape)")
        if isCanonical, format == .json, shape == .nested {
          try Self.compare(try Data(contentsOf: feed), Data(bytes))
        }
      }
    }
  }

  private static func rows(_ entity: String, _ store: SQLiteStore) throws -> Set<[StoredValue]> {
    var rows: Set<[StoredValue]> = []
    try store.forEachRow(FetchRequest(entity)) { rows.insert($0.values) }
    return rows
  }

  /// Every value of the export stands in the feed, at the same place of a record.
  private static func compare(_ feed: Data, _ export: Data) throws {
    let given = Set(try records(feed).map { leaves($0) })
    let written = try records(export).map { leaves($0) }
    for record in written {
      #expect(given.contains { record.isSubset(of: $0) }, "\(record)")
    }
    #expect(written.count == given.count)
  }

  /// The longest list of objects in a document.
  private static func records(_ data: Data) throws -> [Any] {
    let document = try JSONSerialization.jsonObject(with: data) as? [String: Any]
    return document?.values.compactMap { $0 as? [Any] }.max { $0.count < $1.count } ?? []
  }

  /// The scalars of a value, each behind the way to it; nulls are left out.
  private static func leaves(_ value: Any, _ path: String = "") -> Set<String> {
    switch value {
    case let object as [String: Any]:
      object.reduce(into: []) { $0.formUnion(leaves($1.value, "\(path).\($1.key)")) }
    case let list as [Any]:
      list.enumerated().reduce(into: []) {
        $0.formUnion(leaves($1.element, "\(path)[\($1.offset)]"))
      }
    case is NSNull: []
    case let number as NSNumber: ["\(path)=\(number.doubleValue)"]
    default: ["\(path)=\(value)"]
    }
  }
}
