/// Text in lines of a width.
enum WrappedText {
  /// The width where there is no terminal, and the most that reads well on one.
  static let widest = 100

  /// Breaks a paragraph between words.
  ///
  /// - Parameters:
  ///   - text: One paragraph; a word that is wider than a line stands alone in its own.
  ///   - width: The width of a line in columns, with what it is indented by.
  ///   - indent: What each line begins with.
  /// - Returns: The lines, each with a line feed.
  static func lines(of text: String, width: Int, indent: String = "") -> String {
    let room = max(20, width) - DisplayWidth.of(indent)
    var lines: [String] = []
    var line = ""
    var used = 0
    for word in text.split(separator: " ") {
      let length = DisplayWidth.of(String(word))
      if used > 0, used + 1 + length > room {
        lines.append(line)
        (line, used) = ("", 0)
      }
      line += (used > 0 ? " " : "") + word
      used += (used > 0 ? 1 : 0) + length
    }
    if used > 0 { lines.append(line) }
    return lines.map { indent + $0 + "\n" }.joined()
  }
}
