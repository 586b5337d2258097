import DragomanGraph
import Testing

@testable import Dragoman

/// What a report tells besides its counts: the same whichever way records come.
@Suite("What is told of feeds, in every way to import") struct ToldInEveryWayTests {
  private static let people = """
    Person:
      unique: id
      attributes: { id: { type: int64 }, name: name }
      relationships:
        boss: { entity: Person, kind: toOne, from: boss }
        team: { entity: Team, kind: toOne, from: team }
        tags: { entity: Tag, kind: toMany, from: tags }
    Team: { unique: id, attributes: { id: { type: int64 }, name: name } }
    Tag: { unique: id, attributes: { id: id } }
    """

  private func told(_ report: ImportReport) -> [String] {
    report.issues.map { "\($0.code.rawValue) \($0.entity).\($0.attribute ?? "-") \($0.count)" }
  }

  @Test(
    "A nested record that says otherwise than the object's own contradicts it, and the other way"
  )
  func ownAndNested() async throws {
    let own: ForeignValue = ["id": 7, "name": "Ada"]
    let nested: ForeignValue = ["id": 1, "boss": ["id": 7, "name": "Eva"]]
    for way in Way.allCases {
      for records in [[own, nested], [nested, own]] {
        let fixture = try WalkFixture(Self.people)
        let first = try await fixture.run("Person", records, by: way)
        #expect(told(first) == ["value.contradiction Person.name 1"])
        #expect(first.issues[0].examples[0].key == "7")
        let again = try await fixture.run("Person", records, by: way)
        #expect(told(again) == ["value.contradiction Person.name 1"])
      }
    }
  }

