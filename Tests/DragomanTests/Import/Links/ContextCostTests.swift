import DragomanGraph
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

  /// The time of importing one record with many children, each of which names a target that nobody is,
  /// or with many keys that nobody has.
  private func duration(_ count: Int, keys: Bool) async throws -> Duration {
    let map = try ImportMap(yaml: Self.map)
    let stack = try Stack(map.model(), at: .inMemory)
    let kids = (0..<count).map {
      ForeignValue.object(["id": .integer(Int64($0)), "t": .integer(Int64($0))])
    }
    let tags = (0..<count).map { ForeignValue.integer(Int64($0)) }
    let record: ForeignValue =
      keys
      ? .object(["id": 1, "tags": .array(tags)]) : .object(["id": 1, "kids": .array(kids)])
    let start = ContinuousClock().now
    let imported = try await stack.writeInOneTransaction { context in
      try ContextImport(map, ImportCode(), context, nil, nil).run([record])
    }
    let name = keys ? "N.tags" : "K.t"
    #expect(imported.report.relationships[name]?.unresolved == count)
    return ContinuousClock().now - start
  }

  @Test(
    "One record with many references that nobody has takes time that grows with their number",
    arguments: [false, true]
  )
  func unresolved(keys: Bool) async throws {
    _ = try await duration(100, keys: keys)
    let small = try await duration(1000, keys: keys)
    let large = try await duration(8000, keys: keys)
    // Eight times the work; its square would be sixty-four.
    #expect(large < small * 24, "\(small), \(large)")
  }
}
