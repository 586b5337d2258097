import Testing

@testable import DragomanGraph

/// How many links an owner may have, where they are made at the other end.
@MainActor @Suite("Cardinality from the other side") struct CardinalityTests {
  @Test(
    "A background write that links too many to an owner by the inverse stores nothing",
    arguments: [("A", "team", "Team", "members"), ("B", "mates", "A", "pairs")],
    [2, 3]
  )
  func background(
    names: (entity: String, link: String, owner: String, list: String),
    count: Int
  ) async throws {
    let stack = try Stack(everyLink(.nullify), at: .inMemory)
    try await stack.write { context in
      let owner = try context.insert(names.owner)
      try Self.link(1, to: owner, names, in: context)
    }
    let add: @Sendable (ManagedObjectContext) throws -> Void = { context in
      // The owner is not read here, and nobody sets its list.
      let owner = try context.object(with: id(names.owner, 1))
      try Self.link(count, to: owner, names, in: context)
    }
    let table = names.entity
    if count == 2 {
      try await stack.write(add)
    } else {
      let fault = await #expect(throws: ContextError.self) { try await stack.write(add) }
      #expect(fault?.code == .invalid, "\(String(describing: fault))")
      #expect(
        fault?.message.contains("\(names.owner).\(names.list)") == true,
        "\(fault?.message ?? "")"
      )
    }
    #expect(try stack.sql("SELECT count(*) FROM \(table)") == [count == 2 ? "3" : "1"])
  }

  private nonisolated static func link(
    _ count: Int,
    to owner: ManagedObject,
    _ names: (entity: String, link: String, owner: String, list: String),
    in context: ManagedObjectContext
  ) throws {
    for _ in 0..<count {
      let made = try context.insert(names.entity)
      if names.entity == "A" {
        made[one: names.link] = owner
      } else {
        made[many: names.link] = [owner]
      }
    }
  }
}
