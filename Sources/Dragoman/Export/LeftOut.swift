import DragomanGraph

/// The objects that an export passes over: stubs, of which only the key is known, and objects of
/// entities that the document has no place for.
struct LeftOut {
  private let plan: ExportPlan
  private let stubs: Set<Int64>
  private let hasObstacles: Bool
  private var stubCount = 0
  /// How many there were of each kind of the plan's level.
  private var counts: [Int]

  init(_ plan: ExportPlan, stubs: Set<Int64>) {
    self.plan = plan
    self.stubs = stubs
    counts = plan.level.kinds.map { _ in 0 }
    hasObstacles = plan.level.kinds.contains { $0.obstacle != nil }
  }

  /// Whether an object is passed over, which is counted.
  @inline(__always)
  mutating func takes(_ row: borrowing FetchedRow) -> Bool {
    if !stubs.isEmpty, stubs.contains(row.primaryKey) {
      stubCount += 1
      return true
    }
    guard hasObstacles else { return false }
    let kind = row.kind(in: plan.level)
    guard plan.level.kinds[kind].obstacle != nil else { return false }
    counts[kind] += 1
    return true
  }

  /// What was passed over, each a sentence.
  var losses: [String] {
    let name = plan.entity.name
    var losses: [String] = []
    if stubCount > 0 {
      let stubs = MessageWords.count(stubCount, "stub is", "stubs are")
      losses.append("\(name): \(stubs) left out: only the key is known")
    }
    for (kind, count) in zip(plan.level.kinds, counts) where count > 0 {
      let entity = String(decoding: kind.name, as: UTF8.self)
      losses.append(
        "\(name): \(count) of \(entity) are left out: \(kind.obstacle ?? ""); export \(entity) by its own name"
      )
    }
    return losses
  }
}
