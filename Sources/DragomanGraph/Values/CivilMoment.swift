/// An instant as a day and a time in UTC, which steps of clock and calendar move.
struct CivilMoment {
  private static let dayLength = 86_400_000_000

  /// Days since 1970-01-01, of the proleptic Gregorian calendar.
  private(set) var day: Int
  /// Microseconds since midnight.
  var microsecond: Int

  init(microsecondsSince1970 microseconds: Int) {
    day = Self.floor(microseconds, Self.dayLength)
    microsecond = microseconds - day * Self.dayLength
  }

  /// Moves it by seconds of the clock; at most 10¹³, so that nothing overflows.
  mutating func add(seconds: Int) {
    let days = Self.floor(seconds, 86_400)
    day += days
    microsecond += (seconds - days * 86_400) * 1_000_000
    if microsecond >= Self.dayLength {
      microsecond -= Self.dayLength
      day += 1
    }
  }

  /// Moves it by days.
  mutating func add(days: Int) { day += days }

  /// Moves it by months; where the month has no such day, to its last one.
  mutating func add(months: Int) {
    let civil = CivilDay.civil(day)
    let count = civil.year * 12 + civil.month - 1 + months
    let year = Self.floor(count, 12)
    let month = count - year * 12 + 1
    day = CivilDay.number(year, month, min(civil.day, CivilDay.count(ofMonth: month, in: year)))
  }

  /// `yyyy-MM-dd HH:mm:ss[.ffffff]`, nil outside of the years 0000 to 9999.
  var text: String? {
    var fraction = String(microsecond % 1_000_000 + 1_000_000).dropFirst()
    while fraction.hasSuffix("0") { fraction.removeLast() }
    return CivilText.dayText(day).map {
      "\($0) \(CivilText.timeText(microsecond / 1_000_000, String(fraction)))"
    }
  }

  private static func floor(_ value: Int, _ unit: Int) -> Int {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: unit)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
