import DragomanGraph
import Testing

@testable import Dragoman

@Suite("Dates by declared formats")
struct DateReaderTests {
  private static let hostile = [
    "2024-02-29", "2023-02-29", "2024-02-30", "0000-00-00", "1873-00-00", "0001-01-01",
    "-0044-03-15", "9999-12-31", "10000-01-01", "1582-10-10", "2024-02-29T23:59:60Z",
    "2024-03-31T02:30:00", "2024-10-27T02:30:00", "2024-01-01T00:00:00Z",
    "2024-01-01T00:00:00+14:00", "2024-01-01T00:00:00-00:00", "2024-01-01T00:00:00+0530",
    "2024-01-01T24:00:00Z", "2024-01-01T00:00:00.123456789Z", "2024-W01-1", "2024-060", "20240101",
    "20240101T000000Z", "01/02/2024", "31/12/2024", "12/31/24", "Jan 5, 2024", "5. Januar 2024",
    "5 janv. 2024", "2024年1月5日", "Sun Aug 31 00:29:15 +0000 2014",
    "Mon, 05 Jan 1998 15:59:20 GMT", "/Date(1330848000000+0100)/", "1330848000", "now", "",
    " 2024-01-01 ", "2024-01-01\n",
  ]

  /// What iso8601 makes of the hostile strings where no local time is involved.
  private static let zoned = [
    "2024-01-01T00:00:00Z": "2024-01-01 00:00:00",
    "2024-01-01T00:00:00+14:00": "2023-12-31 10:00:00",
    "2024-01-01T00:00:00-00:00": "2024-01-01 00:00:00",
    "2024-01-01T00:00:00+0530": "2023-12-31 18:30:00",
    "2024-01-01T00:00:00.123456789Z": "2024-01-01 00:00:00.123456",
  ]
  private static let bareDates = [
    "2024-02-29": "2024-02-29", "0001-01-01": "0001-01-01", "9999-12-31": "9999-12-31",
    "1582-10-10": "1582-10-10",
  ]

  @Test(
    "Each of the hostile strings is what the formats say, or nothing",
    arguments: [
      (
        [], .timestamp, nil,
        zoned.merging(
          [
            "2024-03-31T02:30:00": "2024-03-31 02:30:00",
            "2024-10-27T02:30:00": "2024-10-27 02:30:00",
          ]
        ) { $1 }
      ),
      // The first is in the gap of spring, the second is read as summer time.
      (
        ["iso8601"], .timestamp, "Europe/Oslo",
        zoned.merging(["2024-10-27T02:30:00": "2024-10-27 00:30:00"]) { $1 }
      ),
      ([], .date, nil, bareDates),
      (["iso8601-date"], .timestamp, nil, bareDates.mapValues { "\($0) 00:00:00" }),
      (
        ["iso8601"], .date, nil,
        bareDates.merging(
          [
            "2024-01-01T00:00:00Z": "2024-01-01", "2024-01-01T00:00:00+14:00": "2024-01-01",
            "2024-01-01T00:00:00-00:00": "2024-01-01", "2024-01-01T00:00:00+0530": "2024-01-01",
          ]
        ) { $1 }
      ),
      (["dd/MM/yyyy"], .date, nil, ["01/02/2024": "2024-02-01", "31/12/2024": "2024-12-31"]),
      (["MM/dd/yyyy"], .date, nil, ["01/02/2024": "2024-01-02"]),
      (["MM/dd/yy"], .date, nil, ["12/31/24": "2024-12-31"]),
      (["MMM d, yyyy"], .date, nil, ["Jan 5, 2024": "2024-01-05"]),
      (["yyyy年M月d日"], .date, nil, ["2024年1月5日": "2024-01-05"]),
      (["yyyyMMdd"], .date, nil, ["20240101": "2024-01-01"]),
      (["yyyy-DDD"], .date, nil, ["2024-060": "2024-02-29"]),
      (["YYYY-'W'ww-e"], .date, nil, ["2024-W01-1": "2024-01-01"]),
      (["yyyyMMdd'T'HHmmssX"], .timestamp, nil, ["20240101T000000Z": "2024-01-01 00:00:00"]),
      (
        ["EEE MMM dd HH:mm:ss Z yyyy"], .timestamp, nil,
        ["Sun Aug 31 00:29:15 +0000 2014": "2014-08-31 00:29:15"]
      ),
      (
        ["rfc2822"], .timestamp, nil,
        ["Mon, 05 Jan 1998 15:59:20 GMT": "1998-01-05 15:59:20"]
      ),
      (
        ["unix"], .timestamp, nil,
        ["1330848000": "2012-03-04 08:00:00", "20240101": "1970-08-23 06:15:01"]
      ),
      (
        ["unix-ms"], .timestamp, nil,
        ["1330848000": "1970-01-16 09:40:48", "20240101": "1970-01-01 05:37:20.101"]
      ),
    ] as [([String], AttributeType, String?, [String: String])]
  )
  func hostileStrings(
    formats: [String],
    type: AttributeType,
    zone: String?,
    expected: [String: String]
  ) throws {
    let reader = try DateReader(formats: formats, type: type, timeZone: zone)
    var actual: [String: String] = [:]
    for text in Self.hostile { actual[text] = reader.text(text) }
    #expect(actual == expected)
  }

