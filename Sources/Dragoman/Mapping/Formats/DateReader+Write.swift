/// How a stored date is written for the outside world.
enum ForeignDate: Equatable {
  /// A string.
  case text(String)
  /// A number (epoch formats): JSON writes it without quotes.
  case number(String)
}

extension DateReader {
  /// Spells a stored text by the first declared format that can hold all of it.
  ///
  /// A spelling counts only if reading it gives the stored text again: so `dd.MM.yyyy` is passed over
  /// for a value with a time of day, and a format without a zone for the second of two equal clock
  /// readings. Nil: no format of the list can spell the value, or the text is no stored one.
  /// Timestamps are written on the clock of the map's zone, in UTC where there is none.
  func write(canonical: String) -> ForeignDate? {
    var canonical = canonical
    return canonical.withUTF8 { stored -> ForeignDate? in
      let stored = UnsafeRawBufferPointer(stored)
      guard let civil = readStored(stored) else { return nil }
      for format in formats {
        guard let spelling = spell(civil, as: format) else { continue }
        let text: String
        switch spelling {
        case .text(let value), .number(let value): text = value
        }
        if comesBack(text, as: format, to: stored) { return spelling }
      }
      return nil
    }
  }

  private func comesBack(
    _ text: String,
    as format: Format,
    to stored: UnsafeRawBufferPointer
  ) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      withUnsafeTemporaryAllocation(byteCount: Self.capacity, alignment: 1) { output in
        let count = read(UnsafeRawBufferPointer(bytes), as: format, into: output)
        return count == stored.count && output[..<count].elementsEqual(stored)
      }
    }
  }

  private func readStored(_ text: UnsafeRawBufferPointer) -> CivilTime? {
    var cursor = ByteCursor(text)
    var civil = CivilTime()
    if type != .time {
      guard civil.takeDate(from: &cursor) else { return nil }
    }
    if type == .timestamp {
      guard cursor.take(0x20) else { return nil }
    }
    if type != .date {
      guard civil.takeTime(from: &cursor) else { return nil }
    }
    return cursor.isAtEnd && civil.isValid ? civil : nil
  }

  private func spell(_ stored: CivilTime, as format: Format) -> ForeignDate? {
    var civil = stored
    var offset = 0
    if let clock, type == .timestamp {
      offset = clock.offset(at: stored.secondsSinceEpoch)
      guard
        let local = CivilTime(
          seconds: stored.secondsSinceEpoch + offset,
          microsecond: stored.microsecond
        )
      else { return nil }
      civil = local
    }
    switch format {
    case .iso8601: return .text(iso8601(stored, local: civil, offset: offset))
    case .isoDate: return .text(text(of: civil) { $0.writeDate(into: $1) })
    case .isoTime: return .text(text(of: civil) { $0.writeTime(into: $1) })
    case .rfc2822: return .text(RFC2822.write(civil, offset: offset))
    case .epoch(let digits): return epoch(stored, digits: digits).map { .number($0) }
    case .pattern(let index):
      let zone = clock?.identifier ?? "UTC"
      return patterns[index].write(civil, offset: offset, zone: zone).map { .text($0) }
    case .calendar(let index): return calendarPatterns[index].write(civil).map { .text($0) }
    }
  }

  private func iso8601(_ stored: CivilTime, local: CivilTime, offset: Int) -> String {
    switch type {
    case .date: return text(of: local) { $0.writeDate(into: $1) }
    case .time: return text(of: local) { $0.writeTime(into: $1) }
    default: break
    }
    // Local mean times with seconds have no ISO 8601 offset: those are written in UTC.
    let isUTC = clock == nil || !offset.isMultiple(of: 60)
    let written = isUTC ? stored : local
    let date = text(of: written) { $0.writeDate(into: $1) }
    let time = text(of: written) { $0.writeTime(into: $1) }
    return "\(date)T\(time)" + (isUTC ? "Z" : offsetText(offset, separator: ":"))
  }

  private func text(
    of civil: CivilTime,
    _ write: (CivilTime, UnsafeMutableRawBufferPointer) -> Int
  ) -> String {
    withUnsafeTemporaryAllocation(byteCount: Self.capacity, alignment: 1) { output in
      String(decoding: output[..<write(civil, output)], as: UTF8.self)
    }
  }

  private func epoch(_ stored: CivilTime, digits: Int) -> String? {
    var seconds = stored.secondsSinceEpoch
    switch type {
    case .time: return nil
    case .date:
      if let clock {
        guard let offset = clock.offset(atLocal: seconds) else { return nil }
        seconds -= offset
      }
    default: break
    }
    let microseconds = seconds * 1_000_000 + stored.microsecond
    var unit = 1_000_000
    for _ in 0..<digits { unit /= 10 }
    let magnitude = microseconds.magnitude
    let whole = (microseconds < 0 ? "-" : "") + String(magnitude / UInt(unit))
    let rest = Int(magnitude % UInt(unit))
    guard rest > 0 else { return whole }
    var fraction = padded(rest, 6 - digits)
    while fraction.hasSuffix("0") { fraction.removeLast() }
    return "\(whole).\(fraction)"
  }
}
