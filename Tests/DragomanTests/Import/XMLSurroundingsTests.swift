import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// What stands around records of XML: read with them, and kept with those that are rejected.
@Suite("What stands around records of XML") struct XMLSurroundingsTests {
  private static func map(_ v: String) -> String {
    """
    version: 1
    entities:
      P:
        unique: id
        attributes:
          id: { from: { xml: "d:id" } }
          v: { from: { xml: "d:v" }, type: int32\(v) }
          lang: { from: { xml: "$root/@xml:lang" } }
          space: { from: { xml: "@xml:space" } }
    sources: { x: { format: xml, entity: P, records: /r/p, namespaces: { d: urn:d } } }
    """
  }

  @Test(
    "A rejected record is read again whatever prefixes its feed declares, and with xml: attributes",
    arguments: [
      ("", "no"), (#" xmlns:dd="urn:e""#, "no"), (#" xmlns:n1="urn:n" n1:a="1""#, "no"),
    ]
  )
  func retry(declarations: String, lang: String) async throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: url) }
    let fixture = try ImportFixture(Self.map(""))
    let feed = """
      <r xmlns:d="urn:d"\(declarations) xml:lang="\(lang)">\
      <p xml:space="preserve"><d:id>1</d:id><d:v>bad</d:v></p></r>
      """
    let report = try await fixture.run(feed) { $0.options.rejectsFile = url.path }
    #expect(report.summary == "read 1, rejected 1")
    let mended = try ImportFixture(Self.map(", onInvalid: clear"), in: fixture.store)
    let again = try await Importer(map: mended.map, store: mended.store)
      .run(ImportRequest([.rejects(url.path)]))
    #expect(again.summary == "read 1, inserted 1")
    #expect(try mended.rows("P", ["id", "v", "lang", "space"]) == ["1|null|\(lang)|preserve"])
  }

  @Test(
    "Of what stands before the records only literal line ends are made line feeds",
    arguments: [
      ("a&#13;", "a\r"), ("a&#13;\nb", "a\r\nb"), ("a\r\nb\rc", "a\nb\nc"),
      ("<![CDATA[a\r\nb\rc\r]]>\n", "a\nb\nc\n\n"), ("<![CDATA[a\r]]><![CDATA[\nb]]>", "a\n\nb"),
      ("a&#13;<![CDATA[\nb]]>", "a\r\nb"),
    ]
  )
  func lineEnds(text: String, expected: String) async throws {
    let fixture = try ImportFixture(attributes: "ti: $root/ti")
    try await fixture.run(#"<r><ti>\#(text)</ti><p id="1"/></r>"#)
    #expect(try sql(fixture.store, "SELECT ti FROM P") == [expected])
  }
}
