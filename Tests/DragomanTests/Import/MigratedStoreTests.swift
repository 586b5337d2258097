import DragomanGraph
import Testing

@testable import Dragoman

/// Stores that imports have filled, migrated to another map.
@Suite struct MigratedStoreTests {
  private static func map(_ attributes: String, policy: String = "stub", list: String = "")
    -> String
  {
    """
    version: 1
    entities:
      P:
        unique: id
        attributes: { id: { from: id, type: int32 } }
        relationships:
          boss: { entity: B, kind: toOne, key: { code: boss }, onUnresolved: \(policy) }
          tags: { entity: B, kind: toMany, \(list) key: { code: tags } }
      B: { unique: code, attributes: { \(attributes) } }
    sources:
      p: { format: json, entity: P, records: p }
      b: { format: json, entity: B, records: b }
    """
  }

  private static let feed = #"{"p":[{"id":1,"boss":"x"}],"b":[{"code":"y","name":"Y"}]}"#

  @Test(
    "A migration knows which objects are stubs",
    arguments: [
      ("code: code, name: name, extra: extra", "stub"),
      ("code: code, label: { from: name, renamedFrom: name }", "stub"),
      ("code: code, name: name, extra: extra", "clear"),
    ]
  )
  func stubs(attributes: String, policy: String) async throws {
    let fixture = try ImportFixture(Self.map("code: code, name: name"))
    try await fixture.run(Self.feed)
    let stubs = try fixture.store.stubs(of: "B").map(\.key)
    #expect(stubs.count == 1)
    let later = try ImportFixture(Self.map(attributes, policy: policy), in: fixture.store)
    try fixture.store.migrate(to: later.map.model())
    #expect(try fixture.store.stubs(of: "B").map(\.key) == stubs)
    let report = try await later.run(#"{"p":[{"id":1,"boss":"x"}],"b":[{"code":"y","name":"Y"}]}"#)
    {
      $0.prune = ImportRequest.Prune()
    }
    #expect(report.pruned == 0)
  }

  @Test("A stub stands in the way of no required attribute")
  func required() async throws {
    let fixture = try ImportFixture(Self.map("code: code, name: name"))
    try await fixture.run(Self.feed)
    let later = try ImportFixture(
      Self.map("code: code, name: { from: name, required: true }"),
      in: fixture.store
    )
    try fixture.store.migrate(to: later.map.model())
    #expect(try fixture.rows("B", ["code", "name"]) == ["y|Y", "x|null"])
    try await later.run(#"{"b":[{"code":"x","name":"X"}]}"#)
    #expect(try fixture.store.stubs(of: "B").isEmpty)
  }

  @Test("Keys that a conversion makes equal are named before anything is done")
  func convertedKeys() async throws {
    let fixture = try ImportFixture(Self.map("code: code, name: name"))
    let id = "6F9619FF-8B86-D011-B42D-00CF4FC964FF"
    try await fixture.run(#"{"b":[{"code":"\#(id)"},{"code":"\#(id.lowercased())"}]}"#)
    let later = try ImportMap(yaml: Self.map("code: { from: code, type: uuid }, name: name"))
    let plan = try fixture.store.migration(to: later.model())
    #expect(plan.faults.contains { $0.contains("cannot be a unique key") }, "\(plan.faults)")
    #expect(throws: StoreError.self) { try fixture.store.migrate(to: later.model()) }
  }

  @Test("A list does not keep repeats that the new model forbids")
  func repeats() async throws {
    let attributes = "code: code, name: name"
    let fixture = try ImportFixture(Self.map(attributes, list: "ordered: true, repeats: true,"))
    try await fixture.run(#"{"b":[{"code":"a"},{"code":"b"}],"p":[{"id":1,"tags":["a","b","a"]}]}"#)
    let later = try ImportMap(yaml: Self.map(attributes, list: "ordered: true,"))
    let plan = try fixture.store.migration(to: later.model())
    #expect(plan.faults.contains { $0.contains("more than once") }, "\(plan.faults)")
  }

  @Test("Columns that somebody else has added stay, with their values")
  func strangeColumns() async throws {
    let fixture = try ImportFixture(Self.map("code: code, name: { from: name, type: int32 }"))
    try await fixture.run(#"{"b":[{"code":"y","name":1}]}"#)
    try fixture.store.execute("ALTER TABLE B ADD COLUMN note TEXT NOT NULL DEFAULT 'none'")
    try fixture.store.execute("UPDATE B SET note = 'mine'")
    let later = try ImportFixture(
      Self.map("code: code, name: { from: name, type: decimal }"),
      in: fixture.store
    )
    try fixture.store.migrate(to: later.map.model())
    try await later.run(#"{"b":[{"code":"z","name":2.5}]}"#)
    let notes = try sql(fixture.store, "SELECT note FROM B ORDER BY code")
    #expect(notes == ["mine", "none"])
    let clashing = try ImportMap(
      yaml: Self.map("code: code, name: { from: name, type: decimal }, note: note")
    )
    let error = #expect(throws: StoreError.self) { try fixture.store.grow(to: clashing.model()) }
    #expect(error?.code == .modelConflict, "\(String(describing: error))")
  }

  @Test(
    "What objects of a sub-entity wait for goes with them, and an import behind that is taken back"
  )
  func droppedKind() async throws {
    let (old, new) = Self.kinds
    let fixture = try ImportFixture(old)
    let first = #"[{"id":1,"name":"a"},{"id":2,"kind":"car","owner":"p9","tags":["p8"]}]"#
    try await fixture.run(first)
    try await fixture.run(#"[{"id":1,"name":"b"},{"id":4,"name":"n","owner":"p7"}]"#)
    let later = try ImportFixture(new, in: fixture.store)
    try fixture.store.migrate(to: later.map.model(), drops: true)
    #expect(
      try fixture.store.pendingReferences().map { "\($0.relationship) \($0.owner.primaryKey)" }
        == ["Thing.owner 3"]
    )
    try await later.run(#"[{"id":1,"name":"a"},{"id":2,"name":"c"}]"#)
    let number = try #require(try fixture.store.history().last?.id)
    #expect(try fixture.store.undoImport(number).isPossible)
    #expect(try sql(fixture.store, "SELECT id, name FROM Thing ORDER BY id") == ["1|b", "4|n"])
  }

  /// A map with a sub-entity, and the same without it.
  static let kinds = (
    old: kinds("discriminator: { from: kind, values: { car: Car } }", "Car: { parent: Thing }"),
    new: kinds("", "")
  )

  private static func kinds(_ discriminator: String, _ kind: String) -> String {
    """
    version: 1
    entities:
      Thing:
        unique: id
        attributes: { id: { type: int64 }, name: name }
        \(discriminator)
        relationships:
          owner: { entity: P, kind: toOne, key: { id: owner }, onUnresolved: pending }
          tags: { entity: P, kind: toMany, key: { id: tags }, onUnresolved: pending }
      \(kind)
      P: { unique: id, attributes: { id: id } }
    sources: { t: { format: json, entity: Thing } }
    """
  }

  @Test("Names that differ in the form of their letters alone are no two names")
  func unicodeForms() async throws {
    func map(_ name: String, _ more: String = "") -> String {
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: id, "\(name)": { from: c\(more) } } } }
      """
    }
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    let fixture = try ImportFixture(map(composed))
    try await fixture.run(#"[{"id":"1","c":"x"}]"#)
    let other = try ImportFixture(map(decomposed), in: fixture.store)
    let failure = await #expect(throws: ImportFailure.self) { _ = try await other.run("[]") }
    #expect((failure?.cause as? StoreError)?.code == .modelConflict)
    let message = (failure?.cause as? StoreError)?.message
    #expect(message?.contains("NFC and NFD") == true)
    // Both in one map.
    #expect(throws: MapFaults.self) {
      try ImportMap(
        yaml: "version: 1\nentities: { P: { attributes: { \(composed): {}, \(decomposed): {} } } }"
      )
    }
    // In one form, and in another case of the letter that it is composed of.
    #expect(throws: MapFaults.self) {
      try ImportMap(
        yaml:
          "version: 1\nentities: { P: { attributes: { \"E\u{301}tat\": {}, \"e\u{301}tat\": {} } } }"
      )
    }
    let renamed = try ImportFixture(
      map(decomposed, ", renamedFrom: \"\(composed)\""),
      in: fixture.store
    )
    try fixture.store.migrate(to: renamed.map.model())
    try await renamed.run(#"[{"id":"2","c":"y"}]"#)
    #expect(try sql(fixture.store, "SELECT id, \"\(decomposed)\" FROM P") == ["1|x", "2|y"])
    // Dropping the one and adding the other is asked for by name.
    let back = try ImportFixture(map(composed), in: fixture.store)
    try fixture.store.migrate(to: back.map.model(), drops: true)
    #expect(try sql(fixture.store, "SELECT id, \"\(composed)\" FROM P") == ["1|null", "2|null"])
  }
}
