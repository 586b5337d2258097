import Testing

@testable import Dragoman
@testable import DragomanGraph

/// What one input leaves behind must not change how the next one is read.
@Suite("Several inputs in one run") struct SeveralInputsTests {
  private func namespaced(_ store: SQLiteStore? = nil) throws -> ImportFixture {
    try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes:
            id: { type: int64, from: { json: id, xml: "@id" } }
            a: { from: { json: a, xml: a:v } }
            b: { from: { json: b, xml: b:v } }
          relationships:
            tags: { entity: T, kind: toMany, from: { json: tags, xml: b:tag } }
        T: { unique: n, attributes: { n: { from: { json: n, xml: b:n } } } }
      sources:
        xml: { format: xml, entity: P, records: /r/p, namespaces: { a: "urn:a", b: "urn:b" } }
        json: { format: json, entity: P }
      """,
      in: store
    )
  }

  @Test("Namespaces that the second file uses in another order keep their values apart")
  func namespaces() async throws {
    let fixture = try namespaced()
    let first = """
      <r xmlns:x="urn:a" xmlns:y="urn:b"><p id="1"><x:v>a1</x:v><y:v>b1</y:v></p></r>
      """
    let second = """
      <r xmlns:x="urn:b" xmlns:y="urn:a"><p id="2"><x:v>b2</x:v><y:v>a2</y:v></p></r>
      """
    let third = """
      <r xmlns:o="urn:o" xmlns:y="urn:a" xmlns:x="urn:b"><p id="3"><o:v>o3</o:v><x:v>b3</x:v></p><p id="4"><y:v>a4</y:v></p></r>
      """
    let fourth = #"<r><p id="5"><v xmlns="urn:b">b5</v><v>none</v></p></r>"#
    try await fixture.run(
      first,
      second,
      third,
      fourth,
      first.replacing("id=\"1\"", with: "id=\"6\"")
    )
    #expect(
      try fixture.rows("P", ["id", "a", "b"])
        == ["1|a1|b1", "2|a2|b2", "3|null|b3", "4|a4|null", "5|null|b5", "6|a1|b1"]
    )
  }

  @Test("An element alone is a list of one in XML, whatever its batch begins with")
  func nullFirst() async throws {
    let xsi = #"xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance""#
    let plain = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes: { id: { type: int64, from: "@id" } }
          relationships: { tags: { entity: T, kind: toMany, from: tag } }
        T: { unique: n, attributes: { n: { from: "@n" } } }
      sources: { xml: { format: xml, entity: P, records: /r/p } }
      """
    )
    let feed =
      #"<r \#(xsi)><p xsi:nil="true"/><p id="1"><tag n="x"/></p><p id="2"><tag n="x"/><tag n="y"/></p></r>"#
    let report = try await plain.run(feed)
    #expect(report.summary == "read 3, inserted 2, rejected 1")
    #expect(report.linkSummary == ["P.tags +3"])
  }

  @Test("A JSON object is no list, though namespaced XML came before it")
  func objectsAfterXML() async throws {
    let xml = #"<r xmlns:b="urn:b"><p id="1"><b:tag><b:n>x</b:n></b:tag></p></r>"#
    let json = #"[{"id":2,"tags":{"n":"x"}}]"#
    let alone = try await namespaced().run(json)
    let fixture = try namespaced()
    // Batches are used again: each of the queue's has held XML.
    let report = try await fixture.run(xml, xml, xml, xml, json)
    #expect(alone.issueSummary == report.issueSummary)
    #expect(report.issueSummary.count == 1)
    #expect(report.linkSummary == ["P.tags +1"])
  }

  @Test(
    "Columns in another order, another separator's header, and other encodings are of their file"
  )
  func headers() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: { type: int64 }, a: , b: } } }
      sources: { csv: { format: csv, entity: P } }
      """
    )
    let marked = ImportInput.bytes(
      [0xFF, 0xFE] + "a,id,b\nä,3,x\n".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] },
      name: "3.csv"
    )
    let request = ImportRequest([
      .bytes(Array("id,a,b\n1,x,y\n".utf8), name: "1.csv"),
      .bytes(Array("b,id,a\ny,2,x\n".utf8), name: "2.csv"), marked,
      .bytes(Array("\u{FEFF}b,c,id\ny,z,4\n".utf8), name: "4.csv"),
    ])
    _ = try await Importer(map: fixture.map, store: fixture.store).run(request)
    #expect(try fixture.rows() == ["1|x|y", "2|x|y", "3|ä|x", "4|null|y"])
  }
}
