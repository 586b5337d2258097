import DragomanGraph
import Testing

@testable import Dragoman

/// In which order held records are written, and what becomes of those whose targets are made late, deleted, or refused.
///
/// From docs/relationships.md: a record waits for the end where its target has not come, and is written behind those
/// that make what it needs; it is rejected where nobody does, and with it those that need it.
@Suite("The order of records that are held until the end of an import") struct HeldOrderTests {
  private static let map = """
    A:
      unique: k
      attributes: { k: k, n: n }
      relationships:
        owns: { entity: A, kind: toMany, key: { k: "owns[*]" }, onUnlink: delete }
        needs: { entity: A, kind: toMany, key: { k: "needs[*]" }, onUnresolved: reject }
    B:
      unique: [a, n]
      attributes: { n: n }
      relationships:
        a: { entity: A, kind: toOne, key: { k: a } }
        needs: { entity: A, kind: toMany, key: { k: "needs[*]" }, onUnresolved: reject }
    """

  private static let links = """
    SELECT o.k, t.k FROM A_needs l JOIN A o ON o._pk = l.owner JOIN A t ON t._pk = l.target ORDER BY 1, 2
    """

  struct Case: CustomTestStringConvertible {
    let testDescription: String
    var store: [ForeignValue] = []
    let feed: [ForeignValue]
    let summary: String
    let keys: String
    var links: [String] = []
  }

  @Test(
    "Who needs what is there, or comes, is written; who needs what goes or fails is not",
    arguments: Way.allCases,
    [
      Case(
        testDescription:
          "a record that needs itself is none of those that an earlier one takes along",
        feed: [["k": "e", "needs": ["zz"]], ["k": "e", "needs": ["e"]]],
        summary: "read 2, inserted 1, rejected 1",
        keys: "e",
        links: ["e|e"]
      ),
      Case(
        testDescription: "the record that would make it anew is rejected itself",
        store: [["k": "X"], ["k": "Y"], ["k": "D", "owns": ["X", "Y"]]],
        feed: [
          ["k": "D", "owns": [], "needs": ["Q"]], ["k": "N", "needs": ["X", "Q"]],
          ["k": "X", "needs": ["Y", "Q"]], ["k": "Q"],
        ],
        summary: "read 4, inserted 1, updated 1, rejected 2",
        keys: "D Q",
        links: ["D|Q"]
      ),
      Case(
        testDescription: "a record behind it makes it anew",
        store: [["k": "X"], ["k": "D", "owns": ["X"]]],
        feed: [
          ["k": "D", "owns": [], "needs": ["Q"]], ["k": "N", "needs": ["X", "Q"]],
          ["k": "X", "needs": ["Q"]], ["k": "Q"],
        ],
        summary: "read 4, inserted 3, updated 1",
        keys: "D N Q X",
        links: ["D|Q", "N|Q", "N|X", "X|Q"]
      ),
      Case(
        testDescription:
          "nobody that is needed overtakes an earlier record that deletes what it needs",
        store: [["k": "X"], ["k": "D", "owns": ["X"]]],
        feed: [
          ["k": "P", "needs": ["W"]], ["k": "D", "owns": [], "needs": ["Q"]],
          ["k": "W", "needs": ["X", "Q"]], ["k": "Q"],
        ],
        summary: "read 4, inserted 1, updated 1, rejected 2",
        keys: "D Q",
        links: ["D|Q"]
      ),
      Case(
        testDescription: "what waits for each other is written, and who waits for it behind it",
        feed: [
          ["k": "d", "needs": ["a"]], ["k": "a", "needs": ["b"]], ["k": "b", "needs": ["c"]],
          ["k": "c", "needs": ["a", "c"]],
        ],
        summary: "read 4, inserted 4",
        keys: "a b c d",
        links: ["a|b", "b|c", "c|a", "c|c", "d|a"]
      ),
      Case(
        testDescription: "of those that need each other one needs what nobody has",
        feed: [
          ["k": "d", "needs": ["a"]], ["k": "a", "needs": ["b"]], ["k": "b", "needs": ["c"]],
          ["k": "c", "needs": ["a", "zz"]], ["k": "x", "needs": ["y"]], ["k": "y", "needs": ["x"]],
        ],
        summary: "read 6, inserted 2, rejected 4",
        keys: "x y",
        links: ["x|y", "y|x"]
      ),
      Case(
        testDescription: "of those that need each other one needs what a record of theirs deletes",
        store: [["k": "X"], ["k": "D", "owns": ["X"]]],
        feed: [
          ["k": "a", "needs": ["b"]], ["k": "b", "needs": ["a", "X"]],
          ["k": "D", "owns": [], "needs": ["Q"]], ["k": "Q"],
        ],
        summary: "read 4, inserted 1, updated 1, rejected 2",
        keys: "D Q",
        links: ["D|Q"]
      ),
      Case(
        testDescription: "a chain against the order of the feed, with two records about one object",
        feed: [
          ["k": "a", "needs": ["b"]], ["k": "a", "needs": ["c"]], ["k": "b", "needs": ["c"]],
          ["k": "c", "needs": ["d"]], ["k": "d"],
        ],
        summary: "read 5, inserted 4, updated 1",
        keys: "a b c d",
        links: ["a|c", "b|c", "c|d"]
      ),
    ]
  )
  func outcomes(way: Way, one: Case) async throws {
    let fixture = try WalkFixture(Self.map)
    try await fixture.run("A", one.store, by: way)
    let report = try await fixture.run("A", one.feed, by: way)
    #expect(report.summary == one.summary)
    let keys = try fixture.rows("SELECT k FROM A ORDER BY k")
    #expect(keys.joined(separator: " ") == one.keys)
    #expect(try fixture.rows(Self.links) == one.links)
  }

