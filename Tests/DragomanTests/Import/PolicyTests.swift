import DragomanGraph
import Testing

@testable import Dragoman

@Suite("Missing, null and invalid") struct PolicyTests {
  /// What becomes of a stored "old" and of a new object under a record that says nothing, null, or
  /// something invalid.
  @Test(
    "Each case has its policy; on a new object keep means the default",
    arguments: [
      ("", "missing", "old", "dflt"), ("", "null", "null", "null"),
      ("", "invalid", "value.type", "value.type"),
      ("onMissing: clear", "missing", "null", "null"),
      ("onMissing: default", "missing", "dflt", "dflt"),
      ("onMissing: reject", "missing", "value.refused", "value.refused"),
      ("onNull: keep", "null", "old", "dflt"), ("onNull: default", "null", "dflt", "dflt"),
      ("onNull: reject", "null", "value.refused", "value.refused"),
      ("onInvalid: clear", "invalid", "null", "null"),
      ("onInvalid: keep", "invalid", "old", "dflt"),
      ("onInvalid: default", "invalid", "dflt", "dflt"),
      ("ignoreNullValueOverwrites: true", "null", "old", "dflt"),
      ("ignoreNullValueOverwrites: false", "missing", "null", "null"),
      ("ignoreNullValueOverwrites: true, onNull: clear", "null", "null", "null"),
    ]
  )
  func policies(policy: String, record: String, existing: String, new: String) async throws {
    let value = ["missing": "", "null": #","v":null"#, "invalid": #","v":{}"#][record] ?? ""
    // At the attribute, at the entity, and at the file: each level alone has the same effect.
    let levels = [
      try ImportFixture(attributes: "v: { default: dflt\(policy.isEmpty ? "" : ", \(policy)") }"),
      try ImportFixture(
        attributes: "v: { default: dflt }",
        entity: policy.replacing(", ", with: "\n    ")
      ),
      try ImportFixture(attributes: "v: { default: dflt }", defaults: policy),
    ]
    for fixture in levels {
      try await fixture.run(#"[{"id":1,"v":"old"}]"#)
      let report = try await fixture.run(#"[{"id":1\#(value)},{"id":2\#(value)}]"#)
      let rejected = report.issues.first { $0.examples[0].isReject }?.code.rawValue
      let rows = try fixture.rows()
      #expect((rejected ?? rows[0]) == (rejected == nil ? "1|\(existing)" : existing))
      #expect((rejected ?? rows[1]) == (rejected == nil ? "2|\(new)" : new))
      if rejected != nil { #expect(rows == ["1|old"]) }
    }
  }

  @Test("The innermost level wins")
  func levels() async throws {
    let fixture = try ImportFixture(
      attributes: "a: { onMissing: keep }\n      b: b",
      entity: "onMissing: clear",
      defaults: "onMissing: reject"
    )
    try await fixture.run(#"[{"id":1,"a":"x","b":"y"}]"#)
    try await fixture.run(#"[{"id":1}]"#)
    #expect(try fixture.rows() == ["1|x|null"])
  }

  @Test("Presence is per record: unlike records in one batch do not wipe each other's values")
  func unlikeRecords() async throws {
    let fixture = try ImportFixture(attributes: "a: a\n      b: b")
    try await fixture.run(
      #"[{"id":1,"a":"a1"},{"id":2,"b":"b2"},{"id":1,"b":"b1"},{"id":2,"a":null}]"#
    )
    #expect(try fixture.rows() == ["1|a1|b1", "2|null|b2"])
  }

  @Test("A required attribute must be there for a new object, and may not be cleared")
  func required() async throws {
    let fixture = try ImportFixture(attributes: "v: { required: true }\n      w: w")
    let report = try await fixture.run(
      #"[{"id":1,"v":"x"},{"id":1,"w":"completed"},{"id":2,"w":"y"},{"id":1,"v":null},{"id":1,"w":"completed"}]"#
    )
    #expect(report.summary == "read 5, inserted 1, updated 1, unchanged 1, rejected 2")
    #expect(report.issueSummary == ["record.incomplete 1", "value.required 1"])
    #expect(try fixture.rows() == ["1|x|completed"])
  }

  @Test("A record without its key is refused; one with a default key is not")
  func keys() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: [country, number]
          attributes: { country: { default: "NO" }, number: { type: int32 }, v: v }
      """
    )
    let report = try await fixture.run(
      #"[{"number":1,"v":"a"},{"country":"NO","number":1.0,"v":"b"},{"country":"SE"},{"country":null,"number":2},{"country":"SE","number":"x"}]"#
    )
    #expect(report.summary == "read 5, inserted 1, updated 1, rejected 3")
    #expect(report.issueSummary == ["key.missing 1", "key.missing 1", "value.type 1"])
    #expect(try fixture.rows() == ["NO|1|b"])
  }

  @Test("Keys are compared byte for byte")
  func bytes() async throws {
    let fixture = try ImportFixture(
      "version: 1\nentities: { P: { unique: id, attributes: { id: id } } }"
    )
    let report = try await fixture.run(
      "[{\"id\":\"caf\u{E9}\"},{\"id\":\"cafe\u{301}\"},{\"id\":\"a\"},{\"id\":\"A\"},{\"id\":\"a \"},{\"id\":\"a\\u0000\"}]"
    )
    #expect(report.summary == "read 6, inserted 6")
  }

  @Test("Sensitive values are masked in reports")
  func sensitive() async throws {
    let fixture = try ImportFixture(attributes: "v: { type: int32, sensitive: true }")
    let report = try await fixture.run(#"[{"id":1,"v":"secret"}]"#)
    #expect(report.issues[0].examples[0].value == "•••")
    #expect(!"\(report)".contains("secret"))
  }
}
