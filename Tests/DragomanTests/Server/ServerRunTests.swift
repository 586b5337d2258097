import DragomanPostgreSQL
import Foundation
import Synchronization
import TestServer
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Imports in batches that write at the same time, and know of what the others let wait.
@Suite("Imports in batches beside each other", .enabled(if: TestServer.isPlain))
struct ServerRunTests {
  /// How many have said what they say.
  private final class Told: Sendable {
    let count = Atomic(0)
  }

  @Test("Two that say anew what the same owner leads to, which both let wait, come to their ends")
  func sameOwner() async throws {
    let server = try #require(TestServer.shared)
    let url = try server.schema()
    let stores = try (0..<2).map { _ in try PostgreSQLServer(url).store() }
    defer { for store in stores { store.end() } }
    try stores[0].grow(
      to: Model(entities: [Entity(name: "P", attributes: [Attribute(name: "id")])])
    )
    let runs = [ServerRun(), ServerRun()]
    for run in runs {
      try stores[0].write { session in
        try session.begin()
        _ = try run.begin(on: session.connection)
        try run.keep([("P.q", 1, "[]")], [], on: session.connection)
        try session.commit()
      }
    }
    let told = Told()
    let waiting =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
      + " AND query ~ '\(runs[0].name)_|\(runs[1].name)_'"
    @Sendable func say(_ number: Int) throws {
      try stores[number].write { session in
        session.sharesWriting = true
        session.ownRun = runs[number].name
        try session.begin()
        try session.endWaiting(["P.q": [1]], in: [runs[1 - number].name])
        told.count.add(1, ordering: .sequentiallyConsistent)
        // The other one has said it by now, or waits for this one.
        while told.count.load(ordering: .sequentiallyConsistent) < 2,
          try server.psql(waiting) == "0"
        {}
        try runs[number].keep([("P.q", 1, "[2]")], [], on: session.connection)
        try session.commit()
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<2 {
        group.addTask {
          try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try say(number) }) }.start()
          }
        }
      }
      try await group.waitForAll()
    }
    let lists = try stores[0].write { session in
      try runs.map { try $0.lists(on: session.connection).map(\.text) }
    }
    #expect(lists.contains(["[2]"]))
  }
}
