/// The different values of a place, by their hashes, as long as there is room for them.
struct DistinctValues {
  private var known: HashSet? = HashSet()
  /// Values that are not in `known` yet: of several the processor looks for their places at once, and waits for
  /// memory once.
  private var waiting: [UInt64] = []
  /// How many values there were before the first that waits.
  private var seenCount = 0
  private var budget: HashBudget?
  private var fullCount = 0

  private static let waitingCount = 64

  /// The hashes; nil where they are too many, or values were too long to be keys.
  var hashes: HashSet? {
    mutating get {
      settle()
      return known
    }
  }

  /// How many values there were, all different, when there was no more room; 0: there always was, or two
  /// were the same.
  var firstCount: Int {
    mutating get {
      settle()
      return fullCount
    }
  }

  /// Adds a value.
  ///
  /// - Parameters:
  ///   - hash: Its hash.
  ///   - count: How many values there were before it.
  ///   - budget: What all places together may keep.
  mutating func insert(_ hash: UInt64, seenCount count: Int, _ budget: HashBudget) {
    guard known != nil else { return }
    if waiting.isEmpty {
      seenCount = count
      self.budget = budget
    }
    waiting.append(hash)
    if waiting.count == Self.waitingCount { settle() }
  }

  private mutating func settle() {
    guard !waiting.isEmpty, let budget else { return }
    defer { waiting.removeAll(keepingCapacity: true) }
    known?.touch(waiting)
    for (place, hash) in waiting.enumerated() {
      if known?.isFull == true, !budget.grows(from: known?.capacity ?? 0) {
        if known?.count == seenCount + place { fullCount = seenCount + place }
        budget.release(known?.capacity ?? 0)
        known = nil
        return
      }
      known?.insert(hash)
    }
  }

  /// Says that values cannot be keys.
  mutating func exclude() {
    waiting = []
    known = nil
    fullCount = 0
  }

  /// Adds the values of another place.
  mutating func merge(_ added: DistinctValues) {
    var other = added
    guard hashes?.count != 0 else {
      self = other
      return
    }
    guard other.hashes?.count != 0 else { return }
    fullCount = 0
    if let added = other.hashes { known?.formUnion(added) } else { known = nil }
  }
}
