import TestSupport
import Testing

@testable import Dragoman

@Suite("Strongly connected components") struct StrongComponentsTests {
  private func components(_ edges: [[Int]]) -> [[Int]] {
    stronglyConnectedComponents(from: edges.indices, count: edges.count) { edges[$0] }
      .map { $0.sorted() }
  }

  @Test(
    "Each stands behind those that it leads to",
    arguments: [
      ([], []), ([[]], [[0]]), ([[0]], [[0]]), ([[1], [2], []], [[2], [1], [0]]),
      ([[1], [2], [0]], [[0, 1, 2]]), ([[1], [0, 2], [3], [2]], [[2, 3], [0, 1]]),
    ] as [([[Int]], [[Int]])]
  )
  func order(edges: [[Int]], expected: [[Int]]) { #expect(components(edges) == expected) }

  @Test("A way of any length does not need a stack of its own")
  func long() {
    let count = 200_000
    let way = (0..<count).map { [($0 + 1) % count] }
    #expect(components(way).map(\.count) == [count])
  }

  @Test("Two nodes are in one component where each leads to the other", arguments: 0..<200)
  func random(seed: UInt64) {
    var random = SplitMix(state: seed)
    let count = Int.random(in: 1...9, using: &random)
    let edges = (0..<count).map { _ in
      (0..<Int.random(in: 0...2, using: &random)).map { _ in
        Int.random(in: 0..<count, using: &random)
      }
    }
    func reached(_ node: Int) -> Set<Int> {
      var (found, left): (Set<Int>, [Int]) = ([node], [node])
      while let next = left.popLast() { left += edges[next].filter { found.insert($0).inserted } }
      return found
    }
    let all = (0..<count).map(reached)
    let found = components(edges)
    #expect(found.joined().sorted() == Array(0..<count))
    for (place, component) in found.enumerated() {
      for node in component {
        #expect(
          component == (0..<count).filter { all[node].contains($0) && all[$0].contains(node) }
        )
        #expect(all[node].isSubset(of: found[...place].joined()))
      }
    }
  }
}
