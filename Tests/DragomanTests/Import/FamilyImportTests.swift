import DragomanGraph
import Testing

@testable import Dragoman

/// Records of one branch of a family whose key an object of another branch has.
@Suite("Keys of a family") struct FamilyImportTests {
  private static let map = """
    version: 1
    entities:
      Vehicle:
        unique: plate
        discriminator: { from: kind, values: { car: Car, bike: Bike } }
        deleteWhen: { from: gone, equals: true }
        attributes: { plate: {}, wheels: { type: int64 } }
      Car: { parent: Vehicle, attributes: { doors: { type: int64 } } }
      Bike: { parent: Vehicle, attributes: { gears: { type: int64 } } }
    sources: { json: { format: json, entity: Vehicle } }
    """
  private static let columns =
    "SELECT plate, _entity, wheels, doors, gears FROM Vehicle ORDER BY _pk"

  @Test(
    "A direct import rejects a record whose key is that of another branch, in every mode that writes",
    arguments: [EntityWriter.Mode.upsert, .replace]
  )
  func direct(mode: EntityWriter.Mode) async throws {
    let fixture = try ImportFixture(Self.map)
    try await fixture.run(#"[{"kind":"car","plate":"c1","wheels":4,"doors":3}]"#)
    let report = try await fixture.run(
      #"[{"kind":"bike","plate":"c1","wheels":2,"gears":21},{"kind":"bike","plate":"c1"},"#
        + #"{"kind":"bike","plate":"b1"},{"kind":"car","plate":"b1","doors":5}]"#,
      mode: mode
    )
    #expect(report.summary == "read 4, inserted 1, rejected 3")
    #expect(report.issueSummary == ["key.duplicate 2", "key.duplicate 1"])
    #expect(
      report.issues.first?.examples.first?.message
        == "The object with this key is a Car, and no Bike."
    )
    #expect(
      try sql(fixture.store, Self.columns) == ["c1|Car|4|3|null", "b1|Bike|null|null|null"]
    )
  }

  @Test("A record of the parent changes what is below; one of a sub-entity completes the parent's")
  func general() async throws {
    let fixture = try ImportFixture(Self.map)
    try await fixture.run(
      #"[{"kind":"car","plate":"c1","doors":3},{"plate":"c1","wheels":4},{"plate":"v","wheels":1},"#
        + #"{"kind":"bike","plate":"v","gears":3}]"#
    )
    #expect(try sql(fixture.store, Self.columns) == ["c1|Car|4|3|null", "v|Bike|1|null|3"])
  }

  @Test("A tombstone of another branch deletes nothing")
  func tombstones() async throws {
    let fixture = try ImportFixture(Self.map)
    try await fixture.run(#"[{"kind":"car","plate":"c1"}]"#)
    let report = try await fixture.run(#"[{"kind":"bike","plate":"c1","gone":true}]"#)
    #expect(report.summary == "read 1, unchanged 1")
    #expect(try sql(fixture.store, Self.columns) == ["c1|Car|null|null|null"])
    let second = try await fixture.run(#"[{"plate":"c1","gone":true}]"#)
    #expect(second.summary == "read 1, deleted 1")
  }

  @Test("An import through a context rejects it too, stored or unsaved", arguments: [false, true])
  func contexts(isUnsaved: Bool) async throws {
    let stack = try Stack(try ImportMap(yaml: Self.map).model(), at: .inMemory)
    let bike: ForeignValue = ["plate": "c1", "wheels": 2, "gears": 21]
    let report = try await stack.write { context -> ImportReport in
      let car = try context.insert("Car")
      car["plate"] = "c1"
      car["doors"] = 3
      if !isUnsaved { try context.save() }
      let imported = try context.import([bike, ["plate": "b1"]], into: "Bike")
      return imported.report
    }
    #expect(report.summary == "read 2, inserted 1, rejected 1")
    #expect(report.issueSummary == ["key.duplicate 1"])
    let rows = ["c1|Car|null|3|null", "b1|Bike|null|null|null"]
    #expect(try sql(stack.store, Self.columns) == rows)
    let again = try await stack.import([bike], into: "Bike")
    #expect(again.report.summary == "read 1, rejected 1")
    #expect(again.ids.isEmpty)
    // What follows in the same import has met the record before.
    let cars = try await stack.import([["plate": "b1"], ["plate": "c1", "doors": 5]], into: "Car")
    #expect(cars.report.summary == "read 2, updated 1, rejected 1")
    #expect(try sql(stack.store, Self.columns) == ["c1|Car|null|5|null", rows[1]])
  }
}
