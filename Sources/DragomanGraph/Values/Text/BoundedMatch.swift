import Foundation

extension NSRegularExpression {
  /// How many of its steps ICU makes between two reports of progress.
  private static let stepsBetweenReports = 10_000
  /// So many steps a character are usual.
  private static let stepsACharacter = 10
  /// Ten million steps beyond what is usual, at most about a second: steps are counted, and not time.
  package static let maximumExcess = 1_000

  /// Looks for the first match, and gives up where that takes too many steps.
  ///
  /// - Parameter text: Where to look.
  /// - Returns: Where the match is, and how many reports of progress there were beyond what is usual for such a text:
  ///   where there are more than `maximumExcess`, it was given up.
  package func boundedMatch(in text: String) -> (range: NSRange?, excess: Int) {
    let length = text.utf16.count
    var range: NSRange?
    var excess = -(length * Self.stepsACharacter / Self.stepsBetweenReports)
    enumerateMatches(
      in: text,
      options: .reportProgress,
      range: NSRange(location: 0, length: length)
    ) { result, flags, stop in
      if let result {
        range = result.range
        stop.pointee = true
      } else if flags.contains(.progress) {
        excess += 1
        if excess > Self.maximumExcess { stop.pointee = true }
      }
    }
    return (range, max(excess, 0))
  }
}
