/// A sum of doubles without any rounding until it is asked for.
///
/// The total is one integer, counted in units of the smallest double, 2⁻¹⁰⁷⁴, in limbs of 32 bits that
/// are kept in 64 so that carries can wait (R. M. Neal, "Fast exact summation using small and large
/// superaccumulators", https://arxiv.org/abs/1505.05571).
struct ExactRealSum {
  /// 2¹⁰²⁴ units and room for 2⁶⁰ terms.
  private static let limbCount = 70
  private static let mask: Int64 = 0xFFFF_FFFF

  private var limbs = [Int64](repeating: 0, count: limbCount)
  private var pendingCount = 0
  private var hasPositiveInfinity = false
  private var hasNegativeInfinity = false

  /// Adds a term, which is not NaN.
  mutating func add(_ term: Double) {
    guard term.isFinite else {
      if term > 0 { hasPositiveInfinity = true } else { hasNegativeInfinity = true }
      return
    }
    let exponent = Int(term.exponentBitPattern)
    let mantissa = term.significandBitPattern | (exponent == 0 ? 0 : 1 << 52)
    let shift = max(exponent, 1) - 1
    let bits = UInt128(mantissa) << UInt128(shift & 31)
    let sign: Int64 = term.sign == .minus ? -1 : 1
    let place = shift >> 5
    limbs[place] += sign * Int64(truncatingIfNeeded: bits & 0xFFFF_FFFF)
    limbs[place + 1] += sign * Int64(truncatingIfNeeded: (bits >> 32) & 0xFFFF_FFFF)
    limbs[place + 2] += sign * Int64(truncatingIfNeeded: bits >> 64)
    pendingCount += 1
    if pendingCount == 1 << 30 {
      Self.carry(&limbs)
      pendingCount = 0
    }
  }

  /// The double nearest to the sum, ties to even; nil for infinities of both signs.
  var value: Double? {
    if hasPositiveInfinity || hasNegativeInfinity {
      guard hasPositiveInfinity != hasNegativeInfinity else { return nil }
      return hasPositiveInfinity ? .infinity : -.infinity
    }
    var limbs = limbs
    Self.carry(&limbs)
    let isNegative = (limbs.last ?? 0) < 0
    if isNegative {
      for index in limbs.indices { limbs[index] = -limbs[index] }
      Self.carry(&limbs)
    }
    let magnitude = Double(bitPattern: Self.pattern(limbs))
    return isNegative ? -magnitude : magnitude
  }

  /// The mean of so many terms, where their sum is beyond all doubles, too.
  func mean(of count: Int) -> Double? {
    guard let value, value.isInfinite, !hasPositiveInfinity, !hasNegativeInfinity else {
      return value.map { $0 / Double(count) }
    }
    // The sum in units of 2⁶⁴ of its own loses nothing that a double of that size holds.
    var smaller = ExactRealSum()
    smaller.limbs = Array(limbs.dropFirst(2)) + [0, 0]
    return smaller.value.map { $0 / Double(count) * 0x1p64 }
  }

  /// Brings all limbs but the last, which keeps the sign, into 0 ..< 2³².
  private static func carry(_ limbs: inout [Int64]) {
    for index in 0..<limbs.count - 1 {
      limbs[index + 1] += limbs[index] >> 32
      limbs[index] &= mask
    }
  }

  /// The bits of the double nearest to a number of units.
  ///
  /// Below 2⁵³ units the number is the bit pattern; above, a pattern is 2⁵² per binary place cut off
  /// plus the 53 leading bits, and rounding up carries into the exponent by itself.
  private static func pattern(_ limbs: [Int64]) -> UInt64 {
    guard let top = limbs.lastIndex(where: { $0 != 0 }) else { return 0 }
    let length = top * 32 + Int64.bitWidth - limbs[top].leadingZeroBitCount
    let cut = max(0, length - 53)
    func bit(_ place: Int) -> Bool { limbs[place >> 5] >> Int64(place & 31) & 1 == 1 }
    var leading: UInt64 = 0
    for place in stride(from: length - 1, through: cut, by: -1) {
      leading = leading << 1 | (bit(place) ? 1 : 0)
    }
    guard cut > 0 else { return leading }
    guard cut <= 2045 else { return Double.infinity.bitPattern }
    let isHalf = bit(cut - 1)
    let isMore =
      isHalf
      && (limbs[..<((cut - 1) >> 5)].contains { $0 != 0 }
        || (0..<((cut - 1) & 31)).contains { bit((cut - 1) & ~31 + $0) })
    let isRoundedUp = isHalf && (isMore || leading & 1 == 1)
    return UInt64(cut) << 52 + leading + (isRoundedUp ? 1 : 0)
  }
}
