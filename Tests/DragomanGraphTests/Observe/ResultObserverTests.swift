import Foundation
import Testing

@testable import DragomanGraph

/// Closures that observe results of the main context, and change what they observe.
@MainActor
@Suite("Observers of fetched results")
struct ResultObserverTests {
  private let stack: Stack
  private var main: ManagedObjectContext { stack.main }

  init() throws { stack = try .withItems() }

  private static let byName = FetchRequest("Item", sortKeys: [SortKey("name")])

  @Test("What a closure changes when it gets the snapshot, it is told like all others")
  func changingObserver() throws {
    let results = try main.results(Self.byName)
    let a = try main.item("a")
    var first: [String] = []
    var second: [String] = []
    results.observe { event in first.append(event.word) }
    results.observe { [main] event in
      second.append(event.word)
      guard case .snapshot = event else { return }
      a["count"] = 9
      main.processChanges()
    }
    #expect(first == ["snapshot", "difference"])
    #expect(second == ["snapshot", "difference"])
  }

  @Test("Who begins to observe inside an event is told of nothing that its snapshot holds")
  func nestedObserver() throws {
    let results = try main.results(Self.byName)
    let (a, b) = (try main.item("a"), try main.item("b"))
    var inner: ResultSnapshot?
    var innerWords: [String] = []
    results.observe { [main] event in
      guard case .difference = event, inner == nil else { return }
      inner = results.snapshot
      b["name"] = "zz"
      main.processChanges()
      results.observe { event in
        innerWords.append(event.word)
        switch event {
        case .snapshot(let snapshot): inner = snapshot
        case .difference(let difference): inner = inner?.applying(difference)
        case .ended: break
        }
      }
    }
    a["name"] = "y"
    main.processChanges()
    #expect(innerWords == ["snapshot"])
    a["name"] = "x"
    main.processChanges()
    #expect(innerWords == ["snapshot", "difference"])
    #expect(inner == results.snapshot)
  }

  @Test("Who is stopped by another one is told nothing more, not even of the same event")
  func stoppedObserver() throws {
    let results = try main.results(Self.byName)
    var second: ResultObservation?
    var words: [String] = []
    results.observe { event in
      if case .difference = event { second?.cancel() }
    }
    second = results.observe { event in words.append(event.word) }
    try main.item("a")["count"] = 9
    main.processChanges()
    #expect(words == ["snapshot"])
    #expect(second?.isCancelled == true)
  }

  @Test("Who stops himself is told nothing more, and what his closure holds is let go at once")
  func cancelled() throws {
    final class Held {}
    let results = try main.results(Self.byName)
    var words: [String] = []
    var held: Held? = Held()
    weak let trace = held
    let observation = results.observe { [held] event in
      _ = held
      words.append(event.word)
    }
    held = nil
    #expect(trace != nil)
    var own: ResultObservation?
    var ownWords: [String] = []
    own = results.observe { event in
      ownWords.append(event.word)
      if case .difference = event { own?.cancel() }
    }
    observation.cancel()
    observation.cancel()
    #expect(trace == nil)
    for count in 7...9 {
      try main.item("a")["count"] = .integer(Int64(count))
      main.processChanges()
    }
    #expect(words == ["snapshot"])
    #expect(ownWords == ["snapshot", "difference"])
  }

  @Test("A save of what was told is no event, nor is what others commit after it")
  func savedRows() async throws {
    let results = try main.results(Self.byName)
    var words: [String] = []
    results.observe { event in words.append(event.word) }
    for way in ["save", "saveMain"] {
      try main.insert("Item")["name"] = .text(way)
      try main.item("a")["count"] = .integer(Int64(way.count))
      main.processChanges()
      words = []
      if way == "save" { try main.save() } else { try await stack.saveMain() }
      stack.storeDidChange()
      for _ in 0..<20 { await Task.yield() }
      #expect(words == [], "\(way)")
    }
  }

  @Test("What came and went between two events is not among the results of anybody")
  func vanished() throws {
    let first = try main.results(Self.byName)
    let second = try main.results(Self.byName)
    var made: ManagedObject?
    first.observe { [main] event in
      guard case .difference = event, made == nil else { return }
      made = try? main.insert("Item")
    }
    try stack.store.write { session in
      try session.begin()
      try session.database.execute(sql: "UPDATE Item SET count = 77, _v = _v + 1 WHERE _pk = 1")
      try session.commit()
    }
    main.refresh(tables: Set(main.layout.tables.indices))
    // The second one was told later, and has met it.
    #expect(second.count == 5)
    try main.delete(#require(made))
    main.processChanges()
    #expect(second.snapshot.ids == first.snapshot.ids && second.count == 4)
  }

  @Test("Rows that are looked at again are read as all rows are, from the store or in memory")
  func storedRows() throws {
    let a = try main.item("a")
    #expect(a["count"] == 1)
    try stack.store.write { session in
      try session.begin()
      try session.database.execute(sql: "UPDATE Item SET name = 'x', _v = _v + 1 WHERE _pk < 3")
      try session.commit()
    }
    let query = try ResultQuery(Self.byName, sectionedBy: nil, in: main.layout)
    let source = ContextResultSource(context: main)
    func rows(_ part: ResultPart) throws -> [String] {
      let rows = try source.rows(part, of: query)
      return (0..<rows.count).map { "\(rows[$0].key) \(rows[$0].values)" }.sorted()
    }
    #expect(try rows(.keys([1, 2, 3, 4])) == rows(.all))
    // What is unsaved is looked at in memory, and nothing else is.
    try main.item("d")["name"] = "dd"
    #expect(try rows(.keys([1, 2, 3, 4])) == rows(.all))
  }

  @Test("Who is told second is told in order, though the first one changes objects when it is told")
  func reentrant() throws {
    let results = try main.results(Self.byName)
    let (a, b) = (try main.item("a"), try main.item("b"))
    results.observe { [main] event in
      guard case .difference = event, b["count"] != 9 else { return }
      b["count"] = 9
      main.processChanges()
    }
    var snapshot = ResultSnapshot(emptyOf: "Item")
    var updated: [ObjectID] = []
    results.observe { event in
      switch event {
      case .snapshot(let first): snapshot = first
      case .difference(let difference):
        snapshot = snapshot.applying(difference) ?? ResultSnapshot(emptyOf: "Item")
        for case .updated(let id, _) in difference.changes { updated.append(id) }
      case .ended: break
      }
    }
    a["name"] = "x"
    main.processChanges()
    #expect(snapshot == results.snapshot)
    #expect(updated == [a.objectID, b.objectID])
  }
}

extension ResultObserverTests {
  @Test("A closure that follows another request is told what that changes, once")
  func changingRequest() throws {
    let results = try main.results(Self.byName)
    var words: [String] = []
    results.observe { event in
      words.append(event.word)
      guard case .difference = event, words.count < 10 else { return }
      try? results.change(FetchRequest("Item", sortKeys: [SortKey("name", ascending: false)]))
    }
    try main.insert("Item")["name"] = "e"
    main.processChanges()
    #expect(words == ["snapshot", "difference", "difference"])
    #expect(results.map { $0["name"] } == ["e", "d", "c", "b", "a"])
  }
}

extension ResultEvent {
  /// What it is, in a word.
  fileprivate var word: String {
    switch self {
    case .snapshot: "snapshot"
    case .difference: "difference"
    case .ended: "ended"
    }
  }
}
