import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Records that say the same thing twice, or the wrong kind of thing where a word decides.
@Suite("Doubtful records") struct DoubtfulRecordTests {
  private static let family = """
    version: 1
    entities:
      P:
        unique: id
        attributes: { id: id, name: name }
        discriminator: { from: meta.kind, values: { a: Q } }
        deleteWhen: { from: gone.by, equals: "" }
      Q: { parent: P, attributes: { x: x } }
    sources: { j: { format: json, entity: P } }
    """

  @Test(
    "A path of a deciding value that runs into a scalar is invalid",
    arguments: [
      (#""meta":5"#, "value.path 1"), (#""gone":"x""#, "value.path 1"),
      (#""gone":["x"]"#, "value.path 1"), (#""meta":null"#, nil), (#""meta":{}"#, nil),
      (#""gone":{"by":"x"}"#, nil),
    ]
  )
  func blocked(member: String, issue: String?) async throws {
    let fixture = try ImportFixture(Self.family)
    let report = try await fixture.run("[{\"id\":\"1\",\(member)}]")
    #expect(report.counts.rejected == (issue == nil ? 0 : 1))
    #expect(report.issueSummary.first == issue)
  }

  @Test(
    "Objects, lists and null are no word, not the empty one either",
    arguments: [(#"{"x":1}"#, 0), ("[]", 0), ("{}", 0), ("null", 0), (#""""#, 1), (#""y""#, 0)]
  )
  func noWord(value: String, deleted: Int) async throws {
    let fixture = try ImportFixture(Self.family)
    try await fixture.run(#"[{"id":"1"}]"#)
    let report = try await fixture.run("[{\"id\":\"1\",\"gone\":{\"by\":\(value)}}]")
    #expect(report.counts.deleted == deleted)
  }

  @Test("An object or a list is no word of a discriminator")
  func noEntity() async throws {
    let fixture = try ImportFixture(
      Self.family.replacing("{ a: Q }", with: "{ \"\": Q }")
    )
    for value in [#"{"x":1}"#, "[]"] {
      let report = try await fixture.run("[{\"id\":\"1\",\"meta\":{\"kind\":\(value)}}]")
      #expect(report.counts.rejected == 1 && report.issueSummary == ["value.word 1"])
    }
    #expect(try await fixture.run(#"[{"id":"1","meta":{"kind":""}}]"#).counts.inserted == 1)
  }

  @Test(
    "One member twice on the way to a value is rejected, whatever each holds",
    arguments: [
      #""a":{"b":"x"},"a":{}"#, #""a":{},"a":{"b":"x"}"#, #""a":{"b":"x"},"a":{"b":"y"}"#,
      #""a":{"b":"x"},"a":null"#, #""l":[{"n":1}],"l":[]"#, #""l":[{"n":1,"n":2}]"#,
    ]
  )
  func twice(members: String) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P: { unique: id, attributes: { id: id, b: a.b, l: { from: "l[*].n", type: json }, c: o.c } }
      """
    )
    let report = try await fixture.run("[{\"id\":\"1\",\(members)}]")
    #expect(report.counts.rejected == 1 && report.issueSummary == ["value.repeated 1"])
    #expect(
      try await fixture.run(#"[{"id":"1","a":{"b":"x","z":1,"z":2},"q":{},"q":{}}]"#).counts
        .rejected
        == 0
    )
  }

  @Test("Policies of a parent entity hold for its attributes in sub-entities")
  func policies() async throws {
    let map = """
      version: 1
      entities:
        Thing:
          unique: id
          onNull: keep
          attributes: { id: id, name: name }
          relationships: { owner: { entity: Owner, kind: toOne, key: { o: owner }, onUnresolved: stub } }
          discriminator: { from: kind, values: { car: Car } }
        Car: { parent: Thing, POLICY attributes: { doors: doors } }
        Owner: { unique: o, attributes: { o: o } }
      sources: { j: { format: json, entity: Thing } }
      """
    for (policy, second) in [("", "2|b|1"), ("onNull: clear, ", "2|null|null")] {
      let fixture = try ImportFixture(map.replacing("POLICY ", with: policy))
      try await fixture.run(
        #"[{"id":"1","name":"a","owner":"x"},{"id":"2","kind":"car","name":"b","owner":"x","doors":"4"}]"#
      )
      try await fixture.run(
        #"[{"id":"1","name":null,"owner":null},{"id":"2","kind":"car","name":null,"owner":null,"doors":null}]"#
      )
      #expect(
        try sql(fixture.store, "SELECT id, name, owner IS NOT NULL OR NULL FROM Thing ORDER BY 1")
          == ["1|a|1", second]
      )
      // The sub-entity's own attributes are its own affair.
      #expect(try fixture.rows("Car", ["doors"]) == ["null"])
    }
  }

  @Test("A default of JSON is stored as an import stores it")
  func jsonDefault() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        A: { unique: id, attributes: { id: id, doc: { type: json, default: '{ "a" : [ 1, "x \\u0041\\/ y" ] }' } } }
      """
    )
    try await fixture.run(#"[{"id":"1"}]"#)
    #expect(try fixture.rows("A", ["doc"]) == [#"{"a":[1,"x A/ y"]}"#])
    let bytes = try await Exporter(map: fixture.map, store: fixture.store)
      .bytes(ExportRequest(format: .json))
    let again = try await fixture.run(String(decoding: bytes, as: UTF8.self))
    #expect(again.summary == "read 1, unchanged 1")
  }
}
