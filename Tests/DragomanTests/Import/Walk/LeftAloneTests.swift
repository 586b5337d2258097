import DragomanGraph
import Testing

@testable import Dragoman

/// Records that leave their object alone, or delete it, in every way to import.
@Suite("Records that leave objects alone, and tombstones") struct LeftAloneTests {
  @Test(
    "A nested record that is older is left alone with everything in it",
    arguments: Way.allCases
  )
  func older(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Order:
        unique: no
        attributes: { no: { type: int64 } }
        relationships: { customer: { entity: Customer, kind: toOne, from: customer } }
      Customer:
        unique: id
        version: rev
        attributes: { id: { type: int64 }, rev: { type: int64 }, name: name }
        relationships:
          city: { entity: City, kind: toOne, from: city }
          address: { entity: Address, kind: toOne, from: address }
          others: { entity: Address, kind: toMany, from: others }
      City: { unique: id, attributes: { id: { type: int64 }, name: name } }
      Address: { attributes: { street: street } }
      """
    )
    func order(_ number: Int64, rev: Int64, _ word: String) -> ForeignValue {
      let customer: ForeignValue = [
        "id": 1, "rev": .integer(rev), "name": .string(word),
        "city": ["id": 1, "name": .string(word)], "address": ["street": .string(word)],
        "others": [["street": .string(word)]],
      ]
      return ["no": .integer(number), "customer": customer]
    }
    try await fixture.run("Order", [order(1, rev: 5, "new")], by: way)
    let report = try await fixture.run("Order", [order(2, rev: 4, "old")], by: way)
    #expect(report.summary == "read 1, inserted 1")
    #expect(report.entitySummary == ["Order: 1 inserted"])
    #expect(try fixture.rows("SELECT name FROM City") == ["new"])
    #expect(try fixture.rows("SELECT street FROM Address") == ["new", "new"])
    #expect(
      try fixture.rows(
        "SELECT o.no, c.name FROM \"Order\" o JOIN Customer c ON c._pk = o.customer ORDER BY 1"
      ) == ["1|new", "2|new"]
    )
  }

  @Test(
    "A record that leaves its object alone is not judged by what is nested in it",
    arguments: Way.allCases
  )
  func notJudged(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Order:
        unique: no
        version: rev
        attributes: { no: { type: int64 }, rev: { type: int64 } }
        relationships:
          customer: { entity: Customer, kind: toOne, from: customer }
          others: { entity: Customer, kind: toMany, from: others }
      Customer:
        unique: id
        attributes: { id: { type: int64 }, name: { required: true }, note: note }
      """
    )
    let whole: ForeignValue = ["no": 1, "rev": 5, "customer": ["id": 1, "name": "Ann"]]
    try await fixture.run("Order", [whole], by: way)
    // Nobody has 2, which could not be made of this.
    let half: ForeignValue = ["id": 2, "note": "n"]
    func orders(_ revision: Int64) -> [ForeignValue] {
      [
        ["no": 1, "rev": .integer(revision), "customer": half],
        ["no": 1, "rev": .integer(revision), "others": [half]],
      ]
    }
    let older = try await fixture.run("Order", orders(4), by: way)
    #expect(older.summary == "read 2, skipped 2")
    let ignored = try await fixture.run("Order", orders(6), by: way, mode: .ignore)
    #expect(ignored.summary == "read 2, skipped 2")
    let newer = try await fixture.run("Order", orders(6), by: way)
    #expect(newer.summary == "read 2, rejected 2")
    // Where objects are to be new, one that is there refuses them, whatever its version and what is nested.
    let made: [ForeignValue] = [
      ["no": 1, "rev": 4, "customer": ["id": 1, "name": "Ann"]], ["no": 1, "rev": 4],
    ]
    let inserted = try await fixture.run("Order", made, by: way, mode: .insert)
    #expect(inserted.summary == "read 2, rejected 2")
    #expect(try fixture.rows("SELECT id, name FROM Customer") == ["1|Ann"])
    #expect(try fixture.rows("SELECT no, rev FROM \"Order\"") == ["1|5"])
  }

  private static let lines = """
    version: 1
    entities:
      Article: { unique: id, attributes: { id: { type: int64 }, name: name } }
      Line:
        unique: [article, n]
        attributes: { n: { type: int64 } }
        relationships: { article: { entity: Article, kind: toOne, from: article } }
      Order:
        unique: no
        version: v
        attributes: { no: { type: int64 }, v: { type: int64 } }
        relationships:
          lines: { entity: Line, kind: toMany, from: lines, inverse: order }
          main: { entity: Line, kind: toOne, from: main }
    sources:
      orders: { format: json, entity: Order, records: /orders }
      lines: { format: json, entity: Line, records: /lines }
      articles: { format: json, entity: Article, records: /articles }
    """

  @Test("Pruning leaves what a record has that is left alone, whatever its key is made of")
  func pruned() async throws {
    let fixture = try ImportFixture(Self.lines)
    func feed(_ version: Int) -> String {
      #"{"orders":[{"no":1,"v":\#(version),"main":{"n":2,"article":{"id":3,"name":"z"}},"#
        + #""lines":[{"n":1,"article":{"id":1,"name":"x"}}]}],"#
        + #""lines":[{"n":9,"article":{"id":1,"name":"x"}}],"articles":[{"id":2,"name":"y"}]}"#
    }
    try await fixture.run(feed(3))
    let report = try await fixture.run(feed(2)) { $0.prune = .init() }
    #expect(report.pruned == 0)
    #expect(try sql(fixture.store, "SELECT n FROM Line ORDER BY n") == ["1", "2", "9"])
    #expect(try sql(fixture.store, "SELECT id FROM Article ORDER BY id") == ["1", "2", "3"])
  }

  @Test(
    "A tombstone finds an object by a to-one, given by key or nested",
    arguments: Way.allCases,
    ["key: { no: order }", "from: order"]
  )
  func tombstone(way: Way, link: String) async throws {
    let fixture = try WalkFixture(
      """
      Line:
        unique: [order, article]
        deleteWhen: { from: op, equals: D }
        attributes: { article: article, count: { type: int64 } }
        relationships: { order: { entity: Order, kind: toOne, \(link) } }
      Order: { unique: no, attributes: { no: { type: int64 }, name: name } }
      """
    )
    try await fixture.run("Order", [["no": 1], ["no": 2]], by: way)
    func line(_ order: Int64, _ op: String?) -> ForeignValue {
      let nested: ForeignValue = ["no": .integer(order), "name": "n"]
      var record: ForeignRecord = ["article": "A", "count": 1]
      record["order"] = link.hasPrefix("key") ? .integer(order) : nested
      if let op { record["op"] = .string(op) }
      return .object(record)
    }
    try await fixture.run("Line", [line(1, nil), line(2, nil)], by: way)
    let report = try await fixture.run("Line", [line(1, "D"), line(3, "D")], by: way)
    #expect(report.summary == "read 2, unchanged 1, deleted 1")
    #expect(
      try fixture.rows("SELECT o.no FROM Line l JOIN \"Order\" o ON o._pk = l.\"order\"") == ["2"]
    )
  }

  @Test(
    "A tombstone of a sub-entity deletes an object that is known by the parent entity only",
    arguments: Way.allCases
  )
  func family(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Element: { unique: id, attributes: { id: { type: int64 } } }
      Node: { parent: Element, deleteWhen: { from: op, equals: D } }
      Way: { parent: Element }
      """
    )
    try await fixture.run("Element", [["id": 1], ["id": 2]], by: way)
    try await fixture.run("Way", [["id": 3]], by: way)
    let report = try await fixture.run(
      "Node",
      [["id": 1, "op": "D"], ["id": 3, "op": "D"]],
      by: way
    )
    #expect(report.summary == "read 2, unchanged 1, deleted 1")
    #expect(try fixture.rows("SELECT id FROM Element ORDER BY id") == ["2", "3"])
  }

  @Test(
    "A tombstone leaves an object alone that a record would leave alone",
    arguments: Way.allCases,
    [
      ("", "ignore", ""), ("", "insert", ""), ("overwriteExisting: false", "", ""),
      ("", "ignore", "boss: { entity: P, kind: toOne, key: { id: boss }, onUnresolved: stub }"),
      ("", "insert", "boss: { entity: P, kind: toOne, key: { id: boss } }"),
    ]
  )
  func tombstoneLeft(way: Way, sample: (entity: String, mode: String, link: String)) async throws {
    let fixture = try WalkFixture(
      """
      P:
        unique: id
        version: v
        deleteWhen: { from: st, equals: gone }
        \(sample.entity)
        attributes: { id: { type: int64 }, v: { type: int64 } }
        relationships: { \(sample.link) }
      """
    )
    let mode = EntityWriter.Mode(rawValue: sample.mode)
    try await fixture.run("P", [["id": 1, "v": 3], ["id": 2, "v": 3]], by: way)
    let records: [ForeignValue] = [
      ["id": 1, "st": "gone"], ["id": 2, "st": "gone", "v": 2], ["id": 9, "st": "gone"],
    ]
    let report = try await fixture.run("P", records, by: way, mode: mode)
    let isInsert = mode == .insert
    #expect(report.summary == "read 3, unchanged 1, \(isInsert ? "rejected" : "skipped") 2")
    #expect(report.issueSummary == (isInsert ? ["key.exists 2"] : []))
    #expect(try fixture.rows("SELECT id FROM P ORDER BY 1") == ["1", "2"])
  }

  @Test(
    "A stub of a sub-entity that requires more gets the values of its parent's record, and stays one",
    arguments: Way.allCases
  )
  func stubOfSubEntity(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Owner:
        unique: no
        attributes: { no: { type: int64 } }
        relationships:
          car: { entity: Car, kind: toOne, key: { tag: car }, onUnresolved: stub }
          van: { entity: Van, kind: toOne, key: { tag: van }, onUnresolved: stub }
          thing: { entity: Thing, kind: toOne, from: thing }
      Thing:
        unique: tag
        discriminator: { from: kind, values: { car: Car } }
        attributes: { tag: tag, label: label }
      Car: { parent: Thing, attributes: { plate: { required: true } } }
      Van: { parent: Thing, attributes: { load: { type: int64 } } }
      """
    )
    let things = "SELECT tag, _entity, label, plate, _stub FROM Thing ORDER BY tag"
    try await fixture.run("Owner", [["no": 1, "car": "y", "van": "z"]], by: way)
    let left = try await fixture.run("Thing", [["tag": "y", "label": "l"]], by: way, mode: .ignore)
    #expect(left.summary == "read 1, skipped 1")
    let records: [ForeignValue] = [["tag": "y", "label": "l"], ["tag": "z", "label": "l"]]
    #expect(try await fixture.run("Thing", records, by: way).summary == "read 2, updated 2")
    #expect(try fixture.rows(things) == ["y|Car|l|null|1", "z|Van|l|null|null"])
    let nested: [ForeignValue] = [["no": 2, "thing": ["tag": "y"]]]
    #expect(try await fixture.run("Owner", nested, by: way).summary == "read 1, inserted 1")
    #expect(try await fixture.run("Thing", records, by: way).summary == "read 2, unchanged 2")
    #expect(try fixture.rows(things) == ["y|Car|l|null|1", "z|Van|l|null|null"])
    let whole: [ForeignValue] = [["tag": "y", "kind": "car", "plate": "p"]]
    #expect(try await fixture.run("Thing", whole, by: way).summary == "read 1, updated 1")
    #expect(try fixture.rows(things) == ["y|Car|l|p|null", "z|Van|l|null|null"])
  }

  @Test("A stub is not made whole without what is required", arguments: Way.allCases)
  func stub(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Person:
        unique: id
        attributes: { id: { type: int64 } }
        relationships:
          team: { entity: Team, kind: toOne, key: { id: team }, onUnresolved: stub }
          former: { entity: Team, kind: toOne, from: former }
      Team: { unique: id, attributes: { id: { type: int64 }, name: { required: true }, size: { type: int64 } } }
      """
    )
    try await fixture.run("Person", [["id": 1, "team": 9]], by: way)
    let own = try await fixture.run("Team", [["id": 9, "size": 3]], by: way)
    #expect(own.issueSummary == ["record.incomplete 1"])
    let nested = try await fixture.run(
      "Person",
      [["id": 2, "former": ["id": 9, "size": 3]], ["id": 3, "former": ["id": 9]]],
      by: way
    )
    #expect(nested.summary == "read 2, inserted 1, rejected 1")
    let team = "SELECT id, name, size, _stub FROM Team"
    #expect(try fixture.rows(team) == ["9|null|null|1"])
    try await fixture.run("Team", [["id": 9, "name": "Nine"]], by: way)
    #expect(try fixture.rows(team) == ["9|Nine|null|null"])
  }

  @Test(
    "Examples of contradictions are not lost with a record that is undone",
    arguments: Way.allCases
  )
  func contradictions(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Order:
        unique: [[no], [alt]]
        attributes: { no: { type: int64 }, alt: alt }
        relationships: { customer: { entity: Customer, kind: toOne, from: customer } }
      Customer: { unique: id, attributes: { id: { type: int64 }, name: name } }
      """
    )
    let records: [ForeignValue] = (1...8).map { number in
      [
        "no": .integer(number), "alt": .string(number == 5 ? "a1" : "a\(number)"),
        "customer": ["id": 1, "name": .string("n\(number)")],
      ]
    }
    let report = try await fixture.run("Order", records, by: way)
    #expect(report.summary == "read 8, inserted 7, rejected 1")
    let told = report.issues.first { $0.code == .contradiction }
    #expect(told?.count == 6)
    #expect(told?.examples.count == 5)
  }
}
