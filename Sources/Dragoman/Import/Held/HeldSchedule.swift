import DragomanGraph
import HeapModule

/// In which order held records are taken up: as they came, but each when all that it needs is there, and
/// behind the earlier ones about its object.
///
/// A record whose target nobody has, and none of the others makes any more, is to be rejected. Where all that are left wait
/// for each other, the first one begins.
///
/// Each need is looked at once, and again when a record was taken up that makes its target: a chain of records takes as
/// long as the same records without one. Where one of them deletes others, needs are looked at again before their record is
/// taken up, and all that are left where none is ready.
struct HeldSchedule {
  private typealias Key = HeldRecords.Key
  private typealias Need = HeldRecords.Need

  /// What a record still waits for.
  private struct State {
    /// How many earlier records about its object are not done.
    var earlierCount = 0
    /// Which of its needs are not there.
    var missing: Set<Int> = []
    /// What it lacks, if it is to be rejected.
    var lack: HeldRecords.Need?
    var isDone = false
    /// Whether it is to be rejected or done.
    var isSettled: Bool { isDone || lack != nil }
  }

  private let records: [HeldRecords.Record]
  /// Whether what was there may be gone when a record is taken up: one of them deletes others.
  private let losesTargets: Bool
  /// Whether one has done so since all that are left were looked at.
  private var hasLost = false
  private let isStored: (HeldRecords.Need) throws -> Bool
  private var states: [State]
  /// For each record, those that are behind it because they are about the same object.
  private var later: [[Int]]
  /// By key, how many records that are not settled make an object of which entity.
  private var makerCounts: [Key: [Int: Int]] = [:]
  /// By key, which records need it, and the place of that among their needs.
  private var waiting: [Key: [(number: Int, place: Int)]] = [:]
  private var ready = Heap<Int>()
  private var doneCount = 0
  /// Records that wait for each other, last first; groups that others wait for are at the end.
  private var rings: [[Int]]?

  /// Looks at records once.
  ///
  /// - Parameters:
  ///   - records: The records, in the order of the feed.
  ///   - losesTargets: Whether some of them may delete what others need.
  ///   - isStored: Whether a target is there by now.
  /// - Throws: What `isStored` throws.
  init(
    _ records: [HeldRecords.Record],
    losesTargets: Bool,
    isStored: @escaping (HeldRecords.Need) throws -> Bool
  ) throws {
    self.records = records
    self.losesTargets = losesTargets
    self.isStored = isStored
    states = records.map { _ in State() }
    later = records.map { _ in [] }
    for record in records {
      for (key, entity) in record.keys.made {
        makerCounts[key, default: [:]][entity, default: 0] += 1
      }
    }
    orderByObject()
    for number in records.indices where try isComplete(number) { enqueueIfReady(number) }
  }

  /// What a record lacks, if it is to be rejected.
  func lack(of number: Int) -> HeldRecords.Need? { states[number].lack }

  /// The number of the record that is next; it is to be taken up, and `settle` told.
  ///
  /// - Throws: What `isStored` throws.
  mutating func next() throws -> Int? {
    while doneCount < records.count {
      if let number = ready.popMin() {
        if losesTargets, states[number].lack == nil, try !isComplete(number) { continue }
        return number
      }
      guard hasLost else { return firstOfRing() }
      try lookAgain()
    }
    return nil
  }

  /// Says that a record was taken up.
  ///
  /// - Parameters:
  ///   - number: The record.
  ///   - isWritten: Whether its objects may be there now.
  ///   - deletesOthers: Whether it may have deleted others.
  /// - Throws: What `isStored` throws.
  mutating func settle(_ number: Int, isWritten: Bool, deletesOthers: Bool) throws {
    if isWritten && deletesOthers { hasLost = true }
    let wasRejected = states[number].lack != nil
    states[number].isDone = true
    doneCount += 1
    for other in later[number] {
      states[other].earlierCount -= 1
      enqueueIfReady(other)
    }
    if wasRejected { return }
    let unmade = withdraw(number)
    try review(isWritten ? records[number].keys.made.map(\.key) : unmade)
  }

  // MARK: - Order

