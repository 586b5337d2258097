import Dragoman
import DragomanGraph
import Foundation

/// Results that are followed: the time from a change to the difference, and the memory of a row.
enum Live {
  /// Figures of `count` followed rows.
  static func figures(_ people: People, database: String) async throws -> [String: Double] {
    let stack = try Stack(ImportMap(contentsOf: people.map).model(), at: .file(database))
    try await people.warmUp(stack)
    let request = FetchRequest(
      "Person",
      sortKeys: [SortKey("city"), SortKey("visits")],
      limit: people.count
    )
    // Code that runs for the first time, and the pages of the sort, are no memory of a follower.
    _ = try await stack.results(request)
    let before = ContextsBench.residentByteCount()
    let followed = try await stack.results(request)
    let grown = ContextsBench.residentByteCount() - before
    let count = followed.snapshot.count
    precondition(count == people.count, "\(count) rows")
    // Two sort keys of 16 bytes each, texts of up to 15 bytes within, and the id.
    let own = count * (8 + 2 * MemoryLayout<StoredValue>.stride)
    var figures = [
      "rows": Double(count), "bytesPerRow": Double(grown) / Double(count),
      "beyondKeys": Double(grown - own) / Double(count),
    ]
    for changed in [1, 1_000] {
      figures["stored\(changed)"] = try await toStored(stack, followed, changed)
      figures["main\(changed)"] = try await toMain(stack, request, changed)
    }
    try stack.close()
    return figures
  }

  /// From the end of a save to the difference of stored results.
  private static func toStored(
    _ stack: Stack,
    _ results: StoredResults<ObjectID>,
    _ changed: Int
  ) async throws -> Double {
    let (arrivals, tell) = AsyncStream<ContinuousClock.Instant>.makeStream()
    results.observe { event in
      if case .difference = event { tell.yield(ContinuousClock().now) }
    }
    _ = try await results.elements(of: [])
    var waiting = arrivals.makeAsyncIterator()
    let ids = results.snapshot.ids
    let chosen = stride(from: 0, to: ids.count, by: max(1, ids.count / changed)).prefix(changed)
      .map { ids[$0] }
    var seconds: [Double] = []
    for round in 0..<ContextsBench.rounds {
      let saved = try await stack.write { context in
        for (number, object) in try context.objects(with: chosen).enumerated() {
          // Other values each round, and none that is there: what changes nothing is not told.
          object["visits"] = .integer(Int64(-1 - number * 7 - round))
        }
        try context.save()
        return ContinuousClock().now
      }
      guard let arrived = await waiting.next() else { break }
      seconds.append(max(0, (arrived - saved).inSeconds))
    }
    return seconds.median
  }

  /// From a change of objects that main holds to the difference of its results.
  @MainActor
  private static func toMain(
    _ stack: Stack,
    _ request: FetchRequest,
    _ changed: Int
  ) async throws -> Double {
    let results = try stack.main.results(request)
    var told = 0
    results.observe { event in if case .difference = event { told += 1 } }
    let ids = results.snapshot.ids
    let chosen = stride(from: 0, to: ids.count, by: max(1, ids.count / changed)).prefix(changed)
      .map { ids[$0] }
    let objects = try stack.main.objects(with: chosen)
    var seconds: [Double] = []
    for round in 0..<ContextsBench.rounds {
      for (number, object) in objects.enumerated() {
        object["visits"] = .integer(Int64(-1_000_000 - number * 7 - round))
      }
      let start = ContinuousClock().now
      stack.main.processChanges()
      seconds.append((ContinuousClock().now - start).inSeconds)
    }
    precondition(told == ContextsBench.rounds, "\(told) differences")
    stack.main.rollback()
    return seconds.median
  }
}
