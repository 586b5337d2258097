import Foundation
import Testing

@testable import DragomanGraph

/// Results of the main context.
@MainActor
@Suite("Fetched results")
struct FetchedResultsTests {
  private let stack: Stack
  private var main: ManagedObjectContext { stack.main }

  init() throws { stack = try .withItems() }

  private static let byName = FetchRequest("Item", sortKeys: [SortKey("name")])

  /// The differences that results tell while a closure runs.
  private func changes(
    of results: FetchedResults<ManagedObject>,
    _ body: () throws -> Void
  ) throws -> [ResultDifference] {
    var told: [ResultDifference] = []
    let observation = results.observe { event in
      if case .difference(let difference) = event { told.append(difference) }
    }
    try body()
    main.processChanges()
    observation.cancel()
    return told
  }

  private func place(_ row: Int, _ section: Int = 0) -> ResultPlace {
    ResultPlace(section: section, row: row)
  }

  @Test("Results of objects are a collection, by the places of their rows")
  func collection() throws {
    let results = try main.results(Self.byName)
    let names = try results.elements().map { $0["name"] }
    #expect(names.count > 2)
    #expect(results.map { $0["name"] } == names)
    #expect(results.reversed().map { $0["name"] } == names.reversed())
    #expect(results[1]["name"] == names[1])
    #expect(results.first === results[0] && results.last === results[results.count - 1])
    #expect(results.indices == 0..<names.count)
    #expect(results[1...].map { $0["name"] } == Array(names[1...]))
    results[0]["count"] = 70
    #expect(results.first { $0["count"] == 70 } === results[0])
  }

  @Test("A loop ends with the rows that there were when it began")
  func loop() throws {
    let results = try main.results(Self.byName)
    let count = results.count
    var seen = 0
    for object in results {
      seen += 1
      try main.delete(object)
      main.processChanges()
    }
    #expect(seen == count)
    #expect(results.isEmpty && results.first == nil)
  }

  @Test("Rows of a context that has ended read as null, and nothing ends the process")
  func ended() throws {
    let results = try main.results(Self.byName)
    let count = results.count
    try stack.close()
    #expect(results.map { $0["name"] } == Array(repeating: .null, count: count))
    #expect(results[0]["name"] == .null)
    #expect((main.recordedError as? ContextError)?.code == .stackClosed)
    #expect(throws: ContextError.self) { try results.object(at: count - 1).value(of: "name") }
  }

