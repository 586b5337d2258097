import Foundation
import GRDB
import TestSupport
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Files that hold what Dragoman never wrote: reading them says so and never ends the process.
@Suite("Damaged stores") struct DamagedStoreTests {
  private static let map = """
    version: 1
    name: m
    entities:
      Company:
        unique: id
        attributes: { id: { type: int64 }, name: {} }
        relationships:
          staff: { entity: Person, kind: toMany, inverse: company, ordered: true }
      Person:
        unique: id
        discriminator: { from: kind, values: { p: Person, m: Manager } }
        attributes:
          id: { type: int64 }
          name: {}
          salary: { type: decimal, scale: 2 }
          born: { type: date }
          ratio: { type: double }
          extra: { type: json }
        relationships:
          company:
            { entity: Company, kind: toOne, inverse: staff, key: { id: c }, onUnresolved: pending }
          tags:
            { entity: Tag, kind: toMany, key: { code: "t[*]" }, ordered: true, onUnresolved: pending }
          friends: { entity: Person, kind: toMany, key: { id: "f[*]" }, onUnresolved: stub }
      Manager: { parent: Person, attributes: { level: { type: int32 } } }
      Tag: { unique: code, attributes: { code: {}, label: {} } }
    sources:
      people: { format: json, records: people, entity: Person }
      companies: { format: json, records: companies, entity: Company }
      tags: { format: json, records: tags, entity: Tag }
    """

  /// A feed; the second one changes and links what the first one made.
  private static func feed(_ number: Int) -> String {
    let people = (0..<20).map { id in
      let kind = id.isMultiple(of: 4) ? "\"m\",\"level\":\(id)" : "\"p\""
      return "{\"kind\":\(kind),\"id\":\(id),\"name\":\"N\(id + number)\",\"salary\":\(id).5,"
        + "\"born\":\"2000-01-02\",\"ratio\":0.\(id + number),\"extra\":[\(id)],\"c\":\(id % 5),"
        + "\"t\":[\"t\(id % 4)\",\"t\(id % 6)\",\"t\(id % 7 + number)\"],\"f\":[\(id + 3 + number)]}"
    }
    let companies = (0..<2 + number).map { "{\"id\":\($0),\"name\":\"C\"}" }
    let tags = (0..<4 + number).map { "{\"code\":\"t\($0)\"}" }
    return "{\"people\":[\(people.joined(separator: ","))],"
      + "\"companies\":[\(companies.joined(separator: ","))],\"tags\":[\(tags.joined(separator: ","))]}"
  }

  /// A folder with `whole.db`, which has objects, links, stubs, references that wait, and imports.
  private static func withStore(_ body: (_ folder: URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try SQLiteStore(at: .file(folder.appending(path: "whole.db").path))
    let fixture = try ImportFixture(map, in: store)
    let report = try await fixture.run(feed(0))
    #expect(report.counts.inserted == 26 && report.counts.rejected == 0)
    #expect(try store.contents().pendingCount > 0)
    try store.close()
    let queue = try DatabaseQueue(path: folder.appending(path: "whole.db").path)
    try await queue.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }
    try queue.close()
    try await body(folder)
  }

