import Foundation
import Testing

@testable import DragomanGraph

/// Two stores on one file, as two processes have it: what one makes of the model, the other must notice.
@Suite struct ModelChangeTests {
  private let path = FileManager.default.temporaryDirectory
    .appendingPathComponent("models-\(UUID().uuidString).db").path
  private let first: SQLiteStore
  private let second: SQLiteStore

  init() throws {
    first = try SQLiteStore(at: .file(path))
    second = try SQLiteStore(at: .file(path))
  }

  private static func model(
    _ type: AttributeType = .date,
    named name: String = "born",
    more: [Entity] = []
  ) -> Model {
    let attributes = [Attribute(name: "id", type: .int32), Attribute(name: name, type: type)]
    return Model(
      entities: [Entity(name: "P", attributes: attributes, uniqueKeys: [["id"]])] + more
    )
  }

  /// A model of which one attribute has become two that have changed places.
  private static var swapped: Model {
    let names = [("born", "died"), ("died", "born")]
    return Model(entities: [
      Entity(
        name: "P",
        attributes: [Attribute(name: "id", type: .int32)]
          + names.map { name, before in
            Attribute(name: name, type: .date).with { $0.renamedFrom = before }
          },
        uniqueKeys: [["id"]]
      )
    ])
  }

  private static var pair: Model {
    var pair = swapped
    for index in 1...2 { pair.entities[0].attributes[index].renamedFrom = nil }
    return pair
  }

  private static let subentity = Entity(name: "Q", attributes: [Attribute(name: "x")], parent: "P")

  private func write(_ id: Int64, with writer: EntityWriter) throws {
    let row: [RowValue] = [.integer(id), .absent]
    let arena: [UInt8] = [0]
    try row.withUnsafeBufferPointer { row in
      try arena.withUnsafeBytes { arena in
        let outcome = try writer.write(row, arena: #require(arena.baseAddress))
        #expect(outcome == .inserted)
      }
    }
  }

  @Test(
    "A session whose rows would not fit any more is refused at its next batch",
    arguments: [
      model(.timestamp), model(.timestamp, named: "birth"), model(more: [subentity]),
    ]
  )
  func secondBatch(changed: Model) throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    try first.write { session in
      try session.begin()
      let model = try session.grow(to: Self.model())
      let entity = try #require(model.entity(named: "P"))
      let writer = try session.writer(for: entity, slots: entity.attributes, mode: .upsert)
      try write(1, with: writer)
      try session.commit()
      try session.begin()
      try write(2, with: writer)
      try session.commit()
      var wanted = changed
      if changed.entities[0].attributes[1].name == "birth" {
        wanted.entities[0].attributes[1].renamedFrom = "born"
      }
      try second.migrate(to: wanted)
      #expect(throws: StoreError.self) { try session.begin() }
      session.rollbackIfOpen()
    }
    #expect(first.model == second.model)
    #expect(try second.count(FetchRequest("P")) == 2)
  }

