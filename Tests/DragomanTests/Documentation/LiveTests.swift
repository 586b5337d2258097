import Dragoman
import DragomanGraph
import Foundation
import Synchronization
import Testing

extension StoredValue {
  /// The value in so many columns.
  fileprivate func line(_ width: Int) -> String {
    let text =
      switch self {
      case .text(let text): text
      case .null: ""
      default: "\(self)"
      }
    return text.padding(toLength: width, withPad: " ", startingAt: 0)
  }
}

/// Runs the code of docs/live.md.
@MainActor
@Suite struct LiveTests {
  private let stack: Stack

  init() async throws {
    stack = try Stack(staff, at: .inMemory)
    try await Self.fill(stack)
  }

  private nonisolated static func fill(_ stack: Stack) async throws {
    try await stack.write { context in
      for (name, salary) in [("Panchal", "118000.50"), ("Smith", "132000"), ("Adams", "95000")] {
        let person = try context.insert("Person")
        person["lastName"] = .text(name)
        person["salary"] = .text(salary)
      }
    }
  }

  private nonisolated static func person(_ name: String, in context: ManagedObjectContext) throws
    -> ManagedObject
  {
    let filter = Filter.where("lastName", .equalTo, .value(.string(name)))
    return try #require(try context.fetchOne(FetchRequest("Person", filter: filter)))
  }

  @Test("Results of main")
  func main() async throws {
    // docs: begin main
    let people = try stack.main.results(
      FetchRequest(
        "Person",
        filter: try Filter(parsing: "salary > 90000"),
        sortKeys: [SortKey("lastName")]
      )
    )
    let count = people.count  // 3
    let name = try people.object(at: 0)["lastName"]  // "Adams"
    // docs: end
    #expect(count == 3 && name == "Adams")
    var printed: [String] = []
    func print(_ text: String) { printed.append(text) }
    // docs: begin observe
    people.observe { event in
      switch event {
      case .snapshot(let snapshot): print("\(snapshot.count) people")
      case .difference(let difference):
        for change in difference.changes { print("\(change)") }
      case .ended(let reason): print("\(reason)")
      }
    }
    // docs: end
    try Self.person("Adams", in: stack.main)["lastName"] = "Quine"
    stack.main.processChanges()
    #expect(printed.count == 3 && printed[0] == "3 people")
    // docs: begin change
    var request = people.request
    request.sortKeys = [SortKey("salary", ascending: false)]
    try people.change(request)  // tells which rows moved
    // docs: end
    #expect(try people.elements().map { $0["lastName"] } == ["Smith", "Panchal", "Quine"])
  }

  @Test("Results anywhere")
  func stored() async throws {
    var printed: [String] = []
    func print(_ text: String) { printed.append(text) }
    // docs: begin stored
    let names = try await stack.results(
      FetchRequest("Person", sortKeys: [SortKey("lastName")], limit: 2)
    ) { person in try person.value(of: "lastName") }
    let shown = try await names.elements(at: 0..<2)  // ["Adams", "Panchal"]

    for try await event in names.events() {
      guard case .difference(let difference) = event else {
        // First comes the snapshot; what happens from now on is a difference.
        try await stack.write { try $0.insert("Person")["lastName"] = "Bohr" }
        continue
      }
      for change in difference.changes { print("\(change)") }
      break
    }
    // docs: end
    #expect(shown == ["Adams", "Panchal"] && printed.count == 2)
    #expect(try await names.elements(at: 0..<9) == ["Adams", "Bohr"])
  }

  @Test("Sections")
  func sections() async throws {
    try await stack.write { context in
      for (name, city) in [("Acme", "Bergen"), ("Initech", "Oslo"), ("Globex", "Bergen")] {
        let company = try context.insert("Company")
        company["name"] = .text(name)
        company["city"] = .text(city)
      }
    }
    var printed: [String] = []
    func print(_ text: String) { printed.append(text) }
    // docs: begin sections
    let companies = try stack.main.results(
      FetchRequest("Company", sortKeys: [SortKey("city"), SortKey("name")]),
      sectionedBy: "city"
    )
    for (number, section) in companies.snapshot.sections.enumerated() {
      print("\(section.value): \(companies.snapshot.ids(in: number).count)")
    }
    // docs: end
    #expect(printed == ["text(\"Bergen\"): 2", "text(\"Oslo\"): 1"])
  }

