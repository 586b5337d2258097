import DragomanGraph
import Testing

@testable import Dragoman

@Suite("Conversion by the attribute's type") struct ConversionTests {
  /// A value in JSON, and what is stored; an issue code where it is refused.
  private func stored(_ type: String, _ json: String) async throws -> String {
    let fixture = try ImportFixture(attributes: "v: { type: \(type) }")
    let report = try await fixture.run(#"[{"id":1,"v":\#(json)}]"#)
    return try report.issues.first?.code.rawValue ?? fixture.rows()[0].replacing("1|", with: "")
  }

  @Test(
    "A JSON value is stored exactly, or named",
    arguments: [
      ("int64", "9223372036854775807", "9223372036854775807"),
      ("int64", "-9223372036854775808", "-9223372036854775808"),
      ("int64", "9223372036854775808", "value.range"), ("int64", "1.0", "1"),
      ("int64", "1E3", "1000"),
      ("int64", "1.5", "value.number"), ("int64", "\"1\"", "value.type"),
      ("int64", "true", "value.type"),
      ("int16", "32767", "32767"), ("int16", "32768", "value.range"),
      ("int32", "-2147483649", "value.range"),
      ("double", "0.1", "0.1"), ("double", "1e400", "value.range"), ("double", "1e-400", "0.0"),
      ("double", "-0.0", "0.0"), ("float", "0.5", "0.5"), ("float", "1e39", "value.range"),
      ("decimal", "0.123456789012345678901234567890", "0.12345678901234567890123456789"),
      ("decimal", "-12.50", "-12.5"), ("decimal", "1E2", "100"), ("decimal", "-0.0", "0"),
      ("decimal, scale: 2", "1.5", "1.50"), ("decimal, scale: 2", "1.005", "value.number"),
      ("bool", "true", "1"), ("bool", "0", "0"), ("bool", "2", "value.boolean"),
      ("bool", "1.0", "1"), ("bool", "0e3", "0"), ("bool", "0.5", "value.boolean"),
      ("bool", "-1", "value.boolean"),
      ("bool", "\"true\"", "value.boolean"), ("string", "\"2024-01-01\"", "2024-01-01"),
      ("string", "\"a\\u0000b\"", "a\0b"), ("string", "\"\"", ""), ("string", "1", "value.type"),
      ("string", "{\"a\":1}", "value.type"), ("string, coerce: true", "1.50", "1.50"),
      ("string, coerce: true", "true", "true"),
      ("timestamp", "\"2024-02-29T23:00:00.250+01:00\"", "2024-02-29 22:00:00.25"),
      ("timestamp", "\"2023-02-29T00:00:00Z\"", "value.date"), ("timestamp", "1", "value.date"),
      ("timestamp, dates: [unix-ms]", "1330848000123", "2012-03-04 08:00:00.123"),
      ("date", "\"2024-02-29\"", "2024-02-29"), ("date", "\"03/04/2024\"", "value.date"),
      ("date, dates: [dd.MM.yyyy, iso8601-date]", "\"17.05.1984\"", "1984-05-17"),
      ("time", "\"08:15\"", "08:15:00"),
      ("duration", "\"P1W\"", "P7D"), ("duration", "\"PT90M\"", "PT1H30M"),
      ("duration", "\"PT24H\"", "PT24H"), ("duration", "\"1:30\"", "value.text"),
      ("duration", "90", "value.type"),
      ("uuid", "\"0E43FE9D-C472-4B62-BE9E-55F971A023E1\"", "0e43fe9d-c472-4b62-be9e-55f971a023e1"),
      ("uuid", "\"x\"", "value.text"), ("url", "\"https://a.b/c?d\"", "https://a.b/c?d"),
      ("url", "\"a b\"", "value.text"),
      ("data", "\"AAE=\"", "2 bytes"), ("data", "\"not base64!!\"", "value.text"),
      ("json", "{\"b\":[1.50,\"x\",null]}", "{\"b\":[1.50,\"x\",null]}"),
      ("json", "\"x\"", "\"x\""),
      ("enum, values: { FT: full, PT: part }", "\"FT\"", "full"),
      ("enum, values: { FT: full }", "\"X\"", "value.word"),
      ("enum, values: { FT: full }, unknown: other", "\"X\"", "other"),
      ("double, numbers: { decimal: \",\", group: \".\" }", "\"1.234,5\"", "1234.5"),
      ("double, numbers: { decimal: \",\", group: \".\" }", "\"1,2,3\"", "value.number"),
      ("double, numbers: { decimal: \",\" }", "1.5", "1.5"),
      ("int64, min: 1, max: 5", "6", "value.range"), ("int64, min: 1, max: 5", "5", "5"),
      ("string, length: { min: 2, max: 3 }", "\"äöü\"", "äöü"),
      ("string, length: { min: 2, max: 3 }", "\"a\"", "value.text"),
      ("string, pattern: \"[A-Z]{2}\"", "\"AB\"", "AB"),
      ("string, pattern: \"[A-Z]{2}\"", "\"ABC\"", "value.text"),
      ("json, strings: { trim: true }", "\" a \"", "\"a\""),
      ("json, strings: { emptyAsNull: true }", "\"\"", "null"),
      ("json, strings: { nulls: [\"N/A\"] }", "\"N/A\"", "null"),
      ("json, strings: { trim: true, nulls: [\"N/A\"] }", "[\" a \",\"N/A\"]", "[\" a \",\"N/A\"]"),
    ]
  )
  func json(type: String, value: String, expected: String) async throws {
    #expect(try await stored(type, value) == expected)
  }

  @Test(
    "Space around a number is what the help speaks of, where that is all",
    arguments: [
      ("int32", " 2", true), ("decimal", "2.50\n", true), ("int32", " 2 x", false),
      ("int32", " ", false), ("int32, strings: { trim: true }", " x ", false),
    ]
  )
  func spaces(type: String, text: String, isTrimmed: Bool) async throws {
    let fixture = try ImportFixture(attributes: "v: { type: \(type) }")
    let report = try await fixture.run(#"<r><p id="1"><v>\#(text)</v></p></r>"#)
    let help = try #require(report.issues.first?.examples.first?.help)
    #expect(help.hasPrefix("set strings: {trim: true}") == isTrimmed, "\(help)")
    #expect(help.hasPrefix("declare the separators") == !isTrimmed, "\(help)")
  }

  @Test(
    "XML text is taken in plain notation; an empty element is null for all types but string",
    arguments: [
      ("int64", "007", "7"), ("int64", "", "null"), ("int64", "1.5", "value.number"),
      ("double", "-1.5e3", "-1500.0"), ("bool", "true", "1"), ("bool", "yes", "value.boolean"),
      ("string", "", ""), ("string", " a ", " a "), ("string, strings: { trim: true }", " a ", "a"),
      ("string, strings: { emptyAsNull: true }", "", "null"),
      ("string, strings: { nulls: [\"N/A\"] }", "N/A", "null"),
      ("date", "2024-02-29", "2024-02-29"),
      ("decimal", "1.10", "1.1"), ("json", "a\"b", "\"a\\\"b\""),
      ("json, strings: { trim: true }", " a ", "\"a\""),
      ("json, strings: { nulls: [\"N/A\"] }", "N/A", "null"),
      ("json, strings: { emptyAsNull: true }", "", "null"),
    ]
  )
  func xml(type: String, text: String, expected: String) async throws {
    let fixture = try ImportFixture(attributes: "v: { type: \(type) }")
    let report = try await fixture.run("<r><p id=\"1\"><v>\(text)</v></p></r>")
    let found =
      try report.issues.first?.code.rawValue ?? fixture.rows()[0].replacing("1|", with: "")
    #expect(found == expected)
  }

  @Test(
    "A path finds its value, or says what is in the way",
    arguments: [
      ("a.b", #""a":{"b":"x"}"#, "x"), ("a.b", #""a":{}"#, "null"), ("a.b", #""a":null"#, "null"),
      ("a.b", #""a":1"#, "value.path"), ("a.b", #""a":["x"]"#, "value.path"),
      ("a.b", #""a.b":"flat","a":{"b":"nested"}"#, "flat"), ("\"a[1]\"", #""a":["x","y"]"#, "y"),
      ("\"a[2]\"", #""a":["x","y"]"#, "null"), ("/a~1b/c", #""a/b":{"c":"x"}"#, "x"),
      ("[a, b]", #""b":"second""#, "second"), ("[a, b]", #""b":"second","a":"first""#, "first"),
      ("[a, b]", #""a":null,"b":"second""#, "null"), ("a", #""a":"x","a":"y""#, "value.repeated"),
      ("$file", "", "feed1"), ("\"a[0].b\"", #""a":[{"b":"x"}]"#, "x"),
    ].map { ($0.0, $0.1.isEmpty ? "" : "," + $0.1, $0.2) }
  )
  func paths(path: String, members: String, expected: String) async throws {
    let fixture = try ImportFixture(attributes: "v: { from: \(path) }")
    let report = try await fixture.run(#"[{"id":1\#(members)}]"#)
    let found =
      try report.issues.first?.code.rawValue ?? fixture.rows()[0].replacing("1|", with: "")
    #expect(found == expected)
  }

  @Test("Wildcards gather into JSON; places outside of the record can be named")
  func outside() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes:
            id: $key
            tags: { from: "t[*].n", type: json }
            number: { from: $index, type: int32 }
            line: { from: $line, type: int32 }
            made: { from: $root.meta.made, type: date }
      sources: { s: { format: json, entity: P, records: /p/* } }
      """
    )
    try await fixture.run(
      "{\"meta\":{\"made\":\"2024-01-02\"},\n\"p\":{\"a\":{\"t\":[{\"n\":1},{\"n\":\"x\"}]},\n\"b\":{}}}"
    )
    #expect(
      try fixture.rows() == [#"a|[1,"x"]|0|2|2024-01-02"#, "b|null|1|3|2024-01-02"]
    )
  }

  @Test("The same records in JSON, NDJSON and XML make the same database")
  func formats() async throws {
    let fixture = try ImportFixture(
      attributes:
        "n: { from: { json: a.n, xml: a/n }, type: decimal }\n      t: { type: timestamp }"
    )
    let time = "2024-01-02T03:04:05.5Z"
    let json = #"[{"id":1,"a":{"n":1.50},"t":"\#(time)"},{"id":2,"a":{"n":null}}]"#
    #expect(try await fixture.run(json).summary == "read 2, inserted 2")
    let xml = "<r><p id='1'><a><n>1.5</n></a><t>\(time)</t></p><p id='2'><a><n/></a></p></r>"
    #expect(try await fixture.run(xml).summary == "read 2, unchanged 2")
    let lines = #"{"id":1,"a":{"n":1.5},"t":"\#(time)"}"# + "\n" + #"{"id":2}"# + "\n"
    #expect(try await fixture.run(lines).summary == "read 2, unchanged 2")
    #expect(try fixture.rows() == ["1|1.5|2024-01-02 03:04:05.5", "2|null|null"])
  }
}
