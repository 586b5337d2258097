import Testing

@testable import Dragoman
@testable import DragomanGraph

/// docs/export.md: an import of an export changes nothing; what it would find in place of what is not written, and
/// what it would miss, is told.
@Suite("Exports: what is not written, and links to nobody") struct UnwrittenExportTests {
  struct Case: CustomTestStringConvertible {
    let testDescription: String
    let entities: String
    let feed: String
    var second: String?
    var columns: [String]?
    var format = ForeignFormat.json
    var nulls: ExportStyle.Nulls?
    /// What became of the export: `fault: message`, or what an import of it does.
    let outcome: String
  }

  private static let words = """
    T:
      unique: id
      attributes: { id: id, a: { from: { json: tr.deu.c, xml: tr/deu/c } } }
      relationships: { tr: { entity: N, kind: toMany, from: { json: "tr.*", xml: "tr/*" }, onUnlink: delete#none } }
    N: { unique: k, attributes: { k: $key, c: c } }
    """
  private static let company = """
    T:
      unique: id
      attributes: { id: id, cid: { from: company, type: int32 } }
      relationships: { company: { entity: N, kind: toOne, key: { k: company } } }
    N: { unique: k, attributes: { k: { type: int32 } } }
    """
  private static let owner = """
    T: { unique: id, attributes: { id: id }, relationships: { owner: { entity: N, kind: toOne, key: { k: owner }, onNull: reject#missing } } }
    N: { unique: k, attributes: { k: k } }
    """

  private static let nested = """
    T: { unique: id, attributes: { id: id, nk: #nk }, relationships: { n: { entity: N, kind: toOne, from: #n } } }
    N: { unique: k, attributes: { k: k, v: { required: true } } }
    """

  private static func attributes(_ text: String) -> String {
    "T: { unique: id, attributes: { \(text) } }"
  }

  private static let cases = [
    Case(
      testDescription: "a name that is the key where it is missing is written with each key",
      entities:
        "T: { unique: id, attributes: { id: id, name: { from: [name, id] } }, relationships: { kids: { entity: T, kind: toMany, ordered: true } } }",
      feed: #"{"T":[{"id":"r","name":"R","kids":[{"id":"b","name":"B"},{"id":"a","name":"A"}]}]}"#,
      outcome: "read 3, unchanged 3"
    ),
    Case(
      testDescription: "what the key is a part of is written whole with each key",
      entities:
        "T: { unique: id, attributes: { id: m.id, w: { from: m, type: json } }, relationships: { kids: { entity: T, kind: toMany } } }",
      feed: #"{"T":[{"m":{"id":"1","z":1},"kids":[{"m":{"id":"2","z":2}}]}]}"#,
      outcome: "read 2, unchanged 2"
    ),
    Case(
      testDescription: "a second path of a column that is not among those leads to one that is",
      entities: attributes("id: id, a: x.a, d: { from: [d, x.a] }"),
      feed: #"{"T":[{"id":"1","d":"dd","x":{"a":"A"}}]}"#,
      columns: ["a"],
      outcome: "fault: The export would not come back whole: d of T 1"
    ),
    Case(
      testDescription: "the same, where both are the same",
      entities: attributes("id: id, a: x.a, d: { from: [d, x.a] }"),
      feed: #"{"T":[{"id":"1","d":"A","x":{"a":"A"}}]}"#,
      columns: ["a"],
      outcome: "read 1, unchanged 1"
    ),
    Case(
      testDescription: "the key alone is a part of a column that is not among those",
      entities: attributes("id: p.id, w: { from: p, type: json }, n: n"),
      feed: #"{"T":[{"p":{"id":"1","z":[1,2]},"n":"N"}]}"#,
      columns: ["n"],
      outcome: "fault: The export would not come back whole: w of T 1"
    ),
    Case(
      testDescription: "what the map does not export lies around what it does",
      entities: attributes("id: id, a: x.a, w: { from: x, type: json, export: false }"),
      feed: #"{"T":[{"id":"1","x":{"a":"A","z":1}}]}"#,
      outcome: "fault: The export would not come back whole: w of T 1"
    ),
    Case(
      testDescription: "objects of a dictionary that is not among the columns",
      entities: words.replacing("#none", with: ""),
      feed: #"{"T":[{"id":"1","tr":{"deu":{"c":"D"},"fra":{"c":"F"}}}]}"#,
      columns: ["a"],
      outcome: "fault: The export would not come back whole: tr of T 1"
    ),
    Case(
      testDescription: "objects of a dictionary that the map does not export",
      entities: words.replacing("#none", with: ", export: none"),
      feed: #"{"T":[{"id":"1","tr":{"deu":{"c":"D"},"fra":{"c":"F"}}}]}"#,
      outcome: "fault: The export would not come back whole: tr of T 1"
    ),
    Case(
      testDescription:
        "no link, where the key stands that an attribute has, and somebody has it now",
      entities: company,
      feed: #"{"T":[{"id":"1","company":7}],"N":[]}"#,
      second: #"{"T":[],"N":[{"k":7}]}"#,
      outcome: "fault: The export would not come back whole: company of T 1"
    ),
    Case(
      testDescription: "no link, where nobody has the key",
      entities: company,
      feed: #"{"T":[{"id":"1","company":7}],"N":[]}"#,
      outcome: "read 1, unchanged 1"
    ),
    Case(
      testDescription: "a key alone of a nested object that is nobody",
      entities: nested.replacing("#nk", with: "n.k").replacing("#n", with: "n"),
      feed: #"{"T":[{"id":"1","n":{"k":"7"}}],"N":[]}"#,
      outcome: "fault: The export would not come back whole: nk of T 1"
    ),
    Case(
      testDescription: "the same among the members of the record itself",
      entities: nested.replacing("#nk", with: "k").replacing("#n", with: "."),
      feed: #"{"T":[{"id":"1","k":"7"}],"N":[]}"#,
      outcome: "read 1, unchanged 1"
    ),
    Case(
      testDescription: "the same, where somebody has the key now",
      entities: nested.replacing("#nk", with: "k").replacing("#n", with: "."),
      feed: #"{"T":[{"id":"1","k":"7"}],"N":[]}"#,
      second: #"{"T":[],"N":[{"k":"7","v":"V"}]}"#,
      outcome: "fault: n of T 1 would be read otherwise"
    ),
    Case(
      testDescription: "no link, where the map rejects null, though nulls are written",
      entities: owner.replacing("#missing", with: ""),
      feed: #"{"T":[{"id":"1"}]}"#,
      nulls: .write,
      outcome: "read 1, unchanged 1"
    ),
    Case(
      testDescription: "no link, where the map rejects null, in a row, which has a cell for it",
      entities: owner.replacing("#missing", with: ""),
      feed: #"{"T":[{"id":"1"}]}"#,
      format: .csv,
      outcome: "fault: owner of T 1 is null"
    ),
    Case(
      testDescription: "an empty list, where the map rejects what is missing, in XML",
      entities: """
        T: { unique: id, attributes: { id: id }, relationships: { ks: { entity: N, kind: toMany, from: ks, onMissing: reject } } }
        N: { unique: k, attributes: { k: k } }
        """,
      feed: #"{"T":[{"id":"1","ks":[]}]}"#,
      format: .xml,
      outcome: "fault: ks of T 1 is null"
    ),
  ]

