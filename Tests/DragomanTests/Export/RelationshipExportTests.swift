import GRDB
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Relationships on their way out, by the map of docs and SEMANTICS: people, companies, phones, teams.
@Suite struct RelationshipExportTests {
  private static let map = """
    version: 1
    entities:
      Company:
        unique: id
        attributes:
          id:   { from: { json: id, xml: "@id" }, type: int64 }
          name: { from: { json: name, xml: "text()" } }
          city: { from: { json: address.city, xml: "c:city" } }
        relationships:
          staff: { entity: Person, kind: toMany, inverse: company }
      Team:
        unique: id
        attributes: { id: { type: int64 } }
      Phone:
        unique: [owner, kind]
        attributes:
          kind:   { from: { json: type, xml: "@type" } }
          number: { from: { json: number, xml: "text()" } }
        relationships:
          owner: { entity: Person, kind: toOne, inverse: phones }
      Skill:
        unique: name
        attributes: { name: { from: "." } }
      Person:
        unique: [country, code]
        attributes:
          code:    { from: { json: person_id, xml: "@id" } }
          country: { from: { json: country, xml: "@country" } }
        relationships:
          company: { entity: Company, kind: toOne, from: { json: company, xml: "c:company" }, inverse: staff }
          manager: { entity: Person, kind: toOne, key: { country: { attribute: country }, code: { json: manager_id, xml: "c:manager/@ref" } } }
          phones:  { entity: Phone, kind: toMany, from: { json: phones, xml: "c:phone" }, inverse: owner, ordered: true }
          skills:  { entity: Skill, kind: toMany, from: { json: skills, xml: "c:skill" } }
          teams:   { entity: Team, kind: toMany, key: { id: { json: "team_ids[*]", xml: "c:team/@ref" } }, onUnresolved: stub }
    sources:
      json: { format: json, entity: Person, records: /data/people }
      xml:
        format: xml
        entity: Person
        records: /c:crm/c:person
        namespaces: { c: "urn:crm" }
    export: { entity: Person }
    """

  private let map: ImportMap
  private let store: SQLiteStore

  init() throws {
    map = try ImportMap(yaml: Self.map)
    store = try SQLiteStore(at: .inMemory)
    try store.grow(to: map.model())
    try store.write { session in
      try session.begin()
      try session.database.execute(
        sql: """
          INSERT INTO Company (_pk, _v, id, name, city) VALUES (1, 1, 7, 'Fjord AS', 'Bergen');
          INSERT INTO Team (_pk, _v, id) VALUES (1, 1, 4), (2, 1, 1);
          INSERT INTO Skill (_pk, _v, name) VALUES (1, 1, 'swift'), (2, 1, 'sql');
          INSERT INTO Person (_pk, _v, code, country, company, manager) VALUES
            (1, 1, 'P-002', 'NO', 1, NULL), (2, 1, 'P-001', 'NO', 1, 1), (3, 1, 'P-003', 'NO', NULL, NULL);
          INSERT INTO Phone (_pk, _v, kind, number, owner, _phones_order) VALUES
            (1, 1, 'work', '55', 2, 1), (2, 1, 'mobile', '900', 2, 0);
          INSERT INTO Person_skills (owner, target) VALUES (2, 1), (2, 2);
          INSERT INTO Person_teams (owner, target) VALUES (2, 1), (2, 2), (1, 1);
          """
      )
      try session.commit()
    }
  }

  private func text(_ request: ExportRequest, by map: ImportMap? = nil) async throws -> String {
    String(
      decoding: try await Exporter(map: map ?? self.map, store: store).bytes(request),
      as: UTF8.self
    )
  }

