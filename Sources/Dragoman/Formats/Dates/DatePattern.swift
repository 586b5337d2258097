/// A Unicode date pattern (LDML, UTS 35 part 4) compiled to steps over bytes.
///
/// Read byte by byte: numeric fields, English month and day names, AM/PM, offsets, zone names and
/// literal text. A field of two letters or more has exactly that many digits, a field of one letter
/// one or two (`y` up to four); fields that touch have the width of their letters. White space is
/// literal. The few other fields (`Y w D Q …`) are for `CalendarPattern`.
struct DatePattern: Sendable {
  /// What one step reads or writes.
  enum Field: UInt8 {
    case literal
    case year
    /// Two digits: 69 … 99 are 1969 …, 00 … 68 are 2000 … (POSIX).
    case shortYear
    case month
    case monthName
    case monthWholeName
    case day
    case weekdayName
    case weekdayWholeName
    /// 0 … 23.
    case hour
    /// 1 … 24.
    case hourFromOne
    /// 1 … 12, with AM or PM.
    case halfDayHour
    /// 0 … 11, with AM or PM.
    case halfDayHourFromZero
    case halfDay
    case minute
    case second
    case fraction
    /// `X`: `Z` or an offset.
    case offset
    /// `Z`: the same to read, written with digits for UTC too.
    case basicOffset
    /// `x`: an offset, never `Z`.
    case offsetWithoutZ
    /// `GMT`, `UTC`, `EST` …, `GMT+2`.
    case zoneName
    /// `Europe/Oslo`.
    case zoneIdentifier
    /// A field that only Foundation reads.
    case calendar
  }

  /// One step of the program.
  struct Step {
    var field: Field
    /// Letters of the field; the byte itself for a literal.
    var letters: UInt8
    /// Digits at least and at most, for numeric fields.
    var width: ClosedRange<Int> = 0...0
  }

  let text: String
  private(set) var steps: [Step] = []
  /// Whether the fields name a day: a year at least.
  private(set) var hasDate = false
  /// Whether the fields name a time of day: an hour at least.
  private(set) var hasTime = false
  /// The letters of fields that only Foundation reads.
  private var calendarLetters: Set<Character> = []
  /// Whether there are such fields.
  var needsCalendar: Bool { !calendarLetters.isEmpty }

