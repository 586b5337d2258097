#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Why a number does not fit the type that it is wanted as.
enum NumberFault: Error {
  /// An integer is wanted and there is something behind the point.
  case fractional
  /// The type cannot hold a number that large.
  case outOfRange
  /// A decimal has more digits behind the point than its scale admits.
  case tooManyDigits
  /// A decimal written without exponent would be longer than the limit (or the caller's buffer).
  case tooLong
}

/// A number in plain notation (the grammar of JSON, RFC 8259 section 6), split but not yet converted.
///
/// The digits stay where they are: nothing is lost until the type is known. Scanning is O(n), and so
/// is every conversion; exponents are never expanded beyond `maximumZeros`.
///
///     PlainNumber(bytes)          nil: not a number
///       .int64()                  1, 1.0, 1E3 …
///       .double() .float()        correctly rounded
///       .decimal(scale:into:)     canonical text
struct PlainNumber {
  /// Which spellings are a number.
  enum Notation {
    /// JSON's grammar to the letter.
    case json
    /// Text of XML and CSV, where a plus sign and leading zeros are usual too.
    case text
  }

  /// The most zeros that writing out an exponent may add to a decimal.
  static let maximumZeros = 1000
  /// The most digits behind the point that a scale may ask for.
  static let maximumScale = 1000

  private let text: UnsafeRawBufferPointer
  let isNegative: Bool
  private let integerStart: Int
  private let integerCount: Int
  private let fractionStart: Int
  private let fractionCount: Int
  private let exponent: Int
  /// All digits as one integer, meaningless unless `isShort`: what most numbers are converted from.
  private let mantissa: UInt64

  /// Scans a text that must be a number from end to end, without white space.
  @inline(__always)
  init?(_ text: UnsafeRawBufferPointer, notation: Notation = .json) {
    let count = text.count
    guard count > 0 else { return nil }
    var index = 0
    var mantissa: UInt64 = 0
    isNegative = text[0] == UInt8(ascii: "-")
    if isNegative || (notation == .text && text[0] == UInt8(ascii: "+")) { index = 1 }

    integerStart = index
    while index < count, ASCII.isDigit(text[index]) {
      mantissa = mantissa &* 10 &+ UInt64(text[index] &- 0x30)
      index += 1
    }
    integerCount = index - integerStart
    guard integerCount > 0 else { return nil }
    if notation == .json, integerCount > 1, text[integerStart] == 0x30 { return nil }

    if index < count, text[index] == UInt8(ascii: ".") {
      index += 1
      fractionStart = index
      while index < count, ASCII.isDigit(text[index]) {
        mantissa = mantissa &* 10 &+ UInt64(text[index] &- 0x30)
        index += 1
      }
      fractionCount = index - fractionStart
      guard fractionCount > 0 else { return nil }
    } else {
      fractionStart = index
      fractionCount = 0
    }

    if index < count {
      guard let value = Self.exponent(of: text.dropping(first: index)) else { return nil }
      exponent = value
    } else {
      exponent = 0
    }
    self.text = text
    self.mantissa = mantissa
  }

  /// Reads `e±digits` up to the end; values beyond any use are cut at 2⁴⁰ or so.
  private static func exponent(of text: UnsafeRawBufferPointer) -> Int? {
    var cursor = ByteCursor(text)
    guard cursor.take(UInt8(ascii: "e")) || cursor.take(UInt8(ascii: "E")) else { return nil }
    let isNegative = cursor.take(UInt8(ascii: "-"))
    if !isNegative { _ = cursor.take(UInt8(ascii: "+")) }
    guard !cursor.isAtEnd else { return nil }
    var value = 0
    while ASCII.isDigit(cursor.next) {
      if value < 1 << 40 { value = value &* 10 &+ Int(cursor.next &- 0x30) }
      cursor.skip(1)
    }
    guard cursor.isAtEnd else { return nil }
    return isNegative ? -value : value
  }

  /// Whether all digits fit `mantissa`.
  private var isShort: Bool { integerCount + fractionCount <= 19 }

  /// A digit's byte, counted over integer and fraction digits together.
  private func digit(_ index: Int) -> UInt8 {
    text[index < integerCount ? integerStart + index : fractionStart + index - integerCount]
  }

  /// The digits between the zeros at both ends (empty: the number is zero), and the digit that the
  /// decimal point stands before.
  private var significant: (first: Int, end: Int, point: Int) {
    var first = 0
    var end = integerCount + fractionCount
    while first < end, digit(first) == 0x30 { first += 1 }
    while end > first, digit(end - 1) == 0x30 { end -= 1 }
    return (first, end, first == end ? end : integerCount + exponent)
  }

  // MARK: - Integers

  /// The number as a 64-bit integer: `1`, `1.0`, `1E3`, and `-0` is 0.
  @inline(__always)
  func int64() throws(NumberFault) -> Int64 {
    if integerCount <= 18, fractionCount == 0, exponent == 0 {
      return isNegative ? -Int64(mantissa) : Int64(mantissa)
    }
    let (first, end, point) = significant
    guard point >= end else { throw .fractional }
    return try integer(from: first, through: point, end: end)
  }

  /// The number times 10^`shift` as a 64-bit integer; what is left behind the point is cut.
  func int64(shiftedBy shift: Int) throws(NumberFault) -> Int64 {
    let (first, end, point) = significant
    guard first < end else { return 0 }
    return try integer(from: first, through: point + shift, end: end)
  }

