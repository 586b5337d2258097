/// Writes the steps from one snapshot to the next.
///
/// In this order: rows are deleted, from the back; sections are moved and inserted; rows are moved
/// and inserted, in the order in which they stand at the end; empty sections are deleted; what has
/// other values is named at its final place. Where a row stands in between is counted with two
/// prefix sums, so that k steps cost O(k log n), whatever they are.
struct DifferenceBuilder {
  /// A row that is taken out of its place and put in at another, or the same.
  struct Relocation {
    /// Its place in the old snapshot.
    let old: Int
    /// Its place in the new snapshot.
    let new: Int
  }

  private let old: ResultSnapshot
  private let new: ResultSnapshot
  private let sections: SectionArrangement
  /// Old places of rows that go, ascending.
  private var removed: [Int]
  /// New places of rows that come, ascending.
  private var inserted: [Int]
  /// Rows that may have moved, in the order of their new places; all others stay.
  private var relocated: [Relocation]
  /// New places of rows with other values, ascending.
  private var updated: [Int]

  /// From a known edit: what is not named has stayed, in its section.
  init(
    from old: ResultSnapshot,
    to new: ResultSnapshot,
    removed: [Int],
    inserted: [Int],
    relocated: [Relocation],
    updated: [Int]
  ) {
    self.old = old
    self.new = new
    sections = SectionArrangement(from: old, to: new)
    self.removed = removed
    self.inserted = inserted
    self.relocated = relocated
    self.updated = updated
  }

  /// From two snapshots and nothing else; O(n log n).
  ///
  /// - Parameters:
  ///   - old: The snapshot before.
  ///   - new: The snapshot after.
  ///   - isUpdated: Whether a row that is in both, by its old and its new place, has other values.
  init(from old: ResultSnapshot, to new: ResultSnapshot, isUpdated: (Int, Int) -> Bool) {
    self.old = old
    self.new = new
    sections = SectionArrangement(from: old, to: new)
    removed = []
    inserted = []
    relocated = []
    updated = []
    compare(isUpdated)
  }

  // MARK: - What stays

  private mutating func compare(_ isUpdated: (Int, Int) -> Bool) {
    let oldPlaces = placesInOld()
    var isKept = Array(repeating: false, count: old.keys.count)
    // Old places as they are once the sections are arranged: by them rows are in order or not.
    var arranged = Array(repeating: -1, count: new.keys.count)
    let starts = arrangedStarts()
    var section = 0
    var oldSection = 0
    for (place, known) in oldPlaces.enumerated() {
      guard known >= 0 else {
        inserted.append(place)
        continue
      }
      isKept[known] = true
      if isUpdated(known, place) { updated.append(place) }
      while new.starts[section + 1] <= place { section += 1 }
      if !(old.starts[oldSection]..<old.starts[oldSection + 1]).contains(known) {
        oldSection = old.place(known).section
      }
      guard sections.newOfOld[oldSection] == section else { continue }
      arranged[place] = starts[oldSection] + known - old.starts[oldSection]
    }
    for (place, kept) in isKept.enumerated() where !kept { removed.append(place) }
    let stays = IncreasingRun.members(of: arranged, where: { $0 >= 0 })
    for (place, known) in oldPlaces.enumerated() where known >= 0 && !stays[place] {
      relocated.append(Relocation(old: known, new: place))
    }
  }

  /// By new place the old place of each row, −1 for one that was not there.
  private func placesInOld() -> [Int] {
    let shorter = min(old.keys.count, new.keys.count)
    var start = 0
    while start < shorter, old.keys[start] == new.keys[start] { start += 1 }
    var tail = 0
    while tail < shorter - start,
      old.keys[old.keys.count - 1 - tail] == new.keys[new.keys.count - 1 - tail]
    {
      tail += 1
    }
    var known: [Int64: Int] = [:]
    known.reserveCapacity(old.keys.count - tail - start)
    for place in start..<(old.keys.count - tail) { known[old.keys[place]] = place }
    return new.keys.indices.map { place in
      if place < start { return place }
      if place >= new.keys.count - tail { return place + old.keys.count - new.keys.count }
      return known[new.keys[place]] ?? -1
    }
  }

  private func arrangedStarts() -> [Int] {
    var starts = Array(repeating: 0, count: old.values.count)
    var total = 0
    for section in sections.sections {
      guard let number = section.old else { continue }
      starts[number] = total
      total += old.starts[number + 1] - old.starts[number]
    }
    return starts
  }

  /// Takes those out of `relocated` that can stay: among the rows that do they have kept their
  /// place, and among themselves their order.
  private mutating func settle() {
    guard !relocated.isEmpty else { return }
    let leaving = (removed + relocated.map(\.old)).sorted()
    let coming = (inserted + relocated.map(\.new)).sorted()
    var movers: [Relocation] = []
    var group: [Relocation] = []
    var groupPlace = ResultPlace(section: -1, row: 0)
    func close() {
      let stays = IncreasingRun.members(of: group.map(\.old), where: { _ in true })
      for (row, stays) in zip(group, stays) where !stays { movers.append(row) }
      group = []
    }
    for row in relocated {
      let from = rank(old.place(row.old), leaving, old.starts)
      let to = rank(new.place(row.new), coming, new.starts)
      guard sections.newOfOld[from.section] == to.section, from.row == to.row else {
        movers.append(row)
        continue
      }
      if to != groupPlace { close() }
      groupPlace = to
      group.append(row)
    }
    close()
    relocated = movers.sorted { $0.new < $1.new }
  }

