extension NumberReader {
  /// Writes the plain number that fills the buffer behind it, as this format has it.
  ///
  /// The separators are the format's, grouping where asked for; exponents are written out. A percentage
  /// is a hundred times the number, exactly; accounting puts negative amounts into parentheses. No
  /// currency sign is written: the store does not know which one it was.
  func write(plain buffer: ExportBuffer, grouping: Bool) {
    let group = grouping ? groups.first ?? [] : []
    if style == nil, writeDigits(of: buffer, group) { return }
    let number = DecimalDigits(buffer.bytes, shiftedBy: style == .percent ? 2 : 0)
    let point = number.point
    // The buffer moves when it grows: the digits are its own.
    let digits = number.digits
    let isParenthesised = number.isNegative && style == .accounting
    if number.isNegative { buffer.append(UInt8(ascii: isParenthesised ? "(" : "-")) }
    if point <= 0 { buffer.append(0x30) }
    for place in 0..<max(0, point) {
      let rest = point - place
      if place > 0, isGroupStart(rest) { buffer.append(group) }
      buffer.append(place < digits.count ? digits[place] : 0x30)
    }
    if digits.count > point {
      buffer.append(decimal)
      for place in point..<digits.count { buffer.append(place < 0 ? 0x30 : digits[place]) }
    }
    if isParenthesised { buffer.append(UInt8(ascii: ")")) }
    if style == .percent { buffer.append(UInt8(ascii: "%")) }
  }

  /// Writes a number without an exponent straight from its text; false for any other.
  private func writeDigits(of buffer: ExportBuffer, _ group: [UInt8]) -> Bool {
    let count = buffer.count
    // From here on the buffer does not move.
    buffer.reserve(count * (1 + group.count) + decimal.count)
    let plain = UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count])
    let start = plain.first == UInt8(ascii: "-") ? 1 : 0
    var point = count
    for index in start..<count {
      if plain[index] == UInt8(ascii: ".") {
        point = index
      } else if !ASCII.isDigit(plain[index]) {
        return false
      }
    }
    // Zeros in front are left out below.
    if point - start > 1, plain[start] == 0x30 { return false }
    if start == 1 { buffer.append(UInt8(ascii: "-")) }
    for index in start..<point {
      if index > start, isGroupStart(point - index) { buffer.append(group) }
      buffer.append(plain[index])
    }
    if point < count {
      buffer.append(decimal)
      buffer.append(UnsafeRawBufferPointer(rebasing: plain[(point + 1)...]))
    }
    return true
  }

  /// Whether a group begins with that many integer digits left.
  private func isGroupStart(_ rest: Int) -> Bool {
    rest == primaryGroupSize
      || (rest > primaryGroupSize
        && (rest - primaryGroupSize).isMultiple(of: secondaryGroupSize))
  }
}

/// The digits of a plain number, and where its point stands among them.
private struct DecimalDigits {
  /// Without zeros in front.
  var digits: [UInt8] = []
  /// The point stands before that digit; negative: behind as many zeros.
  var point = 0
  var isNegative = false

  /// Takes a text that is known to be a number of RFC 8259, times a power of ten.
  init(_ text: UnsafeRawBufferPointer, shiftedBy shift: Int) {
    var index = 0
    if text.first == UInt8(ascii: "-") {
      isNegative = true
      index = 1
    }
    var isFraction = false
    while index < text.count {
      let byte = text[index]
      index += 1
      if ASCII.isDigit(byte) {
        digits.append(byte)
        if !isFraction { point += 1 }
      } else if byte == UInt8(ascii: ".") {
        isFraction = true
      } else {
        point += Int(String(decoding: text[index...], as: UTF8.self)) ?? 0
        break
      }
    }
    point += shift
    var zeroCount = 0
    while zeroCount < min(point, digits.count), digits[zeroCount] == 0x30 { zeroCount += 1 }
    digits.removeFirst(zeroCount)
    point -= zeroCount
    // Of a hundred times nothing no digit is left.
    if digits.isEmpty { point = min(point, 0) }
  }
}
