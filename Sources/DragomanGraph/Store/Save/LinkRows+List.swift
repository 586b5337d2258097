import HashTreeCollections

extension LinkRows {
  /// The rows of one owner by their place, over those that were there when it was first changed.
  struct List: Sendable {
    /// The target at each place.
    private(set) var rows: TreeDictionary<Int64, Int64> = [:]
    /// The targets that were there before: what differs from them is the change.
    private(set) var base: [Int64]
    private let allowsRepeats: Bool
    /// All places of targets that have more than one.
    private var repeated: TreeDictionary<Int64, [Int64]> = [:]
    /// Targets that were there before, or were taken away again.
    private(set) var away: TreeSet<Int64> = []
    /// The place behind the last.
    private(set) var end: Int64 = 0

    init(_ targets: [Int64], over base: [Int64], allowsRepeats: Bool) {
      self.base = base
      self.allowsRepeats = allowsRepeats
      var places: [Int64: Int64] = [:]
      for target in targets { append(target, besides: places.updateValue(end, forKey: target)) }
      away.formUnion(base)
      away.subtract(targets)
    }

    /// The targets in order.
    var targets: [Int64] { rows.sorted { $0.key < $1.key }.map(\.value) }

    /// The targets that were added.
    var added: [Int64] { Self.split(targets, base).added }

    /// The targets that came or went.
    var changed: Set<Int64> { Set(rows.values).symmetricDifference(base) }

    /// Puts a target behind the others; `place`: where it stands already.
    mutating func append(_ target: Int64, besides place: Int64?) {
      if let place { repeated[target, default: [place]].append(end) }
      rows[end] = target
      end += 1
      away.remove(target)
    }

    /// Takes a target out, every time it occurs; `place`: one of its places.
    mutating func remove(_ target: Int64, at place: Int64?) {
      for place in repeated[target] ?? place.map({ [$0] }) ?? [] { rows[place] = nil }
      repeated[target] = nil
      away.insert(target)
    }

    /// Stands where another list stood.
    mutating func replace(_ other: List) {
      base = other.base
      away.formUnion(other.rows.values)
      away.formUnion(other.away)
      away.subtract(rows.values)
    }

    /// Other targets over others.
    func moved(to targets: [Int64], over base: [Int64]) -> List {
      List(targets, over: base, allowsRepeats: allowsRepeats)
    }

    /// The same targets over others.
    func rebased(on base: [Int64]) -> List { moved(to: targets, over: base) }

    /// This list with the change of one that stands over it.
    func with(_ upper: List) -> List {
      moved(to: upper.over(targets).targets, over: base)
    }

    /// The list as it is where it leads to none of these.
    func leaving(_ isKept: (Int64) -> Bool) -> List {
      let there = Set(rows.values)
      return rebased(on: base.filter { there.contains($0) || !isKept($0) })
    }

    /// The change of this list made to another one: what came comes behind, what went goes.
    ///
    /// - Parameter theirs: What is there by now in place of `base`.
    /// - Returns: The targets, and whether nothing is lost: false where both have another order.
    func over(_ theirs: [Int64]) -> (targets: [Int64], isWhole: Bool) {
      let ours = targets
      if theirs == base || theirs == ours { return (ours, true) }
      if ours == base { return (theirs, true) }
      let (mine, other) = (Self.split(ours, base), Self.split(theirs, base))
      let isAppended = ours == mine.kept + mine.added && Self.isInOrder(mine.kept, base)
      if isAppended { return (apply(mine, to: theirs), true) }
      return (apply(other, to: ours), Self.isInOrder(other.kept, base))
    }

    /// Whether the change of this list is in another one: what came is there, what went is not, and what
    /// both have is in the same order.
    func isHeld(by theirs: [Int64]) -> Bool {
      let ours = targets
      let (kept, added) = Self.split(ours, base)
      let gone = Set(Self.split(base, kept).added)
      let there = Self.split(ours, theirs)
      let isThere = Self.split(added, there.kept).added.isEmpty
      return isThere && !Self.split(theirs, ours).added.contains(where: gone.contains)
        && Self.isInOrder(there.kept, theirs)
    }

    /// Takes away what was taken away from `base`, and adds what was added.
    private func apply(_ change: (kept: [Int64], added: [Int64]), to list: [Int64]) -> [Int64] {
      let gone = Self.split(base, change.kept).added
      let left = Self.split(list, gone).added
      let there = Set(left)
      return left + change.added.filter { allowsRepeats || !there.contains($0) }
    }

    /// What of a list others have, too, as often as they have it, and what is left.
    private static func split(_ list: [Int64], _ other: [Int64]) -> (kept: [Int64], added: [Int64])
    {
      var counts: [Int64: Int] = [:]
      for target in other { counts[target, default: 0] += 1 }
      var (kept, added): ([Int64], [Int64]) = ([], [])
      for target in list {
        if let count = counts[target], count > 0 {
          counts[target] = count - 1
          kept.append(target)
        } else {
          added.append(target)
        }
      }
      return (kept, added)
    }

    /// Whether a list is another one with something left out.
    private static func isInOrder(_ list: [Int64], _ other: [Int64]) -> Bool {
      var next = list.startIndex
      for target in other where next < list.endIndex && list[next] == target { next += 1 }
      return next == list.endIndex
    }
  }
}
