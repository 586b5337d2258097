import DragomanGraph
import Testing

@testable import Dragoman

/// Values that look otherwise than before, by what their attribute is declared to take.
@Suite("Contracts and declared formats") struct DeclaredKindsTests {
  private static func fixture(_ contract: String, _ attribute: String) throws -> ImportFixture {
    try ImportFixture(
      """
      version: 1
      name: kinds
      entities:
        K:
          contract: { changedTypes: \(contract) }
          unique: id
          attributes:
            id: { type: int64, from: { json: id, xml: "@id", csv: id } }
            a: { \(attribute) }
      sources:
        json: { format: json, entity: K }
        xml: { format: xml, entity: K, records: /r/k }
        csv: { format: csv, entity: K }
      """
    )
  }

  /// What is told of mapped keys.
  private static func told(_ report: ImportReport) -> [String]? {
    report.drift?.changes.filter { $0.kind == .changedType }.map(\.message)
  }

  private func run(_ fixture: ImportFixture, _ feed: String) async throws -> ImportReport {
    let name = feed.hasPrefix("id,") ? "feed.csv" : "feed"
    return try await Importer(map: fixture.map, store: fixture.store).run(
      ImportRequest([.bytes(Array(feed.utf8), name: name)])
    )
  }

  @Test(
    "What an attribute takes is no change of kind, whatever it looks like, and neither is the way back",
    arguments: [
      ("type: time", "id,a\n1,10:00\n", "id,a\n1,10:00:05.5\n"),
      ("type: bool, trueValues: [\"1\"], falseValues: [nein]", "id,a\n1,nein\n", "id,a\n1,1\n"),
      (
        "type: date, dates: [dd.MM.yyyy, \"d. MMM yyyy\"]", "id,a\n1,01.02.2024\n",
        "id,a\n1,3. Feb 2024\n"
      ),
      (
        "type: timestamp, dates: [iso8601, unix]", "id,a\n1,2024-01-01T00:00:00Z\n",
        "id,a\n1,1700000000\n"
      ),
      ("type: int64, numbers: { decimal: \".\" }", #"[{"id":1,"a":"5"}]"#, #"[{"id":1,"a":5}]"#),
      ("coerce: true", #"[{"id":1,"a":"x"}]"#, #"[{"id":1,"a":7}]"#),
      (
        "type: int64", #"<r><k id="1"><a>5</a></k></r>"#, #"<r><k id="1"><a unit="m">6</a></k></r>"#
      ),
      ("", #"<r><k id="1"><a>x</a></k></r>"#, #"<r><k id="1"><a unit="m"/></k></r>"#),
    ]
  )
  func taken(attribute: String, first: String, second: String) async throws {
    let fixture = try Self.fixture("freeze", attribute)
    for feed in [first, second, first] {
      let report = try await run(fixture, feed)
      #expect(Self.told(report) == [] && report.issues == [], "\(feed)")
    }
  }

  @Test(
    "What it does not take is one, and no more than that is counted",
    arguments: [
      (
        "type: date, dates: [dd.MM.yyyy, \"d. MMM yyyy\"]", "id,a\n1,01.02.2024\n",
        "id,a\n1,3. Feb 2024\n2,soon\n3,01.03.2024\n", "a text where it had a date, once"
      ),
      (
        "type: int64, numbers: { decimal: \".\" }", #"[{"id":1,"a":"5"}]"#,
        #"[{"id":1,"a":5},{"id":2,"a":[1]},{"id":3,"a":true}]"#,
        "a boolean or list where it had a text, 2 times"
      ),
      (
        "type: int64", #"<r><k id="1"><a>5</a></k></r>"#,
        #"<r><k id="1"><a unit="m">6</a></k><k id="2"><a><b/></a></k></r>"#,
        "an object where it had a number, once"
      ),
      (
        "", #"[{"id":1,"a":"x"}]"#, #"[{"id":1,"a":7},{"id":2,"a":"y"}]"#,
        "a number where it had a text, once"
      ),
    ]
  )
  func refused(attribute: String, first: String, second: String, told: String) async throws {
    let fixture = try Self.fixture("report", attribute)
    _ = try await run(fixture, first)
    let report = try await run(fixture, second)
    #expect(Self.told(report) == ["K.a has \(told)"])
  }

  @Test(
    "A column is counted once where the feed is read again, and a header in the middle is a record"
  )
  func readAgain() async throws {
    let fixture = try ImportFixture(
      ContractTests.map("contract: report", attribute: "onInvalid: clear")
    )
    _ = try await run(fixture, "id,name,size\n1,a,5\n")
    let report = try await run(fixture, "id,name,size,fax\n1,a,5,x\nid,name,size,fax\n2,b,6,y\n")
    #expect(
      report.drift?.changes.map(\.message) == [
        "P.id has a text where it had a number, once",
        "P.size has a text where it had a number, once",
        "P has fax (text, 3 times); nothing reads it",
      ]
    )
  }

  @Test(
    "Of values that a path picks, those beside them are no change",
    arguments: [
      ("[1.5,2.5,\"EPSG:4326\"]", [String]()), ("[1.5]", []),
      ("[\"x\",2.5]", ["P.a has a text where it had a number, once"]),
      ("[[1],2.5]", ["P.a has a list where it had a number, once"]),
    ]
  )
  func picked(list: String, told: [String]) async throws {
    let fixture = try ImportFixture(
      attributes: "a: { from: { json: \"loc[0]\" }, type: double }",
      entity: "contract: { changedTypes: report, newKeys: discard, vanishedKeys: discard }"
    )
    try await fixture.run(#"[{"id":1,"loc":[1.5,2.5]}]"#)
    #expect(Self.told(try await fixture.run("[{\"id\":1,\"loc\":\(list)}]")) == told)
  }

  @Test("Of XML elements that a path picks by an attribute, those beside them are no change")
  func pickedElements() async throws {
    let fixture = try ImportFixture(
      attributes: "a: { from: { xml: 'v[@name=\"lat\"]' }, type: double }",
      entity: "contract: { changedTypes: report, newKeys: discard, vanishedKeys: discard }"
    )
    func told(_ elements: String) async throws -> [String]? {
      Self.told(try await fixture.run("<r><p id=\"1\">\(elements)</p></r>"))
    }
    _ = try await told(#"<v name="lat">1.5</v>"#)
    #expect(try await told(#"<v name="lat">1.5</v><v name="label">here</v>"#) == [])
  }

  // MARK: - Lists

  @Test(
    "Elements of a list that are read by no place are new keys, and not read",
    arguments: [
      ("from: \"loc[1]\", type: double", "[1.5,2.5,9.5]", ["loc[2…]"]),
      ("from: \"loc[2]\", type: double", "[1.5,2.5,9.5,4.5]", ["loc[1]", "loc[3…]"]),
      ("from: loc, type: json", "[1.5,2.5]", [String]()),
      ("from: \"loc[9223372036854775807]\", type: double", "[1.5,2.5]", ["loc[1]"]),
    ]
  )
  func elements(other: String, list: String, unread: [String]) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      name: geo
      entities:
        P:
          contract: report
          unique: id
          attributes:
            id: { type: int64 }
            a: { from: "loc[0]", type: double }
            b: { \(other) }
      sources: { s: { format: json, entity: P } }
      """
    )
    try await fixture.run(#"[{"id":1,"loc":[1.5]},{"id":2,"loc":[]}]"#)
    let feed = "[{\"id\":1,\"loc\":\(list)},{\"id\":2,\"loc\":[1.5]}]"
    let report = try await fixture.run(feed)
    #expect(
      report.drift?.changes.map(\.message)
        == unread.map { "P has \($0) (number, once); nothing reads it" }
    )
    let (_, coverage) = try await Importer(map: fixture.map, store: fixture.store)
      .check(ImportRequest([.bytes(Array(feed.utf8), name: "feed.json")]))
    #expect(
      coverage.unread
        == unread.map {
          FeedCoverage.UnreadPlace(entity: "P", path: $0, count: 1, kind: .number)
        }
    )
  }
}