  @Test(
    "Weeks are those of ISO 8601, and an offset may not contradict a zone",
    arguments: [
      ("YYYY-'W'ww-e", "2024-W01-7", "2024-01-07"), ("YYYY-'W'ww-e", "2026-W01-1", "2025-12-29"),
      ("YYYY-'W'ww-e", "2020-W53-5", "2021-01-01"), ("YYYY-'W'ww-e", "2026-W53-7", "2027-01-03"),
      ("YYYY-'W'ww-e", "2024-W53-1", nil), ("YYYY'W'wwc", "2024W091", "2024-02-26"),
      ("YYYY-'W'ww", "2026-W53", "2026-12-28"), ("yyyy QQQ", "2024 Q2", "2024-04-01"),
      // RFC 9557: the offset says which of two equal readings is meant.
      ("yyyy-MM-dd HH:mmXXX'['VV']'", "2024-10-27 02:30+02:00[Europe/Oslo]", "2024-10-27 00:30:00"),
      ("yyyy-MM-dd HH:mmXXX'['VV']'", "2024-10-27 02:30+01:00[Europe/Oslo]", "2024-10-27 01:30:00"),
      ("yyyy-MM-dd HH:mmXXX'['VV']'", "2024-06-01 12:00-08:00[Europe/Oslo]", nil),
      ("yyyy-MM-dd HH:mm VV", "2024-10-27 02:30 Europe/Oslo", "2024-10-27 00:30:00"),
      ("yyyy-MM-dd HH:mm VV", "2024-03-31 02:30 Europe/Oslo", nil),
      ("yyyy-MM-dd HH:mm Z '('z')'", "2024-06-01 12:00 -0500 (EST)", "2024-06-01 17:00:00"),
      ("yyyy-MM-dd HH:mm Z '('z')'", "2024-06-01 12:00 -0400 (EST)", nil),
      // XML Schema has zones behind dates, which say nothing of the day.
      ("iso8601-date", "2026-01-01Z", "2026-01-01"),
      ("iso8601-date", "2026-01-01+01:00", "2026-01-01"),
      ("iso8601", "2026-01-01-05:00", "2026-01-01"),
      ("iso8601-date", "2026-01-01+14:01", nil), ("iso8601-date", "2026-01-01Zx", nil),
      ("iso8601-date", "2026-01-01-05", nil), ("iso8601-date", "2024-01-01-0930", nil),
      ("iso8601", "2024-01-15-20", nil),
      ("yyyy-MM-dd HH:mmXXX'['VV']'", "2022-07-08 00:14Z[Europe/Paris]", "2022-07-08 00:14:00"),
    ] as [(String, String, String?)]
  )
  func weeksAndZones(format: String, text: String, expected: String?) throws {
    let type = format.contains("HH") ? AttributeType.timestamp : .date
    let reader = try DateReader(formats: [format], type: type, timeZone: nil)
    #expect(reader.text(text) == expected)
  }

