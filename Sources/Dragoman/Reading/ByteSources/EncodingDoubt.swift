/// Whether a text that was decoded from an encoding of single bytes is UTF-8 from end to end, too.
///
/// A feed that has turned from windows-1252 to UTF-8 is decoded without a fault: each “é” comes in as “Ã©”. What is
/// really written in such an encoding is hardly ever UTF-8 by chance.
final class EncodingDoubt {
  /// The encoding that the text was decoded from; nil: it is not UTF-8, or was not decoded.
  private var encoding: String?
  /// What “é” in UTF-8 is in the encoding.
  private var misread = ""
  /// How many bytes of a sign of UTF-8 are still to come.
  private var missingByteCount = 0
  /// How many signs beyond ASCII there were, all of them UTF-8.
  private var signCount = 0

  /// What is to be said of the text that was read; nil: nothing.
  var notice: String? {
    guard let encoding, signCount > 0, missingByteCount == 0 else { return nil }
    return
      "it was read as \(encoding), but all of it is UTF-8, too: if it is, “é” has come in as “\(misread)”"
  }

  /// Begins with a text that is decoded from an encoding.
  func begin(_ encoding: String) {
    guard let misread = Self.reading(Array("é".utf8), as: encoding) else { return }
    // Where both bytes are one sign, by chance much is UTF-8 that is short.
    self.encoding = misread.unicodeScalars.count == 2 ? encoding : nil
    self.misread = misread
  }

  /// Takes note of the next bytes before they are decoded.
  func see(_ bytes: UnsafeRawBufferPointer) {
    guard encoding != nil else { return }
    for byte in bytes {
      switch (missingByteCount, byte) {
      case (0, 0..<0x80): break
      case (0, 0xC2..<0xE0): missingByteCount = 1
      case (0, 0xE0..<0xF0): missingByteCount = 2
      case (0, 0xF0..<0xF5): missingByteCount = 3
      case (1..., 0x80..<0xC0):
        missingByteCount -= 1
        if missingByteCount == 0 { signCount += 1 }
      default:
        encoding = nil
        return
      }
    }
  }

  /// The text of some bytes in an encoding; nil where they are none.
  private static func reading(_ bytes: [UInt8], as encoding: String) -> String? {
    guard let decoder = try? TextDecoder(MemorySource(bytes), encoding: encoding) else {
      return nil
    }
    return withUnsafeTemporaryAllocation(byteCount: 4 * bytes.count, alignment: 1) { text in
      guard let count = try? decoder.read(into: text) else { return nil }
      return String(decoding: text[..<count], as: UTF8.self)
    }
  }
}
