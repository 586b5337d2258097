#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Cuts the text where libxml2 is given it.
enum XMLPiece {
  private static let tagEnd = UInt8(ascii: ">")

  /// How many bytes of the window to give to the parser next.
  ///
  /// A piece ends behind a `>` where there is one: then the parser is left with nothing half read.
  /// A record ends with a `>`, so a piece with no more than that many of them cannot complete more
  /// records than are wanted. A piece without `>` ends between characters.
  static func length(of window: UnsafeRawBufferPointer, tagEnds wanted: Int) -> Int {
    // The shortest record, `<a/>`, has four bytes; and counting is faster than searching.
    if wanted < window.count / 4, wanted < 64 || tagEndCount(in: window) > wanted,
      let length = length(of: window, throughTagEnd: wanted)
    {
      return length
    }
    if let last = window.lastIndex(of: tagEnd) { return last + 1 }
    return characterBoundary(window)
  }

  /// How many bytes to give to the parser next while it waits for the end of a long construct: a
  /// tag, comment, processing instruction or reference.
  ///
  /// A construct that holds `>` must neither be fed in small pieces (libxml2 looks for its end
  /// from the start each time) nor with anything behind it (that could complete records).
  ///
  /// - Parameters:
  ///   - text: The construct from its first byte, as far as it is known.
  ///   - fed: How many bytes of it the parser has.
  ///   - isSubset: Whether it is the internal subset of a document type declaration, from its `[` on.
  /// - Returns: The bytes up to the construct's end; all where it does not end in the text.
  static func length(
    ofConstruct text: UnsafeRawBufferPointer,
    from fed: Int,
    isSubset: Bool
  ) -> Int {
    if isSubset {
      let end = endOfSubset(in: text)
      // What libxml2 takes for its end is looked for in all there is.
      return (end > fed ? end : text.count) - fed
    }
    let end =
      if text.starts(with: "<!--".utf8) {
        self.end(of: text, "-->")
      } else if text.starts(with: "<?".utf8) {
        self.end(of: text, "?>")
      } else if text.starts(with: "<!D".utf8) {
        // No record can stand in a document type declaration.
        text.count
      } else if text.first == UInt8(ascii: "&") {
        self.end(of: text, ";")
      } else {
        endOfTag(in: text)
      }
    return max(end, fed + 1) - fed
  }

  /// The end of the first occurrence of a pattern, or the whole text.
  private static func end(of text: UnsafeRawBufferPointer, _ pattern: StaticString) -> Int {
    let count = pattern.utf8CodeUnitCount
    guard let base = text.baseAddress else { return text.count }
    var start = 0
    while let found = memchr(base + start, CInt(pattern.utf8Start[count - 1]), text.count - start) {
      let end = UnsafeRawPointer(found) - base + 1
      if end >= count, memcmp(base + end - count, pattern.utf8Start, count) == 0 { return end }
      start = end
    }
    return text.count
  }

  /// The end of the document type declaration of whose internal subset the text is, or the whole text.
  private static func endOfSubset(in text: UnsafeRawBufferPointer) -> Int {
    var index = 0
    while index < text.count {
      let rest = UnsafeRawBufferPointer(rebasing: text[index...])
      switch text[index] {
      case UInt8(ascii: "\""): index += 1 + end(of: tail(of: rest), "\"")
      case UInt8(ascii: "'"): index += 1 + end(of: tail(of: rest), "'")
      case UInt8(ascii: "<") where rest.starts(with: "<!--".utf8): index += end(of: rest, "-->")
      case UInt8(ascii: "<") where rest.starts(with: "<?".utf8): index += end(of: rest, "?>")
      case UInt8(ascii: "]"):
        guard let next = rest.dropFirst().first(where: { !isSpace($0) }) else { return text.count }
        index += 1
        if next == tagEnd { return index + end(of: tail(of: rest), ">") }
      default: index += 1
      }
    }
    return text.count
  }

  private static func tail(of text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: text.dropFirst())
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  /// The end of the tag that the text starts with, or the whole text.
  private static func endOfTag(in text: UnsafeRawBufferPointer) -> Int {
    var quote: UInt8 = 0
    for index in text.indices {
      let byte = text[index]
      if quote != 0 {
        if byte == quote { quote = 0 }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == tagEnd {
        return index + 1
      }
    }
    return text.count
  }

  /// How many attributes a tag has that the text starts with, as far as it is known; 0 for anything else.
  static func attributeCount(ofTag text: UnsafeRawBufferPointer) -> Int {
    guard text.count > 1, text[0] == UInt8(ascii: "<"), text[1] != UInt8(ascii: "!"),
      text[1] != UInt8(ascii: "?")
    else { return 0 }
    var (quote, count): (UInt8, Int) = (0, 0)
    for byte in text {
      if quote != 0 {
        if byte == quote { quote = 0 }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
        count += 1
      } else if byte == tagEnd {
        break
      }
    }
    return count
  }

  /// The length up to the n-th `>`, or nil when there are fewer.
  private static func length(of window: UnsafeRawBufferPointer, throughTagEnd number: Int) -> Int? {
    guard let base = window.baseAddress else { return nil }
    var length = 0
    for _ in 0..<number {
      guard let found = memchr(base + length, CInt(tagEnd), window.count - length) else {
        return nil
      }
      length = UnsafeRawPointer(found) - base + 1
    }
    return length
  }

  private static func tagEndCount(in window: UnsafeRawBufferPointer) -> Int {
    var count = 0
    for byte in window { count &+= byte == tagEnd ? 1 : 0 }
    return count
  }

  /// The length without the bytes of a character that the end may have cut.
  private static func characterBoundary(_ window: UnsafeRawBufferPointer) -> Int {
    for back in 1...4 {
      let index = window.count - back
      guard index > 0 else { break }
      let byte = window[index]
      if byte < 0x80 { break }
      if byte >= 0xC0 { return index }
    }
    return window.count
  }
}
