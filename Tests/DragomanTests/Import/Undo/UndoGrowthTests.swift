import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Imports taken back after the model was changed in between: what comes back is as what was there.
@Suite("Imports taken back, and a model that was changed in between")
struct UndoGrowthTests {
  private static func map(_ entities: String) -> String {
    "version: 1\nentities: { \(entities) }\nsources: { json: { format: json, entity: Car } }"
  }

  private func migrate(_ fixture: ImportFixture, to entities: String) throws {
    try fixture.store.migrate(to: ImportMap(yaml: Self.map(entities)).model())
  }

  private static let car = "Car: { unique: id, attributes: { id: id, doors: { type: int64 } } }"
  static let van = """
    Car: { unique: id, attributes: { id: id, doors: { type: int64 } },
      discriminator: { from: kind, values: { van: Van } } }, Van: { parent: Car, attributes: { load: { type: int64 } } }
    """
  static let thing = """
    Thing: { unique: id, table: Car, attributes: { id: id } }, Car: { parent: Thing, attributes: { doors: { type: int64 } } }
    """
  static let required = """
    Car: { unique: id, attributes: { id: id, doors: { type: int64 }, state: { required: true, default: open } } }
    """
  static let filled = """
    Car: { unique: id, attributes: { id: id, doors: { type: int64, required: true, default: 4 } } }
    """

