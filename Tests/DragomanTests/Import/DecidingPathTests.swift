import TestSupport
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// The paths that decide what becomes of a record, and every place of a map where a path may stand.
@Suite("Paths in every place of a map") struct DecidingPathTests {
  private func fixture(
    discriminator: String,
    attributes: String = "",
    records: String = "."
  ) throws -> ImportFixture {
    try ImportFixture(
      """
      version: 1
      entities:
        Thing:
          unique: id
          discriminator: { from: "\(discriminator)", values: { a: A, b: B } }
          attributes: { id: { type: int64 }\(attributes) }
        A: { parent: Thing, attributes: { x: { type: int64 } } }
        B: { parent: Thing, attributes: { y: { type: int64 } } }
      sources: { s: { format: json, entity: Thing, records: "\(records)" } }
      """
    )
  }

  private func entities(_ store: SQLiteStore) throws -> [String] {
    try sql(store, "SELECT id, _entity FROM Thing ORDER BY id")
  }

  @Test(
    "A discriminator may stand wherever a value may",
    arguments: [
      ("kind", #"[{"id":1,"kind":"a"},{"id":2,"kind":"b"}]"#, "."),
      ("meta.kind", #"[{"id":1,"meta":{"kind":"a"}},{"id":2,"meta.kind":"b"}]"#, "."),
      ("kinds[1]", #"[{"id":1,"kinds":["b","a"]},{"id":2,"kinds":["a","b"]}]"#, "."),
      (
        "/m/0/0/0/0/0", #"[{"id":1,"m":[[[[["a"]]]]]},{"id":2,"m":{"0":{"0":{"0":{"0":["b"]}}}}}]"#,
        "."
      ),
      ("$key", #"{"a":{"id":1},"b":{"id":2}}"#, "/*"),
    ]
  )
  func discriminators(path: String, feed: String, records: String) async throws {
    let fixture = try fixture(discriminator: path, records: records)
    let report = try await fixture.run(feed)
    #expect(report.summary == "read 2, inserted 2")
    #expect(try fixture.rows("A", ["id"]) == ["1"])
    #expect(try fixture.rows("B", ["id"]) == ["2"])
  }

  @Test("A discriminator may stand before the records, and tombstones too")
  func rootDiscriminators() async throws {
    let fixture = try fixture(discriminator: "$root.kind", records: "things")
    try await fixture.run(
      #"{"kind":"a","things":[{"id":1}]}"#,
      #"{"kind":"b","things":[{"id":2}]}"#
    )
    #expect(try fixture.rows("A", ["id"]) == ["1"])
    #expect(try fixture.rows("B", ["id"]) == ["2"])
    let gone = try ImportFixture(
      """
      version: 1
      entities:
        Thing: { unique: id, deleteWhen: { from: $root.mode, equals: delete }, attributes: { id: { type: int64 } } }
      sources: { s: { format: json, entity: Thing, records: things } }
      """
    )
    try await gone.run(#"{"mode":"add","things":[{"id":1},{"id":2}]}"#)
    let report = try await gone.run(#"{"mode":"delete","things":[{"id":1}]}"#)
    #expect(report.summary == "read 1, deleted 1")
    #expect(try gone.rows("Thing") == ["2"])
  }

  @Test("`$parent` in the discriminator of a nested record is the record around it")
  func parentDiscriminators() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Order:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { things: { entity: Thing, kind: toMany, from: things, inverse: order } }
        Thing:
          unique: id
          discriminator: { from: $parent.kind, values: { a: A, b: B } }
          attributes: { id: { type: int64 }, of: { type: int64, from: $parent.id } }
          relationships: { order: { entity: Order, kind: toOne, from: { json: [] }, inverse: things } }
        A: { parent: Thing }
        B: { parent: Thing }
      sources: { s: { format: json, entity: Order } }
      """
    )
    let feed = #"""
      [{"id":1,"kind":"a","things":[{"id":10,"kind":"b"}]},
       {"id":2,"kind":"b","things":[{"id":20,"kind":"a"},{"id":21}]},
       {"id":3,"things":[{"id":30,"kind":"a"}]}]
      """#
    try await fixture.run(feed)
    #expect(try fixture.rows("A", ["id", "of"]) == ["10|1"])
    #expect(try fixture.rows("B", ["id", "of"]) == ["20|2", "21|2"])
    #expect(try fixture.rows("Thing", ["id"]).sorted() == ["10", "20", "21", "30"])
  }

  @Test("What a nested sub-entity was nested in is forgotten with it")
  func staleParents() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Thing:
          unique: id
          discriminator: { from: kind, values: { a: A } }
          attributes: { id: { type: int64 }, of: { type: int64, from: $parent.id } }
        A:
          parent: Thing
          relationships: { part: { entity: Thing, kind: toOne, from: part } }
      sources: { s: { format: json, entity: Thing } }
      """
    )
    // The second batch is smaller than the place of the parent in the first one.
    let filler = (10..<4200).map { #"{"id":\#($0)}"# }.joined(separator: ",")
    let feed = #"[\#(filler),{"id":1,"kind":"a","part":{"id":2,"kind":"a"}},{"id":3,"kind":"a"}]"#
    try await fixture.run(feed, #"[{"id":4,"kind":"a"}]"#)
    #expect(
      try sql(fixture.store, "SELECT id, \"of\" FROM Thing WHERE id < 10 ORDER BY id")
        == ["1|null", "2|1", "3|null", "4|null"]
    )
  }

  @Test("A family of three levels is told level by level, nested or not")
  func families() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Box: { unique: id, attributes: { id: { type: int64 } }, relationships: { pet: { entity: Pet, kind: toOne, from: pet } } }
        Pet: { unique: id, discriminator: { from: kind, values: { dog: Dog } }, attributes: { id: { type: int64 } } }
        Dog: { parent: Pet, discriminator: { from: breed, values: { pug: Pug } } }
        Pug: { parent: Dog }
      sources:
        boxes: { format: json, entity: Box, records: boxes }
        pets: { format: json, entity: Pet, records: pets }
      """
    )
    let pet = #""kind":"dog","breed":"pug""#
    try await fixture.run(#"{"boxes":[{"id":1,"pet":{"id":1,\#(pet)}}],"pets":[{"id":2,\#(pet)}]}"#)
    #expect(try fixture.rows("Pug", ["id"]) == ["1", "2"])
  }

  @Test(
    "A value that decides and comes twice refuses its record",
    arguments: [
      "discriminator: { from: kind, values: { a: A } }", "deleteWhen: { from: kind, equals: a }",
    ]
  )
  func repeatedCriteria(rule: String) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Thing: { unique: id, \(rule), attributes: { id: { type: int64 } } }
        A: { parent: Thing }
      sources: { s: { format: json, entity: Thing } }
      """
    )
    let report = try await fixture.run(#"[{"id":1,"kind":"b","kind":"a"}]"#)
    #expect(report.issueSummary == ["value.repeated 1"])
  }

  @Test(
    "A wildcard where one value decides is a fault of the map, with its place",
    arguments: [
      ("discriminator: { from: \"kinds[*]\", values: { a: A } }", "discriminator.from"),
      ("discriminator: { from: kinds.*, values: { a: A } }", "discriminator.from"),
      ("deleteWhen: { from: \"gone[*].at\", equals: x }", "deleteWhen.from"),
    ]
  )
  func wildcards(rule: String, place: String) throws {
    let yaml = """
      version: 1
      entities:
        Thing: { unique: id, \(rule), attributes: { id: { type: int64 } } }
        A: { parent: Thing }
      sources: { s: { format: json, entity: Thing } }
      """
    let faults = #expect(throws: MapFaults.self) { try ImportMap(yaml: yaml) }
    #expect(faults?.faults.map(\.code) == [.path])
    #expect(faults?.faults.first?.place == "entities.Thing.\(place)")
    #expect(faults?.faults.first?.rule == "name the one that is meant: a[0], a.name")
  }

  private static let steps: [ForeignPath.Step] = [
    .member("m", namespace: nil), .member("", namespace: "urn:x"), .attribute("a", namespace: nil),
    .index(0), .index(-1), .index(.max), .all, .anyMember, .text,
    .having(.init(name: "a")), .having(.init(name: "a", value: "x", isNegated: true)),
  ]

  /// Every path of at most two steps from every root.
  private static let paths: [ForeignPath] = {
    let roots: [ForeignPath.Root] = [
      .record, .parent, .document, .index, .file, .fileName, .fileStem, .line, .key,
    ]
    let short = [[]] + steps.map { [$0] }
    let long = short + steps.flatMap { first in steps.map { [first, $0] } }
    return roots.flatMap { root in
      (root == .record ? long : short).flatMap { way in
        (way.contains(.index(0)) ? ["p", "/p"] : ["p"]).map {
          ForeignPath(root: root, steps: way, text: $0)
        }
      }
    }
  }()

  private enum Place: CaseIterable {
    case records, attribute, json, discriminator, deleteWhen, nested, many, key, keys
  }

  private func map(_ path: ForeignPath, at place: Place, _ format: ForeignFormat) -> ImportMap {
    let paths = ForeignPaths(json: [path], xml: [path], csv: [path])
    let id = ForeignPaths(
      json: [ForeignPath(steps: [.member("id", namespace: nil)], text: "id")],
      xml: [ForeignPath(steps: [.member("id", namespace: nil)], text: "id")],
      csv: [ForeignPath(steps: [.member("id", namespace: nil)], text: "id")]
    )
    var thing = EntityMap(name: "Thing", attributes: [AttributeMap(name: "id", from: id)])
    thing.uniqueKeys = [["id"]]
    var records = ForeignPath(
      steps: [.member("r", namespace: nil), .member("t", namespace: nil)],
      text: "/r/t"
    )
    switch place {
    case .records: records = path
    case .attribute: thing.attributes.append(AttributeMap(name: "v", from: paths))
    case .json: thing.attributes.append(AttributeMap(name: "v", from: paths, type: .json))
    case .discriminator: thing.discriminator = .init(from: paths, values: ["a": "Part"])
    case .deleteWhen: thing.deleteWhen = .init(from: paths, equals: "a")
    case .nested, .many:
      let kind: Relationship.Kind = place == .many ? .toMany : .toOne
      thing.relationships = [
        RelationshipMap(name: "part", entity: "Thing", kind: kind, from: paths)
      ]
    case .key, .keys:
      let kind: Relationship.Kind = place == .keys ? .toMany : .toOne
      thing.relationships = [
        RelationshipMap(
          name: "part",
          entity: "Thing",
          kind: kind,
          key: ["id": .path(paths, split: nil)]
        )
      ]
    }
    let part = EntityMap(name: "Part", parent: "Thing", attributes: [])
    let source = SourceMap(name: "s", format: format, entity: "Thing", records: records)
    return ImportMap(entities: [thing, part], sources: [source])
  }

  @Test(
    "No path that code can make ends the process, wherever it stands",
    arguments: [ForeignFormat.json, .xml, .csv]
  )
  func everyPath(format: ForeignFormat) async throws {
    let member = #"{"id":"1","m":[{"m":"a","":"a"},["a"],"a",null],"0":{"m":"a"},"a":"x"}"#
    let element = "<t a='x'><id>1</id><m>a</m><m a='a'><m>a</m></m></t>"
    let feed =
      switch format {
      case .json, .ndjson: #"{"m":"a","r":{"t":[\#(member),{"id":"2","m":\#(member)}]}}"#
      case .xml: "<r>\(element)\(element)</r>"
      case .csv: "id,m,a\n1,a,b\n2,b,a\n"
      }
    // Every path in a third of the places, and in all of them where seeds are drawn.
    for (turn, place) in Place.allCases.enumerated() {
      let store = try SQLiteStore(at: .inMemory)
      for (number, path) in Self.paths.enumerated()
      where Seeds.areDrawn || (turn + number).isMultiple(of: 3) {
        let map = map(path, at: place, format)
        let request = ImportRequest([.bytes(Array(feed.utf8), name: "feed")])
        // An error is as good as a success here.
        _ = try? await Importer(map: map, store: store).run(request)
        _ = try? await Exporter(map: map, store: store).bytes(
          ExportRequest(entity: "Thing", format: format)
        )
        _ = map.validate() + map.lint()
      }
    }
  }

  @Test("A list of paths may mix lists and dictionaries")
  func mixedLists() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { rates: { entity: Rate, kind: toMany, from: [rates.*, "list[*]", plain, "groups[*].rates[*]"] } }
        Rate: { unique: code, attributes: { code: { type: string } } }
      sources: { s: { format: json, entity: P } }
      """
    )
    let feed = #"""
      [{"id":1,"rates":{"x":{"code":"a"},"y":{"code":"b"}}},{"id":2,"list":[{"code":"c"}]},
       {"id":3,"plain":[{"code":"d"}]},
       {"id":4,"groups":[{"rates":[{"code":"e"}]},{"rates":[{"code":"f"},{"code":"g"}]}]}]
      """#
    let report = try await fixture.run(feed)
    #expect(report.issues.isEmpty)
    #expect(try fixture.rows("Rate") == ["a", "b", "c", "d", "e", "f", "g"])
  }

  @Test("A list of three hundred paths is tried to its end; one of thousands is a fault")
  func longLists() async throws {
    let paths = (0..<300).map { "a.m\($0)" }
    let fixture = try ImportFixture(attributes: "v: { from: [\(paths.joined(separator: ", "))] }")
    try await fixture.run(#"[{"id":1,"a":{"m299":"x"}},{"id":2,"a":{"m299":"x","m298":"y"}}]"#)
    #expect(try fixture.rows() == ["1|x", "2|y"])
    let path = ForeignPath(steps: [.member("a", namespace: nil)], text: "a")
    let long = ForeignPaths(json: Array(repeating: path, count: 1001))
    let map = ImportMap(entities: [
      EntityMap(name: "P", attributes: [AttributeMap(name: "v", from: long)])
    ])
    #expect(map.validate().map(\.code) == [.limit])
  }
}
