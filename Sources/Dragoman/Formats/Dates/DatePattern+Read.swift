extension DatePattern {
  /// What the fields of one text said, until all of them are known.
  private struct Fields {
    var civil = CivilTime()
    var halfDayHour: Int?
    var isAfternoon: Bool?
    var weekday: Int?
    var offset: Int?
    var zone: String?
    /// Whether the offset was `Z`, which says nothing of the clock that was read (RFC 9557, 2.2).
    var isZulu = false

    /// Takes an offset from UTC; whether there is one, and none before it was another one.
    mutating func take(_ found: Int?) -> Bool {
      guard let found, offset ?? found == found else { return false }
      offset = found
      return true
    }
  }

  /// Reads a text as a whole; nil: it is not made like the pattern.
  ///
  /// Days and months that the pattern does not name are the first, hours and the rest 0; an hour of
  /// the half day without AM or PM is one of the morning, as in DateFormatter.
  func read(_ text: UnsafeRawBufferPointer) -> ParsedTime? {
    var cursor = ByteCursor(text)
    var fields = Fields()
    for step in steps {
      guard take(step, from: &cursor, into: &fields) else { return nil }
    }
    guard cursor.isAtEnd else { return nil }
    return resolve(fields)
  }

  private func take(_ step: Step, from cursor: inout ByteCursor, into fields: inout Fields) -> Bool
  {
    switch step.field {
    case .literal: return cursor.take(step.letters)
    case .year: return number(step, from: &cursor, into: &fields.civil.year)
    case .shortYear:
      guard let value = cursor.digits(2) else { return false }
      fields.civil.year = value < 69 ? 2000 + value : 1900 + value
    case .month: return number(step, from: &cursor, into: &fields.civil.month)
    case .monthName, .monthWholeName:
      let isWhole = step.field == .monthWholeName
      guard let month = EnglishNames.takeMonth(from: &cursor, isWhole: isWhole) else {
        return false
      }
      fields.civil.month = month
    case .day: return number(step, from: &cursor, into: &fields.civil.day)
    case .weekdayName, .weekdayWholeName:
      let isWhole = step.field == .weekdayWholeName
      fields.weekday = EnglishNames.takeWeekday(from: &cursor, isWhole: isWhole)
      return fields.weekday != nil
    case .hour: return number(step, from: &cursor, into: &fields.civil.hour)
    case .hourFromOne:
      guard number(step, from: &cursor, into: &fields.civil.hour), 1...24 ~= fields.civil.hour
      else { return false }
      fields.civil.hour %= 24
    case .halfDayHour:
      guard let hour = digits(step, from: &cursor), 1...12 ~= hour else { return false }
      fields.halfDayHour = hour % 12
    case .halfDayHourFromZero:
      guard let hour = digits(step, from: &cursor), hour < 12 else { return false }
      fields.halfDayHour = hour
    case .halfDay:
      fields.isAfternoon = cursor.take(word: "PM")
      return fields.isAfternoon == true || cursor.take(word: "AM")
    case .minute: return number(step, from: &cursor, into: &fields.civil.minute)
    case .second: return number(step, from: &cursor, into: &fields.civil.second)
    case .fraction:
      let wanted = Int(step.letters)
      guard let fraction = cursor.microseconds(upTo: wanted), fraction.digitCount == wanted else {
        return false
      }
      fields.civil.microsecond = fraction.value
    case .offset, .basicOffset:
      fields.isZulu = cursor.next == UInt8(ascii: "Z")
      return fields.take(cursor.offsetOrZ())
    case .offsetWithoutZ: return fields.take(cursor.offset())
    case .zoneName: return fields.take(namedOffset(from: &cursor))
    case .zoneIdentifier:
      fields.zone = zoneIdentifier(from: &cursor)
      return fields.zone != nil
    case .calendar: return false
    }
    return true
  }

  private func digits(_ step: Step, from cursor: inout ByteCursor) -> Int? {
    step.width.count == 1
      ? cursor.digits(step.width.upperBound)
      : cursor.digits(upTo: step.width.upperBound)
  }

  private func number(_ step: Step, from cursor: inout ByteCursor, into value: inout Int) -> Bool {
    guard let number = digits(step, from: &cursor) else { return false }
    value = number
    return true
  }

  /// `GMT`, `UTC`, `EST` …, and `GMT+2`, `GMT+5:45`, `GMT+02:00`.
  private func namedOffset(from cursor: inout ByteCursor) -> Int? {
    guard let base = EnglishNames.takeZone(from: &cursor) else { return nil }
    let sign: Int
    switch cursor.next {
    case UInt8(ascii: "+"): sign = 1
    case UInt8(ascii: "-"): sign = -1
    default: return base
    }
    cursor.skip(1)
    guard base == 0, let hours = cursor.digits(upTo: 2), hours < 24 else { return nil }
    var minutes = 0
    if cursor.take(UInt8(ascii: ":")) {
      guard let value = cursor.digits(2), value < 60 else { return nil }
      minutes = value
    }
    return sign * (hours * 3600 + minutes * 60)
  }

  private func zoneIdentifier(from cursor: inout ByteCursor) -> String? {
    var length = 0
    while length < 64 {
      let byte = cursor.peek(length)
      guard
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "/")
          || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
      else { break }
      length += 1
    }
    guard length > 0 else { return nil }
    let name = cursor.bytes[cursor.index..<cursor.index + length]
    cursor.skip(length)
    return String(decoding: name, as: UTF8.self)
  }

  private func resolve(_ fields: Fields) -> ParsedTime? {
    var parsed = ParsedTime(civil: fields.civil, offset: fields.offset)
    if let hour = fields.halfDayHour {
      parsed.civil.hour = fields.isAfternoon == true ? hour + 12 : hour
    } else if let isAfternoon = fields.isAfternoon, isAfternoon != (parsed.civil.hour >= 12) {
      return nil
    }
    guard parsed.civil.isValid else { return nil }
    if let weekday = fields.weekday, hasDate, weekday != parsed.civil.weekday { return nil }
    if let zone = fields.zone {
      guard let clock = ZoneClocks.shared.clock(named: zone) else { return nil }
      let local = parsed.civil.secondsSinceEpoch
      guard let offset = parsed.offset else {
        guard let offset = clock.offset(atLocal: local) else { return nil }
        parsed.offset = offset
        return parsed
      }
      // An offset says which of two equal readings is meant, and may not contradict the zone. What has no date has no
      // offset of its zone either.
      if hasDate, !fields.isZulu, clock.offset(at: local - offset) != offset { return nil }
    }
    return parsed
  }
}
