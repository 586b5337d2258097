import DragomanGraph
import Foundation
import Synchronization

/// The clock of an IANA time zone: how far it is from UTC at every instant.
///
/// Foundation knows the rules; it is asked once for every span of about 24 days that occurs in the
/// feed, and what it said is kept. So a value costs a look-up, and memory is bounded by the number
/// of spans in ten thousand years.
final class ZoneClock: Sendable {
  /// The IANA name, as declared.
  let identifier: String
  private let zone: TimeZone
  private let spans = Mutex<[Int: Span]>([:])

  /// The offsets from UTC in one span of time.
  private struct Span {
    /// The offset at the start of the span.
    var offset: Int
    /// The offset that holds for every clock reading of the span and a day and more around it.
    var isSteady: Bool
    /// Where the offset changes, in UTC seconds, and to what.
    var changes: [(at: Int, offset: Int)]
  }

  private static let spanShift = 21
  /// No zone is further from UTC than that, in seconds.
  private static let margin = 26 * 3600
  /// Changes are looked for in steps of three days: no zone changed twice within one.
  private static let step = 1 << 18

  /// Looks a zone up.
  ///
  /// - Throws: a fault with the nearest name when there is no such zone.
  convenience init(identifier: String) throws(FormatFault) {
    guard let zone = Self.zone(identifier) else {
      throw FormatFault(
        "There is no time zone \"\(identifier)\" (IANA names such as Europe/Oslo are known).",
        suggestion: Self.suggestion(for: identifier)
      )
    }
    self.init(identifier: identifier, zone: zone)
  }

  private init(identifier: String, zone: TimeZone) {
    self.identifier = identifier
    self.zone = zone
  }

  /// Looks up a zone that a value names; nil when there is none.
  static func find(_ identifier: String) -> ZoneClock? {
    zone(identifier).map { ZoneClock(identifier: identifier, zone: $0) }
  }

  /// A zone by its IANA name; no abbreviation, which Foundation takes, too, and which means different zones in different
  /// places: BST is Asia/Dhaka to it.
  private static func zone(_ identifier: String) -> TimeZone? {
    let isArea = identifier.contains("/") && !identifier.hasPrefix("SystemV/")
    guard isArea || namesWithoutArea.contains(identifier) else { return nil }
    return TimeZone(identifier: identifier)
  }

  /// The names of the IANA database that have no area in front.
  private static let namesWithoutArea: Set<String> = [
    "CET", "CST6CDT", "Cuba", "EET", "EST", "EST5EDT", "Egypt", "Eire", "GB", "GB-Eire", "GMT",
    "GMT+0", "GMT-0", "GMT0", "Greenwich", "HST", "Hongkong", "Iceland", "Iran", "Israel",
    "Jamaica", "Japan", "Kwajalein", "Libya", "MET", "MST", "MST7MDT", "NZ", "NZ-CHAT", "Navajo",
    "PRC", "PST8PDT", "Poland", "Portugal", "ROC", "ROK", "Singapore", "Turkey", "UCT", "UTC",
    "Universal", "W-SU", "WET", "Zulu",
  ]

  /// The name that is meant by one that there is not; nil: nobody knows.
  private static func suggestion(for identifier: String) -> String? {
    let shift = /(?i:GMT|UTC|UT)?([+-])([0-9]{1,2})(?::?([0-9]{2}))?/
    if let match = identifier.wholeMatch(of: shift) {
      // In the names of the database the sign is that of POSIX: what is behind UTC has a plus.
      guard let hours = Int(match.2), match.3.map({ $0 == "00" }) ?? true else { return nil }
      let name = hours == 0 ? "UTC" : "Etc/GMT\(match.1 == "+" ? "-" : "+")\(hours)"
      return zone(name) == nil ? nil : name
    }
    return abbreviations[identifier.uppercased()]
      ?? nearest(to: identifier, in: TimeZone.knownTimeZoneIdentifiers.sorted())
  }

  /// What is meant by abbreviations that are no names of the database.
  private static let abbreviations = [
    "BST": "Europe/London", "CEST": "Europe/Paris", "EDT": "America/New_York",
    "CDT": "America/Chicago", "MDT": "America/Denver", "PST": "America/Los_Angeles",
    "PDT": "America/Los_Angeles",
  ]

  /// Seconds east of UTC at an instant, given in seconds since 1970-01-01 UTC.
  func offset(at instant: Int) -> Int {
    spans.withLock { Self.offset(in: span(instant >> Self.spanShift, of: &$0), at: instant) }
  }

  /// Seconds east of UTC where the clock reads that many seconds since 1970-01-01 00:00.
  ///
  /// Nil where the clock never does (the gap of a change forward); the earlier instant's offset
  /// where it does twice.
  func offset(atLocal reading: Int) -> Int? {
    spans.withLock { spans in
      let span = span(reading >> Self.spanShift, of: &spans)
      if span.isSteady { return span.offset }
      // Any offset that can be meant was or will be in force within a day or so.
      var earliest: Int?
      var candidate = reading - Self.margin
      while candidate <= reading + Self.margin {
        let span = self.span(candidate >> Self.spanShift, of: &spans)
        let offset = Self.offset(in: span, at: candidate)
        let instant = reading - offset
        let actual = Self.offset(
          in: self.span(instant >> Self.spanShift, of: &spans),
          at: instant
        )
        if actual == offset { earliest = max(earliest ?? offset, offset) }
        candidate += Self.margin
      }
      return earliest
    }
  }

  private static func offset(in span: Span, at instant: Int) -> Int {
    var offset = span.offset
    for change in span.changes where change.at <= instant { offset = change.offset }
    return offset
  }

  private func span(_ index: Int, of spans: inout [Int: Span]) -> Span {
    if let known = spans[index] { return known }
    let start = index << Self.spanShift
    let end = (index + 1) << Self.spanShift
    var span = Span(offset: foundationOffset(at: start), isSteady: false, changes: [])
    var time = start
    var offset = span.offset
    while time < end {
      let next = time + Self.step
      let nextOffset = foundationOffset(at: next)
      if nextOffset != offset {
        let change = firstChange(after: time, from: offset, until: next)
        if change < end { span.changes.append((change, nextOffset)) }
      }
      (time, offset) = (next, nextOffset)
    }
    span.isSteady =
      span.changes.isEmpty
      && foundationOffset(at: start - Self.margin) == span.offset
      && foundationOffset(at: end + Self.margin) == span.offset
    spans[index] = span
    return span
  }

  /// Bisects for the first second whose offset is not `offset` any more.
  private func firstChange(after low: Int, from offset: Int, until high: Int) -> Int {
    var low = low
    var high = high
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if foundationOffset(at: middle) == offset { low = middle } else { high = middle }
    }
    return high
  }

  private func foundationOffset(at instant: Int) -> Int {
    zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(instant)))
  }
}
