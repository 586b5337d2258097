extension UnsafeRawBufferPointer {
  /// The text without white space (Unicode's White_Space property) at both ends.
  ///
  /// Bytes that are not valid UTF-8 are no white space and stay.
  var trimmed: UnsafeRawBufferPointer {
    trimmed {
      $0 == 0x20 || 0x09...0x0D ~= $0
    } wide: {
      $0.properties.isWhitespace
    }
  }

  /// The text without space, no-break space and thin spaces at both ends.
  var trimmedOfSpace: UnsafeRawBufferPointer {
    trimmed {
      $0 == 0x20
    } wide: {
      $0.properties.generalCategory == .spaceSeparator
    }
  }

  private func trimmed(
    _ isSpace: (UInt8) -> Bool,
    wide isWideSpace: (Unicode.Scalar) -> Bool
  ) -> UnsafeRawBufferPointer {
    var start = 0
    var end = count
    while start < end {
      if self[start] < 0x80 {
        guard isSpace(self[start]) else { break }
        start += 1
      } else {
        guard let (scalar, length) = scalar(at: start), isWideSpace(scalar) else { break }
        start += length
      }
    }
    while end > start {
      if self[end - 1] < 0x80 {
        guard isSpace(self[end - 1]) else { break }
        end -= 1
      } else {
        var first = end - 1
        while first > start, self[first] & 0xC0 == 0x80 { first -= 1 }
        guard let (scalar, length) = scalar(at: first), first + length == end,
          isWideSpace(scalar)
        else { break }
        end = first
      }
    }
    return UnsafeRawBufferPointer(rebasing: self[start..<end])
  }

  /// The Unicode scalar that starts at that byte; nil where there is no valid one.
  func scalar(at index: Int) -> (scalar: Unicode.Scalar, byteCount: Int)? {
    guard index < count else { return nil }
    let lead = UInt32(self[index])
    let length: Int
    var value: UInt32
    switch lead {
    case 0..<0x80: (length, value) = (1, lead)
    case 0xC2..<0xE0: (length, value) = (2, lead & 0x1F)
    case 0xE0..<0xF0: (length, value) = (3, lead & 0x0F)
    case 0xF0..<0xF5: (length, value) = (4, lead & 0x07)
    default: return nil
    }
    guard length <= count - index else { return nil }
    for place in 1..<length {
      let byte = self[index + place]
      guard byte & 0xC0 == 0x80 else { return nil }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    if length == 3, value < 0x800 { return nil }
    if length == 4, value < 0x1_0000 { return nil }
    return Unicode.Scalar(value).map { ($0, length) }
  }

  /// Whether those bytes stand at that place; false behind the end.
  func has(_ bytes: [UInt8], at index: Int) -> Bool {
    guard bytes.count <= count - index else { return false }
    for place in bytes.indices where self[index + place] != bytes[place] { return false }
    return true
  }

  func starts(with text: StaticString) -> Bool {
    let length = text.utf8CodeUnitCount
    guard length <= count else { return false }
    for place in 0..<length where self[place] != text.utf8Start[place] { return false }
    return true
  }

  func ends(with text: StaticString) -> Bool {
    let length = text.utf8CodeUnitCount
    guard length <= count else { return false }
    return dropping(first: count - length).starts(with: text)
  }

  func dropping(first length: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[Swift.min(length, count)...])
  }

  func dropping(last length: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[..<Swift.max(count - length, 0)])
  }
}
