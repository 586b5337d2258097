/// What a relationship of one owner leads to in the store.
struct StoredTargets: Sendable {
  /// The targets in order.
  private(set) var keys: [Int64] = []
  /// Their places where they are not 0, 1, …: another process, or a save of some of an owner's new targets,
  /// may leave gaps.
  private var gapped: [Int64]?

  init() {}

  /// Adds the next target; `place`: nil where the relationship has no order, or the target no place.
  mutating func append(_ key: Int64, at place: Int64?) {
    let isNext = place == nil || place == Int64(keys.count)
    if !isNext, gapped == nil { gapped = keys.indices.map(Int64.init) }
    keys.append(key)
    gapped?.append(place ?? .max)
  }

  /// Their places by target.
  var places: [Int64: Int64] {
    var places: [Int64: Int64] = [:]
    for (index, key) in keys.enumerated() { places[key] = gapped?[index] ?? Int64(index) }
    return places
  }
}
