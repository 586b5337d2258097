import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Records that are no objects, and names that are values.
@Suite struct RecordKindTests {
  @Test("A member's name is text in every format: typed attributes take it in plain notation")
  func names() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes:
            id: { from: $key, type: int64 }
            share: { from: $key, type: decimal, scale: 1 }
            isOne: { from: $key, type: bool, onInvalid: clear }
            name: name
          relationships:
            rates: { entity: Rate, kind: toMany, from: rates.*, inverse: owner }
        Rate:
          unique: [owner, year]
          attributes: { year: { from: $key, type: int16 }, value: { from: ., type: double } }
          relationships: { owner: { entity: P, kind: toOne, inverse: rates } }
      sources: { json: { format: json, entity: P, records: /p/* } }
      """
    )
    let report = try await fixture.run(
      #"{"p":{"1":{"name":"a","rates":{"1999":1.5,"2000":2}},"007":{"name":"b"},"-5":{},"x":{}}}"#
    )
    #expect(report.summary == "read 4, inserted 3, rejected 1")
    #expect(report.issueSummary == ["value.boolean 2", "value.number 1"])
    #expect(
      try fixture.rows("P", ["id", "share", "isOne", "name"])
        == ["1|1.0|1|a", "7|7.0|null|b", "-5|-5.0|null|null"]
    )
    #expect(try fixture.rows("Rate", ["year", "value"]) == ["1999|1.5", "2000|2.0"])
    // A value in quotes is a string, and still no number.
    let quoted = try ImportFixture(attributes: "n: { type: int32 }")
    #expect(try await quoted.run(#"[{"id":1,"n":"7"}]"#).issueSummary == ["value.type 1"])
  }

  @Test(
    "Records may be arrays where the map names their elements, and anything where it takes them whole"
  )
  func arrays() async throws {
    func rows(_ attributes: String) async throws -> [String] {
      let fixture = try ImportFixture(
        "version: 1\nentities: { P: { attributes: { \(attributes) } } }"
      )
      let report = try await fixture.run(#"[["NO",1],["SE"],{"a":1},7,null]"#)
      return try fixture.rows("P") + report.issueSummary
    }
    #expect(
      try await rows(#"code: "[0]", n: { from: "[1]", type: int32 }"#)
        == ["NO|1", "SE|null", "value.path 1", "record.type 2"]
    )
    #expect(
      try await rows(#"all: { from: ".", type: json }"#)
        == [#"["NO",1]"#, #"["SE"]"#, #"{"a":1}"#, "7", "null"]
    )
    #expect(try await rows("a: { type: int32 }") == ["1", "record.type 4"])
    let file = try await rows(#"n: { from: $index, type: int32 }"#)
    #expect(file == ["2", "record.type 4"])
  }

  @Test("A required key that is null is told what would help")
  func advice() async throws {
    func help(_ rules: String, _ record: String) async throws -> String? {
      let fixture = try ImportFixture(
        "version: 1\nentities: { P: { unique: id, attributes: { id: { \(rules) } } } }"
      )
      return try await fixture.run("[\(record)]").issues.first?.examples.first?.help
    }
    #expect(try await help("from: key", "{}") == "the feed must give key, or the map a default")
    #expect(
      try await help("from: key, default: x", #"{"key":null}"#)
        == "the feed must give key, or the map say onNull: default"
    )
    #expect(try await help("from: key, default: x, onNull: default", #"{"key":null}"#) == nil)
  }

  @Test("What many inputs have in common is told once")
  func notices() {
    let log = NoticeLog()
    for number in 1...5 { log.add(absentSource: "a", path: "/x", input: "f\(number)") }
    log.add("something else")
    log.add("something else")
    log.add("source b: /y occurs nowhere", input: "f1")
    #expect(
      log.all == [
        "f1, f2, f3 and 2 more inputs: source a: /x occurs nowhere", "something else",
        "f1: source b: /y occurs nowhere",
      ]
    )
    #expect(log.absentSources.count == 5)
  }

  @Test(
    "A record that is no object is told without a key, whatever stood before it",
    arguments: ["json", "ndjson", "xml"],
    ["null", "7", "\"x\"", "[]", "[{\"id\":\"a\"}]", "true"]
  )
  func noObject(format: String, value: String) async throws {
    for batchSize in [1, 2, 3] {
      let fixture = try ImportFixture(
        """
        version: 1
        entities: { P: { unique: id, attributes: { id: { from: { json: id, xml: "@id" } } } } }
        sources: { j: { format: json, entity: P }, x: { format: xml, entity: P, records: /r/p } }
        """
      )
      let nilled = "<p xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" i:nil=\"true\"/>"
      let feed =
        switch format {
        case "json": "[{\"id\":\"a\"},\(value),{\"id\":\"b\"},\(value)]"
        case "ndjson": "{\"id\":\"a\"}\n\(value)\n{\"id\":\"b\"}\n\(value)\n"
        default: "<r><p id=\"a\"/>\(nilled)<p id=\"b\"/>\(nilled)</r>"
        }
      let report = try await fixture.run(feed) {
        $0.options.commit = .batch
        $0.options.batchSize = batchSize
      }
      #expect(report.summary == "read 4, inserted 2, rejected 2")
      let examples = report.issues.flatMap(\.examples)
      #expect(examples.map(\.key) == [nil, nil] && examples.map(\.origin.record) == [2, 4])
      #expect(try fixture.rows() == ["a", "b"])
    }
  }
}
