import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// What imports through contexts cost where one object has many links.
@Suite struct ContextCostTests {
  private static let map = """
    version: 1
    entities:
      N:
        unique: id
        attributes: { id: { type: int64 } }
        relationships:
          kids: { entity: K, kind: toMany, from: kids, inverse: n }
          tags: { entity: T, kind: toMany, key: { id: tags } }
      K:
        unique: id
        attributes: { id: { type: int64 } }
        relationships:
          n: { entity: N, kind: toOne, inverse: kids }
          t: { entity: T, kind: toOne, key: { id: t } }
      T: { unique: id, attributes: { id: { type: int64 } } }
    sources: { json: { format: json, entity: N } }
    """

  /// The work of importing one record with many children, each of which names a target that nobody is,
  /// or with many keys that nobody has.
  private func cost(_ count: Int, keys: Bool) async throws -> Duration {
    let map = try ImportMap(yaml: Self.map)
    let stack = try Stack(map.model(), at: .inMemory)
    let kids = (0..<count).map {
      ForeignValue.object(["id": .integer(Int64($0)), "t": .integer(Int64($0))])
    }
    let tags = (0..<count).map { ForeignValue.integer(Int64($0)) }
    let record: ForeignValue =
      keys
      ? .object(["id": 1, "tags": .array(tags)]) : .object(["id": 1, "kids": .array(kids)])
    let (imported, cost) = try await stack.writeInOneTransaction { context in
      let start = Self.work
      let imported = try ContextImport(map, ImportCode(), context, nil, nil).run([record])
      return (imported, Self.work - start)
    }
    let name = keys ? "N.tags" : "K.t"
    #expect(imported.report.relationships[name]?.unresolved == count)
    return cost
  }

  /// What the thread has worked so far: how busy the machine is with other tests does not count.
  private static var work: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }

  @Test(
    "One record with many references that nobody has takes time that grows with their number",
    arguments: [false, true]
  )
  func unresolved(keys: Bool) async throws {
    _ = try await cost(100, keys: keys)
    let small = try await cost(1000, keys: keys)
    let large = try await cost(8000, keys: keys)
    // Eight times the work; its square would be sixty-four.
    #expect(large < small * 24, "\(small), \(large)")
  }

  @Test("Tombstones of one key for which many wait take time that grows with their number")
  func endedAgain() async throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          N:
            unique: id
            attributes: { id: { type: int64 } }
            deleteWhen: { from: gone, equals: true }
            relationships:
              tags: { entity: N, kind: toMany, key: { id: tags }, onUnresolved: stub }
        sources: { json: { format: json, entity: N } }
        """
    )
    func cost(_ count: Int) async throws -> Duration {
      let stack = try Stack(map.model(), at: .inMemory)
      let owners = (1...count).map {
        ForeignValue.object(["id": .integer(Int64($0)), "tags": [-1, -2]])
      }
      let gone = Array(repeating: ForeignValue.object(["id": -1, "gone": true]), count: count)
      return try await stack.writeInOneTransaction { context in
        let start = Self.work
        let imported = try ContextImport(map, ImportCode(), context, nil, nil).run(owners + gone)
        #expect(imported.report.entities["N"]?.stubs == 1)
        return Self.work - start
      }
    }
    _ = try await cost(50)
    let small = try await cost(500)
    let large = try await cost(4000)
    #expect(large < small * 24, "\(small), \(large)")
  }

  @Test("Tombstones of what one record waits for take time that grows with their number")
  func ended() async throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          N:
            unique: id
            attributes: { id: { type: int64 } }
            deleteWhen: { from: gone, equals: true }
            relationships:
              tags: { entity: N, kind: toMany, key: { id: tags }, onUnresolved: stub }
        sources: { json: { format: json, entity: N } }
        """
    )
    func cost(_ count: Int) async throws -> Duration {
      let stack = try Stack(map.model(), at: .inMemory)
      let keys = (0...count).map { ForeignValue.integer(Int64($0)) }
      let records =
        [ForeignValue.object(["id": -1, "tags": .array(keys)])]
        + keys.dropLast().map { .object(["id": $0, "gone": .bool(true)]) }
      return try await stack.writeInOneTransaction { context in
        let start = Self.work
        let imported = try ContextImport(map, ImportCode(), context, nil, nil).run(records)
        // The one that no tombstone is of.
        #expect(imported.report.entities["N"]?.stubs == 1)
        return Self.work - start
      }
    }
    _ = try await cost(50)
    let small = try await cost(500)
    let large = try await cost(4000)
    #expect(large < small * 24, "\(small), \(large)")
  }
}
