/// A span of calendar and clock time, ISO 8601's `P1Y2M3DT4H5M6.5S`: months, days and time, each exact
/// and all of one direction.
///
///     CalendarDuration("P1W")?.days  // 7
///     CalendarDuration(months: 14)?.description  // "P1Y2M"
///
/// Twelve months are a year, seven days a week, sixty minutes an hour. Nothing else is the same in
/// every calendar: a month has 28 to 31 days and a day 23 to 25 hours. So `P1M` is not `P30D`, `P1D`
/// not `PT24H`, and durations are equal or not but have no order.
public struct CalendarDuration: Sendable, Hashable {
  /// Years and months as months.
  public let months: Int
  /// Weeks and days as days.
  public let days: Int
  /// Hours, minutes and seconds as microseconds.
  public let microseconds: Int64

  /// How many bytes a text has, at most.
  package static let capacity = 64

  private static let limit = Int(Int32.max)
  private static let hour: Int64 = 3_600_000_000
  private static let minute: Int64 = 60_000_000
  private static let second: Int64 = 1_000_000

  /// Makes a duration; nil where the parts have different signs, or where months or days are more than
  /// 2³¹−1.
  public init?(months: Int = 0, days: Int = 0, microseconds: Int64 = 0) {
    let signs = Set([months.signum(), days.signum(), Int(microseconds.signum())])
    guard (-Self.limit...Self.limit).contains(months), (-Self.limit...Self.limit).contains(days),
      microseconds != .min, !signs.isSuperset(of: [-1, 1])
    else { return nil }
    self.months = months
    self.days = days
    self.microseconds = microseconds
  }

  /// Reads ISO 8601: `P`, then numbers with `Y`, `M`, `W`, `D`, then `T` and numbers with `H`, `M`, `S`,
  /// each at most once and in this order; a minus sign before `P` goes for all of them.
  ///
  /// The last number of a time may have a fraction, `.5` or `,5`, that comes to whole microseconds.
  public init?(_ text: String) {
    var text = text
    guard let duration = text.withUTF8({ Self(UnsafeRawBufferPointer($0)) }) else { return nil }
    self = duration
  }

  /// Reads the bytes of a text, as `init(_:)` does.
  package init?(_ text: UnsafeRawBufferPointer) {
    var scanner = Scanner(rest: text[...])
    let sign: Int64 = scanner.accept("-") ? -1 : 1
    guard scanner.accept("P"), !scanner.rest.isEmpty,
      let years = scanner.number(of: "Y"), let months = scanner.number(of: "M"),
      let weeks = scanner.number(of: "W"), let days = scanner.number(of: "D")
    else { return nil }
    var time: Int64 = 0
    if scanner.accept("T") {
      guard !scanner.rest.isEmpty, let hours = scanner.number(of: "H", Self.hour),
        let minutes = scanner.number(of: "M", Self.minute),
        let seconds = scanner.number(of: "S", Self.second)
      else { return nil }
      let sums = hours.addingReportingOverflow(minutes)
      let total = sums.partialValue.addingReportingOverflow(seconds)
      guard !sums.overflow, !total.overflow else { return nil }
      time = total.partialValue
    }
    guard scanner.rest.isEmpty else { return nil }
    self.init(
      months: Int(sign * (years * 12 + months)),
      days: Int(sign * (weeks * 7 + days)),
      microseconds: sign * time
    )
  }

  /// Writes the canonical text, of at most `capacity` bytes.
  ///
  /// - Returns: How many bytes were written.
  package func write(into output: UnsafeMutableRawBufferPointer) -> Int {
    var count = 0
    func put(_ letter: Unicode.Scalar) {
      output[count] = UInt8(ascii: letter)
      count += 1
    }
    func put(_ number: UInt64) {
      if number > 9 { put(number / 10) }
      output[count] = UInt8(ascii: "0") + UInt8(number % 10)
      count += 1
    }
    func put(_ number: UInt64, _ unit: Unicode.Scalar) {
      guard number > 0 else { return }
      put(number)
      put(unit)
    }
    if months < 0 || days < 0 || microseconds < 0 { put("-") }
    put("P")
    let months = UInt64(months.magnitude)
    put(months / 12, "Y")
    put(months % 12, "M")
    put(UInt64(days.magnitude), "D")
    let time = microseconds.magnitude
    guard time > 0 || count == 1 else { return count }
    put("T")
    put(time / UInt64(Self.hour), "H")
    put(time % UInt64(Self.hour) / UInt64(Self.minute), "M")
    let seconds = time % UInt64(Self.minute)
    guard seconds > 0 || time == 0 else { return count }
    put(seconds / UInt64(Self.second))
    var fraction = seconds % UInt64(Self.second)
    if fraction > 0 { put(".") }
    var unit = UInt64(Self.second / 10)
    while fraction > 0 {
      put(fraction / unit)
      fraction %= unit
      unit /= 10
    }
    put("S")
    return count
  }

  private struct Scanner {
    var rest: Slice<UnsafeRawBufferPointer>

    mutating func accept(_ letter: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: letter) else { return false }
      rest.removeFirst()
      return true
    }

    /// The number before a unit's letter, 0 where the next number is one of another unit; nil where it
    /// is too large.
    ///
    /// A number of time is counted in `size` microseconds, and may have a fraction.
    mutating func number(of unit: Unicode.Scalar, _ size: Int64? = nil) -> Int64? {
      let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
      let value = { (digits: Slice<UnsafeRawBufferPointer>) in
        digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
      }
      let digits = rest.prefix(while: isDigit)
      var end = rest.dropFirst(digits.count)
      var fraction = end.prefix(0)
      if size != nil, let sign = end.first, sign == UInt8(ascii: ".") || sign == UInt8(ascii: ",") {
        fraction = end.dropFirst().prefix(while: isDigit)
        guard !fraction.isEmpty else { return nil }
        end = end.dropFirst(1 + fraction.count)
      }
      guard !digits.isEmpty, end.first == UInt8(ascii: unit) else { return 0 }
      rest = end.dropFirst()
      // What a number of ten digits counts cannot overflow in dates; limits are the initialiser's.
      let significant = digits.drop { $0 == UInt8(ascii: "0") }
      guard significant.count <= (size == nil ? 10 : 18) else { return nil }
      guard let size else { return value(significant) }
      let whole = value(significant).multipliedReportingOverflow(by: size)
      guard !whole.overflow else { return nil }
      if fraction.isEmpty { return whole.partialValue }
      while fraction.last == UInt8(ascii: "0") { fraction.removeLast() }
      guard fraction.count <= 9, rest.isEmpty else { return nil }
      let scale = fraction.reduce(Int64(1)) { scale, _ in scale * 10 }
      let (part, remainder) = (value(fraction) * size).quotientAndRemainder(dividingBy: scale)
      let total = whole.partialValue.addingReportingOverflow(part)
      return remainder == 0 && !total.overflow ? total.partialValue : nil
    }
  }
}

extension CalendarDuration: CustomStringConvertible {
  /// The canonical text: `P1Y2M3DT4H5M6.5S` without what is 0, `PT0S` for nothing; hours do not become
  /// days, nor days weeks or months.
  public var description: String {
    String(unsafeUninitializedCapacity: Self.capacity) {
      write(into: UnsafeMutableRawBufferPointer($0))
    }
  }
}

extension CalendarDuration: Codable {
  /// Reads the text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let duration = Self(text) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "\(text) is no duration of ISO 8601."
      )
    }
    self = duration
  }

  /// Writes the canonical text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
