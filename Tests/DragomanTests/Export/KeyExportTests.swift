import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Links by keys, and links that are part of a key, on their way out.
@Suite("Exports of keys and of links in them") struct KeyExportTests {
  // MARK: - A to-one in the unique key

  private static let lines = """
    version: 1
    entities:
      Line:
        unique: [order, no]
        attributes: { no: { type: int32 } }
        relationships: { order: { entity: Order, kind: toOne WAY } }
      Order: { unique: nr, attributes: { nr: nr, placed: { type: date } } }
    sources: { j: { format: json, entity: Line } }
    """

  @Test(
    "A target that is part of the key is written whole, as nothing else says what it is",
    arguments: ["", ", from: order", ", from: order, export: nested"]
  )
  func keyTarget(way: String) async throws {
    let feed = #"{"no":1,"order":{"nr":"A","placed":"2026-01-01"}}"# + "\n"
    let yaml = Self.lines.replacing(" WAY", with: way)
    #expect(try await exportCircle(yaml, feed, ExportRequest(format: .ndjson)) == feed)
  }

  @Test("A target that is part of the key is a key where the map says so")
  func keyOnly() async throws {
    let yaml = Self.lines.replacing(" WAY", with: ", from: order, export: key")
    let feed = #"{"no":1,"order":{"nr":"A","placed":"2026-01-01"}}"# + "\n"
    let text = try await exportCircle(yaml, feed, ExportRequest(format: .ndjson))
    #expect(text == #"{"no":1,"order":{"nr":"A"}}"# + "\n")
  }

  @Test("A target that is part of the key is a key where it has records of its own")
  func ownRecords() async throws {
    let yaml =
      Self.lines.replacing(" WAY", with: "")
      .replacing(
        "j: { format: json, entity: Line }",
        with:
          "l: { format: json, entity: Line, records: /lines }, o: { format: json, entity: Order, records: /orders }"
      )
    let orders = #""orders":[{"nr":"A","placed":"2026-01-01"}]"#
    let lines = #""lines":[{"no":1,"order":{"nr":"A"}}]"#
    let text = try await exportCircle(
      yaml,
      "{\(orders),\(lines)}",
      ExportRequest(entity: "Line"),
      besides: "{\(orders)}"
    )
    #expect(text.contains(#"{"no":1,"order":{"nr":"A"}}"#))
  }

  @Test("A target that is part of a nested record's key is written whole")
  func nestedKeyTarget() async throws {
    let yaml = """
      version: 1
      entities:
        Order:
          unique: nr
          attributes: { nr: nr }
          relationships: { lines: { entity: Line, kind: toMany, from: lines, inverse: order } }
        Line:
          unique: [order, product]
          attributes: { n: { type: int32 } }
          relationships:
            order: { entity: Order, kind: toOne, inverse: lines }
            product: { entity: Product, kind: toOne, from: product }
        Product: { unique: sku, attributes: { sku: sku, name: name } }
      sources: { j: { format: json, entity: Order } }
      """
    let feed = #"{"nr":"A","lines":[{"n":2,"product":{"sku":"p","name":"Pen"}}]}"# + "\n"
    #expect(try await exportCircle(yaml, feed, ExportRequest(format: .ndjson)) == feed)
  }

  @Test("A target that is part of the key has its columns among those of the row")
  func columns() async throws {
    let yaml = Self.lines.replacing(" WAY", with: ", from: \".\"")
      .replacing("format: json", with: "format: csv")
    let feed = "no,nr,placed\r\n1,A,2026-01-01\r\n"
    #expect(try await exportCircle(yaml, feed, ExportRequest(format: .csv)) == feed)
  }

  // MARK: - Keys with several parts

  @Test("A part of a key that is a to-one is written as the key of its target")
  func toOnePart() async throws {
    let yaml = """
      version: 1
      entities:
        Order: { unique: number, attributes: { number: { type: int64 } } }
        Line:
          unique: [order, sku]
          attributes: { sku: sku }
          relationships: { order: { entity: Order, kind: toOne, key: { number: order } } }
        Return:
          unique: id
          attributes: { id: { type: int64 } }
          relationships:
            line: { entity: Line, kind: toOne, key: { order: order_number, sku: sku }, onUnresolved: pending }
            others: { entity: Line, kind: toMany, ordered: true, key: { order: "others[*].order", sku: "others[*].sku" } }
            same: { entity: Line, kind: toMany, key: { order: { attribute: id }, sku: same } }
      sources:
        returns: { format: json, entity: Return, records: /returns }
        lines: { format: json, entity: Line, records: /lines }
        orders: { format: json, entity: Order, records: /orders }
      """
    let returns = [
      #"{"id":7,"order_number":7,"sku":"a","others":[{"order":8,"sku":"a"},{"order":7,"sku":"b"}],"same":["a","b"]}"#,
      #"{"id":8,"order_number":9,"sku":"z","others":[],"same":[]}"#,
    ]
    let rest =
      #""orders":[{"number":7},{"number":8}],"#
      + #""lines":[{"order":7,"sku":"a"},{"order":7,"sku":"b"},{"order":8,"sku":"a"}]"#
    let text = try await exportCircle(
      yaml,
      "{\"returns\":[\(returns.joined(separator: ","))],\(rest)}",
      ExportRequest(entity: "Return"),
      besides: "{\(rest)}"
    )
    #expect(text == "{\"returns\":[\n\(returns.joined(separator: ",\n"))\n]}\n")
  }

