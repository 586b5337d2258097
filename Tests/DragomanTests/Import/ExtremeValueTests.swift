import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// The ends of every type, in every spelling that a reader knows: stored, or refused by name.
@Suite("Extreme values") struct ExtremeValueTests {
  /// How a number comes into an import.
  enum Spelling: String, CaseIterable {
    case json, string, xml, csv, records
  }

  private static let ones = String(repeating: "1", count: 400)
  private static let nines = String(repeating: "9", count: 300)

  private func stored(_ type: String, _ text: String, _ spelling: Spelling) async throws -> String {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes:
            id: { type: int64, from: { json: id, xml: "@id", csv: id } }
            v: { type: \(type) }
      sources:
        json: { format: json, entity: P }
        xml: { format: xml, entity: P, records: /r/p }
        csv: { format: csv, entity: P }
      """
    )
    let report: ImportReport
    switch spelling {
    case .json: report = try await fixture.run(#"[{"id":1,"v":\#(text)}]"#)
    case .string: report = try await fixture.run(#"[{"id":1,"v":"\#(text)"}]"#)
    case .xml: report = try await fixture.run("<r><p id='1'><v>\(text)</v></p></r>")
    case .csv: report = try await fixture.run("id,v\n1,\(text)\n")
    case .records: return try await stored(.number(text), in: fixture)
    }
    return try outcome(report, fixture)
  }

  private func stored(_ value: ForeignValue, in fixture: ImportFixture) async throws -> String {
    let request = ImportRequest([.records([["id": 1, "v": value]], name: "records")])
    return try outcome(
      try await Importer(map: fixture.map, store: fixture.store).run(request),
      fixture
    )
  }

  private func outcome(_ report: ImportReport, _ fixture: ImportFixture) throws -> String {
    try report.issues.first?.code.rawValue ?? sql(fixture.store, "SELECT v FROM P")[0]
  }

  @Test(
    "A number at the end of its type is stored or refused, however it is spelled",
    arguments: [
      ("int64", "9223372036854775807", "9223372036854775807"),
      ("int64", "-9223372036854775808", "-9223372036854775808"),
      ("int64", "9223372036854775808", "value.range"),
      ("int64", "-9223372036854775809", "value.range"),
      ("int64", "18446744073709551615", "value.range"), ("int64", ones, "value.range"),
      ("int64", "1e18", "1000000000000000000"), ("int64", "1e19", "value.range"),
      ("int64", "1e999999999999", "value.range"), ("int64", "1e-999999999999", "value.number"),
      ("int64", "0e999999999999", "0"), ("int64", "-0", "0"),
      ("int64", "1e99999999999999999999999999", "value.range"),
      ("int32", "2147483647", "2147483647"), ("int32", "2147483648", "value.range"),
      ("int32", "-2147483648", "-2147483648"), ("int32", "-9223372036854775808", "value.range"),
      ("int16", "-32768", "-32768"), ("int16", "-32769", "value.range"),
      ("int16", "9223372036854775807", "value.range"),
      ("double", "1.7976931348623157e308", "1.7976931348623157e+308"),
      ("double", "1e309", "value.range"), ("double", ones, "value.range"),
      ("double", nines, "1e+300"), ("double", "5e-324", "5e-324"), ("double", "1e-400", "0.0"),
      ("double", "1e999999999999", "value.range"), ("double", "-1e-999999999999", "0.0"),
      ("float", "3.4028235e38", "3.4028234663852886e+38"), ("float", "3.5e38", "value.range"),
      ("float", "1e-999999999999", "0.0"), ("float", "-1e999999999999", "value.range"),
      ("decimal", ones, ones), ("decimal", "1e999999999999", "value.range"),
      ("decimal", "1e-999999999999", "value.range"), ("decimal", "0e999999999999", "0"),
      ("decimal", "-9223372036854775808", "-9223372036854775808"),
      ("decimal, scale: 1000", "1", "1." + String(repeating: "0", count: 1000)),
      ("bool", "9223372036854775808", "value.boolean"), ("bool", "-1", "value.boolean"),
    ]
  )
  func numbers(type: String, text: String, expected: String) async throws {
    for spelling in Spelling.allCases {
      var type = type
      if spelling == .string {
        guard type != "bool" else { continue }
        type += ", numbers: { decimal: \".\" }"
      }
      let found = try await stored(type, text, spelling)
      #expect(found == expected, "\(spelling)")
    }
  }

  @Test(
    "An epoch number at the end of its range is a date, or refused, however it is spelled",
    arguments: [
      ("unix", "-9223372036854.775808", "value.date"),
      ("unix", "9223372036854.775807", "value.date"),
      ("unix", "-9223372036854.775809", "value.date"),
      ("unix", "-62167219200", "0000-01-01 00:00:00"), ("unix", "-62167219201", "value.date"),
      ("unix", "-62167219200.000001", "value.date"),
      ("unix", "253402300799.999999", "9999-12-31 23:59:59.999999"),
      ("unix", "253402300800", "value.date"), ("unix", "-0.000001", "1969-12-31 23:59:59.999999"),
      ("unix", "9223372036854775807", "value.date"), ("unix", "-9223372036854775808", "value.date"),
      ("unix", "1e999999999999", "value.date"), ("unix", "1e-999999999999", "1970-01-01 00:00:00"),
      ("unix", "0e999999999999", "1970-01-01 00:00:00"), ("unix", ones, "value.date"),
      ("unix-ms", "-9223372036854775808", "value.date"),
      ("unix-ms", "-9223372036854775.808", "value.date"),
      ("unix-ms", "253402300799999.999", "9999-12-31 23:59:59.999999"),
      ("unix-us", "-9223372036854775808", "value.date"),
      ("unix-us", "9223372036854775807", "value.date"),
      ("unix-us", "-9223372036854775809", "value.date"),
      ("unix-us", "-62167219200000000", "0000-01-01 00:00:00"),
      ("unix-us", "-62167219200000001", "value.date"),
      ("unix-us", "-1", "1969-12-31 23:59:59.999999"),
    ]
  )
  func epochs(format: String, text: String, expected: String) async throws {
    for spelling in Spelling.allCases {
      let found = try await stored("timestamp, dates: [\(format)]", text, spelling)
      #expect(found == expected, "\(spelling)")
      // On a clock of its own the day or time is another one, but never a trap.
      for type in ["date", "time"] {
        let zoned = "\(type), dates: [\(format)], timeZone: Pacific/Kiritimati"
        let found = try await stored(zoned, text, spelling)
        if expected == "value.date" { #expect(found == expected, "\(type) \(spelling)") }
      }
    }
  }

  @Test(
    "A written date at the end of the years is stored or refused",
    arguments: [
      ("timestamp", "0000-01-01T00:00:00Z", "0000-01-01 00:00:00"),
      ("timestamp", "0000-01-01T00:00:00+00:01", "value.date"),
      ("timestamp", "0000-01-01T23:59:00+23:59", "0000-01-01 00:00:00"),
      ("timestamp", "9999-12-31T23:59:59.9999999Z", "9999-12-31 23:59:59.999999"),
      ("timestamp", "9999-12-31T23:59:59-00:01", "value.date"),
      ("timestamp", "9999-12-31T00:00:59-23:59", "9999-12-31 23:59:59"),
      ("timestamp", "2024-01-01T00:00:00+24:00", "value.date"),
      ("timestamp", "2024-01-01T00:00:00+23:60", "value.date"),
      ("timestamp", "10000-01-01T00:00:00Z", "value.date"),
      ("timestamp", "-001-01-01T00:00:00Z", "value.date"),
      ("timestamp, timeZone: Europe/Oslo", "0000-01-01T00:00:00", "value.date"),
      ("timestamp, timeZone: America/New_York", "9999-12-31T23:59:59", "value.date"),
      ("timestamp, dates: [rfc2822]", "31 Dec 9999 23:59:59 -0001", "value.date"),
      ("timestamp, dates: [rfc2822]", "1 Jan 0000 00:00 +2359", "value.date"),
      ("timestamp, dates: [\"yyyy-MM-dd HH:mm VV\"]", "0000-01-01 00:00 Asia/Tokyo", "value.date"),
      ("timestamp, dates: [\"yyyy-MM-dd HH:mm z\"]", "9999-12-31 23:59 GMT-23:59", "value.date"),
      ("date, dates: [\"YYYY-'W'ww-e\"]", "999999999999999999-W01-1", "value.date"),
      ("date", "0000-02-29", "0000-02-29"), ("date", "9999-12-31", "9999-12-31"),
      ("date", "9999-12-32", "value.date"), ("time", "23:59:59.\(nines)", "23:59:59.999999"),
      ("time", "24:00", "value.date"), ("time", "99:99", "value.date"),
    ]
  )
  func dates(type: String, text: String, expected: String) async throws {
    for spelling in [Spelling.string, .xml, .csv] {
      let found = try await stored(type, text, spelling)
      #expect(found == expected, "\(spelling)")
    }
  }

  @Test("A number of a program at the end of its type is stored or refused")
  func programs() async throws {
    let cases: [(String, Any, String)] = [
      ("int64", Int64.min as Any, "-9223372036854775808"), ("int64", UInt64.max, "value.range"),
      ("int64", NSNumber(value: UInt64.max), "value.range"),
      ("int64", NSNumber(value: Int64.min), "-9223372036854775808"),
      ("int64", Double(Int64.max), "value.range"), ("int64", -0.0, "0"),
      ("int64", Double.greatestFiniteMagnitude, "value.range"),
      ("int64", Double.infinity, "value.number"),
      ("int64", Float.greatestFiniteMagnitude, "value.range"),
      ("int64", Int128.min, "value.range"),
      ("int64", Decimal.greatestFiniteMagnitude, "value.range"),
      ("int16", NSNumber(value: Int64.max), "value.range"), ("int32", Int64.min, "value.range"),
      ("double", Double.greatestFiniteMagnitude, "1.7976931348623157e+308"),
      ("double", Double.nan, "value.number"), ("double", UInt64.max, "1.8446744073709552e+19"),
      ("float", Double.greatestFiniteMagnitude, "value.range"),
      ("float", Double.leastNonzeroMagnitude, "0.0"),
      ("decimal", UInt64.max, "18446744073709551615"),
      ("decimal", Int64.min, "-9223372036854775808"),
      ("decimal", -0.0, "0"), ("decimal", Double.infinity, "value.number"),
      ("timestamp, dates: [unix-us]", Int64.min, "value.date"),
      ("timestamp, dates: [unix-us]", UInt64.max, "value.date"),
      ("timestamp, dates: [unix]", -9223372036854.775, "value.date"),
      ("timestamp, dates: [unix]", Double.greatestFiniteMagnitude, "value.date"),
      ("timestamp, dates: [unix]", Double.leastNonzeroMagnitude, "1970-01-01 00:00:00"),
      ("timestamp, dates: [unix]", Double.nan, "value.number"),
      ("timestamp", Date.distantPast, "0000-12-30 00:00:00"),
      ("timestamp", Date.distantFuture, "4001-01-01 00:00:00"),
      ("timestamp", Date(timeIntervalSince1970: .infinity), "value.date"),
      ("timestamp", Date(timeIntervalSince1970: -.infinity), "value.date"),
      ("timestamp", Date(timeIntervalSince1970: .nan), "value.date"),
      ("timestamp", Date(timeIntervalSince1970: 9.223372036854775e18), "value.date"),
      ("timestamp", Date(timeIntervalSince1970: -1e300), "value.date"),
      (
        "timestamp", ForeignValue.instant(ForeignInstant(seconds: .min, microsecond: .min)),
        "value.date"
      ),
      (
        "timestamp", ForeignValue.instant(ForeignInstant(seconds: .max, microsecond: .max)),
        "value.date"
      ),
      (
        "date, timeZone: Pacific/Kiritimati",
        ForeignValue.instant(ForeignInstant(seconds: 253_402_300_799)), "value.date"
      ),
      (
        "date, timeZone: America/New_York",
        ForeignValue.instant(ForeignInstant(seconds: -62_167_219_200)), "value.date"
      ),
      ("json", Double.infinity, "value.number"), ("json", UInt64.max, "18446744073709551615"),
      ("json", Date(timeIntervalSince1970: .nan), "value.date"),
      ("json", ["at": [Date(timeIntervalSince1970: 1e300)]] as [String: Any], "value.date"),
      ("json", Date(timeIntervalSince1970: 0), "\"1970-01-01T00:00:00Z\""),
    ]
    for (type, value, expected) in cases {
      let fixture = try ImportFixture(attributes: "v: { type: \(type) }")
      let found = try await stored(try ForeignValue(any: value), in: fixture)
      #expect(found == expected, "\(type) \(value)")
    }
  }

  @Test("The scale of a map made in code is checked before it is used")
  func scales() {
    for scale in [Int.min, -1, 1001, .max] {
      var attribute = AttributeMap(name: "v", type: .decimal, rules: AttributeRules(scale: scale))
      attribute.defaultValue = "1"
      let map = ImportMap(entities: [EntityMap(name: "P", attributes: [attribute])])
      let faults = map.validate()
      #expect(faults.contains { $0.message == "\"\(scale)\" is no whole number from 0 to 1000." })
    }
  }

  @Test("A length that admits nothing refuses every text")
  func lengths() throws {
    let rules = try ValueRules(
      Attribute(name: "v", rules: AttributeRules(minimumLength: 5, maximumLength: 2))
    )
    let batch = RecordBatch()
    let (start, length) = batch.appendText("abc")
    #expect(rules?.check(.text(at: start, length: length), in: batch) == .length)
  }
}
