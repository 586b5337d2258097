/// Days of the proleptic Gregorian calendar, as numbers from 1970-01-01 on and back.
///
/// The arithmetic of https://howardhinnant.github.io/date_algorithms.html: years begin in March. It counts from so
/// many eras of 400 years before 1970 that nothing is negative: good for 400 million years around it.
package enum CivilDay {
  /// Days since 1970-01-01; before it negative.
  @inlinable
  package static func number(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = UInt(bitPattern: (month <= 2 ? year - 1 : year) &+ 400_000_000)
    let shiftedMonth = UInt(bitPattern: month > 2 ? month - 3 : month + 9)
    let dayOfYear = (153 &* shiftedMonth &+ 2) / 5 &+ UInt(bitPattern: day) &- 1
    let days = shifted &* 365 &+ shifted / 4 &- shifted / 100 &+ shifted / 400 &+ dayOfYear
    return Int(bitPattern: days) &- 719_468 &- 146_097_000_000
  }

  /// The day with a number.
  @inlinable
  package static func civil(_ number: Int) -> (year: Int, month: Int, day: Int) {
    let days = UInt(bitPattern: number &+ 719_468 &+ 146_097_000_000)
    let era = days / 146_097
    let dayOfEra = days % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
    let year = Int(yearOfEra + era * 400) - 400_000_000 + (month <= 2 ? 1 : 0)
    return (year, month, Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1))
  }

  /// How many days a month has.
  @inlinable
  package static func count(ofMonth month: Int, in year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