  @Test("A session is refused, too, where names have changed places")
  func swappedNames() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    try first.write { session in
      try session.begin()
      let entity = try #require(try session.grow(to: Self.pair).entity(named: "P"))
      _ = try session.writer(for: entity, slots: entity.attributes, mode: .upsert)
      try session.commit()
      try second.migrate(to: Self.swapped)
      let error = #expect(throws: StoreError.self) { try session.begin() }
      #expect(error?.code == .migrated)
    }
  }

  /// Models of P and C, and what the first becomes.
  private static func linked(_ link: Relationship, _ attributes: [Attribute] = []) -> Model {
    let id = [Attribute(name: "id", type: .int32)]
    return Model(entities: [
      Entity(name: "P", attributes: id + attributes, relationships: [link], uniqueKeys: [["id"]]),
      Entity(name: "C", attributes: id, uniqueKeys: [["id"]]),
      Entity(name: "D", table: "C", attributes: [], parent: "C"),
    ])
  }

  @Test(
    "Contexts neither save nor read where what they name means something else",
    arguments: [
      (pair, swapped), (pair, model(named: "birth")),
      (linked(.toMany("c", "C")), linked(.toMany("c", "C", isOrdered: true))),
      (linked(.toOne("c", "D")), linked(.toOne("c", "C"))),
      (linked(.toOne("c", "C"), [Attribute(name: "n")]), linked(.toOne("c", "C"))),
      (
        linked(.toOne("c", "C"), [Attribute(name: "n")]),
        linked(.toOne("c", "C"), [Attribute(name: "n", type: .decimal)])
      ),
    ]
  )
  func otherMeaning(old: Model, new: Model) async throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let stack = try Stack(old, at: .file(path))
    try await stack.write { try $0.insert("P")["id"] = 1 }
    try second.migrate(to: new, drops: true)
    let saved = await #expect(throws: StoreError.self) {
      try await stack.write { try $0.insert("P")["id"] = 2 }
    }
    #expect(saved?.code == .migrated)
    let read = await #expect(throws: StoreError.self) {
      try await stack.read { try $0.fetch(FetchRequest("P")).count }
    }
    #expect(read?.code == .migrated)
    #expect(try second.count(FetchRequest("P")) == 1)
  }

  @Test(
    "A migration that only adds disturbs nobody",
    arguments: [
      linked(.toOne("c", "C"), [Attribute(name: "more", isIndexed: true)]),
      linked(.toOne("c", "C").with { $0.isRequired = true }),
    ]
  )
  func additions(new: Model) async throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let stack = try Stack(Self.linked(.toOne("c", "C")), at: .file(path))
    try second.migrate(to: new)
    try await stack.write { try $0.insert("P")["id"] = 1 }
    let count = try await stack.read { try $0.fetch(FetchRequest("P")).count }
    #expect(count == 1)
  }

  @Test("What others only add does not disturb a session")
  func addition() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    try first.write { session in
      try session.begin()
      let model = try session.grow(to: Self.model())
      let entity = try #require(model.entity(named: "P"))
      let writer = try session.writer(for: entity, slots: entity.attributes, mode: .upsert)
      try write(1, with: writer)
      try session.commit()
      try second.grow(
        to: Self.model(more: [Entity(name: "Other", attributes: [Attribute(name: "a")])])
      )
      try session.begin()
      try write(2, with: writer)
      try session.commit()
    }
    #expect(first.model.entities.map(\.name) == ["P", "Other"])
    #expect(try second.count(FetchRequest("P")) == 2)
  }

  @Test("Growing and migrating take over what another connection has added")
  func grownElsewhere() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    try second.grow(to: Self.model())
    try first.grow(to: Self.model())
    #expect(first.model.entities.map(\.name) == ["P"])
    try second.grow(to: Self.model(more: [Self.subentity]))
    try first.migrate(to: Self.model(more: [Self.subentity]))
    #expect(first.model.entities.map(\.name) == ["P", "Q"])
  }

  @Test("Contexts name the entity of their objects once a family has got a sub-entity")
  func entityNames() async throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let stack = try Stack(Self.model(), at: .file(path))
    try second.grow(to: Self.model(more: [Self.subentity]))
    try await stack.write { context in
      let object = try context.insert("P")
      object["id"] = 1
    }
    #expect(try second.texts("SELECT _entity FROM P") == ["P"])
  }

  @Test("Contexts do not save into a file that was migrated to another model")
  func migrated() async throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let stack = try Stack(Self.model(), at: .file(path))
    try second.migrate(to: Self.model(.timestamp))
    do {
      try await stack.write { context in try context.insert("P")["id"] = 1 }
      Issue.record("It was saved.")
    } catch let error as StoreError {
      #expect(error.code == .migrated)
    }
    #expect(try second.count(FetchRequest("P")) == 0)
  }

  @Test("A store that is asked from within its own write says so")
  func reentrancy() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let memory = try SQLiteStore(at: .inMemory)
    try memory.grow(to: Self.model())
    try memory.write { _ in
      #expect(throws: StoreError.self) { try memory.count(FetchRequest("P")) }
      #expect(throws: StoreError.self) { try memory.grow(to: Self.model()) }
    }
    #expect(try memory.count(FetchRequest("P")) == 0)
    try first.grow(to: Self.model())
    try first.write { _ in
      #expect(throws: StoreError.self) { try first.grow(to: Self.model()) }
      let count = try first.count(FetchRequest("P"))
      #expect(count == 0)
    }
  }

  @Test("A store that is asked from within its own read says so, and cannot be closed there")
  @MainActor
  func nestedReads() async throws {
    defer {
      for file in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + file) }
    }
    for location in [SQLiteStore.Location.inMemory, .file(path)] {
      let stack = try Stack(Self.model(), at: location)
      let notices = stack.changes()
      try await stack.write { context in try context.insert("P")["id"] = 1 }
      var visited = 0
      try stack.store.forEachRow(FetchRequest("P")) { _ in
        visited += 1
        #expect { try stack.store.count(FetchRequest("P")) } throws: {
          ($0 as? StoreError)?.code == .badRequest
        }
        #expect { try stack.close() } throws: { ($0 as? StoreError)?.code == .badRequest }
        #expect { try stack.reset() } throws: { ($0 as? StoreError)?.code == .badRequest }
      }
      #expect(visited == 1)
      // What was refused has changed nothing.
      try await stack.write { context in try context.insert("P")["id"] = 2 }
      #expect(try stack.main.count(FetchRequest("P")) == 2)
      var count = 0
      for await notice in notices {
        count += notice.inserted.count
        if count == 2 { break }
      }
      try stack.close()
    }
  }

  @Test("Backups to one path at the same time are whole")
  func twoBackups() async throws {
    let copy = path + ".copy"
    defer { for file in [path, copy] { try? FileManager.default.removeItem(atPath: file) } }
    try first.grow(to: Self.model())
    try first.write { session in
      try session.begin()
      let entity = try #require(first.model.entity(named: "P"))
      let writer = try session.writer(for: entity, slots: entity.attributes, mode: .upsert)
      for id in 1...20_000 { try write(Int64(id), with: writer) }
      try session.commit()
    }
    await withTaskGroup(of: Void.self) { group in
      for store in [first, second, first, second] {
        group.addTask { _ = try? store.backup(to: copy, overwrites: true) }
      }
    }
    let whole = try SQLiteStore(at: .file(copy), options: .init(isReadOnly: true))
    #expect(try whole.count(FetchRequest("P")) == 20_000)
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    let litter = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasPrefix(URL(fileURLWithPath: copy).lastPathComponent + ".") }
    #expect(litter.filter { $0.hasSuffix(".part") }.isEmpty)
  }
}
