/// A value by which fetched objects are ordered, and the direction.
///
/// Numbers order as numbers (decimals exactly, however long), instants and dates by time, text by
/// its bytes, which for UTF-8 is the order of Unicode scalars, unless the options say otherwise.
/// Nulls come first ascending, last descending, as with NSSortDescriptor. Memory and SQL order alike.
public struct SortKey: Sendable, Hashable {
  /// How text is ordered; nothing: by its bytes.
  public struct Options: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: Int
    /// Makes a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// `[c]`: without regard to upper and lower case.
    public static let caseInsensitive = Options(rawValue: 1)
    /// `[d]`: without regard to diacritics.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// `[l]`: as a reader expects a list, and the same in every locale.
    ///
    /// First without case and diacritics, of equals those with equal diacritics, then by bytes: it
    /// is no collation of a language.
    public static let localized = Options(rawValue: 4)
  }

  /// The attribute's name, or a path to one: taken as a name first, then its dots are walked.
  public var name: String
  /// Whether small values come first.
  public var isAscending: Bool
  /// How text is ordered.
  public var options: Options

  /// Makes a sort key.
  public init(_ name: String, ascending: Bool = true, options: Options = []) {
    self.name = name
    self.isAscending = ascending
    self.options = options
  }

  /// Reads a list such as `lastName[c],-salary`: a minus means descending, a plus ascending.
  ///
  /// - Throws: `StoreError.Code.badRequest` if a name is empty or the options are not of `c d l`.
  public static func parse(_ text: String) throws(StoreError) -> [SortKey] {
    var keys: [SortKey] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      var word = part.trimmingPrefix { $0 == " " }
      while word.last == " " { word.removeLast() }
      let isAscending = !word.hasPrefix("-")
      if word.hasPrefix("-") || word.hasPrefix("+") { word.removeFirst() }
      let options = try options(cutOff: &word)
      guard !word.isEmpty else {
        throw StoreError(
          .badRequest,
          "The sort keys \"\(text)\" contain an empty name.",
          help: "write them as a,-b: a ascending, then b descending"
        )
      }
      keys.append(SortKey(String(word), ascending: isAscending, options: options))
    }
    return keys
  }

  private static func options(cutOff word: inout Substring) throws(StoreError) -> Options {
    guard word.last == "]", let start = word.lastIndex(of: "[") else { return [] }
    var options: Options = []
    for letter in word[start...].dropFirst().dropLast() {
      switch letter {
      case "c", "C": options.insert(.caseInsensitive)
      case "d", "D": options.insert(.diacriticInsensitive)
      case "l", "L": options.insert(.localized)
      default:
        throw StoreError(
          .badRequest,
          "The sort key \"\(word)\" has the option \"\(letter)\", which does not exist.",
          help: "there are c (case), d (diacritics) and l (localized)"
        )
      }
    }
    word = word[..<start]
    return options
  }

  /// The key as `parse` reads it.
  public var text: String {
    let letters = [(Options.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.localized, "l")]
      .filter { options.contains($0.0) }.map(\.1).joined()
    return (isAscending ? "" : "-") + name + (letters.isEmpty ? "" : "[\(letters)]")
  }

  /// What is folded away, one after the other, when text is ordered; the last one may be nothing.
  var folds: [Filter.Comparison.Options] {
    if options.contains(.localized) {
      return [[.caseInsensitive, .diacriticInsensitive], .caseInsensitive, []]
    }
    return [Filter.Comparison.Options(rawValue: options.rawValue & 3)]
  }
}
