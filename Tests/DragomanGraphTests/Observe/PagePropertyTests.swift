import TestSupport
import Testing

@testable import DragomanGraph

/// Pages of random requests, while rows come and go.
@Suite("Pages, random requests")
struct PagePropertyTests {
  @Test(
    "Pages in either direction are what a fetch gives, whatever the order is",
    arguments: 0..<30
  )
  func walk(round: Int) async throws {
    let seed = Seeds.seed(round)
    var random = LiveRandom(seed: seed)
    let stack = try Stack(shop, at: .inMemory)
    try await stack.write { [random] context in
      var random = random
      for _ in 0..<30 { try random.edit(context) }
    }
    for _ in 0..<10 {
      var (request, _) = try random.request()
      request.limit = nil
      let place: Comment = "DRAGOMAN_SEED=\(seed) \(request)"
      let all = try await stack.read { [request] in try $0.fetchIDs(request) }
      let size = Int.random(in: 1...7, using: &random.random)
      let forward = try stack.pages(request, options: PageOptions(size: size))
      while try await forward.loadNext() > 0 {}
      #expect(await forward.elements == all, place)
      let backward = try stack.pages(request, options: PageOptions(size: size, start: .end))
      while try await backward.loadPrevious() > 0 {}
      #expect(await backward.elements == all, place)
      guard let middle = all.randomElement(using: &random.random) else { continue }
      let both = try stack.pages(request, options: PageOptions(size: size, start: .object(middle)))
      while await both.isUnfinished {
        _ = try await random.chance(2) ? both.loadNext() : both.loadPrevious()
      }
      #expect(await both.elements == all, place)
    }
  }

  @Test(
    "What stays is there once and in order, whatever comes and goes between pages",
    arguments: 0..<20
  )
  func stable(round: Int) async throws {
    let seed = Seeds.seed(round)
    var random = LiveRandom(seed: seed)
    let stack = try Stack(shop, at: .inMemory)
    try await stack.write { context in
      for number in 0..<60 { try context.insert("Item")["count"] = .integer(Int64(number)) }
    }
    let request = FetchRequest("Item", sortKeys: [SortKey("count", ascending: random.chance(2))])
    let all = try await stack.read { try $0.fetchIDs(request) }
    let pages = try stack.pages(request, options: PageOptions(size: 4))
    var gone: Set<ObjectID> = []
    while try await pages.loadNext() > 0 {
      let doomed = all.filter { !gone.contains($0) }.shuffled(using: &random.random).prefix(2)
      gone.formUnion(doomed)
      let new = Int64.random(in: -5...65, using: &random.random)
      try await stack.write { [doomed] context in
        for id in doomed { try context.delete(context.object(with: id)) }
        try context.insert("Item")["count"] = .integer(new)
      }
    }
    let shown = await pages.elements
    #expect(shown.count == Set(shown).count, "DRAGOMAN_SEED=\(seed)")
    let old = Set(all)
    let kept = shown.filter { old.contains($0) && !gone.contains($0) }
    #expect(kept == all.filter { !gone.contains($0) }, "DRAGOMAN_SEED=\(seed)")
  }
}

extension PagedResults {
  /// Whether there may be more in either direction.
  fileprivate var isUnfinished: Bool { hasNext || hasPrevious }
}
