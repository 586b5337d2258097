import Testing

@testable import DragomanGraph

/// Values that stay in step with the store.
@Suite struct ValueResultsTests {
  private let stack: Stack

  init() throws { stack = try Stack(shopModel, at: .inMemory) }

  @Test("Inserts, updates and deletions arrive as differences", .timeLimit(.minutes(60)))
  func differences() async throws {
    let shops = stack.repository(of: Shop.self)
    var a = try await shops.save(
      Shop("a", age: 1, owner: Owner(name: "Ada"), employees: [Employee("Tom", age: 1)])
    )
    let c = try await shops.save(Shop("c", age: 3))
    _ = try await shops.save(Shop("hidden", age: -1))
    let results = try await stack.results(
      Shop.self,
      \.age >= 0,
      sort: [.ascending(\.name)],
      pollingEvery: nil
    )
    #expect(try await results.elements(at: 0..<10) == [a, c])
    var events = results.events().makeAsyncIterator()
    guard case .snapshot(let snapshot) = try await events.next() else {
      Issue.record("the first event is the snapshot")
      return
    }
    #expect(Array(snapshot.ids(at: 0..<snapshot.count)) == [a.objectID, c.objectID])

    let b = try await shops.save(Shop("b", age: 2, employees: [Employee("Eve", age: 2)]))
    #expect(try await changes(&events) == 1)
    #expect(try await results.elements(at: 0..<10) == [a, b, c])

    a.age = 10
    a.employees[0].age = 11
    a = try await shops.save(a)
    #expect(try await changes(&events) == 1)
    #expect(try await results.elements(at: 0..<1) == [a])

    try await shops.delete(c)
    #expect(try await changes(&events) == 1)
    #expect(try await results.elements(at: 0..<10) == [a, b])
    let id = try #require(c.objectID)
    #expect(try await results.elements(of: [id]).isEmpty)
  }

  private func changes(_ events: inout ResultEvents.AsyncIterator) async throws -> Int? {
    guard case .difference(let difference) = try await events.next() else { return nil }
    return difference.changes.count
  }

  @Test("A nested value is read as it is when its owner is asked for")
  func nested() async throws {
    let shop = try await stack.repository(of: Shop.self)
      .save(Shop("a", employees: [Employee("Tom", age: 1)]))
    let results = try await stack.results(Shop.self, limit: 1, pollingEvery: nil)
    #expect(try await results.elements(at: 0..<1) == [shop])
    _ = try await stack.repository(of: Employee.self).update { $0.age = 7 }
    #expect(try await results.elements(at: 0..<1).map { $0.employees.map(\.age) } == [[7]])
  }

  @Test("What cannot be followed is an error")
  func errors() async throws {
    await #expect(throws: ValueError.self) { try await stack.results(Tag.self) }
    await #expect(throws: StoreError.self) {
      try await stack.results(Shop.self, sectionedBy: "name")
    }
  }
}
