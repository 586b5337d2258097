/// Dates and times of literals: ISO 8601 in, the canonical text of docs/file.md out.
enum CivilText {
  /// `yyyy-MM-dd`, or nil if the text is no such day.
  static func date(_ text: String) -> String? {
    var scanner = Scanner(text)
    guard let day = scanner.day(), scanner.isAtEnd else { return nil }
    return dayText(day)
  }

  /// `HH:mm:ss[.ffffff]` from a time of day with or without seconds and fraction.
  static func time(_ text: String) -> String? {
    var scanner = Scanner(text)
    guard let time = scanner.time(), scanner.isAtEnd else { return nil }
    return timeText(time.seconds, time.fraction)
  }

  /// `yyyy-MM-dd HH:mm:ss[.ffffff]` in UTC.
  ///
  /// Takes a date alone (midnight UTC), or a date, `T` or a space, a time, and `Z`, `±HH:mm`,
  /// `±HHmm`, `±HH` or nothing, which means UTC. Years are 0000 … 9999 after the shift to UTC.
  static func timestamp(_ text: String) -> String? {
    var scanner = Scanner(text)
    guard var day = scanner.day() else { return nil }
    if scanner.isAtEnd { return dayText(day).map { $0 + " 00:00:00" } }
    guard scanner.accept("T") || scanner.accept("t") || scanner.accept(" "),
      let time = scanner.time(), let offset = scanner.zone(), scanner.isAtEnd
    else { return nil }
    var seconds = time.seconds - offset
    while seconds < 0 {
      seconds += 86_400
      day -= 1
    }
    while seconds >= 86_400 {
      seconds -= 86_400
      day += 1
    }
    return dayText(day).map { "\($0) \(timeText(seconds, time.fraction))" }
  }

  /// `yyyy-MM-dd` of a day that `CivilDay` numbers; nil outside of the years 0000 to 9999.
  static func dayText(_ number: Int) -> String? {
    let day = CivilDay.civil(number)
    guard (0...9999).contains(day.year) else { return nil }
    return "\(padded(day.year, 4))-\(padded(day.month, 2))-\(padded(day.day, 2))"
  }

  static func timeText(_ seconds: Int, _ fraction: String) -> String {
    "\(padded(seconds / 3600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
      + (fraction.isEmpty ? "" : "." + fraction)
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private struct Scanner {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func accept(_ character: Unicode.Scalar) -> Bool {
      guard let first = rest.first, UInt32(first) == character.value else { return false }
      rest.removeFirst()
      return true
    }

    /// A number of exactly that many digits (at most 4, so it cannot overflow).
    mutating func number(_ digitCount: Int) -> Int? {
      let digits = rest.prefix(digitCount)
      guard digits.count == digitCount, digits.allSatisfy({ (48...57).contains($0) }) else {
        return nil
      }
      rest.removeFirst(digitCount)
      return digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    }

    /// A day that exists, as its number.
    mutating func day() -> Int? {
      guard let year = number(4), accept("-"), let month = number(2), accept("-"),
        let day = number(2), (1...12).contains(month)
      else { return nil }
      guard (1...CivilDay.count(ofMonth: month, in: year)).contains(day) else { return nil }
      return CivilDay.number(year, month, day)
    }

    /// A time of day in seconds, and its fraction without trailing zeros, at most microseconds.
    mutating func time() -> (seconds: Int, fraction: String)? {
      guard let hour = number(2), accept(":"), let minute = number(2), hour < 24, minute < 60
      else { return nil }
      guard accept(":") else { return (hour * 3600 + minute * 60, "") }
      guard let second = number(2), second < 60 else { return nil }
      var fraction = ""
      if accept(".") {
        let digits = rest.prefix { (48...57).contains($0) }
        guard !digits.isEmpty else { return nil }
        rest.removeFirst(digits.count)
        fraction = String(decoding: digits, as: UTF8.self)
        while fraction.hasSuffix("0") { fraction.removeLast() }
        guard fraction.utf8.count <= 6 else { return nil }
      }
      return (hour * 3600 + minute * 60 + second, fraction)
    }

    /// The distance from UTC in seconds; none written is 0.
    mutating func zone() -> Int? {
      if isAtEnd || accept("Z") || accept("z") { return 0 }
      let isNegative = accept("-")
      guard isNegative || accept("+"), let hours = number(2), hours < 24 else { return nil }
      var minutes = 0
      if !isAtEnd {
        _ = accept(":")
        guard let number = number(2), number < 60 else { return nil }
        minutes = number
      }
      return (isNegative ? -1 : 1) * (hours * 3600 + minutes * 60)
    }
  }
}
