/// Words of messages that depend on what they are about.
package enum MessageWords {
  /// `1 record`, `2000 records`.
  ///
  /// - Parameters:
  ///   - number: How many.
  ///   - one: What one is called.
  ///   - many: What several are called; nil: the same with an s behind it.
  /// - Returns: The number with its word.
  package static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(number) \(number == 1 ? one : many ?? one + "s")"
  }

  /// A name with its indefinite article: `a Person`, `an Order`, `a User`.
  ///
  /// - Parameter name: The name of an entity, or another word.
  /// - Returns: The two words.
  package static func withArticle(_ name: String) -> String {
    let word = name.lowercased()
    let isSpokenWithVowel =
      word.first.map("aeio".contains) == true
      ? !word.hasPrefix("eu") && !word.hasPrefix("one")
      : word.hasPrefix("u") && word.count > 1
        && !["uni", "use", "usa", "uti", "ura", "uui", "url"].contains(where: word.hasPrefix)
    return "\(isSpokenWithVowel ? "an" : "a") \(name)"
  }
}
