/// The different values of a place in each sample, by their hashes, as long as there is room for them.
struct DistinctValues {
  /// The values of one sample.
  private struct Part {
    let sample: Int
    var hashes = HashSet()
    /// How many values there were.
    var count = 0

    var isUnique: Bool { hashes.count == count }
  }

  private var parts: [Part] = []
  private var isOpen = true
  /// Values that are in no part yet: of several the processor looks for their places at once, and waits for
  /// memory once.
  private var waiting: [UInt64] = []
  private var sample = 0
  private var budget: HashBudget?
  private var fullCount = 0
  /// Whether no two values of one sample were found the same so far.
  private(set) var mayBeKey = true

  private static let waitingCount = 64

  /// The hashes of all samples; nil where they are too many, or values were too long to be keys.
  var hashes: HashSet? {
    mutating get {
      settle()
      guard isOpen else { return nil }
      guard var union = parts.first?.hashes else { return HashSet() }
      for part in parts.dropFirst() { union.formUnion(part.hashes) }
      return union
    }
  }

  /// How many values there were, all different in their samples, when there was no more room; 0: there always
  /// was, or two were the same.
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
  ///   - budget: What all places together may keep, and the sample that is read.
  mutating func insert(_ hash: UInt64, _ budget: HashBudget) {
    guard isOpen else { return }
    if waiting.isEmpty {
      self.budget = budget
      sample = budget.sample
    } else if sample != budget.sample {
      settle()
      sample = budget.sample
    }
    waiting.append(hash)
    if waiting.count == Self.waitingCount { settle() }
  }

  private mutating func settle() {
    guard !waiting.isEmpty, isOpen, let budget else { return }
    defer { waiting.removeAll(keepingCapacity: true) }
    if parts.last?.sample != sample { parts.append(Part(sample: sample)) }
    let last = parts.count - 1
    parts[last].hashes.touch(waiting)
    for hash in waiting {
      if parts[last].hashes.isFull, !budget.grows(from: parts[last].hashes.capacity) {
        if parts.allSatisfy(\.isUnique) { fullCount = parts.reduce(0) { $0 + $1.count } }
        for part in parts { budget.release(part.hashes.capacity) }
        parts = []
        isOpen = false
        return
      }
      if !parts[last].hashes.insert(hash) { mayBeKey = false }
      parts[last].count += 1
    }
  }

  /// Whether so many values were seen, and no two of them are one.
  ///
  /// - Parameters:
  ///   - count: How many values there have to be.
  ///   - isEach: Whether only values of one sample are held against each other.
  ///   - meaning: What a value is that is spelled so.
  /// - Returns: Whether it is so; false where there was no room for all.
  mutating func areUnique(
    _ count: Int,
    inEachSample isEach: Bool,
    as meaning: (UInt64) -> UInt64
  ) -> Bool {
    settle()
    guard isOpen, parts.allSatisfy(\.isUnique), count == parts.reduce(0, { $0 + $1.count }) else {
      return false
    }
    var seen = HashSet()
    for part in parts {
      if isEach { seen = HashSet() }
      guard part.hashes.allSatisfy({ seen.insert(meaning($0)) }) else { return false }
    }
    return true
  }

  /// Says that values cannot be keys.
  mutating func exclude() {
    waiting = []
    parts = []
    isOpen = false
    fullCount = 0
    mayBeKey = false
  }

  /// Adds the values of another place.
  mutating func merge(_ added: DistinctValues) {
    var other = added
    settle()
    other.settle()
    guard !parts.isEmpty || !isOpen else {
      self = other
      return
    }
    guard !other.parts.isEmpty || !other.isOpen else { return }
    fullCount = 0
    mayBeKey = mayBeKey && other.mayBeKey
    guard isOpen, other.isOpen else {
      parts = []
      isOpen = false
      return
    }
    for part in other.parts {
      if let place = parts.firstIndex(where: { $0.sample == part.sample }) {
        parts[place].hashes.formUnion(part.hashes)
        parts[place].count += part.count
      } else {
        parts.append(part)
      }
    }
  }
}
