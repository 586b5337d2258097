import Foundation

extension NSRegularExpression {
  /// How many of its steps ICU makes between two reports of progress.
  package static let stepsBetweenReports = 10_000
  /// Ten million steps, at most about a second: steps are counted, and not time.
  package static let maximumReportCount = 1_000

  /// Looks for the first match, and gives up where that takes too many steps.
  ///
  /// - Parameters:
  ///   - text: Where to look.
  ///   - most: Behind how many reports of progress it gives up.
  /// - Returns: Where the match is, and how many reports there were; nil: there is no match, or it was given up.
  package func boundedMatch(
    in text: String,
    atMost most: Int
  ) -> (range: NSRange?, reportCount: Int) {
    var range: NSRange?
    var reportCount = 0
    enumerateMatches(
      in: text,
      options: .reportProgress,
      range: NSRange(location: 0, length: text.utf16.count)
    ) { result, flags, stop in
      if let result {
        range = result.range
        stop.pointee = true
      } else if flags.contains(.progress) {
        reportCount += 1
        if reportCount > most { stop.pointee = true }
      }
    }
    return (range, reportCount)
  }
}