  @Test(
    "A time may have a zone behind its seconds, and is what is written",
    arguments: [
      ("", "09:05:00Z", "09:05:00"), ("", "09:05:00.5-03:30", "09:05:00.5"),
      ("", "09:05", "09:05:00"),
      ("", "08:00-12:00", nil), ("", "10:00-22:00", nil), ("", "08:00-1730", nil),
      ("", "09:05:00+14:01", nil),
      ("HH:mmXXX'['VV']'", "14:00+02:00[Europe/Paris]", "14:00:00"),
    ] as [(String, String, String?)]
  )
  func times(format: String, text: String, expected: String?) throws {
    let formats = format.isEmpty ? [] : [format]
    let reader = try DateReader(formats: formats, type: .time, timeZone: nil)
    #expect(reader.text(text) == expected)
  }

  @Test(
    "Numbers are read by a declared epoch, or a pattern of digits, exactly",
    arguments: [
      (["unix"], "1330848000", "2012-03-04 08:00:00"),
      (["unix"], "1330848000.5", "2012-03-04 08:00:00.5"),
      (["unix"], "-1.5", "1969-12-31 23:59:58.5"),
      (["unix"], "0.000001", "1970-01-01 00:00:00.000001"),
      (["unix"], "1330848000.123456789", "2012-03-04 08:00:00.123456"),
      (["unix"], "1.330848e9", "2012-03-04 08:00:00"), (["unix"], "-0", "1970-01-01 00:00:00"),
      (["unix"], "1330848000000", nil), (["unix"], "1e400", nil), (["unix"], "1e18", nil),
      (["unix"], "253402300799.999999", "9999-12-31 23:59:59.999999"),
      (["unix"], "253402300800", nil),
      (["unix"], "-62167219200", "0000-01-01 00:00:00"), (["unix"], "-62167219200.000001", nil),
      (["unix-ms"], "1330848000000", "2012-03-04 08:00:00"),
      (["unix-ms"], "-1", "1969-12-31 23:59:59.999"),
      (["unix-us"], "1330848000000001", "2012-03-04 08:00:00.000001"),
      (["unix-us"], "9007199254740993", "2255-06-05 23:47:34.740993"),
      (["unix", "unix-ms"], "1330848000000", "2012-03-04 08:00:00"),
      ([], "1330848000", nil), (["iso8601", "yyyyMMdd"], "20240101", "2024-01-01 00:00:00"),
      (["iso8601", "unix"], "0", "1970-01-01 00:00:00"),
    ] as [([String], String, String?)]
  )
  func numbers(formats: [String], number: String, expected: String?) throws {
    let reader = try DateReader(formats: formats, type: .timestamp, timeZone: nil)
    #expect(reader.number(number) == expected)
  }

  @Test(
    "iso8601 takes the usual spellings of an instant",
    arguments: [
      ("2024-01-02T03:04:05Z", "2024-01-02 03:04:05"),
      ("2024-01-02 03:04:05", "2024-01-02 03:04:05"),
      ("2024-01-02T03:04", "2024-01-02 03:04:00"), ("2024-01-02T03:04Z", "2024-01-02 03:04:00"),
      ("2024-01-02T03:04:05.5Z", "2024-01-02 03:04:05.5"),
      ("2024-01-02T03:04:05,250Z", "2024-01-02 03:04:05.25"),
      ("2024-01-02T03:04:05.000000Z", "2024-01-02 03:04:05"),
      ("2024-01-02T03:04:05.0000009Z", "2024-01-02 03:04:05"),
      ("2024-01-02T03:04:05.9999999Z", "2024-01-02 03:04:05.999999"),
      ("2024-01-02T03:04:05+01", "2024-01-02 02:04:05"),
      ("2024-01-02T03:04:05-01:30", "2024-01-02 04:34:05"),
      ("2024-12-31T23:30:00-01:00", "2025-01-01 00:30:00"),
      ("2024-03-01T00:30:00+01:00", "2024-02-29 23:30:00"),
      ("0000-01-01T00:00:00Z", "0000-01-01 00:00:00"), ("0000-02-29T12:00Z", "0000-02-29 12:00:00"),
      ("9999-12-31T23:59:59.999999Z", "9999-12-31 23:59:59.999999"),
      ("1900-02-28T00:00Z", "1900-02-28 00:00:00"), ("2000-02-29T00:00Z", "2000-02-29 00:00:00"),
    ]
  )
  func iso8601(text: String, expected: String) throws {
    #expect(try DateReader(formats: [], type: .timestamp, timeZone: nil).text(text) == expected)
  }

