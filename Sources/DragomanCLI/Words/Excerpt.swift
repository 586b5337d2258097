import Dragoman
import DragomanGraph

/// A piece of a text that somebody wrote on one line, and a caret under a place of it.
enum Excerpt {
  /// How many scalars are shown in front of the place and behind it.
  private static let reach = 50

  /// The two lines, each behind an indentation.
  ///
  /// - Parameters:
  ///   - place: The place; behind the end of the text is one, too.
  ///   - label: What stands in front of the text.
  /// - Returns: The lines, without line ends.
  static func lines(_ place: TextPlace, label: String) -> [String] {
    let scalars = Array(place.text.unicodeScalars)
    let index = min(max(place.column - 1, 0), scalars.count)
    let start = max(0, index - reach)
    let end = min(scalars.count, index + reach)
    let before = (start > 0 ? "…" : "") + visible(scalars[start..<index])
    let behind = visible(scalars[index..<end]) + (end < scalars.count ? "…" : "")
    // What the terminal joins to one character has the width of one.
    let width = label.unicodeScalars.count + DisplayWidth.of(before)
    return [label + before + behind, String(repeating: " ", count: width) + "^"]
  }

  private static func visible(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    VisibleText.of(String(String.UnicodeScalarView(scalars)))
  }
}
