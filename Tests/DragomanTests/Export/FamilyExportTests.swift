import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// An entity and its sub-entities in one document, each object as its own map writes it.
@Suite("Exporting families") struct FamilyExportTests {
  private static let kinds: [(String, ForeignFormat)] = [
    ("json", .json), ("ndjson", .ndjson), ("xml", .xml), ("csv", .csv),
  ]

  /// Three levels; siblings that have attributes of one name in places of their own.
  private static let vehicles = """
    version: 1
    entities:
      Maker: { unique: id, attributes: { id: { from: { json: id, xml: "@id", csv: id } } } }
      Thing:
        unique: id
        attributes: { id: { from: { json: id, xml: "@id", csv: id }, type: int32 }, name: name }
        discriminator: { from: { json: kind, xml: "@kind", csv: kind }, values: { car: Car, boat: Boat } }
      Car:
        parent: Thing
        attributes:
          size: { from: { json: doors, xml: doors, csv: doors }, type: int32 }
        discriminator: { from: { json: body, xml: "@body", csv: body }, values: { fast: Sport } }
        relationships:
          maker: { entity: Maker, kind: toOne, key: { id: { json: maker, xml: "@maker", csv: maker } }, onUnresolved: stub }
      Sport: { parent: Car, attributes: { speed: { type: double } } }
      Boat:
        parent: Thing
        attributes: { size: { column: hull, from: { json: hull.length, xml: hull/length, csv: length } } }
    sources:
      json: { format: json, entity: Thing, records: /things }
      xml: { format: xml, entity: Thing, records: /things/thing }
      csv: { format: csv, entity: Thing }
    """

  private static let feed = """
    {"things":[
    {"id":1,"name":"plain"},
    {"id":2,"name":"Beetle","doors":2,"kind":"car","maker":"vw"},
    {"id":3,"name":"Swan","hull":{"length":"9 m"},"kind":"boat"},
    {"id":4,"name":"Testa","doors":2,"speed":290.5,"kind":"car","body":"fast","maker":"fe"},
    {"id":5,"doors":4,"kind":"car"}
    ]}

    """

  private static let rows = [
    "1|Thing|plain|null|null|null", "2|Car|Beetle|2|null|null", "3|Boat|Swan|null|null|9 m",
    "4|Sport|Testa|2|290.5|null", "5|Car|null|4|null|null",
  ]

  private func rows(_ store: SQLiteStore) throws -> [String] {
    try sql(store, "SELECT id, _entity, name, size, speed, hull FROM Thing ORDER BY id")
  }

  private func export(
    _ map: ImportMap,
    _ store: SQLiteStore,
    _ request: ExportRequest
  ) async throws -> (text: String, report: ExportReport) {
    let path = NSTemporaryDirectory() + UUID().uuidString
    defer { unlink(path) }
    let report = try await Exporter(map: map, store: store).run(request, to: .file(path))
    return (try String(contentsOfFile: path, encoding: .utf8), report)
  }

