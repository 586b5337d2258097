import DragomanGraph
import Testing

@testable import Dragoman

/// Records of a sub-entity about an object that is known by a more general entity: it becomes one of the sub-entity.
@Suite("Objects that become of a sub-entity") struct SpecializedTests {
  @Test(
    "A record that lacks what the sub-entity requires makes no object of it",
    arguments: Way.allCases
  )
  func required(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Thing: { unique: id, attributes: { id: { type: int64 }, name: { required: true } } }
      Car: { parent: Thing, attributes: { wheels: { type: int64, required: true } } }
      Van: { parent: Car, attributes: { load: { type: int64 } } }
      """
    )
    let cars = "SELECT id, _entity, wheels, load FROM Thing ORDER BY id"
    try await fixture.run("Thing", [["id": 1, "name": "a"], ["id": 2, "name": "b"]], by: way)
    let bare = try await fixture.run("Car", [["id": 1]], by: way)
    #expect(bare.summary == "read 1, rejected 1" && bare.issues.map(\.code) == [.incomplete])
    #expect(try fixture.rows(cars) == ["1|Thing|null|null", "2|Thing|null|null"])
    // The name is there, and stays.
    let whole = try await fixture.run("Car", [["id": 1, "wheels": 4]], by: way)
    #expect(whole.summary == "read 1, updated 1")
    let van = try await fixture.run("Van", [["id": 1, "load": 9], ["id": 2, "load": 9]], by: way)
    #expect(van.summary == "read 2, updated 1, rejected 1")
    #expect(try fixture.rows(cars) == ["1|Van|4|9", "2|Thing|null|null"])
    #expect(try await fixture.run("Car", [["id": 1]], by: way).summary == "read 1, unchanged 1")
  }

  @Test("An older record leaves the object alone, whatever it lacks", arguments: Way.allCases)
  func older(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Thing: { unique: id, version: v, attributes: { id: { type: int64 }, v: { type: int64 } } }
      Car: { parent: Thing, attributes: { wheels: { type: int64, required: true } } }
      """
    )
    try await fixture.run("Thing", [["id": 1, "v": 3]], by: way)
    let records: [ForeignValue] = [
      ["id": 1, "v": 2], ["id": 1, "v": 3], ["id": 1, "v": 2, "wheels": 4],
    ]
    let report = try await fixture.run("Car", records, by: way)
    #expect(report.summary == "read 3, skipped 2, rejected 1")
    #expect(try fixture.rows("SELECT id, _entity, v FROM Thing") == ["1|Thing|3"])
  }

  @Test("It gets the defaults of what it did not have, and no others", arguments: Way.allCases)
  func defaults(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Owner: { unique: id, attributes: { id: { type: int64 } }, relationships: { thing: { entity: Thing, kind: toOne, key: { id: thing }, onUnresolved: stub } } }
      Thing: { unique: id, attributes: { id: { type: int64 }, name: { default: none } } }
      Car: { parent: Thing, attributes: { wheels: { type: int64, required: true, default: "4" }, seats: { type: int64, required: true } } }
      Van: { parent: Car, attributes: { load: { type: int64, default: "7" } } }
      """
    )
    let cars = "SELECT id, _entity, name, wheels, seats, load FROM Thing ORDER BY id"
    try await fixture.run("Thing", [["id": 1, "name": nil], ["id": 2]], by: way)
    try await fixture.run("Owner", [["id": 1, "thing": 3]], by: way)
    let records: [ForeignValue] = [1, 2, 3].map { ["id": .integer($0), "seats": 2] }
    #expect(try await fixture.run("Car", records, by: way).summary == "read 3, updated 3")
    #expect(
      try fixture.rows(cars)
        == ["1|Car|null|4|2|null", "2|Car|none|4|2|null", "3|Car|none|4|2|null"]
    )
    try await fixture.run("Car", [["id": 1, "wheels": 3]], by: way)
    let vans: [ForeignValue] = [["id": 1], ["id": 2, "load": 1]]
    #expect(try await fixture.run("Van", vans, by: way).summary == "read 2, updated 2")
    #expect(
      try fixture.rows(cars)
        == ["1|Van|null|3|2|7", "2|Van|none|4|2|1", "3|Car|none|4|2|null"]
    )
  }
}
