import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// New keys that become attributes by the contract of their entity.
@Suite("Evolving") struct EvolvedAttributeTests {
  private let map = ContractTests.map("contract: evolve", line: "contract: evolve,")

  @Test(
    "A new key becomes an attribute of the type of its values, and stays one in later imports",
    arguments: [
      ("fax_no", #""12a""#, "faxNo: { from: fax_no }", "12a"),
      ("n", "7", "n: { from: n, type: int64 }", "7"),
      (
        "born", #""31.12.1999""#, "born: { from: born, type: date, dates: [dd.MM.yyyy] }",
        "1999-12-31"
      ),
      ("tags", #"["a","b"]"#, "tags: { from: tags, type: json }", #"["a","b"]"#),
      ("o", #"{"a":1}"#, "o: { from: o, type: json }", #"{"a":1}"#),
      ("a.b", "true", "aB: { from: /a.b, type: bool }", "1"),
      // An attribute of the name is there already.
      ("Size", "1.5", "size2: { from: Size, type: double }", "1.5"),
      ("", "7", "value: { from: /, type: int64 }", "7"),
    ]
  )
  func types(key: String, value: String, line: String, stored: String) async throws {
    let fixture = try ImportFixture(map)
    try await fixture.run(#"[{"id":1,"name":"a"}]"#)
    let report = try await fixture.run("[{\"id\":1,\"name\":\"a\",\"\(key)\":\(value)}]")
    #expect(report.drift?.changes.map(\.attribute) == [line])
    #expect(report.summary == "read 1, updated 1")
    let name = String(line.prefix { $0 != ":" })
    #expect(try fixture.rows("P", ["id", name]) == ["1|\(stored)"])
    let next = try await fixture.run("[{\"id\":2,\"name\":\"a\",\"\(key)\":\(value)}]")
    #expect(next.drift?.changes == [])
    #expect(try fixture.rows("P", ["id", name]) == ["1|\(stored)", "2|\(stored)"])
  }

  @Test("Keys of objects within records and of nested records evolve where they are")
  func nested() async throws {
    let fixture = try ImportFixture(map)
    try await fixture.run(#"[{"id":1,"lines":[{"n":1}]}]"#)
    let report = try await fixture.run(#"[{"id":2,"lines":[{"n":1,"x":5}],"at":{"lat":1.5}}]"#)
    #expect(
      report.drift?.changes.map(\.attribute) == [
        "at: { from: at, type: json }", "x: { from: x, type: int64 }",
      ]
    )
    #expect(try fixture.rows("L", ["n", "x"]) == ["1|null", "1|5"])
  }

  @Test("Elements of XML in a namespace evolve with its prefix")
  func namespaces() async throws {
    let fixture = try ImportFixture(map)
    try await fixture.run(#"<r><p id="1"><name>a</name></p></r>"#)
    let text = #"<r xmlns:v="urn:vendor"><p id="2"><name>a</name><v:code>x1</v:code></p></r>"#
    let report = try await fixture.run(text)
    #expect(report.drift?.changes.map(\.attribute) == [#"code: { from: "vendor:code" }"#])
    #expect(try fixture.rows("P", ["id", "code"]) == ["1|null", "2|x1"])
    try await fixture.run(text.replacing("x1", with: "x2"))
    #expect(try fixture.rows("P", ["id", "code"]) == ["1|null", "2|x2"])
  }

  @Test("The namespaces that a line names are told where no source of the entity declares them")
  func undeclared() async throws {
    let feed = #"<r xmlns:v="urn:vendor"><p id="1"><name>a</name><v:code>x</v:code></p></r>"#
    for declared in ["", ", namespaces: { vendor: \"urn:vendor\" }"] {
      let fixture = try ImportFixture(
        map.replacing("records: /r/p }", with: "records: /r/p\(declared) }")
      )
      try await fixture.run(#"<r><p id="1"><name>a</name></p></r>"#)
      let change = try #require(try await fixture.run(feed).drift?.changes.first)
      #expect(change.attribute == #"code: { from: "vendor:code" }"#)
      let wanted = #"namespaces: { vendor: "urn:vendor" }"#
      #expect(change.namespaces == (declared.isEmpty ? wanted : nil))
    }
  }

  @Test("Repeated elements, and those with others in them, become JSON and are one value each")
  func elements() async throws {
    let fixture = try ImportFixture(map)
    try await fixture.run(#"<r><p id="1"><name>a</name></p></r>"#)
    let report = try await fixture.run(
      #"<r><p id="2"><name>a</name><tag>a</tag><tag>b</tag><m>hi <b>x</b></m></p></r>"#
    )
    #expect(
      report.drift?.changes.map(\.message) == [
        "P has tag (text, 2 times); it is an attribute from now on",
        "P has m (object, once); it is an attribute from now on",
      ]
    )
    #expect(
      report.drift?.changes.map(\.attribute) == [
        "tag: { from: tag, type: json }", "m: { from: m, type: json }",
      ]
    )
    #expect(try fixture.rows("P", ["id", "tag"]) == ["1|null", #"2|["a","b"]"#])
    // One element is one value, and no change.
    let next = try await fixture.run(
      #"<r><p id="3"><name>a</name><tag>a</tag><m>hi <b>x</b></m></p></r>"#
    )
    #expect(next.drift?.changes == [] && next.issues == [])
  }

  @Test(
    "What no attribute can hold is told with the reason, and once",
    arguments: [
      (
        #"[{"id":1,"at":[1],"dup":1,"dup":2}]"#, "dup", FeedDrift.Obstacle.repeated,
        "an object has it more than once"
      ),
      (
        #"[{"id":1,"at":[1,2]}]"#, "at[1…]", FeedDrift.Obstacle.list, "it stands inside of a list"
      ),
    ]
  )
  func obstacles(
    feed: String,
    name: String,
    obstacle: FeedDrift.Obstacle,
    reason: String
  ) async throws {
    let fixture = try ImportFixture(
      map.replacing(
        "attributes:\n      id:",
        with: "attributes:\n      at: { type: int64, from: { json: \"at[0]\" } }\n      id:"
      )
    )
    try await fixture.run(#"[{"id":1,"at":[1]}]"#)
    let report = try await fixture.run(feed)
    #expect(
      report.drift?.changes.map(\.message) == [
        "P has \(name) (number, once); no attribute can read it: \(reason)"
      ]
    )
    #expect(report.drift?.changes.map(\.obstacle) == [obstacle])
    #expect(try await fixture.run(feed).drift?.changes == [])
  }

  @Test("What may mean several things stays a text, and the line says what it may be")
  func ambiguous() async throws {
    let fixture = try ImportFixture(map)
    func run(_ text: String) async throws -> ImportReport {
      try await Importer(map: fixture.map, store: fixture.store).run(
        ImportRequest([.bytes(Array(text.utf8), name: "feed.csv")])
      )
    }
    _ = try await run("id,name\n1,a\n")
    let report = try await run(
      "id,name,due,amt,w\n1,a,03/04/2024,\"1,234\",1.234\n2,b,05/06/2024,\"2,500\",2.345\n"
    )
    let lines = report.drift?.changes.compactMap(\.attribute) ?? []
    #expect(
      lines.first
        == "due: { from: due } # a text, since { type: date, dates: [dd/MM/yyyy] } is ambiguous:"
        + " no day is above 12, it may be MM/dd/yyyy"
    )
    #expect(lines.map { $0.prefix { $0 != ":" } } == ["due", "amt", "w"])
    #expect(lines.allSatisfy { $0.contains(" } # a text, since { type: ") }, "\(lines)")
    let next = try await run("id,name,due,amt,w\n3,c,12/25/2024,\"1,5\",x\n")
    #expect(next.issues == [] && next.drift?.changes == [])
    #expect(
      try fixture.rows("P", ["due", "amt", "w"]) == [
        "03/04/2024|1,234|1.234", "05/06/2024|2,500|2.345", "12/25/2024|1,5|x",
      ]
    )
  }

  @Test("What the rest of the feed tells is not ambiguous")
  func told() async throws {
    let fixture = try ImportFixture(map)
    func run(_ text: String) async throws -> ImportReport {
      try await Importer(map: fixture.map, store: fixture.store).run(
        ImportRequest([.bytes(Array(text.utf8), name: "feed.csv")])
      )
    }
    _ = try await run("id,name\n1,a\n")
    let report = try await run("id,name,due,paid\n1,a,03/04/2024,12/25/2024\n")
    #expect(
      report.drift?.changes.map(\.attribute) == [
        "due: { from: due, type: date, dates: [MM/dd/yyyy] }",
        "paid: { from: paid, type: date, dates: [MM/dd/yyyy] }",
      ]
    )
  }

  @Test("A key that is null waits for its first value")
  func nulls() async throws {
    let fixture = try ImportFixture(map)
    try await fixture.run(#"[{"id":1}]"#)
    let report = try await fixture.run(#"[{"id":1,"fax":null}]"#)
    #expect(
      report.drift?.changes.map(\.message) == [
        "P has fax (null, once); it becomes an attribute with its first value"
      ]
    )
    let next = try await fixture.run(#"[{"id":1,"fax":5}]"#)
    #expect(next.drift?.changes.map(\.attribute) == ["fax: { from: fax, type: int64 }"])
  }

  @Test("A map that has the attribute itself, or reads its path, takes it over")
  func takenOver() async throws {
    for (line, name) in [
      ("faxNo: { from: fax_no, type: int64 }", "faxNo"), ("phone: fax_no", "phone"),
    ] {
      let mended = map.replacing(
        "attributes:\n      id:",
        with: "attributes:\n      \(line)\n      id:"
      )
      #expect(mended != map)
      let store = try SQLiteStore(at: .inMemory)
      let other = try ImportFixture(map, in: store)
      try await other.run(#"[{"id":1}]"#)
      try await other.run(#"[{"id":1,"fax_no":5}]"#)
      let next = try ImportFixture(mended, in: store)
      let feed = line.contains("int64") ? #"[{"id":1,"fax_no":6}]"# : #"[{"id":1,"fax_no":"6"}]"#
      let report = try await next.run(feed)
      #expect(report.issues == [])
      #expect(try next.rows("P", [name]) == ["6"])
    }
  }

  @Test("Rejects that are imported again and limited imports have the attribute, too")
  func otherImports() async throws {
    let fixture = try ImportFixture(map)
    try await fixture.run(#"[{"id":1}]"#)
    try await fixture.run(#"[{"id":1,"fax":5}]"#)
    try await fixture.run(#"[{"id":2,"fax":6}]"#) { $0.limit = 1 }
    #expect(try fixture.rows("P", ["id", "fax"]) == ["1|5", "2|6"])
  }

  @Test(
    "What has evolved is held to the contract from then on, and is in no file that a message could name"
  )
  func afterwards() async throws {
    let fixture = try ImportFixture(map)
    try await fixture.run(#"[{"id":1}]"#)
    try await fixture.run(#"[{"id":1,"fax":5,"born":"31.12.1999"}]"#)
    let report = try await fixture.run(#"[{"id":1,"fax":"x","born":"30.11.1999"}]"#)
    #expect(
      ContractTests.told(report) == ["report P.fax has a text where it had a number, once"]
    )
    #expect(report.issueSummary == ["value.type 1"])
    #expect(report.issues.first?.examples.first?.map == nil)
    let gone = try await fixture.run(#"[{"id":1,"fax":5}]"#)
    #expect(ContractTests.told(gone) == ["report no record has P.born"])
  }

  @Test("Attributes stay when the import that made them is taken back")
  func undone() async throws {
    let fixture = try ImportFixture(map)
    try await fixture.run(#"[{"id":1}]"#)
    try await fixture.run(#"[{"id":1,"fax":5}]"#)
    _ = try fixture.store.undoImport(2)
    #expect(try fixture.rows("P", ["id", "fax"]) == ["1|null"])
    let report = try await fixture.run(#"[{"id":1,"fax":5}]"#)
    #expect(report.drift == FeedDrift(comparedWith: 1, changes: []))
    #expect(try fixture.rows("P", ["id", "fax"]) == ["1|5"])
  }

  @Test("What a migration drops stays away, and its key is not told anew")
  func dropped() async throws {
    let fixture = try ImportFixture(map)
    try await fixture.run(#"[{"id":1}]"#)
    try await fixture.run(#"[{"id":1,"fax":5,"n":6}]"#)
    try fixture.store.migrate(to: fixture.map.model(), drops: true)
    let report = try await fixture.run(#"[{"id":1,"fax":5,"n":6}]"#)
    #expect(report.drift?.changes == [])
    #expect(report.summary == "read 1, unchanged 1")
    #expect(throws: (any Error).self) { try fixture.rows("P", ["fax"]) }
    // One that is new evolves as ever.
    try await fixture.run(#"[{"id":1,"fax":5,"n":6,"o":7}]"#)
    #expect(try fixture.rows("P", ["id", "o"]) == ["1|7"])
    #expect(throws: (any Error).self) { try fixture.rows("P", ["n"]) }
  }

  @Test("An import in batches that is gone on with has what its first part made")
  func resumed() async throws {
    let fixture = try ImportFixture(map)
    try await fixture.run(#"[{"id":1}]"#)
    let feed = (1...6).map { "{\"id\":\($0),\"fax\":\($0)}" }.joined(separator: "\n")
    let request = ImportRequest([.bytes(Array(feed.utf8), name: "feed.ndjson")])
      .with {
        $0.options.commit = .batch
        $0.options.batchSize = 2
      }
    let importer = Importer(map: fixture.map, store: fixture.store)
    let stop = StopAfter(count: 3)
    await #expect(throws: ImportFailure.self) {
      try await importer.run(request.with { $0.changes = { _ in try stop.count() } })
    }
    _ = try await importer.run(request.with { $0.resumes = true })
    #expect(try fixture.rows("P", ["id", "fax"]) == (1...6).map { "\($0)|\($0)" })
    #expect(try await importer.run(request).drift?.changes == [])
  }
}

/// Throws behind a number of changes.
private final class StopAfter: @unchecked Sendable {
  private struct Stopped: Error {}
  // Only the writing thread counts.
  private var left: Int

  init(count: Int) { left = count }

  func count() throws {
    left -= 1
    if left < 0 { throw Stopped() }
  }
}
