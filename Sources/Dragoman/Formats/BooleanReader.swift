/// Reads booleans from the words that a map declares, compared byte for byte.
struct BooleanReader: Sendable {
  private let trueWords: [[UInt8]]
  private let falseWords: [[UInt8]]

  /// Compiles two lists of words; both empty: no string is a boolean.
  ///
  /// - Throws: a fault when one word means both.
  init(trueValues: [String] = [], falseValues: [String] = []) throws(FormatFault) {
    trueWords = trueValues.map { Array($0.utf8) }
    falseWords = falseValues.map { Array($0.utf8) }
    for (index, word) in trueWords.enumerated() where falseWords.contains(word) {
      throw FormatFault("\"\(trueValues[index])\" is a word for true and for false.")
    }
  }

  /// Reads `true`, `false`, `1` and `0`: the plain notation of XML and CSV.
  static let plain = BooleanReader(trueWords: ["true", "1"], falseWords: ["false", "0"])

  private init(trueWords: [String], falseWords: [String]) {
    self.trueWords = trueWords.map { Array($0.utf8) }
    self.falseWords = falseWords.map { Array($0.utf8) }
  }

  /// What the word means; nil: neither.
  func read(_ text: UnsafeRawBufferPointer) -> Bool? {
    for word in trueWords where word.count == text.count && text.has(word, at: 0) { return true }
    for word in falseWords where word.count == text.count && text.has(word, at: 0) { return false }
    return nil
  }
}
