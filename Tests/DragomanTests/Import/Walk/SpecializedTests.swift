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
}
