import DragomanGraph
import Testing

@testable import Dragoman

/// Feeds whose records, keys and values stand in unusual places.
@Suite struct FeedShapeTests {
  private static func map(_ records: String, _ attributes: String) -> String {
    """
    version: 1
    entities: { P: { unique: [key, id], attributes: { \(attributes) } } }
    sources: { json: { format: json, entity: P, records: "\(records)" } }
    """
  }

  @Test(
    "The elements of all members are records, with the member's name for a key",
    arguments: ["a.*[*]", "/a/*[*]"]
  )
  func listsByName(records: String) async throws {
    let fixture = try ImportFixture(Self.map(records, "key: $key, id: { type: int32 }"))
    let report = try await fixture.run(
      #"{"b":{"z":[{"id":9}]},"a":{"x":[{"id":1},{"id":2}],"none":[],"null":null,"y":[{"id":1}],"#
        + #""one":{"id":3},"bad":7}}"#
    )
    #expect(report.summary == "read 5, inserted 4, rejected 1")
    #expect(report.issueSummary == ["record.type 1"])
    #expect(try fixture.rows("P", ["key", "id"]) == ["x|1", "x|2", "y|1", "one|3"])
    #expect(try await fixture.run(#"{"a":{}}"#).summary == "")
    await #expect(throws: ImportFailure.self) { try await fixture.run(#"{"b":{"x":[{"id":1}]}}"#) }
  }

