/// What the name of a feed's file says of the feed: `orders` and `json` of `orders-2026-11-23.json.gz`.
struct FeedFileName {
  /// The name without its folder, and without what says how it is packed.
  private let whole: String
  /// The letters in front of what changes from delivery to delivery.
  private let stem: String
  private let ending: String

  /// Makes nil of a name without an ending, or with signs that patterns have.
  init?(_ path: String) {
    var parts = (path.split(separator: "/").last ?? "").split(separator: ".")
    if let last = parts.last, ["gz", "zst"].contains(last) { parts.removeLast() }
    guard parts.count > 1, let first = parts.first, let ending = parts.last,
      !path.contains(where: { "*?[]\\".contains($0) })
    else { return nil }
    let letters = first.prefix { !$0.isNumber }
    stem = String(letters.reversed().drop { "-_ ".contains($0) }.reversed())
    whole = parts.joined(separator: ".")
    self.ending = String(ending)
  }

  /// Whether it says what the records are: not `2024-11-23.json`, nor `data.json`.
  var isTelling: Bool { stem.count >= 3 && !RecordPlaces.generic.contains(stem.lowercased()) }

  /// Patterns for the names of the feed's files: `orders*.json`.
  ///
  /// - Parameter others: Patterns and names of the files of other feeds; where the usual pattern would take one of
  ///   these, too, there are narrower ones.
  /// - Returns: The patterns.
  func patterns(besides others: [String] = []) -> [String] {
    guard stem.count >= 3 else { return [whole] }
    let usual = "\(stem)*.\(ending)"
    let takesOthers = others.contains { other in
      let name = other.replacing("*", with: "")
      return FeedFileName(name)?.stem != stem && FileGlob(pattern: usual).matches(name)
    }
    guard takesOthers else { return [usual] }
    return ["\(stem).\(ending)", "\(stem)[0-9]*.\(ending)", "\(stem)[-_ ][0-9]*.\(ending)"]
  }

  /// Whether a file is called as a delivery of the same feed is.
  func matches(_ file: String) -> Bool {
    patterns().contains { FileGlob(pattern: $0).matches(file) }
  }
}