  @Test(
    "iso8601 takes nothing else",
    arguments: [
      "2024-01-02", "2024-01-02T", "2024-01-02T03", "2024-01-02T03:4", "2024-01-02T03:04:",
      "2024-01-02T03:04:05.",
      "2024-01-02T03:04:05.Z", "2024-01-02T03:04:05 Z", "2024-01-02T03:04:05z",
      "2024-01-02t03:04:05Z",
      "2024-01-02T03:04:05Z ", "2024-01-02T03:04:05ZZ", "2024-01-02T03:04:05+",
      "2024-01-02T03:04:05+1",
      "2024-01-02T03:04:05+24:00", "2024-01-02T03:04:05+01:60", "2024-01-02T03:04:05+01:0",
      "2024-01-02T03:04:05+010", "2024-01-02T03:60:05Z", "2024-01-02T03:04:60Z",
      "2024-01-02T24:00:00Z",
      "2024-13-01T00:00Z", "2024-00-01T00:00Z", "2024-01-00T00:00Z", "2024-01-32T00:00Z",
      "2024-04-31T00:00Z", "1900-02-29T00:00Z", "2100-02-29T00:00Z", "24-01-02T03:04Z",
      "02024-01-02T03:04Z",
      "2024-1-2T03:04Z", "20240102T030405Z", "2024-01-02T03:04:05\u{0}", "２０２４-01-02T03:04Z",
      "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "03:04:05",
    ]
  )
  func notISO8601(text: String) throws {
    #expect(try DateReader(formats: [], type: .timestamp, timeZone: nil).text(text) == nil)
  }

  @Test(
    "Times of day are clock readings",
    arguments: [
      ([], "23:59", "23:59:00"), ([], "23:59:58.120", "23:59:58.12"), ([], "00:00:00", "00:00:00"),
      ([], "24:00", nil), ([], "7:30", nil), ([], "12:60", nil), ([], "12:30Z", nil),
      ([], "2024-01-01T12:30", nil),
      (["iso8601"], "12:30", "12:30:00"), (["iso8601"], "2024-01-01T12:30:00+05:00", "12:30:00"),
      (["h:mm a"], "7:30 PM", "19:30:00"), (["h:mm a"], "12:00 am", "00:00:00"),
      (["h:mm a"], "12:00 pm", "12:00:00"),
      (["h:mm a"], "13:00 pm", nil), (["h:mm a"], "0:30 am", nil), (["hh:mm"], "12:30", "00:30:00"),
      (["H:mm"], "7:05", "07:05:00"), (["H:mm"], "07:05", "07:05:00"),
      (["HHmmss"], "070509", "07:05:09"),
      (["k:mm"], "24:30", "00:30:00"), (["k:mm"], "0:30", nil), (["K:mm a"], "0:30 PM", "12:30:00"),
      (["HH:mm a"], "15:00 PM", "15:00:00"), (["HH:mm a"], "03:00 PM", nil),
      (["HH:mm:ss.SSS"], "01:02:03.004", "01:02:03.004"), (["HH:mm:ss.SSS"], "01:02:03.04", nil),
      (["HH:mm:ss.SSSSSSSSS"], "01:02:03.000004999", "01:02:03.000004"),
      (["unix"], "3661", "01:01:01"),
    ] as [([String], String, String?)]
  )
  func times(formats: [String], text: String, expected: String?) throws {
    #expect(try DateReader(formats: formats, type: .time, timeZone: nil).text(text) == expected)
  }

