/// A place in a text that is read from left to right, byte by byte.
///
/// Every step checks the end, so hostile text cannot lead it outside the buffer.
struct ByteCursor {
  let bytes: UnsafeRawBufferPointer
  private(set) var index = 0

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { index == bytes.count }
  var remaining: Int { bytes.count - index }

  /// The next byte, or 0 at the end: compare it with characters that are not NUL only.
  var next: UInt8 { index < bytes.count ? bytes[index] : 0 }

  /// The byte that many places on, or 0 behind the end.
  @inline(__always)
  func peek(_ distance: Int) -> UInt8 {
    distance < remaining ? bytes[index + distance] : 0
  }

  /// Passes that many bytes, or all there are.
  mutating func skip(_ count: Int) {
    index += min(count, remaining)
  }

  /// Takes the byte if it is the next one.
  @inline(__always)
  mutating func take(_ byte: UInt8) -> Bool {
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  /// Takes the ASCII word, case aside, if it comes next.
  mutating func take(word: StaticString) -> Bool {
    let count = word.utf8CodeUnitCount
    guard remaining >= count else { return false }
    for offset in 0..<count
    where ASCII.lowercase(bytes[index + offset]) != ASCII.lowercase(word.utf8Start[offset]) {
      return false
    }
    index += count
    return true
  }

  /// Takes exactly that many digits, at most 18.
  @inline(__always)
  mutating func digits(_ count: Int) -> Int? {
    guard remaining >= count else { return nil }
    var value = 0
    for offset in 0..<count {
      let digit = bytes[index + offset] &- 0x30
      guard digit < 10 else { return nil }
      value = value &* 10 &+ Int(digit)
    }
    index += count
    return value
  }

  /// Takes as many digits as there are, at least one and at most `limit` (≤ 18).
  mutating func digits(upTo limit: Int) -> Int? {
    var count = 0
    while count < limit, ASCII.isDigit(peek(count)) { count += 1 }
    return count == 0 ? nil : digits(count)
  }

  /// Takes a fraction of a second, `limit` digits at most; digits behind the sixth are cut.
  mutating func microseconds(upTo limit: Int = .max) -> (value: Int, digitCount: Int)? {
    var value = 0
    var count = 0
    while count < limit, ASCII.isDigit(next) {
      if count < 6 { value = value &* 10 &+ Int(next &- 0x30) }
      count += 1
      index += 1
    }
    guard count > 0 else { return nil }
    for _ in min(count, 6)..<6 { value &*= 10 }
    return (value, count)
  }

  /// Takes `±hh`, `±hhmm` or `±hh:mm`, up to ±23:59, and gives seconds east of UTC.
  mutating func offset() -> Int? {
    let sign: Int
    switch next {
    case UInt8(ascii: "+"): sign = 1
    case UInt8(ascii: "-"): sign = -1
    default: return nil
    }
    index += 1
    guard let hours = digits(2), hours < 24 else { return nil }
    var minutes = 0
    if take(UInt8(ascii: ":")) {
      guard let value = digits(2) else { return nil }
      minutes = value
    } else if ASCII.isDigit(next) {
      guard let value = digits(2) else { return nil }
      minutes = value
    }
    guard minutes < 60 else { return nil }
    return sign * (hours * 3600 + minutes * 60)
  }

  /// Takes `Z` or a numeric offset.
  @inline(__always)
  mutating func offsetOrZ() -> Int? {
    take(UInt8(ascii: "Z")) ? 0 : offset()
  }
}

/// Questions about single ASCII bytes.
enum ASCII {
  static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
  static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }
  static func isUppercase(_ byte: UInt8) -> Bool { byte &- 0x41 < 26 }
  static func lowercase(_ byte: UInt8) -> UInt8 { isUppercase(byte) ? byte | 0x20 : byte }

  /// The value of a hexadecimal digit, nil for anything else.
  static func hexValue(_ byte: UInt8) -> UInt8? {
    if isDigit(byte) { return byte &- 0x30 }
    let letter = (byte | 0x20) &- 0x61
    return letter < 6 ? letter &+ 10 : nil
  }
}
