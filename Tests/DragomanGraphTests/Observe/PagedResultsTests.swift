import Foundation
import Synchronization
import Testing

@testable import DragomanGraph

/// Pages: when they are loaded, and what happens when they cannot be.
@Suite("Paged results")
struct PagedResultsTests {
  private let stack: Stack
  private let request = FetchRequest("Item", sortKeys: [SortKey("count")])

  init() async throws {
    stack = try Stack(shop, at: .inMemory)
    try await stack.write { context in
      for number in 0..<30 { try context.insert("Item")["count"] = .integer(Int64(number)) }
    }
  }

  private func counts(_ pages: PagedResults<StoredValue>) async -> [Int64] {
    await pages.elements.compactMap(\.integer)
  }

  private func pages(_ options: PageOptions) throws -> PagedResults<StoredValue> {
    try stack.pages(request, options: options) { try $0.value(of: "count") }
  }

  @Test("A row near the end fetches the next page, one further away does not")
  func prefetch() async throws {
    let pages = try pages(PageOptions(size: 10, prefetchDistance: 3))
    var events = await pages.events().makeAsyncIterator()
    try await pages.loadNext()
    _ = await events.next()
    await pages.didShow(6)
    await pages.didShow(7)
    guard case .appended(let added, droppedFirst: 0) = await events.next() else {
      Issue.record("no page")
      return
    }
    #expect(added.first == 10)
    #expect(await counts(pages) == Array(0..<20))
  }

  /// Pages whose first load waits at a gate.
  private func gated(
    _ gate: DispatchSemaphore,
    _ options: PageOptions
  ) throws -> PagedResults<StoredValue> {
    try stack.pages(request, options: options) { object in
      gate.wait()
      gate.signal()
      return try object.value(of: "count")
    }
  }

  @Test("Those who ask for the same page get the same one, also where one of them gives up")
  func together() async throws {
    let gate = DispatchSemaphore(value: 0)
    let pages = try gated(gate, PageOptions(size: 5))
    let loads = (0..<4).map { _ in Task { try await pages.loadNext() } }
    while await pages.waiterCount < 4 { try await Task.sleep(for: .milliseconds(1)) }
    loads[0].cancel()
    while await pages.waiterCount > 3 { try await Task.sleep(for: .milliseconds(1)) }
    gate.signal()
    await #expect(throws: CancellationError.self) { try await loads[0].value }
    for load in loads.dropFirst() { #expect(try await load.value == 5) }
    #expect(await counts(pages) == Array(0..<5))
  }

  @Test("A page that nobody waits for any more is given up, and loaded for who asks next")
  func givenUp() async throws {
    let gate = DispatchSemaphore(value: 0)
    let pages = try gated(gate, PageOptions(size: 5))
    let loads = (0..<2).map { _ in Task { try await pages.loadNext() } }
    while await pages.waiterCount < 2 { try await Task.sleep(for: .milliseconds(1)) }
    for load in loads { load.cancel() }
    while await pages.waiterCount > 0 { try await Task.sleep(for: .milliseconds(1)) }
    let next = Task { try await pages.loadNext() }
    gate.signal()
    for load in loads { await #expect(throws: CancellationError.self) { try await load.value } }
    #expect(try await next.value == 5)
    #expect(await counts(pages) == Array(0..<5))
  }

  @Test("Sequences of events end with the pages, and are let go with who reads them")
  func endings() async throws {
    var pages: PagedResults<StoredValue>? = try pages(PageOptions(size: 5))
    let events = try #require(await pages?.events())
    var others = await pages?.events().makeAsyncIterator()
    #expect(await pages?.observers.count == 2)
    others = nil
    _ = others
    while await pages?.observers.count == 2 { try await Task.sleep(for: .milliseconds(1)) }
    try await pages?.loadNext()
    pages = nil
    var count = 0
    for await _ in events { count += 1 }
    #expect(count == 1)
  }

  @Test("A window of rows lets go at the other end and reads that again on the way back")
  func window() async throws {
    let pages = try pages(PageOptions(size: 10, maximumCount: 15))
    for _ in 0..<3 { try await pages.loadNext() }
    #expect(await counts(pages) == Array(15..<30))
    #expect(await pages.hasPrevious)
    #expect(try await pages.loadNext() == 0)
    #expect(await !pages.hasNext)
    try await pages.loadPrevious()
    #expect(await counts(pages) == Array(5..<20))
    #expect(await pages.hasNext)
  }

  @Test("Rows that come behind the end are there when it is asked for again")
  func growing() async throws {
    let pages = try pages(PageOptions(size: 40))
    #expect(try await pages.loadNext() == 30)
    #expect(await !pages.hasNext)
    try await stack.write { try $0.insert("Item")["count"] = 99 }
    #expect(try await pages.loadNext() == 1)
    #expect(await counts(pages).last == 99)
  }

  @Test("An error is thrown and told, changes nothing, and the page can be tried again")
  func errors() async throws {
    struct Refusal: Error {}
    let refuses = Mutex(true)
    let pages = try stack.pages(request, options: PageOptions(size: 10, prefetchDistance: 20)) {
      object in
      if refuses.withLock({ $0 }) { throw Refusal() }
      return try object.value(of: "count")
    }
    var events = await pages.events().makeAsyncIterator()
    await #expect(throws: Refusal.self) { try await pages.loadNext() }
    guard case .failed(is Refusal, .next) = await events.next() else {
      Issue.record("not told")
      return
    }
    await pages.didShow(0)
    guard case .failed(is Refusal, .next) = await events.next() else {
      Issue.record("not told of a page fetched ahead")
      return
    }
    #expect(await pages.elements.isEmpty)
    refuses.withLock { $0 = false }
    #expect(try await pages.loadNext() == 10)
  }

  @Test("A cancelled load adds nothing")
  func cancelled() async throws {
    let gate = DispatchSemaphore(value: 0)
    let (entered, entry) = AsyncStream<Void>.makeStream()
    let pages = try stack.pages(request, options: PageOptions(size: 10)) { object in
      entry.yield()
      gate.wait()
      gate.signal()
      return try object.value(of: "count")
    }
    let load = Task { try await pages.loadNext() }
    var entries = entered.makeAsyncIterator()
    await entries.next()
    await pages.cancel()
    gate.signal()
    await #expect(throws: CancellationError.self) { try await load.value }
    #expect(await pages.elements.isEmpty)
    #expect(try await pages.loadNext() == 10)
  }

  @Test(
    "Requests and options that make no pages are refused",
    arguments: [
      (FetchRequest("Item", limit: 5), PageOptions(), "has no limit"),
      (FetchRequest("Item", offset: 5), PageOptions(), "no offset"),
      (FetchRequest("Item"), PageOptions(size: 0), "1 row or more"),
      (FetchRequest("Item"), PageOptions(size: 9, maximumCount: 8), "at least a page"),
      (FetchRequest("Item", sortKeys: [SortKey("tags")]), PageOptions(), "many values"),
    ]
  )
  func refused(request: FetchRequest, options: PageOptions, words: String) {
    let error = #expect(throws: StoreError.self) { try stack.pages(request, options: options) }
    #expect(error?.code == .badRequest)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test("Pages cannot begin with an object that is not of the results")
  func foreignStart() async throws {
    let id = ObjectID(entity: "Item", primaryKey: 4_711)
    let pages = try pages(PageOptions(start: .object(id)))
    let error = await #expect(throws: StoreError.self) { try await pages.loadNext() }
    #expect(error?.code == .badRequest)
  }
}
