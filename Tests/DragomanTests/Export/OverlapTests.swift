import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Places that lie inside of each other: what is written, and what is said of the rest.
@Suite struct OverlapTests {
  private let store: SQLiteStore

  init() throws { store = try SQLiteStore(at: .inMemory) }

  private static let photos = """
    version: 1
    entities:
      Photo:
        unique: id
        attributes:
          id: { type: int32 }
          width: { from: sizes.large.w, type: int32 }
          sizes: { type: json }
          first: { from: "tags[0]" }
          tags: { type: json }
          city: address.city
          zone: address.geo.zone
          companyId: { from: company_id, type: int32 }
        relationships:
          address: { entity: Address, kind: toOne, from: address }
          company: { entity: Company, kind: toOne, key: { id: company_id }, onUnresolved: stub }
      Address: { unique: street, attributes: { street: street, town: city } }
      Company: { unique: id, attributes: { id: { type: int32 } } }
    sources: { json: { format: json, entity: Photo } }
    export: { entity: Photo }
    """

  private static let records = [
    #"{"id":1,"sizes":{"large":{"w":5,"h":6}},"tags":["a","b"],"company_id":4,"address":{"street":"x","city":"Oslo","geo":{"zone":"Z"}}}"#,
    #"{"id":2,"tags":[],"company_id":5}"#,
    #"{"id":3,"sizes":{"small":{"w":2}},"address":{"street":"y","city":"Rome"}}"#,
  ]

  private func imported(_ text: String, by map: ImportMap) async throws -> ImportReport {
    try await Importer(map: map, store: store)
      .run(ImportRequest([.bytes(Array(text.utf8), name: "feed")]))
  }

  private func export(
    _ map: ImportMap,
    _ format: ForeignFormat = .ndjson
  ) async throws -> (text: String, report: ExportReport) {
    let path = NSTemporaryDirectory() + UUID().uuidString
    defer { unlink(path) }
    let report = try await Exporter(map: map, store: store)
      .run(ExportRequest(format: format), to: .file(path))
    return (try String(contentsOfFile: path, encoding: .utf8), report)
  }

  @Test("The wider place is written and holds the narrower one, whatever comes first in the map")
  func wider() async throws {
    let map = try ImportMap(yaml: Self.photos)
    _ = try await imported("[\(Self.records.joined(separator: ","))]", by: map)
    let (text, report) = try await export(map)
    #expect(text == Self.records.map { $0 + "\n" }.joined())
    #expect(report.issues.isEmpty && report.losses.isEmpty)
    let again = try await imported(text, by: map)
    #expect(again.summary == "read 3, unchanged 3")
  }

  @Test(
    "What the wider place does not hold is told, and nothing is bent",
    arguments: [
      ("UPDATE Photo SET width = 7 WHERE id = 1", "width", 1),
      ("UPDATE Photo SET width = 7", "width", 3), ("UPDATE Photo SET width = NULL", "width", 1),
      ("UPDATE Photo SET first = 'c'", "first", 3), ("UPDATE Photo SET city = 'Paris'", "city", 3),
      ("UPDATE Photo SET zone = 'Y' WHERE id = 2", "zone", 1),
      ("UPDATE Photo SET companyId = 9 WHERE id = 1", "company", 1),
      ("UPDATE Address SET town = 'Bergen' WHERE street = 'y'", "city", 1),
      ("UPDATE Photo SET sizes = '{\"large\":3}' WHERE id = 1", "width", 1),
    ]
  )
  func different(change: String, name: String, count: Int) async throws {
    let map = try ImportMap(yaml: Self.photos)
    _ = try await imported("[\(Self.records.joined(separator: ","))]", by: map)
    try store.execute(change)
    let (_, report) = try await export(map)
    #expect(report.issues.map(\.attribute) == [name])
    #expect(report.issues.map(\.count) == [count])
    #expect(report.recordCount == 3)
  }

  @Test("A value inside of a target that has no such member stands there, and comes back")
  func beside() async throws {
    let map = try ImportMap(yaml: Self.photos)
    _ = try await imported("[\(Self.records.joined(separator: ","))]", by: map)
    try store.execute("UPDATE Photo SET zone = 'new' WHERE id <> 2")
    let (text, report) = try await export(map)
    #expect(report.issues.isEmpty)
    #expect(text.components(separatedBy: #""geo":{"zone":"new"}"#).count == 3)
    #expect(try await imported(text, by: map).summary == "read 3, unchanged 3")
  }

