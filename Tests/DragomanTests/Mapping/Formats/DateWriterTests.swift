import DragomanGraph
import TestSupport
import Testing

@testable import Dragoman

@Suite("Dates written back")
struct DateWriterTests {
  @Test(
    "A stored value is spelled by the first format that holds it",
    arguments: [
      ([], .timestamp, nil, "2024-01-02 03:04:05.25", .text("2024-01-02T03:04:05.25Z")),
      ([], .timestamp, "Europe/Oslo", "2024-07-01 10:00:00", .text("2024-07-01T12:00:00+02:00")),
      // Local mean time with odd seconds: written in UTC.
      ([], .timestamp, "Asia/Kathmandu", "1900-01-01 00:00:00", .text("1900-01-01T00:00:00Z")),
      ([], .date, nil, "2024-01-02", .text("2024-01-02")),
      ([], .time, nil, "03:04:05", .text("03:04:05")),
      (["iso8601"], .date, nil, "2024-01-02", .text("2024-01-02")),
      (
        ["dd.MM.yyyy HH:mm"], .timestamp, "Europe/Oslo", "2024-07-01 10:00:00",
        .text("01.07.2024 12:00")
      ),
      (["dd.MM.yyyy HH:mm"], .timestamp, "Europe/Oslo", "2024-07-01 10:00:01", nil),
      // The second 02:30 of the night needs a format with a zone.
      (["dd.MM.yyyy HH:mm"], .timestamp, "Europe/Oslo", "2024-10-27 01:30:00", nil),
      (
        ["dd.MM.yyyy HH:mm", "iso8601"], .timestamp, "Europe/Oslo", "2024-10-27 01:30:00",
        .text("2024-10-27T02:30:00+01:00")
      ),
      (["dd.MM.yyyy", "unix"], .timestamp, nil, "1970-01-01 00:00:01.5", .number("1.5")),
      (["unix"], .timestamp, nil, "1969-12-31 23:59:58.5", .number("-1.5")),
      (["unix-ms"], .timestamp, nil, "1970-01-01 00:00:00.000001", .number("0.001")),
      (["unix-us"], .timestamp, nil, "2255-06-05 23:47:34.740993", .number("9007199254740993")),
      (["unix"], .date, "Europe/Oslo", "1970-01-02", .number("82800")),
      (["unix"], .time, nil, "00:00:01", nil),
      (
        ["rfc2822"], .timestamp, nil, "1998-01-05 15:59:20",
        .text("Mon, 05 Jan 1998 15:59:20 +0000")
      ),
      (
        ["rfc2822"], .timestamp, "America/New_York", "1998-01-05 15:59:20",
        .text("Mon, 05 Jan 1998 10:59:20 -0500")
      ),
      (["rfc2822"], .timestamp, nil, "1998-01-05 15:59:20.1", nil),
      (
        ["EEEE d MMMM yyyy h:mm a"], .timestamp, nil, "2024-01-05 12:00:00",
        .text("Friday 5 January 2024 12:00 PM")
      ),
      (["d MMM yy"], .date, nil, "1969-01-05", .text("5 Jan 69")),
      (["d MMM yy"], .date, nil, "1968-01-05", nil),
      (["HH:mm:ss.SSS"], .time, nil, "01:02:03.004", .text("01:02:03.004")),
      (["HH:mm:ss.SSS"], .time, nil, "01:02:03.0045", nil),
      (["HH:mm:ss.SSSSSSSS"], .time, nil, "01:02:03.004", .text("01:02:03.00400000")),
      (
        ["yyyy-MM-dd HH:mm Z"], .timestamp, nil, "2024-01-05 12:00:00",
        .text("2024-01-05 12:00 +0000")
      ),
      (
        ["yyyy-MM-dd HH:mm X"], .timestamp, "Asia/Kathmandu", "2024-01-05 12:00:00",
        .text("2024-01-05 17:45 +0545")
      ),
      (
        ["yyyy-MM-dd HH:mm X"], .timestamp, "Europe/Oslo", "2024-01-05 12:00:00",
        .text("2024-01-05 13:00 +01")
      ),
      (
        ["yyyy-MM-dd HH:mm XXX"], .timestamp, nil, "2024-01-05 12:00:00",
        .text("2024-01-05 12:00 Z")
      ),
      (
        ["yyyy-MM-dd HH:mm xxx"], .timestamp, nil, "2024-01-05 12:00:00",
        .text("2024-01-05 12:00 +00:00")
      ),
      (
        ["yyyy-MM-dd HH:mm z"], .timestamp, "Europe/Oslo", "2024-01-05 12:00:00",
        .text("2024-01-05 13:00 GMT+01:00")
      ),
      (
        ["yyyy-MM-dd HH:mm VV"], .timestamp, "Europe/Oslo", "2024-01-05 12:00:00",
        .text("2024-01-05 13:00 Europe/Oslo")
      ),
      (
        ["yyyy-MM-dd HH:mm VV"], .timestamp, nil, "2024-01-05 12:00:00",
        .text("2024-01-05 12:00 UTC")
      ),
      (["yyyy-DDD"], .date, nil, "2024-02-29", .text("2024-060")),
      (["yyyy-DDD"], .date, nil, "1500-02-28", nil),
      ([], .timestamp, nil, "2024-01-02", nil), ([], .date, nil, "", nil),
      ([], .date, nil, "2023-02-29", nil),
      // Where the clock of the zone is beyond the years that are written, UTC is not.
      (
        [], .timestamp, "America/New_York", "0000-01-01 00:00:00",
        .text("0000-01-01T00:00:00Z")
      ),
      (
        [], .timestamp, "Europe/Zurich", "9999-12-31 23:59:59", .text("9999-12-31T23:59:59Z")
      ),
      (["unix"], .timestamp, "Europe/Zurich", "9999-12-31 23:59:59", .number("253402300799")),
      (
        ["rfc2822"], .timestamp, "Europe/Zurich", "9999-12-31 23:59:59",
        .text("Fri, 31 Dec 9999 23:59:59 +0000")
      ),
      (
        ["yyyy-MM-dd HH:mm:ssXXX"], .timestamp, "Europe/Zurich", "9999-12-31 23:59:59",
        .text("9999-12-31 23:59:59Z")
      ),
    ] as [([String], AttributeType, String?, String, ForeignDate?)]
  )
  func spelling(
    formats: [String],
    type: AttributeType,
    zone: String?,
    stored: String,
    expected: ForeignDate?
  ) throws {
    let reader = try DateReader(formats: formats, type: type, timeZone: zone)
    #expect(reader.write(canonical: stored) == expected)
  }

