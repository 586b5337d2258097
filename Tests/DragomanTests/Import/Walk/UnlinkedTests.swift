import DragomanGraph
import Testing

@testable import Dragoman

/// `onUnlink: delete` deletes what a record takes out of a relationship, by the delete rules, unless
/// the record has it elsewhere.
@Suite("What a record unlinks and what becomes of it") struct UnlinkedTests {
  private static let people = """
    Person:
      unique: id
      attributes: { id: { type: int64 } }
      relationships:
        first: { entity: Pet, kind: toOne, from: first, onUnlink: delete }
        second: { entity: Pet, kind: toOne, from: second }
        pets: { entity: Pet, kind: toMany, from: pets, onUnlink: delete }
    Pet: { unique: id, attributes: { id: { type: int64 }, name: name } }
    """

  private static let pets = "SELECT id, name FROM Pet ORDER BY id"

  @Test("An object that the record has elsewhere stays", arguments: Way.allCases)
  func elsewhere(way: Way) async throws {
    let fixture = try WalkFixture(Self.people)
    try await fixture.run(
      "Person",
      [["id": 1, "first": ["id": 1, "name": "a"], "pets": [["id": 5], ["id": 6, "name": "c"]]]],
      by: way
    )
    let record: ForeignValue = [
      "id": 1, "first": ["id": 6], "second": ["id": 1], "pets": [["id": 5]],
    ]
    #expect(try await fixture.run("Person", [record], by: way).summary == "read 1, updated 1")
    #expect(try fixture.rows(Self.pets) == ["1|a", "5|null", "6|c"])
    #expect(try await fixture.run("Person", [record], by: way).summary == "read 1, unchanged 1")
  }

