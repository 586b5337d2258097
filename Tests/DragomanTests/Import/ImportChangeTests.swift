import Foundation
import Synchronization
import Testing

@testable import Dragoman
@testable import DragomanGraph

@Suite struct ImportChangeTests {
  private static let map = """
    version: 1
    entities:
      P:
        unique: id
        deleteWhen: { from: gone, equals: "true" }
        attributes:
          id: { type: int64 }
          name: name
          pay: { type: decimal, default: "1" }
          pin: { sensitive: true }
    """

  /// Imports a text and collects what it changed: `updated 1 name: "a" > "b"`.
  private func changes(
    _ text: String,
    _ fixture: ImportFixture,
    change: (inout ImportRequest) -> Void = { $0.isDryRun = true }
  ) async throws -> [String] {
    let found = Mutex<[String]>([])
    try await fixture.run(text) { request in
      change(&request)
      request.changes = { change in
        found.withLock { $0.append(Self.told(change)) }
      }
    }
    return found.withLock { $0 }
  }

  private static func told(_ change: ImportChange) -> String {
    let key = change.key.map(\.value.text).joined(separator: "+")
    let line = change.origin.map { "\($0.line)" } ?? "-"
    let fields = change.fields.map { field in
      "\(field.attribute.name): \(field.old?.text ?? "none") > \(field.new?.text ?? "none")"
    }
    let links = change.links.map { links in
      let sides = [links.removed, links.added].map { keys in
        keys.map { $0.map(\.value.text).joined(separator: "+") }.joined(separator: ",")
      }
      return "\(links.relationship): \(sides[0]) > \(sides[1])"
    }
    let former = change.formerEntity.map { ["was \($0)"] } ?? []
    return ([change.kind.rawValue, key, "@\(line)"] + former + fields + links)
      .joined(separator: " ")
  }

