extension String {
  /// The text with escapes in place of some ASCII characters.
  ///
  /// It goes byte by byte, as readers of SQL, CSV and markup do. To the standard library's `replacing(_:with:)`
  /// a quote is another character where a combining mark stands behind it (extended grapheme clusters, UAX #29).
  ///
  /// - Parameter escape: What stands in place of a byte below 128; nil: the byte itself.
  /// - Returns: The text.
  package func escaping(_ escape: (UInt8) -> StaticString?) -> String {
    guard utf8.contains(where: { $0 < 0x80 && escape($0) != nil }) else { return self }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count + 16)
    for byte in utf8 {
      if byte < 0x80, let text = escape(byte) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text in quotes, in which quotes are doubled, as SQL and CSV have it.
  ///
  /// - Parameter quote: `"` or `'`.
  /// - Returns: The text with quotes around it.
  package func enclosed(in quote: Unicode.Scalar) -> String {
    let escaped = escaping { byte in
      guard byte == UInt8(ascii: quote) else { return nil }
      return quote == "'" ? "''" : "\"\""
    }
    return "\(quote)\(escaped)\(quote)"
  }

  /// The parts of the text between separators, empty ones too.
  ///
  /// It goes by scalars: to `split(separator:)` a separator is another character where a combining mark stands
  /// behind it.
  ///
  /// - Parameters:
  ///   - separator: What stands between them.
  ///   - maxSplits: How many separators are looked at; what is behind them is one part.
  /// - Returns: One part at least.
  package func parts(at separator: Unicode.Scalar, maxSplits: Int = .max) -> [String] {
    unicodeScalars.split(
      separator: separator,
      maxSplits: maxSplits,
      omittingEmptySubsequences: false
    ).map { String($0) }
  }
}

extension StoredValue {
  /// The value as SQL spells it (https://www.sqlite.org/lang_expr.html#literal_values_constants_).
  ///
  /// Infinity overflows to itself; a text with NUL is cast from its bytes, since a statement ends there.
  package var literal: String {
    switch self {
    case .null: return "NULL"
    case .integer(let integer): return String(integer)
    case .real(let real):
      return real.isFinite ? String(real) : real < 0 ? "-9e999" : "9e999"
    case .text(let text):
      let bytes = Array(text.utf8)
      return bytes.contains(0)
        ? "CAST(\(StoredValue.blob(bytes).literal) AS TEXT)" : text.enclosed(in: "'")
    case .blob(let bytes):
      return "x'\(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())'"
    }
  }
}
