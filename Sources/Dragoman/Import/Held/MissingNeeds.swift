/// What records were written without that need each other, until somebody makes it.
struct MissingNeeds {
  private let makers: HeldMakers
  private var needs: [(number: Int, need: HeldRecords.Need, isMet: Bool)] = []
  /// By the keys of who makes them, the places of needs.
  private var waiting: [HeldRecords.Key: [Int]] = [:]

  /// - Parameter makers: Who may make them.
  init(_ makers: HeldMakers) { self.makers = makers }

  /// Takes note of what is not there when a record is written.
  mutating func add(_ need: HeldRecords.Need, of number: Int) {
    for key in makers.keys(of: need) { waiting[key, default: []].append(needs.count) }
    needs.append((number, need, false))
  }

  /// Looks what is there behind a record that makes some keys.
  mutating func meet(
    _ keys: HeldRecords.Keys,
    _ isStored: (HeldRecords.Need) throws -> Bool
  ) rethrows {
    for made in keys.made {
      for place in waiting[made.key] ?? [] where !needs[place].isMet {
        needs[place].isMet = try isStored(needs[place].need)
      }
      waiting[made.key]?.removeAll { needs[$0].isMet }
    }
  }

  /// What nobody has made.
  var unmet: [(number: Int, need: HeldRecords.Need)] {
    needs.filter { !$0.isMet }.map { ($0.number, $0.need) }
  }
}
