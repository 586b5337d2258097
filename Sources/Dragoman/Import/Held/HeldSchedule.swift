import DragomanGraph
import HeapModule

/// In which order held records are taken up: as they came, but each when all that it needs is there, and
/// behind the earlier ones about its object.
///
/// A record whose target nobody has, and none of the others makes any more, is to be rejected. Where all that are left wait
/// for each other, the first one begins.
///
/// Each need is looked at once, and again when a record was taken up that makes its target: a chain of records takes as
/// long as the same records without one. Once one of them has deleted others or changed a key, needs are looked at again before
/// their record is taken up, and all that are left where none is ready.
///
/// Of a record that does not give all parts of a key, only the store knows whom it makes: it counts as a maker of
/// every key that has the parts that it gives.
struct HeldSchedule {
  private typealias Key = HeldRecords.Key
  private typealias Need = HeldRecords.Need

  /// Records in groups that wait for each other, the one that begins last; groups that others wait for are at the end.
  private struct Rings {
    var groups: [[Int]] = []
    /// The place of its group, by record.
    private var places: [Int: Int] = [:]
    /// The places of groups that may have come apart: a record of them makes nothing any more.
    private var loose: Set<Int> = []

    /// Whether the last group may have come apart.
    var isLoose: Bool { loose.contains(groups.count - 1) }

    mutating func append(_ groups: [[Int]]) {
      for group in groups {
        for number in group { places[number] = self.groups.count }
        loose.remove(self.groups.count)
        self.groups.append(group)
      }
    }

    /// Notes that a record is to be rejected.
    mutating func loosen(_ number: Int) {
      if let place = places[number] { loose.insert(place) }
    }
  }

  /// What a record still waits for.
  private struct State {
    /// How many earlier records about its object are not done.
    var earlierCount = 0
    /// Which of its needs are not there.
    var missing: Set<Int> = []
    /// Whether it is to be rejected, and what it lacks, if that is why.
    var isRefused = false
    var lack: HeldRecords.Need?
    var isDone = false
    /// Whether it is among those that are ready.
    var isReady = false
    /// Whether it is to be rejected or done.
    var isSettled: Bool { isDone || isRefused }
  }

  private let records: [HeldRecords.Record]
  /// Whether what was there may be gone when a record is taken up.
  private var losesTargets = false
  /// Whether something went since all that are left were looked at.
  private var hasLost = false
  private let isStored: (HeldRecords.Need) throws -> Bool
  private var states: [State]
  /// For each record, those that are behind it because they are about the same object.
  private var later: [[Int]]
  private var makers: HeldMakers
  /// By key, which records need it, and the place of that among their needs.
  private var waiting: [Key: [(number: Int, place: Int)]] = [:]
  private var ready = Heap<Int>()
  private var doneCount = 0
  /// Records that wait for each other; nil: they are to be looked for.
  private var rings: Rings?
  /// The records that wait for each other, in the order in which they are written, where the one that `next()` gave last
  /// is to begin them without what it needs; else empty.
  private(set) var ring: [Int] = []

  /// Looks at records once.
  ///
  /// - Parameters:
  ///   - records: The records, in the order of the feed.
  ///   - isStored: Whether a target is there by now.
  /// - Throws: What `isStored` throws.
  init(
    _ records: [HeldRecords.Record],
    isStored: @escaping (HeldRecords.Need) throws -> Bool
  ) throws {
    self.records = records
    self.isStored = isStored
    states = records.map { _ in State() }
    later = records.map { _ in [] }
    makers = HeldMakers(records)
    orderByObject()
    for number in records.indices where try isComplete(number) { enqueueIfReady(number) }
  }

  /// What a record lacks, if it is to be rejected.
  func lack(of number: Int) -> HeldRecords.Need? { states[number].lack }

  /// The records that began without something that nobody has made since, each with the first of it.
  var unmet: [(number: Int, need: HeldRecords.Need)] {
    states.indices.compactMap { number in
      guard states[number].isDone, !states[number].isRefused else { return nil }
      return states[number].missing.min().map { (number, records[number].needs[$0]) }
    }
  }

  /// Says that a record is to be rejected when it is its turn.
  ///
  /// - Parameters:
  ///   - number: The record.
  ///   - lack: What it lacks; nil: it is refused for something else.
  /// - Throws: What `isStored` throws.
  mutating func refuse(_ number: Int, lacking lack: HeldRecords.Need?) throws {
    try review(reject(number, lack))
  }

