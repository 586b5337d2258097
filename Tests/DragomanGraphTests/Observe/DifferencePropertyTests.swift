import TestSupport
import Testing

@testable import DragomanGraph

/// Random lists in random sections: the steps from any to any other lead there.
@Suite("Differences, random snapshots")
struct DifferencePropertyTests {
  @Test("A difference turns the old snapshot into the new one", arguments: 0..<20)
  func leads(round: Int) throws {
    let seed = Seeds.seed(round)
    var random = SplitMix(state: seed)
    for _ in 0..<200 {
      let (old, new) = Self.pair(&random)
      let difference = new.difference(
        from: old,
        updated: Set(new.ids.filter { $0.primaryKey % 3 == 0 })
      )
      #expect(
        old.applying(difference) == new,
        "DRAGOMAN_SEED=\(seed)\n\(old)\n\(new)\n\(difference)"
      )
      #expect(difference.emptiness == ResultDifference.emptiness(old.count, new.count))
      let flat = new.collectionDifference(from: old)
      #expect(old.ids.applying(flat) == new.ids, "DRAGOMAN_SEED=\(seed)")
    }
  }

  @Test("No row is moved that could stay: of one section, as few as a longest run leaves")
  func fewMoves() throws {
    let seed = Seeds.seed()
    var random = SplitMix(state: seed)
    for _ in 0..<200 {
      let keys = (1...Int64.random(in: 1...12, using: &random)).map { $0 }
      let old = Self.snapshot([(.null, keys)], isSectioned: false)
      let new = Self.snapshot([(.null, keys.shuffled(using: &random))], isSectioned: false)
      let moves = new.difference(from: old).changes
      #expect(moves.count == keys.count - Self.longestRun(new.keys), "DRAGOMAN_SEED=\(seed)")
      #expect(
        moves.allSatisfy { if case .moved = $0 { true } else { false } },
        "DRAGOMAN_SEED=\(seed)"
      )
    }
  }

  @Test("A section that goes elsewhere goes with its rows")
  func sectionMoves() {
    let old = Self.snapshot([("a", [1, 2]), ("b", [3]), ("c", [4, 5])])
    let new = Self.snapshot([("c", [4, 5]), ("a", [1, 2]), ("b", [3])])
    #expect(new.difference(from: old).changes == [.sectionMoved(from: 2, to: 0)])
  }

  @Test("Very many sections that turn round cost a step each")
  func manySections() {
    let count: Int64 = 10_000
    let sections = (0..<count).map { (value: StoredValue.integer($0), keys: [$0]) }
    let old = Self.snapshot(sections)
    let changes = Self.snapshot(sections.reversed()).difference(from: old).changes
    #expect(changes.count == Int(count) - 1)
    let come = Self.snapshot(sections).difference(from: ResultSnapshot(emptyOf: "T")).changes
    #expect(come.count > 2 * Int(count))
  }

  @Test("A difference of other results does not fit and says so")
  func foreign() {
    let old = Self.snapshot([("a", [1, 2]), ("b", [3])])
    let new = Self.snapshot([("a", [2]), ("b", [3, 4])])
    let other = Self.snapshot([("a", [1])])
    #expect(other.applying(new.difference(from: old)) == nil)
  }

  /// The longest increasing run of a list, in the simplest way there is.
  private static func longestRun(_ keys: [Int64]) -> Int {
    var lengths = Array(repeating: 1, count: keys.count)
    for place in keys.indices {
      for before in 0..<place where keys[before] < keys[place] {
        lengths[place] = max(lengths[place], lengths[before] + 1)
      }
    }
    return lengths.max() ?? 0
  }

  private static func pair(
    _ random: inout SplitMix
  ) -> (old: ResultSnapshot, new: ResultSnapshot) {
    let isSectioned = Bool.random(using: &random)
    let old = draft(Array(1...20), &random)
    var new = draft(Array(5...25), &random)
    if Bool.random(using: &random) {
      // A few edits rather than another list.
      new = old
      for _ in 0..<Int.random(in: 0...4, using: &random) { edit(&new, &random) }
    }
    return (snapshot(old, isSectioned: isSectioned), snapshot(new, isSectioned: isSectioned))
  }

  private typealias Draft = [(value: StoredValue, keys: [Int64])]

  private static func draft(_ pool: [Int64], _ random: inout SplitMix) -> Draft {
    var rest = pool.shuffled(using: &random).prefix(Int.random(in: 0...pool.count, using: &random))
    var draft: Draft = []
    for name in ["a", "b", "c", "d", "e"].shuffled(using: &random) where !rest.isEmpty {
      let count = min(rest.count, Int.random(in: 1...8, using: &random))
      draft.append((.text(name), Array(rest.prefix(count))))
      rest = rest.dropFirst(count)
    }
    return draft
  }

  private static func edit(_ draft: inout Draft, _ random: inout SplitMix) {
    guard let from = draft.indices.randomElement(using: &random),
      let to = draft.indices.randomElement(using: &random),
      let place = draft[from].keys.indices.randomElement(using: &random)
    else { return }
    let key = draft[from].keys.remove(at: place)
    if Int.random(in: 0..<3, using: &random) > 0 {
      draft[to].keys.insert(key, at: Int.random(in: 0...draft[to].keys.count, using: &random))
    }
    draft.removeAll { $0.keys.isEmpty }
  }

  private static func snapshot(_ draft: Draft, isSectioned: Bool = true) -> ResultSnapshot {
    let keys = draft.flatMap(\.keys)
    guard isSectioned else {
      return ResultSnapshot(
        entity: "T",
        keys: keys,
        starts: [0, keys.count],
        groups: [[]],
        values: [.null]
      )
    }
    var starts = [0]
    for section in draft { starts.append(starts[starts.count - 1] + section.keys.count) }
    return ResultSnapshot(
      entity: "T",
      keys: keys,
      starts: starts,
      groups: draft.map { [$0.value] },
      values: draft.map(\.value)
    )
  }
}
