import Foundation
import GRDB
import Synchronization
import Testing

@testable import DragomanGraph

/// Results of what is stored, from any thread and by any process.
@Suite("Stored results")
struct StoredResultsTests {
  /// A stack over a file of its own, which is removed with its last user.
  private final class Place: Sendable {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).db").path

    deinit {
      for file in [path, path + "-wal", path + "-shm"] {
        try? FileManager.default.removeItem(atPath: file)
      }
    }
  }

  private static let byName = FetchRequest("Item", sortKeys: [SortKey("name")])
  private static let often = Duration.milliseconds(5)

  private static func insert(_ names: [String], into stack: Stack) async throws -> [ObjectID] {
    try await stack.write { context in
      try names.map { name in
        let item = try context.insert("Item")
        item["name"] = .text(name)
        return item.objectID
      }
    }
  }

  /// The next difference; an issue where there is another event.
  private static func difference(
    _ events: inout ResultEvents.AsyncIterator
  ) async throws -> ResultDifference {
    let event = try await events.next()
    guard case .difference(let difference) = event else {
      throw StoreError(.refused, "\(String(describing: event)) is no difference.")
    }
    return difference
  }

  @Test("Values made of objects follow what is stored, and what main has pending is not among them")
  func values() async throws {
    let stack = try Stack(shop, at: .inMemory)
    let ids = try await Self.insert(["b", "d"], into: stack)
    let results = try await stack.results(Self.byName) { try $0.value(of: "name") }
    var events = results.events().makeAsyncIterator()
    _ = try await events.next()
    try await MainActor.run { try stack.main.insert("Item")["name"] = "a" }
    let new = try await Self.insert(["c"], into: stack)
    #expect(
      try await Self.difference(&events)
        == ResultDifference([.inserted(new[0], at: ResultPlace(section: 0, row: 1))])
    )
    #expect(results.snapshot.ids == [ids[0], new[0], ids[1]])
    #expect(try await results.elements(at: 0..<9) == ["b", "c", "d"])
    try await stack.saveMain()
    #expect(try await Self.difference(&events).changes.count == 1)
    #expect(try await results.elements(at: 0..<1) == ["a"])
  }

  @Test("Values are made of what is stored, whatever main has unsaved", arguments: [false, true])
  @MainActor func storedValues(deletes: Bool) async throws {
    let stack = try Stack.withItems()
    let item = try stack.main.item("a")
    if deletes { try stack.main.delete(item) } else { item["name"] = "unsaved" }
    let results = try await stack.results(Self.byName) { try $0.value(of: "name") }
    #expect(try await results.elements(at: 0..<1) == ["a"])
    let pages = try stack.pages(Self.byName) { try $0.value(of: "name") }
    try await pages.loadNext()
    #expect(await pages.elements.first == "a")
  }

  @Test("What is merged into main first arrives when it is stored")
  func merged() async throws {
    let stack = try Stack(shop, at: .inMemory)
    let results = try await stack.results(Self.byName)
    var events = results.events().makeAsyncIterator()
    _ = try await events.next()
    let id = try await stack.write(until: .merged) { try $0.insert("Item").objectID }
    let difference = try await Self.difference(&events)
    #expect(difference.changes == [.inserted(id, at: ResultPlace(section: 0, row: 0))])
    #expect(difference.emptiness == .becameFilled)
  }

  @Test("Another process's commits arrive, in stored results and in main's")
  @MainActor func otherProcess() async throws {
    let place = Place()
    let stack = try Stack(shop, at: .file(place.path))
    let ids = try await Self.insert(["a", "b", "bb"], into: stack)
    let stored = try await stack.results(Self.byName, pollingEvery: Self.often)
    var events = stored.events().makeAsyncIterator()
    _ = try await events.next()
    let live = try stack.main.results(Self.byName, pollingEvery: Self.often)
    var liveEvents = live.events().makeAsyncIterator()
    _ = try await liveEvents.next()
    #expect(try live.object(at: 0)["name"] == "a")

    // Another stack is to this one what another process is: it has connections of its own.
    let other = try Stack(shop, at: .file(place.path))
    try await other.write { try $0.object(with: ids[0])["name"] = "c" }
    let expected = ResultDifference([
      .moved(ids[0], from: ResultPlace(section: 0, row: 0), to: ResultPlace(section: 0, row: 2)),
      .updated(ids[0], at: ResultPlace(section: 0, row: 2)),
    ])
    #expect(try await Self.difference(&events) == expected)
    #expect(try await Self.difference(&liveEvents) == expected)
    #expect(try live.object(at: 2)["name"] == "c")
    try await other.write { try $0.object(with: ids[1])["count"] = 5 }
    #expect(
      try await Self.difference(&events).changes
        == [.updated(ids[1], at: ResultPlace(section: 0, row: 0))]
    )
  }

  @Test("A list goes on where another process deletes what an unsaved object of it leads to")
  @MainActor func goneTarget() async throws {
    let place = Place()
    let model = Model(entities: [
      Entity(
        name: "Company",
        attributes: [Attribute(name: "city")],
        relationships: [.toMany("people", "Person", inverse: "company")]
      ),
      Entity(
        name: "Person",
        attributes: [Attribute(name: "name")],
        relationships: [.toOne("company", "Company", inverse: "people")]
      ),
    ])
    let stack = try Stack(model, at: .file(place.path))
    let other = try Stack(model, at: .file(place.path))
    let (person, company) = try await other.write { context in
      let (person, company) = try (context.insert("Person"), context.insert("Company"))
      company["city"] = "Bergen"
      try person.setTarget(company, of: "company")
      return (person.objectID, company.objectID)
    }
    let request = FetchRequest(
      "Person",
      filter: try Filter(parsing: "company.city == null OR ANY company.people.name != null"),
      sortKeys: [SortKey("company.city")]
    )
    let live = try stack.main.results(request, pollingEvery: Self.often)
    var events = live.events().makeAsyncIterator()
    _ = try await events.next()
    let ada = try stack.main.object(with: person)
    ada["name"] = "Ada"
    try await other.write { try $0.delete($0.object(with: company)) }
    try await other.write { try $0.insert("Person")["name"] = "Bo" }
    while live.count < 2 { _ = try await events.next() }
    #expect(try stack.main.count(request) == 2)
    try stack.main.save()
    #expect(ada[one: "company"] == nil)
  }

  @Test("A store is followed without a stack, rows by their columns")
  func plainStore() async throws {
    let place = Place()
    let stack = try Stack(shop, at: .file(place.path))
    _ = try await Self.insert(["a", "b"], into: stack)
    let store = try SQLiteStore(
      at: .file(place.path),
      options: SQLiteStore.Options(isReadOnly: true, createsFile: false)
    )
    var request = Self.byName
    request.columns = ["name", "count"]
    request.limit = 2
    let results = try await store.results(request, pollingEvery: Self.often)
    var events = results.events().makeAsyncIterator()
    _ = try await events.next()
    _ = try await Self.insert(["aa"], into: stack)
    let difference = try await Self.difference(&events)
    #expect(difference.changes.count == 2)
    #expect(try await results.elements(at: 0..<5) == [["a", .null], ["aa", .null]])
  }

  @Test("An import of many batches costs a fetch or two, and one event says it")
  func bulk() async throws {
    let stack = try Stack(shop, at: .inMemory)
    var request = Self.byName
    request.limit = 10
    let source = CountingSource(store: try stack.store)
    var feed = try ResultFeed(
      ResultQuery(request, sectionedBy: nil, in: try stack.store.layout),
      from: source
    )
    _ = try await stack.write { context in
      for number in 0..<5_000 { try context.insert("Item")["name"] = .text("\(number)") }
    }
    source.parts.withLock { $0 = [] }
    let difference = try feed.take(ChangeNotice(refreshedEntities: ["Item"]))
    #expect(difference.changes.count == 10)
    #expect(source.parts.withLock { $0 } == ["all"])
    #expect(try feed.take(ChangeNotice(refreshedEntities: ["Box"])).isEmpty)
    #expect(source.parts.withLock { $0 } == ["all"])
    // A row goes: it is looked at, and one more query gives the next one.
    let gone = feed.snapshot.ids[3]
    try await stack.write { try $0.delete($0.object(with: gone)) }
    #expect(try feed.take(ChangeNotice(deleted: [gone])).changes.count == 2)
    #expect(source.parts.withLock { $0 } == ["all", "keys", "after"])
    #expect(
      try feed.snapshot.ids
        == stack.store.keys(request).map { ObjectID(entity: "Item", primaryKey: $0) }
    )
  }

  /// Says which parts are read.
  private struct CountingSource: ResultSource {
    let store: SQLiteStore
    let parts: Parts

    final class Parts: Sendable {
      private let state = Mutex<[String]>([])
      func withLock<T: Sendable>(_ body: (inout sending [String]) -> sending T) -> T {
        state.withLock(body)
      }
    }

    init(store: SQLiteStore) {
      self.store = store
      parts = Parts()
    }

    func rows(_ part: ResultPart, of query: ResultQuery) throws -> ResultRows {
      let word =
        switch part {
        case .all: "all"
        case .keys: "keys"
        case .after: "after"
        default: "other"
        }
      parts.withLock { $0.append(word) }
      return try StoreResultSource(store: store).rows(part, of: query)
    }
  }

  @Test("Closures get the snapshot, the differences and the end, in order")
  func observe() async throws {
    let stack = try Stack(shop, at: .inMemory)
    let results = try await stack.results(Self.byName)
    let (events, continuation) = AsyncStream<String>.makeStream()
    results.observe { event in
      switch event {
      case .snapshot(let snapshot): continuation.yield("snapshot \(snapshot.count)")
      case .difference(let difference): continuation.yield("difference \(difference.changes.count)")
      case .ended(let reason):
        continuation.yield("ended \((reason as? ContextError)?.code.rawValue ?? "")")
      }
    }
    var words = events.makeAsyncIterator()
    #expect(await words.next() == "snapshot 0")
    _ = try await Self.insert(["a", "b"], into: stack)
    #expect(await words.next() == "difference 2")
    try stack.close()
    #expect(await words.next() == "ended stack.closed")
    #expect((results.endReason as? ContextError)?.code == .stackClosed)
    await #expect(throws: ContextError.self) { try await results.change(Self.byName) }
  }

  @Test("A cancelled closure is called no more, whoever cancels, while others are")
  func cancelled() async throws {
    let stack = try Stack(shop, at: .inMemory)
    let results = try await stack.results(Self.byName)
    let (events, continuation) = AsyncStream<String>.makeStream()
    let told = Mutex<[Int]>([])
    let first = results.observe { event in
      if case .difference(let difference) = event {
        told.withLock { $0.append(difference.changes.count) }
      }
    }
    results.observe { event in
      if case .difference(let difference) = event {
        continuation.yield("difference \(difference.changes.count)")
      }
    }
    var words = events.makeAsyncIterator()
    _ = try await Self.insert(["a"], into: stack)
    #expect(await words.next() == "difference 1")
    first.cancel()
    _ = try await Self.insert(["b", "c"], into: stack)
    #expect(await words.next() == "difference 2")
    #expect(told.withLock { $0 } == [1])
  }

  @Test("Growth of the file by another process is no end; a migration, another file or none are")
  func migrated() async throws {
    for way in ["grow", "migrate", "replace", "remove"] {
      let place = Place()
      let stack = try Stack(shop, at: .file(place.path))
      _ = try await Self.insert(["a"], into: stack)
      let results = try await stack.results(Self.byName, pollingEvery: Self.often)
      let sequence = results.events()
      if way == "grow" {
        var events = sequence.makeAsyncIterator()
        _ = try await events.next()
        let grown = Model(
          entities: shop.entities + [Entity(name: "New", attributes: [Attribute(name: "x")])]
        )
        let other = try Stack(grown, at: .file(place.path))
        _ = try await Self.insert(["b"], into: other)
        #expect(try await Self.difference(&events).changes.count == 1)
        continue
      }
      switch way {
      case "migrate":
        var model = shop
        model.entities[0].attributes[1].type = .string
        _ = try Stack(model, at: .file(place.path), onConflict: .migrate)
      case "replace":
        let copy = place.path + ".copy"
        _ = try stack.store.backup(to: copy)
        try FileManager.default.removeItem(atPath: place.path)
        try FileManager.default.moveItem(atPath: copy, toPath: place.path)
      default: try FileManager.default.removeItem(atPath: place.path)
      }
      let error = await endReason(of: sequence) as? StoreError
      #expect(error?.code == .migrated, "\(way): \(String(describing: error))")
    }
  }

  @Test("A row that came before a look and went before the next one is gone")
  func betweenLooks() async throws {
    let stack = try Stack(shop, at: .inMemory)
    let ids = try await Self.insert(["a"], into: stack)
    let engine = StoredResultEngine(
      Self.byName,
      store: try stack.store,
      layout: try stack.store.layout
    )
    let gate = DispatchSemaphore(value: 0)
    try await engine.start(sectionedBy: nil) { engine in
      // The insertion is told, and met by the first fetch, before it is looked at.
      engine.queue.async { gate.wait() }
      engine.take(ChangeNotice(inserted: Set(ids)))
      return {}
    }
    #expect(engine.snapshot.ids == ids)
    try await stack.write { try $0.delete($0.object(with: ids[0])) }
    engine.take(ChangeNotice(deleted: Set(ids)))
    gate.signal()
    try await engine.run {}
    #expect(engine.snapshot.ids == [])
  }

  @MainActor @Test("Results of main made after the file was lost throw the reason")
  func lost() async throws {
    let place = Place()
    let stack = try Stack(shop, at: .file(place.path))
    let results = try stack.main.results(Self.byName, pollingEvery: Self.often)
    let sequence = results.events()
    try FileManager.default.removeItem(atPath: place.path)
    #expect((await endReason(of: sequence) as? StoreError)?.code == .migrated)
    for interval in [nil, Self.often] {
      let error = #expect(throws: StoreError.self) {
        try stack.main.results(Self.byName, pollingEvery: interval)
      }
      #expect(error?.code == .migrated)
    }
  }

  @Test(
    "A file that is gone is told from one that cannot be looked at",
    arguments: [
      (ENOENT, .migrated), (ENOTDIR, .migrated), (EACCES, .permission), (EIO, .inputOutput),
    ] as [(Int32, StoreError.Code)]
  )
  func losses(number: Int32, code: StoreError.Code) {
    #expect(SQLiteStore.lost("a.db", number).code == code)
  }

  @Test("A transaction of few objects is told by their names, though nobody asks for notices")
  func fewObjects() async throws {
    let stack = try Stack(shop, at: .inMemory)
    let isTooMuch: @Sendable (ManagedObjectContext) throws -> Bool = { context in
      _ = try context.insert("Item")
      try context.records.flush()
      return context.importing.flushed.isTooMuch
    }
    #expect(try await stack.writeInOneTransaction(isTooMuch))
    let results = try await stack.results(Self.byName)
    #expect(try await !stack.writeInOneTransaction(isTooMuch))
    #expect(results.request == Self.byName)
  }
}
