import DragomanGraph

/// In which order held records are written: as they came, but each behind those that make what it
/// needs.
///
/// Records about one object keep their order. Where records need each other, the first one comes first.
struct HeldOrder {
  /// For each record, the earlier ones about the same object.
  private var earlier: [[Int]]
  /// For each record, those that make what it needs.
  private var makers: [[Int]]

  /// Looks at records once.
  ///
  /// - Parameters:
  ///   - records: The records, in the order of the feed.
  ///   - failed: Which of them are not written.
  init(_ records: [HeldRecords.Record], without failed: (Int) -> Bool) {
    earlier = records.map { _ in [] }
    makers = earlier
    var lastOwn: [HeldRecords.Key: Int] = [:]
    // The records since then that have the object nested in them.
    var nested: [HeldRecords.Key: [Int]] = [:]
    // The first and the last record that make an object: those between are behind the first.
    var made: [HeldRecords.Key: [(entity: Int, first: Int, last: Int)]] = [:]
    for (number, record) in records.enumerated() {
      if let own = record.keys.own {
        earlier[number] += (lastOwn[own].map { [$0] } ?? []) + (nested[own] ?? [])
        lastOwn[own] = number
        nested[own] = nil
      }
      for key in record.keys.nested {
        if let own = lastOwn[key] { earlier[number].append(own) }
        nested[key, default: []].append(number)
      }
      guard !failed(number) else { continue }
      for (key, entity) in record.keys.made {
        if let place = made[key]?.firstIndex(where: { $0.entity == entity }) {
          made[key]?[place].last = number
        } else {
          made[key, default: []].append((entity, number, number))
        }
      }
    }
    for (number, record) in records.enumerated() where !failed(number) {
      for need in record.needs {
        for maker in made[need.key] ?? [] where need.entity.family.contains(maker.entity) {
          makers[number] += [maker.first, maker.last]
        }
      }
    }
  }

  /// The numbers of the records, in order.
  func numbers() -> [Int] {
    enum State { case new, entered, done }
    var states = earlier.map { _ in State.new }
    var order: [Int] = []
    var stack: [(number: Int, next: Int)] = []
    func enter(_ number: Int) {
      states[number] = .entered
      stack.append((number, 0))
    }
    for number in earlier.indices where states[number] == .new {
      enter(number)
      while let (number, next) = stack.last {
        let (ahead, needed) = (earlier[number], makers[number])
        guard next < ahead.count + needed.count else {
          states[number] = .done
          order.append(number)
          stack.removeLast()
          continue
        }
        stack[stack.count - 1].next += 1
        let other = next < ahead.count ? ahead[next] : needed[next - ahead.count]
        // Who makes what a record needs does not overtake an earlier record about its own object.
        let overtakes = next >= ahead.count && earlier[other].contains { states[$0] == .entered }
        if states[other] == .new, !overtakes { enter(other) }
      }
    }
    return order
  }
}
