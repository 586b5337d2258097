/// Instants and days between the canonical text of docs/file.md and microseconds since 1970.
enum TimestampText {
  private static let microsecondsADay: Int64 = 86_400_000_000
  /// 0000-01-01 and 10000-01-01.
  private static let days = -719_528..<2_932_897

  /// Reads `yyyy-MM-dd` or `yyyy-MM-dd HH:mm:ss[.f…]`; nil for any other text.
  static func microseconds(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    guard bytes.count >= 10, bytes[4] == dash, bytes[7] == dash,
      let century = pair(bytes, 0), let rest = pair(bytes, 2), let month = pair(bytes, 5),
      let day = pair(bytes, 8)
    else { return nil }
    let year = century * 100 + rest
    guard (1...12).contains(month), day >= 1, day <= CivilDay.count(ofMonth: month, in: year) else {
      return nil
    }
    let midnight = Int64(CivilDay.number(year, month, day)) * microsecondsADay
    if bytes.count == 10 { return midnight }
    guard bytes.count >= 19, bytes[10] == UInt8(ascii: " "), bytes[13] == colon,
      bytes[16] == colon, let hour = pair(bytes, 11), let minute = pair(bytes, 14),
      let second = pair(bytes, 17), hour < 24, minute < 60, second < 60
    else { return nil }
    guard let fraction = fraction(bytes) else { return nil }
    return midnight + Int64(hour * 3600 + minute * 60 + second) * 1_000_000 + fraction
  }

  /// Whether a text is one that `text(_:dayOnly:)` writes for an attribute of the type.
  static func isCanonical(_ bytes: UnsafeRawBufferPointer, _ type: AttributeType) -> Bool {
    guard microseconds(bytes) != nil else { return false }
    if type == .date { return bytes.count == 10 }
    return bytes.count == 19 || (bytes.count > 20 && bytes[bytes.count - 1] != UInt8(ascii: "0"))
  }

  /// Writes microseconds since 1970; nil outside of the years 0 to 9999, and where only days are
  /// wanted for what is no midnight.
  static func text(_ microseconds: Double, dayOnly: Bool) -> String? {
    guard let total = Int64(exactly: microseconds) else { return nil }
    let (quotient, remainder) = total.quotientAndRemainder(dividingBy: microsecondsADay)
    let day = Int(remainder < 0 ? quotient - 1 : quotient)
    let time = remainder < 0 ? remainder + microsecondsADay : remainder
    guard days.contains(day), !dayOnly || time == 0 else { return nil }
    return String(unsafeUninitializedCapacity: 26) { bytes in
      var end = 0
      func put(_ number: Int, _ width: Int) {
        var rest = number
        for place in stride(from: end + width - 1, through: end, by: -1) {
          bytes[place] = UInt8(ascii: "0") + UInt8(rest % 10)
          rest /= 10
        }
        end += width
      }
      func put(_ byte: UInt8) {
        bytes[end] = byte
        end += 1
      }
      let civil = CivilDay.civil(day)
      put(civil.year, 4)
      put(dash)
      put(civil.month, 2)
      put(dash)
      put(civil.day, 2)
      if dayOnly { return end }
      let seconds = Int(time / 1_000_000)
      var fraction = Int(time % 1_000_000)
      put(UInt8(ascii: " "))
      put(seconds / 3600, 2)
      put(colon)
      put(seconds / 60 % 60, 2)
      put(colon)
      put(seconds % 60, 2)
      guard fraction > 0 else { return end }
      var width = 6
      while fraction % 10 == 0 {
        fraction /= 10
        width -= 1
      }
      put(UInt8(ascii: "."))
      put(fraction, width)
      return end
    }
  }

  // MARK: - Parts

  private static var dash: UInt8 { UInt8(ascii: "-") }
  private static var colon: UInt8 { UInt8(ascii: ":") }

  /// Two digits.
  @inline(__always)
  private static func pair(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> Int? {
    let (high, low) = (bytes[place] &- 48, bytes[place + 1] &- 48)
    return high < 10 && low < 10 ? Int(high) * 10 + Int(low) : nil
  }

  /// The microseconds behind the seconds.
  private static func fraction(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    if bytes.count == 19 { return 0 }
    guard bytes[19] == UInt8(ascii: "."), (21...26).contains(bytes.count) else { return nil }
    var value: Int64 = 0
    for place in 20..<26 {
      let digit = place < bytes.count ? bytes[place] &- 48 : 0
      guard digit < 10 else { return nil }
      value = value * 10 + Int64(digit)
    }
    return value
  }
}
