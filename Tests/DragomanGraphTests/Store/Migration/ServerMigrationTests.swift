import DragomanPostgreSQL
import Foundation
import TestServer
import TestSupport
import Testing

@testable import DragomanGraph

/// Migrations of servers: the plan, the faults and the contents are those of a file that holds the same.
///
/// `DRAGOMAN_ROUNDS` asks for more random ones than the default, `DRAGOMAN_SEED` for one again.
@Suite("Migration of servers", .enabled(if: TestServer.isThere))
struct ServerMigrationTests {
  @Test(
    "A change is carried out as in a file, and the tables are as those made with the new model",
    arguments: MigrationCase.attributes + MigrationCase.links + MigrationCase.further
  )
  func changes(_ change: MigrationCase) throws {
    let twin = try ServerTwin(change.store())
    let place = Comment(rawValue: change.testDescription)
    let planned = try twin.server.migration(to: change.new, drops: change.drops)
    #expect(planned == (try twin.file.migration(to: change.new, drops: change.drops)), place)
    let done = try twin.server.migrate(to: change.new, drops: change.drops)
    #expect(done == (try twin.file.migrate(to: change.new, drops: change.drops)), place)
    try twin.expectEqual(place)
    try twin.expectFreshShape(place)
    #expect(try twin.server.migration(to: change.new, drops: change.drops).isEmpty, place)
  }

  @Test(
    "What is in the way is named as in a file, and nothing is changed",
    arguments: MigrationCase.refused + MigrationCase.furtherRefused
  )
  func refusals(_ change: MigrationCase) throws {
    let twin = try ServerTwin(change.store())
    let before = try twin.shape
    #expect(try twin.server.migration(to: change.new).faults == change.faults)
    let error = #expect(throws: StoreError.self) { try twin.server.migrate(to: change.new) }
    #expect(error?.code == .modelConflict)
    #expect(error?.message == change.faults.joined(separator: " "))
    #expect(try twin.shape == before)
    try twin.expectEqual("nothing was changed")
  }

  /// A file with random objects of a random model, as a server can hold it, and references that wait.
  private func store(_ sample: RandomGraph, _ random: inout SplitMix) throws -> SQLiteStore {
    for object in sample.graph.objects {
      for (slot, attribute) in object.entity.attributes.enumerated() {
        object.values[slot] = RandomChange.value(object.values[slot], of: attribute)
      }
    }
    let store = try sample.graph.store()
    let layout = store.layout
    var statements: [String] = []
    for entity in layout.entities {
      for link in entity.relationships where link.owner == entity.index {
        let target = layout.entities[link.destination]
        guard Bool.random(using: &random),
          let attribute = target.attributes.randomElement(using: &random)
        else { continue }
        let name = Schema.literal("\(entity.name).\(link.name)")
        let value: StoredValue = Bool.random(using: &random) ? .integer(7) : .text("seven")
        let key =
          "json_object(\(Schema.literal(attribute.name)), \(value == .integer(7) ? "7" : "'seven'"))"
        statements.append(
          "INSERT INTO _dragoman_pending (owner, relationship, entity, key)"
            + " VALUES (1, \(name), \(Schema.literal(target.name)), \(key))"
        )
      }
    }
    try store.execute(statements)
    return store
  }

  @Test("A server of any model becomes what a file becomes", arguments: 0..<16)
  func random(round: Int) throws {
    let rounds = Seeds.setting("DRAGOMAN_ROUNDS").map { Int($0) } ?? 16
    for turn in 0..<max(1, rounds / 16) { try agrees(Seeds.seed(turn * 16 + round)) }
  }

  private func agrees(_ seed: UInt64) throws {
    let sample = try RandomGraph(seed: seed)
    var random = sample.random
    let twin = try ServerTwin(store(sample, &random))
    for step in 0..<4 {
      var change = RandomChange(twin.file.model, random)
      for _ in 0..<Int.random(in: 1...4, using: &change.random) { change.change() }
      random = change.random
      let drops = Bool.random(using: &random)
      let place = Comment(rawValue: "seed \(seed), migration \(step), drops \(drops)")
      let planned = try twin.file.migration(to: change.model, drops: drops)
      let ofServer = try twin.server.migration(to: change.model, drops: drops)
      #expect(ofServer.description == planned.description, place)
      #expect(ofServer == planned, place)
      if planned.faults.isEmpty {
        try twin.file.migrate(to: change.model, drops: drops)
        try twin.server.migrate(to: change.model, drops: drops)
        try twin.expectFreshShape(place)
      } else {
        #expect(throws: StoreError.self, place) {
          try twin.server.migrate(to: change.model, drops: drops)
        }
      }
      try twin.expectEqual(place)
    }
  }
}
