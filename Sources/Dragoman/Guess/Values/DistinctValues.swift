/// The different values of a place, by their hashes, as long as there is room for them.
struct DistinctValues {
  /// The hashes; nil where they are too many, or values were too long to be keys.
  private(set) var hashes: HashSet? = HashSet()
  /// How many values there were, all different, when there was no more room; 0: there always was, or two
  /// were the same.
  private(set) var firstCount = 0

  /// Adds a value.
  ///
  /// - Parameters:
  ///   - hash: Its hash.
  ///   - seenCount: How many values there were before it.
  ///   - budget: What all places together may keep.
  mutating func insert(_ hash: UInt64, seenCount: Int, _ budget: HashBudget) {
    guard hashes != nil else { return }
    if hashes?.isFull == true, !budget.grows(from: hashes?.capacity ?? 0) {
      if hashes?.count == seenCount { firstCount = seenCount }
      budget.release(hashes?.capacity ?? 0)
      hashes = nil
      return
    }
    hashes?.insert(hash)
  }

  /// Says that values cannot be keys.
  mutating func exclude() {
    hashes = nil
    firstCount = 0
  }

  /// Adds the values of another place.
  mutating func merge(_ other: DistinctValues) {
    guard hashes?.count != 0 else {
      self = other
      return
    }
    guard other.hashes?.count != 0 else { return }
    firstCount = 0
    if let added = other.hashes { hashes?.formUnion(added) } else { hashes = nil }
  }
}