  /// Puts records about one object behind each other, and behind those that have it nested since.
  private mutating func orderByObject() {
    var lastOwn: [Key: Int] = [:]
    // The records since then that have the object nested in them.
    var nested: [Key: [Int]] = [:]
    func put(_ number: Int, behind others: [Int]) {
      for other in others { later[other].append(number) }
      states[number].earlierCount += others.count
    }
    for (number, record) in records.enumerated() {
      if let own = record.keys.own {
        put(number, behind: (lastOwn[own].map { [$0] } ?? []) + (nested[own] ?? []))
        lastOwn[own] = number
        nested[own] = nil
      }
      for key in record.keys.nested {
        if let own = lastOwn[key], own != number { put(number, behind: [own]) }
        nested[key, default: []].append(number)
      }
    }
  }

  private mutating func enqueueIfReady(_ number: Int) {
    let state = states[number]
    guard state.earlierCount == 0, state.missing.isEmpty || state.lack != nil else { return }
    ready.insert(number)
  }

  // MARK: - Needs

  /// Looks for all that a record needs; what is not there it waits for, or it is to be rejected.
  private mutating func isComplete(_ number: Int) throws -> Bool {
    let record = records[number]
    for (place, need) in record.needs.enumerated() where !states[number].missing.contains(place) {
      if try record.keys.makes(need) || isStored(need) { continue }
      guard isMade(need) else {
        try review(reject(number, need))
        return false
      }
      waiting[need.key, default: []].append((number, place))
      states[number].missing.insert(place)
    }
    return states[number].missing.isEmpty
  }

  /// Looks again for all that those need that are left: some of it may be gone.
  private mutating func lookAgain() throws {
    hasLost = false
    rings = nil
    for number in records.indices where !states[number].isSettled { _ = try isComplete(number) }
  }

  /// Whether a record that is not settled makes a target.
  private func isMade(_ need: Need) -> Bool {
    makerCounts[need.key]?.contains { $0.value > 0 && need.entity.family.contains($0.key) } ?? false
  }

  /// Looks again for what has some keys: it may be there now, or nobody makes it any more.
  private mutating func review(_ keys: [Key]) throws {
    var keys = keys
    while let key = keys.popLast() {
      var rest: [(number: Int, place: Int)] = []
      for (number, place) in waiting.removeValue(forKey: key) ?? [] {
        if states[number].isSettled { continue }
        let need = records[number].needs[place]
        if try isStored(need) {
          states[number].missing.remove(place)
          enqueueIfReady(number)
        } else if isMade(need) {
          rest.append((number, place))
        } else {
          keys += reject(number, need)
        }
      }
      if !rest.isEmpty { waiting[key] = rest }
    }
  }

  /// Notes that a record is to be rejected.
  ///
  /// - Returns: The keys that nobody makes any more.
  private mutating func reject(_ number: Int, _ need: Need) -> [Key] {
    states[number].lack = need
    enqueueIfReady(number)
    return withdraw(number)
  }

  /// Notes that a record makes nothing, or nothing more.
  ///
  /// - Returns: The keys of which that was the last maker.
  private mutating func withdraw(_ number: Int) -> [Key] {
    records[number].keys.made.compactMap { key, entity in
      makerCounts[key]?[entity]? -= 1
      return makerCounts[key]?[entity] == 0 ? key : nil
    }
  }

  // MARK: - Records that wait for each other

  /// The first record that is not done of those that wait for nobody but each other.
  private mutating func firstOfRing() -> Int? {
    var left = rings ?? makeRings()
    rings = nil
    defer { rings = left }
    while !left.isEmpty {
      guard let number = left[left.count - 1].last else {
        left.removeLast()
        continue
      }
      if !states[number].isDone { return number }
      left[left.count - 1].removeLast()
    }
    return nil
  }

  /// Those that are not done in groups that wait for each other, each behind all groups that wait for it.
  private func makeRings() -> [[Int]] {
    // Records, and behind them the keys that are waited for: each record that makes one leads to it, and it to all that
    // need it.
    let keys = Array(waiting.keys)
    let nodes = Dictionary(uniqueKeysWithValues: zip(keys, records.count...))
    let left = records.indices.filter { !states[$0].isDone }
    let components = stronglyConnectedComponents(
      from: left,
      count: records.count + keys.count
    ) { node in
      guard node < records.count else {
        return waiting[keys[node - records.count], default: []].map(\.number)
          .filter { !states[$0].isDone }
      }
      let made = states[node].lack == nil ? records[node].keys.made : []
      return later[node] + made.compactMap { nodes[$0.key] }
    }
    return components.map { $0.filter { $0 < records.count }.sorted(by: >) }
  }
}
