import TestSupport
import Testing

@testable import Dragoman

/// A to-many that is its own inverse, of people who are nested in each other.
@Suite("Friends") struct FriendsTests {
  private static let friends = """
    Person:
      unique: id
      attributes: { id: id }
      relationships:
        kids: { entity: Person, kind: toMany }
        knows: { entity: Person, kind: toMany, key: { id: knows }, inverse: knows }
    """

  private static let pairs = """
    SELECT a.id, b.id FROM Person_knows k JOIN Person a ON a._pk = k.owner JOIN Person b ON b._pk = k.target
    ORDER BY 1, 2
    """

  private static let pairsInOrder = pairs.replacing("BY 1, 2", with: "BY 1, k.position")

  @Test(
    "Friends in one record have their say in turn, in order or not",
    arguments: ["", ", ordered: true"]
  )
  func inTurn(more: String) async throws {
    let friends = Self.friends.replacing("inverse: knows", with: "inverse: knows\(more)")
    for way in Way.allCases {
      var fixture = try WalkFixture(friends)
      try await fixture.run(
        "Person",
        [["id": "a"], ["id": "b", "knows": ["a"]], ["id": "g"]],
        by: way
      )
      // Who comes later keeps what the earlier one lets go.
      var report = try await fixture.run(
        "Person",
        [
          [
            "id": "g",
            "kids": [["id": "a", "knows": .array([])], ["id": "b", "knows": ["a"]]],
          ]
        ],
        by: way
      )
      #expect(report.linkSummary == ["Person.kids +2", "Person.knows +1 -1"], "\(way)")
      #expect(try fixture.rows(Self.pairs) == ["a|b", "b|a"], "\(way)")
      // Whom the later one lets go deletes nobody but him.
      fixture = try WalkFixture(
        friends.replacing("inverse: knows", with: "inverse: knows, onUnlink: delete")
      )
      try await fixture.run("Person", [["id": "a"], ["id": "b", "knows": ["a"]]], by: way)
      report = try await fixture.run(
        "Person",
        [["id": "b", "kids": [["id": "a", "knows": ["b"]]], "knows": .array([])]],
        by: way
      )
      #expect(try fixture.rows("SELECT id FROM Person ORDER BY 1") == ["a", "b"], "\(way)")
      #expect(try fixture.rows(Self.pairs) == [], "\(way)")
    }
  }

  @Test(
    "Friends are one link, whoever of them makes and drops it, and so is who knows himself",
    arguments: Way.allCases
  )
  func friends(way: Way) async throws {
    let fixture = try WalkFixture(Self.friends)
    func told(_ records: ForeignValue...) async throws -> [String] {
      let report = try await fixture.run("Person", records, by: way)
      return [report.summary] + report.linkSummary
    }
    #expect(
      try await told(["id": "b"], ["id": "a", "knows": ["a", "b"]], ["id": "b", "knows": ["a"]])
        == ["read 3, inserted 2, unchanged 1", "Person.knows +2"]
    )
    #expect(try fixture.rows(Self.pairs) == ["a|a", "a|b", "b|a"])
    #expect(try await told(["id": "b", "knows": []]) == ["read 1, updated 1", "Person.knows -1"])
    #expect(try await told(["id": "a", "knows": []]) == ["read 1, updated 1", "Person.knows -1"])
    #expect(try fixture.rows(Self.pairs) == [])
    // Who is nested speaks first.
    let nested: ForeignValue = [
      "id": "a", "kids": [["id": "c", "knows": ["a", "b"]], ["id": "b", "knows": ["c"]]],
      "knows": ["b"],
    ]
    _ = try await told(nested)
    #expect(try fixture.rows(Self.pairs) == ["a|b", "b|a", "b|c", "c|b"])
  }

  @Test(
    "Random friends, nested in each other: the same links and counts in every way, in order or not",
    arguments: ["", ", ordered: true", ", onUnlink: delete"]
  )
  func randomFriends(more: String) async throws {
    let deletes = more.contains("delete")
    for seed in 1...40 {
      var random = SplitMix(state: UInt64(seed))
      func person(_ depth: Int) -> ForeignValue {
        func id() -> ForeignValue { .string(["a", "b", "c", "d"].randomElement(using: &random)!) }
        var members = [("id", id())]
        if Bool.random(using: &random) {
          let known = (0..<Int.random(in: 0...2, using: &random)).map { _ in id() }
          members.append(("knows", .array(known)))
        }
        if depth > 0, Bool.random(using: &random) {
          let kids = (0..<Int.random(in: 1...3, using: &random)).map { _ in person(depth - 1) }
          members.append(("kids", .array(kids)))
        }
        return .object(ForeignRecord(members))
      }
      let feeds = (0..<2).map { _ in (0..<3).map { _ in person(2) } }
      var told: [[String]] = []
      for way in Way.allCases {
        let fixture = try WalkFixture(
          Self.friends.replacing("inverse: knows", with: "inverse: knows\(more)")
        )
        // References that wait are another matter.
        try await fixture.run("Person", ["a", "b", "c", "d"].map { ["id": $0] }, by: way)
        var lines: [String] = []
        for feed in feeds {
          let report = try await fixture.run("Person", feed, by: way)
          // Who was deleted is waited for, which has counts of its own.
          if !deletes { lines += report.linkSummary + report.entitySummary }
          lines += try fixture.rows(more.contains("ordered") ? Self.pairsInOrder : Self.pairs)
        }
        told.append(lines)
      }
      #expect(told.allSatisfy { $0 == told[0] }, "\(seed): \(feeds.map { $0.map(\.json) }) \(told)")
    }
  }
}
