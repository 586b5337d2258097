/// Tells absolute URLs from other text, by the characters of RFC 3986 and RFC 3987.
///
/// A URL of a feed is something to open: it has a scheme, a colon, and something behind it. A path
/// or a bare `www.example.org` is refused, and so are spaces, control characters, quotes, angle
/// brackets, braces, `|`, `\`, `^`, `` ` `` and a `%` without two hexadecimal digits. Letters
/// beyond ASCII are admitted as they are (`https://no.wikipedia.org/wiki/Bodø`). The text is stored
/// as given, never normalised.
enum URLText {
  /// Whether the text is an absolute URL.
  static func isURL(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")), colon > 0, colon + 1 < text.count,
      ASCII.isLetter(text[0])
    else { return false }
    for index in 1..<colon {
      let byte = text[index]
      guard
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "+")
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      else { return false }
    }
    let rest = text.dropping(first: colon + 1)
    return hasOnlyURLCharacters(rest)
      && hasAuthorityWhereNeeded(rest, scheme: text.dropping(last: text.count - colon))
  }

  private static func hasOnlyURLCharacters(_ text: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    while index < text.count {
      switch text[index] {
      case 0...0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"),
        UInt8(ascii: "\\"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"),
        UInt8(ascii: "|"), UInt8(ascii: "}"):
        return false
      case UInt8(ascii: "%"):
        guard index + 2 < text.count, ASCII.hexValue(text[index + 1]) != nil,
          ASCII.hexValue(text[index + 2]) != nil
        else { return false }
        index += 3
      case 0x80...:
        guard let (scalar, count) = text.scalar(at: index), !scalar.properties.isWhitespace,
          scalar.properties.generalCategory != .control
        else { return false }
        index += count
      default:
        index += 1
      }
    }
    return true
  }

  /// Behind `//` stands a host, in every scheme but `file`; web addresses need both.
  private static func hasAuthorityWhereNeeded(
    _ rest: UnsafeRawBufferPointer,
    scheme: UnsafeRawBufferPointer
  ) -> Bool {
    guard rest.starts(with: "//") else {
      return !isScheme(scheme, "http") && !isScheme(scheme, "https")
    }
    guard !isScheme(scheme, "file") else { return rest.count > 2 }
    guard rest.count > 2 else { return false }
    switch rest[2] {
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: ":"): return false
    default: return true
    }
  }

  private static func isScheme(_ scheme: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
    var cursor = ByteCursor(scheme)
    return cursor.take(word: name) && cursor.isAtEnd
  }
}
