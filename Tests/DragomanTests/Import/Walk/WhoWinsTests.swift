import DragomanGraph
import TestSupport
import Testing

@testable import Dragoman

/// Where only one object may have a target, the last record that names it has it: in every way to
/// import, within one import as in one import for each record.
@Suite("The last record that names a target has it") struct WhoWinsTests {
  private static func pairs(_ link: String) -> String {
    """
    Person:
      unique: id
      attributes: { id: { type: int64 } }
      relationships:
    \(link)
    """
  }

  private static let mate =
    "    mate: { entity: Person, kind: toOne, key: { id: mate }, inverse: mated }\n"
    + "    mated: { entity: Person, kind: toOne, inverse: mate }"

  private static let mateOf =
    "SELECT p.id, m.id FROM Person p JOIN Person m ON m._pk = p.mate ORDER BY p.id"

  @Test("Two records that name one mate", arguments: Way.allCases)
  func oneToOne(way: Way) async throws {
    let fixture = try WalkFixture(Self.pairs(Self.mate))
    let records: [ForeignValue] = [["id": 4], ["id": 2, "mate": 4], ["id": 3, "mate": 4]]
    let first = try await fixture.run("Person", records, by: way)
    #expect(try fixture.rows(Self.mateOf) == ["3|4"])
    #expect(first.linkSummary == ["Person.mate +2 -1"])
    // In the order of the feed, 2 takes it first, and 3 takes it back.
    let second = try await fixture.run("Person", records, by: way)
    #expect(try fixture.rows(Self.mateOf) == ["3|4"])
    #expect(second.linkSummary == ["Person.mate +2 -2"])
    #expect(second.summary == "read 3, updated 2, unchanged 1")
  }

  @Test(
    "So it does while others are named that nobody has",
    arguments: Way.allCases,
    ["clear", "pending"]
  )
  func besidesWaiting(way: Way, policy: String) async throws {
    let map = Self.pairs(
      "    mate: { entity: Person, kind: toOne, key: { id: mate }, inverse: mated, onUnresolved: \(policy) }\n"
        + "    mated: { entity: Person, kind: toOne, inverse: mate }"
    )
    let here: [ForeignValue] = (1...4).map { ["id": .integer($0)] } + [["id": 1, "mate": 2]]
    for seed in Seeds.seeds(4) {
      var random = SplitMix(state: seed)
      let records: [ForeignValue] =
        [["id": 4, "mate": 9]]
        + (0..<6).map { _ in
          let mate: ForeignValue =
            random.chance(20) ? nil : .integer(.random(in: 1...5, using: &random))
          return ["id": .integer(.random(in: 1...3, using: &random)), "mate": mate]
        }
      let alone = try WalkFixture(map)
      try await alone.run("Person", here, by: way)
      for record in records { try await alone.run("Person", [record], by: way) }
      let wanted = try alone.rows(Self.mateOf)
      let waiting = try alone.waiting().sorted()
      // Who named it last has it when it comes.
      try await alone.run("Person", [["id": 5]], by: way)
      let later = try alone.rows(Self.mateOf)
      var told: [[String]] = []
      for size in [nil, 1, 2] {
        let together = try WalkFixture(map)
        try await together.run("Person", here, by: way)
        told.append(try await together.run("Person", records, by: way, batchSize: size).linkSummary)
        #expect(try together.rows(Self.mateOf) == wanted, "\(records.map(\.json)), \(size ?? 0)")
        #expect(try together.waiting().sorted() == waiting, "\(records.map(\.json)), \(size ?? 0)")
        try await together.run("Person", [["id": 5]], by: way)
        guard way == .rows else { continue }
        #expect(try together.rows(Self.mateOf) == later, "\(records.map(\.json)), \(size ?? 0)")
      }
      #expect(Set(told).count == 1, "\(records.map(\.json)): \(told)")
    }
  }

