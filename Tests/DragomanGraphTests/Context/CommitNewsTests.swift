import Dispatch
import Testing

@testable import DragomanGraph

/// What is told of commits comes in the order of the commits, whoever is late.
@MainActor
@Suite struct CommitNewsTests {
  private let stack: Stack

  init() throws { stack = try Stack(crm, at: .inMemory) }

  /// Writes in the background, to the end, while main has its turn.
  private func writeBesides(_ body: @escaping @Sendable (ManagedObjectContext) throws -> Void)
    throws
  {
    let root = stack.root
    let done = DispatchSemaphore(value: 0)
    let result = ResultBox()
    DispatchQueue(label: "besides").async {
      result.value = Result {
        let context = ManagedObjectContext(.background, root: root)
        defer { context.close() }
        try body(context)
        try context.save()
      }
      done.signal()
    }
    done.wait()
    try result.value?.get()
  }

  private final class ResultBox: @unchecked Sendable {
    var value: Result<Void, any Error>?
  }

  /// What was sent to main is there afterwards.
  private func turn() async { await Task { @MainActor in }.value }

  @Test("What main inserts by another thread is told before its deletion by the next")
  func insertedThenDeleted() async throws {
    var notices = stack.changes().makeAsyncIterator()
    let person = try stack.main.insert("Person")
    let id = person.objectID
    let stack = stack
    let saving = Task { try await stack.saveMain() }
    await Task.yield()
    // Main's turn does not end until both are stored.
    while try stack.sql("SELECT count(*) FROM Person") != ["1"] {}
    try writeBesides { try $0.delete($0.object(with: id)) }
    try await saving.value
    #expect(await notices.next()?.inserted == [id])
    #expect(await notices.next()?.deleted == [id])
    await turn()
    #expect(person.isDeleted)
    #expect(try stack.main.existingObject(with: id) == nil)
    #expect(stack.main.linkMemory.goneRows.count == 1)
  }

  @Test("What main writes over a deletion that it has not heard of yet is there")
  func deletedThenWritten() async throws {
    let main = stack.main
    let (person, boss) = (try main.insert("Person"), try main.insert("Person"))
    person[one: "manager"] = boss
    try main.save()
    let id = boss.objectID
    main.mergePolicy = .overwrite
    boss["name"] = "x"
    try writeBesides { try $0.delete($0.object(with: id)) }
    try main.save()
    await turn()
    #expect(!boss.isDeleted && boss["name"] == "x")
    #expect(try main.object(with: id) === boss)
    #expect(try stack.sql("SELECT name FROM Person WHERE _pk = \(id.primaryKey)") == ["x"])
    person[one: "manager"] = boss
    try main.save()
    #expect(try stack.sql("SELECT manager FROM Person WHERE manager IS NOT NULL").count == 1)
  }

  @Test("Background saves are told in the order in which they were stored")
  func background() async throws {
    let notices = stack.changes()
    let stack = stack
    try await stack.write { _ = try $0.insert("Song") }
    let id = id("Song", 1)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for count in 0..<25 {
            try await stack.write(policy: .overwrite) { context in
              try context.object(with: id)["title"] = .text("\(task) \(count)")
            }
          }
        }
      }
      try await group.waitForAll()
    }
    try await stack.write { try $0.delete($0.object(with: id)) }
    try stack.close()
    var told: [ChangeNotice] = []
    for await notice in notices { told.append(notice) }
    #expect(told.first?.inserted == [id] && told.last?.deleted == [id])
    #expect(told.count <= 102)
  }

  @Test("A main context that nobody uses keeps nothing of what others store")
  func unused() async throws {
    let stack = try Stack(crm, at: .inMemory)
    for _ in 0..<20 { try await stack.write { _ = try $0.insert("Song") } }
    await turn()
    #expect(stack.root.news.takeOfMain() == nil)
  }

  @Test("Who writes on a thread is refused what would wait for itself")
  func nested() throws {
    let main = stack.main
    #expect(throws: StoreError.self) {
      try stack.store.write { _ in
        for _ in 0..<3000 { _ = try main.insert("Song") }
      }
    }
    main.rollback()
    _ = try main.insert("Song")
    #expect(throws: StoreError.self) { try stack.store.write { _ in try main.save() } }
    try main.save()
  }

  @Test("What was merged before a reset is not stored behind it")
  func reset() async throws {
    let song = try stack.main.insert("Song")
    song["title"] = "old"
    let merged = (changes: stack.root.main.changes, root: stack.root)
    try stack.reset()
    let other = try stack.main.insert("Song")
    #expect(other.objectID == song.objectID)
    other["title"] = "new"
    try await stack.storeMain(merged, policy: .error)
    #expect(try stack.sql("SELECT title FROM Song") == [])
    try stack.main.save()
    #expect(try stack.sql("SELECT title FROM Song") == ["new"])
  }
}