  /// Two cars, of which the second import deletes one and changes one.
  private func cars() async throws -> ImportFixture {
    let fixture = try ImportFixture(Self.map(Self.car))
    try await fixture.run(#"[{"id":"a"},{"id":"b","doors":2}]"#)
    try await fixture.run(#"[{"id":"b","doors":5}]"#) { $0.prune = .init() }
    return fixture
  }

  @Test(
    "Rows are not brought back as objects of no entity, where nobody wrote down of which they are"
  )
  func unnamed() async throws {
    let fixture = try await cars()
    try migrate(fixture, to: Self.van)
    // As an older version had it.
    try fixture.store.write { session in
      try session.begin()
      try session.database.execute(
        sql:
          "UPDATE _dragoman_undo SET changes = CAST(json_remove(CAST(changes AS TEXT), '$.additions') AS BLOB)"
          + " WHERE part = 0"
      )
      try session.commit()
    }
    let error = #expect(throws: StoreError.self) { try fixture.store.undoImport(2) }
    #expect(
      error?.code == .undo && error?.message.contains("sub-entities to the table Car") == true
    )
  }

  @Test(
    "Rows that come back are of the entity, and have the defaults, that those got which were there",
    arguments: [
      (UndoGrowthTests.van, "_entity, doors", ["Car|null", "Car|2"]),
      (UndoGrowthTests.thing, "_entity, doors", ["Car|null", "Car|2"]),
      (UndoGrowthTests.required, "state, doors", ["open|null", "open|2"]),
      (UndoGrowthTests.filled, "doors", ["4", "2"]),
    ]
  )
  func migrated(entities: String, columns: String, expected: [String]) async throws {
    let fixture = try await cars()
    try migrate(fixture, to: entities)
    let query = "SELECT \(columns) FROM Car ORDER BY id"
    #expect(try fixture.store.withCopy(asOf: 1) { try sql($0, query) } == expected)
    var told: [String] = []
    try fixture.store.changes(ofImport: 2) { told.append("\($0.entity) \($0.kind.rawValue)") }
    #expect(told.sorted() == ["Car deleted", "Car updated"])
    #expect(try fixture.store.undoImport(2).isPossible)
    #expect(try sql(fixture.store, query) == expected)
    // What is there again is what it was.
    let migrated = try ImportFixture(Self.map(entities), in: fixture.store)
    let again = try await migrated.run(#"[{"id":"a"}]"#)
    #expect(again.summary == "read 1, unchanged 1")
    #expect(try fixture.store.undoImport(3).isPossible)
    #expect(try sql(fixture.store, query).count == 1)
  }

  @Test("An import that brings the first sub-entity leaves no objects without an entity")
  func grown() async throws {
    let fixture = try await cars()
    let more = try ImportFixture(Self.map(Self.van), in: fixture.store)
    try await more.run(#"[{"id":"v","kind":"van","load":7}]"#)
    #expect(try fixture.store.undoImport(2).isPossible)
    let names = try sql(fixture.store, "SELECT id, _entity FROM Car ORDER BY id")
    #expect(names == ["a|Car", "b|Car", "v|Van"])
    #expect(try more.rows("Car", ["id"]).sorted() == ["a", "b", "v"])
  }

  @Test("An import in batches that broke off before a migration is taken back like any other")
  func brokenOff() async throws {
    let fixture = try await cars()
    await #expect(throws: ImportFailure.self) {
      try await fixture.run(#"[{"id":"b","doors":6},{"id":"c"},{"#) {
        $0.options.commit = .batch
        $0.options.batchSize = 1
      }
    }
    try migrate(fixture, to: Self.required)
    #expect(try fixture.store.undoImport(3).isPossible)
    #expect(try sql(fixture.store, "SELECT id, doors FROM Car") == ["b|5"])
  }

  @Test("A migration that gives entities other names ends what is recorded")
  func renamed() async throws {
    let fixture = try ImportFixture(Self.map(Self.van))
    try await fixture.run(#"[{"id":"a","kind":"van"},{"id":"b"}]"#)
    try await fixture.run(#"[{"id":"b"}]"#) { $0.prune = .init() }
    let lorry = Self.van.replacing("van: Van", with: "van: Lorry")
      .replacing("Van: {", with: "Lorry: { renamedFrom: Van,")
    try migrate(fixture, to: lorry)
    #expect(throws: StoreError.self) { try fixture.store.undoImport(2) }
    #expect(try sql(fixture.store, "SELECT id FROM Car") == ["b"])
  }

  @Test("Rows of others that refer to what would go refuse an undo, whatever their rule says")
  func references() async throws {
    for rule in ["", "ON DELETE RESTRICT", "DEFERRABLE INITIALLY DEFERRED"] {
      let fixture = try ImportFixture(Self.map(Self.car))
      try await fixture.run(#"[{"id":"a"}]"#)
      try await fixture.run(#"[{"id":"a","doors":3},{"id":"b"}]"#)
      try fixture.store.write { session in
        try session.begin()
        try session.database.execute(
          sql: """
            CREATE TABLE note (p INTEGER REFERENCES Car (_pk) \(rule), t TEXT);
            INSERT INTO note SELECT _pk, 'mine' FROM Car WHERE id = 'b'
            """
        )
        try session.commit()
      }
      for isDryRun in [true, false] {
        let error = #expect(throws: StoreError.self) {
          try fixture.store.undoImport(2, isDryRun: isDryRun)
        }
        #expect(error?.code == .protected && error?.message.contains("\"note\"") == true)
      }
      #expect(try sql(fixture.store, "SELECT id, doors FROM Car ORDER BY id") == ["a|3", "b|null"])
    }
  }

  @Test("Imports that came to nothing are not in the way, whatever stands between them")
  func nothingBetween() async throws {
    let fixture = try ImportFixture(attributes: "name: { type: string }")
    try await fixture.run(#"[{"id":0}]"#)
    try await fixture.run(#"[{"id":1,"name":"good"},{"id":2}]"#)
    try await fixture.run(#"[{"id":1,"name":"bad"},{"id":0,"name":"x"}]"#)
    try await fixture.run(#"[{"id":9,"name":"other"}]"#)
    #expect(try fixture.store.undoImport(3).isPossible)
    #expect(try fixture.store.undoImport(2, isDryRun: true).isPossible)
    // What somebody makes of the others' objects is none of this one's.
    try await fixture.run(#"[{"id":2,"name":"later"}]"#)
    let refused = try fixture.store.undoImport(2)
    #expect(refused.conflicts.compactMap { $0.key?.parts.first?.value } == [.integer(2)])
    #expect(try fixture.store.undoImport(6).isPossible)
    var told: [String] = []
    _ = try fixture.store.previewUndo(2) {
      told.append("\($0.kind.rawValue) \($0.key[0].value.text)")
    }
    #expect(told == ["deleted 1", "deleted 2"])
    #expect(try fixture.store.undoImport(2).isPossible)
    #expect(try sql(fixture.store, "SELECT id, name FROM P ORDER BY id") == ["0|null", "9|other"])
  }

  @Test(
    "Objects that another import of an undone one has changed since are no hindrance to the rest"
  )
  func othersObjects() async throws {
    let fixture = try ImportFixture(attributes: "name: { type: string }")
    try await fixture.run(#"[{"id":0}]"#)
    try await fixture.run(#"[{"id":1}]"#)
    try await fixture.run(#"[{"id":0,"name":"x"}]"#)
    #expect(try fixture.store.undoImport(3).isPossible)
    try await fixture.run(#"[{"id":0,"name":"y"}]"#)
    #expect(try fixture.store.undoImport(2).isPossible)
    #expect(try sql(fixture.store, "SELECT id, name FROM P") == ["0|y"])
  }
}
