/// What the numbers of a place are: whole or not, how many digits, from where to where.
struct NumberProfile {
  private(set) var count = 0
  /// Whether all are whole numbers of 64 bits, written without point and exponent.
  private(set) var isWhole = true
  private(set) var least = Int64.max
  private(set) var greatest = Int64.min
  /// The most digits behind the point, and in all.
  private(set) var fractionDigits = 0
  private(set) var significantDigits = 0
  private(set) var hasExponent = false
  /// Whether an exponent has three digits or more.
  private(set) var hasHugeExponent = false
  /// How many digits whole numbers have, a bit for each count.
  private var digitCounts: UInt32 = 0

  /// Whether whole numbers have so many digits.
  func hasDigits(_ counts: ClosedRange<Int>) -> Bool {
    counts.contains { digitCounts & (1 << UInt32($0)) != 0 }
  }

  /// Sees a number as JSON writes it.
  mutating func see(_ digits: UnsafeRawBufferPointer) {
    count += 1
    var value: Int64 = 0
    var isWhole = true
    var fraction = 0
    var significant = 0
    var exponent: Int?
    let isNegative = digits.first == UInt8(ascii: "-")
    for byte in digits {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        if let digits = exponent {
          exponent = digits + 1
          continue
        }
        let digit = Int64(byte - UInt8(ascii: "0"))
        if significant > 0 || digit > 0 { significant += 1 }
        if fraction > 0 {
          fraction += 1
        } else if isWhole {
          let (product, over) = value.multipliedReportingOverflow(by: 10)
          let (sum, overSum) =
            isNegative
            ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
          value = sum
          if over || overSum { isWhole = false }
        }
      case UInt8(ascii: "."):
        isWhole = false
        fraction = 1
      case UInt8(ascii: "e"), UInt8(ascii: "E"):
        isWhole = false
        hasExponent = true
        exponent = 0
      default: break
      }
    }
    if exponent ?? 0 > 2 { hasHugeExponent = true }
    fractionDigits = max(fractionDigits, fraction - 1)
    significantDigits = max(significantDigits, significant)
    if isWhole {
      least = min(least, value)
      greatest = max(greatest, value)
      digitCounts |= 1 << UInt32(min(significant, 31))
    } else {
      self.isWhole = false
    }
  }

  mutating func merge(_ other: NumberProfile) {
    count += other.count
    isWhole = isWhole && other.isWhole
    least = min(least, other.least)
    greatest = max(greatest, other.greatest)
    fractionDigits = max(fractionDigits, other.fractionDigits)
    significantDigits = max(significantDigits, other.significantDigits)
    digitCounts |= other.digitCounts
    hasExponent = hasExponent || other.hasExponent
    hasHugeExponent = hasHugeExponent || other.hasHugeExponent
  }
}