  @Test("An import of the export changes nothing, or the export tells what would", arguments: cases)
  func outcomes(one: Case) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
      \(one.entities.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
      sources:
        t: { format: json, entity: T, records: /T }
        c: { format: csv, entity: T }
        x: { format: xml, entity: T, records: /r/t }
      \(one.entities.contains("\nN:") && one.feed.contains(#""N""#) ? "  n: { format: json, entity: N, records: /N }" : "")
      """
    )
    let first = try await fixture.run(one.feed)
    #expect(first.counts.rejected == 0, "\(first.issues)")
    if let second = one.second { try await fixture.run(second) }
    var request = ExportRequest(entity: "T", format: one.format)
    request.columns = one.columns
    if let nulls = one.nulls { request.style.nulls = nulls }
    let exporter = Exporter(map: fixture.map, store: fixture.store)
    do {
      let bytes = try await exporter.bytes(request)
      let report = try await fixture.run(String(decoding: bytes, as: UTF8.self)) {
        $0.options.rejectsFile = nil
      }
      #expect(report.summary == one.outcome, "\(report.issues)")
    } catch let error as ExportError {
      #expect("fault: \(error.message)".hasPrefix(one.outcome), "\(error)")
    }
  }

  @Test("A null where the map has come to require a value, and a to-one that has come to be many")
  func olderObjects() async throws {
    func fixture(_ rules: String, _ kind: String, in store: SQLiteStore? = nil) throws
      -> ImportFixture
    {
      try ImportFixture(
        """
        version: 1
        entities:
          T: { unique: id, attributes: { id: id, a: { \(rules) } }, relationships: { n: { entity: N, kind: \(kind), from: n } } }
          N: { unique: k, attributes: { k: k } }
        sources: { t: { format: json, entity: T } }
        """,
        in: store
      )
    }
    let first = try fixture("", "toOne")
    try await first.run(#"[{"id":"1","n":{"k":"7"}}]"#)
    let strict = try fixture("required: true", "toOne", in: first.store)
    try await strict.run(#"[{"id":"2","a":"A"}]"#)
    let null = await #expect(throws: ExportError.self) {
      try await Exporter(map: strict.map, store: first.store).bytes(ExportRequest())
    }
    #expect(null?.message.hasPrefix("a of T 1 is null") == true, "\(null?.message ?? "")")
    let many = try fixture("", "toMany", in: first.store)
    try first.store.migrate(to: many.map.model())
    try await many.run(#"[{"id":"1","n":[{"k":"7"},{"k":"8"}]}]"#)
    let error = await #expect(throws: ExportError.self) {
      try await Exporter(map: first.map, store: first.store).bytes(ExportRequest())
    }
    #expect(error?.message == "T.n leads to many objects in the database, and to one in the map.")
  }

  @Test("What the map does not export, and an import would miss, is told")
  func missed() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        T:
          unique: id
          attributes: { id: id, a: { export: false, onMissing: clear }, b: { export: false } }
          relationships: { n: { entity: N, kind: toOne, key: { k: n }, export: none, onMissing: clear } }
        N: { unique: k, attributes: { k: k } }
      sources: { t: { format: json, entity: T } }
      """
    )
    try await fixture.run(#"[{"id":"1","a":"A","b":"B"}]"#)
    let bytes = try await Exporter(map: fixture.map, store: fixture.store).bytes(
      ExportRequest(format: .ndjson)
    )
    #expect(String(decoding: bytes, as: UTF8.self) == "{\"id\":\"1\"}\n")
    let notices = try ExportPlan(
      ExportRequest(),
      fixture.map,
      format: .json,
      layout: ModelLayout(fixture.map.model())
    ).notices
    #expect(
      notices.filter { $0.contains("not exported") } == [
        "T.a is not exported, and an import takes away what they have",
        "T.n is not exported, and an import takes away what they have",
      ]
    )
  }
}
