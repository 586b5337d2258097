import Foundation

/// Text reduced to what `[c]` and `[d]` leave of it, so that comparing bytes compares meaning.
enum TextFold {
  /// The folded text.
  ///
  /// - `[d]` decomposes canonically (NFD), removes nonspacing marks, and composes what is left (NFC), so
  ///   that both normal forms fall together, and a syllable of Hangul stays one character. Marks that tell
  ///   letters apart stay: nukta, kana voicing and virama (combining classes 7, 8 and 9) and vowel signs
  ///   (class 0).
  /// - `[c]` applies Unicode's full case folding to each scalar, independent of any locale: "ß" is
  ///   "ss", "Σ" and "ς" are "σ", "İ" is not "i" (The Unicode Standard, section 3.13).
  static func fold(_ text: String, _ options: Filter.Comparison.Options) -> String {
    var scalars = text.unicodeScalars
    if scalars.allSatisfy(\.isASCII) {
      return options.contains(.caseInsensitive) ? text.lowercased() : text
    }
    if options.contains(.diacriticInsensitive) {
      scalars = text.decomposedStringWithCanonicalMapping.unicodeScalars
      scalars.removeAll(where: isDiacritic)
      scalars = String(scalars).precomposedStringWithCanonicalMapping.unicodeScalars
    }
    guard options.contains(.caseInsensitive) else { return String(scalars) }
    var folded = ""
    for scalar in scalars { folded += caseFolded(scalar) }
    return folded
  }

  private static func isDiacritic(_ scalar: Unicode.Scalar) -> Bool {
    guard scalar.properties.generalCategory == .nonspacingMark else { return false }
    let combiningClass = scalar.properties.canonicalCombiningClass.rawValue
    return combiningClass == 1 || combiningClass > 9
  }

  /// Lower, upper, lower: the derivation of case folding from the case mappings.
  ///
  /// The dotless i, whose capital is the ordinary I, folds to itself.
  private static func caseFolded(_ scalar: Unicode.Scalar) -> String {
    if scalar.isASCII || scalar == "\u{131}" { return scalar.properties.lowercaseMapping }
    var folded = ""
    for lower in scalar.properties.lowercaseMapping.unicodeScalars {
      for upper in lower.properties.uppercaseMapping.unicodeScalars {
        folded += upper.properties.lowercaseMapping
      }
    }
    return folded
  }
}
