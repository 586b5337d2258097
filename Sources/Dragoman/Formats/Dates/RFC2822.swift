/// The `rfc2822` format of mail and RSS: `Mon, 05 Jan 1998 15:59:20 +0000`.
///
/// The day name and the seconds may be left out; a day name must be the date's. Zones are offsets,
/// `GMT`, `UT`, `UTC`, `Z`, and the eight North American ones of section 4.3; a comment may stand behind them,
/// as `(CET)`. Case does not matter.
enum RFC2822 {
  /// Reads a date-time; a zone is required, as the RFC says.
  static func read(_ text: UnsafeRawBufferPointer) -> ParsedTime? {
    var cursor = ByteCursor(text)
    var parsed = ParsedTime()
    var weekday: Int?
    if ASCII.isLetter(cursor.next) {
      weekday = EnglishNames.takeWeekday(from: &cursor)
      guard weekday != nil, cursor.take(UInt8(ascii: ",")), cursor.take(0x20) else { return nil }
    }
    guard let day = cursor.digits(upTo: 2), cursor.take(0x20),
      let month = EnglishNames.takeMonth(from: &cursor), cursor.take(0x20),
      let year = takeYear(from: &cursor), cursor.take(0x20),
      let hour = cursor.digits(2), cursor.take(UInt8(ascii: ":")),
      let minute = cursor.digits(2)
    else { return nil }
    if cursor.take(UInt8(ascii: ":")) {
      guard let second = cursor.digits(2) else { return nil }
      parsed.civil.second = second
    }
    parsed.civil.year = year
    parsed.civil.month = month
    parsed.civil.day = day
    parsed.civil.hour = hour
    parsed.civil.minute = minute
    guard cursor.take(0x20), let offset = cursor.offset() ?? EnglishNames.takeZone(from: &cursor),
      isAtEnd(cursor), parsed.civil.isValid
    else { return nil }
    if let weekday, weekday != parsed.civil.weekday { return nil }
    parsed.offset = offset
    return parsed
  }

  /// Whether nothing is left, or a comment without others inside.
  private static func isAtEnd(_ cursor: ByteCursor) -> Bool {
    if cursor.isAtEnd { return true }
    var rest = cursor
    guard rest.take(0x20), rest.take(UInt8(ascii: "(")) else { return false }
    while !rest.isAtEnd, rest.next != UInt8(ascii: "("), rest.next != UInt8(ascii: ")") {
      rest.skip(1)
    }
    return rest.take(UInt8(ascii: ")")) && rest.isAtEnd
  }

  /// Four digits, or two of the obsolete form: 00 … 49 are 2000 …, 50 … 99 are 1950 ….
  private static func takeYear(from cursor: inout ByteCursor) -> Int? {
    if let year = cursor.digits(4) { return year }
    guard !ASCII.isDigit(cursor.peek(2)), let year = cursor.digits(2) else { return nil }
    return year < 50 ? 2000 + year : 1900 + year
  }

  /// Writes a date-time with day name, seconds and a numeric offset.
  static func write(_ civil: CivilTime, offset: Int) -> String {
    let day = EnglishNames.weekdays[civil.weekday].prefix(3)
    let month = EnglishNames.months[civil.month - 1].prefix(3)
    return "\(day), \(padded(civil.day, 2)) \(month) \(padded(civil.year, 4)) "
      + "\(padded(civil.hour, 2)):\(padded(civil.minute, 2)):\(padded(civil.second, 2)) "
      + offsetText(offset, separator: "")
  }
}

/// The decimal digits of a value ≥ 0, with zeros in front up to a width.
func padded(_ value: Int, _ width: Int) -> String {
  let digits = String(value)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

/// An offset from UTC as `±hhmm`, with a separator between hours and minutes.
func offsetText(_ seconds: Int, separator: String) -> String {
  let minutes = abs(seconds) / 60
  return (seconds < 0 ? "-" : "+") + padded(minutes / 60, 2) + separator + padded(minutes % 60, 2)
}