  /// Compiles a pattern.
  ///
  /// - Throws: a fault that names the place of a letter that is no field, of a field with too many
  ///   letters, or of a quote that is not closed.
  init(_ text: String) throws(FormatFault) {
    self.text = text
    let bytes = Array(text.utf8)
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "'") {
        index = try appendQuoted(bytes, from: index)
      } else if ASCII.isLetter(byte) {
        let start = index
        while index < bytes.count, bytes[index] == byte { index += 1 }
        try appendField(Character(Unicode.Scalar(byte)), count: index - start, at: start)
      } else {
        steps.append(Step(field: .literal, letters: byte))
        index += 1
      }
    }
    try checkCombination()
    fixWidthsOfTouchingFields()
  }

  private mutating func appendQuoted(_ bytes: [UInt8], from quote: Int) throws(FormatFault) -> Int {
    var index = quote + 1
    if index < bytes.count, bytes[index] == bytes[quote] {
      steps.append(Step(field: .literal, letters: bytes[quote]))
      return index + 1
    }
    while index < bytes.count {
      if bytes[index] == bytes[quote] {
        guard index + 1 < bytes.count, bytes[index + 1] == bytes[quote] else { return index + 1 }
        index += 1
      }
      steps.append(Step(field: .literal, letters: bytes[index]))
      index += 1
    }
    throw FormatFault(
      "The quote at character \(quote + 1) of the date pattern \"\(text)\" is not closed."
    )
  }

  private mutating func appendField(
    _ letter: Character,
    count: Int,
    at index: Int
  ) throws(FormatFault) {
    let maximum: Int
    var field = Field.calendar
    var digits: ClosedRange<Int>?
    switch letter {
    case "y", "u":
      maximum = 4
      field = letter == "y" && count == 2 ? .shortYear : .year
      digits = count == 4 ? 4...4 : 1...4
    case "M", "L":
      maximum = 5
      field = [.month, .month, .monthName, .monthWholeName][safe: count - 1] ?? .calendar
    case "d": (maximum, field) = (2, .day)
    case "E": (maximum, field) = (4, count < 4 ? .weekdayName : .weekdayWholeName)
    case "c":
      maximum = 4
      field = [.calendar, .calendar, .weekdayName, .weekdayWholeName][safe: count - 1] ?? .calendar
    case "H": (maximum, field) = (2, .hour)
    case "k": (maximum, field) = (2, .hourFromOne)
    case "h": (maximum, field) = (2, .halfDayHour)
    case "K": (maximum, field) = (2, .halfDayHourFromZero)
    case "a": (maximum, field) = (4, .halfDay)
    case "m": (maximum, field) = (2, .minute)
    case "s": (maximum, field) = (2, .second)
    case "S":
      (maximum, field) = (12, .fraction)
      digits = count...count
    case "Z":
      maximum = 5
      field = [.basicOffset, .basicOffset, .basicOffset, .zoneName][safe: count - 1] ?? .offset
    case "X": (maximum, field) = (5, .offset)
    case "x": (maximum, field) = (5, .offsetWithoutZ)
    case "z": (maximum, field) = (3, .zoneName)
    case "O": (maximum, field) = (4, .zoneName)
    case "V": (maximum, field) = (2, .zoneIdentifier)
    case "Y", "Q", "q", "w", "W", "D", "F", "e", "b", "B": maximum = 6
    default:
      throw FormatFault(
        "\"\(letter)\" at character \(index + 1) of the date pattern \"\(text)\" is no field that "
          + "can be read; literal letters stand in single quotes."
      )
    }
    let isReadable = letter != "V" || count == 2
    guard count <= maximum, isReadable else {
      throw FormatFault(
        "\"\(String(repeating: letter, count: count))\" at character \(index + 1) of the date "
          + "pattern \"\(text)\" is no field that can be read."
      )
    }
    if field == .calendar { calendarLetters.insert(letter) }
    if "yuY".contains(letter) { hasDate = true }
    if "HkhK".contains(letter) { hasTime = true }
    steps.append(
      Step(
        field: field,
        letters: UInt8(count),
        width: digits ?? (count == 1 ? 1...2 : count...count)
      )
    )
  }

  private func checkCombination() throws(FormatFault) {
    // The last one would win, and nobody would hear of the others.
    let groups: [(name: String, fields: [Field])] = [
      ("year", [.year, .shortYear]), ("month", [.month, .monthName, .monthWholeName]),
      ("day", [.day]), ("weekday", [.weekdayName, .weekdayWholeName]),
      ("hour", [.hour, .hourFromOne, .halfDayHour, .halfDayHourFromZero]),
      ("minute", [.minute]), ("second", [.second]), ("fraction", [.fraction]),
      ("halfDay", [.halfDay]),
    ]
    for group in groups
    where steps.count(where: { group.fields.contains($0.field) }) > 1 {
      throw FormatFault("The date pattern \"\(text)\" names the \(group.name) twice.")
    }
    // Read with another year, some weeks of January would be of the next one.
    if calendarLetters.contains("w"), !calendarLetters.contains("Y") {
      throw FormatFault(
        "The date pattern \"\(text)\" has weeks without the year that they belong to, which is YYYY."
      )
    }
    let zones: [Field] = [.offset, .basicOffset, .offsetWithoutZ, .zoneName, .zoneIdentifier]
    for step in steps
    where needsCalendar
      && (zones.contains(step.field) || (step.field == .fraction && step.letters > 3))
    {
      throw FormatFault(
        "The date pattern \"\(text)\" joins a field of weeks, quarters or days of the year with "
          + "a zone or with more than three digits of a second; that cannot be read."
      )
    }
  }

  /// A number that is followed by a number cannot take as many digits as it likes.
  private mutating func fixWidthsOfTouchingFields() {
    for index in steps.indices.dropLast()
    where steps[index].isNumeric && steps[index + 1].isNumeric {
      let width = steps[index].field == .year ? 4 : steps[index].width.lowerBound
      steps[index].width = width...width
    }
  }
}

extension DatePattern.Step {
  /// Whether the field is made of digits alone.
  fileprivate var isNumeric: Bool {
    switch field {
    case .year, .shortYear, .month, .day, .hour, .hourFromOne, .halfDayHour,
      .halfDayHourFromZero, .minute, .second, .fraction:
      true
    default: false
    }
  }
}

extension Array {
  fileprivate subscript(safe index: Int) -> Element? {
    indices.contains(index) ? self[index] : nil
  }
}