  @Test("Children in lists by name have the name of their list")
  func childrenByName() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes: { id: { type: int32 } }
          relationships: { phones: { entity: Phone, kind: toMany, from: "phones.*[*]", inverse: owner, ordered: true } }
        Phone:
          unique: [owner, kind, number]
          attributes: { kind: $key, number: number }
          relationships: { owner: { entity: P, kind: toOne, inverse: phones } }
      sources: { json: { format: json, entity: P } }
      """
    )
    let feed =
      #"[{"id":1,"phones":{"home":[{"number":"1"},{"number":"2"}],"work":[{"number":"1"}],"fax":[]}},"#
      + #"{"id":2,"phones":{"home":[{"number":"1"}]}},{"id":3,"phones":{"home":7}},{"id":4,"phones":{}}]"#
    let report = try await fixture.run(feed)
    #expect(report.issueSummary == ["value.path 1"])
    #expect(
      try fixture.rows("Phone", ["kind", "number"]) == ["home|1", "home|2", "work|1", "home|1"]
    )
    #expect(try await fixture.run(feed).counts.unchanged == 3)
    try await fixture.run(#"[{"id":1,"phones":{"fax":[]}}]"#)
    #expect(try sql(fixture.store, "SELECT count(*) FROM Phone WHERE owner IS NOT NULL") == ["1"])
  }

  @Test("A list by name keeps its name from batch to batch", arguments: [1, 2, 3, 1000])
  func batches(size: Int) async throws {
    let fixture = try ImportFixture(Self.map("a.*[*]", "key: $key, id: { type: int32 }"))
    let lists = ["x", "y y", "é"].map { name in
      "\"\(name)\":[" + (0..<5).map { "{\"id\":\($0)}" }.joined(separator: ",") + "]"
    }
    try await fixture.run("{\"a\":{\(lists.joined(separator: ","))}}") {
      $0.options.commit = .batch
      $0.options.batchSize = size
    }
    let expected = ["x", "y y", "é"].flatMap { name in (0..<5).map { "\(name)|\($0)" } }
    #expect(try fixture.rows("P", ["key", "id"]) == expected)
  }

  @Test("A name and its value may be in two batches")
  func names() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: key, attributes: { key: $key, n: { type: int32 } } } }
      sources: { json: { format: json, entity: P, records: /a/* } }
      """
    )
    // Long names and short values: a batch ends behind a name as often as behind a value.
    let names = (0..<12_000).map { "\($0)-" + String(repeating: "x", count: 150 + $0 % 97) }
    let members = names.enumerated().map { "\"\($1)\":{\"n\":\($0)}" }
    let report = try await fixture.run("{\"a\":{\(members.joined(separator: ","))}}")
    #expect(report.summary == "read 12000, inserted 12000")
    #expect(try fixture.rows("P") == names.enumerated().map { "\($1)|\($0)" })
  }

  @Test(
    "A file's name is a key",
    arguments: [
      ("main/en.xml", "main/en.xml|en.xml|en"), ("de.json.gz", "de.json.gz|de.json.gz|de"),
      ("/a/b.c/1999.data.JSON.ZST", "/a/b.c/1999.data.JSON.ZST|1999.data.JSON.ZST|1999.data"),
      ("/x/.hidden", "/x/.hidden|.hidden|.hidden"), (".gz", ".gz|.gz|.gz"), ("-", "-|-|-"),
      ("a/", "a/|a|a"), ("noending", "noending|noending|noending"),
    ]
  )
  func files(name: String, expected: String) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: stem
          attributes: { file: $file, name: $file.name, stem: $file.stem, year: { from: $file.stem, type: int32, onInvalid: clear } }
      """
    )
    try await fixture.run { $0.inputs = [.bytes(Array("[{}]".utf8), name: name)] }
    #expect(try fixture.rows("P", ["file", "name", "stem"]) == [expected])
  }

  @Test("A path of a file that there is not is a fault with the nearest one")
  func misspelt() {
    let error = #expect(throws: PathFault.self) {
      try ForeignPathParser(format: .json).parse("$file.stm")
    }
    #expect(error?.message == "A file has $file.name and $file.stem, and no $file.stm.")
    #expect(error?.suggestion == "$file.stem")
  }

  @Test(
    "What stands before the first record of an XML document can be read",
    arguments: [1, 2, 4096]
  )
  func xmlRoot(batchSize: Int) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes:
            id: "@id"
            date: { from: "$root/@generated", type: date }
            title: $root/channel/title
            lang: "$root/channel/title/@lang"
            owner: "$root/m:meta/m:owner"
            note: { from: "$root/m:meta/m:note", strings: { emptyAsNull: true } }
            late: $root/channel/late
            own: title
      sources: { xml: { format: xml, entity: P, records: /feed/channel/item, namespaces: { m: "urn:m" } } }
      """
    )
    func feed(_ prefix: String, _ date: String) -> String {
      """
      <feed generated="\(date)" xmlns:\(prefix)="urn:m"><skipped><title>no</title></skipped>
      <\(prefix):meta> <\(prefix):owner>A &amp; B</\(prefix):owner> <\(prefix):note xsi:nil="true"
      xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"/></\(prefix):meta>
      <channel><title lang="en">News <![CDATA[<of>]]></title>
      <item id="\(prefix)1"><title>a</title></item><item id="\(prefix)2"/><late>x</late><item id="\(prefix)3"/></channel></feed>
      """
    }
    let report = try await fixture.run(feed("q", "2026-11-22"), feed("z", "1999-01-01")) {
      $0.options.commit = .batch
      $0.options.batchSize = batchSize
    }
    #expect(report.issues.isEmpty)
    let expected = [("q", "2026-11-22"), ("z", "1999-01-01")].flatMap { prefix, date in
      (1...3).map {
        "\(prefix)\($0)|\(date)|News <of>|en|A & B|null|null|\($0 == 1 ? "a" : "null")"
      }
    }
    #expect(try fixture.rows() == expected)
    let large =
      "<feed><channel><title>" + String(repeating: "x", count: 1 << 20)
      + "</title><item id='1'/></channel></feed>"
    let failure = await #expect(throws: ImportFailure.self) { try await fixture.run(large) }
    #expect((failure?.cause as? ReadError)?.code == .limit)
  }

  @Test("Elements are chosen by their attributes")
  func filters() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes:
            id: "@id"
            name: "displayName[not(@count)]"
            one: 'displayName[@count="one"]'
            other: 'displayName[not(@count="one")][@count]'
            kind: "symbol[@alt]/@alt"
            all: { from: "displayName[@count]", type: json }
          relationships:
            codes: { entity: Code, kind: toMany, from: "code[@scheme]", inverse: owner }
        Code:
          unique: [owner, text]
          attributes: { text: text(), scheme: "@scheme" }
          relationships: { owner: { entity: P, kind: toOne, inverse: codes } }
      sources: { xml: { format: xml, entity: P, records: /r/c } }
      """
    )
    let report = try await fixture.run(
      """
      <r><c id="EUR"><displayName>euro</displayName><displayName count="one">a euro</displayName>\
      <displayName count="other">euros</displayName><symbol>€</symbol><symbol alt="narrow">E</symbol>\
      <code scheme="num">978</code><code>x</code></c><c id="XXX"><displayName count="one">y</displayName></c>\
      <c id="TWO"><displayName>a</displayName><displayName>b</displayName></c></r>
      """
    )
    #expect(report.summary == "read 3, inserted 2, rejected 1")
    #expect(report.issueSummary == ["value.repeated 1"])
    let rows = try fixture.rows("P", ["id", "name", "one", "other", "kind"])
    #expect(rows == ["EUR|euro|a euro|euros|narrow", "XXX|null|y|null|null"])
    #expect(try fixture.rows("Code", ["text", "scheme"]) == ["978|num"])
  }

  @Test(
    "A filter that is none is a fault",
    arguments: [
      "a[0]", "a[@b", "a[@b=c]", "a[not(@b]", "a[b]", "a[@b]c", "@a[@b]", "text()[@a]", "a[@x:b]",
    ]
  )
  func faultyFilters(path: String) {
    #expect(throws: PathFault.self) { try ForeignPathParser(format: .xml).parse(path) }
    let records = ForeignPathParser(format: .xml, leadsToRecords: true)
    #expect(throws: PathFault.self) { try records.parse("/r/a[@b]") }
  }
}