  @Test(
    "rfc2822 takes mail's date-times, with the weekday that belongs to them",
    arguments: [
      ("Mon, 05 Jan 1998 15:59:20 +0100", "1998-01-05 14:59:20"),
      ("5 Jan 1998 15:59 EST", "1998-01-05 20:59:00"),
      ("05 JAN 98 15:59:20 gmt", "1998-01-05 15:59:20"),
      ("05 Jan 49 00:00 UT", "2049-01-05 00:00:00"),
      ("Mon, 05 Jan 1998 15:59:20 -0000", "1998-01-05 15:59:20"),
      ("Mon, 05 Jan 1998 15:59:20 Z", "1998-01-05 15:59:20"),
      ("Mon, 05 Jan 1998 15:59:20 +0100 (CET)", "1998-01-05 14:59:20"),
      ("Mon, 05 Jan 1998 15:59:20 +0100 (CET", nil),
      ("Mon, 05 Jan 1998 15:59:20 +0100 (a (b))", nil),
      ("Mon, 05 Jan 1998 15:59:20 +0100 () x", nil),
      ("Tue, 05 Jan 1998 15:59:20 GMT", nil), ("Mon, 05 Jan 1998 15:59:20", nil),
      ("Mon 05 Jan 1998 15:59:20 GMT", nil),
      ("Mon, 05 Jan 1998 15:59:20 CET", nil), ("Mon, 05 Jan 1998  15:59:20 GMT", nil),
      ("Mon, 05 Jan 98765 15:59:20 GMT", nil), ("Mon, 05 January 1998 15:59:20 GMT", nil),
      ("Mon, 32 Jan 1998 15:59:20 GMT", nil), ("Mon, 05 Jan 1998 15:59:20 GMT ", nil),
      ("Mon,", nil), ("M", nil),
    ] as [(String, String?)]
  )
  func rfc2822(text: String, expected: String?) throws {
    let reader = try DateReader(formats: ["rfc2822"], type: .timestamp, timeZone: "Europe/Oslo")
    #expect(reader.text(text) == expected)
  }

  @Test(
    "Patterns take what they show and nothing else",
    arguments: [
      ("dd.MM.yyyy", "05.01.2024", "2024-01-05"), ("dd.MM.yyyy", "5.1.2024", nil),
      ("dd.MM.yyyy", "05.01.24", nil),
      ("d.M.yyyy", "5.1.2024", "2024-01-05"), ("d.M.yyyy", "05.01.2024", "2024-01-05"),
      ("d.M.y", "5.1.987", "0987-01-05"),
      ("dd LLL yy", "14 Jul 98", "1998-07-14"), ("dd LLL yy", "14 jul 68", "2068-07-14"),
      ("dd LLL yy", "14 Jul 69", "1969-07-14"), ("dd LLL yy", "14 July 98", nil),
      ("d MMMM yyyy", "5 September 2024", "2024-09-05"), ("d MMMM yyyy", "5 Sep 2024", nil),
      ("d MMMM yyyy", "5 Mai 2024", nil),
      ("EEEE, d. MMM yyyy", "Friday, 5. Jan 2024", "2024-01-05"),
      ("EEEE, d. MMM yyyy", "Monday, 5. Jan 2024", nil),
      ("E d.M.yyyy", "fri 5.1.2024", "2024-01-05"),
      ("yyyy-MM-dd", "2023-02-29", nil), ("yyyy-MM-dd", "2024-02-29 ", nil),
      ("yyyy-MM-dd", "", nil),
      ("yyyy", "2024", "2024-01-01"), ("MM/yyyy", "02/2024", "2024-02-01"),
      ("'day' d.M.yyyy", "day 5.1.2024", "2024-01-05"),
      ("d 'o''clock' M ''yyyy", "5 o'clock 1 '2024", "2024-01-05"),
      ("dMMMyyyy", "5Jan2024", "2024-01-05"),
      ("yyMMdd", "240105", "2024-01-05"), ("yyyy/M/d", "2024/1/5x", nil),
      ("QQQ yyyy-MM-dd", "Q1 2024-01-05", "2024-01-05"),
      ("QQQ yyyy-MM-dd", "Q2 2024-01-05", nil), ("yyyy-DDD", "2023-366", nil),
      ("yyyy-DDD", " 2024-060", nil),
      ("yyyy-DDD", "1500-060", nil),
      // Foundation ends the process where it stops within a character.
      ("yyyy-DDD", "2024\u{301}-060", nil), ("yyyy-DDD", "2024-060\u{301}", nil),
      ("yEDd", "2\u{485}\u{FFFD}-C024-02-21", nil), ("yEDd", "2\u{1F600}", nil),
      ("yEDd", "2\r\n", nil), ("yyyy-DDD", "2024\u{200D}-060", nil),
    ] as [(String, String, String?)]
  )
  func patterns(pattern: String, text: String, expected: String?) throws {
    #expect(try DateReader(formats: [pattern], type: .date, timeZone: nil).text(text) == expected)
  }

