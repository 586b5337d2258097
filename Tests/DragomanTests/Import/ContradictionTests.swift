import DragomanGraph
import GRDB
import Synchronization
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Feeds that give one object several values, and what comparing them with a database tells.
@Suite("Feeds that contradict themselves") struct ContradictionTests {
  private static let map = """
    version: 1
    entities:
      Order:
        unique: id
        attributes: { id: { type: int64 } }
        relationships: { customer: { entity: Customer, kind: toOne, from: customer } }
      Customer:
        unique: id
        attributes: { id: { type: int64 }, name: name, secret: { sensitive: true } }
        relationships: { tags: { entity: Tag, kind: toMany, from: tags } }
      Tag: { unique: id, attributes: { id: id } }
    sources: { json: { format: json, entity: Order } }
    """

  private func order(_ id: Int, _ name: String, _ tag: String = "t") -> String {
    #"{"id":\#(id),"customer":{"id":7,"name":"\#(name)","secret":"s\#(id)","tags":[{"id":"\#(tag)"}]}}"#
  }

  private func told(_ report: ImportReport) -> [String] {
    report.issues.map { "\($0.code.rawValue) \($0.entity).\($0.attribute ?? "-") \($0.count)" }
  }

  @Test("Each attribute that goes back and forth is told, with both values and the first examples")
  func warned() async throws {
    let fixture = try ImportFixture(Self.map)
    let feed =
      "[\((1...20).map { order($0, $0.isMultiple(of: 2) ? "Ada" : "Eva") }.joined(separator: ","))]"
    // At first the import made the customer itself; later the first record changes it, and is no
    // contradiction yet.
    for expected in [19, 18 + 1] {
      let report = try await fixture.run(feed)
      #expect(report.counts.rejected == 0)
      #expect(
        told(report) == [
          "value.contradiction Customer.name \(expected)",
          "value.contradiction Customer.secret \(expected)",
        ]
      )
      let example = report.issues[0].examples[0]
      #expect(report.issues[0].examples.count == 5)
      #expect(example.key == "7")
      #expect(example.message.contains("Elsewhere the feed says "))
      #expect(example.origin.line == 1)
      #expect(report.issues[1].examples.allSatisfy { !$0.message.contains("s1") })
    }
  }

  @Test("A value that comes once, or comes to an object that has none, contradicts nothing")
  func harmless() async throws {
    let fixture = try ImportFixture(Self.map)
    try await fixture.run(#"[{"id":1,"customer":{"id":7,"name":"Ada"}}]"#)
    let report = try await fixture.run(
      #"[{"id":1,"customer":{"id":7,"name":"Eva"}},{"id":2,"customer":{"id":7,"name":"Eva"}},"#
        + #"{"id":3,"customer":{"id":8}},{"id":4,"customer":{"id":8,"name":"x"}}]"#
    )
    #expect(told(report).isEmpty)
  }

  @Test(
    "What one record that waits says of a list, and the next one otherwise, is told, whatever becomes of the one behind them",
    arguments: [false, true]
  )
  func held(deletesOthers: Bool) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Order:
          unique: id
          version: v
          deleteWhen: { from: gone, equals: "true" }
          attributes: { id: { type: int64 }, v: { type: int64 } }
          relationships:
            customer: { entity: Customer, kind: toOne, from: customer }
            needs: { entity: Order, kind: toOne, key: { id: needs }, onUnresolved: reject }
        Customer:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { tags: { entity: Tag, kind: toMany, from: tags } }
        Tag: { unique: id, attributes: { id: id } }
      sources: { json: { format: json, entity: Order } }
      """
    )
    try await fixture.run(#"[{"id":3,"v":5}]"#)
    let gone = deletesOthers ? #",{"id":5,"needs":9},{"id":5,"gone":true}"# : ""
    let report = try await fixture.run(
      #"[{"id":1,"needs":9,"customer":{"id":7,"tags":[{"id":"a"}]}},"#
        + #"{"id":2,"needs":9,"customer":{"id":7,"tags":[{"id":"b"}]}},"#
        + #"{"id":3,"v":1,"needs":9},{"id":9}\#(gone)]"#
    )
    #expect(report.counts.skipped == 1)
    #expect(report.counts.deleted == (deletesOthers ? 1 : 0))
    #expect(told(report) == ["value.contradiction Customer.tags 1"])
  }

  @Test("What the whole import comes to is told of each object once: before against after")
  func net() async throws {
    let fixture = try ImportFixture(Self.map)
    let feed = "[\(order(1, "Ada", "a")),\(order(2, "Eva", "b"))]"
    func changes(_ text: String) async throws -> [String] {
      let found = Mutex<[String]>([])
      try await fixture.run(text) {
        $0.isDryRun = true
        $0.tellsNetChanges = true
        $0.changes = { change in
          let fields = change.fields.map { "\($0.attribute.name)=\($0.new?.text ?? "-")" }
          let key = change.key.map(\.value.text).joined(separator: "+")
          let links = change.links.map {
            "\($0.relationship) +\($0.added.count) -\($0.removed.count)"
          }
          found.withLock {
            $0.append(
              ["\(change.kind.rawValue) \(change.entity) \(key) @\(change.origin?.record ?? 0)"]
                .joined() + (fields + links).map { " " + $0 }.joined()
            )
          }
        }
      }
      return found.withLock { $0 }
    }
    let all = try await changes(feed)
    #expect(all.contains { $0.hasPrefix("inserted Customer 7") && $0.contains("name=Eva") })
    #expect(all.count { $0.contains("Customer 7") && $0.hasPrefix("inserted") } == 1)
    try await fixture.run(feed)
    #expect(try await changes(feed).isEmpty)
    #expect(
      try await changes("[\(order(1, "Ada", "a")),\(order(2, "Bob", "b"))]")
        == ["updated Customer 7 @2 name=Bob"]
    )
  }

  @Test("A statement ends when it is asked to")
  func interrupted() throws {
    let store = try SQLiteStore(at: .inMemory)
    try store.write { session throws in
      let error = #expect(throws: DatabaseError.self) {
        try session.interruptible(when: { true }) {
          try session.database.execute(
            sql: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
              + " SELECT count(*) FROM n"
          )
        }
      }
      #expect(error?.resultCode == .SQLITE_INTERRUPT)
      // It is asked no more.
      let one = try Int.fetchOne(session.database, sql: "SELECT 1")
      #expect(one == 1)
    }
  }

  @Test(
    "An import that is cancelled does not resolve what waits, and keeps what it committed",
    arguments: [ImportMap.ImportOptions.Commit.all, .batch]
  )
  func cancelled(commit: ImportMap.ImportOptions.Commit) async throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          N:
            unique: id
            attributes: { id: { type: int64 } }
            relationships: { next: { entity: N, kind: toOne, key: { id: next }, onUnresolved: stub } }
        """
    )
    let store = try SQLiteStore(at: .inMemory)
    let running = Mutex<ImportRun?>(nil)
    let feed = "[\((1...50).map { #"{"id":\#($0),"next":\#($0 + 100)}"# }.joined(separator: ","))]"
    var request = ImportRequest(
      [.bytes(Array(feed.utf8), name: "f")],
      options: .init(batchSize: 10, commit: commit)
    )
    request.changes = { _ in
      while running.withLock({ $0?.cancel() }) == nil {}
    }
    let run = Importer(map: map, store: store).start(request)
    running.withLock { $0 = run }
    let report = try await run.report()
    #expect(report.status == .cancelled)
    #expect(report.relationships["N.next"]?.unresolved ?? 0 == 0)
    let count =
      try sql(store, "SELECT count(*) FROM sqlite_schema WHERE name = 'N'") == ["0"]
      ? "0"
      : try sql(store, "SELECT count(*) FROM N")[0]
    #expect(Int(count) == report.committed)
  }
}