  /// Whether `int64(shiftedBy:)` leaves out digits that are not zero.
  func cutsDigits(shiftedBy shift: Int) -> Bool {
    let (first, end, point) = significant
    return first < end && end > max(first, point + shift)
  }

  private func integer(from first: Int, through point: Int, end: Int) throws(NumberFault) -> Int64 {
    guard point > first else { return 0 }
    guard point - first <= 19 else { throw .outOfRange }
    var magnitude: UInt64 = 0
    for index in first..<point {
      let value = index < end ? digit(index) &- 0x30 : 0
      magnitude = magnitude &* 10 &+ UInt64(value)
    }
    if isNegative {
      guard magnitude <= UInt64(Int64.max) + 1 else { throw .outOfRange }
      return Int64(truncatingIfNeeded: 0 &- magnitude)
    }
    guard magnitude <= UInt64(Int64.max) else { throw .outOfRange }
    return Int64(magnitude)
  }

  // MARK: - Binary floating point

  /// The nearest binary64; too large is out of range, too small is 0.
  ///
  /// Minus zero is 0, because SQLite keeps no sign on a REAL zero.
  @inline(__always)
  func double() throws(NumberFault) -> Double {
    let power = exponent - fractionCount
    if isShort, mantissa <= 1 << 53, -22...22 ~= power {
      // Both operands are exact, so the one operation rounds correctly (Clinger 1990).
      let value =
        power < 0
        ? Double(mantissa) / Self.powersOfTen[-power] : Double(mantissa) * Self.powersOfTen[power]
      return isNegative && mantissa != 0 ? -value : value
    }
    let value = withDigitText { strtod($0, nil) }
    guard value.isFinite else { throw .outOfRange }
    return value == 0 ? 0 : value
  }

  /// The nearest binary32, rounded once; too large is out of range, too small is 0.
  func float() throws(NumberFault) -> Float {
    let power = exponent - fractionCount
    if isShort, mantissa <= 1 << 24, -10...10 ~= power {
      let scale = Float(Self.powersOfTen[abs(power)])
      let value = power < 0 ? Float(mantissa) / scale : Float(mantissa) * scale
      return isNegative && mantissa != 0 ? -value : value
    }
    let value = withDigitText { strtof($0, nil) }
    guard value.isFinite else { throw .outOfRange }
    return value == 0 ? 0 : value
  }

  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]

  /// Lends `-123e-45` with a NUL behind it to the C library.
  ///
  /// There is no decimal point in it, so the locale has no say. 768 digits decide every rounding of
  /// a double; the rest, which is not zero, is told by one more digit.
  private func withDigitText<Value>(_ body: (UnsafePointer<CChar>) -> Value) -> Value {
    withUnsafeTemporaryAllocation(byteCount: 832, alignment: 1) { buffer in
      var count = 0
      func append(_ byte: UInt8) {
        buffer[count] = byte
        count += 1
      }
      if isNegative { append(UInt8(ascii: "-")) }
      let (first, end, point) = significant
      if first == end { append(0x30) }
      let kept = min(end, first + 768)
      for index in first..<kept { append(digit(index)) }
      if kept < end { append(UInt8(ascii: "1")) }
      var exponent = point - (kept < end ? kept + 1 : kept)
      exponent = min(max(exponent, -99_999), 99_999)
      append(UInt8(ascii: "e"))
      if exponent < 0 { append(UInt8(ascii: "-")) }
      var divisor = 10_000
      while divisor > 0 {
        append(0x30 + UInt8(abs(exponent) / divisor % 10))
        divisor /= 10
      }
      append(0)
      return buffer.withMemoryRebound(to: CChar.self) { characters in
        characters.baseAddress.map { body(UnsafePointer($0)) } ?? body("0")
      }
    }
  }

  // MARK: - Decimals

  /// The most bytes that `decimal(scale:into:)` writes for a text of that many bytes.
  static func decimalCapacity(byteCount: Int, scale: Int?) -> Int {
    byteCount + maximumZeros + min(max(scale ?? 0, 0), maximumScale) + 3
  }

  /// Writes the number as docs/file.md spells decimals and returns the number of bytes.
  ///
  /// No exponent, no plus, no leading or trailing zeros, no minus on zero; with a scale exactly that
  /// many digits behind the point, and more significant ones are refused, not rounded.
  func decimal(
    scale: Int? = nil,
    into output: UnsafeMutableRawBufferPointer
  ) throws(NumberFault) -> Int {
    let (first, end, point) = significant
    let isZero = first == end
    let fractionCount = max(0, end - point)
    if let scale, fractionCount > scale { throw .tooManyDigits }
    guard scale ?? 0 <= Self.maximumScale, point - end <= Self.maximumZeros,
      first - point <= Self.maximumZeros
    else {
      throw .tooLong
    }
    let writtenFraction = max(scale ?? fractionCount, 0)
    let integerDigits = isZero ? 0 : max(0, point - first)
    let needed = 2 + max(1, integerDigits) + writtenFraction
    guard needed <= output.count else { throw .tooLong }

    var count = 0
    func append(_ byte: UInt8) {
      output[count] = byte
      count += 1
    }
    if isNegative, !isZero { append(UInt8(ascii: "-")) }
    if integerDigits == 0 { append(0x30) }
    for place in 0..<integerDigits {
      append(first + place < end ? digit(first + place) : 0x30)
    }
    if writtenFraction > 0 {
      append(UInt8(ascii: "."))
      for place in 0..<writtenFraction {
        let index = point + place
        append(index >= first && index < end ? digit(index) : 0x30)
      }
    }
    return count
  }
}
