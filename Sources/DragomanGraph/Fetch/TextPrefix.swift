/// The range of bytes in which all texts with a prefix lie.
enum TextPrefix {
  /// The first text, in byte order, behind all that begin with the prefix; nil if there is none.
  ///
  /// The order of UTF-8 bytes is the order of Unicode scalars (RFC 3629, section 1), so it is the
  /// prefix with its last scalar replaced by the next one.
  static func end(of prefix: String) -> String? {
    var scalars = prefix.unicodeScalars
    while let last = scalars.popLast() {
      if let next = successor(of: last) {
        scalars.append(next)
        return String(scalars)
      }
    }
    return nil
  }

  private static func successor(of scalar: Unicode.Scalar) -> Unicode.Scalar? {
    scalar == "\u{D7FF}" ? "\u{E000}" : Unicode.Scalar(scalar.value + 1)
  }
}
