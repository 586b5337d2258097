import Dragoman
import Foundation

/// Colour and weight of text on terminals that show them.
enum TextStyle: String {
  case bold = "1"
  case error = "1;31"
  case warning = "1;33"
  case faint = "2"

  /// Whether a stream shows styles: a terminal, unless `NO_COLOR` (https://no-color.org) or `TERM=dumb` speaks
  /// against it.
  static func isShown(on descriptor: Int32) -> Bool {
    guard Terminal.isTerminal(descriptor) else { return false }
    let environment = ProcessInfo.processInfo.environment
    return environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
      && environment["TERM"] != nil
  }

  /// Text in this style.
  func styled(_ text: some StringProtocol) -> String { "\(start)\(text)\(Self.end)" }

  private var start: String { "\u{1B}[\(rawValue)m" }
  private static let end = "\u{1B}[0m"

  /// Text with everything spelled out that a terminal would obey, but for line ends and tabs.
  ///
  /// What is printed has names and values of feeds, maps and databases in it, which are anybody's.
  static func visible(_ text: String) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) || $0 == 0x0A || $0 == 0x09 }) {
      return text
    }
    var shown = ""
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      let isLayout = scalar == "\n" || scalar == "\t" || scalar == "\r" && rest.first == "\n"
      shown += isLayout ? String(scalar) : VisibleText.of(String(scalar))
    }
    return shown
  }

  /// Messages with the words in front of them coloured: `error[value.date]:`.
  static func coloured(messages: String) -> String {
    messages.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      for (start, style) in [
        ("error[", TextStyle.error), ("Error:", .error), ("warning[", .warning), ("note:", .faint),
      ] where line.hasPrefix(start) {
        let end = line.firstIndex(of: ":").map { line.index(after: $0) } ?? line.endIndex
        return style.styled(line[..<end]) + line[end...]
      }
      return String(line)
    }.joined(separator: "\n")
  }
}
