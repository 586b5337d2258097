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
  /// A spelling counts only if reading it by the whole list gives the stored text again: so
  /// `dd.MM.yyyy` is passed over for a value with a time of day, a format without a zone for the second
  /// of two equal clock readings, and a spelling that an earlier format takes for another instant.
  /// Nil: no format of the list can spell the value, or the text is no stored one. Timestamps are
  /// written on the clock of the map's zone; in UTC where there is none, and where none of the formats can say its
  /// offset, as that of a local mean time with seconds.
  ///
  /// - Parameters:
  ///   - canonical: The stored text.
  ///   - isTextual: Whether numbers are read as text, as in XML and CSV.
  /// - Returns: The spelling, or nil.
  func write(canonical: String, isTextual: Bool = false) -> ForeignDate? {
    var canonical = canonical
    return canonical.withUTF8 { stored -> ForeignDate? in
      let stored = UnsafeRawBufferPointer(stored)
      guard let civil = readStored(stored) else { return nil }
      for clock in type == .timestamp && clock != nil ? [clock, nil] : [clock] {
        for format in formats {
          guard let spelling = spell(civil, as: format, on: clock) else { continue }
          if comesBack(spelling, to: stored, isTextual) { return spelling }
        }
      }
      return nil
    }
  }

  private func comesBack(
    _ spelling: ForeignDate,
    to stored: UnsafeRawBufferPointer,
    _ isTextual: Bool
  ) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: Self.capacity, alignment: 1) { output in
      var count = 0
      switch spelling {
      case .number(var text) where !isTextual:
        text.withUTF8 { count = read(number: UnsafeRawBufferPointer($0), into: output) }
      case .text(var text), .number(var text):
        text.withUTF8 { count = read(text: UnsafeRawBufferPointer($0), into: output) }
      }
      return count == stored.count && output[..<count].elementsEqual(stored)
    }
  }

  /// Whether the first format spells what is stored, but for a `T` and a `Z` in timestamps.
  var spellsAsStored: Bool {
    switch (type, formats.first) {
    case (.timestamp, .iso8601): clock == nil
    case (.date, .isoDate), (.date, .iso8601), (.time, .isoTime), (.time, .iso8601): true
    default: false
    }
  }

  /// Whether the text is one that the store holds: the only spelling of its value.
  func isStored(_ text: UnsafeRawBufferPointer) -> Bool {
    guard text.count <= Self.capacity, let civil = readStored(text) else { return false }
    return withUnsafeTemporaryAllocation(byteCount: Self.capacity, alignment: 1) { output in
      let count =
        switch type {
        case .date: civil.writeDate(into: output)
        case .time: civil.writeTime(into: output)
        default: civil.writeTimestamp(into: output)
        }
      return output[..<count].elementsEqual(text)
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

  private func spell(
    _ stored: CivilTime,
    as format: Format,
    on clock: ZoneClock?
  ) -> ForeignDate? {
    let offset = type == .timestamp ? clock?.offset(at: stored.secondsSinceEpoch) ?? 0 : 0
    // What the map's clock says; at the ends of the years that has no spelling, but UTC and epochs have.
    let local =
      offset == 0
      ? stored
      : CivilTime(seconds: stored.secondsSinceEpoch + offset, microsecond: stored.microsecond)
    switch format {
    case .iso8601: return .text(iso8601(stored, local: clock == nil ? nil : local, offset: offset))
    case .isoDate: return local.map { .text(text(of: $0) { $0.writeDate(into: $1) }) }
    case .isoTime: return local.map { .text(text(of: $0) { $0.writeTime(into: $1) }) }
    case .rfc2822: return local.map { .text(RFC2822.write($0, offset: offset)) }
    case .epoch(let digits): return epoch(stored, digits: digits).map { .number($0) }
    case .pattern(let index):
      let zone = clock?.identifier ?? "UTC"
      return local.flatMap { patterns[index].write($0, offset: offset, zone: zone) }
        .map { .text($0) }
    case .calendar(let index):
      return local.flatMap { calendarPatterns[index].write($0) }.map { .text($0) }
    }
  }

  private func iso8601(_ stored: CivilTime, local: CivilTime?, offset: Int) -> String {
    switch type {
    case .date: return text(of: stored) { $0.writeDate(into: $1) }
    case .time: return text(of: stored) { $0.writeTime(into: $1) }
    default: break
    }
    // Local mean times with seconds have no ISO 8601 offset: those are written in UTC.
    let ahead = offset.isMultiple(of: 60) ? local : nil
    let written = ahead ?? stored
    let date = text(of: written) { $0.writeDate(into: $1) }
    let time = text(of: written) { $0.writeTime(into: $1) }
    return "\(date)T\(time)" + (ahead == nil ? "Z" : offsetText(offset, separator: ":"))
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