  @Test(
    "Patterns with a zone give the instant",
    arguments: [
      ("yyyy-MM-dd HH:mm:ss Z", "2024-07-01 12:00:00 +0200", "2024-07-01 10:00:00"),
      ("yyyy-MM-dd HH:mm:ssXXX", "2024-07-01 12:00:00+05:45", "2024-07-01 06:15:00"),
      ("yyyy-MM-dd HH:mm:ssZZZZZ", "2024-07-01 12:00:00Z", "2024-07-01 12:00:00"),
      ("yyyy-MM-dd HH:mm:ssx", "2024-07-01 12:00:00-03", "2024-07-01 15:00:00"),
      ("yyyy-MM-dd HH:mm:ssx", "2024-07-01 12:00:00Z", nil),
      ("yyyy-MM-dd HH:mm z", "2024-07-01 12:00 PDT", "2024-07-01 19:00:00"),
      ("yyyy-MM-dd HH:mm z", "2024-07-01 12:00 GMT+5:45", "2024-07-01 06:15:00"),
      ("yyyy-MM-dd HH:mm z", "2024-07-01 12:00 CEST", nil),
      ("yyyy-MM-dd HH:mm VV", "2024-07-01 12:00 Europe/Oslo", "2024-07-01 10:00:00"),
      ("yyyy-MM-dd HH:mm VV", "2024-03-31 02:30 Europe/Oslo", nil),
      ("yyyy-MM-dd HH:mm VV", "2024-07-01 12:00 Europe/Atlantis", nil),
      ("yyyy-MM-dd HH:mm VV", "2024-07-01 12:00 ../../etc/passwd", nil),
      ("dd.MM.yyyy HH:mm", "01.07.2024 12:00", "2024-07-01 06:15:00"),
      ("dd.MM.yyyy", "01.07.2024", "2024-06-30 18:15:00"),
    ] as [(String, String, String?)]
  )
  func zonePatterns(pattern: String, text: String, expected: String?) throws {
    let reader = try DateReader(formats: [pattern], type: .timestamp, timeZone: "Asia/Kathmandu")
    #expect(reader.text(text) == expected)
  }