  private static func keys(_ key: String, xml: Bool = false) -> String {
    """
    version: 1
    entities:
      R:
        unique: id
        attributes: { id: \(xml ? "\"@id\"" : "id") }
        relationships: { k: { entity: K, kind: toMany, ordered: true, key: { \(key) }, onUnresolved: stub } }
      K: { unique: [a, b], attributes: { a: { from: a }, b: { from: b } } }
    sources: { s: \(xml ? "{ format: xml, entity: R, records: /r/e }" : "{ format: json, entity: R }") }
    """
  }

  @Test(
    "Lists of keys that stand side by side come back, and so do texts of keys",
    arguments: [
      ("a: as, b: bs", #""as":["1","2"],"bs":["3","4"]"#, #""as":["1","2"],"bs":["3","4"]"#),
      ("a: as, b: \"ks[*].b\"", #""as":["1"],"ks":[{"b":"2"}]"#, #""as":["1"],"ks":[{"b":"2"}]"#),
      ("a: c, b: ks", #""c":"t","ks":["1","2"]"#, #""c":["t","t"],"ks":["1","2"]"#),
      (
        #"a: { from: as, split: "," }, b: { from: bs, split: "," }"#,
        #""as":"1,2","bs":"3, 4""#, #""as":"1,2","bs":"3,4""#
      ),
    ]
  )
  func sideBySide(key: String, feed: String, export: String) async throws {
    let text = try await exportCircle(
      Self.keys(key),
      "{\"id\":\"1\",\(feed)}\n",
      ExportRequest(entity: "R", format: .ndjson)
    )
    #expect(text == "{\"id\":\"1\",\(export)}\n")
  }

  @Test("Elements that stand side by side come back")
  func elementsSideBySide() async throws {
    let record = #"<e id="1"><a>1</a><a>2</a><bs><b>3</b><b>4</b></bs></e>"#
    let text = try await exportCircle(
      Self.keys("a: a, b: bs/b", xml: true),
      "<r>\(record)</r>",
      ExportRequest(entity: "R", format: .xml)
    )
    #expect(text.contains(record))
  }

  @Test("A part that the format has no list for is told as what it is")
  func noPlace() throws {
    let map = try ImportMap(yaml: Self.keys("a: \"@c\", b: k", xml: true))
    #expect(
      map.exportOutlook().losses
        == ["R.k is left out: not all parts of its key have a place in xml"]
    )
  }

  @Test(
    "Keys inside of nested records are left to these, whichever the map says first",
    arguments: [false, true]
  )
  func keysInside(isNestedFirst: Bool) async throws {
    let links = [
      #"ids: { entity: C, kind: toMany, key: { id: "companies[*].id" } }"#,
      "companies: { entity: C, kind: toMany, from: companies }",
    ]
    let yaml = """
      version: 1
      entities:
        P:
          unique: id
          attributes: { id: id }
          relationships:
            \(links[isNestedFirst ? 1 : 0])
            \(links[isNestedFirst ? 0 : 1])
        C: { unique: id, attributes: { id: id, name: name } }
      sources: { j: { format: json, entity: P } }
      """
    let feed =
      #"{"id":"1","companies":[{"id":"a","name":"A"},{"id":"b","name":"B"}]}"# + "\n"
    #expect(try await exportCircle(yaml, feed, ExportRequest(format: .ndjson)) == feed)
  }

  // MARK: - XML without keys

  private static func elements(_ key: String, _ policy: String = "") -> String {
    """
    version: 1
    entities:
      R:
        unique: id
        attributes: { id: "@id", t: w/@t }
        relationships: { s: { entity: S, kind: toMany, key: { id: \(key) }, onUnresolved: stub\(policy) } }
      S: { unique: id, attributes: { id: "@id" } }
    sources: { x: { format: xml, entity: R, records: /r/e } }
    export: { entity: R }
    """
  }

  @Test("An element that is there for other things than a text of keys says nothing of keys")
  func absentText() async throws {
    let yaml = Self.elements("{ from: w/@s, split: whitespace }")
    let feed = #"<r><e id="1"><w s="a b" t="x"/></e><e id="3"><w s="" t="y"/></e></r>"#
    let text = try await exportCircle(yaml, feed, ExportRequest(format: .xml))
    #expect(text.contains(#"<e id="3"><w t="y"/></e>"#))
    let fixture = try ImportFixture(yaml)
    try await fixture.run(feed)
    let report = try await fixture.run(#"<r><e id="1"><w t="z"/></e></r>"#)
    #expect(report.summary == "read 1, updated 1")
    #expect(try sql(fixture.store, "SELECT count(*) FROM R_s") == ["2"])
    try await fixture.run(#"<r><e id="1"><w s=""/></e></r>"#)
    #expect(try sql(fixture.store, "SELECT count(*) FROM R_s") == ["0"])
  }

  @Test("An empty list of keys in an element of its own is written", arguments: [false, true])
  func emptyList(rejects: Bool) async throws {
    let yaml = Self.elements("ts/t", rejects ? ", onMissing: reject" : "")
    let feed = #"<r><e id="1"><ts/></e><e id="2"><ts><t>a</t></ts></e></r>"#
    let text = try await exportCircle(yaml, feed, ExportRequest(format: .xml))
    #expect(text.contains(#"<e id="1"><ts/></e>"#))
    let other = try ImportFixture(yaml)
    try await other.run(#"<r><e id="1"><ts><t>b</t></ts></e></r>"#)
    try await other.run(text)
    #expect(try sql(other.store, "SELECT count(*) FROM R_s") == ["1"])
  }
}
