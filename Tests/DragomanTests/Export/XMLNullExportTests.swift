import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Nulls in XML: `xsi:nil`, and elements that are there and empty.
@Suite("Exports of nulls to XML") struct XMLNullExportTests {
  private static let schema = "http://www.w3.org/2001/XMLSchema-instance"

  private static func map(_ attributes: String, namespaces: String = "") -> String {
    """
    version: 1
    entities: { R: { unique: id, attributes: { id: "@id", \(attributes) } } }
    sources: { x: { format: xml, entity: R, records: /r/e, namespaces: { \(namespaces) } } }
    """
  }

  private func export(_ yaml: String, _ feed: String) async throws -> String {
    try await exportCircle(
      yaml,
      feed,
      ExportRequest(format: .xml, style: ExportStyle(nulls: .write))
    )
  }

  @Test("The prefix of xsi:nil is declared once, where the map has it, too")
  func ownPrefix() async throws {
    let namespaces = "xsi: \"\(Self.schema)\""
    for (prefix, other) in [("xsi", namespaces), ("s", "s: \"\(Self.schema)\"")] {
      let text = try await export(
        Self.map("kind: \"@\(prefix):type\", t: t, j: { type: json }", namespaces: other),
        "<r xmlns:i=\"\(Self.schema)\"><e id=\"1\" i:type=\"A\"/></r>"
      )
      #expect(
        text == """
          <?xml version="1.0" encoding="UTF-8"?>
          <r xmlns:\(prefix)="\(Self.schema)">
          <e id="1" \(prefix):type="A"><t \(prefix):nil="true"/><j \(prefix):nil="true"/></e>
          </r>

          """
      )
    }
  }

  @Test("A prefix xsi that means something else is left to that")
  func otherPrefix() async throws {
    let text = try await export(
      Self.map("t: \"xsi:t\", u: \"@xsi:u\"", namespaces: "xsi: \"urn:x\""),
      "<r xmlns:x=\"urn:x\"><e id=\"1\" x:u=\"a\"/></r>"
    )
    #expect(
      text == """
        <?xml version="1.0" encoding="UTF-8"?>
        <r xmlns:ns1="\(Self.schema)" xmlns:xsi="urn:x">
        <e id="1" xsi:u="a"><xsi:t ns1:nil="true"/></e>
        </r>

        """
    )
  }

  @Test(
    "An element of which all is null says so once",
    arguments: [
      (
        "price: price, since: { from: price/@since, type: date }",
        "<price since=\"2026-01-01\">5</price>"
      ),
      ("price: price, unit: price/@unit", "<price unit=\"kg\">5</price>"),
      ("price: { type: decimal }, unit: price/unit", "<price>5<unit>kg</unit></price>"),
    ]
  )
  func wholeElement(attributes: String, element: String) async throws {
    let text = try await export(
      Self.map(attributes),
      "<r><e id=\"1\">\(element)</e><e id=\"2\"/></r>"
    )
    #expect(text.contains("<e id=\"1\">\(element)</e>"))
    #expect(text.contains("<e id=\"2\"><price xsi:nil=\"true\"/></e>"))
  }

  @Test("A null that would be read as the empty text beside a value is told")
  func besideValue() async throws {
    let fixture = try ImportFixture(
      Self.map("price: price, since: { from: price/@since, type: date }")
    )
    try await fixture.run("<r><e id=\"1\"><price since=\"2026-01-01\">5</price></e></r>")
    try fixture.store.execute("UPDATE R SET price = NULL")
    let error = await #expect(throws: ExportError.self) {
      _ = try await Exporter(map: fixture.map, store: fixture.store)
        .bytes(ExportRequest(format: .xml))
    }
    #expect(error?.code == .value && error?.message.contains("price of R 1 is null") == true)
  }

  private static let owner = """
    version: 1
    entities: { P: { unique: id, attributes: { id: "@id", s: "@s", t: text(), n: { from: "@n", type: int32 } }, relationships: { up: { entity: P, kind: toOne, key: { id: "@up" } }, ks: { entity: P, kind: toMany, key: { id: { from: "@ks", split: whitespace } } }, k2: { entity: P, kind: toMany, key: { id: "k/@r" } } } } }
    sources: { x: { format: xml, entity: P, records: /r/p } }
    """

  @Test("Nulls of attributes and keys are written where they can be, and told where not")
  func attributes() async throws {
    let nulls = ExportRequest(format: .xml, style: ExportStyle(nulls: .write))
    let keys = try await exportCircle(
      Self.owner.replacing("s: \"@s\", t: text(), ", with: ""),
      #"<r><p id="1" n="5" up="2" ks="2 1"><k r="2"/></p><p id="2"/></r>"#,
      nulls
    )
    #expect(keys.contains(#"<p id="2" n="" up="" ks=""><k xsi:nil="true"/></p>"#), "\(keys)")

    let fixture = try ImportFixture(Self.owner)
    try await fixture.run(#"<r><p id="1" s="x" n="5">tt</p></r>"#)
    try fixture.store.execute("UPDATE P SET s = NULL, t = NULL, n = NULL")
    let exporter = Exporter(map: fixture.map, store: fixture.store)
    let report = try await exporter.run(nulls, to: .file("/dev/null"))
    #expect(report.losses.map { $0.prefix(4) } == ["P.s:", "P.t:"], "\(report.losses)")
  }

  @Test("Beside a text of white space nulls are left out, which is told")
  func besideBlank() async throws {
    let fixture = try ImportFixture(Self.map("m: m/text(), x: m/x"))
    try await fixture.run("<r><e id=\"1\"><m>a<x>1</x></m></e></r>")
    try fixture.store.execute("UPDATE R SET m = '  ', x = NULL")
    let request = ExportRequest(format: .xml, style: ExportStyle(nulls: .write), isLossy: true)
    let exporter = Exporter(map: fixture.map, store: fixture.store)
    let text = String(decoding: try await exporter.bytes(request), as: UTF8.self)
    #expect(text.contains("<e id=\"1\"><m>  </m></e>"), "\(text)")
    let report = try await exporter.run(request, to: .file("/dev/null"))
    #expect(report.losses.count == 1 && report.losses[0].hasPrefix("R.x: "))
  }

  @Test(
    "Of several words the first one that is read back is written",
    arguments: [
      ("{ type: bool, trueValues: [y], falseValues: [\"\", \"-\"] }", "-"),
      ("{ type: enum, values: { \"\": unknown, \"?\": unknown } }", "?"),
    ]
  )
  func words(attribute: String, word: String) async throws {
    let text = try await exportCircle(
      Self.map("c: \(attribute)"),
      "<r><e id=\"1\"><c>\(word)</c></e></r>",
      ExportRequest(format: .xml)
    )
    #expect(text.contains("<c>\(word)</c>"))
  }

  @Test("An element of a list that has no value is there and empty", arguments: [".", "text()"])
  func emptyElement(path: String) async throws {
    let yaml = """
      version: 1
      entities:
        O: { unique: id, attributes: { id: "@id" }, relationships: { ts: { entity: T, kind: toMany, from: t, inverse: o, ordered: true } } }
        T: { unique: [o, place], attributes: { place: { from: $index, type: int32 }, v: { from: "\(path)", type: decimal } } }
      sources: { x: { format: xml, entity: O, records: /r/o } }
      export: { entity: O }
      """
    let feed = "<r><o id=\"1\"><t>1</t><t/><t>3</t></o></r>"
    let text = try await exportCircle(yaml, feed, ExportRequest(format: .xml))
    #expect(text.contains("<o id=\"1\"><t>1</t><t/><t>3</t></o>"))
    #expect(try await export(yaml, feed).contains("<t>1</t><t/><t>3</t>"))
  }
}
