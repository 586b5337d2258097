/// JSON as it is stored (docs/file.md): without white space between its tokens, in strings only those
/// escapes that RFC 8259, section 7 wants.
///
/// Numbers keep their digits, members their order: it is the spelling that imports give the same text.
package enum CompactJSON {
  /// The stored spelling of a JSON text.
  ///
  /// - Parameter text: The text, of which it is known that it is JSON.
  /// - Returns: The spelling; nil where a string does not end, or has half of a surrogate pair.
  package static func text(_ text: String) -> String? {
    let bytes = Array(text.utf8)
    var compact: [UInt8] = []
    compact.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x09, 0x0A, 0x0D: index += 1
      case UInt8(ascii: "\""):
        guard let end = appendString(bytes, from: index, to: &compact) else { return nil }
        index = end
      case let byte:
        compact.append(byte)
        index += 1
      }
    }
    return String(decoding: compact, as: UTF8.self)
  }

  /// Appends the string that begins at a quote; returns the place behind it.
  private static func appendString(
    _ bytes: [UInt8],
    from quote: Int,
    to compact: inout [UInt8]
  ) -> Int? {
    compact.append(bytes[quote])
    var index = quote + 1
    while index < bytes.count {
      let byte = bytes[index]
      guard byte == UInt8(ascii: "\\") else {
        compact.append(byte)
        index += 1
        if byte == UInt8(ascii: "\"") { return index }
        continue
      }
      guard index + 1 < bytes.count else { return nil }
      switch bytes[index + 1] {
      case UInt8(ascii: "/"):
        compact.append(UInt8(ascii: "/"))
        index += 2
      case UInt8(ascii: "u"):
        guard let end = appendScalar(bytes, from: index, to: &compact) else { return nil }
        index = end
      case let escaped:
        compact += [byte, escaped]
        index += 2
      }
    }
    return nil
  }

  /// Appends the scalar of `\u` and four digits, or of two of them; returns the place behind it.
  private static func appendScalar(
    _ bytes: [UInt8],
    from start: Int,
    to compact: inout [UInt8]
  ) -> Int? {
    guard let first = unit(bytes, at: start) else { return nil }
    var (value, end) = (UInt32(first), start + 6)
    if (0xD800..<0xDC00).contains(first) {
      guard let second = unit(bytes, at: end), (0xDC00..<0xE000).contains(second) else {
        return nil
      }
      value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
      end += 6
    }
    guard let scalar = Unicode.Scalar(value) else { return nil }
    if let byte = UInt8(exactly: value), JSONString.isEscaped(byte) {
      JSONString.appendEscape(of: byte, to: &compact)
    } else {
      compact += Array(String(scalar).utf8)
    }
    return end
  }

  /// The number of `\uXXXX`.
  private static func unit(_ bytes: [UInt8], at start: Int) -> UInt16? {
    guard start + 6 <= bytes.count, bytes[start] == UInt8(ascii: "\\"),
      bytes[start + 1] == UInt8(ascii: "u")
    else { return nil }
    return UInt16(String(decoding: bytes[start + 2..<start + 6], as: UTF8.self), radix: 16)
  }
}
