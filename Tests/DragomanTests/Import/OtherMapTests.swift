import DragomanGraph
import Testing

@testable import Dragoman

/// A store that another map has filled: docs/file.md ("The model only grows by itself", "Changing the model").
@Suite("What a map may add to a store, and what it may not take") struct OtherMapTests {
  private static let first = """
    version: 1
    entities:
      O: { unique: id, attributes: { id: {}, customer: {}, labels: { type: json } } }
      P: { unique: id, attributes: { id: {} }, relationships: { tags: { entity: O, kind: toMany, key: { id: tags } } } }
    sources: { o: { format: json, entity: O } }
    """
  private static let feed = #"[{"id":"1","customer":"c1"},{"id":"2","customer":"c2"}]"#

  /// A map that takes what `first` has, its entities, and what is said.
  struct Case: CustomTestStringConvertible {
    let testDescription: String
    let entities: String
    let message: String
  }

  private static let cases = [
    Case(
      testDescription: "an attribute becomes a to-one",
      entities: """
        O: { unique: id, attributes: { id: {} }, relationships: { customer: { entity: C, kind: toOne, key: { k: customer } } } }
        C: { unique: k, attributes: { k: {} } }
        """,
      message: "O.customer is an attribute in the database and a relationship in the map."
    ),
    Case(
      testDescription: "an attribute becomes a to-many",
      entities: """
        O: { unique: id, attributes: { id: {} }, relationships: { labels: { entity: C, kind: toMany, key: { k: labels } } } }
        C: { unique: k, attributes: { k: {} } }
        """,
      message: "O.labels is an attribute in the database and a relationship in the map."
    ),
    Case(
      testDescription: "a to-many becomes an attribute",
      entities: "P: { unique: id, attributes: { id: {}, tags: {} } }",
      message: "P.tags is a relationship in the database and an attribute in the map."
    ),
    Case(
      testDescription: "names that differ in case only",
      entities: "O: { unique: id, attributes: { id: {}, Customer: {} } }",
      message:
        "O.Customer: The name \"Customer\" clashes with property \"customer\": SQLite ignores case in names."
    ),
    Case(
      testDescription: "another attribute in the same column",
      entities: "O: { unique: id, attributes: { id: {}, who: { column: customer } } }",
      message: "O.who: The name \"customer\" is taken by column \"customer\"."
    ),
    Case(
      testDescription: "another entity in the same table",
      entities: "Q: { table: O, unique: id, attributes: { id: {} } }",
      message: "Q: The name \"O\" is taken by table \"O\"."
    ),
    Case(
      testDescription: "an entity whose table is that of links",
      entities: "P_tags: { unique: id, attributes: { id: {} } }",
      message: "P.tags: The name \"P_tags\" is taken by table \"P_tags\"."
    ),
  ]

  private static func map(_ entities: String) -> String {
    let lines = entities.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n")
    let name = entities.prefix { $0 != ":" }
    return """
      version: 1
      entities:
      \(lines)
      sources: { s: { format: json, entity: \(name) } }
      """
  }

  @Test("What is there under the name stays, and the map is refused", arguments: cases)
  func clashes(one: Case) async throws {
    let fixture = try ImportFixture(Self.first)
    try await fixture.run(Self.feed)
    let rows = try fixture.rows("O", ["id", "customer", "labels"])
    let other = try ImportFixture(Self.map(one.entities), in: fixture.store)
    let error = await #expect(throws: ImportFailure.self) { try await other.run(Self.feed) }
    let cause = try #require(error?.cause as? StoreError)
    #expect(cause.code == .modelConflict)
    #expect(cause.message == one.message)
    #expect(try fixture.rows("O", ["id", "customer", "labels"]) == rows)
    #expect(try await fixture.run(Self.feed).summary == "read 2, unchanged 2")
  }

