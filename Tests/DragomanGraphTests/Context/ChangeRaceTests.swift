import Foundation
import GRDB
import Testing

@testable import DragomanGraph

/// What happens on other threads between two looks, and what many changes cost.
@MainActor
@Suite struct ChangeRaceTests {
  private let stack: Stack

  init() throws { stack = try Stack(crm, at: .inMemory) }

  @Test("What is unlinked while the link is being stored is unlinked", arguments: [true, false])
  func unlinked(isListed: Bool) async throws {
    let (entity, name) = isListed ? ("Song", "playlist") : ("Skill", "skills")
    let (person, target) = (try stack.main.insert("Person"), try stack.main.insert(entity))
    try stack.main.save()
    for round in 1...150 {
      try person.add(target, to: name)
      let saving = Task { try await stack.saveMain() }
      await Task.yield()
      usleep(UInt32(round % 30) * 25)
      try person.remove(target, from: name)
      try await saving.value
      try stack.main.save()
      #expect(try stack.sql("SELECT count(*) FROM Person_\(name)") == ["0"], "\(round)")
      guard person[many: name].isEmpty else { return }
    }
  }

  @Test("Nothing is unsaved after a rollback, whoever stores a part of it meanwhile")
  func rolledBack() async throws {
    let main = stack.main
    let stack = stack
    for round in 0..<40 {
      let company = try main.insert("Company")
      company["name"] = .text("\(round)")
      let acme = company.objectID
      let writing = Task.detached {
        try await stack.write { context in
          for _ in 0..<300 {
            try context.insert("Person")[one: "company"] = context.object(with: acme)
          }
        }
      }
      usleep(UInt32(round) * 500)
      main.rollback()
      _ = try? await writing.value
      await Task { @MainActor in }.value
      #expect(!main.hasChanges, "\(round)")
    }
    try main.save()
  }

  @Test("Main inserts, and has first results, while an import keeps the store")
  func keys() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let stack = try Stack(crm, at: .file(folder.appending(path: "keys.db").path))
    for _ in 0..<400 { _ = try stack.main.insert("Song") }
    // Reserved behind the 500 of the opening.
    while try stack.sql("SELECT next FROM _dragoman_keys WHERE \"table\" = 'Song'") != ["1501"] {
      try await Task.sleep(for: .milliseconds(1))
    }
    let (begun, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let importing = Task.detached {
      try await stack.writeInOneTransaction { _ in
        begun.signal()
        _ = done.wait(timeout: .now() + 1800)
      }
    }
    let insert = {
      begun.wait()
      let start = ContinuousClock.now
      for _ in 0..<1000 { _ = try stack.main.insert("Song") }
      // First results come while the store is kept, too.
      #expect(try stack.main.results(FetchRequest("Song")).count == 1400)
      done.signal()
      return ContinuousClock.now - start
    }
    #expect(try insert() < .seconds(1700))
    try await importing.value
    try stack.main.save()
    #expect(try stack.sql("SELECT count(*), max(_pk) FROM Song") == ["1400|1400"])
    try stack.close()
  }

  /// What the thread has worked so far.
  private var work: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }

  @Test(
    "Ten times as many take about ten times as long",
    arguments: ["deleteAll", "clear", "assign"]
  )
  func cost(_ name: String) throws {
    var times: [Duration] = []
    for count in [1000, 10_000] {
      let stack = try Stack(crm, at: .inMemory)
      let main = stack.main
      let person = try main.insert("Person")
      let songs = try (0..<count).map { _ in try main.insert("Song") }
      person[many: "playlist"] = songs + songs
      let start = work
      switch name {
      case "deleteAll": for song in songs { try main.delete(song) }
      case "clear": person[many: "playlist"] = []
      default: person[many: "playlist"] = songs.reversed()
      }
      times.append(work - start)
      #expect(person[many: "playlist"].count == (name == "assign" ? count : 0))
    }
    #expect(times[1] < times[0] * 40, "\(times)")
  }

  @Test("A link between two orders says where its own ends stand, not all others")
  func places() async throws {
    let stack = try Stack(everyLink(.nullify), at: .inMemory)
    try await stack.write { context in
      let a = try context.insert("A")
      let all = try (0..<101).map { _ in try context.insert("B") }
      a[many: "tops"] = Array(all.dropLast())
    }
    await Task { @MainActor in }.value
    let a = try stack.main.object(with: id("A", 1))
    try a.add(stack.main.object(with: id("B", 101)), to: "tops")
    try stack.main.validate()
    #expect(stack.main.overlay.changes.links.places.count == 1)
    let notice = ChangeNotice(stack.main.overlay.changes, stack.root.layout)
    #expect(notice.updated == [id("A", 1): ["tops"], id("B", 101): ["bottoms"]])
    try stack.main.save()
    #expect(try stack.sql("SELECT max(position), count(*) FROM A_tops") == ["100|101"])
  }

  @Test("An import finds what main inserts while it runs")
  func keysAbove() async throws {
    let child = ManagedObjectContext(.background, root: stack.root)
    defer { child.close() }
    #expect(child.finder.beginImport())
    let company = try #require(stack.root.layout.entity(named: "Company"))
    let find = { try child.finder.find(company, company.uniqueKeys[0], ["Acme"]) }
    _ = try stack.main.insert("Company")
    #expect(try find() == nil)
    try stack.main.insert("Company")["name"] = "Acme"
    #expect(try find()?.place.key == 2)
  }

  @Test("What main deletes is gone for a child that has changed it")
  func deletedAbove() async throws {
    try await stack.write { context in
      let boss = try context.insert("Person")
      try context.insert("Person")[one: "manager"] = boss
    }
    await Task { @MainActor in }.value
    let child = ManagedObjectContext(.background, root: stack.root)
    defer { child.close() }
    let (boss, person) = (
      try child.object(with: id("Person", 1)), try child.object(with: id("Person", 2))
    )
    boss["age"] = 50
    #expect(person[one: "manager"] != nil)
    try stack.main.delete(stack.main.object(with: id("Person", 1)))
    #expect(person[one: "manager"] == nil)
    #expect(try child.fetch(FetchRequest("Person")).map(\.place.key) == [2])
  }

  @Test("A row of another branch of a family cannot be linked under a wrong name")
  func branches() async throws {
    let model = Model(entities: [
      Entity(
        name: "Shelf",
        attributes: [Attribute(name: "n")],
        relationships: [.toMany("books", "Book"), .toOne("best", "Book")]
      ),
      Entity(name: "Document", attributes: [Attribute(name: "title")]),
      Entity(name: "Book", attributes: [Attribute(name: "isbn")], parent: "Document"),
      Entity(name: "Film", attributes: [Attribute(name: "minutes")], parent: "Document"),
    ])
    let stack = try Stack(model, at: .inMemory)
    try await stack.write { context in
      for name in ["Film", "Book", "Shelf"] { _ = try context.insert(name) }
    }
    let main = stack.main
    let shelf = try main.object(with: id("Shelf", 1))
    let (film, book) = (try main.object(with: id("Book", 1)), try main.object(with: id("Book", 2)))
    let error = contextError { try shelf.add(film, to: "books") }
    #expect(error?.code == .type)
    try shelf.add(book, to: "books")
    shelf[one: "best"] = book
    try main.save()
  }
}
