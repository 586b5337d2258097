import Testing

@testable import DragomanGraph

/// What results find where others write, or hold a lock, while they look.
@MainActor
@Suite("Looks of results")
struct ResultLookTests {
  private let store: BusyStore
  private let root: RootContext
  private let main: ManagedObjectContext

  init() throws {
    let opening = try SQLiteStore.open(shop, at: .inMemory, onConflict: .error)
    store = BusyStore(opening.store)
    root = try RootContext(store, attachments: Attachments())
    main = ManagedObjectContext(.main, root: root)
  }

  /// Saves what a closure does in a context below main, as another thread does.
  private nonisolated static func write<T>(
    _ root: RootContext,
    _ body: (ManagedObjectContext) throws -> T
  ) throws -> T {
    let child = ManagedObjectContext(.background, root: root)
    defer { child.close() }
    let value = try body(child)
    try child.save()
    return value
  }

  @Test("An object that others delete while it is looked at leaves the list, which goes on")
  func gone() throws {
    let (item, box) = (try main.insert("Item"), try main.insert("Box"))
    item[one: "box"] = box
    try main.save()
    let request = FetchRequest("Item", sortKeys: [SortKey("box.name"), SortKey("count")])
    let live = try main.results(request, pollingEvery: nil)
    #expect(live.count == 1)
    item["name"] = "unsaved"
    main.refresh(box)
    let (root, main, id) = (root, main, item.objectID)
    store.afterNextRead = {
      try Self.write(root) { try $0.delete($0.object(with: id)) }
      main.refresh(item, keepingChanges: true)
      return true
    }
    main.processChanges()
    #expect(!store.takesNothing, "nothing was read")
    main.settling.takeNews()
    #expect(live.endReason == nil && live.isEmpty)
    try Self.write(root) { _ = try $0.insert("Item") }
    main.settling.takeNews()
    #expect(live.count == 1)
  }

  @Test("Main's results look again where somebody holds a lock")
  func lockedMain() throws {
    let live = try main.results(FetchRequest("Item"), pollingEvery: nil)
    try Self.write(root) { _ = try $0.insert("Item") }
    store.lockCount.withLock { $0 = 1 }
    main.settling.takeNews()
    #expect(live.endReason == nil && live.isEmpty)
    main.processChanges()
    #expect(live.count == 1)
  }

  @Test("Stored results look again where somebody holds a lock, and end with what stays")
  func lockedStore() async throws {
    let engine = StoredResultEngine(FetchRequest("Item"), store: store, layout: store.layout)
    try await engine.start(sectionedBy: nil) { _ in {} }
    let id = try Self.write(root) { try $0.insert("Item").objectID }
    store.lockCount.withLock { $0 = 1 }
    engine.take(ChangeNotice(inserted: [id]))
    try await wait { engine.snapshot.count == 1 || engine.endReason != nil }
    #expect(engine.endReason == nil && engine.snapshot.ids == [id])
    try store.close()
    engine.take(ChangeNotice(inserted: [id]))
    try await wait { engine.endReason != nil }
    #expect((engine.endReason as? StoreError)?.code == .refused)
  }

  @Test("Commits that wait for main are one difference")
  func joined() throws {
    let live = try main.results(FetchRequest("Item"), pollingEvery: nil)
    var told: [Int] = []
    live.observe { event in
      if case .difference(let difference) = event { told.append(difference.changes.count) }
    }
    for _ in 0..<3 { try Self.write(root) { _ = try $0.insert("Item") } }
    main.settling.takeNews()
    #expect(told == [3])
  }

  @Test("An object whose links are in columns of others is updated where they change")
  func relinked() async throws {
    let (item, box) = (try main.insert("Item"), try main.insert("Box"))
    try main.save()
    let ids = (item: item.objectID, box: box.objectID)
    let expected = [ResultChange.updated(ids.box, at: ResultPlace(section: 0, row: 0))]
    let live = try main.results(FetchRequest("Box"), pollingEvery: nil)
    let query = try ResultQuery(FetchRequest("Box"), sectionedBy: nil, in: root.layout)
    var stored = try ResultFeed(query, from: StoreResultSource(store: store))
    var told: [[ResultChange]] = []
    live.observe { event in
      if case .difference(let difference) = event { told.append(difference.changes) }
    }
    let notice = ChangeNotice(updated: [ids.item: ["box"], ids.box: ["items"]])
    for isLinked in [true, false] {
      try Self.write(root) { context in
        try context.object(with: ids.item)[one: "box"] =
          isLinked ? context.object(with: ids.box) : nil
      }
      main.settling.takeNews()
      #expect(try stored.take(notice).changes == expected)
    }
    item[one: "box"] = box
    main.processChanges()
    #expect(told == [expected, expected, expected])
    #expect(try stored.take(ChangeNotice(updated: [ids.box: ["name"]])).isEmpty)
  }

  @Test("A rollback is told by properties, other ends of links, and what is there again")
  func rolledBack() async throws {
    let (item, gone) = (try main.insert("Item"), try main.insert("Item"))
    let box = try main.insert("Box")
    try main.save()
    var notices = main.changes().makeAsyncIterator()
    item[one: "box"] = box
    try main.delete(gone)
    main.processChanges()
    #expect(await notices.next()?.deleted == [gone.objectID])
    main.rollback()
    let links: [ObjectID: Set<String>] = [item.objectID: ["box"], box.objectID: ["items"]]
    #expect(await notices.next() == ChangeNotice(inserted: [gone.objectID], updated: links))
    item["name"] = "new"
    main.processChanges()
    #expect(await notices.next() == ChangeNotice(updated: [item.objectID: ["name"]]))
    main.refresh(item)
    main.processChanges()
    #expect(await notices.next() == ChangeNotice(updated: [item.objectID: ["name"]]))
  }
}
