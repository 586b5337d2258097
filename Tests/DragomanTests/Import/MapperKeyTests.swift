import DragomanGraph
import Testing

@testable import Dragoman

/// Unique keys that mappers have and the model does not: an index is made, and records find objects.
@Suite("Keys of mappers") struct MapperKeyTests {
  private static let model = Model(entities: [
    Entity(
      name: "Station",
      attributes: [
        Attribute(name: "name"), Attribute(name: "line"), Attribute(name: "zone", type: .int64),
      ],
      relationships: [Relationship(name: "next", destination: "Station", kind: .toOne)]
    ),
    Entity(name: "Terminal", attributes: [Attribute(name: "code")], parent: "Station"),
    Entity(name: "Stop", attributes: [Attribute(name: "id", type: .int64), Attribute(name: "at")]),
  ])

  private static func mapper(_ key: [String] = ["name"], of entity: String = "Station") throws
    -> Mapper
  {
    try Mapper(for: entity, in: model, uniqueKey: key) {
      Map("name", to: "name")
      Map("line", to: "line")
      Map("zone", to: "zone")
      if entity == "Terminal" { Map("code", to: "code") }
    }
  }

  private static func records(_ range: Range<Int>, zone: Int) -> [ForeignValue] {
    range.map { ["name": .string("S\($0 % 7)"), "line": "red", "zone": .integer(Int64(zone))] }
  }

  private static let rows = "SELECT count(*), count(DISTINCT name), max(zone) FROM Station"
  private static let indexes =
    "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE UNIQUE%' ORDER BY 1"

  @Test("Imports find their objects in the store and among the unsaved, in every kind of context")
  @MainActor func contexts() async throws {
    let stack = try Stack(Self.model, at: .inMemory)
    try stack.mappers.register(Self.mapper())
    let first = try await stack.import(Self.records(0..<30, zone: 1), into: "Station")
    #expect(first.report.summary == "read 30, inserted 7, unchanged 23")
    #expect(first.ids.count == 7)
    #expect(try sql(stack.store, Self.indexes) == ["Station_unique_name"])
    let again = try await stack.import(Self.records(0..<30, zone: 1), into: "Station")
    #expect(again.report.summary == "read 30, unchanged 30")
    // Main was there before, and has an object that nobody has stored.
    let new = try stack.main.insert("Station")
    new["name"] = "new"
    let mine = try stack.main.import(["name": "new", "zone": 3], into: "Station")
    #expect(mine === new && new["zone"] == 3)
    let inMain = try stack.main.import(Self.records(0..<8, zone: 2), into: "Station")
    #expect(inMain.report.summary == "read 8, updated 7, unchanged 1")
    try stack.main.save()
    try await stack.write { context in
      let imported = try context.import(Self.records(0..<9, zone: 4), into: "Station")
      #expect(imported.report.summary == "read 9, updated 7, unchanged 2")
    }
    #expect(try sql(stack.store, Self.rows) == ["8|8|4"])
  }

  @Test("A context that was made before the mapper was registered knows its key")
  @MainActor func laterMapper() async throws {
    let stack = try Stack(Self.model, at: .inMemory)
    let main = stack.main
    let old = try main.insert("Station")
    old["name"] = "S1"
    let kept = try main.insert("Stop")
    kept["id"] = 1
    try stack.mappers.register(Self.mapper())
    #expect(try main.import(["name": "S1", "zone": 2], into: "Station") === old)
    #expect(try await stack.import([["name": "S1", "zone": 5]], into: "Station").ids.count == 1)
    try main.save()
    #expect(try sql(stack.store, "SELECT name, zone FROM Station").count == 1)
    #expect(try sql(stack.store, "SELECT id FROM Stop") == ["1"])
    // After a reset the model has the key from the beginning.
    try stack.reset()
    try await stack.import(Self.records(0..<14, zone: 1), into: "Station")
    #expect(try sql(stack.store, Self.rows) == ["7|7|1"])
  }

  @Test("What stands in the store more than once is named, and nothing is imported")
  func duplicates() async throws {
    let stack = try Stack(Self.model, at: .inMemory)
    try await stack.import(Self.records(0..<16, zone: 1), into: "Station")
    try stack.mappers.register(Self.mapper())
    let error = await #expect(throws: StoreError.self) {
      try await stack.import([["name": "other"]], into: "Station")
    }
    #expect(error?.code == .modelConflict)
    #expect(
      error?.message
        == "[name] cannot be a unique key of Station: 16 objects share their values (\"S0\" 3 times;"
        + " \"S1\" 3 times; \"S2\" 2 times)."
    )
    let failure = await #expect(throws: ImportFailure.self) {
      let request = ImportRequest([.records([["name": "other"]])])
      _ = try await Importer(mapper: try Self.mapper(), store: stack.store).run(request)
    }
    #expect((failure?.cause as? StoreError)?.message == error?.message)
    #expect(try sql(stack.store, Self.rows) == ["16|7|1"])
    // Without the duplicates it works.
    try await stack.write { _ = try $0.deleteAll(FetchRequest("Station")) }
    try await stack.import(Self.records(0..<16, zone: 1), into: "Station")
    #expect(try sql(stack.store, Self.rows) == ["7|7|1"])
  }

  @Test("Direct imports into a store without the key make it, and find objects by it")
  func direct() async throws {
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: Self.model)
    let importer = Importer(mapper: try Self.mapper(["name", "line"]), store: store)
    for summary in ["read 30, inserted 7, unchanged 23", "read 30, unchanged 30"] {
      let request = ImportRequest([.records(Self.records(0..<30, zone: 1))])
      #expect(try await importer.run(request).summary == summary)
    }
    #expect(try sql(store, Self.indexes) == ["Station_unique_name_line"])
  }

  @Test("A sub-entity has the key of its parent's mapper, or one of its own properties")
  func families() async throws {
    let stack = try Stack(Self.model, at: .inMemory)
    try stack.mappers.register(Self.mapper())
    try await stack.import([["name": "A"], ["name": "A", "zone": 1]], into: "Terminal")
    #expect(try sql(stack.store, "SELECT _entity, name, zone FROM Station") == ["Terminal|A|1"])
    let other = try Stack(Self.model, at: .inMemory)
    try other.mappers.register(Self.mapper(["code"], of: "Terminal"))
    let codes: [ForeignValue] = [["name": "A", "code": "x"], ["name": "B", "code": "x"]]
    try await other.import(codes, into: "Terminal")
    try await other.import([["name": "A"], ["name": "A"]], into: "Station")
    #expect(
      try sql(other.store, "SELECT _entity, name, code FROM Station ORDER BY _pk")
        == ["Terminal|B|x", "Station|A|null", "Station|A|null"]
    )
    #expect(try sql(other.store, Self.indexes) == ["Station_unique_code"])
  }

  @Test("A key beside another one that the store has is refused by name")
  func anotherKey() async throws {
    let stack = try Stack(Self.model, at: .inMemory)
    try stack.mappers.register(Self.mapper())
    try await stack.import([["name": "A"]], into: "Station")
    try stack.mappers.register(Self.mapper(["line"]))
    let error = await #expect(throws: StoreError.self) {
      try await stack.import([["name": "B"]], into: "Station")
    }
    #expect(error?.code == .modelConflict)
    #expect(error?.message.contains("found by [name] in the model, and by [line]") == true)
  }
}
