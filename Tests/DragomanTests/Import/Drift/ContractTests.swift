import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// What the contract of a map makes of feeds that change.
@Suite("Contracts") struct ContractTests {
  /// A map of `P` with a nested `L`, under a contract.
  static func map(_ contract: String, attribute: String = "", line: String = "") -> String {
    """
    version: 1
    name: contracts
    entities:
      P:
        unique: id
        \(contract)
        attributes:
          id: { type: int64, from: { json: id, xml: "@id", csv: id } }
          name: { from: { json: name, xml: name, csv: name } }
          size: { type: int32, from: { json: size, xml: size, csv: size }, \(attribute) }
        relationships:
          lines: { entity: L, kind: toMany, from: { json: lines, xml: lines/line } }
      L: { \(line) attributes: { n: { type: int64, from: { json: n, xml: "@n" } } } }
    sources:
      json: { format: json, entity: P }
      xml: { format: xml, entity: P, records: /r/p }
      csv: { format: csv, entity: P }
    """
  }

  /// The changes of a report as text, without those of rules that are the same for all.
  static func told(_ report: ImportReport) -> [String] {
    (report.drift?.changes ?? []).map { "\($0.rule.rawValue) \($0.message)" }
  }

  @Test(
    "What is new, changed and gone is told since the last import, whatever the format",
    arguments: [
      (
        #"[{"id":1,"name":"a","size":1,"lines":[{"n":1}]},{"id":2,"name":"b","old":1}]"#,
        #"[{"id":1,"size":"big","fax":"1","lines":[{"n":1,"x":true}]},{"id":2,"old":1,"fax":2}]"#
      ),
      (
        #"<r><p id="1"><name>a</name><size>1</size><lines><line n="1"/></lines></p><p id="2"><old>1</old><name>b</name></p></r>"#,
        #"<r><p id="1"><size>big</size><fax>1</fax><lines><line n="1" x="true"/></lines></p><p id="2"><old>1</old><fax>2</fax></p></r>"#
      ),
      (
        "id,name,size,old\n1,a,1,1\n2,b,,1\n",
        "id,size,fax,old\n1,big,1,1\n2,,2,1\n"
      ),
    ]
  )
  func report(before: String, after: String) async throws {
    let fixture = try ImportFixture(
      Self.map("contract: report", attribute: "onInvalid: clear", line: "contract: ,")
    )
    let isCSV = !before.hasPrefix("[") && !before.hasPrefix("<")
    func run(_ text: String) async throws -> ImportReport {
      let name = isCSV ? "feed.csv" : "feed"
      return try await Importer(map: fixture.map, store: fixture.store).run(
        ImportRequest([.bytes(Array(text.utf8), name: name)])
      )
    }
    let first = try await run(before)
    #expect(first.drift == FeedDrift(comparedWith: nil, changes: []))
    let second = try await run(after)
    #expect(second.drift?.comparedWith == 1)
    let isJSON = before.hasPrefix("[")
    let new = isJSON ? "text or number" : "text"
    var wanted = [
      "report no record has P.name",
      "report P.size has a text where it had a number, once",
      "report P has fax (\(new), 2 times); nothing reads it",
    ]
    if !isCSV {
      wanted.append(
        "report L has \(isJSON ? "x (boolean" : "@x (text"), once); nothing reads it"
      )
    }
    #expect(Self.told(second).sorted() == wanted.sorted())
    let third = try await run(after)
    #expect(third.drift == FeedDrift(comparedWith: 2, changes: []))
  }

  @Test("Without a contract nothing is compared and nothing is kept")
  func none() async throws {
    let fixture = try ImportFixture(Self.map(""))
    let report = try await fixture.run(#"[{"id":1,"fax":1}]"#)
    #expect(report.drift == nil)
    #expect(
      try sql(fixture.store, "SELECT name FROM sqlite_master WHERE name GLOB '_dragoman_contr*'")
        == []
    )
  }

  // MARK: - Freeze

  @Test(
    "A frozen feed is refused before anything is written, in batches too",
    arguments: [
      (
        "newKeys", #"[{"id":2,"name":"b","size":1,"fax":1}]"#,
        "P has fax (number, once); nothing reads it"
      ),
      (
        "changedTypes", #"[{"id":2,"name":7,"size":1}]"#,
        "P.name has a number where it had a text, once"
      ),
      ("vanishedKeys", #"[{"id":2,"name":"b"}]"#, "no record has P.size"),
    ],
    [ImportMap.ImportOptions.Commit.all, .batch]
  )
  func freeze(
    change: (rule: String, feed: String, message: String),
    commit: ImportMap.ImportOptions.Commit
  )
    async throws
  {
    let fixture = try ImportFixture(Self.map("contract: { \(change.rule): freeze }"))
    try await fixture.run(#"[{"id":1,"name":"a","size":1}]"#)
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(change.feed) {
        $0.options.commit = commit
        $0.options.batchSize = 1
      }
    }
    let error = failure?.cause as? ImportError
    #expect(error?.code == .contract)
    #expect(
      error?.message
        == "The feed has changed since import 1, and the contract of the map freezes it: \(change.message)."
    )
    #expect(failure?.report.drift?.changes.map(\.rule) == [.freeze])
    #expect(try fixture.rows() == ["1|a|1"])
    #expect(try sql(fixture.store, "SELECT count(*) FROM _dragoman_imports") == ["1"])
    #expect(try sql(fixture.store, "SELECT run FROM _dragoman_contracts") == ["1"])
    // The next feed is compared with the last one that went in.
    let report = try await fixture.run(#"[{"id":1,"name":"a","size":2}]"#)
    #expect(report.drift == FeedDrift(comparedWith: 1, changes: []))
  }

  @Test("An attribute's own word comes before its entity's, and may stand alone")
  func attributes() async throws {
    for entity in ["contract: freeze", ""] {
      let fixture = try ImportFixture(
        Self.map(entity, attribute: "contract: { vanishedKeys: report }")
      )
      try await fixture.run(#"[{"id":1,"name":"a","size":1}]"#)
      let report = try await fixture.run(#"[{"id":1,"name":"a"}]"#)
      #expect(Self.told(report) == ["report no record has P.size"])
      #expect(report.status == .done)
    }
  }

  @Test("Further changes than five are counted")
  func many() async throws {
    let fixture = try ImportFixture(Self.map("contract: freeze"))
    try await fixture.run(#"[{"id":1}]"#)
    let keys = (1...7).map { "\"k\($0)\":1" }.joined(separator: ",")
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run("[{\"id\":1,\(keys)}]")
    }
    #expect((failure?.cause as? ImportError)?.message.hasSuffix("; and 2 more.") == true)
    #expect(failure?.report.drift?.changes.count == 7)
  }

  // MARK: - Discard

  @Test("What is discarded is left out without a word, and counted")
  func discard() async throws {
    let fixture = try ImportFixture(Self.map("contract: discard"))
    try await fixture.run(#"[{"id":1,"name":"a","size":1}]"#)
    let report = try await fixture.run(#"[{"id":1,"size":"big","fax":1},{"id":2,"size":"small"}]"#)
    #expect(report.summary == "read 2, inserted 1, unchanged 1")
    #expect(report.issues == [])
    #expect(report.drift?.changes.map(\.rule) == [.discard, .discard, .discard])
    #expect(report.drift?.changes.map(\.count) == [0, 2, 1])
    #expect(try fixture.rows() == ["1|a|1", "2|null|null"])
  }

  @Test("Of a relationship, too, what it cannot take is left out, and what was there stays")
  func discardLinks() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      name: links
      entities:
        A:
          contract: discard
          unique: id
          attributes: { id: { type: int64 } }
          relationships:
            b: { entity: A, kind: toOne, key: { id: b } }
            c: { entity: A, kind: toMany, from: c }
      sources: { s: { format: json, entity: A } }
      """
    )
    try await fixture.run(#"[{"id":1,"b":2,"c":[{"id":3}]},{"id":2}]"#)
    let report = try await fixture.run(#"[{"id":1,"b":"two","c":"none"}]"#)
    #expect(report.summary == "read 1, unchanged 1")
    #expect(report.issues == [])
    #expect(report.drift?.changes.map(\.name) == ["b", "c"])
    #expect(
      try sql(fixture.store, "SELECT b.id FROM A a JOIN A b ON b._pk = a.b WHERE a.id = 1") == ["2"]
    )
  }

  @Test(
    "What is discarded and no change is told: a number that is too large, a feed that is so again"
  )
  func discardTold() async throws {
    let fixture = try ImportFixture(Self.map("contract: discard"))
    try await fixture.run(#"[{"id":1,"size":1}]"#)
    let large = try await fixture.run(#"[{"id":1,"size":99999999999}]"#)
    #expect(
      large.drift?.changes == [] && large.issueSummary == ["value.range 1"],
      "\(large.issueSummary)"
    )
    let first = try await fixture.run(#"[{"id":1,"size":"big"}]"#)
    #expect(first.drift?.changes.count == 1 && first.issues.isEmpty)
    let again = try await fixture.run(#"[{"id":1,"size":"big"}]"#)
    #expect(
      again.drift?.changes == [] && again.issueSummary == ["value.type 1"],
      "\(again.issueSummary)"
    )
    #expect(try fixture.rows() == ["1|null|1"])
  }

  @Test("All kinds of records of one list are seen, in whatever order, and each value once")
  func kinds() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      name: kinds
      entities:
        T:
          contract: { newKeys: report, changedTypes: report, vanishedKeys: freeze }
          unique: id
          discriminator: { from: kind, values: { car: Car, bike: Bike } }
          attributes: { id: { type: int64 }, w: { type: int32 } }
        Car: { parent: T, attributes: { doors: { type: int32 }, fuel: fuel } }
        Bike: { parent: T, attributes: { gears: { type: int32 }, frame: frame } }
      sources: { s: { format: json, entity: T } }
      """
    )
    let car = #"{"id":1,"kind":"car","w":1,"doors":4,"fuel":"gas"}"#
    func bike(_ more: String, w: String = "1") -> String {
      #"{"id":2,"kind":"bike","w":\#(w),"gears":7,"frame":"steel"\#(more)}"#
    }
    try await fixture.run("[\(bike("")),\(car)]")
    #expect(try await fixture.run("[\(car),\(bike(""))]").drift?.changes == [])
    let report = try await fixture.run("[\(car),\(bike(#","bell":1"#, w: #""x""#))]")
    #expect(
      Self.told(report) == [
        "report T.w has a text where it had a number, once",
        "report T has bell (number, once); nothing reads it",
      ]
    )
  }

  @Test("Under freeze a key is new also when there is no room to remember more")
  func manyKeys() async throws {
    let fixture = try ImportFixture(Self.map("contract: report"))
    func feed(_ range: Range<Int>) -> String {
      "[" + range.map { "{\"id\":\($0),\"k\($0)\":{\"a\":1}}" }.joined(separator: ",") + "]"
    }
    for start in 0..<4 { try await fixture.run(feed(start * 400..<start * 400 + 400)) }
    let frozen = try ImportFixture(Self.map("contract: freeze"), in: fixture.store)
    await #expect(throws: ImportFailure.self) { try await frozen.run(#"[{"id":1,"unseen":1}]"#) }
  }

  @Test("Keys that a terminal would obey are spelled out")
  func control() async throws {
    let fixture = try ImportFixture(Self.map("contract: report"))
    try await fixture.run(#"[{"id":1}]"#)
    let report = try await fixture.run(#"[{"id":1,"a\u001b[31m\nerror":1}]"#)
    #expect(Self.told(report) == ["report P has a␛[31m␊error (number, once); nothing reads it"])
  }

  @Test("What an attribute says of invalid values itself comes before discarding")
  func discardBelow() async throws {
    let fixture = try ImportFixture(Self.map("contract: discard", attribute: "onInvalid: reject"))
    try await fixture.run(#"[{"id":1,"size":1}]"#)
    let report = try await fixture.run(#"[{"id":1,"size":"big"}]"#)
    #expect(report.counts.rejected == 1)
  }

  // MARK: - What is kept

  @Test("A key that comes and goes is new once")
  func comesAndGoes() async throws {
    let fixture = try ImportFixture(Self.map("contract: freeze"))
    try await fixture.run(#"[{"id":1,"a":1}]"#)
    try await fixture.run(#"[{"id":1}]"#)
    let report = try await fixture.run(#"[{"id":1,"a":1}]"#)
    #expect(report.drift == FeedDrift(comparedWith: 2, changes: []))
  }

  @Test(
    "A list without records says nothing of its keys, whatever the format",
    arguments: [
      ("feed", #"[{"id":1,"name":"a"}]"#, "[]"), ("feed.csv", "id,name\n1,a\n", "id,name\n"),
      ("feed.xml", #"<r><p id="1"><name>a</name></p></r>"#, "<r/>"),
    ]
  )
  func empty(name: String, feed: String, empty: String) async throws {
    let fixture = try ImportFixture(Self.map("contract: freeze"))
    func run(_ text: String) async throws -> ImportReport {
      try await Importer(map: fixture.map, store: fixture.store).run(
        ImportRequest([.bytes(Array(text.utf8), name: name)])
      )
    }
    _ = try await run(feed)
    #expect(try await run(empty).drift?.changes ?? [] == [])
    // What comes next is compared with the last feed that had records.
    #expect(try await run(feed).drift?.changes == [])
  }

  @Test(
    "An empty element where a list stood says nothing of its keys, and is none itself",
    arguments: ["lines/line", "lines/*"]
  )
  func emptyElement(path: String) async throws {
    let map = Self.map("contract: freeze", line: "contract: freeze,")
    let fixture = try ImportFixture(map.replacing("lines/line", with: path))
    let some = #"<r><p id="1"><name>a</name><lines><line n="1"/></lines></p></r>"#
    let none = #"<r><p id="1"><name>a</name><lines/></p></r>"#
    for feed in [some, none, some] {
      #expect(try await fixture.run(feed).drift?.changes == [])
    }
    guard path == "lines/line" else { return }
    let other = #"<r><p id="1"><name>a</name><lines><row n="1"/></lines></p></r>"#
    await #expect(throws: ImportFailure.self) { try await fixture.run(other) }
  }

  @Test("A source without records is not compared, and the others are")
  func emptySource() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      name: two
      entities:
        A: { contract: freeze, unique: id, attributes: { id: { type: int64 }, a: a } }
        B: { contract: freeze, unique: id, attributes: { id: { type: int64 }, b: b } }
      sources:
        as: { format: json, entity: A, records: /as }
        bs: { format: json, entity: B, records: /bs }
      """
    )
    try await fixture.run(#"{"as":[{"id":1,"a":"x"}],"bs":[{"id":1,"b":"x"}]}"#)
    #expect(try await fixture.run(#"{"as":[{"id":1,"a":"x"}],"bs":[]}"#).drift?.changes == [])
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(#"{"as":[],"bs":[{"id":1}]}"#)
    }
    #expect(failure.map { "\($0.cause)" }?.contains("no record has B.b.") == true)
  }

  @Test("An import that was taken back is not compared with")
  func undone() async throws {
    let fixture = try ImportFixture(Self.map("contract: { vanishedKeys: report }"))
    try await fixture.run(#"[{"id":1,"name":"a"}]"#)
    try await fixture.run(#"[{"id":1,"name":"a","size":1}]"#)
    _ = try fixture.store.undoImport(2)
    let report = try await fixture.run(#"[{"id":1,"name":"a"}]"#)
    #expect(report.drift == FeedDrift(comparedWith: 1, changes: []))
  }

  @Test("A dry run and a limited one keep nothing; several inputs are one feed")
  func inputs() async throws {
    let fixture = try ImportFixture(Self.map("contract: report"))
    try await fixture.run(#"[{"id":1,"name":"a"}]"#)
    let dry = try await fixture.run(#"[{"id":1,"name":"a","fax":1}]"#) { $0.isDryRun = true }
    #expect(Self.told(dry) == ["report P has fax (number, once); nothing reads it"])
    let limited = try await fixture.run(#"[{"id":1,"fax":1}]"#) { $0.limit = 1 }
    #expect(limited.drift == nil)
    let both = try await fixture.run(#"[{"id":1,"fax":1}]"#, #"[{"id":2,"name":"b","fax":"x"}]"#)
    #expect(Self.told(both) == ["report P has fax (text or number, 2 times); nothing reads it"])
    #expect(try sql(fixture.store, "SELECT run FROM _dragoman_contracts") == ["1", "3"])
  }

  @Test("Names are compared byte by byte")
  func bytes() async throws {
    let fixture = try ImportFixture(Self.map("contract: report"))
    try await fixture.run("[{\"id\":1,\"caf\u{E9}\":1}]")
    let report = try await fixture.run("[{\"id\":1,\"cafe\u{301}\":1}]")
    #expect(report.drift?.changes.map { Array($0.name.utf8) } == [Array("cafe\u{301}".utf8)])
  }

  @Test("A dictionary whose names are data is one key, and what is kept does not grow with it")
  func dictionaries() async throws {
    let fixture = try ImportFixture(Self.map("contract: report"))
    func feed(_ range: Range<Int>) -> String {
      let members = range.map { "\"k\($0)\":1" }.joined(separator: ",")
      return "[{\"id\":1,\"data\":{\(members)},\(members)}]"
    }
    for start in 0..<6 { try await fixture.run(feed(start * 300..<start * 300 + 300)) }
    let sizes = try sql(fixture.store, "SELECT max(length(seen)) FROM _dragoman_contracts")
    #expect(Int(sizes.first ?? "").map { $0 < 20_000 } == true)
    let report = try await fixture.run(feed(9000..<9300))
    #expect(report.drift?.changes == [])
  }

  @Test("Standard input cannot be compared first and read then")
  func pipes() async throws {
    let fixture = try ImportFixture(Self.map("contract: report"))
    let failure = await #expect(throws: ImportFailure.self) {
      try await Importer(map: fixture.map, store: fixture.store).run(
        ImportRequest([.standardInput])
      )
    }
    #expect(
      (failure?.cause as? ReadError)?.message
        == "- cannot be read twice, as the contract of a map wants."
    )
  }

  @Test("What was kept and cannot be read is damage, not a crash")
  func damage() async throws {
    let fixture = try ImportFixture(Self.map("contract: report"))
    try await fixture.run(#"[{"id":1}]"#)
    try fixture.store.write { session in
      try session.begin()
      try session.keep(.init(run: 1, seen: "[", evolved: "[]"), of: "contracts")
      try session.commit()
    }
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(#"[{"id":1}]"#)
    }
    #expect((failure?.cause as? StoreError)?.code == .damaged)
  }
}
