import Foundation
import Synchronization

/// A date pattern with fields of weeks, quarters or days of the year, read by Foundation.
///
/// Weeks are those of ISO 8601: Monday is the first day, and the first week has 4 January.
/// Slow and rare. The formatter is made once and used by one thread at a time. It is lenient whatever
/// it is told (it skips white space and rolls days over), so a text counts only if writing its date
/// gives the same text again. It ends the process where it stops reading within a character, such as before
/// the accent of a digit: characters of several scalars are not taken. Foundation's calendar is Julian before
/// 15 October 1582: earlier dates are not taken.
final class CalendarPattern: Sendable {
  private let formatter: Mutex<DateFormatter>
  private static let firstGregorianSecond = -12_219_292_800

  /// Takes a pattern that `DatePattern` found no fault with.
  init(_ pattern: String) {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.calendar = Calendar(identifier: .iso8601)
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.isLenient = false
    formatter.dateFormat = pattern
    self.formatter = Mutex(formatter)
  }

  /// Reads a text as a whole; nil: it is not made like the pattern.
  func read(_ text: UnsafeRawBufferPointer) -> ParsedTime? {
    let string = String(decoding: text, as: UTF8.self)
    guard text.count <= 256, string.utf8.elementsEqual(text),
      string.allSatisfy({ $0.unicodeScalars.count == 1 })
    else { return nil }
    let date = formatter.withLock { formatter -> Date? in
      guard let date = formatter.date(from: string),
        formatter.string(from: date).utf8.elementsEqual(text)
      else { return nil }
      return date
    }
    // Foundation keeps milliseconds; within the years that are taken they fit a double exactly.
    guard let date,
      let milliseconds = Int(exactly: (date.timeIntervalSince1970 * 1000).rounded())
    else { return nil }
    let seconds = milliseconds.quotientRoundedDown(by: 1000)
    guard seconds >= Self.firstGregorianSecond,
      let civil = CivilTime(seconds: seconds, microsecond: (milliseconds - seconds * 1000) * 1000)
    else { return nil }
    return ParsedTime(civil: civil, offset: nil)
  }

  /// Writes a clock reading; nil for dates before 1582 and for more than milliseconds.
  func write(_ civil: CivilTime) -> String? {
    let seconds = civil.secondsSinceEpoch
    guard seconds >= Self.firstGregorianSecond, civil.microsecond.isMultiple(of: 1000) else {
      return nil
    }
    let date = Date(
      timeIntervalSince1970: Double(seconds) + Double(civil.microsecond / 1000) / 1000
    )
    return formatter.withLock { $0.string(from: date) }
  }
}

extension Int {
  /// Divides by a positive number and rounds towards minus infinity.
  func quotientRoundedDown(by divisor: Int) -> Int {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
