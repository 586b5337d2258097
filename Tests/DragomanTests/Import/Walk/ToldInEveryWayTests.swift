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
}
