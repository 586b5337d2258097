/// Why a declared format cannot be used: told when the map is compiled, never per value.
public struct FormatFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// A full sentence for people.
  public var message: String
  /// The nearest valid word, for "did you mean"; nil where nothing is near.
  public var suggestion: String?

  /// Makes a fault.
  public init(_ message: String, suggestion: String? = nil) {
    self.message = message
    self.suggestion = suggestion
  }

  /// The message, and the suggestion where there is one.
  public var description: String {
    suggestion.map { "\(message) Did you mean \"\($0)\"?" } ?? message
  }
}

extension FormatFault {
  /// Finds the candidate with the fewest edits from a word, case aside; nil when none is near.
  ///
  /// O(word × letters of all candidates): for messages only.
  static func nearest(to word: String, in candidates: some Sequence<String>) -> String? {
    let letters = Array(word.lowercased().unicodeScalars.prefix(64))
    var best: (name: String, distance: Int)?
    for candidate in candidates {
      let others = Array(candidate.lowercased().unicodeScalars.prefix(64))
      let distance = editDistance(letters, others)
      if distance < best?.distance ?? (1 + max(1, letters.count / 3)) {
        best = (candidate, distance)
      }
    }
    return best?.name
  }

  private static func editDistance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
    var row = Array(0...b.count)
    for (i, letter) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in b.enumerated() {
        let substituted = diagonal + (letter == other ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substituted, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[b.count]
  }
}