  private static let countries = """
    version: 1
    entities:
      Country:
        unique: code
        attributes:
          code: { from: { json: cca3, xml: "@code" } }
          german: { from: { json: translations.deu.common, xml: translations/deu/common } }
        relationships:
          translations:
            entity: Translation
            kind: toMany
            from: { json: "translations.*", xml: "translations/*" }
            inverse: country
            ordered: true
      Translation:
        unique: [[country, lang]]
        attributes: { lang: $key, common: common, official: official }
        relationships: { country: { entity: Country, kind: toOne, inverse: translations } }
    sources:
      json: { format: json, entity: Country }
      xml: { format: xml, entity: Country, records: /r/c }
    export: { entity: Country }
    """

  @Test(
    "An attribute inside of a dictionary of objects does not cut it down",
    arguments: [ForeignFormat.ndjson, .xml]
  )
  func dictionary(format: ForeignFormat) async throws {
    let map = try ImportMap(yaml: Self.countries)
    let feed = (0..<40).map { number in
      let languages = ["fra", "deu", "spa"].prefix(number % 4)
        .map { #""\#($0)":{"common":"\#($0)\#(number)","official":"o"}"# }
      return #"{"cca3":"C\#(number)","translations":{\#(languages.joined(separator: ","))}}"#
    }
    _ = try await imported(feed.joined(separator: "\n"), by: map)
    let (text, report) = try await export(map, format)
    #expect(report.issues.isEmpty && report.losses.isEmpty)
    let again = try await imported(text, by: map)
    #expect(again.summary == "read 40, unchanged 40")
    #expect(try sql(store, "SELECT count(*) FROM Translation WHERE country IS NOT NULL") == ["60"])
    try store.execute("UPDATE Country SET german = 'x'")
    #expect(try await export(map, format).report.issues.map(\.count) == [40])
  }

  @Test("What a format has no place for is a loss, which check can tell before")
  func losses() async throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          P:
            unique: id
            attributes: { id: id, place: { from: { json: place } }, line: $line }
            relationships: { parts: { entity: Q, kind: toMany, from: { json: parts } } }
          Q: { unique: id, attributes: { id: id } }
        sources: { json: { format: json, entity: P }, csv: { format: csv, entity: P } }
        export: { entity: P }
        """
    )
    _ = try await imported(#"{"id":"1","place":"x","parts":[{"id":"2"}]}"#, by: map)
    let losses = [
      "P.line is left out: this map has no place for it in json",
      "P.place is left out: this map has no place for it in csv",
      "P.line is left out: this map has no place for it in csv",
      "P.parts is left out: this map has no place for it in csv",
    ]
    #expect(map.exportOutlook().losses == losses)
    #expect(try await export(map, .csv).report.losses == Array(losses.dropFirst()))
    #expect(try ImportMap(yaml: Self.photos).exportOutlook().losses.isEmpty)
    #expect(
      try ImportMap(yaml: Self.countries).exportOutlook().overlaps
        == ["Country.german stands inside of another value"]
    )
  }

  @Test(
    "A to-one whose members stand in the record itself is exported, and so is one without a path"
  )
  func embedded() async throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          P:
            unique: id
            attributes: { id: { from: { json: id, xml: "@id" } } }
            relationships:
              address: { entity: A, kind: toOne, from: "." }
              boss: { entity: B, kind: toOne }
          A:
            unique: street
            attributes: { street: street, city: { from: { json: place.city, xml: place/city } } }
          B: { unique: id, attributes: { id: id, name: name } }
        sources:
          json: { format: json, entity: P }
          xml: { format: xml, entity: P, records: /r/p }
        export: { entity: P }
        """
    )
    let feed = #"{"id":"1","street":"x","place":{"city":"Oslo"},"boss":{"id":"9","name":"Bo"}}"#
    _ = try await imported("\(feed)\n{\"id\":\"2\"}", by: map)
    #expect(try await export(map).text == feed + "\n{\"id\":\"2\"}\n")
    for format in [ForeignFormat.json, .xml] {
      let (text, report) = try await export(map, format)
      #expect(report.losses.isEmpty && report.issues.isEmpty && report.notices.isEmpty)
      let copy = try SQLiteStore(at: .inMemory)
      _ = try await Importer(map: map, store: copy)
        .run(ImportRequest([.bytes(Array(text.utf8), name: "feed")]))
      for query in [
        "SELECT P.id, street, city, B.id, name FROM P LEFT JOIN A ON address = A._pk LEFT JOIN B ON boss = B._pk ORDER BY 1"
      ] {
        #expect(try sql(copy, query) == ["1|x|Oslo|9|Bo", "2|null|null|null|null"])
      }
    }
  }
}