  @Test("The identity that a record gives to a stub of another key is a change")
  func adoptedStub() async throws {
    let map = """
      version: 1
      entities:
        Task:
          unique: no
          attributes: { no: { type: int64 } }
          relationships:
            who: { entity: Person, kind: toOne, key: { mail: who }, onUnresolved: stub }
        Person:
          unique: [[id], [mail]]
          attributes: { id: { type: int64 }, mail: mail, name: name }
      sources:
        tasks: { format: json, entity: Task, records: tasks }
        people: { format: json, entity: Person, records: people }
      """
    let fixture = try ImportFixture(map)
    try await fixture.run(#"{"tasks":[{"no":1,"who":"a@b"}]}"#)
    let named = try await changes(#"{"people":[{"id":5,"mail":"a@b","name":"Ada"}]}"#, fixture)
    #expect(named == ["updated 5 @1 id: null > 5", "updated 5 @1 name: null > Ada"])
    let known = try await changes(#"{"people":[{"id":5,"mail":"a@b"}]}"#, fixture)
    #expect(known == ["updated 5 @1 id: null > 5"])
  }

  private func filled() async throws -> ImportFixture {
    let fixture = try ImportFixture(Self.map)
    try await fixture.run(#"[{"id":1,"name":"a","pin":"x"},{"id":2,"name":"b"},{"id":3}]"#)
    return fixture
  }

  @Test("Every object that changes is told with the values before and after")
  func kinds() async throws {
    let fixture = try await filled()
    let before = try fixture.rows()
    let feed = """
      [{"id":1,"name":"A","pin":"y"},
       {"id":2,"name":"b"},
       {"id":3,"gone":true},
       {"id":4,"name":null,"pin":"z"},
       {"id":9,"gone":true},
       {"id":2,"name":null,"pay":2.50},
       {"id":"?"}]
      """
    let expected = [
      "updated 1 @1 name: a > A pin: ••• > •••", "deleted 3 @3 pay: 1 > none",
      "inserted 4 @4 pay: none > 1 pin: none > •••", "updated 2 @6 name: b > null pay: 1 > 2.5",
    ]
    let tried = try await changes(feed, fixture)
    #expect(tried == expected)
    #expect(try fixture.rows() == before)
    // The import that follows does what the dry run said, and tells the same.
    let done = try await changes(feed, fixture) { $0.options.commit = .all }
    #expect(done == expected)
  }

  @Test("Values of one object that changes twice are those before each record")
  func twice() async throws {
    let fixture = try await filled()
    let found = try await changes(
      #"[{"id":1,"name":"b"},{"id":1,"name":"c"},{"id":5},{"id":5,"name":"e"}]"#,
      fixture
    )
    #expect(
      found == [
        "updated 1 @1 name: a > b", "updated 1 @1 name: b > c", "inserted 5 @1 pay: none > 1",
        "updated 5 @1 name: null > e",
      ]
    )
  }

  @Test("What pruning would delete is told behind the rest")
  func pruned() async throws {
    let fixture = try await filled()
    let found = try await changes(#"[{"id":2,"name":"c"}]"#, fixture) {
      $0.isDryRun = true
      $0.prune = ImportRequest.Prune()
    }
    #expect(
      found == [
        "updated 2 @1 name: b > c", "pruned 1 @- name: a > none pay: 1 > none pin: ••• > none",
        "pruned 3 @- pay: 1 > none",
      ]
    )
    #expect(try fixture.rows().count == 3)
  }

  @Test("Links that change are told by the keys of their targets")
  func links() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Company: { unique: id, attributes: { id: { type: int64 }, pin: { sensitive: true } } }
        Badge:
          unique: [maker, number]
          attributes: { number: { type: int64 } }
          relationships: { maker: { entity: Company, kind: toOne } }
        Phone: { unique: [owner, kind], attributes: { kind: kind } }
        Person:
          unique: id
          attributes: { id: { type: int64 } }
          relationships:
            badge: { entity: Badge, kind: toOne }
            boss: { entity: Person, kind: toOne, key: { id: boss } }
            friends: { entity: Person, kind: toMany, key: { id: friends }, ordered: true }
            phones: { entity: Phone, kind: toMany, inverse: owner, onUnlink: delete }
      sources: { json: { format: json, entity: Person } }
      """
    )
    let feed = """
      [{"id":1,"badge":{"maker":{"id":7},"number":3},"boss":2,"friends":[2,3]},
       {"id":2,"phones":[{"kind":"m"}]},
       {"id":3}]
      """
    #expect(
      try await changes(feed, fixture) == [
        "inserted 7 @1", "inserted 7+3 @1", "inserted 1 @1 badge:  > 7+3",
        "inserted 2 @2", "inserted 2+m @2", "inserted 3 @3",
        "updated 1 @- friends:  > 2,3", "updated 1 @- boss:  > 2",
      ]
    )
    try await fixture.run(feed)
    #expect(try await changes(feed, fixture) == [])
    let next = """
      [{"id":1,"badge":null,"boss":3,"friends":[3,2]},
       {"id":2,"phones":[],"friends":[1]}]
      """
    let told = try await changes(next, fixture)
    #expect(
      told == [
        "updated 1 @1 badge: 7+3 >  boss: 2 > 3", "deleted 2+m @-",
        "updated 1 @- friends:  > ", "updated 2 @- friends:  > 1",
      ]
    )
    let pruned = try await changes(#"[{"id":1}]"#, fixture) {
      $0.isDryRun = true
      $0.prune = .init()
    }
    #expect(
      pruned == [
        "updated 2+m @- owner: 2 > ", "updated 1 @- boss: 2 > ", "pruned 2 @-", "pruned 3 @-",
        "updated 1 @- friends: 2,3 > ",
      ]
    )
  }

  private static let family = """
    version: 1
    entities:
      A:
        unique: k
        attributes: { k: k }
        deleteWhen: { from: del, equals: "yes" }
        discriminator: { from: kind, values: { x: AX } }
        relationships:
          one: { entity: A, kind: toOne, key: { k: one } }
          many: { entity: A, kind: toMany, key: { k: "many[*]" } }
      AX:
        parent: A
        attributes: { sd: { type: int32, default: 7 } }
        relationships:
          own: { entity: A, kind: toOne, key: { k: own } }
          owns: { entity: A, kind: toMany, key: { k: "owns[*]" } }
    sources: { json: { format: json, entity: A } }
    """

  @Test(
    "What becomes one of a sub-entity says so, and what goes tells its links",
    arguments: [false, true]
  )
  func entities(isNet: Bool) async throws {
    let fixture = try ImportFixture(Self.family)
    try await fixture.run(#"[{"k":"1"},{"k":"2","one":"1","many":["1"]}]"#)
    func told(_ feed: String) async throws -> [String] {
      try await changes(feed, fixture) {
        $0.isDryRun = true
        $0.tellsNetChanges = isNet
      }
    }
    #expect(
      try await told(#"[{"k":"1","kind":"x"}]"#) == ["updated 1 @1 was A sd: null > 7"]
    )
    #expect(
      try await told(#"[{"k":"2","del":"yes"}]"#)
        == ["deleted 2 @1 one: 1 > \(isNet ? " many: 1 > " : "")"]
    )
  }

  @Test("What is one of a sub-entity no more tells all that it loses")
  func formerProperties() async throws {
    let fixture = try ImportFixture(Self.family)
    try await fixture.run(#"[{"k":"1"},{"k":"2"}]"#)
    try await fixture.run(#"[{"k":"1","kind":"x","own":"2","owns":["2"]}]"#) {
      $0.recording = .always
    }
    var found: [String] = []
    _ = try fixture.store.previewUndo { found.append(Self.told($0)) }
    #expect(found == ["updated 1 @- was AX sd: 7 > null own: 2 >  owns: 2 > "])
  }

  @Test("What goes is of the entity that it was of before the import, whatever it was in between")
  func formerEntity() async throws {
    let fixture = try ImportFixture(Self.family)
    try await fixture.run(#"[{"k":"1"},{"k":"2"}]"#)
    let found = Mutex<[String]>([])
    try await fixture.run(#"[{"k":"2","kind":"x","own":"1"},{"k":"2","del":"yes"}]"#) { request in
      request.tellsNetChanges = true
      request.changes = { change in
        found.withLock { $0.append("\(change.entity) \(Self.told(change))") }
      }
    }
    #expect(found.withLock { $0 } == ["A deleted 2 @1"])
  }

  @Test("What goes with its owner is told once, with the key that it had")
  func cascade() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Line: { unique: [order, no], attributes: { no: { type: int64 } } }
        Order:
          unique: id
          deleteWhen: { from: gone, equals: "true" }
          attributes: { id: { type: int64 } }
          relationships: { lines: { entity: Line, kind: toMany, inverse: order, onDelete: cascade } }
      sources: { json: { format: json, entity: Order } }
      """
    )
    try await fixture.run(#"[{"id":1,"lines":[{"no":1},{"no":2}]}]"#)
    #expect(
      try await changes(#"[{"id":1,"gone":true}]"#, fixture).sorted()
        == ["deleted 1 @1", "deleted 1+1 @1", "deleted 1+2 @1"]
    )
  }

  @Test("A record that is held to the end is told, too")
  func held() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { boss: { entity: P, kind: toOne, key: { id: boss }, onUnresolved: reject } }
      sources: { json: { format: json, entity: P } }
      """
    )
    #expect(
      try await changes(#"[{"id":1,"boss":2},{"id":2}]"#, fixture)
        == ["inserted 2 @1", "inserted 1 @- boss:  > 2"]
    )
  }

  @Test("The counts are the same with and without an observer, under every mode")
  func counts() async throws {
    let feed = #"[{"id":1,"name":"q"},{"id":2,"name":"b"},{"id":7},{"id":3,"gone":true}]"#
    for mode in EntityWriter.Mode.allCases {
      let plain = try await filled().run(feed, mode: mode)
      let observed = try await filled().run(feed, mode: mode) { $0.changes = { _ in } }
      #expect(plain.counts == observed.counts, "\(mode)")
    }
  }

  @Test("Batches that are committed are observed to the end, and nothing stays behind")
  func batches() async throws {
    let fixture = try await filled()
    let found = try await changes(
      #"[{"id":1,"name":"b"},{"id":2,"name":"c"},{"id":3,"name":"d"}]"#,
      fixture
    ) {
      $0.options.commit = .batch
      $0.options.batchSize = 1
    }
    #expect(found.count == 3)
    #expect(try sql(fixture.store, "SELECT count(*) FROM sqlite_temp_master") == ["0"])
    #expect(try await fixture.run(#"[{"id":1,"name":"z"}]"#).summary == "read 1, updated 1")
  }

  @Test("What the observer throws ends the import, and nothing is kept")
  func throwing() async throws {
    struct Enough: Error {}
    let fixture = try await filled()
    let before = try fixture.rows()
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(#"[{"id":1,"name":"b"}]"#) { $0.changes = { _ in throw Enough() } }
    }
    #expect(failure?.cause is Enough)
    #expect(try fixture.rows() == before)
    #expect(try sql(fixture.store, "SELECT count(*) FROM sqlite_temp_master") == ["0"])
  }

  @Test("A dry run with an observer changes no byte of a database file")
  func bytes() async throws {
    let file = NSTemporaryDirectory() + "diff-\(UUID().uuidString).db"
    defer { try? FileManager.default.removeItem(atPath: file) }
    let store = try SQLiteStore(at: .file(file), options: .init(readsConcurrently: false))
    let fixture = try ImportFixture(Self.map, in: store)
    try await fixture.run(#"[{"id":1,"name":"a"}]"#)
    try store.close()
    let before = try Data(contentsOf: URL(fileURLWithPath: file))

    let again = try SQLiteStore(at: .file(file), options: .init(readsConcurrently: false))
    let feed = "[" + (1...5000).map { "{\"id\":\($0),\"name\":\"n\"}" }.joined(separator: ",") + "]"
    let found = try await changes(feed, ImportFixture(Self.map, in: again))
    try again.close()
    #expect(found.count == 5000)
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
  }
}
