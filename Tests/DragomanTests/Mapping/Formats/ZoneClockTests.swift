import DragomanGraph
import Foundation
import TestSupport
import Testing

@testable import Dragoman

@Suite("Clocks of time zones")
struct ZoneClockTests {
  @Test(
    "Gaps are invalid, overlaps the earlier instant",
    arguments: [
      ("Europe/Oslo", "2024-03-31 01:59:59", "2024-03-31 00:59:59"),
      ("Europe/Oslo", "2024-03-31 02:00:00", nil),
      ("Europe/Oslo", "2024-03-31 02:59:59", nil),
      ("Europe/Oslo", "2024-03-31 03:00:00", "2024-03-31 01:00:00"),
      ("Europe/Oslo", "2024-10-27 01:59:59", "2024-10-26 23:59:59"),
      ("Europe/Oslo", "2024-10-27 02:00:00", "2024-10-27 00:00:00"),
      ("Europe/Oslo", "2024-10-27 02:59:59", "2024-10-27 00:59:59"),
      ("Europe/Oslo", "2024-10-27 03:00:00", "2024-10-27 02:00:00"),
      ("America/New_York", "2024-03-10 02:30:00", nil),
      ("America/New_York", "2024-11-03 01:30:00", "2024-11-03 05:30:00"),
      ("America/New_York", "2024-11-03 02:00:00", "2024-11-03 07:00:00"),
      ("America/New_York", "2024-07-04 00:00:00", "2024-07-04 04:00:00"),
      // Nepal moved from +5:30 to +5:45 on 1 January 1986.
      ("Asia/Kathmandu", "1985-12-31 23:59:59", "1985-12-31 18:29:59"),
      ("Asia/Kathmandu", "1986-01-01 00:10:00", nil),
      ("Asia/Kathmandu", "1986-01-01 00:15:00", "1985-12-31 18:30:00"),
      ("Asia/Kathmandu", "2024-01-01 05:45:00", "2024-01-01 00:00:00"),
      // Lord Howe Island moves by half an hour.
      ("Australia/Lord_Howe", "2024-10-06 02:15:00", nil),
      ("Australia/Lord_Howe", "2024-10-06 02:30:00", "2024-10-05 15:30:00"),
      ("Australia/Lord_Howe", "2024-04-07 01:45:00", "2024-04-06 14:45:00"),
      ("Australia/Lord_Howe", "2024-04-07 02:00:00", "2024-04-06 15:30:00"),
      // Samoa had no 30 December 2011.
      ("Pacific/Apia", "2011-12-29 23:59:59", "2011-12-30 09:59:59"),
      ("Pacific/Apia", "2011-12-30 12:00:00", nil),
      ("Pacific/Apia", "2011-12-31 00:00:00", "2011-12-30 10:00:00"),
      ("UTC", "2024-03-31 02:30:00", "2024-03-31 02:30:00"),
      ("Europe/Oslo", "2500-07-01 12:00:00", "2500-07-01 10:00:00"),
      ("Asia/Kathmandu", "9999-12-31 23:59:59", "9999-12-31 18:14:59"),
      ("Asia/Kathmandu", "0000-01-01 00:00:00", nil),
      ("America/New_York", "9999-12-31 23:59:59", nil),
    ] as [(String, String, String?)]
  )
  func localTimes(zone: String, text: String, expected: String?) throws {
    let reader = try DateReader(formats: [], type: .timestamp, timeZone: zone)
    #expect(reader.text(text) == expected)
  }

  @Test(
    "A clock agrees with Foundation at random instants",
    arguments: [
      "Europe/Oslo", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe",
      "Africa/Casablanca",
      "Africa/Freetown", "Asia/Gaza",
    ]
  )
  func agreesWithFoundation(identifier: String) throws {
    let seed = Seeds.seed()
    var generator = SplitMix(state: seed)
    let clock = try ZoneClock(identifier: identifier)
    let zone = try #require(TimeZone(identifier: identifier))
    for _ in 0..<2000 {
      let instant = Int.random(in: -3_000_000_000...5_000_000_000, using: &generator)
      let expected = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(instant)))
      #expect(clock.offset(at: instant) == expected, "seed \(seed), instant \(instant)")
      let local = try #require(clock.offset(atLocal: instant + expected))
      #expect(local >= expected, "seed \(seed), instant \(instant)")
      #expect(clock.offset(at: instant + expected - local) == local, "seed \(seed)")
    }
  }

  @Test("A clock may be asked by many tasks at once")
  func concurrency() async throws {
    let clock = try ZoneClock(identifier: "Europe/Oslo")
    let sums = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          (0..<2000).reduce(0) { $0 + clock.offset(at: $1 * 1_000_000) }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(sums).count == 1)
  }
}
