/// How many columns text takes on a terminal.
///
/// By Unicode's East Asian Width (UAX #11) and emoji presentation (UTS #51): wide characters take
/// two columns, combining marks and format characters none. The table holds the wide ranges that
/// are no emoji; unassigned places between wide ones count as wide.
enum DisplayWidth {
  /// The columns of a text without control characters.
  static func of(_ text: String) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + of($1) }
  }

  /// The columns of one character.
  static func of(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    if scalars.contains(where: { $0.value == 0xFE0F || $0.properties.isEmojiPresentation }) {
      return 2
    }
    return scalars.reduce(0) { $0 + of($1) }
  }

  /// The text cut to at most so many columns, the last one an ellipsis if anything was cut.
  static func truncate(_ text: String, to width: Int) -> String {
    guard of(text) > width else { return text }
    var result = ""
    var used = 0
    for character in text {
      let columnCount = of(character)
      guard used + columnCount < width else { break }
      result.append(character)
      used += columnCount
    }
    return result + "…"
  }

  private static func of(_ scalar: Unicode.Scalar) -> Int {
    if scalar.isASCII { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if (0x1160...0x11FF).contains(scalar.value) { return 0 }
    return wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }

  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF,
    0x4E00...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAD9, 0xFE10...0xFE19,
    0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x1B2FB, 0x1F200...0x1F265,
    0x20000...0x3FFFD,
  ]
}
