/// The candidate that a misspelt word most likely meant, or nil when none is close enough.
///
/// The distance is Damerau and Levenshtein's in its restricted form (insert, delete, replace, swap
/// neighbours), counted in Unicode scalars without regard to ASCII case. Half of the word may
/// be wrong, at least one scalar and at most three; of a word of one scalar its case. A name cut short, or with an
/// ending, is at most two away. Of equally near candidates the first wins.
///
///     nearest(to: "entitties", in: ["entities", "sources"])  // "entities"
///
/// Costs O(word × candidate) each; words longer than 100 scalars have no neighbours.
public func nearest(to word: String, in candidates: some Sequence<String>) -> String? {
  let wanted = folded(word)
  guard !wanted.isEmpty, wanted.count <= 100 else { return nil }
  let limit = wanted.count == 1 ? 0 : min(3, max(1, (wanted.count - 1) / 2))
  var best: (name: String, distance: Int)?
  for candidate in candidates {
    let other = folded(candidate)
    if min(other.count, wanted.count) >= 3, other.count != wanted.count,
      other.starts(with: wanted) || wanted.starts(with: other)
    {
      // sku and sku_no.
      let distance = min(2, abs(other.count - wanted.count))
      if distance < best?.distance ?? .max { best = (candidate, distance) }
      continue
    }
    guard abs(other.count - wanted.count) <= limit else { continue }
    let distance = editDistance(wanted, other)
    if distance <= limit, distance < best?.distance ?? .max {
      best = (candidate, distance)
    }
  }
  return best?.name
}

private func folded(_ word: String) -> [UInt32] {
  word.unicodeScalars.map { (65...90).contains($0.value) ? $0.value + 32 : $0.value }
}

private func editDistance(_ left: [UInt32], _ right: [UInt32]) -> Int {
  var beforePrevious: [Int] = []
  var previous = Array(0...right.count)
  for (row, a) in left.enumerated() {
    var current = [row + 1]
    for (column, b) in right.enumerated() {
      var cost = min(
        previous[column + 1] + 1,
        current[column] + 1,
        previous[column] + (a == b ? 0 : 1)
      )
      if row > 0, column > 0, a == right[column - 1], left[row - 1] == b {
        cost = min(cost, beforePrevious[column - 1] + 1)
      }
      current.append(cost)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[right.count]
}