  @Test(
    "Other links contradict those that an earlier record named before their target came",
    arguments: Way.allCases
  )
  func waitingLinks(way: Way) async throws {
    let entities = """
      P:
        unique: id
        attributes: { id: { type: int64 } }
        relationships: { c: { entity: C, kind: toMany, from: c } }
      C:
        unique: id
        attributes: { id: { type: int64 } }
        relationships: { rp: { entity: P, kind: toMany, key: { id: rp } } }
      """
    let cases: [(target: Int64, expected: [String])] = [
      (2, ["value.contradiction C.rp 1"]), (4, []),
    ]
    for (target, expected) in cases {
      let fixture = try WalkFixture(entities)
      try await fixture.run("P", [["id": 1], ["id": 2], ["id": 3]], by: way)
      let early: ForeignValue = ["id": 1, "rp": [4]]
      let late: ForeignValue = ["id": 1, "rp": [.integer(target)]]
      let records: [ForeignValue] = [["id": 1, "c": [early]], ["id": 4], ["id": 3, "c": [late]]]
      #expect(told(try await fixture.run("P", records, by: way)) == expected)
      #expect(
        try fixture.rows("SELECT p.id FROM C_rp l JOIN P p ON p._pk = l.target") == ["\(target)"]
      )
    }
  }

  @Test("Deliveries of an object's own record contradict nothing", arguments: Way.allCases)
  func deliveries(way: Way) async throws {
    let fixture = try WalkFixture(Self.people)
    let records: [ForeignValue] = [["id": 7, "name": "Ada"], ["id": 7, "name": "Eva"]]
    for _ in 0..<2 {
      #expect(told(try await fixture.run("Person", records, by: way)) == [])
    }
  }

  @Test(
    "Other links contradict, too; the same ones, and further ones, do not",
    arguments: Way.allCases
  )
  func links(way: Way) async throws {
    func record(_ id: Int, team: Int, tags: [ForeignValue]) -> ForeignValue {
      let boss: ForeignValue = [
        "id": 7, "team": ["id": .integer(Int64(team))], "tags": .array(tags),
      ]
      return ["id": .integer(Int64(id)), "boss": boss]
    }
    let fixture = try WalkFixture(Self.people)
    let same = [record(1, team: 4, tags: [["id": "a"]]), record(2, team: 4, tags: [["id": "a"]])]
    #expect(told(try await fixture.run("Person", same, by: way)) == [])
    #expect(told(try await fixture.run("Person", same, by: way)) == [])
    let others = [record(1, team: 5, tags: [["id": "b"]]), record(2, team: 6, tags: [["id": "c"]])]
    for _ in 0..<2 {
      let report = try await fixture.run("Person", others, by: way)
      #expect(
        Set(told(report)) == [
          "value.contradiction Person.team 1", "value.contradiction Person.tags 1",
        ]
      )
      #expect(report.issues.flatMap(\.examples).allSatisfy { $0.key == "7" })
    }
  }

  @Test(
    "Other links of a nested object contradict in lists of every kind",
    arguments: Way.allCases,
    ["", ", ordered: true", ", repeats: true", ", ordered: true, repeats: true"]
  )
  func lists(way: Way, rest: String) async throws {
    let fixture = try WalkFixture(
      """
      P:
        unique: id
        attributes: { id: { type: int64 } }
        relationships: { c: { entity: C, kind: toMany, from: c } }
      C:
        unique: id
        attributes: { id: { type: int64 } }
        relationships: { rp: { entity: P, kind: toMany, key: { id: rp }\(rest) } }
      """
    )
    func record(_ id: Int64, _ targets: ForeignValue) -> ForeignValue {
      let nested: ForeignValue = ["id": 1, "rp": targets]
      return ["id": .integer(id), "c": [nested]]
    }
    try await fixture.run("P", [["id": 1], ["id": 2], ["id": 3]], by: way)
    let same = try await fixture.run("P", [record(1, [1]), record(3, [1])], by: way)
    #expect(told(same) == [])
    let report = try await fixture.run("P", [record(1, [2]), record(3, [3])], by: way)
    #expect(told(report) == ["value.contradiction C.rp 1"])
    #expect(report.issues[0].examples[0].key == "1")
    #expect(report.linkSummary == ["C.rp +2 -2"])
  }

  @Test("Paths that no record has are told with the nearest name", arguments: Way.allCases)
  func unmatched(way: Way) async throws {
    let fixture = try WalkFixture(
      "Person: { unique: id, attributes: { id: { type: int64 }, name: nmae } }"
    )
    let records = (1...300).map { ForeignValue.object(["id": .integer(Int64($0)), "name": "n"]) }
    let report = try await fixture.run("Person", records, by: way)
    #expect(
      report.unmatchedPaths.map { "\($0.message); \($0.suggestion ?? "-")" } == [
        "Person.name: the path nmae matched 0 of 300 records; name"
      ]
    )
  }

  @Test(
    "What forbids a deletion is told by the entity that has the relationship, the first one of several",
    arguments: Way.allCases
  )
  func denied(way: Way) async throws {
    let deny = "kind: toMany, onUnresolved: stub, onDelete: deny"
    let fixture = try WalkFixture(
      """
      T:
        unique: id
        discriminator: { from: t, values: { car: Car } }
        deleteWhen: { from: op, equals: D }
        attributes: { id: { type: int64 } }
        relationships:
          u: { entity: T, kind: toMany, key: { id: u }, onDelete: cascade }
          b: { entity: G, key: { id: b }, \(deny) }
          a: { entity: G, key: { id: a }, \(deny) }
      Car: { parent: T }
      G: { unique: id, attributes: { id: id } }
      """
    )
    let targets: [ForeignValue] = ["x"]
    let cars: [ForeignValue] = [
      ["id": 1, "t": "car", "a": .array(targets), "u": [2]],
      ["id": 2, "t": "car", "b": .array(targets)], ["id": 3, "t": "car", "a": .array(targets)],
    ]
    try await fixture.run("T", cars, by: way)
    for (id, name) in [(1, "b"), (3, "a")] {
      let tombstone: ForeignValue = ["id": .integer(Int64(id)), "t": "car", "op": "D"]
      let report = try await fixture.run("T", [tombstone], by: way)
      #expect(report.summary == "read 1, rejected 1")
      #expect(told(report) == ["link.denied Car.- 1"])
      #expect(
        report.issues[0].examples[0].message
          == "The object cannot be deleted: T.\(name) has the delete rule deny, and targets."
      )
    }
    #expect(try fixture.rows("SELECT count(*) FROM T") == ["3"])
  }

  @Test(
    "What goes with a tombstone, or with its link, is counted by its own entity; not what a rejected record took back",
    arguments: Way.allCases
  )
  func gone(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      T:
        unique: id
        discriminator: { from: t, values: { car: Car } }
        deleteWhen: { from: op, equals: D }
        attributes: { id: { type: int64 } }
        relationships:
          u: { entity: T, kind: toMany, key: { id: u }, onDelete: cascade, onUnlink: delete }
          g: { entity: G, kind: toMany, from: g, onDelete: cascade, onUnlink: delete }
      Car: { parent: T }
      G:
        unique: id
        attributes: { id: id }
        relationships: { h: { entity: H, kind: toMany, from: h, onDelete: deny } }
      H: { unique: id, attributes: { id: id } }
      """
    )
    func run(_ record: ForeignValue) async throws -> [String] {
      let report = try await fixture.run("T", [record], by: way)
      return [report.summary] + report.entitySummary
    }
    for id in 3...6 { _ = try await run(["id": .integer(Int64(id)), "t": "car"]) }
    _ = try await run(["id": 2, "u": [4, 5], "g": [["id": "c"]]])
    let first: ForeignValue = [
      "id": 1, "u": [2, 3], "g": [["id": "a"], ["id": "b", "h": [["id": "x"]]]],
    ]
    _ = try await run(first)
    // What its link took with it, but for what a rule denies: then nothing is gone.
    #expect(
      try await run(["id": 1, "u": [2], "g": []]).first == "read 1, rejected 1"
    )
    #expect(
      try await run(["id": 1, "u": [2], "g": [["id": "b", "h": []]]])
        == ["read 1, updated 1", "Car: 1 deleted", "G: 1 updated, 1 deleted", "T: 1 updated"]
    )
    // A tombstone by itself, and with what it deletes.
    #expect(
      try await run(["id": 6, "t": "car", "op": "D"]) == ["read 1, deleted 1", "Car: 1 deleted"]
    )
    #expect(
      try await run(["id": 1, "op": "D"])
        == ["read 1, deleted 1", "Car: 2 deleted", "G: 2 deleted", "T: 2 deleted"]
    )
    #expect(try await run(["id": 1, "op": "D"]) == ["read 1, unchanged 1", "T: 1 unchanged"])
    #expect(
      try fixture.rows("SELECT (SELECT count(*) FROM T) + (SELECT count(*) FROM G)") == ["0"]
    )
  }
}
