extension ExportBuffer {
  /// Appends an integer in decimal notation.
  @inline(__always)
  func append(decimal value: Int64) {
    append(upTo: 20) { output in
      var magnitude = value.magnitude
      var start = 20
      withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
        repeat {
          start -= 1
          let (quotient, digit) = magnitude.quotientAndRemainder(dividingBy: 10)
          digits[start] = 0x30 &+ UInt8(truncatingIfNeeded: digit)
          magnitude = quotient
        } while magnitude > 0
        if value < 0 {
          start -= 1
          digits[start] = UInt8(ascii: "-")
        }
        output.copyMemory(from: UnsafeRawBufferPointer(rebasing: digits[start...]))
      }
      return 20 - start
    }
  }

  /// Appends the shortest decimal that is read as the same double, `2.0` for 2.
  ///
  /// A double is the quotient of a short integer and a power of ten more often than not; both are
  /// exact in a double up to 2⁵³ and 10²², so that one division tells (Clinger 1990). All others are
  /// left to the standard library.
  func append(shortest value: Double) {
    var power = 1.0
    for digitCount in 0...6 {
      let scaled = value * power
      guard scaled.magnitude < 9_007_199_254_740_992 else { break }
      let rounded = scaled.rounded()
      // Zero has a sign that an integer does not keep.
      if rounded != 0, rounded / power == value {
        return append(Int64(rounded), digitCount)
      }
      power *= 10
    }
    append("\(value)")
  }

  /// Appends an integer with a point before its last digits.
  private func append(_ integer: Int64, _ digitCount: Int) {
    if digitCount == 0 {
      // The standard library writes larger ones with an exponent.
      guard integer.magnitude < 1 << 53 else { return append("\(Double(integer))") }
      append(decimal: integer)
      append(".0")
      return
    }
    var unit: UInt64 = 1
    for _ in 0..<digitCount { unit *= 10 }
    if integer < 0 { append(UInt8(ascii: "-")) }
    let magnitude = integer.magnitude
    append(decimal: Int64(magnitude / unit))
    append(UInt8(ascii: "."))
    var rest = magnitude % unit
    for _ in 0..<digitCount {
      unit /= 10
      append(0x30 &+ UInt8(truncatingIfNeeded: rest / unit))
      rest %= unit
    }
  }

  /// Appends bytes as base64 (RFC 4648) with padding.
  func append(base64 bytes: UnsafeRawBufferPointer) {
    let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    let letters = alphabet.utf8Start
    append(upTo: (bytes.count + 2) / 3 * 4) { output in
      var count = 0
      var index = 0
      while index < bytes.count {
        let left = min(3, bytes.count - index)
        var bits = UInt32(bytes[index]) << 16
        if left > 1 { bits |= UInt32(bytes[index + 1]) << 8 }
        if left > 2 { bits |= UInt32(bytes[index + 2]) }
        for place in 0..<4 {
          let letter = letters[Int(bits >> UInt32(18 - 6 * place) & 63)]
          output[count + place] = place <= left ? letter : UInt8(ascii: "=")
        }
        count += 4
        index += 3
      }
      return count
    }
  }

  /// Appends bytes as pairs of lowercase hexadecimal digits.
  func append(hexadecimal bytes: UnsafeRawBufferPointer) {
    let digits: StaticString = "0123456789abcdef"
    append(upTo: 2 * bytes.count) { output in
      for index in 0..<bytes.count {
        output[2 * index] = digits.utf8Start[Int(bytes[index] >> 4)]
        output[2 * index + 1] = digits.utf8Start[Int(bytes[index] & 15)]
      }
      return 2 * bytes.count
    }
  }
}
