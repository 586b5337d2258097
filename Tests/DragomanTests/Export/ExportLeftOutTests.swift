import Testing

@testable import Dragoman
@testable import DragomanGraph

/// What an export must not leave out without a word.
@Suite("What exports write, or tell") struct ExportLeftOutTests {
  private func text(
    _ fixture: ImportFixture,
    _ request: ExportRequest = ExportRequest()
  ) async throws -> String {
    let bytes = try await Exporter(map: fixture.map, store: fixture.store).bytes(request)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(
    "The to-one of a key is written, though the map has it from its other side only",
    arguments: [
      (ForeignFormat.ndjson, #"{"article":"a","order":"7"}"# + "\n"),
      (.csv, "article,order\r\na,7\r\n"),
    ]
  )
  func keyLink(format: ForeignFormat, expected: String) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Order: { unique: number, attributes: { number: number }, relationships: { lines: { entity: Line, kind: toMany, inverse: order } } }
        Line: { unique: [order, article], attributes: { article: article } }
      sources: { j: { format: json, entity: Order } }
      """
    )
    try await fixture.run(#"[{"number":"7","lines":[{"article":"a"}]}]"#)
    #expect(try await text(fixture, ExportRequest(entity: "Line", format: format)) == expected)
    let columns = ExportRequest(entity: "Line", format: format).with { $0.columns = ["order"] }
    #expect(try await text(fixture, columns) == expected)
  }

  @Test("What has come by a contract is told, as the map does not have it")
  func evolved() async throws {
    let fixture = try ImportFixture(
      "version: 1\nentities: { P: { unique: id, contract: evolve, attributes: { id: id } } }"
    )
    try await fixture.run(#"[{"id":"1"}]"#)
    try await fixture.run(#"[{"id":"1","colour":"red"}]"#)
    let report = try await Exporter(map: fixture.map, store: fixture.store)
      .run(ExportRequest(), to: .file("/dev/null"))
    #expect(report.losses.count == 1 && report.losses[0].hasPrefix("P.colour is left out"))
  }

  @Test("A map that renames what the database has by its former name exports nothing")
  func renamed() async throws {
    let map = "version: 1\nentities: { P: { unique: id, attributes: { id: id, NAME } } }"
    let old = try ImportFixture(map.replacing("NAME", with: "a: a"))
    try await old.run(#"[{"id":"1","a":"x"}]"#)
    let new = try ImportFixture(
      map.replacing("NAME", with: "b: { from: a, renamedFrom: a }"),
      in: old.store
    )
    let error = await #expect(throws: ExportError.self) { _ = try await text(new) }
    #expect(error?.code == .map && error?.message.contains("P.b") == true)
  }

  @Test("Keys that wait are written by local names, too")
  func waiting() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        A: { unique: id, attributes: { id: id }, relationships: { b: { entity: B, kind: toOne, key: { id: b_id }, onUnresolved: pending } } }
        B: { unique: id, attributes: { id: id } }
      sources: { j: { format: json, entity: A } }
      """
    )
    try await fixture.run(#"[{"id":"1","b_id":"7"}]"#)
    let request = ExportRequest(format: .ndjson, style: ExportStyle(names: .local))
    #expect(try await text(fixture, request) == #"{"id":"1","b":{"id":"7"}}"# + "\n")
  }

  @Test("Records at a place that no source reads are told")
  func elsewhere() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: id } } }
      sources: { j: { format: json, entity: P, records: /a }, x: { format: xml, entity: P, records: /a/b } }
      export: { json: { at: /z }, xml: { at: /a/b } }
      """
    )
    try await fixture.run(#"{"a":[{"id":"1"}]}"#)
    let exporter = Exporter(map: fixture.map, store: fixture.store)
    let json = try await exporter.run(ExportRequest(), to: .file("/dev/null"))
    #expect(json.notices.contains { $0.contains("/z") && $0.contains("cannot be imported") })
    let xml = try await exporter.run(ExportRequest(format: .xml), to: .file("/dev/null"))
    #expect(xml.notices.isEmpty, "\(xml.notices)")
    #expect(fixture.map.exportOutlook().losses.count == 1)
  }

  @Test("The empty name of a member is a key like any other")
  func emptyName() async throws {
    let text = try await exportCircle(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: $key, n: { type: int32 } } } }
      sources: { j: { format: json, entity: P, records: "/c/*" } }
      """,
      #"{"c":{"":{"n":1},"a":{"n":2}}}"#,
      ExportRequest()
    )
    #expect(text.contains(#"{"n":1}"#) && text.contains(#""":"#), "\(text)")
  }

  @Test("Values of the records around are those of each one's own, in lists inside of lists")
  func parents() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        O: { unique: id, attributes: { id: "@id", g: g }, relationships: { l: { entity: L, kind: toMany, ordered: true } } }
        L: { unique: id, attributes: { id: "@id", g: g, p: $parent/g }, relationships: { m: { entity: M, kind: toMany, ordered: true } } }
        M: { unique: id, attributes: { id: "@id", p: $parent/g } }
      sources: { x: { format: xml, entity: O, records: /r/o } }
      """
    )
    let records = ["a", "b"].map { o in
      let lists = ["1", "2"].map { l in
        let members = ["x", "y"].map { "<m id=\"\(o)\(l)\($0)\"/>" }.joined()
        return "<l id=\"\(o)\(l)\"><g>\(l)\(o)</g>\(members)</l>"
      }
      return "<o id=\"\(o)\"><g>\(o)</g>\(lists.joined())</o>"
    }
    try await fixture.run("<r>\(records.joined())</r>")
    #expect(try fixture.rows("L", ["id", "p"]) == ["a1|a", "a2|a", "b1|b", "b2|b"])
    #expect(
      try fixture.rows("M", ["id", "p"]) == [
        "a1x|1a", "a1y|1a", "a2x|2a", "a2y|2a", "b1x|1b", "b1y|1b", "b2x|2b", "b2y|2b",
      ]
    )
  }
}
