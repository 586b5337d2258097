/// How the sections of one snapshot become those of the next: which are the same, and the steps.
///
/// While rows travel, the old and the new sections are there together: new ones are inserted and
/// others moved before any row is, and those that go are deleted when they are empty. Costs
/// O(n log n) of the sections.
struct SectionArrangement {
  /// A section while rows travel.
  struct Section {
    /// Its number in the old snapshot.
    let old: Int?
    /// Its number in the new snapshot.
    let new: Int?
  }

  /// The sections while rows travel, in order.
  private(set) var sections: [Section] = []
  /// The steps that lead there.
  private(set) var steps: [ResultChange] = []
  /// By the number of an old section: the new one's; nil: it goes.
  private(set) var newOfOld: [Int?]
  /// By the number of a new section: its place while rows travel.
  private(set) var placeOfNew: [Int]
  /// By the number of an old section: its place while rows travel.
  private(set) var placeOfOld: [Int]

  init(from old: ResultSnapshot, to new: ResultSnapshot) {
    let oldOfNew = Self.match(old.groups, new.groups)
    newOfOld = Array(repeating: nil, count: old.groups.count)
    placeOfNew = Array(repeating: 0, count: new.groups.count)
    placeOfOld = Array(repeating: 0, count: old.groups.count)
    for (number, old) in oldOfNew.enumerated() { if let old { newOfOld[old] = number } }
    arrange(oldOfNew, new.values)
    for (place, section) in sections.enumerated() {
      if let old = section.old { placeOfOld[old] = place }
      if let new = section.new { placeOfNew[new] = place }
    }
  }

  /// By the number of a new section, the old one of the same group.
  ///
  /// Equal beginnings and ends, which are almost everything after a small change, are not hashed.
  private static func match(_ old: [[StoredValue]], _ new: [[StoredValue]]) -> [Int?] {
    let shorter = min(old.count, new.count)
    var start = 0
    while start < shorter, old[start] == new[start] { start += 1 }
    var tail = 0
    while tail < shorter - start, old[old.count - 1 - tail] == new[new.count - 1 - tail] {
      tail += 1
    }
    var known: [[StoredValue]: Int] = [:]
    for number in start..<(old.count - tail) { known[old[number]] = number }
    return new.indices.map { number in
      if number < start { return number }
      if number >= new.count - tail { return number + old.count - new.count }
      return known[new[number]]
    }
  }

  private mutating func arrange(_ oldOfNew: [Int?], _ values: [StoredValue]) {
    let count = newOfOld.count
    let stays = IncreasingRun.members(of: oldOfNew.map { $0 ?? -1 }, where: { $0 >= 0 })
    var isMover = Array(repeating: false, count: count)
    for (number, old) in oldOfNew.enumerated() {
      if let old, !stays[number] { isMover[old] = true }
    }
    // What was put in so far, by the old section in front of which it stands, in order; all of it
    // stands in front of `next`.
    var placed: [[Section]] = Array(repeating: [], count: count + 1)
    var gone = PrefixSums(count: count)
    var come = PrefixSums(count: count + 1)
    var next = 0
    var comeCount = 0
    func isPassed(_ old: Int) -> Bool {
      // Those that go stay where they are until then, those that are still to move do, too.
      newOfOld[old] == nil || isMover[old]
    }
    for (number, old) in oldOfNew.enumerated() {
      while next < count, isPassed(next) { next += 1 }
      if let old, stays[number] {
        // Of the sections that stay and are not passed over, this one is the next.
        assert(next == old)
        next += 1
        continue
      }
      if let old {
        let from = old - gone.sum(from: 0, below: old) + come.sum(from: 0, below: old + 1)
        gone.add(1, at: old)
        let to = next - gone.sum(from: 0, below: next) + comeCount
        if from != to { steps.append(.sectionMoved(from: from, to: to)) }
      } else {
        let to = next - gone.sum(from: 0, below: next) + comeCount
        steps.append(.sectionInserted(values[number], at: to))
      }
      placed[next].append(Section(old: old, new: number))
      come.add(1, at: next)
      comeCount += 1
    }
    for place in 0...count {
      sections += placed[place]
      if place < count, !isMover[place] {
        sections.append(Section(old: place, new: newOfOld[place]))
      }
    }
  }
}

/// Longest increasing runs: what may stay where it is when everything else moves.
enum IncreasingRun {
  /// For each number whether it is part of a longest increasing subsequence of those that count.
  ///
  /// Patience sorting, O(n log n); O(n) where they increase already.
  static func members(of numbers: [Int], where counts: (Int) -> Bool) -> [Bool] {
    var tails: [Int] = []
    var before = Array(repeating: -1, count: numbers.count)
    for (place, number) in numbers.enumerated() where counts(number) {
      var low = tails.count
      if let last = tails.last, numbers[last] >= number {
        low = 0
        var high = tails.count
        while low < high {
          let middle = (low + high) / 2
          if numbers[tails[middle]] < number { low = middle + 1 } else { high = middle }
        }
      }
      if low > 0 { before[place] = tails[low - 1] }
      if low == tails.count { tails.append(place) } else { tails[low] = place }
    }
    var isMember = Array(repeating: false, count: numbers.count)
    var place = tails.last ?? -1
    while place >= 0 {
      isMember[place] = true
      place = before[place]
    }
    return isMember
  }
}
