/// The strongly connected components of a directed graph: the largest groups of nodes of which each leads to each other.
///
/// Tarjan's algorithm (Depth-First Search and Linear Graph Algorithms, SIAM Journal on Computing 1, 1972), without
/// recursion: the depth is that of the graph. Takes a time in proportion to the nodes and edges that are reached.
///
/// - Parameters:
///   - roots: The nodes that are begun with.
///   - count: How many nodes there may be; they are numbered from 0.
///   - followers: The nodes that a node leads to; asked once a node.
/// - Returns: The components of all that is reached, each behind those that it leads to.
func stronglyConnectedComponents(
  from roots: some Sequence<Int>,
  count: Int,
  followers: (Int) -> [Int]
) -> [[Int]] {
  // From 1, in the order in which nodes are entered; 0: not yet.
  var places = [Int](repeating: 0, count: count)
  // The first place that a node leads back to.
  var lowest = places
  var isOpen = [Bool](repeating: false, count: count)
  var (place, open, components) = (0, [Int](), [[Int]]())
  var walk: [(node: Int, rest: [Int])] = []
  func enter(_ node: Int) {
    place += 1
    (places[node], lowest[node], isOpen[node]) = (place, place, true)
    open.append(node)
    walk.append((node, followers(node)))
  }
  for root in roots where places[root] == 0 {
    enter(root)
    while let node = walk.last?.node {
      if let other = walk[walk.count - 1].rest.popLast() {
        if places[other] == 0 {
          enter(other)
        } else if isOpen[other] {
          lowest[node] = min(lowest[node], places[other])
        }
        continue
      }
      walk.removeLast()
      if let parent = walk.last?.node { lowest[parent] = min(lowest[parent], lowest[node]) }
      guard lowest[node] == places[node], let start = open.lastIndex(of: node) else { continue }
      for member in open[start...] { isOpen[member] = false }
      components.append(Array(open[start...]))
      open.removeSubrange(start...)
    }
  }
  return components
}
