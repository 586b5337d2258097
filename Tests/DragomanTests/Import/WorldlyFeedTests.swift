import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Dates, numbers and texts as feeds of all the world have them: taken as they are meant, or refused.
@Suite struct WorldlyFeedTests {
  // MARK: - Dates

  @Test(
    "Abbreviations of zones mean different zones in different places, and are none",
    arguments: ["BST", "IST", "PST", "CST", "AST", "JST", "GMT+2", "UTC+3", "SystemV/EST5", "utc"]
  )
  func abbreviations(zone: String) throws {
    let error = #expect(throws: MapFaults.self) {
      try ImportFixture(
        attributes: "at: { type: timestamp }",
        defaults: "timeZone: \"\(zone)\""
      )
    }
    #expect(error?.faults.first?.message.contains("There is no time zone \"\(zone)\"") == true)
    let reader = try DateReader(
      formats: ["yyyy-MM-dd HH:mm VV"],
      type: .timestamp,
      timeZone: nil
    )
    #expect(reader.text("2026-07-01 12:00 \(zone)") == nil)
    #expect(reader.text("2026-07-01 12:00 Asia/Dhaka") == "2026-07-01 06:00:00")
  }

  @Test(
    "Names of the IANA database without an area are zones",
    arguments: ["UTC", "GMT", "EST5EDT", "CET", "Japan", "NZ", "Etc/GMT-1", "Singapore", "MST"]
  )
  func names(zone: String) throws { _ = try ZoneClock(identifier: zone) }

  @Test("A number of digits is read by a pattern of digits, in the order of the formats")
  func digits() throws {
    let days = try DateReader(formats: ["yyyyMMdd"], type: .date, timeZone: nil)
    #expect(days.number("20261102") == "2026-11-02")
    #expect(days.number("20261131") == nil && days.number("-20261102") == nil)
    #expect(days.number("20261102.0") == nil && days.number("2.0261102e7") == nil)
    let both = try DateReader(formats: ["unix", "yyyyMMdd"], type: .timestamp, timeZone: nil)
    #expect(both.number("20261102") == "1970-08-23 12:05:02")
  }

  @Test("Digits below a microsecond are cut towards the past, before 1970, too")
  func cut() throws {
    let reader = try DateReader(formats: ["unix", "iso8601"], type: .timestamp, timeZone: nil)
    for (number, text) in [
      ("-1.4999996", "1969-12-31T23:59:58.5000004Z"), ("1.4999996", "1970-01-01T00:00:01.4999996Z"),
      ("-0.0000004", "1969-12-31T23:59:59.9999996Z"), ("-1.5", "1969-12-31T23:59:58.5Z"),
    ] {
      #expect(reader.number(number) == reader.text(text))
    }
    #expect(reader.number("-9223372036854.7758081") == nil)
    #expect(reader.number("-9223372036854775808.5") == nil)
  }

  @Test("An instant of before the first rule of its zone is exported by the pattern, in UTC")
  func meanTime() throws {
    let reader = try DateReader(
      formats: ["yyyy-MM-dd'T'HH:mm:ssXXX"],
      type: .timestamp,
      timeZone: "Europe/Berlin"
    )
    #expect(reader.write(canonical: "1890-01-01 00:00:00") == .text("1890-01-01T00:00:00Z"))
    #expect(reader.write(canonical: "2026-01-01 00:00:00") == .text("2026-01-01T01:00:00+01:00"))
    let local = try DateReader(
      formats: ["yyyy-MM-dd HH:mm"],
      type: .timestamp,
      timeZone: "Europe/Berlin"
    )
    #expect(local.write(canonical: "2026-01-01 00:00:01") == nil)
  }

  @Test(
    "A literal without a zone is refused where the feed's would be on another clock",
    arguments: ["default", "min", "max"]
  )
  func literals(key: String) throws {
    func fixture(_ text: String, _ zone: String) throws {
      _ = try ImportFixture(
        attributes: "at: { type: timestamp, \(key): '\(text)' }",
        defaults: zone.isEmpty ? "" : "timeZone: \(zone)"
      )
    }
    let error = #expect(throws: MapFaults.self) {
      try fixture("2026-07-01T00:00:00", "Europe/Berlin")
    }
    #expect(error?.faults.map(\.code) == [.literal])
    for (text, zone) in [
      ("2026-07-01T00:00:00Z", "Europe/Berlin"), ("2026-07-01T00:00:00+02:00", "Europe/Berlin"),
      ("2026-07-01T00:00:00", ""), ("2026-07-01T00:00:00", "UTC"),
      ("2026-07-01T00:00:00", "Etc/UTC"), ("2026-07-01T00:00:00", "Zulu"),
      ("2026-01-01T00:00:00", "Europe/Lisbon"),
    ] {
      try fixture(text, zone)
    }
  }

  // MARK: - Numbers

  @Test("Marks of direction beside signs are no part of numbers")
  func marks() throws {
    for (locale, text, value) in [
      ("he_IL", "\u{200E}-1", "-1"), ("ar_EG", "\u{61C}-\u{661}", "-1"),
      ("fa_IR", "\u{200E}\u{2212}\u{6F1}", "-1"), ("ar_SA", "\u{61C}-19", "-19"),
      ("he_IL", "-\u{200E}1", "-1"), ("he_IL", "12\u{200F}", "12"),
    ] {
      #expect(try NumberReader(format: NumberFormat(locale: locale)).text(text) == value, "\(text)")
    }
    let percent = try NumberReader(format: NumberFormat(locale: "ar_EG", style: .percent))
    #expect(percent.text("\u{661}\u{669}\u{66A}\u{61C}") == "19e-2")
    let german = try NumberReader(format: NumberFormat(decimal: ",", group: "."))
    #expect(german.text("\u{200E}") == nil && german.text("\u{200E}-") == nil)
  }

  // MARK: - Texts

  @Test("A backslash of Shift_JIS is one, in JSON, CSV and XML", arguments: ["Shift_JIS", "SJIS"])
  func shiftJIS(encoding: String) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: id, s: s } } }
      sources: { n: { format: ndjson, entity: P, encoding: \(encoding) } }
      """
    )
    try await fixture.run("{\"id\":\"1\",\"s\":\"a\\nb~ \\\"c\\\"\"}\n")
    #expect(try fixture.rows() == ["1|a\nb~ \"c\""])
  }

  @Test(
    "Rows that end in what CSV does not know are no header without records",
    arguments: ["\u{85}", "\u{2028}", "\u{2029}"]
  )
  func otherRows(end: String) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: id, s: s } } }
      sources: { c: { format: csv, entity: P } }
      """
    )
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(["id,s", "1,a", "2,b"].map { $0 + end }.joined())
    }
    #expect((failure?.cause as? ReadError)?.code == .csv)
    try await fixture.run("id,s\n1,a\(end)b\n")
    #expect(try fixture.rows() == ["1|a\(end)b"])
  }

  @Test(
    "Only what may go on is called cut off in a last line without its end",
    arguments: [
      (#"{"id":1,"s":"\ud800"}"#, false), ("{\"id\":1,\"s\":\"a\tb\"}", false),
      (#"{"id":1,}"#, false), (#"{"id":tru}"#, false), (#"{"id":1"#, true),
      (#"{"id":1,"s":"a"#, true),
      (#"{"id":1,"s":tr"#, true), (#"{"id":12."#, true), (#"{"id":1,"s":"\u12"#, true),
    ]
  )
  func cutOff(line: String, isCut: Bool) async throws {
    let fixture = try ImportFixture(attributes: "s: s")
    let text = "{\"id\":7}\n" + line
    guard isCut else {
      let report = try await fixture.run(text)
      #expect(report.summary == "read 2, inserted 1, rejected 1")
      return
    }
    let failure = await #expect(throws: ImportFailure.self) { try await fixture.run(text) }
    #expect((failure?.cause as? ReadError)?.code == .truncated)
  }

  @Test("A column called $key is a column")
  func keyColumn() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: id, s: { from: $key } } } }
      sources: { c: { format: csv, entity: P } }
      """
    )
    try await fixture.run("id,$key\n1,a\n")
    #expect(try fixture.rows() == ["1|a"])
  }
}
