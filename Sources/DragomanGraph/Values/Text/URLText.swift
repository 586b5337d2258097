/// Tells absolute URLs from other text, by the characters of RFC 3986 and RFC 3987.
///
/// A URL of a feed is something to open: it has a scheme, a colon, and something behind it. A path
/// or a bare `www.example.org` is refused, and so are spaces, control characters, quotes, angle
/// brackets, braces, `|`, `\`, `^`, `` ` `` and a `%` without two hexadecimal digits. Letters
/// beyond ASCII are admitted as they are (`https://no.wikipedia.org/wiki/Bodø`). The text is stored
/// as given, never normalised.
package enum URLText {
  /// Whether the text is an absolute URL.
  package static func isURL(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { isURL(UnsafeRawBufferPointer($0)) }
  }

  /// Whether the bytes are an absolute URL.
  package static func isURL(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")), colon > 0, colon + 1 < text.count,
      isLetter(text[0])
    else { return false }
    for byte in text[1..<colon] {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
        UInt8(ascii: "."):
        continue
      default: guard isLetter(byte) else { return false }
      }
    }
    let rest = UnsafeRawBufferPointer(rebasing: text[(colon + 1)...])
    return hasOnlyURLCharacters(rest) && hasAuthorityWhereNeeded(rest, scheme: text[..<colon])
  }

  private static func hasOnlyURLCharacters(_ text: UnsafeRawBufferPointer) -> Bool {
    var isASCII = true
    var index = 0
    while index < text.count {
      switch text[index] {
      case 0...0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"),
        UInt8(ascii: "\\"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"),
        UInt8(ascii: "|"), UInt8(ascii: "}"):
        return false
      case UInt8(ascii: "%"):
        guard index + 2 < text.count, isHexDigit(text[index + 1]), isHexDigit(text[index + 2])
        else { return false }
        index += 3
      case 0x80...:
        isASCII = false
        index += 1
      default:
        index += 1
      }
    }
    return isASCII || hasOnlyURLScalars(text)
  }

  /// Whether the bytes are UTF-8 without white space and control characters.
  private static func hasOnlyURLScalars(_ text: UnsafeRawBufferPointer) -> Bool {
    var parser = Unicode.UTF8.ForwardParser()
    var bytes = text.makeIterator()
    while true {
      switch parser.parseScalar(from: &bytes) {
      case .valid(let encoded):
        let properties = Unicode.UTF8.decode(encoded).properties
        guard !properties.isWhitespace, properties.generalCategory != .control else { return false }
      case .emptyInput: return true
      case .error: return false
      }
    }
  }

  /// Behind `//` stands a host, in every scheme but `file`; web addresses need both.
  private static func hasAuthorityWhereNeeded(
    _ rest: UnsafeRawBufferPointer,
    scheme: Slice<UnsafeRawBufferPointer>
  ) -> Bool {
    guard rest.starts(with: "//".utf8) else {
      return !isScheme(scheme, "http") && !isScheme(scheme, "https")
    }
    guard !isScheme(scheme, "file") else { return rest.count > 2 }
    guard rest.count > 2 else { return false }
    switch rest[2] {
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: ":"): return false
    default: return true
    }
  }

  /// Whether the letters are that word, case aside; `word` is in lower case.
  private static func isScheme(_ scheme: Slice<UnsafeRawBufferPointer>, _ word: String) -> Bool {
    scheme.lazy.map { $0 | 0x20 }.elementsEqual(word.utf8)
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 6
  }
}
