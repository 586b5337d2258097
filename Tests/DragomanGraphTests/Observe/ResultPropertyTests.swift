import Foundation
import GRDB
import TestSupport
import Testing

@testable import DragomanGraph

/// Random edits of random objects under random requests: results stay what a fresh fetch gives, and
/// what they tell leads there.
///
/// `DRAGOMAN_STEPS` asks for more steps than the default, `DRAGOMAN_SEED` for one case again.
@Suite("Live results, random edits")
struct ResultPropertyTests {
  /// What has been received of some results.
  private final class Reader {
    var snapshot: ResultSnapshot?
    var faults: [String] = []

    func take(_ event: ResultEvent) {
      switch event {
      case .snapshot(let snapshot): self.snapshot = snapshot
      case .difference(let difference):
        guard let old = snapshot else { return faults.append("a difference of nothing") }
        snapshot = old.applying(difference)
        if snapshot == nil { faults.append("\(difference) does not fit \(old)") }
        let expected = ResultDifference.emptiness(old.count, snapshot?.count ?? 0)
        if difference.emptiness != expected { faults.append("\(difference) has another emptiness") }
        if difference.isEmpty { faults.append("an empty difference") }
      case .ended(let reason): faults.append("ended: \(reason)")
      }
    }
  }

  @MainActor
  @Test("Results of main and stored results follow everything", arguments: 0..<4)
  func follow(round: Int) async throws {
    let seed = Seeds.seed(round)
    var random = LiveRandom(seed: seed)
    let stack = try Stack(shop, at: .inMemory)
    stack.main.mergePolicy = .objectTrumps
    try await stack.write { [random] context in
      var random = random
      for _ in 0..<25 { try random.edit(context) }
    }
    let (request, section) = try random.request()
    let live = try stack.main.results(request, sectionedBy: section)
    let reader = Reader()
    live.observe(reader.take)
    let stored = try await stack.results(request, sectionedBy: section)
    let storedSequence = stored.events()
    var storedEvents = storedSequence.makeAsyncIterator()
    let storedReader = Reader()
    if let first = try await storedEvents.next() { storedReader.take(first) }

    // Held, so that they keep the targets that they know.
    var boxes: [ManagedObject] = []
    var kinds: [String] = []
    for step in 0..<LiveSettings.steps {
      kinds.append(try await self.step(&random, stack, live, stored))
      let last = kinds.suffix(8).joined(separator: ", ")
      let place: Comment =
        "DRAGOMAN_SEED=\(seed) step \(step), \(last): \(live.request) \(live.sectionKey ?? "-")"
      // What was sent to main on other threads is there when this has had its turn behind it.
      await Task { @MainActor in }.value
      stack.main.processChanges()
      if !stack.main.hasChanges {
        // All of these look through one context: what it knows of links must be what is stored.
        boxes = try stack.main.fetch(FetchRequest("Box"))
        for box in boxes {
          let items = try stack.store.read { database in
            try Int64.fetchSet(
              database,
              sql: "SELECT _pk FROM Item WHERE box = ?",
              arguments: [box.objectID.primaryKey]
            )
          }
          let known = Set(try box.targets(of: "items").map(\.objectID.primaryKey))
          #expect(known == items, place)
        }
      }
      var fresh = try stack.main.results(live.request, sectionedBy: live.sectionKey).snapshot
      // What a merge stores in the background may have come before this look, and its notice not yet.
      try await wait {
        if live.snapshot == fresh { return true }
        stack.main.processChanges()
        fresh = try stack.main.results(live.request, sectionedBy: live.sectionKey).snapshot
        return live.snapshot == fresh
      }
      #expect(live.snapshot == fresh, place)
      #expect(try live.snapshot.ids == stack.main.fetchIDs(live.request), place)
      #expect(reader.snapshot == fresh, place)
      #expect(reader.faults == [], place)

      _ = try await stored.elements(of: [])
      var kept = try await stack.results(stored.request, sectionedBy: live.sectionKey).snapshot
      // What a merge stores in the background may have come between the two looks.
      try await wait {
        if stored.snapshot == kept { return true }
        _ = try await stored.elements(of: [])
        kept = try await stack.results(stored.request, sectionedBy: live.sectionKey).snapshot
        return stored.snapshot == kept
      }
      #expect(stored.snapshot == kept, place)
      // A wrong difference must not wait for one that mends it.
      var patience = 90_000
      while storedReader.snapshot != stored.snapshot, patience > 0 {
        patience -= 1
        _ = try await stored.elements(of: [])
        if storedSequence.mailbox.hasNews, let event = try await storedEvents.next() {
          storedReader.take(event)
        }
      }
      try #require(storedReader.snapshot == stored.snapshot, place)
      #expect(storedReader.faults == [], place)
      if reader.faults.count + storedReader.faults.count > 0 || live.snapshot != fresh { return }
    }
  }

  @MainActor
  private func step(
    _ random: inout LiveRandom,
    _ stack: Stack,
    _ live: FetchedResults<ManagedObject>,
    _ stored: StoredResults<ObjectID>
  ) async throws -> String {
    switch Int.random(in: 0..<20, using: &random.random) {
    case 0..<8:
      try random.edit(stack.main)
      return "edit"
    case let kind where kind < 11:
      do {
        if kind < 10 { try stack.main.save() } else { try await stack.saveMain() }
        #expect(!stack.main.hasChanges, "\(kind): \(stack.main.overlay.changes)")
        return kind < 10 ? "save" : "saveMain"
      } catch let error as ContextError where error.code == .denied {
        // What main links to was deleted in the background.
        stack.main.rollback()
        return "rollback instead of a save"
      }
    case 11:
      stack.main.rollback()
      return "rollback"
    case 12:
      let (request, section) = try random.request()
      var wanted = request
      wanted.entity = live.request.entity
      try live.change(wanted, sectionedBy: section)
      try await stored.change(wanted, sectionedBy: section)
      return "change of the request"
    case 13:
      // Past all contexts, as a bulk import or another process writes.
      let keys = try stack.store.keys(FetchRequest("Item", limit: 3))
      try stack.store.write { session in
        try session.begin()
        for key in keys {
          try session.database.execute(
            sql: "UPDATE \"Item\" SET count = ?, _v = _v + 1 WHERE _pk = ?",
            arguments: [Int.random(in: 0...9, using: &random.random), key]
          )
        }
        try session.commit()
      }
      stack.storeDidChange()
      return "bulk"
    case let kind:
      do {
        let durability: Stack.Durability = kind == 14 ? .merged : .durable
        try await stack.write(until: durability, policy: .objectTrumps) { [random] context in
          var random = random
          try random.edit(context)
        }
        _ = random.chance(2)
      } catch let error as ContextError where error.code == .denied {
        // What main inserted, and has to be stored with it, links to what was deleted.
        stack.main.rollback()
      }
      return kind == 14 ? "merge" : "write"
    }
  }
}
