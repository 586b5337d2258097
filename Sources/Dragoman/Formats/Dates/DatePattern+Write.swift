extension DatePattern {
  /// Writes a clock reading and the offset it has from UTC; nil where a field has no spelling for it.
  ///
  /// `VV` writes the zone's name.
  func write(_ civil: CivilTime, offset: Int, zone: String) -> String? {
    guard !needsCalendar else { return nil }
    var output: [UInt8] = []
    for step in steps {
      if step.field == .literal {
        output.append(step.letters)
      } else {
        guard let text = spelling(of: step, civil: civil, offset: offset, zone: zone) else {
          return nil
        }
        output.append(contentsOf: text.utf8)
      }
    }
    return String(decoding: output, as: UTF8.self)
  }

  private func spelling(of step: Step, civil: CivilTime, offset: Int, zone: String) -> String? {
    let width = step.width.lowerBound
    let halfDayHour = civil.hour % 12
    switch step.field {
    case .literal, .calendar: return nil
    case .year: return padded(civil.year, width)
    case .shortYear: return padded(civil.year % 100, 2)
    case .month: return padded(civil.month, width)
    case .monthName: return String(EnglishNames.months[civil.month - 1].prefix(3))
    case .monthWholeName: return EnglishNames.months[civil.month - 1]
    case .day: return padded(civil.day, width)
    case .weekdayName: return String(EnglishNames.weekdays[civil.weekday].prefix(3))
    case .weekdayWholeName: return EnglishNames.weekdays[civil.weekday]
    case .hour: return padded(civil.hour, width)
    case .hourFromOne: return padded(civil.hour == 0 ? 24 : civil.hour, width)
    case .halfDayHour: return padded(halfDayHour == 0 ? 12 : halfDayHour, width)
    case .halfDayHourFromZero: return padded(halfDayHour, width)
    case .halfDay: return civil.hour < 12 ? "AM" : "PM"
    case .minute: return padded(civil.minute, width)
    case .second: return padded(civil.second, width)
    case .fraction:
      let digits = padded(civil.microsecond, 6)
      return String(digits.prefix(width)) + String(repeating: "0", count: max(0, width - 6))
    case .offset, .basicOffset, .offsetWithoutZ: return offsetSpelling(of: step, offset: offset)
    case .zoneName:
      if offset == 0 { return "UTC" }
      return "GMT" + offsetText(offset, separator: ":")
    case .zoneIdentifier: return zone
    }
  }

  /// As the pattern's letter and their number ask for.
  private func offsetSpelling(of step: Step, offset: Int) -> String {
    if step.field == .basicOffset { return offsetText(offset, separator: "") }
    if offset == 0, step.field == .offset { return "Z" }
    switch step.letters {
    case 1 where offset.isMultiple(of: 3600):
      return String(offsetText(offset, separator: "").prefix(3))
    case 3, 5: return offsetText(offset, separator: ":")
    default: return offsetText(offset, separator: "")
    }
  }
}