  /// Everything that reads a file, one after the other; what each of them throws.
  private static func read(_ path: String) async -> [any Error] {
    var errors: [any Error] = []
    func attempt(_ body: () async throws -> Void) async {
      do { try await body() } catch { errors.append(error) }
    }
    let store: SQLiteStore
    do { store = try SQLiteStore(at: .file(path)) } catch { return [error] }
    await attempt { _ = try store.contents(examples: nil) }
    await attempt { _ = try store.history() }
    await attempt { _ = try store.stubs(of: "Person") }
    await attempt { _ = try store.pendingReferences() }
    await attempt {
      let filter = try Filter(parsing: "ANY tags.code == 't1' OR company.name != nil OR salary > 3")
      let sort = [SortKey("company.name"), SortKey("salary")]
      try store.forEachRow(FetchRequest("Person", filter: filter, sortKeys: sort)) { row in
        _ = (row.objectID, row.entityName, row.values)
      }
    }
    await attempt { _ = try store.backup(to: path + ".copy") }
    await attempt {
      let map = try ImportMap(yaml: map)
      for entity in ["Person", "Company"] {
        let request = ExportRequest(entity: entity, isLossy: true)
        _ = try await Exporter(map: map, store: store).run(request, to: .file(path + ".json"))
      }
    }
    await attempt {
      var model = store.model
      for index in model.entities.indices {
        model.entities[index].attributes.append(Attribute(name: "more", type: .int64))
        model.entities[index].renamedFrom = model.entities[index].name
        model.entities[index].name += "2"
      }
      _ = try store.migration(to: model)
    }
    await attempt {
      let fixture = try ImportFixture(map, in: store)
      try await fixture.run(feed(1)) { request in
        request.isDryRun = true
        request.changes = { _ in }
      }
    }
    await attempt {
      let stack = try Stack(try ImportMap(yaml: map).model(), at: .file(path))
      defer { try? stack.close() }
      try await stack.write { context in
        for person in try context.fetch(FetchRequest("Person")) {
          _ = (try person.dictionary(), try person.target(of: "company"))
          for tag in try person.targets(of: "tags") { _ = try tag.dictionary() }
          for friend in try person.targets(of: "friends") { try friend.setValue("x", of: "name") }
        }
        for company in try context.fetch(FetchRequest("Company")) {
          let staff = try company.targets(of: "staff")
          try company.setTargets(staff.reversed(), of: "staff")
        }
        let new = try context.insert("Manager")
        new["id"] = 1_000_000
      }
    }
    await attempt { try await ImportFixture(map, in: store).run(feed(1)) }
    await attempt { try store.close() }
    return errors
  }

  /// What stands in the way of all rules.
  private static let strangers: [DatabaseValue] = [
    .null, "x".databaseValue, "".databaseValue, "{".databaseValue, "[1]".databaseValue,
    #"{"id":[1]}"#.databaseValue, #"{"a":1}"#.databaseValue, Data([0, 255]).databaseValue,
    Int64.max.databaseValue, Int64.min.databaseValue, (-1).databaseValue, 0.databaseValue,
    2.5.databaseValue, 1e300.databaseValue,
  ]

  private static let ownColumns: [(table: String, column: String)] =
    [
      ("_dragoman_model", "model"), ("_dragoman_keys", "next"),
    ]
    + ["owner", "relationship", "entity", "key"].map { ("_dragoman_pending", $0) }
    + [
      "source", "fingerprint", "map", "map_hash", "started", "finished", "status", "committed",
      "read", "inserted", "updated", "unchanged", "deleted", "skipped", "rejected", "bytes",
    ].map { ("_dragoman_imports", $0) }