  @Test("Entities and relationships are renamed by maps that say so")
  func renamed() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        O: { unique: id, attributes: { id: {} }, relationships: { who: { entity: C, kind: toOne, key: { k: who } }, all: { entity: C, kind: toMany, key: { k: "all[*]" } } } }
        C: { unique: k, attributes: { k: {} } }
      sources: { o: { format: json, entity: O, records: /o }, c: { format: json, entity: C, records: /c } }
      """
    )
    let feed = #"{"o":[{"id":"1","who":"x","all":["x","y"]}],"c":[{"k":"x"},{"k":"y"}]}"#
    try await fixture.run(feed)
    let later = try ImportFixture(
      """
      version: 1
      entities:
        Order:
          renamedFrom: O
          unique: id
          attributes: { id: {} }
          relationships:
            customer: { renamedFrom: who, entity: Client, kind: toOne, key: { k: who } }
            everybody: { renamedFrom: all, entity: Client, kind: toMany, key: { k: "all[*]" } }
        Client: { renamedFrom: C, unique: k, attributes: { k: {} } }
      sources: { o: { format: json, entity: Order, records: /o }, c: { format: json, entity: Client, records: /c } }
      """,
      in: fixture.store
    )
    let error = await #expect(throws: ImportFailure.self) { try await later.run(feed) }
    #expect((error?.cause as? StoreError)?.code == .modelConflict)
    try fixture.store.migrate(to: later.map.model())
    #expect(try await later.run(feed).summary == "read 3, unchanged 3")
    #expect(try fixture.store.count(FetchRequest("Order")) == 1)
    #expect(try ImportMap(yaml: later.map.yaml()) == later.map)
  }

  @Test(
    "What has another name now is not made anew by a map that still has the old one",
    arguments: [
      (
        "Q: { renamedFrom: O, unique: id, attributes: { id: {}, customer: {}, labels: { type: json } } }",
        "O is called Q in the database (renamedFrom)."
      ),
      (
        "O: { unique: id, attributes: { id: {}, who: { from: customer, renamedFrom: customer }, labels: { type: json } } }",
        "O.customer is called who in the database (renamedFrom)."
      ),
    ]
  )
  func oldName(entity: String, message: String) async throws {
    let fixture = try ImportFixture(Self.first)
    try await fixture.run(Self.feed)
    let later = try ImportFixture(Self.map(entity), in: fixture.store)
    try fixture.store.migrate(to: later.map.model())
    let failure = await #expect(throws: ImportFailure.self) { try await fixture.run(Self.feed) }
    let cause = try #require(failure?.cause as? StoreError)
    #expect(cause.code == .modelConflict)
    #expect(cause.message.contains(message), "\(cause.message)")
    #expect(try await later.run(Self.feed).summary == "read 2, unchanged 2")
  }

  @Test("An import counts what it pruned in its history as deleted")
  func pruned() async throws {
    let fixture = try ImportFixture(attributes: "v: v")
    try await fixture.run(#"[{"id":1},{"id":2},{"id":3}]"#)
    let report = try await fixture.run(#"[{"id":1}]"#) { $0.prune = ImportRequest.Prune() }
    #expect(report.pruned == 2 && report.counts.deleted == 0)
    #expect(
      try sql(fixture.store, "SELECT read, unchanged, deleted FROM _dragoman_imports WHERE id = 2")
        == ["1|1|2"]
    )
  }

  @Test("An object's version is raised once for a record, though lists of two kinds change")
  func versions() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        O:
          unique: id
          attributes: { id: {} }
          relationships:
            l: { entity: L, kind: toMany, from: l, inverse: o }
            w: { entity: W, kind: toMany, from: w }
            x: { entity: W, kind: toMany, from: x }
        L: { unique: n, attributes: { n: {} }, relationships: { o: { entity: O, kind: toOne, from: [] } } }
        W: { unique: n, attributes: { n: { from: . } } }
      sources: { o: { format: json, entity: O } }
      """
    )
    func version() throws -> [String] { try sql(fixture.store, "SELECT _v FROM O") }
    try await fixture.run(#"[{"id":"1","l":[{"n":"a"},{"n":"b"}],"w":["z","y"],"x":["z"]}]"#)
    #expect(try version() == ["1"])
    try await fixture.run(#"[{"id":"1","l":[{"n":"a"},{"n":"b"}],"w":["z"],"x":["z"]}]"#)
    #expect(try version() == ["2"])
    try await fixture.run(#"[{"id":"1","l":[{"n":"a"}],"w":[],"x":[]}]"#)
    #expect(try version() == ["3"])
    #expect(try fixture.store.undoImport(2).conflicts.count == 1)
    let report = try fixture.store.undoImport()
    #expect(report.entities["O"]?.changed == 1)
  }
}
