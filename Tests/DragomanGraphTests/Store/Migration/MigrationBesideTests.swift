import Foundation
import GRDB
import Testing

@testable import DragomanGraph

/// Migrations of files in which others have made columns, indexes, triggers and views.
@Suite("Migrations beside what others have made") struct MigrationBesideTests {
  private static let id = Attribute(name: "id", type: .int64)
  private static let a = Attribute(name: "a")
  private static let b = Attribute(name: "b")

  private static func model(
    _ attributes: [Attribute],
    id type: AttributeType = .int64,
    unique: [[String]] = [["id"]]
  ) -> Model {
    let id = Attribute(name: "id", type: type)
    return Model(entities: [Entity(name: "P", attributes: [id] + attributes, uniqueKeys: unique)])
  }

  /// A store with a row, and what somebody else makes in it.
  private func store(_ statements: [String]) throws -> SQLiteStore {
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: Self.model([Self.a, Self.b]))
    try store.execute(
      ["INSERT INTO P (_pk, _v, id, a, b) VALUES (1, 1, 1, 'x', 'y')", "CREATE TABLE log (n)"]
        + statements
    )
    return store
  }

  /// What somebody else has made, the change that it is in the way of, and what is said of it.
  struct Obstacle: Sendable, CustomTestStringConvertible {
    let statement: String
    let model: Model
    var drops = false
    /// Whether the model is only larger, as an import's may be.
    var isGrowth = false
    let words: String
    var testDescription: String { statement }
  }

  private static let obstacles = [
    Obstacle(
      statement: "CREATE INDEX P_unique_a ON P (b)",
      model: model([a, b], unique: [["id"], ["a"]]),
      isGrowth: true,
      words: "The index P_unique_a, which Dragoman did not make, has the name"
    ),
    Obstacle(
      statement: "CREATE INDEX P_a ON P (a, b)",
      model: model([a.with { $0.isIndexed = true }, b]),
      words: "The index P_a, which Dragoman did not make, has the name"
    ),
    Obstacle(
      statement: "CREATE UNIQUE INDEX P_c ON P (b)",
      model: model([
        a, b.with { ($0.name, $0.column, $0.renamedFrom, $0.isIndexed) = ("c", "c", "b", true) },
      ]),
      words: "The index P_c, which Dragoman did not make, has the name"
    ),
    Obstacle(
      statement: "CREATE INDEX mine ON P (b)",
      model: model([a]),
      drops: true,
      words: "The index mine, which Dragoman did not make, does not fit P any more"
    ),
    Obstacle(
      statement: "CREATE VIEW v AS SELECT a, b FROM P",
      model: model([a]),
      drops: true,
      words:
        "The view v, which Dragoman did not make, does not work with the new model: no such column: b."
    ),
    Obstacle(
      statement: "CREATE TRIGGER t AFTER INSERT ON P BEGIN INSERT INTO log VALUES (new.b); END",
      model: model([a]),
      drops: true,
      words:
        "The trigger t, which Dragoman did not make, does not work with the new model: no such column: new.b."
    ),
    Obstacle(
      statement: "ALTER TABLE P ADD COLUMN twice GENERATED ALWAYS AS (id * 2)",
      model: model([a, b], id: .string),
      words: "The column twice of P, which Dragoman did not make, cannot be made anew"
    ),
    Obstacle(
      statement: "ALTER TABLE P ADD COLUMN mine",
      model: model([a, b, Attribute(name: "Mine")]),
      isGrowth: true,
      words: "The table P has a column Mine already"
    ),
    Obstacle(
      statement: "ALTER TABLE P ADD COLUMN mine",
      model: model([a, Attribute(name: "mine").with { $0.renamedFrom = "b" }]),
      words: "The table P has a column mine already"
    ),
    Obstacle(
      statement: "CREATE VIEW Q AS SELECT 1",
      model: Model(entities: model([a, b]).entities + [Entity(name: "Q", attributes: [id])]),
      isGrowth: true,
      words: "The database has a view Q already"
    ),
  ]

  @Test(
    "What they are in the way of is told before anything is done, and nothing is changed",
    arguments: obstacles
  )
  func obstacle(_ obstacle: Obstacle) throws {
    let store = try store([obstacle.statement])
    let before = try store.dump()
    let planned = try store.migration(to: obstacle.model, drops: obstacle.drops)
    #expect(
      planned.faults.count == 1 && planned.faults[0].hasPrefix(obstacle.words),
      "\(planned.faults)"
    )
    #expect(!planned.steps.isEmpty)
    let error = #expect(throws: StoreError.self) {
      try store.migrate(to: obstacle.model, drops: obstacle.drops)
    }
    #expect(error?.code == .modelConflict)
    #expect(error?.message == planned.faults.first)
    #expect(try store.dump() == before)
  }

  @Test(
    "What is only new is refused in the same way where a store grows",
    arguments: obstacles.filter(\.isGrowth)
  )
  func growth(_ obstacle: Obstacle) throws {
    let store = try store([obstacle.statement])
    let before = try store.dump()
    let error = #expect(throws: StoreError.self) { try store.grow(to: obstacle.model) }
    #expect(error?.code == .modelConflict, "\(String(describing: error))")
    #expect(try store.dump() == before)
  }

  @Test("An index of somebody else stays, whatever its name")
  func strangeIndex() throws {
    let store = try store([])
    try store.migrate(to: Self.model([Self.a.with { $0.isIndexed = true }, Self.b]))
    try store.execute(["DROP INDEX P_a", "CREATE INDEX P_a ON P (b, a)"])
    try store.migrate(to: Self.model([Self.a, Self.b]), drops: true)
    #expect(
      try store.texts("SELECT sql FROM sqlite_master WHERE name = 'P_a'")
        == ["CREATE INDEX P_a ON P (b, a)"]
    )
  }

  @Test("What was broken before is in nobody's way, and what works goes on working")
  func brokenBefore() throws {
    let store = try store([
      "CREATE VIEW broken AS SELECT x FROM nowhere",
      "CREATE VIEW v AS SELECT id, a FROM P",
      "CREATE TRIGGER t AFTER UPDATE OF a ON P BEGIN INSERT INTO log VALUES (new.a); END",
    ])
    let planned = try store.migration(to: Self.model([Self.a]), drops: true)
    #expect(planned.faults == [])
    try store.migrate(to: Self.model([Self.a]), drops: true)
    try store.execute(["UPDATE P SET a = 'z'"])
    #expect(try store.texts("SELECT * FROM v, log") == ["1|z|z"])
    // SQLite renames nothing beside it.
    let renamed = Self.model([Attribute(name: "c").with { $0.renamedFrom = "a" }])
    #expect(
      try store.migration(to: renamed).faults == [
        "The view broken, which Dragoman did not make, does not work: no such table: main.nowhere."
          + " Drop it first, and make it again afterwards."
      ]
    )
  }

  @Test("Of what a file says of its views only one statement is ever run")
  func hiddenStatements() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (path, other) = (folder.appending(path: "a.db").path, folder.appending(path: "b.db").path)
    try SQLiteStore(at: .file(path)).grow(to: Self.model([Self.a]))
    let hidden = "CREATE VIEW v AS SELECT 1; ATTACH '\(other)' AS z; CREATE TABLE z.t (a)"
    let stranger = try DatabaseQueue(path: path)
    try stranger.writeWithoutTransaction { database in
      try database.execute(sql: "CREATE VIEW v AS SELECT 1; PRAGMA writable_schema = ON")
      try database.execute(
        sql: "UPDATE sqlite_master SET sql = ? WHERE name = 'v'",
        arguments: [hidden]
      )
    }
    try stranger.close()
    let store = try SQLiteStore(at: .file(path))
    #expect(try store.migration(to: Self.model([Self.a, Self.b])).faults == [])
    #expect(!FileManager.default.fileExists(atPath: other))
  }

  @Test("A trigger that refuses a step is told as what it is")
  func refusingTrigger() throws {
    let store = try store([
      "CREATE TRIGGER t BEFORE UPDATE ON P BEGIN SELECT raise(ABORT, 'no changes'); END"
    ])
    let wanted = Self.model([
      Self.a, Self.b, Attribute(name: "c", isRequired: true, defaultValue: "?"),
    ])
    let error = #expect(throws: StoreError.self) { try store.migrate(to: wanted) }
    #expect(error?.code == .modelConflict)
    #expect(error?.message == "A trigger, which Dragoman did not make, refuses a step: no changes.")
  }

  @Test("A default with NUL is whole in the objects that are there")
  func defaultWithNUL() throws {
    let store = try store([])
    let text = StoredValue.text("a\u{0}b")
    try store.migrate(
      to: Self.model([Self.a, Self.b, Attribute(name: "c", isRequired: true, defaultValue: text)])
    )
    #expect(try store.texts("SELECT hex(c) FROM P") == ["610062"])
  }

  @Test("A key that waits and has no new form is in the way")
  func waitingKey() throws {
    func model(_ type: AttributeType) -> Model {
      Model(entities: [
        Entity(
          name: "P",
          attributes: [Self.id],
          relationships: [.toOne("c", "C")],
          uniqueKeys: [["id"]]
        ),
        Entity(
          name: "C",
          attributes: [Attribute(name: "code", type: type)],
          uniqueKeys: [["code"]]
        ),
      ])
    }
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: model(.string))
    try store.execute([
      "INSERT INTO P (_pk, _v, id) VALUES (1, 1, 1), (2, 1, 2)",
      """
      INSERT INTO _dragoman_pending (owner, relationship, entity, key) VALUES
        (1, 'P.c', 'C', '{"code":"abc"}'), (2, 'P.c', 'C', '{"code":"7"}')
      """,
    ])
    #expect(
      try store.migration(to: model(.int64)).faults == [
        "C.code cannot become int64 from string: 1 reference of P.c waits for what does not convert (abc)."
      ]
    )
    try store.execute(["DELETE FROM _dragoman_pending WHERE owner = 1"])
    try store.migrate(to: model(.int64))
    #expect(try store.texts("SELECT key FROM _dragoman_pending") == [#"{"code":7}"#])
  }

  @Test("Of a parent that has the same key an entity has none of its own")
  func inheritedKey() throws {
    let store = try store([])
    let wanted = Model(entities: [
      Entity(name: "R", attributes: [Self.id], uniqueKeys: [["id"]]),
      Entity(name: "P", table: "R", attributes: [Self.a, Self.b], parent: "R"),
    ])
    try store.migrate(to: wanted)
    #expect(Set(store.model.entities) == Set(wanted.entities))
  }
}
