import DragomanGraph

/// Reads dates, times and timestamps by declared formats, and writes them back.
///
/// The formats are tried in order; the first that takes the whole text wins. What comes out is the
/// text that docs/file.md keeps. Nothing is guessed, nothing is rolled over: 29 February 2023, hour 24,
/// second 60, and a weekday that is not the date's are invalid.
///
/// - A **timestamp** whose text has no zone stands on the clock of the map's time zone (none: UTC).
///   A reading in a DST gap is invalid; in an overlap the earlier instant is meant.
/// - A **date** or **time** read from text is the one written: a zone behind it is checked and has
///   no other effect. Read from an epoch number, it is the one on the map's clock at that instant.
/// - A text or number with a time of day other than 0:00 is no **date**: the time would be lost.
/// - Fractions of a second are kept to microseconds; further digits are cut, never rounded.
/// - Years are 0000 to 9999, after conversion to UTC too. Two-digit years are 1969 to 2068 in
///   patterns (POSIX) and 1950 to 2049 in `rfc2822` (RFC 2822 section 4.3).
///
/// `iso8601` takes `yyyy-MM-dd'T'HH:mm[:ss[.f…]][zone]`, a space for the `T`, a comma for the point,
/// and as zone `Z`, `±hh`, `±hhmm` or `±hh:mm`. For date and time attributes it takes the bare date
/// or time too. A date alone is no timestamp: `iso8601-date` says that it means midnight.
struct DateReader: Sendable {
  /// The most bytes that reading writes.
  static let capacity = CivilTime.storedCapacity

  /// One compiled format; the tables are kept beside it so that walking the list copies no object.
  enum Format: Equatable {
    case iso8601
    case isoDate
    case isoTime
    case rfc2822
    /// Units of 10^-`digits` seconds since 1970.
    case epoch(digits: Int)
    /// An index into `patterns`.
    case pattern(Int)
    /// An index into `calendarPatterns`.
    case calendar(Int)
  }

  let type: AttributeType
  let clock: ZoneClock?
  private(set) var formats: [Format] = []
  private(set) var patterns: [DatePattern] = []
  private(set) var calendarPatterns: [CalendarPattern] = []
  /// The formats as declared, for messages.
  let formatNames: [String]
  /// Whether epoch formats read numbers in strings, too.
  private let readsEpochText: Bool

  /// The formats that have names; every other text is a Unicode (LDML) pattern.
  static let names = ["iso8601", "iso8601-date", "rfc2822", "unix", "unix-ms", "unix-us"]

