/// Sums over a range of numbers that change, in O(log n) (a Fenwick tree).
struct PrefixSums {
  private var tree: [Int32]

  /// Makes sums over that many zeros.
  init(count: Int) { tree = Array(repeating: 0, count: count + 1) }

  /// Adds to the number at a place.
  mutating func add(_ number: Int32, at place: Int) {
    var node = place + 1
    while node < tree.count {
      tree[node] += number
      node += node & -node
    }
  }

  /// The sum of the numbers of a range.
  func sum(from start: Int, below end: Int) -> Int { sum(below: end) - sum(below: start) }

  private func sum(below end: Int) -> Int {
    var total = 0
    var node = end
    while node > 0 {
      total += Int(tree[node])
      node &= node - 1
    }
    return total
  }
}
