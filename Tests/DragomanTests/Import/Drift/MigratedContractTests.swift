import DragomanGraph
import Testing

@testable import Dragoman

/// What contracts know of earlier feeds, behind a migration that renames.
@Suite("Contracts behind migrations") struct MigratedContractTests {
  private static func map(
    _ contract: String,
    _ entity: String = "P: {",
    _ attribute: String = "a: { type: json }"
  ) -> String {
    let name = entity.prefix { $0 != ":" }
    return """
      version: 1
      name: m
      entities:
        \(entity) unique: id, contract: \(contract), attributes: { id: { type: int64 }, \(attribute) } }
      sources: { json: { format: json, entity: \(name) } }
      """
  }

  private static let renamedEntity = "Q: { renamedFrom: P,"
  private static let renamedAttribute = "b: { from: a, type: json, renamedFrom: a }"

  @Test("Attributes that keys have become stay so when their entity is renamed")
  func evolved() async throws {
    let fixture = try ImportFixture(Self.map("evolve"))
    try await fixture.run(#"[{"id":1}]"#)
    try await fixture.run(#"[{"id":1,"n":5}]"#)
    let later = try ImportFixture(Self.map("evolve", Self.renamedEntity), in: fixture.store)
    try fixture.store.migrate(to: later.map.model())
    let report = try await later.run(#"[{"id":1,"n":6,"z":7}]"#)
    #expect(report.drift?.changes.map(\.attribute) == ["z: { from: z, type: int64 }"])
    #expect(try later.rows("Q", ["id", "n", "z"]) == ["1|6|7"])
  }

  @Test(
    "A feed is compared with those before a name changed",
    arguments: [
      (renamedEntity, "a: { type: json }"), ("P: {", renamedAttribute),
      (renamedEntity, renamedAttribute),
    ]
  )
  func frozen(entity: String, attribute: String) async throws {
    let fixture = try ImportFixture(Self.map("freeze"))
    try await fixture.run(#"[{"id":1,"a":1}]"#)
    let later = try ImportFixture(Self.map("freeze", entity, attribute), in: fixture.store)
    try fixture.store.migrate(to: later.map.model())
    for feed in [#"[{"id":1,"a":"text"}]"#, #"[{"id":1,"a":1,"more":1}]"#] {
      let failure = await #expect(throws: ImportFailure.self) { try await later.run(feed) }
      #expect((failure?.cause as? ImportError)?.code == .contract)
    }
    try await later.run(#"[{"id":1,"a":2}]"#)
  }
}