  @Test("A row that sorts elsewhere is one move, and an update, and nothing else")
  func move() throws {
    let results = try main.results(Self.byName)
    let a = try main.item("a")
    let told = try changes(of: results) { a["name"] = "cc" }
    #expect(
      told == [
        ResultDifference([
          .moved(a.objectID, from: place(0), to: place(2)), .updated(a.objectID, at: place(2)),
        ])
      ]
    )
    #expect(try results.elements().map { $0["name"] } == ["b", "c", "cc", "d"])
  }

  @Test("What is done in one turn is told at once, at its end")
  func batch() throws {
    let results = try main.results(Self.byName)
    let (b, d) = (try main.item("b"), try main.item("d"))
    let told = try changes(of: results) {
      try main.delete(b)
      d["count"] = 40
      try main.insert("Item")["name"] = "aa"
    }
    let new = results.snapshot.ids[1]
    #expect(
      told == [
        ResultDifference([
          .deleted(b.objectID, at: place(1)), .inserted(new, at: place(1)),
          .updated(d.objectID, at: place(3)),
        ])
      ]
    )
  }

  @Test("A row slides in at the limit when another one goes, and out when one comes")
  func limit() throws {
    var request = Self.byName
    request.limit = 2
    let results = try main.results(request)
    let (a, b, c) = (try main.item("a"), try main.item("b"), try main.item("c"))
    #expect(
      try changes(of: results) { try main.delete(a) } == [
        ResultDifference([
          .deleted(a.objectID, at: place(0)), .inserted(c.objectID, at: place(1)),
        ])
      ]
    )
    let told = try changes(of: results) { try main.insert("Item")["name"] = "0" }
    let new = results.snapshot.ids[0]
    #expect(
      told == [
        ResultDifference([.deleted(c.objectID, at: place(1)), .inserted(new, at: place(0))])
      ]
    )
    #expect(results.snapshot.ids == [new, b.objectID])
  }

  @Test("Sections come with their first row and go with their last one")
  func sections() throws {
    let results = try main.results(
      FetchRequest("Item", sortKeys: [SortKey("count"), SortKey("name")]),
      sectionedBy: "count"
    )
    let (a, b) = (try main.item("a"), try main.item("b"))
    #expect(results.snapshot.sections.map(\.value) == [1, 2, 3, 4])
    #expect(
      try changes(of: results) { a["count"] = 2 } == [
        ResultDifference([
          .moved(a.objectID, from: place(0, 0), to: place(0, 1)), .sectionDeleted(at: 0),
          .updated(a.objectID, at: place(0, 0)),
        ])
      ]
    )
    #expect(results.snapshot.ids(in: 0) == [a.objectID, b.objectID])
    #expect(
      try changes(of: results) { b["count"] = .null } == [
        ResultDifference([
          .sectionInserted(.null, at: 0),
          .moved(b.objectID, from: place(1, 1), to: place(0, 0)),
          .updated(b.objectID, at: place(0, 0)),
        ])
      ]
    )
  }

  @Test("A section under [c] is spelled as its first row spells it")
  func spelling() throws {
    try main.insert("Item")["name"] = "A"
    let results = try main.results(
      FetchRequest(
        "Item",
        sortKeys: [SortKey("name", options: .caseInsensitive), SortKey("count")]
      ),
      sectionedBy: "name"
    )
    #expect(results.snapshot.sections.map(\.value) == ["A", "b", "c", "d"])
    #expect(results.snapshot.sections.map(\.count) == [2, 1, 1, 1])
    let upper = try main.item("A")
    #expect(
      try changes(of: results) { upper["count"] = 9 } == [
        ResultDifference([
          .moved(upper.objectID, from: place(0), to: place(1)), .sectionUpdated("a", at: 0),
          .updated(upper.objectID, at: place(1)),
        ])
      ]
    )
  }

  @Test("Results that become empty, or cease to be, say so once")
  func emptiness() throws {
    let results = try main.results(
      FetchRequest("Item", filter: .where("count", .greaterThan, 3), sortKeys: [SortKey("name")])
    )
    let (c, d) = (try main.item("c"), try main.item("d"))
    var told = try changes(of: results) { d["count"] = 0 }
    told += try changes(of: results) { c["count"] = 7 }
    told += try changes(of: results) { d["count"] = 7 }
    #expect(told.map(\.emptiness) == [.becameEmpty, .becameFilled, nil])
  }

  @Test("Rollback, a child's save and a merge that is not stored yet arrive")
  func origins() async throws {
    let results = try main.results(Self.byName)
    let a = try main.item("a").objectID
    #expect(try changes(of: results) { try main.item("a")["name"] = "x" }.count == 1)
    let undone = try changes(of: results) { main.rollback() }
    #expect(
      undone == [
        ResultDifference([
          .moved(a, from: place(3), to: place(0)), .updated(a, at: place(0)),
        ])
      ]
    )
    var events = results.events().makeAsyncIterator()
    _ = try await events.next()
    try await stack.write { try $0.object(with: a)["name"] = "y" }
    guard case .difference(let saved) = try await events.next() else {
      Issue.record("no difference")
      return
    }
    #expect(saved.changes.first == .moved(a, from: place(0), to: place(3)))
    try await stack.write(until: .merged) { try $0.object(with: a)["name"] = "0" }
    guard case .difference(let merged) = try await events.next() else {
      Issue.record("no difference")
      return
    }
    #expect(merged.changes.first == .moved(a, from: place(3), to: place(0)))
  }

  @Test("An object that was changed and deleted is back in its place after a rollback")
  func changedAndDeleted() throws {
    let results = try main.results(Self.byName)
    let before = results.map(\.objectID)
    _ = try changes(of: results) {
      let item = try main.item("b")
      item["name"] = "z"
      try main.delete(item)
    }
    #expect(results.map(\.objectID) == before.filter { $0 != before[1] })
    _ = try changes(of: results) { main.rollback() }
    #expect(results.map(\.objectID) == before)
    #expect(try main.results(Self.byName).map(\.objectID) == before)
  }

  @Test("A change of an object that the order or the filter goes through arrives")
  func related() throws {
    let (box, other) = (try main.insert("Box"), try main.insert("Box"))
    box["name"] = "1"
    other["name"] = "2"
    let (a, b, c) = (try main.item("a"), try main.item("b"), try main.item("c"))
    a[one: "box"] = box
    b[one: "box"] = other
    c[one: "box"] = other
    let results = try main.results(
      FetchRequest(
        "Item",
        filter: try Filter(parsing: "box.name != '9' AND box != nil"),
        sortKeys: [SortKey("box.name")]
      )
    )
    #expect(results.snapshot.ids == [a.objectID, b.objectID, c.objectID])
    // The rows themselves are as they were.
    let moved = try changes(of: results) { box["name"] = "3" }
    #expect(moved.flatMap(\.changes).first == .moved(a.objectID, from: place(0), to: place(2)))
    #expect(try changes(of: results) { other["name"] = "9" }.count == 1)
    #expect(results.snapshot.ids == [a.objectID])
  }

  @Test("Another request moves what stays, and a faulty one changes nothing")
  func change() throws {
    let results = try main.results(Self.byName)
    let ids = results.snapshot.ids
    let told = try changes(of: results) {
      try results.change(
        FetchRequest(
          "Item",
          filter: .where("count", .lessThan, 4),
          sortKeys: [SortKey("name", ascending: false)]
        )
      )
    }
    #expect(results.snapshot.ids == [ids[2], ids[1], ids[0]])
    #expect(told.count == 1)
    let moves = told.flatMap(\.changes).filter { if case .moved = $0 { true } else { false } }
    #expect(moves.count == 2)
    let before = results.snapshot
    #expect(throws: StoreError.self) {
      try results.change(FetchRequest("Item", sortKeys: [SortKey("nmae")]))
    }
    #expect(throws: StoreError.self) { try results.change(FetchRequest("Box")) }
    #expect(results.snapshot == before)
    #expect(results.endReason == nil)
  }

  @MainActor
  @Test("What is stored, whatever is unsaved, is followed by results of the stack only")
  func storedOnly() async throws {
    let request = FetchRequest("Item").with { $0.includesPendingChanges = false }
    let error = #expect(throws: StoreError.self) { try stack.main.results(request) }
    #expect(error?.message.contains("unsaved changes") == true)
    _ = try await stack.results(request)
  }

  @Test(
    "A request that cannot be followed is refused by name",
    arguments: [
      (FetchRequest("Item", sortKeys: [SortKey("tags")]), nil, "tags leads to many values"),
      (FetchRequest("Item", sortKeys: [SortKey("tags.word")]), nil, "leads to many values"),
      (FetchRequest("Item", sortKeys: [SortKey("box")]), nil, "box is a relationship"),
      (FetchRequest("Item", sortKeys: [SortKey("nam")]), nil, "no attribute \"nam\""),
      (FetchRequest("Item", sortKeys: [SortKey("name")]), "count", "is not the first sort key"),
      (FetchRequest("Item"), "name", "is not the first sort key"),
      (FetchRequest("Item", offset: 1), nil, "no offset"),
      (FetchRequest("Item", columns: [.count()]), nil, "are objects"),
      (FetchRequest("Item", limit: -1), nil, "cannot be negative"),
    ] as [(FetchRequest, String?, String)]
  )
  func refused(request: FetchRequest, section: String?, words: String) async throws {
    let error = #expect(throws: StoreError.self) {
      try stack.main.results(request, sectionedBy: section)
    }
    #expect(error?.code == .badRequest)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    let other = stack
    let stored = await #expect(throws: StoreError.self) {
      try await other.results(request, sectionedBy: section)
    }
    #expect(stored?.message == error?.message)
  }

  @Test("Results end with the reason when the stack is reset")
  func reset() async throws {
    let results = try main.results(Self.byName)
    var observed: (any Error)?
    results.observe { event in if case .ended(let reason) = event { observed = reason } }
    let events = results.events()
    try stack.reset()
    #expect((await endReason(of: events) as? ContextError)?.code == .stackClosed)
    #expect((observed as? ContextError)?.code == .stackClosed)
    #expect((results.endReason as? ContextError)?.code == .stackClosed)
    #expect(try stack.main.results(Self.byName).isEmpty)
  }

  @Test("The sequence of results that are let go ends, and so does a cancelled one")
  func letGo() async throws {
    var results: FetchedResults<ManagedObject>? = try main.results(Self.byName)
    var events = results?.events().makeAsyncIterator()
    _ = try await events?.next()
    let sequence = try #require(results).events()
    let task = Task {
      var count = 0
      for try await _ in sequence { count += 1 }
      return count
    }
    results = nil
    #expect(try await events?.next() == nil)
    task.cancel()
    #expect(try await task.value <= 1)
  }

  @Test("A slow reader gets one difference that leads to what is there")
  func coalesced() async throws {
    let results = try main.results(Self.byName)
    var events = results.events().makeAsyncIterator()
    guard case .snapshot(let old) = try await events.next() else {
      Issue.record("no snapshot")
      return
    }
    let item = try main.item("a")
    for round in 0..<2_000 {
      item["name"] = .text("\(round % 7)")
      main.processChanges()
    }
    item["name"] = "zz"
    main.processChanges()
    guard case .difference(let difference) = try await events.next() else {
      Issue.record("no difference")
      return
    }
    #expect(old.applying(difference) == results.snapshot)
    // Of all the moves one is left, and an update.
    #expect(difference.changes.count == 2, "\(difference.changes.count)")
    item["name"] = "0"
    main.processChanges()
    item["name"] = "zz"
    main.processChanges()
    guard case .difference(let few) = try await events.next() else {
      Issue.record("no difference")
      return
    }
    #expect(few.changes == [.updated(item.objectID, at: place(3))])
  }

  @Test("Objects are read in batches around the one that is looked at")
  func batches() throws {
    var request = Self.byName
    request.batchSize = 2
    let results = try main.results(request)
    #expect(main.registeredCount(of: "Item") == 0)
    #expect(try results.object(at: 2)["name"] == "c")
    #expect(main.registeredCount(of: "Item") == 2)
    let names = try main.results(request) { try $0.value(of: "name") }
    #expect(try names.elements() == ["a", "b", "c", "d"])
    #expect(try names.element(at: place(1)) == "b")
  }

  @Test("A row costs at most 64 bytes beside its id and sort keys")
  func memory() throws {
    let count = 100_000
    var rows = ResultRows(width: 1)
    for key in 1...count {
      rows.append(Int64(key), version: 1, CollectionOfOne(.integer(Int64(key))))
    }
    let query = try ResultQuery(
      FetchRequest("Item", sortKeys: [SortKey("count")]),
      sectionedBy: nil,
      in: main.layout
    )
    let list = ResultList(rows, query.order, of: "Item")
    let own = count * (MemoryLayout<Int64>.stride + MemoryLayout<StoredValue>.stride)
    #expect(list.byteCount - own <= 64 * count, "\(list.byteCount - own)")
  }

  @Test("Links that saveMain has stored are no longer pending, though their owners were let go")
  func storedLinks() async throws {
    let (first, second) = (try main.insert("Box").objectID, try main.insert("Box").objectID)
    let tag = try main.insert("Tag").objectID
    try main.save()
    try main.item("a")[one: "box"] = try main.object(with: first)
    try main.item("a")[many: "tags"] = [try main.object(with: tag)]
    try await stack.saveMain()
    #expect(!main.hasChanges)
    let a = try main.item("a").objectID
    try await stack.write { context in
      let item = try context.object(with: a)
      item[one: "box"] = try context.object(with: second)
      item[many: "tags"] = []
    }
    try main.item("b")["name"] = "bb"
    let request = FetchRequest("Item", sortKeys: [SortKey("box.items.@count"), SortKey("name")])
    let results = try main.results(request)
    try main.save()
    #expect(results.snapshot == (try main.results(request).snapshot))
    #expect(try main.object(with: first).count(of: "items") == 0)
    #expect(try main.object(with: second).count(of: "items") == 1)
    #expect(try main.object(with: a).count(of: "tags") == 0)
  }

  @Test("What a child makes of links that are unsaved in main is what main saves")
  func childsLinks() async throws {
    let (first, second) = (try main.insert("Box"), try main.insert("Box"))
    let (x, y) = (try main.insert("Tag"), try main.insert("Tag"))
    let (moved, kept) = (try main.insert("Item"), try main.item("a"))
    try main.save()
    let new = try main.insert("Item")
    new[one: "box"] = first
    kept[many: "tags"] = [x]
    moved[one: "box"] = first
    let (one, two, item) = (new.objectID, second.objectID, kept.objectID)
    let tag = y.objectID
    try await stack.write { context in
      try context.object(with: one)[one: "box"] = try context.object(with: two)
      try context.object(with: item)[many: "tags"] = [try context.object(with: tag)]
    }
    await Task { @MainActor in }.value
    #expect(new[one: "box"] === second && kept[many: "tags"].map(\.objectID) == [y.objectID])
    #expect(
      first[many: "items"].map(\.objectID) == [moved.objectID]
        && second[many: "items"].map(\.objectID) == [new.objectID]
    )
    try main.save()
    #expect(
      first[many: "items"].map(\.objectID) == [moved.objectID]
        && second[many: "items"].map(\.objectID) == [new.objectID]
    )
    #expect(kept[many: "tags"].map(\.objectID) == [y.objectID] && x[many: "items"].isEmpty)
    let links = try stack.store.read { database in
      try Int64.fetchAll(database, sql: "SELECT target FROM Item_tags")
    }
    #expect(links == [tag.primaryKey])
  }

  @Test("What a child's save takes along is no longer pending after saveMain")
  func takenAlong() async throws {
    let box = try main.insert("Box")
    try main.save()
    let item = try main.insert("Item")
    item[one: "box"] = box
    let place = item.objectID
    try await stack.write { context in
      let tag = try context.insert("Tag")
      tag[many: "items"] = [try context.object(with: place)]
    }
    await Task { @MainActor in }.value
    box["name"] = "b"
    try await stack.saveMain()
    #expect(!main.hasChanges && stack.root.main.changes.isEmpty)
    #expect(box[many: "items"].map(\.objectID) == [place])
  }

  @Test("What a merge stores leaves main's other changes of the same list alone")
  func mergedLinks() async throws {
    let box = try main.insert("Box")
    let (a, b) = (try main.item("a"), try main.item("b"))
    (a[one: "box"], b[one: "box"]) = (box, box)
    let c = try main.item("c")
    try main.save()
    let (place, moved) = (box.objectID, c.objectID)
    a[one: "box"] = nil
    let tag = try main.insert("Tag")
    b[many: "tags"] = [tag]
    try await stack.write(until: .merged) { context in
      try context.object(with: moved)[one: "box"] = try context.object(with: place)
    }
    #expect(box[many: "items"].map(\.objectID) == [b.objectID, c.objectID])
    // Changed back while it is being stored.
    let version = c.version
    c[one: "box"] = nil
    try await wait { c.version != version }
    #expect(c.version > version)
    #expect(box[many: "items"].map(\.objectID) == [b.objectID])
    #expect(a[one: "box"] == nil && c[one: "box"] == nil)
    try main.save()
    #expect(box[many: "items"].map(\.objectID) == [b.objectID])
    let stored = try stack.store.read { database in
      try Int64.fetchAll(database, sql: "SELECT _pk FROM Item WHERE box IS NOT NULL")
    }
    #expect(stored == [b.objectID.primaryKey])
  }

  @Test("What is rolled back while it is being stored is shown as it was stored")
  func rolledBackTooLate() async throws {
    let results = try main.results(Self.byName)
    let a = try main.item("a")
    a["name"] = "z"
    async let save: Void = stack.saveMain()
    await Task.yield()
    main.rollback()
    try await save
    #expect(results.snapshot == (try main.results(Self.byName).snapshot))
    let stored = try stack.store.keys(
      FetchRequest("Item", filter: .where("name", .equalTo, .value(.string("z"))))
    )
    #expect(a["name"] == .text(stored.isEmpty ? "a" : "z"))
  }
}

extension ManagedObjectContext {
  /// How many objects of an entity are registered.
  fileprivate func registeredCount(of entity: String) -> Int {
    layout.entity(named: entity).map { identities[$0.tableIndex].count } ?? 0
  }
}