  @Test(
    "Random instants come back from every format that holds microseconds",
    arguments: [
      "iso8601", "unix", "unix-ms", "unix-us", "yyyyMMddHHmmssSSSSSSXXX",
      "EEE, d MMM y K:mm:ss.SSSSSS a Z",
      "yyyy-MM-dd kk:mm:ss.SSSSSS VV", "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX'['VV']'",
    ],
    [nil, "Europe/Oslo", "America/New_York", "Australia/Lord_Howe"] as [String?]
  )
  func roundTrip(format: String, zone: String?) throws {
    let seed = Seeds.seed()
    var generator = SplitMix(state: seed)
    let reader = try DateReader(formats: [format], type: .timestamp, timeZone: zone)
    for _ in 0..<300 {
      // From 1920 on: offsets of whole minutes, which patterns can write.
      let seconds = Int.random(in: -1_577_836_800...250_000_000_000, using: &generator)
      let microsecond = Int.random(in: 0..<1_000_000, using: &generator)
      let civil = try #require(CivilTime(seconds: seconds, microsecond: microsecond))
      let stored = try #require(
        converted("", capacity: DateReader.capacity) { civil.writeTimestamp(into: $1) }
      )
      guard let written = reader.write(canonical: stored) else {
        // `VV` says the zone, not which of two equal readings is meant.
        #expect(format.hasSuffix("VV"), "seed \(seed), stored \(stored)")
        continue
      }
      switch written {
      case .text(let text): #expect(reader.text(text) == stored, "seed \(seed)")
      case .number(let text): #expect(reader.number(text) == stored, "seed \(seed)")
      }
    }
  }

  @Test("Every day of ten thousand years has its number, and the number its day")
  func everyDay() throws {
    var civil = CivilTime(year: 0, month: 1, day: 1)
    var days = CivilTime.secondsRange.lowerBound / 86_400
    while civil.year <= 9999 {
      guard civil.daysSinceEpoch == days, CivilTime(seconds: days * 86_400, microsecond: 0) == civil
      else {
        Issue.record("\(civil) is not day \(days)")
        return
      }
      days += 1
      civil.day += 1
      if civil.day > CivilDay.count(ofMonth: civil.month, in: civil.year) {
        civil.day = 1
        civil.month += 1
      }
      if civil.month > 12 {
        civil.month = 1
        civil.year += 1
      }
    }
    #expect(days == 2_932_897)
  }
}