  @Test("Each record takes the mate from the last one, in any order", arguments: Way.allCases)
  func changes(way: Way) async throws {
    let here: [ForeignValue] = (1...4).map { ["id": .integer($0)] }
    var random = SplitMix(state: 7)
    for _ in 0..<12 {
      let records: [ForeignValue] = (0..<6).map { _ in
        let mate: ForeignValue =
          random.chance(20) ? nil : .integer(.random(in: 1...4, using: &random))
        return ["id": .integer(.random(in: 1...4, using: &random)), "mate": mate]
      }
      let (together, alone) = (
        try WalkFixture(Self.pairs(Self.mate)), try WalkFixture(Self.pairs(Self.mate))
      )
      try await together.run("Person", here, by: way)
      try await alone.run("Person", here, by: way)
      try await together.run("Person", records, by: way)
      for record in records { try await alone.run("Person", [record], by: way) }
      #expect(
        try together.rows(Self.mateOf) == alone.rows(Self.mateOf),
        "\(records.map(\.json))"
      )
    }
  }

  private static func families(_ kids: String) -> String {
    """
    Parent:
      unique: id
      attributes: { id: { type: int64 } }
      relationships: { kids: { entity: Kid, kind: toMany, inverse: parent, \(kids) } }
    Kid: { unique: id, attributes: { id: { type: int64 } } }
    """
  }

  private static let kids =
    "SELECT p.id, k.id FROM Kid k JOIN Parent p ON p._pk = k.parent ORDER BY p.id, k.id"

  @Test("Two lists that name one target by key", arguments: Way.allCases, [false, true])
  func lists(way: Way, isOrdered: Bool) async throws {
    let fixture = try WalkFixture(Self.families("key: { id: kids }, ordered: \(isOrdered)"))
    try await fixture.run("Kid", [["id": 1], ["id": 2], ["id": 3]], by: way)
    let records: [ForeignValue] = [
      ["id": 1, "kids": [1, 2]], ["id": 2, "kids": [2, 3]], ["id": 1, "kids": [3]],
    ]
    let first = try await fixture.run("Parent", records, by: way)
    #expect(try fixture.rows(Self.kids) == ["1|3", "2|2"])
    #expect(first.linkSummary == ["Parent.kids +5 -3"])
    for _ in 0..<2 {
      let again = try await fixture.run("Parent", records, by: way)
      #expect(try fixture.rows(Self.kids) == ["1|3", "2|2"])
      #expect(again.linkSummary == ["Parent.kids +5 -5"])
    }
  }

  @Test("A reference that waits does not beat a later record", arguments: Way.allCases)
  func waiting(way: Way) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Kid: { unique: id, attributes: { id: { type: int64 } } }
        Parent:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { kids: { entity: Kid, kind: toMany, key: { id: kids }, inverse: parent } }
      sources:
        early: { format: json, entity: Parent, records: /early }
        kids: { format: json, entity: Kid, records: /kids }
        late: { format: json, entity: Parent, records: /late }
      """
    )
    let feed =
      #"{"early":[{"id":1,"kids":[1,2]},{"id":2,"kids":[2,3]}],"kids":[{"id":1},{"id":2},{"id":3}],"#
      + #""late":[{"id":1,"kids":[3]}]}"#
    for size in [1, 2, 1000] {
      try await fixture.run(feed) {
        $0.options.commit = .batch
        $0.options.batchSize = size
      }
      #expect(try sql(fixture.store, Self.kids) == ["1|3", "2|2"])
    }
    // In memory all records are of one entity: who comes late is a mate.
    let mates = try WalkFixture(Self.pairs(Self.mate))
    try await mates.run(
      "Person",
      [["id": 1, "mate": 9], ["id": 9], ["id": 2, "mate": 9], ["id": 3, "mate": 8], ["id": 8]],
      by: way
    )
    #expect(try mates.rows(Self.mateOf) == ["2|9", "3|8"])
  }

  @Test(
    "Two that name one who comes after them: the first has had it in between, and is counted",
    arguments: Way.allCases,
    ["toOne", "toMany"]
  )
  func overtaken(way: Way, kind: String) async throws {
    let fixture = try WalkFixture(
      """
      O:
        unique: id
        attributes: { id: { type: int64 } }
        relationships: { r: { entity: B, kind: \(kind), key: { id: r }, onUnresolved: stub, inverse: i } }
      B:
        unique: id
        attributes: { id: { type: int64 } }
        relationships: { i: { entity: O, kind: toOne, inverse: r } }
      """
    )
    func record(_ id: Int64, _ target: Int64) -> ForeignValue {
      let one = ForeignValue.integer(target)
      return ["id": .integer(id), "r": kind == "toOne" ? one : .array([one])]
    }
    let owners =
      kind == "toOne"
      ? "SELECT o.id, b.id FROM O o JOIN B b ON b._pk = o.r ORDER BY 2"
      : "SELECT o.id, b.id FROM B b JOIN O o ON o._pk = b.i ORDER BY 2"
    let first = try await fixture.run("O", [record(1, 2), record(3, 2)], by: way)
    #expect(try fixture.rows(owners) == ["3|2"])
    #expect(first.linkSummary == ["O.r +2 -1 ?2"])
    #expect(first.entitySummary == ["B: 1 stubs", "O: 2 inserted"])
    // Both were there before, and both have other links in the end, or had.
    try await fixture.run("O", [["id": 4], ["id": 5]], by: way)
    let records = [record(4, 7), record(5, 8), record(4, 9), record(5, 9)]
    let second = try await fixture.run("O", records, by: way)
    #expect(try fixture.rows(owners) == ["3|2", "5|9"])
    #expect(second.linkSummary == ["O.r +2 -1 ?2"])
    #expect(second.summary == "read 4, updated 2, unchanged 2")
  }

  @Test(
    "Who joins a target to its list last has it, whatever it has named before",
    arguments: Way.allCases
  )
  func joinedLast(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      O:
        unique: id
        attributes: { id: { type: int64 } }
        relationships: { r: { entity: B, kind: toMany, key: { id: r }, assign: union, onUnresolved: stub, inverse: i } }
      B:
        unique: id
        attributes: { id: { type: int64 } }
        relationships: { i: { entity: O, kind: toOne, inverse: r } }
      """
    )
    let named: [(Int64, Int64)] = [(1, 3), (2, 2), (1, 2), (2, 4), (1, 4), (2, 4)]
    let records = named.map { owner, target -> ForeignValue in
      ["id": .integer(owner), "r": .array([.integer(target)])]
    }
    let report = try await fixture.run("O", records, by: way)
    #expect(
      try fixture.rows("SELECT o.id, b.id FROM B b JOIN O o ON b.i = o._pk ORDER BY 2")
        == ["1|2", "1|3", "2|4"]
    )
    #expect(report.linkSummary == ["O.r +5 -2 ?6"])
  }

  @Test(
    "A reference of an earlier import does not beat one of this import",
    arguments: Way.allCases,
    ["toOne", "toMany"]
  )
  func adopted(way: Way, kind: String) async throws {
    let fixture = try WalkFixture(
      Self.pairs(
        "    mate: { entity: Person, kind: \(kind), key: { id: mate }, inverse: mated, onUnresolved: pending }\n"
          + "    mated: { entity: Person, kind: toOne, inverse: mate }"
      )
    )
    func record(_ id: Int64) -> ForeignValue {
      let one = ForeignValue.integer(9)
      return ["id": .integer(id), "mate": kind == "toOne" ? one : .array([one])]
    }
    try await fixture.run("Person", [record(1)], by: way)
    // Batch by batch, so that who is named is not there yet where rows are stored.
    let report = try await fixture.run("Person", [record(2), ["id": 9]], by: way, batchSize: 1)
    let mates =
      kind == "toOne"
      ? Self.mateOf
      : "SELECT p.id, m.id FROM Person m JOIN Person p ON p._pk = m.mated ORDER BY p.id"
    #expect(try fixture.rows(mates) == ["2|9"])
    #expect(report.linkSummary == ["Person.mate +2 -1"])
    #expect(try fixture.waiting() == [])
  }

  @Test("An owner that comes twice in one record has its last list", arguments: Way.allCases)
  func twice(way: Way) async throws {
    for unlink in ["keep", "delete"] {
      let fixture = try WalkFixture(
        """
        Order:
          unique: no
          attributes: { no: { type: int64 } }
          relationships:
            billed: { entity: Person, kind: toOne, from: billed }
            shipped: { entity: Person, kind: toOne, from: shipped }
        Person:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { kids: { entity: Kid, kind: toMany, from: kids, inverse: parent, onUnlink: \(unlink) } }
        Kid: { unique: id, attributes: { id: { type: int64 } } }
        """
      )
      let billed: ForeignValue = ["id": 1, "kids": [["id": 1], ["id": 3]]]
      let shipped: ForeignValue = ["id": 1, "kids": [["id": 2], ["id": 3]]]
      for _ in 0..<3 {
        try await fixture.run(
          "Order",
          [["no": 1, "billed": billed, "shipped": shipped]],
          by: way
        )
        #expect(
          try fixture.rows("SELECT id FROM Kid WHERE parent NOT NULL ORDER BY id") == ["2", "3"]
        )
      }
    }
  }
}