  /// The number of the record that is next; it is to be taken up, and `settle` told.
  ///
  /// - Throws: What `isStored` throws.
  mutating func next() throws -> Int? {
    ring = []
    while doneCount < records.count {
      if let number = ready.popMin() {
        states[number].isReady = false
        if states[number].isDone { continue }
        if losesTargets, !states[number].isRefused, try !isComplete(number) { continue }
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
  ///   - hasLost: Whether an object was deleted, or has another key now.
  /// - Throws: What `isStored` throws.
  mutating func settle(_ number: Int, isWritten: Bool, hasLost: Bool) throws {
    if hasLost { (self.hasLost, losesTargets) = (true, true) }
    let wasRefused = states[number].isRefused
    states[number].isDone = true
    doneCount += 1
    for other in later[number] {
      states[other].earlierCount -= 1
      enqueueIfReady(other)
    }
    if wasRefused { return }
    let unmade = makers.withdraw(records[number])
    try review(isWritten ? records[number].keys.made.map(\.key) : unmade)
  }

  // MARK: - Order

  /// Puts records about one object behind each other, and behind those that have it nested since.
  private mutating func orderByObject() {
    var lastOwn: [Key: Int] = [:]
    // The records since then that have the object nested in them.
    var nested: [Key: [(number: Int, saysMore: Bool)]] = [:]
    func put(_ number: Int, behind others: [Int]) {
      for other in others { later[other].append(number) }
      states[number].earlierCount += others.count
    }
    for (number, record) in records.enumerated() {
      if let own = record.keys.own {
        let having = (nested[own] ?? []).filter { $0.saysMore || record.isTombstone }
        put(number, behind: (lastOwn[own].map { [$0] } ?? []) + having.map(\.number))
        lastOwn[own] = number
        nested[own] = nil
      }
      for (key, saysMore) in record.keys.nested {
        // Who says nothing of an object but that it is there has to do with its deletion only.
        if let own = lastOwn[key], own != number, saysMore || records[own].isTombstone {
          put(number, behind: [own])
        }
        nested[key, default: []].append((number, saysMore))
      }
    }
  }

  private mutating func enqueueIfReady(_ number: Int) {
    let state = states[number]
    guard !state.isReady, !state.isDone, state.earlierCount == 0,
      state.missing.isEmpty || state.isRefused
    else { return }
    states[number].isReady = true
    ready.insert(number)
  }

  // MARK: - Needs

  /// Looks for all that a record needs; what is not there it waits for, or it is to be rejected.
  private mutating func isComplete(_ number: Int) throws -> Bool {
    for (place, need) in records[number].needs.enumerated()
    where !states[number].missing.contains(place) {
      if try isStored(need) { continue }
      guard makers.make(need) else {
        try review(reject(number, need))
        return false
      }
      for key in makers.keys(of: need) { waiting[key, default: []].append((number, place)) }
      states[number].missing.insert(place)
    }
    return states[number].missing.isEmpty
  }

  /// Looks again for all that those need that are left: some of it may be gone.
  private mutating func lookAgain() throws {
    hasLost = false
    rings = nil
    for number in records.indices where !states[number].isSettled {
      if try isComplete(number) { enqueueIfReady(number) }
    }
  }

  /// Looks again for what has some keys: it may be there now, or nobody makes it any more.
  private mutating func review(_ keys: [Key]) throws {
    var keys = keys
    while let key = keys.popLast() {
      var rest: [(number: Int, place: Int)] = []
      for (number, place) in waiting.removeValue(forKey: key) ?? [] where waits(number, place) {
        let need = records[number].needs[place]
        if try isStored(need) {
          states[number].missing.remove(place)
          enqueueIfReady(number)
        } else if makers.make(need) {
          rest.append((number, place))
        } else if !states[number].isDone {
          keys += reject(number, need)
        }
      }
      if !rest.isEmpty { waiting[key] = rest }
    }
  }

  /// Whether a record still waits for one of its needs; one that began those that need each other does so when it is done, too.
  private func waits(_ number: Int, _ place: Int) -> Bool {
    !states[number].isRefused && states[number].missing.contains(place)
  }

  /// Notes that a record is to be rejected.
  ///
  /// - Returns: The keys that nobody makes any more.
  private mutating func reject(_ number: Int, _ lack: Need?) -> [Key] {
    states[number].isRefused = true
    states[number].lack = lack
    rings?.loosen(number)
    enqueueIfReady(number)
    return makers.withdraw(records[number])
  }

  // MARK: - Records that wait for each other

  /// The first record that is not done of those that wait for nobody but each other.
  private mutating func firstOfRing() -> Int? {
    var left = rings ?? Rings()
    if rings == nil { left.append(groups(of: records.indices.filter { !states[$0].isDone })) }
    rings = nil
    defer { rings = left }
    while !left.groups.isEmpty {
      let last = left.groups.count - 1
      if left.isLoose {
        let members = left.groups.removeLast().filter { !states[$0].isDone }
        left.append(groups(of: members.sorted()))
        continue
      }
      guard let number = left.groups[last].last else {
        left.groups.removeLast()
        continue
      }
      if !states[number].isDone {
        ring = left.groups[last].reversed().filter { !states[$0].isSettled }
        return number
      }
      left.groups[last].removeLast()
    }
    return nil
  }

  /// Records in groups that wait for each other, each behind all groups that wait for it.
  private func groups(of members: [Int]) -> [[Int]] {
    // Records, and behind them the keys that they wait for: each record that makes one leads to it, and it to all that
    // need it.
    let nodes = Dictionary(uniqueKeysWithValues: zip(members, 0...))
    var keys: [Key] = []
    var keyNodes: [Key: Int] = [:]
    for number in members {
      for need in states[number].missing.sorted().map({ records[number].needs[$0] }) {
        for key in makers.keys(of: need) where keyNodes[key] == nil {
          keyNodes[key] = members.count + keys.count
          keys.append(key)
        }
      }
    }
    let components = stronglyConnectedComponents(
      from: members.indices,
      count: members.count + keys.count
    ) { node in
      guard node < members.count else {
        return waiting[keys[node - members.count], default: []]
          .filter { waits($0.number, $0.place) && !states[$0.number].isDone }
          .compactMap { nodes[$0.number] }
      }
      let number = members[node]
      let made = states[number].isRefused ? [] : records[number].keys.made
      return later[number].compactMap { nodes[$0] } + made.compactMap { keyNodes[$0.key] }
    }
    return components.map { component in
      let members = component.filter { $0 < members.count }.map { members[$0] }
      let blocked = Set(members.filter(lacksIdentity))
      // Who has to have a target in its identity cannot begin.
      return members.sorted { one, other in
        blocked.contains(one) == blocked.contains(other) ? one > other : blocked.contains(one)
      }
    }
  }

  /// Whether a record waits for a target that is a part of an identity.
  private func lacksIdentity(_ number: Int) -> Bool {
    states[number].missing.contains { records[number].needs[$0].isIdentity }
  }
}
