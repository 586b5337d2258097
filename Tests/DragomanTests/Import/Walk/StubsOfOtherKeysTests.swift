import DragomanGraph
import Testing

@testable import Dragoman

/// Stubs of those who were named by another key than their identity, when their record comes.
@Suite("Stubs of other keys") struct StubsOfOtherKeysTests {
  private static let tasks = """
    Task:
      unique: no
      attributes: { no: { type: int64 } }
      relationships:
        who: { entity: Person, kind: toOne, key: { mail: who }, onUnresolved: stub }
        desk: { entity: Person, kind: toOne, key: { phone: desk }, onUnresolved: stub }
    Person:
      unique: [[id], [mail], [phone]]
      attributes: { id: { type: int64 }, mail: mail, phone: phone, name: name }
    """

  private func people(_ fixture: WalkFixture) throws -> [String] {
    try fixture.rows(
      "SELECT ifnull(id, '-') || ' ' || ifnull(mail, '-') || ' ' || ifnull(phone, '-') || ' '"
        + " || ifnull(name, '-') || ' ' || ifnull(_stub, 0) FROM Person ORDER BY _pk"
    )
  }

  @Test("The record of a stub completes it, and again nothing changes", arguments: Way.allCases)
  func completed(way: Way) async throws {
    let fixture = try WalkFixture(Self.tasks)
    try await fixture.run("Task", [["no": 1, "who": "a@b"], ["no": 2, "desk": "7"]], by: way)
    #expect(try people(fixture) == ["- a@b - - 1", "- - 7 - 1"])
    let records: [ForeignValue] = [
      ["id": 5, "mail": "a@b", "name": "Ada"], ["id": 6, "phone": "7"], ["id": 8, "mail": "c@d"],
    ]
    let report = try await fixture.run("Person", records, by: way)
    #expect(report.summary == "read 3, inserted 1, updated 2")
    #expect(try people(fixture) == ["5 a@b - Ada 0", "6 - 7 - 0", "8 c@d - - 0"])
    #expect(try fixture.rows("SELECT _v FROM Person ORDER BY _pk") == ["2", "2", "1"])
    #expect(try await fixture.run("Person", records, by: way).summary == "read 3, unchanged 3")
    let who = "SELECT p.id FROM Task t JOIN Person p ON p._pk IN (t.who, t.desk) ORDER BY t.no"
    #expect(try fixture.rows(who) == ["5", "6"])
  }

  @Test("A record that is two stubs, or somebody and a stub, is refused", arguments: Way.allCases)
  func refused(way: Way) async throws {
    let fixture = try WalkFixture(Self.tasks)
    try await fixture.run("Task", [["no": 1, "who": "a@b", "desk": "7"]], by: way)
    try await fixture.run("Person", [["id": 9, "name": "Bo"]], by: way)
    let before = try people(fixture)
    let report = try await fixture.run(
      "Person",
      [["id": 5, "mail": "a@b", "phone": "7"], ["id": 9, "mail": "a@b"]],
      by: way
    )
    #expect(report.counts.rejected == 2)
    #expect(report.issues.map(\.code.rawValue) == ["key.duplicate"])
    #expect(try people(fixture) == before)
  }

  @Test(
    "The record of a general entity gives a stub that requires more its identity, and leaves it a stub",
    arguments: Way.allCases
  )
  func general(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Task:
        unique: no
        attributes: { no: { type: int64 } }
        relationships:
          who: { entity: Driver, kind: toOne, key: { mail: who }, onUnresolved: stub }
      Person:
        unique: [[id], [mail]]
        attributes: { id: { type: int64 }, mail: mail, phone: phone, name: name }
      Driver: { parent: Person, attributes: { car: { required: true } } }
      """
    )
    try await fixture.run("Task", [["no": 1, "who": "a@b"], ["no": 2, "who": "c@d"]], by: way)
    let records: [ForeignValue] = [
      ["id": 5, "mail": "a@b", "name": "Ada"], ["id": 6, "mail": "c@d"],
    ]
    #expect(try await fixture.run("Person", records, by: way).summary == "read 2, updated 2")
    #expect(try people(fixture) == ["5 a@b - Ada 1", "6 c@d - - 1"])
    #expect(try fixture.rows("SELECT _v FROM Person ORDER BY _pk") == ["2", "2"])
    #expect(try await fixture.run("Person", records, by: way).summary == "read 2, unchanged 2")
    let driver: [ForeignValue] = [["id": 5, "car": "red"]]
    #expect(try await fixture.run("Driver", driver, by: way).summary == "read 1, updated 1")
    #expect(try people(fixture) == ["5 a@b - Ada 0", "6 c@d - - 1"])
  }
}
