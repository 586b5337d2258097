import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// What exports say of themselves where they do not come back, however they are made.
@Suite("Exports that are read back") struct ReadBackTests {
  /// An attribute inside of another one: the wider one is written.
  private static let photos = """
    version: 1
    entities:
      Photo:
        unique: id
        attributes:
          id: { type: int32 }
          width: { from: sizes.w, type: int32 }
          sizes: { type: json }
          owner: { from: owner_id }
          ownerKey: { from: owner_id }
          pin: { from: sizes.pin, sensitive: true }
    sources: { json: { format: json, entity: Photo } }
    """

  private func photos(_ change: String = "") async throws -> ImportFixture {
    let fixture = try ImportFixture(Self.photos)
    try await fixture.run(#"[{"id":1,"sizes":{"w":5},"owner_id":"a"}]"#)
    if !change.isEmpty { try fixture.store.execute(change) }
    return fixture
  }

  @Test("A place in a list that is written comes back with the list")
  func places() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        O: { unique: n, attributes: { n: n }, relationships: { lines: { entity: L, kind: toMany, inverse: o, ordered: true, onDelete: cascade } } }
        L: { unique: [o, pos], attributes: { pos: { from: $index, type: int32 }, sku: sku } }
      sources: { json: { format: json, entity: O } }
      """
    )
    try await fixture.run(#"[{"n":"1","lines":[{"sku":"a"},{"sku":"b"},{"sku":"c"}]}]"#)
    let exporter = Exporter(map: fixture.map, store: fixture.store)
    #expect(fixture.map.exportOutlook().losses.isEmpty)
    let export = try await exporter.bytes(ExportRequest())
    #expect(try await fixture.run(String(decoding: export, as: UTF8.self)).counts.unchanged == 1)
    // Without the one before it stands elsewhere.
    try fixture.store.execute("DELETE FROM L WHERE pos = 1")
    let error = await #expect(throws: ExportError.self) {
      _ = try await exporter.bytes(ExportRequest())
    }
    #expect(error?.code == .value && error?.message.contains("pos of") == true)
  }

  @Test(
    "Plain values come back with their place, or with the record around",
    arguments: ["place: { from: $index, type: int32 }", "place: $parent.id"]
  )
  func plainValues(place: String) async throws {
    let feed = #"{"id":"1","tags":["a","b"]}"# + "\n"
    let text = try await exportCircle(
      """
      version: 1
      entities:
        T: { unique: id, attributes: { id: id }, relationships: { tags: { entity: Tag, kind: toMany, from: tags, inverse: t, ordered: true } } }
        Tag: { unique: [t, place, text], attributes: { \(place), text: { from: "." } } }
      sources: { j: { format: json, entity: T } }
      """,
      feed,
      ExportRequest(format: .ndjson)
    )
    #expect(text == feed)
  }

  @Test("What is read from the record around comes back with it", arguments: [1, 2])
  func parents(change: Int) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        O: { unique: n, attributes: { n: n }, relationships: { lines: { entity: L, kind: toMany, inverse: o } } }
        L: { unique: [order, sku], attributes: { order: $parent.n, sku: sku } }
      sources: { json: { format: json, entity: O } }
      """
    )
    try await fixture.run(#"[{"n":"1","lines":[{"sku":"a"},{"sku":"b"}]},{"n":"2","lines":[]}]"#)
    let exporter = Exporter(map: fixture.map, store: fixture.store)
    #expect(fixture.map.exportOutlook().losses.isEmpty)
    let export = try await exporter.bytes(ExportRequest())
    #expect(try await fixture.run(String(decoding: export, as: UTF8.self)).counts.unchanged == 2)
    // It is another object's, or says what the record around does not.
    try fixture.store.execute(
      change == 1
        ? "UPDATE L SET \"order\" = '3' WHERE sku = 'a'"
        : "UPDATE L SET o = (SELECT _pk FROM O WHERE n = '2') WHERE sku = 'a'"
    )
    let error = await #expect(throws: ExportError.self) {
      _ = try await exporter.bytes(ExportRequest())
    }
    #expect(error?.code == .value && error?.message.contains("order of") == true)
  }

  @Test("A to-one whose members are among those of the row comes back, of any entity, or none")
  func rows() async throws {
    let map = """
      version: 1
      entities:
        Player: { unique: id, attributes: { id: id }, relationships: { team: { entity: Team, kind: toOne, from: "." } } }
        Team:
          unique: id
          attributes: { id: team_id, name: team_name }
          relationships: { city: { entity: City, kind: toOne, key: { name: team_city }, onUnresolved: stub } }
          discriminator: { from: kind, values: { club: Club } }
        Club: { parent: Team, attributes: { founded: { from: team_founded, type: int32 } } }
        City: { unique: name, attributes: { name: {} } }
      sources: { csv: { format: csv, entity: Player } }
      """
    let fixture = try ImportFixture(map)
    let rows =
      "id,team_id,team_name,team_city,kind,team_founded\r\n" + "1,7,Reds,Ulm,club,1899\r\n"
      + "2,8,,,,\r\n" + "3,,,,,\r\n"
    func run(_ text: String, by fixture: ImportFixture) async throws -> ImportReport {
      try await fixture.run { $0.inputs = [.bytes(Array(text.utf8), name: "players.csv")] }
    }
    _ = try await run(rows, by: fixture)
    #expect(fixture.map.exportOutlook().losses.isEmpty)
    let exporter = Exporter(map: fixture.map, store: fixture.store)
    let export = String(
      decoding: try await exporter.bytes(ExportRequest(format: .csv)),
      as: UTF8.self
    )
    #expect(try await run(export, by: fixture).counts.unchanged == 3, "\(export)")
    let lines = export.split(separator: "\r\n").map {
      $0.split(separator: ",", omittingEmptySubsequences: false).count
    }
    #expect(lines.count == 4 && Set(lines).count == 1, "\(export)")
    let other = try ImportFixture(map)
    _ = try await run(export, by: other)
    #expect(
      try await Exporter(map: other.map, store: other.store).bytes(ExportRequest(format: .csv))
        == Array(export.utf8)
    )
  }

  @Test("Records in memory are read back")
  func records() async throws {
    let same = try await photos()
    let exporter = Exporter(map: same.map, store: same.store)
    #expect(try await exporter.records(ExportRequest()).count == 1)
    let changed = try await photos("UPDATE Photo SET width = 7")
    let lossy = Exporter(map: changed.map, store: changed.store)
    let error = await #expect(throws: ExportError.self) {
      _ = try await lossy.records(ExportRequest())
    }
    #expect(error?.code == .value && error?.message.contains("width of Photo 1") == true)
    #expect(try await lossy.records(ExportRequest(isLossy: true)).count == 1)
  }

  @Test("Live objects are read back by their mapper, without its closures")
  func objects() async throws {
    let model = try ImportMap(yaml: Self.photos).model()
    let stack = try Stack(model, at: .inMemory)
    try stack.mappers.register(
      try Mapper(for: "Photo", in: model) {
        Map("id", to: "id")
        Map("sizes", to: "sizes")
        Map("sizes.w", to: "width")
        Map("who", to: "owner", convert: { .text($0.string ?? "") }, export: { _ in .integer(1) })
      }
    )
    let width = try await stack.write { context in
      let photo = try context.import(["id": 1, "sizes": ["w": 5], "who": "a"], into: "Photo")
      let record = try context.export(photo)
      #expect(record["sizes"]?.record?["w"] == .integer(5) && record["who"] == .integer(1))
      photo["width"] = 7
      let error = #expect(throws: ExportError.self) { _ = try context.export(photo) }
      #expect(error?.code == .value && error?.message.contains("width of Photo 1") == true)
      let lossy = try context.export(photo, ExportRequest(isLossy: true))
      return lossy["sizes"]?.record?["w"]
    }
    #expect(width == .integer(5))
  }

  @Test("Masked exports say that they cannot be imported, and what else does not come back")
  func masked() async throws {
    let fixture = try await photos("UPDATE Photo SET width = 7, pin = '99'")
    let path = NSTemporaryDirectory() + UUID().uuidString
    defer { unlink(path) }
    let request = ExportRequest(format: .json).with { $0.masksSensitive = true }
    let report = try await Exporter(map: fixture.map, store: fixture.store)
      .run(request, to: .file(path))
    #expect(report.issues.map(\.attribute) == ["width"])
    #expect(
      report.notices == ["sensitive values are masked: what is exported cannot be imported"]
    )
  }

  @Test("CSV of a map without a CSV source is read back by the names that it got")
  func columns() async throws {
    let path = NSTemporaryDirectory() + UUID().uuidString
    defer { unlink(path) }
    for (change, issues) in [("", []), ("UPDATE Photo SET ownerKey = 'b'", ["ownerKey"])] {
      let fixture = try await photos(change)
      try fixture.store.execute("UPDATE Photo SET sizes = NULL, width = NULL")
      let report = try await Exporter(map: fixture.map, store: fixture.store)
        .run(ExportRequest(format: .csv), to: .file(path))
      #expect(report.issues.map(\.attribute) == issues)
      #expect(
        report.notices == [
          "the map has no CSV source of Photo: what is exported cannot be imported by it"
        ]
      )
    }
  }

  @Test("Local names come back by a map without paths, and the export says that this one has some")
  func local() async throws {
    let fixture = try await photos("UPDATE Photo SET width = 7, ownerKey = 'b'")
    let path = NSTemporaryDirectory() + UUID().uuidString + ".json"
    defer { unlink(path) }
    let report = try await Exporter(map: fixture.map, store: fixture.store)
      .run(ExportRequest(style: ExportStyle(names: .local)), to: .file(path))
    #expect(report.issues.isEmpty && report.losses.isEmpty)
    #expect(
      report.notices == ["the names are those of the attributes: this map need not read them"]
    )
    var map = fixture.map
    for index in map.entities[0].attributes.indices { map.entities[0].attributes[index].from = nil }
    let again = try await Importer(map: map, store: fixture.store)
      .run(ImportRequest([.file(path)]))
    #expect(again.summary == "read 1, unchanged 1")
  }

  @Test(
    "Links of a target that stands among its owner's members are written there and come back",
    arguments: [ForeignFormat.json, .ndjson, .xml]
  )
  func embedded(format: ForeignFormat) async throws {
    let yaml = """
      version: 1
      entities:
        Person:
          unique: id
          attributes: { id: id }
          relationships:
            address: { entity: Address, kind: toOne, from: ".", inverse: person }
        Address:
          unique: street
          attributes: { street: street, zip: place.zip }
          relationships:
            person: { entity: Person, kind: toOne, inverse: address }
            city: { entity: City, kind: toOne, from: place.city }
            country: { entity: Country, kind: toOne, key: { code: country }, onUnresolved: stub }
            tags: { entity: Tag, kind: toMany, from: tags }
            owner: { entity: Owner, kind: toOne, from: "." }
        City: { unique: name, attributes: { name: name } }
        Country: { unique: code, attributes: { code: code } }
        Tag: { unique: name, attributes: { name: { from: "." } } }
        Owner:
          unique: name
          attributes: { name: owner }
          relationships: { marks: { entity: Tag, kind: toMany, from: marks } }
      sources:
        json: { format: json, entity: Person }
        xml: { format: xml, entity: Person, records: /people/person }
      """
    let fixture = try ImportFixture(yaml)
    let feed = """
      [{"id":"1","street":"a","place":{"zip":"9","city":{"name":"Oslo"}},"country":"NO","tags":["x","y"],"owner":"o","marks":["m"]},
      {"id":"2"},{"id":"3","street":"b","tags":[]}]
      """
    #expect(try await fixture.run(feed).counts.inserted == 3)
    let path = NSTemporaryDirectory() + UUID().uuidString
    defer { unlink(path) }
    for nulls in [ExportStyle.Nulls.omit, .write] {
      let report = try await Exporter(map: fixture.map, store: fixture.store)
        .run(
          ExportRequest(entity: "Person", format: format, style: ExportStyle(nulls: nulls)),
          to: .file(path)
        )
      #expect(report.losses.isEmpty && report.issues.isEmpty, "\(report)")
      let text = try String(contentsOfFile: path, encoding: .utf8)
      #expect(try await fixture.run(text).summary == "read 3, unchanged 3", "\(text)")
      let copy = try ImportFixture(yaml)
      try await copy.run(text)
      for query in [
        "SELECT p.id, a.street, c.name, n.code, o.name FROM Person p LEFT JOIN Address a ON a._pk = p.address LEFT JOIN City c ON c._pk = a.city LEFT JOIN Country n ON n._pk = a.country LEFT JOIN Owner o ON o._pk = a.owner ORDER BY 1",
        "SELECT t.name FROM Address_tags l JOIN Tag t ON t._pk = l.target ORDER BY 1",
        "SELECT t.name FROM Owner_marks l JOIN Tag t ON t._pk = l.target ORDER BY 1",
      ] {
        #expect(try sql(copy.store, query) == sql(fixture.store, query), "\(query): \(text)")
      }
    }
  }

  @Test("Stubs are a loss, those of the request only")
  func stubs() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes: { id: id }
          relationships: { boss: { entity: P, kind: toOne, key: { id: boss }, onUnresolved: stub } }
      sources: { json: { format: json, entity: P } }
      """
    )
    try await fixture.run(#"[{"id":"1","boss":"x"},{"id":"2","boss":"y"}]"#)
    let path = NSTemporaryDirectory() + UUID().uuidString
    defer { unlink(path) }
    for (filter, losses) in [
      (nil, ["P: 2 stubs are left out: only the key is known"]),
      ("id <= '2'", []), ("id >= 'y'", ["P: 1 stub is left out: only the key is known"]),
    ] {
      let request = ExportRequest(format: .json, filter: try filter.map { try Filter(parsing: $0) })
      let report = try await Exporter(map: fixture.map, store: fixture.store)
        .run(request, to: .file(path))
      #expect(report.losses == losses && report.notices.isEmpty)
    }
  }

  @Test(
    "Two lists that name each other and are both read are both written",
    arguments: [true, false]
  )
  func bareLists(isMany: Bool) async throws {
    let yaml = """
      version: 1
      entities:
        A:
          unique: id
          attributes: { id: id, name: name }
          relationships: { bs: { entity: B, kind: toMany, inverse: as } }
        B:
          unique: id
          attributes: { id: id, name: name }
          relationships: { as: { entity: A, kind: \(isMany ? "toMany" : "toOne"), inverse: bs } }
      sources: { a: { format: json, entity: A, records: /a }, b: { format: json, entity: B, records: /b } }
      """
    let fixture = try ImportFixture(yaml)
    try await fixture.run(
      #"{"a":[{"id":"1","bs":[{"id":"x","name":"X"},{"id":"y"}]},{"id":"2","bs":[]}],"b":[]}"#
    )
    let exporter = Exporter(map: fixture.map, store: fixture.store)
    let bytes = try await exporter.bytes(ExportRequest(entity: "A", format: .json))
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(
      text == """
        {"a":[
        {"id":"1","bs":[{"id":"x"},{"id":"y"}]},
        {"id":"2","bs":[]}
        ]}

        """
    )
    #expect(try await fixture.run(text).counts.unchanged == 2)
    #expect(try fixture.rows("B", ["id", "name"]) == ["x|X", "y|null"])
  }
}
