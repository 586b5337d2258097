import Dragoman
import DragomanGraph
import Testing

/// `SQLiteStore.delete`: which objects go, and who decides.
@Suite struct DeletionTests {
  private let store: SQLiteStore

  init() async throws {
    store = try SQLiteStore(at: .inMemory)
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          Owner:
            unique: id
            attributes: { id: { type: int64 } }
            relationships:
              things: { entity: Thing, kind: toMany, from: things, inverse: owner, onDelete: cascade }
          Thing:
            unique: id
            attributes: { id: { type: int64 } }
            relationships:
              parts: { entity: Part, kind: toMany, from: parts, inverse: thing, onDelete: cascade }
          Part:
            unique: id
            attributes: { id: { type: int64 } }
            relationships:
              locks: { entity: Lock, kind: toMany, from: locks, inverse: part, onDelete: deny }
          Lock: { unique: id, attributes: { id: { type: int64 } } }
        sources: { s: { format: json, entity: Owner } }
        """
    )
    let feed = """
      [{"id":1,"things":[{"id":10,"parts":[{"id":100},{"id":101}]},{"id":11}]},
       {"id":2,"things":[{"id":20,"parts":[{"id":200,"locks":[{"id":9}]}]}]}, {"id":3}]
      """
    _ = try await Importer(map: map, store: store)
      .run(ImportRequest([.bytes(Array(feed.utf8), name: "f.json")]))
  }

  private func count(_ entity: String) throws -> Int { try store.count(FetchRequest(entity)) }

  private func owner(_ id: Int) throws -> FetchRequest {
    FetchRequest("Owner", filter: try Filter(parsing: "id == \(id)"))
  }

  @Test("Cascades are followed through several entities, and counted by entity")
  func cascade() throws {
    var asked: [Deletion] = []
    let kept = try store.delete(try owner(1)) {
      asked.append($0)
      return false
    }
    #expect(!kept.isDone)
    #expect(try count("Owner") == 3)
    let done = try store.delete(try owner(1)) { $0 == kept }
    #expect(done.isDone)
    #expect(asked == [kept])
    #expect(
      done.counts.map { "\($0.entity) \($0.matched) \($0.cascaded)" }
        == ["Owner 1 0", "Thing 0 2", "Part 0 2"]
    )
    #expect((done.matchedCount, done.cascadedCount) == (1, 4))
    #expect(try (count("Owner"), count("Thing"), count("Part"), count("Lock")) == (2, 1, 1, 1))
  }

  @Test("A rule deny of what cascades take along keeps everything, and nobody is asked")
  func deny() throws {
    let found = try store.delete(try owner(2)) { _ in
      Issue.record("nobody is to be asked")
      return true
    }
    #expect(!found.isDone)
    #expect(found.protections.map(\.relationship) == ["Part.locks"])
    #expect(found.protections.first?.rule == .deny)
    #expect(found.protections.first?.objectCount == 1)
    #expect(
      found.protections.first?.examples.map { $0.key.parts.map(\.value) } == [[.integer(200)]]
    )
    #expect(try count("Part") == 3)
    // With what it protects from, it goes.
    _ = try store.delete(FetchRequest("Lock"))
    #expect(try store.delete(try owner(2)).isDone)
  }

  @Test("An order and a limit mean the first objects; nothing matches nothing")
  func slice() throws {
    let last = FetchRequest("Owner", sortKeys: [SortKey("id", ascending: false)], limit: 1)
    #expect(try store.delete(last).counts.map(\.matched) == [1])
    #expect(try store.count(try owner(3)) == 0)
    let none = try store.delete(try owner(3))
    #expect(!none.isDone && none.counts.isEmpty && none.protections.isEmpty)
  }

  @Test("What the closure throws, and a wrong name, leave everything")
  func errors() throws {
    struct Stop: Error {}
    #expect(throws: Stop.self) { try store.delete(try owner(1)) { _ in throw Stop() } }
    #expect(throws: StoreError.self) { try store.delete(FetchRequest("Ownr")) }
    #expect(throws: StoreError.self) {
      try store.delete(FetchRequest("Owner", filter: try Filter(parsing: "idd == 1")))
    }
    #expect(try (count("Owner"), count("Part")) == (3, 3))
    // The store is free for the next one.
    #expect(try store.delete(try owner(1)).isDone)
  }
}