  /// Whether a text looks like a name: patterns have separators, and most of their fields several letters.
  private static func isLikeName(_ text: String) -> Bool {
    text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    } && !zip(text.utf8, text.utf8.dropFirst()).contains { $0 == $1 }
  }

  /// Compiles a list of formats.
  ///
  /// Formats that cannot give the type (a time of day for a timestamp) are passed over, because a
  /// map's defaults serve attributes of all three types; it is a fault when none is left.
  /// - Parameters:
  ///   - formats: named formats and LDML patterns in the order in which they are tried; empty: the
  ///     type's own (`iso8601`, `iso8601-date`, `HH:mm[:ss[.ffffff]]`).
  ///   - type: `.timestamp`, `.date` or `.time`.
  ///   - timeZone: the IANA name of the zone of values that carry none; nil: UTC.
  ///   - readsEpochText: whether epoch formats read numbers in strings, too.
  /// - Throws: a fault for an unknown name or zone, or a pattern that cannot be used.
  init(
    formats: [String],
    type: AttributeType,
    timeZone: String?,
    readsEpochText: Bool = true
  ) throws(FormatFault) {
    self.type = type
    self.readsEpochText = readsEpochText
    switch timeZone {
    case nil, "UTC", "GMT", "Etc/UTC": clock = nil
    case let identifier?: clock = try ZoneClock(identifier: identifier)
    }
    guard !formats.isEmpty else {
      switch type {
      case .date: (formatNames, self.formats) = (["iso8601-date"], [.isoDate])
      case .time: (formatNames, self.formats) = (["HH:mm[:ss[.ffffff]]"], [.isoTime])
      default: (formatNames, self.formats) = (["iso8601"], [.iso8601])
      }
      return
    }
    formatNames = formats
    for format in formats { try compile(format) }
    guard !self.formats.isEmpty else {
      throw FormatFault(
        "None of the date formats (\(formats.joined(separator: ", "))) gives a \(type.rawValue)."
      )
    }
  }

  private mutating func compile(_ text: String) throws(FormatFault) {
    switch text {
    case "iso8601": formats.append(.iso8601)
    case "iso8601-date": if type != .time { formats.append(.isoDate) }
    case "rfc2822": formats.append(.rfc2822)
    case "unix": formats.append(.epoch(digits: 0))
    case "unix-ms": formats.append(.epoch(digits: 3))
    case "unix-us": formats.append(.epoch(digits: 6))
    default:
      let pattern: DatePattern
      do {
        pattern = try DatePattern(text)
      } catch {
        let near = nearest(to: text, in: Self.names)
        guard near == nil, Self.isLikeName(text) else {
          throw FormatFault(error.message, suggestion: near)
        }
        let names = Self.names.joined(separator: ", ")
        throw FormatFault(
          "No format has this name (there are \(names)), and as a pattern: \(error.message)"
        )
      }
      guard type == .time ? pattern.hasTime : pattern.hasDate else { return }
      if pattern.needsCalendar {
        calendarPatterns.append(CalendarPattern(text))
        formats.append(.calendar(calendarPatterns.count - 1))
      } else {
        patterns.append(pattern)
        formats.append(.pattern(patterns.count - 1))
      }
    }
  }

  // MARK: - Reading

  /// Writes what the text means as docs/file.md spells it and returns the number of bytes.
  ///
  /// 0: no format took it. White space around the value is not removed here.
  ///
  /// The output has room for `capacity` bytes at least.
  func read(
    text: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) -> Int {
    precondition(output.count >= Self.capacity)
    for format in formats {
      let count = read(text, as: format, into: output)
      if count > 0 { return count }
    }
    return 0
  }

  /// Writes what a JSON number means by the first format that counts from 1970, or is a pattern of digits; 0: there is none.
  ///
  /// The digits are read as they are written: no fraction passes through a double.
  ///
  /// The output has room for `capacity` bytes at least.
  func read(
    number: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) -> Int {
    precondition(output.count >= Self.capacity)
    let isDigits = number.allSatisfy(ASCII.isDigit)
    for format in formats {
      let count =
        switch format {
        case .epoch(let digits): readEpoch(number, digits: digits, into: output)
        // As 20241231 is by yyyyMMdd.
        case .pattern where isDigits, .calendar where isDigits:
          read(number, as: format, into: output)
        default: 0
        }
      if count > 0 { return count }
    }
    return 0
  }

  func read(
    _ text: UnsafeRawBufferPointer,
    as format: Format,
    into output: UnsafeMutableRawBufferPointer
  ) -> Int {
    let parsed: ParsedTime?
    switch format {
    case .iso8601: parsed = ISO8601.read(text, type: type)
    case .isoDate: parsed = ISO8601.readDate(text, type: type)
    case .isoTime: parsed = ISO8601.readTime(text)
    case .rfc2822: parsed = RFC2822.read(text)
    case .epoch(let digits):
      return readsEpochText ? readEpoch(text, digits: digits, into: output) : 0
    case .pattern(let index): parsed = patterns[index].read(text)
    case .calendar(let index): parsed = calendarPatterns[index].read(text)
    }
    guard let parsed, parsed.civil.isValid else { return 0 }
    return store(parsed, into: output)
  }

  private func store(_ parsed: ParsedTime, into output: UnsafeMutableRawBufferPointer) -> Int {
    let civil = parsed.civil
    switch type {
    case .date: return civil.isMidnight ? civil.writeDate(into: output) : 0
    case .time: return civil.writeTime(into: output)
    default: break
    }
    let offset: Int
    if let written = parsed.offset {
      offset = written
    } else if let clock {
      guard let found = clock.offset(atLocal: civil.secondsSinceEpoch) else { return 0 }
      offset = found
    } else {
      offset = 0
    }
    guard offset != 0 else { return civil.writeTimestamp(into: output) }
    let utc = CivilTime(
      seconds: civil.secondsSinceEpoch - offset,
      microsecond: civil.microsecond
    )
    return utc?.writeTimestamp(into: output) ?? 0
  }

  /// Writes the instant, or the date or time that the map's clock shows at it; 0: out of range.
  ///
  /// The output has room for `capacity` bytes at least.
  func write(
    secondsSinceEpoch seconds: Int,
    microsecond: Int,
    into output: UnsafeMutableRawBufferPointer
  ) -> Int {
    guard CivilTime.secondsRange.contains(seconds) else { return 0 }
    let offset = type == .timestamp ? 0 : clock?.offset(at: seconds) ?? 0
    guard let civil = CivilTime(seconds: seconds + offset, microsecond: microsecond) else {
      return 0
    }
    switch type {
    case .date: return civil.writeDate(into: output)
    case .time: return civil.writeTime(into: output)
    default: return civil.writeTimestamp(into: output)
    }
  }

  private func readEpoch(
    _ text: UnsafeRawBufferPointer,
    digits: Int,
    into output: UnsafeMutableRawBufferPointer
  ) -> Int {
    guard let number = PlainNumber(text),
      let shifted = try? number.int64(shiftedBy: 6 - digits), shifted > .min
    else { return 0 }
    // What is cut of a time before 1970 makes it an earlier one, as where it is written as a date.
    let isCut = number.isNegative && number.cutsDigits(shiftedBy: 6 - digits)
    let microseconds = Int(shifted) - (isCut ? 1 : 0)
    let rest = microseconds % 1_000_000
    let seconds = microseconds.quotientRoundedDown(by: 1_000_000)
    if type == .date, CivilTime.secondsRange.contains(seconds) {
      let local = seconds + (clock?.offset(at: seconds) ?? 0)
      guard rest == 0, local.isMultiple(of: 86_400) else { return 0 }
    }
    return write(
      secondsSinceEpoch: seconds,
      microsecond: rest < 0 ? rest + 1_000_000 : rest,
      into: output
    )
  }
}

/// What a text said: a clock reading and, where it named one, the offset from UTC in seconds.
struct ParsedTime {
  var civil = CivilTime()
  var offset: Int?
}
