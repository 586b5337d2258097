/// The candidate that a mistyped name most likely meant, or nil if none is near.
///
/// For "did you mean" in messages. Distance is the number of single edits (insert, delete, replace,
/// swap of neighbours: optimal string alignment), letters of either case counting as the same. A
/// candidate is near if at most a third of the longer name (but at least one letter) is edited.
/// The first of several equally near candidates wins.
///
///     nearest(to: "salery", in: ["id", "salary"])  // "salary"
///
/// Cost: the product of the two lengths for each candidate; names over 64 letters are never near.
public func nearest(to name: String, in candidates: some Sequence<String>) -> String? {
  let wanted = Array(name.lowercased().unicodeScalars)
  guard wanted.count <= 64 else { return nil }
  var best: (candidate: String, distance: Int)?
  for candidate in candidates {
    let offered = Array(candidate.lowercased().unicodeScalars)
    let longest = max(wanted.count, offered.count)
    guard longest <= 64 else { continue }
    let distance = editDistance(wanted, offered)
    guard distance <= max(1, longest / 3), distance < longest else { continue }
    if distance < best?.distance ?? Int.max { best = (candidate, distance) }
  }
  return best?.candidate
}

private func editDistance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
  var twoAbove: [Int] = []
  var above = Array(0...b.count)
  for i in 0..<a.count {
    var row = [i + 1]
    for j in 0..<b.count {
      var cost = min(above[j + 1] + 1, row[j] + 1, above[j] + (a[i] == b[j] ? 0 : 1))
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
        cost = min(cost, twoAbove[j - 1] + 1)
      }
      row.append(cost)
    }
    twoAbove = above
    above = row
  }
  return above[b.count]
}
