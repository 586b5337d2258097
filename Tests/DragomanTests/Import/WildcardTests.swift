import DragomanGraph
import Testing

@testable import Dragoman

/// Missing, null and invalid are three things behind wildcards, too.
@Suite("Paths with wildcards") struct WildcardTests {
  @Test(
    "Null clears, an empty list is a value, and what is no list is named",
    arguments: [
      ("", #"["old"]|null|["old"]|old"#, []),
      (#","l":["x"],"d":{"k":"x"}"#, #"["x"]|null|["x"]|x"#, ["value.path"]),
      (#","l":[],"d":{}"#, "[]|[]|[]|old", []),
      // A dictionary without members, as PHP writes it.
      (#","l":[],"d":[]"#, "[]|[]|[]|old", []),
      (#","l":null,"d":null"#, "null|null|null|null", []),
      (#","l":7,"d":7"#, "null|null|null|null", Array(repeating: "value.path", count: 4)),
      (#","l":{"a":1},"d":[1]"#, "null|null|null|null", Array(repeating: "value.path", count: 4)),
      (
        #","l":[{"u":1},{"u":null},{},null]"#,
        #"[{"u":1},{"u":null},{},null]|[1,null,null]|["old"]|null"#, ["value.repeated"]
      ),
      (
        #","l":[{"u":1},7]"#, #"[{"u":1},7]|null|["old"]|null"#, ["value.path", "value.repeated"]
      ),
    ] as [(String, String, [String])]
  )
  func wildcards(members: String, row: String, codes: [String]) async throws {
    let fixture = try ImportFixture(
      attributes: """
        t: { from: "l[*]", type: json }
              u: { from: "l[*].u", type: json }
              d: { from: { json: "d.*" }, type: json }
              s: { from: "l[*]" }
        """,
      defaults: "onInvalid: clear"
    )
    try await fixture.run(#"[{"id":1,"l":["old"],"d":{"k":"old"}}]"#)
    let report = try await fixture.run(#"[{"id":1\#(members)}]"#)
    #expect(try fixture.rows("P", ["t", "u", "d", "s"]) == [row])
    #expect(report.issues.map(\.code.rawValue).sorted() == codes)
    // The same records as dictionaries.
    let values = try ForeignValue(json: #"[{"id":1\#(members)}]"#).array ?? []
    let again = try await Importer(map: fixture.map, store: fixture.store)
      .run(ImportRequest([.records(values)]))
    #expect(again.summary == "read 1, unchanged 1")
    #expect(again.issueSummary == report.issueSummary)
  }

  @Test("A dictionary of children may be the empty list, as PHP writes one without members")
  func emptyDictionary() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P: { unique: id, attributes: { id: id }, relationships: { all: { entity: K, kind: toMany, from: "d.*" }, deep: { entity: K, kind: toMany, from: "e.*[*]" } } }
        K: { unique: k, attributes: { k: k } }
      sources: { json: { format: json, entity: P } }
      """
    )
    try await fixture.run(#"[{"id":"1","d":{"a":{"k":"x"}},"e":{"a":[{"k":"y"}]}}]"#)
    let report = try await fixture.run(#"[{"id":"1","d":[],"e":[]}]"#)
    #expect(report.issues.isEmpty && report.relationships["P.all"]?.unlinked == 1)
    #expect(report.relationships["P.deep"]?.unlinked == 1)
    let list = try await fixture.run(#"[{"id":"1","d":[{"k":"x"}]}]"#)
    #expect(list.counts.rejected == 1)
  }

  @Test("A blocked or null path is present: later paths of the list are not tried")
  func lists() async throws {
    let fixture = try ImportFixture(
      attributes: #"t: { from: ["l[*].x", other], type: json, onInvalid: clear }"#
    )
    let report = try await fixture.run(
      #"[{"id":1,"l":7,"other":1},{"id":2,"l":null,"other":1},{"id":3,"other":1},{"id":4,"l":[],"other":1}]"#
    )
    #expect(try fixture.rows("P", ["t"]) == ["null", "null", "1", "[]"])
    #expect(report.issueSummary == ["value.path 1"])
  }

  @Test(
    "A null element that stands alone clears; beside others it is one of the values, in any order",
    arguments: [
      ("N", "null|null|null", []),
      ("N<a/>", "null|null|null", []),
      ("<a/>N", "null|null|null", []),
      ("NN", "null|[null,null]|[null,null]", ["value.repeated"]),
      ("N<a><b>x</b></a>", #"null|[null,"x"]|[null,"x"]"#, ["value.repeated"]),
      ("<a><b>x</b></a>N", #"null|["x",null]|["x",null]"#, ["value.repeated"]),
      ("<a><b>x</b></a>", #"x|["x"]|"x""#, []),
    ] as [(String, String, [String])]
  )
  func nullElements(elements: String, row: String, codes: [String]) async throws {
    let null = #"<a xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil="true"/>"#
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes:
            id: { type: int64, from: "@id" }
            s: { from: "a/*", onInvalid: clear }
            j: { from: "a/*", type: json }
            p: { from: "a/b", type: json }
      sources: { xml: { format: xml, entity: P, records: /r/p } }
      """
    )
    let report = try await fixture.run(
      #"<r><p id="1">\#(elements.replacing("N", with: null))</p></r>"#
    )
    #expect(try fixture.rows("P", ["s", "j", "p"]) == [row])
    #expect(report.issues.map(\.code.rawValue) == codes)
  }
}