  @Test("Pages")
  func pages() async throws {
    // docs: begin pages
    let pages = try stack.pages(
      FetchRequest("Person", sortKeys: [SortKey("lastName")]),
      options: PageOptions(size: 2, prefetchDistance: 1)
    ) { person in try person.value(of: "lastName") }
    let events = await pages.events()
    try await pages.loadNext()
    let names = await pages.elements  // ["Adams", "Panchal"]
    await pages.didShow(1)  // one row from the end: the next page is fetched
    for await event in events {
      if case .appended(let names, _) = event, names == ["Smith"] { break }
      if case .failed(let error, _) = event { throw error }
    }
    let hasMore = await pages.hasNext  // false
    // docs: end
    #expect(names == ["Adams", "Panchal"] && !hasMore)
    #expect(await pages.elements == ["Adams", "Panchal", "Smith"])
  }

  @Test("Plain arrays")
  func arrays() throws {
    let people = try stack.main.results(
      FetchRequest("Person", sortKeys: [SortKey("lastName")])
    )
    let adams = try Self.person("Adams", in: stack.main)
    // docs: begin arrays
    let before = people.snapshot
    adams["lastName"] = "Quine"
    stack.main.processChanges()  // at once; otherwise at the end of the turn
    let difference = people.snapshot.collectionDifference(from: before)
    let ids = before.ids.applying(difference)  // people.snapshot.ids
    // docs: end
    #expect(ids == people.snapshot.ids && difference.count == 2)
  }

  @Test("The terminal's table is drawn again at each change, until the stack is closed")
  func terminal() async throws {
    let stack = stack
    let (frames, frame) = AsyncStream<String>.makeStream()
    let task = Task.detached {
      let request = FetchRequest("Person", sortKeys: [SortKey("lastName")], limit: 2)
      try await show(request, of: stack) { frame.yield($0) }
    }
    var shown = frames.makeAsyncIterator()
    #expect(
      await shown.next()
        == "\u{1B}[H\u{1B}[J  Adams         95000.00  \n  Panchal       118000.50 "
    )
    try await stack.write { try Self.person("Smith", in: $0)["lastName"] = "Bo" }
    #expect(
      await shown.next()
        == "\u{1B}[H\u{1B}[J  Adams         95000.00  \n* Bo            132000.00 "
    )
    try stack.close()
    let error = await #expect(throws: ContextError.self) { try await task.value }
    #expect(error?.code == .stackClosed)
  }
}

// docs: begin terminal
/// A table in a terminal: the rows that it shows, and which of them changed last.
struct TerminalTable: ResultAdapter {
  var rows: [ObjectID] = []
  var changed: Set<ObjectID> = []

  mutating func reload(_ snapshot: ResultSnapshot) { rows = snapshot.ids }
  mutating func willChange() { changed = [] }
  mutating func insert(_ id: ObjectID, at place: ResultPlace) {
    rows.insert(id, at: place.row)
    changed.insert(id)
  }
  mutating func delete(_ id: ObjectID, at place: ResultPlace) { rows.remove(at: place.row) }
  mutating func move(_ id: ObjectID, from: ResultPlace, to: ResultPlace) {
    rows.insert(rows.remove(at: from.row), at: to.row)
  }
  mutating func update(_ id: ObjectID, at place: ResultPlace) { changed.insert(id) }
}

func show(_ request: FetchRequest, of stack: Stack, print: (String) -> Void) async throws {
  let people = try await stack.results(request) { person in
    person["lastName"].line(14) + person["salary"].line(10)
  }
  var table = TerminalTable()
  for try await event in people.events() {
    table.show(event)
    let lines = try await people.elements(of: table.rows)
    let text = table.rows.map { (table.changed.contains($0) ? "* " : "  ") + (lines[$0] ?? "") }
    print("\u{1B}[H\u{1B}[J" + text.joined(separator: "\n"))  // to the corner, and clear
  }
}
// docs: end
