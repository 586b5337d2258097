import Foundation
import Testing

@testable import DragomanGraph

/// `write(until: .merged)` beside others who change the same.
@Suite("Writes that are merged") struct MergedWriteTests {
  private let stack: Stack

  init() throws { stack = try Stack(crm, at: .inMemory) }

  private func person() async throws -> ObjectID {
    try await stack.write { context in
      let person = try context.insert("Person")
      person["age"] = 0
      return person.objectID
    }
  }

  private func countUp(_ id: ObjectID, until durability: Stack.Durability) async throws {
    while true {
      do {
        try await stack.write(until: durability) { context in
          let person = try context.object(with: id)
          guard case .integer(let age) = person["age"] else { return }
          person["age"] = .integer(age + 1)
        }
        return
      } catch let error as ContextError where error.code == .conflict {
        continue
      }
    }
  }

  /// What is stored once nothing is pending any more.
  private func storedAge() async throws -> [String] {
    while await MainActor.run(body: { stack.main.hasChanges }), stack.backgroundErrors.isEmpty {
      try await Task.sleep(for: .milliseconds(1))
    }
    return try stack.sql("SELECT age FROM Person")
  }

  @Test(
    "Who counts up again and again is in nobody's way: what was seen unsaved may be stored meanwhile"
  )
  func counter() async throws {
    let id = try await person()
    for _ in 0..<60 { try await countUp(id, until: .merged) }
    #expect(try await storedAge() == ["60"])
    #expect(stack.backgroundErrors.isEmpty, "\(stack.backgroundErrors)")
  }

  @Test("Of many who count up at once none is lost without a word", arguments: 0..<10)
  func counters(round: Int) async throws {
    let id = try await person()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask { for _ in 0..<5 { try await countUp(id, until: .merged) } }
      }
      try await group.waitForAll()
    }
    let age = try await storedAge()
    #expect(age == ["40"] || !stack.backgroundErrors.isEmpty, "\(age)")
  }

  @MainActor
  @Test(
    "What is still unsaved when a part is stored stays compared with what others have made of it"
  )
  func rest() async throws {
    let path = NSTemporaryDirectory() + "merged-\(UUID().uuidString).db"
    defer {
      for ending in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: path + ending)
      }
    }
    let (stack, other) = (try Stack(crm, at: .file(path)), try Stack(crm, at: .file(path)))
    let main = stack.main
    let person = try main.insert("Person")
    person["name"] = "first"
    try main.save()
    let id = person.objectID
    person["name"] = "mine"
    try await other.write { try $0.object(with: id)["name"] = "theirs" }
    try await stack.write(until: .merged) { try $0.object(with: id)["age"] = 5 }
    while try stack.sql("SELECT age FROM Person") != ["5"], stack.backgroundErrors.isEmpty {
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(stack.backgroundErrors.isEmpty, "\(stack.backgroundErrors)")
    let error = #expect(throws: ContextError.self) { try main.save() }
    #expect(error?.conflicts.map(\.property) == ["name"])
    #expect(error?.conflicts.map(\.theirs) == ["theirs"])
    #expect(try stack.sql("SELECT name FROM Person") == ["theirs"])
    main.mergePolicy = .objectTrumps
    try main.save()
    #expect(try stack.sql("SELECT name, age FROM Person") == ["mine|5"])
  }

  /// Runs a merged write whose closure has read the age, and changes it, while something else is done.
  @MainActor private func race(
    _ id: ObjectID,
    _ policy: MergePolicy = .error,
    meanwhile: @MainActor () throws -> Void
  ) async throws {
    let (isReading, reading) = AsyncStream<Void>.makeStream()
    let gate = DispatchSemaphore(value: 0)
    let stack = stack
    let writing = Task {
      try await stack.write(until: .merged, policy: policy) { context in
        let person = try context.object(with: id)
        guard case .integer(let age) = person["age"] else { return }
        reading.finish()
        gate.wait()
        person["age"] = .integer(age + 10)
        person["name"] = "Ada"
      }
    }
    for await _ in isReading {}
    do {
      try meanwhile()
    } catch {
      gate.signal()
      throw error
    }
    gate.signal()
    try await writing.value
  }

  @MainActor
  @Test("What main changes while a closure runs is no other's to overwrite")
  func edited() async throws {
    let id = try await person()
    let main = stack.main
    let error = await #expect(throws: ContextError.self) {
      try await race(id) { try main.object(with: id)["age"] = 1 }
    }
    #expect(error?.code == .conflict && error?.conflicts.map(\.property) == ["age"])
    #expect(
      error?.message.contains("read 0, here 10, in main 1") == true,
      "\(error?.message ?? "")"
    )
    // Nothing of the write is there, and the edit is.
    #expect(try main.object(with: id)["age"] == 1 && main.object(with: id)["name"] == .null)
  }

  @MainActor
  @Test(
    "A policy says whose value holds",
    arguments: [
      (.objectTrumps, 10, "Ada"), (.overwrite, 10, "Ada"), (.storeTrumps, 1, "Ada"),
      (.rollback, 1, nil),
    ] as [(MergePolicy, Int64, String?)]
  )
  func policies(policy: MergePolicy, age: Int64, name: String?) async throws {
    let id = try await person()
    let main = stack.main
    try await race(id, policy) { try main.object(with: id)["age"] = 1 }
    let person = try main.object(with: id)
    #expect(person["age"] == .integer(age))
    #expect(person["name"] == name.map(StoredValue.text) ?? .null)
  }

  @MainActor
  @Test("What main had changed by then, and other attributes, are no conflict")
  func seen() async throws {
    let id = try await person()
    let main = stack.main
    try main.object(with: id)["age"] = 5
    try await race(id) { try main.object(with: id)["salary"] = "1.00" }
    let person = try main.object(with: id)
    #expect(person["age"] == 15 && person["salary"] == "1.00" && person["name"] == "Ada")
  }

  @MainActor
  @Test(
    "A change of what main has deleted since is a conflict, and a deletion of what it has changed"
  )
  func deleted() async throws {
    let main = stack.main
    let id = try await person()
    await #expect(throws: ContextError.self) {
      try await race(id) { try main.delete(try main.object(with: id)) }
    }
    main.rollback()
    let (isReading, reading) = AsyncStream<Void>.makeStream()
    let gate = DispatchSemaphore(value: 0)
    let stack = stack
    let writing = Task {
      try await stack.write(until: .merged) { context in
        let person = try context.object(with: id)
        reading.finish()
        gate.wait()
        try context.delete(person)
      }
    }
    for await _ in isReading {}
    try main.object(with: id)["age"] = 7
    gate.signal()
    await #expect(throws: ContextError.self) { try await writing.value }
    #expect(try main.object(with: id)["age"] == 7)
  }
}
