/// Text that shows what it holds: a terminal does not obey it, and nobody takes it for something else.
package enum VisibleText {
  /// The text on one line, with everything that would move the cursor or turn the reading direction
  /// spelled out, so that no stored value can forge a table.
  package static func of(_ text: String) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
    return spelled(text) { scalar in
      switch scalar {
      case "\n": "\\n"
      case "\r": "\\r"
      case "\t": "\\t"
      default: scalar.isInvisible ? scalar.spelled : nil
      }
    }
  }

  /// The text with its line ends and tabs, everything else that is invisible spelled out.
  package static func keepingLines(_ text: String) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
    return spelled(text) { scalar in
      scalar.isInvisible && !scalar.isLayout ? scalar.spelled : nil
    }
  }

  /// The text with its control characters spelled out, but for line ends and tabs.
  package static func withoutControls(_ text: String) -> String {
    var last: UInt8 = 0
    let isPlain = text.utf8.allSatisfy { byte in
      // Those from 128 on are of two bytes.
      defer { last = byte }
      if last == 0xC2, byte < 0xA0 { return false }
      return byte >= 0x20 && byte != 0x7F || byte == 0x0A || byte == 0x09 || byte == 0x0D
    }
    if isPlain { return text }
    return spelled(text) { scalar in
      scalar.properties.generalCategory == .control && !scalar.isLayout ? scalar.spelled : nil
    }
  }

  private static func spelled(
    _ text: String,
    by spelling: (Unicode.Scalar) -> String?
  ) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if let spelled = spelling(scalar) {
        result += spelled
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

extension Unicode.Scalar {
  /// Whether it ends a line, or is a tab.
  fileprivate var isLayout: Bool { self == "\n" || self == "\r" || self == "\t" }

  /// Its number: `\u{202e}`.
  fileprivate var spelled: String { "\\u{\(String(value, radix: 16))}" }
}