  @Test("JSON nests objects, lists values and writes keys where the map reads them")
  func json() async throws {
    let text = try await text(ExportRequest(format: .json))
    #expect(
      text == """
        {"data":{"people":[
        {"person_id":"P-001","country":"NO","company":{"id":7,"name":"Fjord AS","address":{"city":"Bergen"}},"manager_id":"P-002","phones":[{"type":"mobile","number":"900"},{"type":"work","number":"55"}],"skills":["sql","swift"],"team_ids":[1,4]},
        {"person_id":"P-002","country":"NO","company":{"id":7,"name":"Fjord AS","address":{"city":"Bergen"}},"phones":[],"skills":[],"team_ids":[4]},
        {"person_id":"P-003","country":"NO","phones":[],"skills":[],"team_ids":[]}
        ]}}

        """
    )
  }

  @Test("XML repeats elements, and puts keys into attributes")
  func xml() async throws {
    let text = try await text(ExportRequest(format: .xml))
    #expect(
      text == """
        <?xml version="1.0" encoding="UTF-8"?>
        <c:crm xmlns:c="urn:crm">
        <c:person id="P-001" country="NO"><c:company id="7">Fjord AS<c:city>Bergen</c:city></c:company><c:manager ref="P-002"/><c:phone type="mobile">900</c:phone><c:phone type="work">55</c:phone><c:skill>sql</c:skill><c:skill>swift</c:skill><c:team ref="1"/><c:team ref="4"/></c:person>
        <c:person id="P-002" country="NO"><c:company id="7">Fjord AS<c:city>Bergen</c:city></c:company><c:team ref="4"/></c:person>
        <c:person id="P-003" country="NO"/>
        </c:crm>

        """
    )
  }

  @Test("A relationship is a reference, or left out, where the map says so")
  func inclusion() async throws {
    var map = map
    map.exportOptions.include = [
      "company": .key, "phones": .none, "skills": .none, "teams": .none, "manager": .none,
    ]
    let text = try await text(ExportRequest(format: .ndjson, limit: 1), by: map)
    #expect(text == #"{"person_id":"P-001","country":"NO","company":{"id":7}}"# + "\n")
  }

  @Test("A cycle ends at the key")
  func cycle() async throws {
    var map = map
    map.entities[0].relationships[0].from = ForeignPaths(
      json: [try ForeignPathParser(format: .json).parse("staff")]
    )
    let text = try await text(ExportRequest(entity: "Company", format: .ndjson), by: map)
    #expect(
      text == #"{"id":7,"name":"Fjord AS","address":{"city":"Bergen"},"staff":["#
        + #"{"person_id":"P-001","country":"NO","manager_id":"P-002","phones":[{"type":"mobile","number":"900"},{"type":"work","number":"55"}],"skills":["sql","swift"],"team_ids":[1,4]},"#
        + #"{"person_id":"P-002","country":"NO","phones":[],"skills":[],"team_ids":[4]}]}"# + "\n"
    )
  }

  @Test("A key that the record cannot spell ends the export")
  func foreignKey() async throws {
    try store.write { session in
      try session.begin()
      try session.database.execute(
        sql: "UPDATE Person SET country = 'SE' WHERE code = 'P-002'"
      )
      try session.commit()
    }
    let error = await #expect(throws: ExportError.self) {
      _ = try await text(ExportRequest(format: .json))
    }
    #expect(error?.code == .value)
    #expect(
      error?.message == "manager of Person NO, P-001 names an object that its key cannot lead to."
    )
  }

  @Test("Local names, too, nest what is linked", arguments: [ForeignFormat.ndjson])
  func local(format: ForeignFormat) async throws {
    let text = try await text(
      ExportRequest(format: format, limit: 1, style: ExportStyle(names: .local))
    )
    #expect(
      text
        == #"{"code":"P-001","country":"NO","company":{"id":7,"name":"Fjord AS","city":"Bergen"},"#
        + #""manager":{"code":"P-002","country":"NO"},"phones":[{"kind":"mobile","number":"900"},{"kind":"work","number":"55"}],"#
        + #""skills":[{"name":"sql"},{"name":"swift"}],"teams":[{"id":1},{"id":4}]}"# + "\n"
    )
  }

  @Test("Links are read for hundreds of records at once, not for one")
  func manyOwners() async throws {
    try store.write { session in
      try session.begin()
      for number in 0..<1500 {
        try session.database.execute(
          sql: "INSERT INTO Person (_pk, _v, code, country, company) VALUES (?, 1, ?, 'XX', 1)",
          arguments: [number + 10, "X-\(number)"]
        )
      }
      try session.commit()
    }
    let text = try await text(ExportRequest(format: .ndjson))
    let lines = text.split(separator: "\n")
    #expect(lines.count == 1503)
    #expect(lines.count { $0.contains(#""company":{"id":7,"#) } == 1502)
  }

  @Test(
    "Links come back from an export, into the same store and into an empty one",
    arguments: [ForeignFormat.json, .ndjson, .xml]
  )
  func roundTrip(format: ForeignFormat) async throws {
    let bytes = try await Exporter(map: map, store: store).bytes(ExportRequest(format: format))
    let input = ImportRequest([.bytes(bytes, name: "export.\(format.rawValue)")])
    let again = try await Importer(map: map, store: store).run(input)
    #expect(again.summary == "read 3, unchanged 3", "\(again.issues)")
    let copy = try SQLiteStore(at: .inMemory)
    let report = try await Importer(map: map, store: copy).run(input)
    #expect(report.summary == "read 3, inserted 3", "\(report.issues)")
    for format in [ForeignFormat.json, .xml] {
      let request = ExportRequest(format: format)
      let original = try await Exporter(map: map, store: store).bytes(request)
      let copied = try await Exporter(map: map, store: copy).bytes(request)
      #expect(String(decoding: copied, as: UTF8.self) == String(decoding: original, as: UTF8.self))
    }
  }

  @Test("Records in memory are those of JSON")
  func records() async throws {
    let exporter = Exporter(map: map, store: store)
    let lines = try await text(ExportRequest(format: .ndjson))
    let expected = try lines.split(separator: "\n").map { try ForeignValue(json: String($0)) }
    let records = try await exporter.records(ExportRequest())
    #expect(records == expected)
  }

  private static let waiting = """
    version: 1
    entities:
      Part:
        unique: [shelf, number]
        attributes:
          shelf: { from: { json: shelf, xml: "@shelf", csv: shelf } }
          number: { type: int64, from: { json: number, xml: "@number", csv: number } }
        relationships:
          KINDS
          spare: { entity: Part, kind: toOne, onUnresolved: pending, key: { shelf: { value: b }, number: { from: { json: spare, xml: "@spare", csv: spare } } } }
          near: { entity: Part, kind: toOne, onUnresolved: pending, key: { shelf: { attribute: shelf }, number: { from: { json: near, xml: "@near", csv: near } } } }
        discriminator: { from: { json: kind, xml: "@kind", csv: kind }, values: { big: Big } }
      Big: { parent: Part, attributes: { load: { type: double, from: { json: load, xml: "@load", csv: load } } } }
    sources:
      json: { format: json, entity: Part }
      lines: { format: ndjson, entity: Part }
      xml: { format: xml, entity: Part, records: /parts/part }
      csv: { format: csv, entity: Part }
    """
  private static let lists = """
    fits: { entity: Part, kind: toMany, ordered: true, onUnresolved: pending, key: { shelf: { from: { json: "fits[*].s", xml: "fit/@s" } }, number: { from: { json: "fits[*].n", xml: "fit/@n" } } } }
    """

  @Test(
    "References that wait come back from an export, in every format, and wait again",
    arguments: [ForeignFormat.json, .ndjson, .xml, .csv]
  )
  func waitingReferences(format: ForeignFormat) async throws {
    let yaml = Self.waiting.replacing("KINDS", with: format == .csv ? "" : Self.lists)
    let fixture = try ImportFixture(yaml)
    // NUL is no character of XML.
    let odd = format == .xml ? "é" : #"é\u0000"#
    let list = #","fits":[{"s":"c","n":5},{"s":"a","n":2},{"s":"\#(odd)","n":6}]"#
    let fits = format == .csv ? "" : list
    try await fixture.run(
      #"[{"shelf":"a","number":1,"spare":9,"near":2\#(fits)},{"shelf":"a","number":2,"near":7}"#
        + #",{"shelf":"b","number":3,"kind":"big","load":0.1,"spare":8}]"#
    )
    let before = try UndoPropertyTests.state(of: fixture.store)
    let request = ExportRequest(format: format)
    let bytes = try await Exporter(map: fixture.map, store: fixture.store).bytes(request)
    let input = ImportRequest([.bytes(bytes, name: "export.\(format.rawValue)")])
    let again = try await Importer(map: fixture.map, store: fixture.store).run(input)
    #expect(again.summary == "read 3, unchanged 3", "\(again.issues)")
    #expect(try UndoPropertyTests.state(of: fixture.store) == before)
    let copy = try ImportFixture(yaml)
    _ = try await Importer(map: copy.map, store: copy.store).run(input)
    let late = #"[{"shelf":"b","number":9},{"shelf":"a","number":7},{"shelf":"c","number":5}]"#
    try await fixture.run(late)
    try await copy.run(late)
    #expect(
      try await Exporter(map: copy.map, store: copy.store).bytes(request)
        == Exporter(map: fixture.map, store: fixture.store).bytes(request)
    )
  }

  private static let parts = """
    version: 1
    entities:
      Part:
        unique: id
        OVERWRITE
        attributes:
          id:   { from: { json: id, xml: "@id" } }
          name: { from: { json: name, xml: "@name" }, default: unknown, POLICY }
          mass: { type: double, from: { json: mass, xml: mass } }
          NEEDED
        relationships:
          parent: { entity: Part, kind: toOne, from: { json: parent, xml: parent } }
          maker: { entity: Part, kind: toOne, key: { id: { json: maker, xml: "@maker" } }, onUnresolved: stub, MAKER }
    sources:
      json: { format: json, entity: Part }
      xml: { format: xml, entity: Part, records: /parts/part }
    """

  @Test(
    "Targets inside of others lose nothing by an import of the export",
    arguments: [ForeignFormat.json, .xml],
    [false, true]
  )
  func references(format: ForeignFormat, needsMore: Bool) async throws {
    let policies = ["keep", "clear", "default", "reject"].map { "onMissing: \($0)" }
    for policy in policies + [""] {
      try await references(
        format,
        policy,
        needsMore ? "code: { from: { json: code, xml: \"@code\" }, required: true }" : ""
      )
    }
  }

  private func references(_ format: ForeignFormat, _ policy: String, _ needed: String) async throws
  {
    let overwrite = policy.isEmpty ? "overwriteExisting: false" : ""
    let yaml = Self.parts.replacing(", POLICY", with: policy.isEmpty ? "" : ", \(policy)")
      .replacing(
        ", MAKER",
        with: policy.isEmpty || policy.hasSuffix("default") ? "" : ", \(policy)"
      )
      .replacing("OVERWRITE", with: overwrite).replacing("NEEDED", with: needed)
    let fixture = try ImportFixture(yaml)
    // The outer one comes first: what it holds is the first that an empty database hears of the inner one.
    try await fixture.run(
      #"[{"id":"2","code":"b","name":"y","maker":"1","parent":{"id":"1","code":"a","name":"x","mass":2.5,"maker":"2"}},"#
        + #"{"id":"3","code":"c","name":"z","maker":"2","parent":{"id":"2","code":"b","name":"y","maker":"1"}}]"#
    )
    let before = try UndoPropertyTests.state(of: fixture.store)
    let request = ExportRequest(format: format, sortKeys: [SortKey("id", ascending: false)])
    let exporter = Exporter(map: fixture.map, store: fixture.store)
    let bytes = try await exporter.bytes(request)
    let text = String(decoding: bytes, as: UTF8.self)
    if format == .json {
      #expect(text.contains(#""parent":{"id":"1"}"#) == (policy == "onMissing: keep"), "\(text)")
    }
    let input = ImportRequest([.bytes(bytes, name: "export.\(format.rawValue)")])
    let report = try await Importer(map: fixture.map, store: fixture.store).run(input)
    #expect(report.counts.rejected == 0, "\(text)")
    #expect(try UndoPropertyTests.state(of: fixture.store) == before, "\(text)")
    let copy = try ImportFixture(yaml)
    _ = try await Importer(map: copy.map, store: copy.store).run(input)
    guard !policy.isEmpty else {
      // Nothing is said twice of an object: where the inner one comes first, its own parent is lost, as a note says.
      return #expect(
        try Set(copy.rows("Part", ["id", "name", "mass"]))
          == Set(fixture.rows("Part", ["id", "name", "mass"]))
      )
    }
    let again = try await Exporter(map: copy.map, store: copy.store).bytes(request)
    #expect(String(decoding: again, as: UTF8.self) == text)
  }

  @Test(
    "A to-one without a target is null where a record without it would be rejected",
    arguments: [ForeignFormat.json, .xml]
  )
  func nulls(format: ForeignFormat) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        T: { unique: [[id], [a, b]], attributes: { id: id, a: a, b: b } }
        P:
          unique: id
          attributes: { id: id }
          onMissing: reject
          relationships:
            one: { entity: T, kind: toOne, key: { id: one } }
            two: { entity: T, kind: toOne, key: { a: { json: two.a, xml: two/a }, b: { json: two.b, xml: two/b } } }
            whole: { entity: T, kind: toOne, from: whole }
            listed: { entity: T, kind: toMany, key: { id: { from: listed, split: "," } } }
      sources:
        json: { format: json, entity: P }
        xml: { format: xml, entity: P, records: /ps/p }
      """
    )
    try await fixture.run(
      #"[{"id":"1","one":null,"two":{"a":null,"b":null},"whole":null,"listed":null}]"#
    )
    let bytes = try await Exporter(map: fixture.map, store: fixture.store)
      .bytes(ExportRequest(format: format))
    let again = try await Importer(map: fixture.map, store: fixture.store)
      .run(ImportRequest([.bytes(bytes, name: "export.\(format.rawValue)")]))
    #expect(again.summary == "read 1, unchanged 1", "\(String(decoding: bytes, as: UTF8.self))")
  }
}
