import Foundation

/// An instant of a foreign record, to the microsecond: what a Foundation `Date` stands for.
public struct ForeignInstant: Sendable, Hashable {
  /// Whole seconds since 1970-01-01 00:00:00 UTC, rounded down.
  public let seconds: Int64
  /// What is left, 0 … 999,999 microseconds.
  public let microsecond: Int32

  /// Makes an instant; microseconds beyond a second carry over, and what no 64-bit number of
  /// seconds holds becomes the nearest that one does.
  public init(seconds: Int64, microsecond: Int64 = 0) {
    let rest = ((microsecond % 1_000_000) + 1_000_000) % 1_000_000
    let carry = microsecond / 1_000_000 - (microsecond < 0 && rest != 0 ? 1 : 0)
    let (sum, overflows) = seconds.addingReportingOverflow(carry)
    self.seconds = overflows ? (carry < 0 ? .min : .max) : sum
    self.microsecond = overflows ? 0 : Int32(rest)
  }

  /// Makes an instant of a date, to the nearest microsecond.
  ///
  /// A `Date` is a binary fraction and rarely a whole number of microseconds: the nearest is the one
  /// that it was made from. Dates that are no number, or further away than 64 bits of seconds reach,
  /// become the farthest instant: an import refuses all beyond the years 0000 to 9999.
  public init(_ date: Date) {
    // Split before scaling: both halves are exact.
    let interval = date.timeIntervalSinceReferenceDate
    let whole = interval.rounded(.down)
    guard let seconds = Int64(exactly: whole) else {
      self.init(seconds: interval < 0 ? .min : .max)
      return
    }
    let (sum, overflows) = seconds.addingReportingOverflow(Self.referenceSeconds)
    self.init(
      seconds: overflows ? .max : sum,
      microsecond: Int64(((interval - whole) * 1_000_000).rounded())
    )
  }

  /// The instant as Foundation's date, as near as a double comes.
  public var date: Date {
    Date(
      timeIntervalSinceReferenceDate: Double(seconds) - Double(Self.referenceSeconds)
        + Double(microsecond) / 1_000_000
    )
  }

  /// From 1970-01-01 to 2001-01-01.
  private static let referenceSeconds: Int64 = 978_307_200
}

extension ForeignInstant: CustomStringConvertible {
  /// `yyyy-MM-dd HH:mm:ss[.ffffff]` in UTC; outside of the years 0000 to 9999 the seconds since 1970.
  public var description: String { text ?? "\(seconds) seconds since 1970" }

  /// The instant as the store spells it; nil outside of the years 0000 to 9999.
  var text: String? {
    guard let civil = CivilTime(seconds: Int(seconds), microsecond: Int(microsecond)) else {
      return nil
    }
    return withUnsafeTemporaryAllocation(byteCount: CivilTime.storedCapacity, alignment: 1) {
      String(decoding: $0[..<civil.writeTimestamp(into: $0)], as: UTF8.self)
    }
  }
}
