/// Reads UUIDs in the form 8-4-4-4-12 of RFC 9562; braces and `urn:uuid:` are refused.
enum UUIDText {
  /// How many bytes a UUID has.
  static let byteCount = 36

  /// Writes the UUID in lowercase and returns 36, or 0 when the text is none.
  ///
  /// The output has room for `byteCount` bytes at least.
  static func read(
    _ text: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) -> Int {
    precondition(output.count >= byteCount)
    guard text.count == byteCount else { return 0 }
    for index in 0..<byteCount {
      let byte = text[index]
      switch index {
      case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return 0 }
      default: guard ASCII.hexValue(byte) != nil else { return 0 }
      }
      output[index] = ASCII.lowercase(byte)
    }
    return byteCount
  }
}