  /// Exports, imports into the same store and into an empty one, and compares all rows.
  private func roundTrip(
    _ fixture: ImportFixture,
    _ entity: String,
    _ format: ForeignFormat,
    count: Int,
    summary: String? = nil,
    rows: (SQLiteStore) throws -> [String]
  ) async throws -> String {
    let request = ExportRequest(entity: entity, format: format)
    let (text, report) = try await export(fixture.map, fixture.store, request)
    #expect(report.losses.isEmpty && report.issues.isEmpty, "\(report)")
    #expect(report.recordCount == count)
    let before = try rows(fixture.store)
    #expect(try await fixture.run(text).summary == "read \(count), unchanged \(count)", "\(text)")
    #expect(try rows(fixture.store) == before)
    let copy = try ImportFixture(try fixture.map.yaml())
    #expect(
      try await copy.run(text).summary == summary ?? "read \(count), inserted \(count)",
      "\(text)"
    )
    #expect(try rows(copy.store) == before)
    return text
  }

  /// A to-one whose targets stand among the members of the record, of three entities; siblings have
  /// values, containers and relationships at the same places.
  private static let embedded = """
    version: 1
    entities:
      Trip:
        unique: id
        attributes: { id: { type: int32 }, note: note }
        relationships: { by: { entity: Thing, kind: toOne, from: "." } }
      Maker: { unique: code, attributes: { code: {}, city: {} } }
      Thing:
        unique: serial
        attributes: { serial: serial }
        discriminator: { from: kind, values: { car: Car, boat: Boat } }
        relationships: { maker: { entity: Maker, kind: toOne } }
      Car:
        parent: Thing
        attributes: { doors: { from: size, type: int32 }, width: { from: { json: box.w, xml: box/w } } }
        discriminator: { from: body, values: { fast: Sport } }
        relationships: { owner: { entity: Maker, kind: toOne, from: with } }
      Sport: { parent: Car, attributes: { speed: { type: double } } }
      Boat:
        parent: Thing
        attributes: { hull: size, wide: { from: { json: box.w, xml: box/w }, type: bool }, high: { from: { json: box.h, xml: box/h } } }
        relationships: { crew: { entity: Trip, kind: toMany, from: with } }
    sources:
      json: { format: json, entity: Trip }
      ndjson: { format: ndjson, entity: Trip }
      xml: { format: xml, entity: Trip, records: /trips/trip }
    """

  /// One is nested in another that comes before it.
  private static let embeddedSummary = "read 5, inserted 4, updated 1"

  @Test(
    "Targets among the members of their record come back as what they are",
    arguments: [("json", ForeignFormat.json), ("ndjson", .ndjson), ("xml", .xml)]
  )
  func embedded(name: String, format: ForeignFormat) async throws {
    let fixture = try ImportFixture(Self.embedded)
    let feed = """
      [{"id":1,"serial":"a","kind":"car","size":4,"box":{"w":"10"},"maker":{"code":"M","city":"Oslo"},"with":{"code":"N","city":"Rome"}},
       {"id":2,"serial":"b","maker":{"code":"M"}},
       {"id":3,"note":"on foot"},
       {"id":4,"serial":"c","kind":"boat","size":"9 m","box":{"w":true,"h":"3"},"with":[{"id":5},{"id":3}]},
       {"id":5,"serial":"d","kind":"car","body":"fast","size":2,"speed":290.5}]
      """
    #expect(try await fixture.run(feed).summary == Self.embeddedSummary)
    let rows = { (store: SQLiteStore) -> [String] in
      try sql(
        store,
        """
        SELECT Trip.id, note, serial, _entity, maker.code, doors, width, hull, wide, high, speed, owner.city,
          (SELECT group_concat(crew.id) FROM Thing_crew JOIN Trip AS crew ON crew._pk = target
            WHERE Thing_crew.owner = Thing._pk)
        FROM Trip LEFT JOIN Thing ON Thing._pk = Trip."by" LEFT JOIN Maker AS maker ON maker._pk = Thing.maker
          LEFT JOIN Maker AS owner ON owner._pk = Thing.owner ORDER BY 1
        """
      )
    }
    #expect(
      try rows(fixture.store) == [
        "1|null|a|Car|M|4|10|null|null|null|null|Rome|null",
        "2|null|b|Thing|M|null|null|null|null|null|null|null|null",
        "3|on foot|null|null|null|null|null|null|null|null|null|null|null",
        "4|null|c|Boat|null|null|null|9 m|1|3|null|null|3,5",
        "5|null|d|Sport|null|2|null|null|null|null|290.5|null|null",
      ]
    )
    _ = try await roundTrip(
      fixture,
      "Trip",
      format,
      count: 5,
      summary: Self.embeddedSummary
    ) { try rows($0) }
  }

  @Test(
    "Objects of three levels stand in one document and come back as what they were",
    arguments: FamilyExportTests.kinds
  )
  func threeLevels(name: String, format: ForeignFormat) async throws {
    let fixture = try ImportFixture(Self.vehicles)
    #expect(try await fixture.run(Self.feed).counts.inserted == 5)
    #expect(try rows(fixture.store) == Self.rows)
    let text = try await roundTrip(fixture, "Thing", format, count: 5) { try rows($0) }
    switch format {
    case .json: #expect(text == Self.feed)
    case .ndjson: #expect(text.split(separator: "\n").count == 5)
    case .xml:
      #expect(
        text.contains(
          #"<thing id="4" kind="car" body="fast" maker="fe"><name>Testa</name><doors>2</doors><speed>290.5</speed></thing>"#
        )
      )
    case .csv:
      #expect(
        text.split(separator: "\r\n") == [
          "id,name,doors,kind,maker,speed,body,length", "1,plain,,,,,,", "2,Beetle,2,car,vw,,,",
          "3,Swan,,boat,,,,9 m", "4,Testa,2,car,fe,290.5,fast,", "5,,4,car,,,,",
        ]
      )
    }
  }

  @Test("A part of a family has its own part of it, by the sources of its ancestors")
  func part() async throws {
    let fixture = try ImportFixture(Self.vehicles)
    try await fixture.run(Self.feed)
    for (_, format) in Self.kinds {
      let request = ExportRequest(entity: "Car", format: format)
      let (text, report) = try await export(fixture.map, fixture.store, request)
      #expect(report.recordCount == 3 && report.losses.isEmpty && report.notices.isEmpty)
      #expect(try await fixture.run(text).summary == "read 3, unchanged 3")
    }
    let filter = try Filter(parsing: "@entity == 'Boat'")
    let boats = ExportRequest(entity: "Thing", format: .ndjson, filter: filter)
    let (text, _) = try await export(fixture.map, fixture.store, boats)
    #expect(text == #"{"id":3,"name":"Swan","hull":{"length":"9 m"},"kind":"boat"}"# + "\n")
  }

  @Test("A sub-entity with a relationship to its family has an end", arguments: ["Thing", "Part"])
  func cycle(entity: String) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Thing:
          unique: id
          attributes: { id: id, name: name }
          discriminator: { from: kind, values: { part: Part } }
          relationships: { next: { entity: Thing, kind: toOne } }
        Part:
          parent: Thing
          relationships: { inner: { entity: Thing, kind: toOne } }
      sources: { json: { format: ndjson, entity: \(entity) } }
      """
    )
    let feed = #"""
      {"id":"1","name":"a","kind":"part","inner":{"id":"2","name":"b","kind":"part"}}

      """#
    try await fixture.run(feed)
    let request = ExportRequest(entity: entity, format: .ndjson)
    let (text, _) = try await export(fixture.map, fixture.store, request)
    #expect(text.contains(#""inner":{"id":"2""#), "\(text)")
    #expect(try await fixture.run(text).summary == "read 2, unchanged 2")
  }

  @Test("Records in memory are those of JSON")
  func records() async throws {
    let fixture = try ImportFixture(Self.vehicles)
    try await fixture.run(Self.feed)
    let records = try await Exporter(map: fixture.map, store: fixture.store)
      .records(ExportRequest(entity: "Thing"))
    let feed = try ForeignValue(json: Self.feed)
    #expect(feed.record?["things"] == .array(records))
  }

  /// OpenStreetMap's shape: an abstract parent, a source and an element for each sub-entity.
  private static let elements = """
    version: 1
    entities:
      Element: { unique: [type, id], attributes: { type: $key, id: { from: "@id", type: int64 } } }
      Node: { parent: Element, attributes: { lat: { from: "@lat", type: double } } }
      Way:
        parent: Element
        relationships:
          nodes: { entity: Node, kind: toMany, ordered: true, repeats: true, key: { type: { value: node }, id: nd/@ref } }
    sources:
      nodes: { format: xml, entity: Node, records: /osm/node }
      ways: { format: xml, entity: Way, records: /osm/way }
    """

  @Test("Under an abstract parent each record has the element of its own map")
  func abstractParent() async throws {
    let map = try ImportMap(yaml: Self.elements)
    var model = map.model()
    model.entities[0].isAbstract = true
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: model)
    let fixture = try ImportFixture(Self.elements, in: store)
    let feed = """
      <?xml version="1.0" encoding="UTF-8"?>
      <osm>
      <node id="1" lat="59.9"/>
      <node id="2"/>
      <way id="1"><nd ref="2"/><nd ref="1"/><nd ref="2"/></way>
      </osm>

      """
    #expect(try await fixture.run(feed).counts.inserted == 3)
    let text = try await roundTrip(fixture, "Element", .xml, count: 3) {
      try sql($0, "SELECT type, id, _entity, lat FROM Element ORDER BY type, id")
        + sql(
          $0,
          "SELECT n.id FROM Element_nodes l JOIN Element n ON n._pk = l.target ORDER BY l.position"
        )
    }
    #expect(text == feed)
  }

  @Test("What one document cannot hold is left out, with its reason and the remedy")
  func apart() async throws {
    let yaml = """
      version: 1
      entities:
        Thing: { unique: id, attributes: { id: id } }
        Car: { parent: Thing, attributes: { doors: doors } }
        Boat: { parent: Thing }
      sources:
        things: { format: json, entity: Thing, records: /things }
        cars: { format: json, entity: Car, records: /cars }
        boats: { format: json, entity: Boat, records: /things }
      """
    let fixture = try ImportFixture(yaml)
    try await fixture.run(#"{"cars":[{"id":"2","doors":"4"}]}"#) { $0.sources = ["cars"] }
    try await fixture.run(#"{"things":[{"id":"3"}]}"#) { $0.sources = ["boats"] }
    try await fixture.run(#"{"things":[{"id":"1"}]}"#) { $0.sources = ["things"] }
    let request = ExportRequest(entity: "Thing", format: .json)
    let (text, report) = try await export(fixture.map, fixture.store, request)
    #expect(text == "{\"things\":[\n{\"id\":\"1\"}\n]}\n")
    #expect(
      report.losses == [
        "Thing: 1 of Car are left out: their records stand at /cars, others at /things, and a document"
          + " has one such place; export Car by its own name",
        "Thing: 1 of Boat are left out: the sources boats and things read the same place, each for its"
          + " own entity; export Boat by its own name",
      ]
    )
    await #expect(throws: ExportError.self) {
      _ = try await Exporter(map: fixture.map, store: fixture.store).bytes(request)
    }
    let car = try await export(
      fixture.map,
      fixture.store,
      ExportRequest(entity: "Car", format: .json)
    )
    #expect(
      car.text == "{\"cars\":[\n{\"id\":\"2\",\"doors\":\"4\"}\n]}\n" && car.report.losses.isEmpty
    )
  }

  @Test("Objects that nothing in their records tells are written and told")
  func untold() async throws {
    let yaml = """
      version: 1
      entities:
        Thing: { unique: id, attributes: { id: id } }
        Car: { parent: Thing, attributes: { doors: doors } }
        Owner:
          unique: id
          attributes: { id: id }
          relationships: { things: { entity: Thing, kind: toMany, from: things } }
      sources:
        things: { format: json, entity: Thing, records: /things }
        owners: { format: json, entity: Owner, records: /owners }
      """
    let fixture = try ImportFixture(yaml)
    try await fixture.run(#"{"owners":[{"id":"o","things":[{"id":"1"},{"id":"2"}]}],"things":[]}"#)
    try fixture.store.execute("UPDATE Thing SET _entity = 'Car', doors = '4' WHERE id = '2'")
    let things = try await export(
      fixture.map,
      fixture.store,
      ExportRequest(entity: "Thing", format: .ndjson)
    )
    #expect(things.text == "{\"id\":\"1\"}\n{\"id\":\"2\",\"doors\":\"4\"}\n")
    #expect(things.report.losses == ["Thing: no source tells objects of Car in their records"])
    let owners = try await export(
      fixture.map,
      fixture.store,
      ExportRequest(entity: "Owner", format: .ndjson)
    )
    #expect(owners.text == #"{"id":"o","things":[{"id":"1"},{"id":"2","doors":"4"}]}"# + "\n")
    #expect(
      owners.report.losses == ["Owner.things: nothing tells objects of Car in their records"]
    )
    // A map that does not have the entity writes the objects as those of the nearest one it has.
    var map = fixture.map
    map.entities.removeAll { $0.name == "Car" }
    let without = try await export(
      map,
      fixture.store,
      ExportRequest(entity: "Thing", format: .ndjson)
    )
    #expect(without.text == "{\"id\":\"1\"}\n{\"id\":\"2\"}\n")
    #expect(
      without.report.losses == [
        "objects of Car, which the map does not have, are written as Thing"
      ]
    )
  }

  private static let garage = """
    version: 1
    entities:
      Thing:
        unique: id
        attributes: { id: { from: { json: id, xml: "@id" } } }
        discriminator: { from: { json: kind, xml: "@kind" }, values: { c: Car, s: Sport } }
      Car:
        parent: Thing
        attributes: { doors: { type: int32 } }
        relationships: { parts: { entity: Part, kind: toMany, from: { json: parts, xml: part }, inverse: car } }
      Sport: { parent: Car, attributes: { speed: { type: int32 } } }
      Part:
        unique: [car, name]
        attributes: { name: { from: "." } }
        relationships: { car: { entity: Car, kind: toOne, inverse: parts } }
      Garage:
        unique: id
        attributes: { id: { from: { json: id, xml: "@id" } } }
        relationships:
          things: { entity: Thing, kind: toMany, from: { json: things, xml: thing }, ordered: true }
          best: { entity: Car, kind: toOne, from: { json: best, xml: best } }
    sources:
      json: { format: json, entity: Garage }
      xml: { format: xml, entity: Garage, records: /garages/garage }
    """

  @Test(
    "Targets, too, are written as what they are, with the links of their own",
    arguments: [ForeignFormat.json, .ndjson, .xml]
  )
  func nested(format: ForeignFormat) async throws {
    let fixture = try ImportFixture(Self.garage)
    let feed = """
      [{"id":"g","things":[{"id":"1"},{"id":"3","doors":2,"kind":"s","parts":["wing"],"speed":9},{"id":"2","doors":4,"kind":"c","parts":["a","b"]}],"best":{"id":"2"}},
      {"id":"h","things":[]}]
      """
    #expect(try await fixture.run(feed).counts.inserted == 2)
    _ = try await roundTrip(fixture, "Garage", format, count: 2) {
      try sql($0, "SELECT id, _entity, doors, speed FROM Thing ORDER BY id")
        + sql($0, "SELECT p.name, t.id FROM Part p JOIN Thing t ON t._pk = p.car ORDER BY 1")
        + sql(
          $0,
          "SELECT t.id FROM Garage_things l JOIN Thing t ON t._pk = l.target ORDER BY l.position"
        )
    }
  }

  @Test(
    "A family whose members hold members of it ends: inside of a record of it they are keys",
    arguments: [("json", ForeignFormat.json), ("ndjson", .ndjson), ("xml", .xml)]
  )
  func insideOfItself(name: String, format: ForeignFormat) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Node:
          unique: id
          attributes: { id: { from: { json: id, xml: "@id" } }, name: name }
          discriminator: { from: { json: kind, xml: "@kind" }, values: { leaf: Leaf, twig: Twig } }
          relationships:
            boss: { entity: Node, kind: toOne, from: boss }
            parts: { entity: Node, kind: toMany, from: parts, ordered: true }
        Leaf: { parent: Node }
        Twig: { parent: Node, relationships: { leaf: { entity: Leaf, kind: toOne, from: leaf } } }
      sources:
        json: { format: json, entity: Node, records: /nodes }
        xml: { format: xml, entity: Node, records: /nodes/node }
      """
    )
    let feed = """
      {"nodes":[{"id":"1","name":"one","parts":[{"id":"3"},{"id":"2"}]},
      {"id":"2","name":"two","kind":"leaf","boss":{"id":"1"},"parts":[{"id":"3"}]},
      {"id":"3","name":"three","kind":"twig","boss":{"id":"2"},"parts":[],"leaf":{"id":"2","name":"two"}}]}
      """
    func rows(_ store: SQLiteStore) throws -> [String] {
      try sql(
        store,
        """
        SELECT a.id, a._entity, a.name, b.id, l.id FROM Node a
        LEFT JOIN Node b ON b._pk = a.boss LEFT JOIN Node l ON l._pk = a.leaf ORDER BY a.id
        """
      )
        + sql(
          store,
          """
          SELECT a.id, b.id FROM Node_parts l JOIN Node a ON a._pk = l.owner
          JOIN Node b ON b._pk = l.target ORDER BY a.id, l.position
          """
        )
    }
    try await fixture.run(feed)
    let stored = [
      "1|Node|one|null|null", "2|Leaf|two|1|null", "3|Twig|three|2|2", "1|3", "1|2", "2|3",
    ]
    #expect(try rows(fixture.store) == stored)
    let request = ExportRequest(entity: "Node", format: format)
    let (text, report) = try await export(fixture.map, fixture.store, request)
    #expect(report.losses.isEmpty && report.recordCount == 3, "\(report)")
    #expect(try await fixture.run(text).summary == "read 3, unchanged 3", "\(text)")
    let copy = try ImportFixture(try fixture.map.yaml())
    try await copy.run(text)
    #expect(try rows(copy.store) == stored, "\(text)")
  }

  @Test(
    "Entities that hold each other ever deeper, or in ever more ways, are refused",
    arguments: [(64, 1, nil), (65, 1, "more than 64 deep"), (12, 2, "at more than 4000 places")]
  )
  func ever(depth: Int, width: Int, excess: String?) throws {
    let entities = (0..<depth).map { index in
      let links = (0..<width).map { "r\($0): { entity: E\(index + 1), kind: toOne, from: r\($0) }" }
      let relationships = links.joined(separator: ", ")
      return
        "  E\(index): { unique: id, attributes: { id: id }, relationships: { \(relationships) } }"
    }
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
        \(entities.joined(separator: "\n"))
          E\(depth): { unique: id, attributes: { id: id } }
        sources: { s: { format: json, entity: E0 } }
        """
    )
    #expect(
      map.exportOutlook().losses
        == (excess.map {
          ["E0 cannot be exported as json: A record of E0 would have others inside \($0)."]
        } ?? [])
    )
  }

  @Test(
    "An attribute at the place of the word has to hold it",
    arguments: [("1", "'c'", true), ("2", "'x'", true), ("2", "NULL", true), ("1", "NULL", false)]
  )
  func words(id: String, value: String, isFault: Bool) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Thing:
          unique: id
          attributes: { id: id, kind: kind }
          discriminator: { from: kind, values: { c: Car, k: Car, t: Thing } }
        Car: { parent: Thing, attributes: { doors: doors } }
      sources: { json: { format: json, entity: Thing } }
      """
    )
    let feed = #"[{"id":"1","kind":"t"},{"id":"2","kind":"k","doors":"4"}]"#
    try await fixture.run(feed)
    let exporter = Exporter(map: fixture.map, store: fixture.store)
    let request = ExportRequest(entity: "Thing", format: .ndjson)
    let bytes = try await exporter.bytes(request)
    #expect(try await fixture.run(String(decoding: bytes, as: UTF8.self)).counts.unchanged == 2)
    try fixture.store.execute("UPDATE Thing SET kind = \(value) WHERE id = '\(id)'")
    if isFault {
      let error = await #expect(throws: ExportError.self) { _ = try await exporter.bytes(request) }
      #expect(error?.code == .value && error?.message.hasPrefix("kind of ") == true)
    } else {
      _ = try await exporter.bytes(request)
    }
  }

  @Test("Elements of any name have the word of their entity as their name")
  func named() async throws {
    let yaml = """
      version: 1
      entities:
        Element:
          unique: id
          attributes: { id: { from: "@id" } }
          discriminator: { from: $key, values: { node: Node, way: Way } }
        Node: { parent: Element, attributes: { lat: "@lat" } }
        Way: { parent: Element }
      sources: { xml: { format: xml, entity: Element, records: "/osm/*" } }
      """
    let fixture = try ImportFixture(yaml)
    let feed = """
      <?xml version="1.0" encoding="UTF-8"?>
      <osm>
      <node id="1" lat="5"/>
      <way id="2"/>
      </osm>

      """
    #expect(try await fixture.run(feed).counts.inserted == 2)
    let text = try await roundTrip(fixture, "Element", .xml, count: 2) {
      try sql($0, "SELECT id, _entity, lat FROM Element ORDER BY id")
    }
    #expect(text == feed)
  }
}
