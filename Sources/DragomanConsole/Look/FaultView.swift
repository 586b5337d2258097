import DragomanGraph

/// What is wrong with something that was typed, with a caret at the place.
struct FaultView {
  let code: String?
  let message: String
  let help: String?
  /// The text up to the place, the character there, and what follows; nil where no place is known.
  let before: String?
  let marked: String?
  let behind: String?
  /// What was typed, which no other page has any more.
  var typed: String?

  init(_ error: ConsoleError) {
    code = error.code
    message = error.message
    help = error.help
    guard let place = error.place else {
      (before, marked, behind) = (nil, nil, nil)
      return
    }
    let scalars = Array(place.text.unicodeScalars)
    let index = min(max(place.column - 1, 0), scalars.count)
    func text(_ range: Range<Int>) -> String {
      String(String.UnicodeScalarView(scalars[range]))
    }
    before = text(0..<index)
    // Behind the end there is nothing to mark but the place itself.
    marked = index < scalars.count ? text(index..<index + 1) : " "
    behind = index < scalars.count ? text(index + 1..<scalars.count) : ""
  }
}