  @Test("Who has a target in its key waits for the record that makes it anew")
  func identity() async throws {
    let map = """
      version: 1
      entities:
      \(Self.map.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
      sources:
        d: { format: json, entity: A, records: /d }
        b: { format: json, entity: B, records: /b }
        x: { format: json, entity: A, records: /x }
      """
    let fixture = try ImportFixture(map)
    try await fixture.run(#"{"d":[{"k":"X"},{"k":"D","owns":["X"]}],"b":[],"x":[]}"#)
    let report = try await fixture.run(
      #"{"d":[{"k":"D","owns":[],"needs":["Q"]}],"b":[{"a":"X","n":"1","needs":["Q"]}],"x":[{"k":"X","needs":["Q"]},{"k":"Q"}]}"#
    )
    #expect(report.summary == "read 4, inserted 3, updated 1")
    #expect(try sql(fixture.store, "SELECT A.k FROM B JOIN A ON A._pk = B.a") == ["X"])
  }

  @Test(
    "A tombstone without the to-one of its key is rejected; where nobody is of that key, nothing is deleted",
    arguments: Way.allCases
  )
  func tombstone(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      A: { unique: k, attributes: { k: k } }
      L:
        unique: [up, n]
        attributes: { n: n }
        deleteWhen: { from: gone, equals: "yes" }
        relationships: { up: { entity: A, kind: toOne, key: { k: up } } }
      """
    )
    try await fixture.run("A", [["k": "a"]], by: way)
    try await fixture.run("L", [["up": "a", "n": "1"], ["up": "a", "n": "2"]], by: way)
    let report = try await fixture.run(
      "L",
      [
        ["n": "1", "gone": "yes"], ["up": .null, "n": "1", "gone": "yes"],
        ["up": "zz", "n": "1", "gone": "yes"], ["up": "a", "n": "2", "gone": "yes"],
      ],
      by: way
    )
    #expect(report.summary == "read 4, unchanged 1, deleted 1, rejected 2")
    #expect(report.issues.map(\.code) == [.keyMissing])
    #expect(try fixture.rows("SELECT n FROM L") == ["1"])
  }

  @Test("Pairs that need each other, and the next pair, are written")
  func pairs() async throws {
    let fixture = try WalkFixture(Self.map)
    let count = 1_000
    // Each needs its partner, and all of them the next pair.
    let pairs: [ForeignValue] = (0..<count).map { number in
      let pair = number / 2 * 2
      let partner = pair + 1 - number % 2
      return ["k": "\(number)", "needs": ["\(partner)", "\(min(pair + 2, count - 1))"]]
    }
    let report = try await fixture.run("A", pairs, by: .rows)
    #expect(report.summary == "read \(count), inserted \(count)")
  }
}
