/// A sum of decimals of any length, exact.
///
/// Groups of nine digits, those before and those behind the point apart; a group is kept in 64 bits
/// and may be out of range or negative until the sum is written, so that a term costs one addition
/// a group.
struct DecimalSum {
  private static let base: Int64 = 1_000_000_000
  private static let digitCount = 9

  /// Groups before the point, the lowest first.
  private var whole: [Int64] = []
  /// Groups behind the point, the highest first.
  private var fraction: [Int64] = []
  private var pendingCount = 0

  /// Adds a decimal; false, and nothing added, if the text is none.
  mutating func add(_ text: String) -> Bool {
    guard let canonical = DecimalText.canonical(text) else { return false }
    var digits = Array(canonical.utf8)[...]
    let sign: Int64 = digits.first == UInt8(ascii: "-") ? -1 : 1
    if sign < 0 { digits.removeFirst() }
    let point = digits.firstIndex(of: UInt8(ascii: ".")) ?? digits.endIndex
    var place = 0
    var end = point
    while end > digits.startIndex {
      let start = max(digits.startIndex, end - Self.digitCount)
      if place == whole.count { whole.append(0) }
      whole[place] += sign * Self.number(digits[start..<end])
      place += 1
      end = start
    }
    place = 0
    var start = min(point + 1, digits.endIndex)
    while start < digits.endIndex {
      let end = min(digits.endIndex, start + Self.digitCount)
      var group = Self.number(digits[start..<end])
      for _ in (end - start)..<Self.digitCount { group *= 10 }
      if place == fraction.count { fraction.append(0) }
      fraction[place] += sign * group
      place += 1
      start = end
    }
    pendingCount += 1
    if pendingCount == 1 << 30 {
      carry()
      pendingCount = 0
    }
    return true
  }

  /// The sum, canonical.
  var text: String {
    let (isNegative, magnitude) = normalized()
    return (isNegative ? "-" : "") + magnitude.text
  }

  /// The sum divided by a count of 1 … 2³², canonical, rounded half to even 16 digits behind the last
  /// one of the sum.
  func divided(by count: Int64) -> String {
    var (isNegative, quotient) = normalized()
    let precision = quotient.fractionDigitCount + 16
    // Two groups more than wanted, and whether there is a remainder behind them.
    let wanted = (precision + Self.digitCount - 1) / Self.digitCount + 1
    while quotient.fraction.count < wanted { quotient.fraction.append(0) }
    var remainder: Int64 = 0
    func divide(_ group: inout Int64) {
      let dividend = Int128(remainder) * Int128(Self.base) + Int128(group)
      group = Int64(dividend / Int128(count))
      remainder = Int64(dividend % Int128(count))
    }
    for index in quotient.whole.indices.reversed() { divide(&quotient.whole[index]) }
    for index in quotient.fraction.indices { divide(&quotient.fraction[index]) }
    quotient.round(to: precision, hasRemainder: remainder != 0)
    if quotient.isZero { isNegative = false }
    return (isNegative ? "-" : "") + quotient.text
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64 {
    digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
  }

  /// Brings every group but the highest into 0 ..< base.
  private mutating func carry() {
    var carried: Int64 = 0
    func settle(_ group: inout Int64) {
      group += carried
      carried = group / Self.base
      group %= Self.base
      if group < 0 {
        group += Self.base
        carried -= 1
      }
    }
    for index in fraction.indices.reversed() { settle(&fraction[index]) }
    for index in whole.indices { settle(&whole[index]) }
    while carried != 0 && carried != -1 {
      whole.append(0)
      settle(&whole[whole.count - 1])
    }
    if carried == -1 { whole.append(-1) }
  }

  private func normalized() -> (isNegative: Bool, magnitude: Magnitude) {
    var sum = self
    sum.carry()
    let isNegative = sum.whole.last == -1
    if isNegative {
      for index in sum.whole.indices { sum.whole[index] = -sum.whole[index] }
      for index in sum.fraction.indices { sum.fraction[index] = -sum.fraction[index] }
      sum.carry()
    }
    return (isNegative, Magnitude(whole: sum.whole, fraction: sum.fraction))
  }
}

extension DecimalSum {
  /// A number that is not negative, every group in range.
  private struct Magnitude {
    var whole: [Int64]
    var fraction: [Int64]

    var isZero: Bool { whole.allSatisfy { $0 == 0 } && fraction.allSatisfy { $0 == 0 } }

    var fractionDigitCount: Int {
      let digits = fractionDigits
      return digits.count - digits.reversed().prefix { $0 == UInt8(ascii: "0") }.count
    }

    private var fractionDigits: [UInt8] { fraction.flatMap(Self.digits) }

    var text: String {
      let digits = whole.reversed().flatMap(Self.digits) + [UInt8(ascii: ".")] + fractionDigits
      let text = String(decoding: digits, as: UTF8.self)
      let padded = (whole.isEmpty ? "0" : "") + text + (fraction.isEmpty ? "0" : "")
      return DecimalText.canonical(padded) ?? "0"
    }

    /// Cuts the fraction off behind that many digits, half to even.
    mutating func round(to precision: Int, hasRemainder: Bool) {
      let digits = fractionDigits
      guard precision < digits.count else { return }
      let kept = digits[..<precision]
      let half = digits[precision] == UInt8(ascii: "5")
      let isMore =
        digits[precision] > UInt8(ascii: "5")
        || half && (hasRemainder || digits[(precision + 1)...].contains { $0 != UInt8(ascii: "0") })
      let last = kept.last ?? UInt8(ascii: "0")
      let isRoundedUp = isMore || half && !last.isMultiple(of: 2)
      var sum = DecimalSum()
      let zero = DecimalSum.Magnitude(whole: whole, fraction: []).text
      _ = sum.add(zero)
      _ = sum.add("0." + String(decoding: kept, as: UTF8.self))
      if isRoundedUp { _ = sum.add("0." + String(repeating: "0", count: precision - 1) + "1") }
      self = sum.normalized().magnitude
    }

    private static func digits(_ group: Int64) -> [UInt8] {
      let digits = Array(String(group).utf8)
      return Array(repeating: UInt8(ascii: "0"), count: DecimalSum.digitCount - digits.count)
        + digits
    }
  }
}