  @Test("The first format that takes the text wins; formats of other types are passed over")
  func order() throws {
    let reader = try DateReader(
      formats: ["HH:mm", "dd.MM.yyyy", "MM.dd.yyyy", "unix"],
      type: .date,
      timeZone: nil
    )
    #expect(
      ["05.01.2024", "01.31.2024", "86400", "12:30"].map(reader.text)
        == ["2024-01-05", "2024-01-31", "1970-01-02", nil]
    )
  }

  @Test(
    "Formats that cannot work are faults when they are compiled",
    arguments: [
      (["iso-8601"], .date, nil, "Did you mean \"iso8601\"?"),
      (["unixms"], .date, nil, "Did you mean \"unix-ms\"?"),
      (["RFC822"], .date, nil, "Did you mean \"rfc2822\"?"),
      (
        ["epoch-ms"], .date, nil,
        "No format has this name (there are iso8601, iso8601-date, rfc2822, unix, unix-ms, unix-us), and as a pattern: \"p\" at "
          + "character 2 of the date pattern \"epoch-ms\" is no field that can be read; literal letters stand in single "
          + "quotes."
      ),
      (
        ["yyyyMMddTHHmm"], .timestamp, nil,
        "\"T\" at character 9 of the date pattern \"yyyyMMddTHHmm\" is no field that can be read; "
          + "literal letters stand in single quotes."
      ),
      (
        ["yyyy-mm-dd'T"], .date, nil,
        "The quote at character 11 of the date pattern \"yyyy-mm-dd'T\" is not closed."
      ),
      (
        ["yyyy-MM-ddTHH:mm"], .timestamp, nil,
        "\"T\" at character 11 of the date pattern \"yyyy-MM-ddTHH:mm\" is no field that can be read; "
          + "literal letters stand in single quotes."
      ),
      (
        ["ddd.MM.yyyy"], .date, nil,
        "\"ddd\" at character 1 of the date pattern \"ddd.MM.yyyy\" is no field that can be read."
      ),
      (["dd.MM.yyyy dd"], .date, nil, "The date pattern \"dd.MM.yyyy dd\" names the day twice."),
      (
        ["yyyy-MM-dd MMM yyyy"], .date, nil,
        "The date pattern \"yyyy-MM-dd MMM yyyy\" names the year twice."
      ),
      (
        ["dd.MM. MMMM yyyy"], .date, nil,
        "The date pattern \"dd.MM. MMMM yyyy\" names the month twice."
      ),
      (["HH:mm (hh a)"], .time, nil, "The date pattern \"HH:mm (hh a)\" names the hour twice."),
      (
        ["yyyy-MM-dd zzzz"], .date, nil,
        "\"zzzz\" at character 12 of the date pattern \"yyyy-MM-dd zzzz\" is no field that can be read."
      ),
      (
        ["yyyy-DDD X"], .timestamp, nil,
        "The date pattern \"yyyy-DDD X\" joins a field of weeks, quarters or days of the year with a zone or with "
          + "more than three digits of a second; that cannot be read."
      ),
      (
        ["yyyy-'W'ww"], .date, nil,
        "The date pattern \"yyyy-'W'ww\" has weeks without the year that they belong to, which is YYYY."
      ),
      (["HH:mm", "H"], .timestamp, nil, "None of the date formats (HH:mm, H) gives a timestamp."),
      (["dd.MM"], .date, nil, "None of the date formats (dd.MM) gives a date."),
      (["yyyy"], .time, nil, "None of the date formats (yyyy) gives a time."),
      ([""], .date, nil, "None of the date formats () gives a date."),
      (
        [], .timestamp, "Europe/Olso",
        "There is no time zone \"Europe/Olso\" (IANA names such as Europe/Oslo are known). Did you mean \"Europe/Oslo\"?"
      ),
      (
        [], .timestamp, "GMT+2",
        "There is no time zone \"GMT+2\" (IANA names such as Europe/Oslo are known). Did you mean \"Etc/GMT-2\"?"
      ),
      (
        [], .timestamp, "-03:00",
        "There is no time zone \"-03:00\" (IANA names such as Europe/Oslo are known). Did you mean \"Etc/GMT+3\"?"
      ),
      (
        [], .timestamp, "UTC+5:30",
        "There is no time zone \"UTC+5:30\" (IANA names such as Europe/Oslo are known)."
      ),
      (
        [], .timestamp, "BST",
        "There is no time zone \"BST\" (IANA names such as Europe/Oslo are known). Did you mean \"Europe/London\"?"
      ),
      (
        [], .timestamp, "", "There is no time zone \"\" (IANA names such as Europe/Oslo are known)."
      ),
    ] as [([String], AttributeType, String?, String)]
  )
  func faults(formats: [String], type: AttributeType, zone: String?, message: String) {
    let fault = #expect(throws: FormatFault.self) {
      try DateReader(formats: formats, type: type, timeZone: zone)
    }
    #expect(fault?.description.hasSuffix(message) == true, "\(fault?.description ?? "")")
  }
}
