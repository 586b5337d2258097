import DragomanGraph

/// A date and a time of day on the clock of some place: proleptic Gregorian, to the microsecond.
struct CivilTime: Equatable {
  var year = 1970
  var month = 1
  var day = 1
  var hour = 0
  var minute = 0
  var second = 0
  var microsecond = 0

  /// Seconds from 1970-01-01 00:00 to 0000-01-01 00:00 and to 9999-12-31 23:59:59.
  static let secondsRange = -62_167_219_200...253_402_300_799

  /// Whether such a day and such a time exist, in the years 0000 to 9999.
  ///
  /// Hour 24 and second 60 do not: the store has no spelling that keeps them.
  var isValid: Bool {
    0...9999 ~= year && 1...12 ~= month && day >= 1
      && (day <= 28 || day <= CivilDay.count(ofMonth: month, in: year))
      && 0...23 ~= hour && 0...59 ~= minute && 0...59 ~= second
  }

  /// Whether it is the first moment of its day.
  var isMidnight: Bool { hour == 0 && minute == 0 && second == 0 && microsecond == 0 }
}

extension CivilTime {
  /// Days since 1970-01-01.
  var daysSinceEpoch: Int { CivilDay.number(year, month, day) }

  /// Seconds since 1970-01-01 00:00:00 on the same clock.
  var secondsSinceEpoch: Int {
    daysSinceEpoch * 86_400 + hour * 3600 + minute * 60 + second
  }

  /// 0 is Sunday.
  var weekday: Int {
    let value = (daysSinceEpoch + 4) % 7
    return value < 0 ? value + 7 : value
  }

  /// The clock's state that many seconds after 1970-01-01 00:00:00; nil outside 0000 … 9999.
  init?(seconds: Int, microsecond: Int) {
    guard Self.secondsRange.contains(seconds) else { return nil }
    // Counted from 0000-01-01, so that nothing is negative.
    let total = UInt(bitPattern: seconds - Self.secondsRange.lowerBound)
    let secondOfDay = UInt32(truncatingIfNeeded: total % 86_400)
    (year, month, day) = CivilDay.civil(Int(total / 86_400) + Self.secondsRange.lowerBound / 86_400)
    hour = Int(secondOfDay / 3600)
    minute = Int(secondOfDay / 60 % 60)
    second = Int(secondOfDay % 60)
    self.microsecond = microsecond
  }
}

// MARK: - The stored spelling

extension CivilTime {
  /// The most bytes a stored date, time or timestamp has: `yyyy-MM-dd HH:mm:ss.ffffff`.
  static let storedCapacity = 26

  /// Writes `yyyy-MM-dd HH:mm:ss[.ffffff]` and returns the number of bytes.
  func writeTimestamp(into output: UnsafeMutableRawBufferPointer) -> Int {
    _ = writeDate(into: output)
    output[10] = UInt8(ascii: " ")
    return 11 + writeTime(into: UnsafeMutableRawBufferPointer(rebasing: output[11...]))
  }

  /// Writes `yyyy-MM-dd` and returns the number of bytes.
  func writeDate(into output: UnsafeMutableRawBufferPointer) -> Int {
    Self.write(year / 100, to: output, at: 0)
    Self.write(year % 100, to: output, at: 2)
    output[4] = UInt8(ascii: "-")
    Self.write(month, to: output, at: 5)
    output[7] = UInt8(ascii: "-")
    Self.write(day, to: output, at: 8)
    return 10
  }

  /// Writes `HH:mm:ss[.ffffff]`, the fraction only where there is one and without trailing zeros.
  func writeTime(into output: UnsafeMutableRawBufferPointer) -> Int {
    Self.write(hour, to: output, at: 0)
    output[2] = UInt8(ascii: ":")
    Self.write(minute, to: output, at: 3)
    output[5] = UInt8(ascii: ":")
    Self.write(second, to: output, at: 6)
    guard microsecond != 0 else { return 8 }
    output[8] = UInt8(ascii: ".")
    Self.write(microsecond / 10_000, to: output, at: 9)
    Self.write(microsecond / 100 % 100, to: output, at: 11)
    Self.write(microsecond % 100, to: output, at: 13)
    var count = 15
    while output[count - 1] == 0x30 { count -= 1 }
    return count
  }

  /// Reads what `writeTimestamp` wrote.
  init(stored text: UnsafeRawBufferPointer) {
    self.init()
    var cursor = ByteCursor(text)
    if takeDate(from: &cursor), cursor.take(UInt8(ascii: " ")) { _ = takeTime(from: &cursor) }
  }

  @inline(__always)
  private static func write(_ value: Int, to output: UnsafeMutableRawBufferPointer, at index: Int) {
    output[index] = 0x30 &+ UInt8(truncatingIfNeeded: value / 10)
    output[index + 1] = 0x30 &+ UInt8(truncatingIfNeeded: value % 10)
  }

  /// Takes `yyyy-MM-dd`; the day itself is not checked yet.
  @inline(__always)
  mutating func takeDate(from cursor: inout ByteCursor) -> Bool {
    guard let year = cursor.digits(4), cursor.take(UInt8(ascii: "-")),
      let month = cursor.digits(2), cursor.take(UInt8(ascii: "-")),
      let day = cursor.digits(2)
    else { return false }
    self.year = year
    self.month = month
    self.day = day
    return true
  }

  /// Takes `HH:mm[:ss[.f…]]`, a comma for the point too; the time itself is not checked yet.
  @inline(__always)
  mutating func takeTime(from cursor: inout ByteCursor) -> Bool {
    guard let hour = cursor.digits(2), cursor.take(UInt8(ascii: ":")),
      let minute = cursor.digits(2)
    else { return false }
    self.hour = hour
    self.minute = minute
    guard cursor.take(UInt8(ascii: ":")) else { return true }
    guard let second = cursor.digits(2) else { return false }
    self.second = second
    guard cursor.take(UInt8(ascii: ".")) || cursor.take(UInt8(ascii: ",")) else { return true }
    guard let fraction = cursor.microseconds() else { return false }
    microsecond = fraction.value
    return true
  }
}