  @Test("Single bytes and values that were changed never end the process")
  func mutants() async throws {
    let seed = Seeds.seed()
    let count =
      ProcessInfo.processInfo.environment["DRAGOMAN_MUTANTS"].flatMap(Int.init) ?? 40
    print("damaged stores: seed \(seed)")
    var random = SplitMix(state: seed)
    try await Self.withStore { folder in
      let whole = try Array(Data(contentsOf: folder.appending(path: "whole.db")))
      let used = whole.indices.filter { whole[$0] != 0 }
      for number in 0..<count {
        let path = folder.appending(path: "\(number).db").path
        var bytes = whole
        if number.isMultiple(of: 2) {
          let place = used.randomElement(using: &random) ?? 0
          bytes[place] = UInt8.random(in: .min ... .max, using: &random)
          try Data(bytes).write(to: URL(filePath: path))
        } else {
          try Data(bytes).write(to: URL(filePath: path))
          let (table, column) = Self.ownColumns.randomElement(using: &random) ?? ("", "")
          let value = Self.strangers.randomElement(using: &random) ?? .null
          let queue = try DatabaseQueue(path: path)
          try await queue.write {
            try $0.execute(sql: "UPDATE \(table) SET \(column) = ?", arguments: [value])
          }
          try queue.close()
        }
        let errors = await Self.read(path)
        // A cause that nobody knows shows its values, and has neither place nor remedy.
        #expect(
          !errors.contains { $0 is RowDecodingError || $0 is DecodingError },
          "seed \(seed), mutant \(number): \(errors)"
        )
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where file != "whole.db" {
          try FileManager.default.removeItem(at: folder.appending(path: file))
        }
      }
    }
  }

  @Test(
    "A value of another type in a table of ours is told as damage, with its column",
    arguments: [
      ("UPDATE _dragoman_pending SET owner = NULL", "_dragoman_pending"),
      ("UPDATE _dragoman_pending SET owner = 'x'", "_dragoman_pending"),
      ("UPDATE _dragoman_pending SET relationship = NULL", "relationship"),
      ("UPDATE _dragoman_pending SET relationship = x'00'", "relationship"),
      ("UPDATE _dragoman_pending SET entity = NULL", "_dragoman_pending"),
      ("UPDATE _dragoman_pending SET key = '{'", "_dragoman_pending"),
      ("UPDATE _dragoman_pending SET key = '[1]'", "_dragoman_pending"),
      ("UPDATE _dragoman_imports SET read = 'x'", "The column read of _dragoman_imports"),
      ("UPDATE _dragoman_imports SET bytes = -1", "The column bytes of _dragoman_imports"),
      ("UPDATE _dragoman_imports SET inserted = 2.5", "The column inserted of _dragoman_imports"),
      ("UPDATE _dragoman_imports SET source = x'00ff'", "The column source of _dragoman_imports"),
      ("UPDATE _dragoman_imports SET finished = 7.5, status = 7", "no status"),
      ("UPDATE _dragoman_model SET model = x'00'", "The column model of _dragoman_model"),
      ("UPDATE _dragoman_model SET model = NULL", "The column model of _dragoman_model"),
    ]
  )
  func types(statement: String, words: String) async throws {
    try await Self.withStore { folder in
      let path = folder.appending(path: "whole.db").path
      let queue = try DatabaseQueue(path: path)
      try await queue.write { try $0.execute(sql: statement) }
      try queue.close()
      let error = #expect(throws: StoreError.self) {
        let store = try SQLiteStore(at: .file(path))
        defer { try? store.close() }
        _ = try store.contents()
      }
      #expect(error?.code == .damaged)
      #expect(error?.message.contains(words) == true, "\(String(describing: error))")
    }
  }

  @Test(
    "A next key that cannot be is damage for imports and contexts, and no arithmetic",
    arguments: ["9223372036854775807", "-1", "0", "'x'", "2.5", "NULL"]
  )
  func nextKeys(value: String) async throws {
    try await Self.withStore { folder in
      let path = folder.appending(path: "whole.db").path
      let queue = try DatabaseQueue(path: path)
      try await queue.write { try $0.execute(sql: "UPDATE _dragoman_keys SET next = \(value)") }
      try queue.close()
      let store = try SQLiteStore(at: .file(path))
      let fixture = try ImportFixture(Self.map, in: store)
      let failure = await #expect(throws: ImportFailure.self) {
        try await fixture.run(#"{"tags":[{"code":"new"}],"people":[{"kind":"p","id":99}]}"#)
      }
      #expect((failure?.cause as? StoreError)?.code == .damaged)
      let model = store.model
      let error = await #expect(throws: StoreError.self) {
        let stack = try Stack(model, at: .file(path))
        try await stack.write { context in try context.insert("Tag")["code"] = "newer" }
      }
      #expect(error?.code == .damaged)
      #expect(try sql(store, "SELECT count(*) FROM Tag WHERE code LIKE 'new%'") == ["0"])
      try store.close()
    }
  }
}
