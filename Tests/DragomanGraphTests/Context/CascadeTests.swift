import Foundation
import Testing

@testable import DragomanGraph

/// Deletions that take others along.
@Suite struct CascadeTests {
  @Test("A long chain of cascades is deleted, from its newest object on")
  func longChain() async throws {
    let revision = Entity(
      name: "Revision",
      attributes: [Attribute(name: "n")],
      relationships: [.toOne("previous", "Revision", deleteRule: .cascade)]
    )
    let stack = try Stack(Model(entities: [revision]), at: .inMemory)
    let last = try await stack.write { context in
      var last = try context.insert("Revision")
      for _ in 0..<10_000 {
        let next = try context.insert("Revision")
        next[one: "previous"] = last
        last = next
      }
      return last.objectID
    }
    try await stack.write { try $0.delete($0.object(with: last)) }
    #expect(try stack.sql("SELECT count(*) FROM Revision") == ["0"])
  }

  @Test("Deletions that took each other along are stored when both are merged")
  @MainActor func mutual() async throws {
    let model = Model(
      entities: [
        Entity(
          name: "A",
          attributes: [Attribute(name: "n")],
          relationships: [.toOne("b", "B", inverse: "a", deleteRule: .cascade)]
        ),
        Entity(
          name: "B",
          attributes: [Attribute(name: "n")],
          relationships: [.toOne("a", "A", inverse: "b", deleteRule: .cascade)]
        ),
      ]
    )
    let stack = try Stack(model, at: .inMemory)
    try await stack.write { try $0.insert("A")[one: "b"] = $0.insert("B") }
    let (deleted, proceed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let write = Task {
      try await stack.write(until: .merged) { context in
        try context.delete(context.object(with: ObjectID(entity: "B", primaryKey: 1)))
        deleted.signal()
        proceed.wait()
      }
    }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        deleted.wait()
        continuation.resume()
      }
    }
    try stack.main.delete(stack.main.object(with: ObjectID(entity: "A", primaryKey: 1)))
    proceed.signal()
    try await write.value
    try stack.main.save()
    #expect(try stack.sql("SELECT (SELECT count(*) FROM A) + (SELECT count(*) FROM B)") == ["0"])
  }
}
