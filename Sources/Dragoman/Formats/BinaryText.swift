/// Reads bytes written as text: base64 (RFC 4648) or hexadecimal.
///
/// Which of the two a text is cannot be seen (`abcd` is both), so hexadecimal digits must stand
/// behind `\x`, as PostgreSQL writes them; everything else is base64. White space is refused.
enum BinaryText {
  /// The most bytes that a text of that many bytes stands for.
  static func capacity(byteCount: Int) -> Int { byteCount / 4 * 3 + 3 }

  /// Writes the bytes and returns how many there are; nil: neither base64 nor `\x…`.
  ///
  /// The empty text is no bytes, which is a value.
  /// The output has room for `capacity(byteCount:)` bytes at least.
  static func read(
    _ text: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) -> Int? {
    text.starts(with: "\\x")
      ? hexadecimal(text.dropping(first: 2), into: output) : base64(text, into: output)
  }

  /// Reads pairs of hexadecimal digits of either case.
  static func hexadecimal(
    _ text: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) -> Int? {
    precondition(output.count >= text.count / 2)
    guard text.count.isMultiple(of: 2) else { return nil }
    let count = text.count / 2
    for index in 0..<count {
      guard let high = ASCII.hexValue(text[2 * index]),
        let low = ASCII.hexValue(text[2 * index + 1])
      else { return nil }
      output[index] = high << 4 | low
    }
    return count
  }

  /// Reads base64 in the standard or the URL-safe alphabet, but not in a mix of both.
  ///
  /// Padding may be left out, but not be incomplete; bits behind the last byte must be 0, so that
  /// the text is the only one of its alphabet for these bytes.
  static func base64(
    _ text: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) -> Int? {
    precondition(output.count >= capacity(byteCount: text.count))
    var end = text.count
    while end > 0, text.count - end < 2, text[end - 1] == UInt8(ascii: "=") { end -= 1 }
    guard end == text.count || text.count.isMultiple(of: 4), end % 4 != 1 else { return nil }

    var count = 0
    var bits: UInt32 = 0
    var bitCount = 0
    var isStandard = false
    var isURLSafe = false
    for index in 0..<end {
      let byte = text[index]
      let value: UInt8
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - 0x41
      case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - 0x61 + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - 0x30 + 52
      case UInt8(ascii: "+"), UInt8(ascii: "/"):
        isStandard = true
        value = byte == UInt8(ascii: "+") ? 62 : 63
      case UInt8(ascii: "-"), UInt8(ascii: "_"):
        isURLSafe = true
        value = byte == UInt8(ascii: "-") ? 62 : 63
      default: return nil
      }
      bits = bits << 6 | UInt32(value)
      bitCount += 6
      if bitCount >= 8 {
        bitCount -= 8
        output[count] = UInt8(truncatingIfNeeded: bits >> UInt32(bitCount))
        count += 1
        bits &= (1 << UInt32(bitCount)) - 1
      }
    }
    guard bits == 0, !(isStandard && isURLSafe) else { return nil }
    return count
  }
}