  /// How many rows that stay are before the place in its section.
  private func rank(_ place: ResultPlace, _ touched: [Int], _ starts: [Int]) -> ResultPlace {
    let start = starts[place.section]
    let before = touched.countBelow(start + place.row) - touched.countBelow(start)
    return ResultPlace(section: place.section, row: place.row - before)
  }

  // MARK: - Steps

  /// The difference.
  mutating func difference() -> ResultDifference {
    settle()
    var steps: [ResultChange] = []
    steps.reserveCapacity(removed.count + inserted.count + relocated.count + updated.count)
    for place in removed.reversed() {
      steps.append(.deleted(id(old.keys[place]), at: old.place(place)))
    }
    steps += sections.steps
    if !inserted.isEmpty || !relocated.isEmpty { travel(&steps) }
    for (place, section) in sections.sections.enumerated().reversed() where section.new == nil {
      steps.append(.sectionDeleted(at: place))
    }
    for (number, section) in sections.newOfOld.enumerated() {
      guard let section, old.values[number] != new.values[section] else { continue }
      steps.append(.sectionUpdated(new.values[section], at: section))
    }
    for place in updated { steps.append(.updated(id(new.keys[place]), at: new.place(place))) }
    return ResultDifference(steps, countBefore: old.count, countAfter: new.count)
  }

  private func id(_ key: Int64) -> ObjectID { ObjectID(entity: new.entity, primaryKey: key) }

  /// Moves and insertions, in the order of their final places.
  private func travel(_ steps: inout [ResultChange]) {
    // Each section has a slot of its own in front of its rows: what comes first in it is counted
    // there.
    var slots: [Int] = []
    var rowCount = 0
    for (place, section) in sections.sections.enumerated() {
      slots.append(rowCount + place)
      guard let number = section.old else { continue }
      let range = old.starts[number]..<old.starts[number + 1]
      rowCount +=
        range.count - removed.countBelow(range.upperBound) + removed.countBelow(range.lowerBound)
    }
    var waiting = PrefixSums(count: rowCount + slots.count)
    var placed = PrefixSums(count: rowCount + slots.count)
    var leaving: [[Int]] = Array(repeating: [], count: slots.count)
    for row in relocated.sorted(by: { $0.old < $1.old }) {
      let (section, place) = remaining(row.old)
      leaving[section].append(place)
      waiting.add(1, at: slots[section] + 1 + place)
    }
    var targets: [(new: Int, mover: Relocation?)] = inserted.map { ($0, nil) }
    targets += relocated.map { ($0.new, $0) }
    targets.sort { $0.new < $1.new }
    var section = -1
    var placedCount = 0
    for target in targets {
      let final = new.place(target.new)
      if final.section != section { placedCount = 0 }
      section = final.section
      let place = sections.placeOfNew[section]
      let anchor =
        slots[place] + anchor(behind: final.row - placedCount, leaving: leaving[place])
      var from: ResultPlace?
      if let mover = target.mover {
        let (section, row) = remaining(mover.old)
        let slot = slots[section]
        let gone = leaving[section].countBelow(row) - waiting.sum(from: slot, below: slot + 1 + row)
        let come = placed.sum(from: slot, below: slot + 1 + row)
        from = ResultPlace(section: section, row: row - gone + come)
        waiting.add(-1, at: slot + 1 + row)
      }
      let to = ResultPlace(
        section: place,
        row: final.row + waiting.sum(from: slots[place], below: anchor + 1)
      )
      placed.add(1, at: anchor)
      placedCount += 1
      let id = id(new.keys[target.new])
      guard let from else {
        steps.append(.inserted(id, at: to))
        continue
      }
      if from != to { steps.append(.moved(id, from: from, to: to)) }
    }
  }

  /// The section, while rows travel, and the place in it of a row that was not deleted.
  private func remaining(_ flat: Int) -> (section: Int, row: Int) {
    let place = old.place(flat)
    let start = old.starts[place.section]
    let before = removed.countBelow(flat) - removed.countBelow(start)
    return (sections.placeOfOld[place.section], place.row - before)
  }

  /// Behind which row of a section, from 1, `count` rows that stay lie; 0 for none.
  private func anchor(behind count: Int, leaving: [Int]) -> Int {
    guard count > 0 else { return 0 }
    // The row with number `count - 1` among those that stay: as many movers lie in front of it as
    // have less than `count` rows that stay in front of them.
    var low = 0
    var high = leaving.count
    while low < high {
      let middle = (low + high) / 2
      if leaving[middle] - middle <= count - 1 { low = middle + 1 } else { high = middle }
    }
    return count + low
  }
}

extension [Int] {
  /// How many numbers of an ascending list are below a bound.
  fileprivate func countBelow(_ bound: Int) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < bound { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
