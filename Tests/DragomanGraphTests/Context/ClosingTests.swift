import Foundation
import Testing

@testable import DragomanGraph

@Suite("Stacks that are closed while others use them") struct ClosingTests {
  @Test(
    "Who is in the store cannot close the stack, also while somebody else does",
    .timeLimit(.minutes(15))
  )
  func fromWithin() throws {
    let stack = try Stack(crm, at: .inMemory)
    let store = try stack.store
    let (entered, left) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      try? store.write { _ in
        entered.signal()
        // The other one is at it by now, and waits for this one.
        Thread.sleep(forTimeInterval: 0.2)
        for body: () throws -> Void in [{ try stack.close() }, { try stack.reset() }] {
          let error = #expect(throws: StoreError.self) { try body() }
          #expect(error?.code == .badRequest)
        }
      }
      left.signal()
    }
    entered.wait()
    try stack.close()
    left.wait()
    #expect(throws: (any Error).self) { try store.write { _ in } }
  }

  @MainActor
  @Test("Whatever is asked of a stack that is closed says so")
  func closed() async throws {
    let stack = try Stack.withItems()
    try stack.close()
    let asked: [@MainActor () async throws -> Void] = [
      { try await stack.write { _ in } }, { try await stack.writeInOneTransaction { _ in } },
      { _ = try await stack.results(FetchRequest("Item")) },
      { _ = try stack.main.results(FetchRequest("Item")) },
      { _ = try stack.main.fetch(FetchRequest("Item")) },
    ]
    for (number, ask) in asked.enumerated() {
      do {
        try await ask()
        Issue.record("\(number)")
      } catch {
        #expect((error as? ContextError)?.code == .stackClosed, "\(number): \(error)")
      }
    }
  }

  @MainActor
  @Test("Two who follow the same events both hear of their end", .timeLimit(.minutes(15)))
  func events() async throws {
    let stack = try Stack.withItems()
    let events = try await stack.results(FetchRequest("Item")).events()
    async let first = endReason(of: events)
    async let second = endReason(of: events)
    try await Task.sleep(for: .milliseconds(100))
    try stack.close()
    // One of them is told why.
    #expect(await [first, second].contains { $0 != nil })
  }

  @Test("What is no number stands where null does")
  func noNumber() {
    let values: [StoredValue] = [.integer(.min), .integer(0), .integer(.max)]
    for value in values {
      #expect(ValueOrder.order(value, .real(.nan), asDecimals: false) > 0)
      #expect(ValueOrder.order(.real(.nan), value, asDecimals: false) < 0)
    }
  }
}
