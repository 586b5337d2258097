import CSimdJSON

/// What the first bytes of a text without a byte order mark tell of its encoding.
enum EncodingGuess: Equatable {
  case utf8
  /// UTF-16 or UTF-32, by its name.
  case wide(String)
  /// Some other encoding, whose signs are a byte or more.
  case other
  /// No text at all.
  case binary

  /// How many bytes tell.
  static let byteCount = 4096

  /// - Parameters:
  ///   - head: The first bytes.
  ///   - isWhole: Whether there are no more: else the last character may be cut.
  init(_ head: [UInt8], isWhole: Bool) {
    // A few such signs are faults of a text, told at their places.
    let controlCount = head.count(where: Self.isControl)
    if let encoding = Self.wideEncoding(of: head) {
      self = .wide(encoding)
    } else if controlCount > 3, controlCount * 20 > head.count {
      self = .binary
    } else {
      self = Self.isUTF8(isWhole ? head[...] : Self.withoutCutEnd(head)) ? .utf8 : .other
    }
  }

  /// The encoding whose zeros the bytes have (RFC 4627, 3: the first two signs of JSON are ASCII, and so are those
  /// of XML and of nearly every header).
  private static func wideEncoding(of head: [UInt8]) -> String? {
    guard head.count >= 4 else { return nil }
    let encoding: String? =
      switch head.prefix(4).map({ $0 == 0 }) {
      case [true, true, true, false]: "UTF-32BE"
      case [false, true, true, true]: "UTF-32LE"
      case [true, false, true, false]: "UTF-16BE"
      case [false, true, false, true]: "UTF-16LE"
      default: nil
      }
    let isText = head.prefix(4).allSatisfy { $0 == 0 || $0 < 0x7F && !isControl($0) }
    return isText ? encoding : nil
  }

  /// Whether no text has the sign, but by mistake; ISO 2022 has the escape.
  private static func isControl(_ byte: UInt8) -> Bool {
    byte < 0x20 && ![0x09, 0x0A, 0x0C, 0x0D, 0x1B].contains(byte)
  }

  private static func withoutCutEnd(_ head: [UInt8]) -> ArraySlice<UInt8> {
    let continuations = head.reversed().prefix(3).prefix { $0 & 0xC0 == 0x80 }.count
    let lead = head.count - continuations - 1
    guard lead >= 0, head[lead] >= 0xC0 else { return head[...] }
    let length = head[lead] < 0xE0 ? 2 : head[lead] < 0xF0 ? 3 : 4
    return continuations + 1 < length ? head[..<lead] : head[...]
  }

  private static func isUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.withUnsafeBufferPointer { CSimdJSON.isUTF8($0.baseAddress, $0.count) }
  }
}