  @Test(
    "An object that another list of the record has stays, also where the record says twice what an owner has",
    arguments: Way.allCases
  )
  func movedWithin(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Root:
        unique: id
        attributes: { id: { type: int64 } }
        relationships: { parts: { entity: Part, kind: toMany } }
      Part:
        unique: id
        attributes: { id: { type: int64 } }
        relationships: { bits: { entity: Bit, kind: toMany, inverse: part, ordered: true, onUnlink: delete } }
      Bit: { unique: id, attributes: { id: { type: int64 }, name: name } }
      """
    )
    try await fixture.run(
      "Root",
      [
        [
          "id": 1,
          "parts": [["id": 1, "bits": [["id": 1, "name": "a"], ["id": 2, "name": "b"]]]],
        ]
      ],
      by: way
    )
    let record: ForeignValue = [
      "id": 2,
      "parts": [
        ["id": 2, "bits": [["id": 3]]], ["id": 1, "bits": [["id": 4]]],
        ["id": 2, "bits": [["id": 4], ["id": 2]]],
      ],
    ]
    try await fixture.run("Root", [record], by: way)
    #expect(
      try fixture.rows(
        "SELECT b.id, b.name, p.id FROM Bit b LEFT JOIN Part p ON p._pk = b.part ORDER BY b.id"
      )
        == ["2|b|2", "4|null|2"]
    )
  }

  @Test("It goes before the next record, which may bring it anew", arguments: Way.allCases)
  func anew(way: Way) async throws {
    let fixture = try WalkFixture(Self.people)
    try await fixture.run(
      "Person",
      [["id": 1, "pets": [["id": 5], ["id": 6, "name": "c"]]]],
      by: way
    )
    let records: [ForeignValue] = [
      ["id": 1, "pets": [["id": 5]]], ["id": 2, "pets": [["id": 6]]],
    ]
    try await fixture.run("Person", records, by: way)
    #expect(try fixture.rows(Self.pets) == ["5|null", "6|null"])
    #expect(
      try fixture.rows(
        "SELECT o.id, t.id FROM Person_pets l JOIN Person o ON o._pk = l.owner JOIN Pet t ON t._pk = l.target ORDER BY 1"
      ) == ["1|5", "2|6"]
    )
    #expect(try await fixture.run("Person", records, by: way).summary == "read 2, unchanged 2")
  }

  @Test("It goes before a record of its own, in the same feed, which makes it anew")
  func anewByItsOwnSource() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Part:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { bits: { entity: Bit, kind: toMany, inverse: part, onUnlink: delete } }
        Bit: { unique: id, attributes: { id: id, name: name } }
      sources:
        parts: { format: json, entity: Part, records: /parts }
        bits: { format: json, entity: Bit, records: /bits }
      """
    )
    try await fixture.run(#"{"parts":[{"id":1,"bits":[{"id":"x","name":"old"}]}]}"#)
    let second = try await fixture.run(#"{"parts":[{"id":1,"bits":[]}],"bits":[{"id":"x"}]}"#)
    #expect(second.summary == "read 2, inserted 1, updated 1")
    #expect(try sql(fixture.store, "SELECT id, name, part FROM Bit") == ["x|null|null"])
  }

  @Test(
    "The object of a record that takes itself out of a list within it stays",
    arguments: Way.allCases
  )
  func itself(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Node:
        unique: id
        attributes: { id: id }
        relationships:
          nodes: { entity: Node, kind: toMany, from: nodes, inverse: above, onUnlink: delete }
      """
    )
    let records: [ForeignValue] = [
      ["id": "e", "nodes": [["id": "a", "nodes": [["id": "d"]]]]],
      ["id": "d", "nodes": [["id": "a", "nodes": [["id": "c"]]]]],
    ]
    try await fixture.run("Node", records, by: way)
    let above = "SELECT n.id, a.id FROM Node n LEFT JOIN Node a ON a._pk = n.above ORDER BY n.id"
    #expect(try fixture.rows(above) == ["a|d", "c|a", "d|null", "e|null"])
  }

  @Test(
    "A record whose list unlinks what a delete rule protects is rejected",
    arguments: Way.allCases
  )
  func denied(way: Way) async throws {
    for inverse in ["", ", inverse: order"] {
      let fixture = try WalkFixture(
        """
        Order:
          unique: no
          attributes: { no: { type: int64 }, note: note }
          relationships: { lines: { entity: Line, kind: toMany, from: lines, onUnlink: delete\(inverse) } }
        Line:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { parts: { entity: Part, kind: toMany, from: parts, inverse: line, onDelete: deny } }
        Part: { unique: id, attributes: { id: { type: int64 } } }
        """
      )
      try await fixture.run(
        "Order",
        [["no": 1, "lines": [["id": 1, "parts": [["id": 1]]], ["id": 2]]]],
        by: way
      )
      let report = try await fixture.run(
        "Order",
        [["no": 2], ["no": 1, "note": "no", "lines": []], ["no": 3, "lines": [["id": 3]]]],
        by: way
      )
      #expect(report.summary == "read 3, inserted 2, rejected 1")
      #expect(report.issueSummary == ["link.denied 1"])
      #expect(
        try fixture.rows("SELECT no, note FROM \"Order\" ORDER BY no") == [
          "1|null", "2|null", "3|null",
        ]
      )
      #expect(try fixture.rows("SELECT id FROM Line ORDER BY id") == ["1", "2", "3"])
      let freed = try await fixture.run("Order", [["no": 3, "lines": []]], by: way)
      #expect(freed.summary == "read 1, updated 1")
      #expect(try fixture.rows("SELECT id FROM Line ORDER BY id") == ["1", "2"])
    }
  }

  @Test(
    "A target that two nested records of one record claim has its place in the list of the last one",
    arguments: Way.allCases,
    ["replace", "union"]
  )
  func claimedTwice(way: Way, assign: String) async throws {
    let fixture = try WalkFixture(
      """
      Node:
        unique: id
        attributes: { id: id }
        relationships:
          nodes: { entity: Node, kind: toMany, from: nodes, ordered: true, assign: \(assign), inverse: above }
      """
    )
    try await fixture.run("Node", [["id": "1"], ["id": "5"]], by: way)
    let record: ForeignValue = [
      "id": "4",
      "nodes": [["id": "2", "nodes": [["id": "1"]]], ["id": "5", "nodes": [["id": "1"]]]],
    ]
    try await fixture.run("Node", [record], by: way)
    let above =
      "SELECT n.id, a.id, n._nodes_order FROM Node n LEFT JOIN Node a ON a._pk = n.above ORDER BY n.id"
    #expect(
      try fixture.rows(above)
        == ["1|5|0", "2|4|0", "4|null|null", "5|4|1"]
    )
  }

  @Test(
    "A list that lets go what goes elsewhere in the same record is another one",
    arguments: Way.allCases
  )
  func goneElsewhere(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Root:
        unique: id
        attributes: { id: id }
        relationships: { parts: { entity: Part, kind: toMany } }
      Part:
        unique: id
        attributes: { id: id }
        relationships: { bits: { entity: Bit, kind: toMany, inverse: part } }
      Bit: { unique: id, attributes: { id: id } }
      """
    )
    try await fixture.run(
      "Root",
      [["id": "r", "parts": [["id": "old", "bits": [["id": "b"]]]]]],
      by: way
    )
    let report = try await fixture.run(
      "Root",
      [["id": "r", "parts": [["id": "old", "bits": []], ["id": "new", "bits": [["id": "b"]]]]]],
      by: way
    )
    #expect(report.entitySummary.contains("Part: 1 inserted, 1 updated"))
    #expect(
      try fixture.rows("SELECT p.id, b.id FROM Bit b JOIN Part p ON p._pk = b.part") == ["new|b"]
    )
  }

  @Test(
    "What a record names, and lets go by a later list of the same owner, is deleted unless it has it elsewhere",
    arguments: Way.allCases
  )
  func letGoAgain(way: Way) async throws {
    for isShared in [false, true] {
      let fixture = try WalkFixture(
        """
        Root:
          unique: id
          attributes: { id: id }
          relationships: { parts: { entity: Part, kind: toMany } }
        Part:
          unique: id
          attributes: { id: id }
          relationships:
            bits: { entity: Bit, kind: toMany, \(isShared ? "" : "inverse: part, ")onUnlink: delete }
            bit: { entity: Bit, kind: toOne, from: bit }
          discriminator: { from: kind, values: { large: LargePart } }
        LargePart: { parent: Part }
        Bit: { unique: id, attributes: { id: id } }
        """
      )
      try await fixture.run(
        "Root",
        [
          [
            "id": "r",
            "parts": [
              ["id": "1", "bits": [["id": "a"], ["id": "b"], ["id": "c"]]],
              ["id": "2", "kind": "large", "bit": ["id": "b"]],
              ["id": "3", "kind": "large", "bits": [["id": "c"]]],
              ["id": "1", "bits": []],
            ],
          ]
        ],
        by: way
      )
      #expect(try fixture.rows("SELECT id FROM Bit ORDER BY 1") == ["b", "c"], "\(isShared)")
    }
  }

  @Test(
    "What only leads back, or goes itself, keeps nothing that its record lets go",
    arguments: Way.allCases
  )
  func backReference(way: Way) async throws {
    for (isShared, bits) in [(false, ["b", "c"]), (true, ["c"])] {
      let fixture = try WalkFixture(
        """
        Group: { unique: id, attributes: { id: id }, relationships: { roots: { entity: Root, kind: toMany } } }
        Root:
          unique: id
          attributes: { id: id }
          relationships: { parts: { entity: Part, kind: toMany, onUnlink: delete } }
        Part:
          unique: id
          attributes: { id: id }
          relationships: { bits: { entity: Bit, kind: toMany, \(isShared ? "" : "inverse: part, ")onUnlink: delete } }
        Bit: { unique: id, attributes: { id: id } }
        """
      )
      // Each part leads to bits, which lead back to it or are its own only; all of it is let go again.
      let parts: ForeignValue =
        isShared
        ? [
          ["id": "1", "bits": [["id": "b"]]], ["id": "2", "bits": [["id": "b"]]],
          ["id": "1", "bits": []],
        ]
        : [["id": "1", "bits": [["id": "b"]]]]
      try await fixture.run(
        "Group",
        [
          ["id": "h", "roots": [["id": "s", "parts": [["id": "3", "bits": [["id": "c"]]]]]]],
          ["id": "g", "roots": [["id": "r", "parts": parts], ["id": "r", "parts": []]]],
        ],
        by: way
      )
      #expect(try fixture.rows("SELECT id FROM Part ORDER BY 1") == ["3"], "\(isShared)")
      #expect(try fixture.rows("SELECT id FROM Bit ORDER BY 1") == bits, "\(isShared)")
    }
  }

  @Test(
    "Objects that a record lets go together protect nobody from each other",
    arguments: Way.allCases
  )
  func together(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Person:
        unique: id
        attributes: { id: { type: int64 } }
        relationships:
          friends: { entity: Person, kind: toMany, inverse: friends, onUnlink: delete, onDelete: deny }
      """
    )
    let report = try await fixture.run(
      "Person",
      [
        ["id": 5, "friends": [["id": 1]]], ["id": 3, "friends": [["id": 5], ["id": 1]]],
        ["id": 5, "friends": [["id": 4]]],
      ],
      by: way
    )
    #expect(report.counts.rejected == 0)
    #expect(try fixture.rows("SELECT id FROM Person ORDER BY 1") == ["4", "5"])
    // 6 stays, and 4 has it.
    let refused = try await fixture.run(
      "Person",
      [["id": 4, "friends": [["id": 5], ["id": 6]]], ["id": 5, "friends": []]],
      by: way
    )
    #expect(refused.counts.rejected == 1)
    #expect(try fixture.rows("SELECT id FROM Person ORDER BY 1") == ["4", "5", "6"])
  }
}
