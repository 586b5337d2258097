import Testing

@testable import DragomanGraph

/// What main deletes while its first version is being stored on another thread.
@MainActor @Suite("Deletions during a save on another thread") struct AwayDeletionTests {
  @Test("Who loses a required member by it is checked at the next save")
  func required() async throws {
    let stack = try Stack(everyLink(.nullify), at: .inMemory)
    let team = try stack.main.insert("Team")
    let member = try stack.main.insert("A")
    member[one: "team"] = team
    let save = Task { try await stack.saveMain() }
    await Task.yield()
    try stack.main.delete(member)
    try await save.value
    let fault = #expect(throws: ContextError.self) { try stack.main.save() }
    #expect(fault?.code == .invalid, "\(String(describing: fault))")
    let other = try stack.main.insert("A")
    other[one: "team"] = team
    try stack.main.save()
    #expect(try stack.sql("SELECT count(*), count(team) FROM A") == ["1|1"])
  }
}
