import Foundation

extension NSRegularExpression {
  /// How many of its steps ICU makes between two reports of progress.
  private static let stepsBetweenReports = 10_000
  /// So many steps a character are usual.
  private static let stepsACharacter = 10
  /// Ten million steps beyond what is usual, at most about a second: steps are counted, and not time.
  package static let maximumExcess = 1_000

  /// An expression that a whole text has to match.
  ///
  /// - Parameters:
  ///   - pattern: What stands for the whole text.
  ///   - options: The options.
  /// - Returns: The expression, which begins and ends where the text does.
  /// - Throws: An error of Foundation for a pattern that is no regular expression.
  package static func whole(_ pattern: String, options: Options = []) throws
    -> NSRegularExpression
  {
    // Alone first: "a)|(b" must not become valid by the parentheses around it. (Foundation takes no
    // empty expression.)
    if !pattern.isEmpty { _ = try NSRegularExpression(pattern: pattern, options: options) }
    // The parenthesis may be part of a comment ("(?x) a # b") or of a text ("\Qa") that has no end.
    for ending in ["", "\n"] {
      let framed = "\\A(?:\(pattern)\(ending))\\z"
      if let expression = try? NSRegularExpression(pattern: framed, options: options) {
        return expression
      }
    }
    return try NSRegularExpression(pattern: "\\A(?:\(pattern)\\E)\\z", options: options)
  }

  /// What looking for a match came to.
  package struct BoundedMatch {
    /// Whether there is one, as far as was looked.
    package internal(set) var isFound = false
    /// How many reports of progress there were beyond what is usual for such a text: where there are more
    /// than `maximumExcess`, it was given up.
    package internal(set) var excess: Int
    /// Whether ICU had no more room to remember where it could go on: nobody knows whether there is a match.
    package internal(set) var isOverflown = false
  }

  /// Looks for the first match, and gives up where that takes too many steps.
  ///
  /// - Parameter text: Where to look.
  /// - Returns: What was found.
  package func boundedMatch(in text: String) -> BoundedMatch {
    let length = text.utf16.count
    var match = BoundedMatch(excess: -(length * Self.stepsACharacter / Self.stepsBetweenReports))
    enumerateMatches(
      in: text,
      options: [.reportProgress, .reportCompletion],
      range: NSRange(location: 0, length: length)
    ) { result, flags, stop in
      if result != nil {
        match.isFound = true
        stop.pointee = true
      } else if flags.contains(.internalError) {
        match.isOverflown = true
      } else if flags.contains(.progress) {
        match.excess += 1
        if match.excess > Self.maximumExcess { stop.pointee = true }
      }
    }
    match.excess = max(match.excess, 0)
    return match
  }
}
