import Foundation
import Testing

@testable import DragomanGraph

/// Main, its children and their children: who sees what, and when it is stored.
@Suite struct StackTests {
  private let stack: Stack

  init() throws { stack = try Stack(crm, at: .inMemory) }

  private let titles = FetchRequest("Song", sortKeys: [SortKey("title")])

  @MainActor
  @Test("Main's unsaved changes are seen by children made before and after, never the reverse")
  func visibility() async throws {
    let main = stack.main
    let song = try main.insert("Song")
    song["title"] = "a"
    let stack = stack
    let titles = titles
    let seen = try await stack.read { context in
      let before = try context.fetch(titles).map { $0["title"] }
      let unseen = try context.insert("Song")
      unseen["title"] = "child's own"
      return before
    }
    #expect(seen == ["a"])
    #expect(try main.fetch(titles).count == 1)
    let (signal, continuation) = AsyncStream<Void>.makeStream()
    let semaphore = DispatchSemaphore(value: 0)
    let child = Task {
      try await stack.read { context in
        let first = try context.count(titles)
        continuation.finish()
        semaphore.wait()
        return (first, try context.fetch(titles).map { $0["title"] })
      }
    }
    for await _ in signal {}
    try main.insert("Song")["title"] = "b"
    song["title"] = "c"
    semaphore.signal()
    let later = try await child.value
    #expect(later.0 == 1 && later.1 == ["b", "c"])
    #expect(try stack.sql("SELECT count(*) FROM Song") == ["0"])
  }

  @Test("Resets and closings of many threads leave one whole stack", arguments: [false, true])
  func resets(isFile: Bool) async throws {
    let folder = NSTemporaryDirectory() + "resets-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let stack = try Stack(crm, at: isFile ? .file(folder + "/s.db") : .inMemory)
    for round in 0..<5 {
      try await stack.write { context in try context.insert("Song")["title"] = "old" }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
          group.addTask { try await stack.run { try stack.reset() } }
          // Who comes in between finds a whole stack, or one that is closed.
          group.addTask {
            _ = try? await stack.write { context in try context.insert("Song")["title"] = "x" }
          }
        }
        try await group.waitForAll()
      }
      try stack.reset()
      #expect(try stack.sql("SELECT count(*) FROM Song") == ["0"], "round \(round)")
      try await stack.write { context in try context.insert("Song")["title"] = "new" }
      #expect(try stack.sql("SELECT title FROM Song") == ["new"])
    }
    try stack.close()
  }

  @MainActor @Test("An object of another stack is not unlinked, though one of its number is linked")
  func removesForeign() throws {
    let other = try Stack(crm, at: .inMemory)
    let (person, skill) = try (stack.main.insert("Person"), stack.main.insert("Skill"))
    try person.add(skill, to: "skills")
    let strange = try other.main.insert("Skill")
    #expect(strange.objectID == skill.objectID)
    let error = #expect(throws: ContextError.self) { try person.remove(strange, from: "skills") }
    #expect(error?.code == .foreignContext)
    #expect(try person.count(of: "skills") == 1)
  }

  @MainActor
  @Test(
    "What is asked of a stack that was reset or closed is refused",
    arguments: [false, true],
    [false, true]
  )
  func closed(isFile: Bool, isReset: Bool) async throws {
    let path = NSTemporaryDirectory() + "closed-\(UUID().uuidString).db"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let stack = try Stack(crm, at: isFile ? .file(path) : .inMemory)
    let (person, skill) = try (stack.main.insert("Person"), stack.main.insert("Skill"))
    try stack.main.save()
    let (main, store) = try (stack.main, stack.store)
    if isReset { try stack.reset() } else { try stack.close() }
    func code(_ body: () throws -> Void) -> ContextError.Code? {
      do {
        try body()
      } catch {
        return (error as? ContextError)?.code
      }
      return nil
    }
    #expect(code { _ = try person.targets(of: "skills") } == .stackClosed)
    #expect(code { _ = try person.count(of: "skills") } == .stackClosed)
    #expect(code { try person.add(skill, to: "skills") } == .stackClosed)
    #expect(code { _ = try main.fetch(FetchRequest("Person")) } == .stackClosed)
    #expect(code { try main.save() } == .stackClosed)
    #expect(throws: StoreError.self) { try store.count(FetchRequest("Person")) }
    #expect(throws: StoreError.self) { try store.grow(to: crm) }
    if !isReset {
      #expect(
        await contextCode { try await stack.read { try $0.count(FetchRequest("Person")) } }
          == .stackClosed
      )
      try stack.close()
    }
  }

  @Test(
    "Who reads and writes while a stack is reset is answered or refused",
    arguments: [false, true]
  )
  func busyResets(isFile: Bool) async throws {
    let path = NSTemporaryDirectory() + "busy-\(UUID().uuidString).db"
    let stack = try Stack(crm, at: isFile ? .file(path) : .inMemory)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        group.addTask {
          if number % 5 == 0 { return try await stack.run { try stack.reset() } }
          let people = FetchRequest("Person")
          let code = await contextCode {
            if number % 2 == 0 {
              _ = try await stack.read { context in try context.fetch(people).map { $0["name"] } }
            } else {
              _ = try await stack.write { context in try context.insert("Person")["name"] = "x" }
            }
          }
          #expect(code == nil || code == .stackClosed)
        }
      }
      try await group.waitForAll()
    }
    try stack.close()
    try? FileManager.default.removeItem(atPath: path)
  }

  @MainActor @Test("A child's save stores what it changed and what that refers to, nothing else")
  func dependencies() async throws {
    let main = stack.main
    let acme = try main.insert("Company")
    acme["name"] = "Acme"
    let form = try main.insert("Song")
    form["title"] = "half-edited"
    let id = acme.objectID
    try await stack.write { context in
      let person = try context.insert("Person")
      person[one: "company"] = try context.object(with: id)
    }
    #expect(try stack.sql("SELECT name FROM Company") == ["Acme"])
    #expect(try stack.sql("SELECT company FROM Person") == ["1"])
    #expect(try stack.sql("SELECT count(*) FROM Song") == ["0"])
    acme["city"] = "Bergen"
    try main.save()
    #expect(try stack.sql("SELECT name, city, _v FROM Company") == ["Acme|Bergen|2"])
    #expect(try stack.sql("SELECT title FROM Song") == ["half-edited"])
  }

  @MainActor @Test("What a child saved is what main's objects have next")
  func merging() async throws {
    let main = stack.main
    let song = try main.insert("Song")
    song["title"] = "a"
    try main.save()
    let id = song.objectID
    var notices = stack.changes().makeAsyncIterator()
    try await stack.write { context in
      try context.object(with: id)["title"] = "b"
      try context.insert("Song")["title"] = "new"
    }
    let notice = await notices.next()
    #expect(notice?.updated == [id: ["title"]])
    #expect(notice?.inserted.count == 1)
    // The merge is queued for the main actor: let it run.
    await Task.yield()
    while song["title"] == "a" { try await Task.sleep(for: .milliseconds(1)) }
    #expect(song["title"] == "b" && !song.hasChanges)
    try await stack.write { context in try context.delete(try context.object(with: id)) }
    while !song.isDeleted { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try main.fetch(titles).map { $0["title"] } == ["new"])
  }

  @MainActor
  @Test("Rows of groups are counted, also with what is unsaved", arguments: [true, false])
  func groups(isSaved: Bool) throws {
    let main = stack.main
    for title in ["a", "a", "b"] { try main.insert("Song")["title"] = .text(title) }
    if isSaved { try main.save() }
    let request = FetchRequest("Song", columns: ["title", .count()], groupBy: ["title"])
    #expect(try main.count(request) == 2)
    #expect(try main.count(request.with { $0.limit = 1 }) == 1)
    #expect(try main.count(FetchRequest("Song", columns: [.count()])) == 1)
    let distinct = FetchRequest("Song", columns: ["title"]).with { $0.isDistinct = true }
    #expect(try main.count(distinct) == 2)
    #expect(try main.dictionaries(distinct).count == 2)
  }

  @MainActor
  @Test(
    "A notice names the object that has a list, and of its members what they have themselves",
    arguments: [true, false]
  )
  func lists(ofMain: Bool) async throws {
    let main = stack.main
    let person = try main.insert("Person")
    for _ in 0..<2 {
      let phone = try main.insert("Phone")
      phone["number"] = "1"
      try person.add(phone, to: "phones")
    }
    try main.save()
    let (owner, phones) = (person.objectID, person[many: "phones"].map(\.objectID))
    var notices = (ofMain ? main.changes() : stack.changes()).makeAsyncIterator()
    try await stack.write { context in
      let person = try context.object(with: owner)
      person[many: "phones"] = person[many: "phones"].reversed()
    }
    let moved = try #require(await notices.next())
    #expect(moved.updated == [owner: ["phones"], phones[0]: [], phones[1]: []])
    try await stack.write { context in
      let phone = try context.object(with: phones[0])
      phone[one: "owner"] = nil
    }
    let left = try #require(await notices.next())
    #expect(left.updated[phones[0]] == ["owner"])
    #expect(left.updated[owner] == ["phones"])
    guard ofMain else { return }
    person[many: "phones"] = try main.objects(with: phones)
    let added = try #require(await notices.next())
    #expect(added.updated[owner] == ["phones"])
    #expect(phones.allSatisfy { added.updated[$0]?.contains("phones") != true })
  }

  @MainActor @Test("A merge leaves main's own unsaved changes alone")
  func unsavedChanges() async throws {
    let main = stack.main
    let person = try main.insert("Person")
    person["name"] = "a"
    person["age"] = 1
    try main.save()
    let id = person.objectID
    person["age"] = 2
    try await stack.write { context in try context.object(with: id)["name"] = "b" }
    await Task.yield()
    try main.save()
    #expect(try stack.sql("SELECT name, age FROM Person") == ["b|2"])
    #expect(person["name"] == "b" && person["age"] == 2)
  }

  @MainActor @Test("A merged write is visible in main at once and stored soon after")
  func merged() async throws {
    try await stack.write(until: .merged) { context in
      let person = try context.insert("Person")
      person["name"] = "a"
      person[many: "playlist"] = [try context.insert("Song")]
    }
    let people = try stack.main.fetch(FetchRequest("Person"))
    #expect(people.map { $0["name"] } == ["a"])
    #expect(people[0][many: "playlist"].count == 1)
    while stack.main.hasChanges { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try stack.sql("SELECT name FROM Person") == ["a"])
    #expect(try stack.sql("SELECT count(*) FROM Person_playlist") == ["1"])
    #expect(stack.backgroundErrors.isEmpty)
  }

  @MainActor
  @Test("Main is saved without waiting for the disk; what changes meanwhile stays unsaved")
  func savingMain() async throws {
    let main = stack.main
    let song = try main.insert("Song")
    song["title"] = "a"
    async let save: Void = stack.saveMain()
    try await save
    #expect(!song.hasChanges && song.rowVersion == 1)
    song["title"] = "b"
    try await stack.saveMain()
    #expect(try stack.sql("SELECT title, _v FROM Song") == ["b|2"])
    #expect(!main.hasChanges)
  }

  @Test("A grandchild's changes reach its parent, and the store with the parent's save")
  func nesting() async throws {
    let stack = stack
    let titles = titles
    try await stack.write { context in
      let song = try context.insert("Song")
      song["title"] = "parent"
      let id = song.objectID
      let seen = try context.nested { child in
        try child.object(with: id)["title"] = "changed"
        let own = try child.insert("Song")
        own["title"] = "grandchild"
        return try child.fetch(titles).map { $0["title"] }
      }
      #expect(seen == ["changed", "grandchild"])
      #expect(song["title"] == "changed")
      #expect(try context.fetch(titles).map { $0["title"] } == ["changed", "grandchild"])
      #expect(throws: CancellationError.self) {
        try context.nested { child in
          try child.object(with: id)["title"] = "dropped"
          throw CancellationError()
        }
      }
      #expect(song["title"] == "changed")
      #expect(try stack.sql("SELECT count(*) FROM Song") == ["0"])
    }
    #expect(try stack.sql("SELECT title FROM Song ORDER BY title") == ["changed", "grandchild"])
  }

  @Test("A grandchild can store its changes itself; its parent then knows of them")
  func savingGrandchild() async throws {
    let stack = stack
    try await stack.write { context in
      let song = try context.insert("Song")
      song["title"] = "a"
      let person = try context.insert("Person")
      person["name"] = "unsaved"
      let id = song.objectID
      try context.nested { child in
        let film = try child.insert("Film")
        film["title"] = "f"
        try child.object(with: id)["title"] = "b"
        try child.save()
      }
      #expect(try stack.sql("SELECT title FROM Song") == ["b"])
      #expect(try stack.sql("SELECT title FROM Document") == ["f"])
      #expect(try stack.sql("SELECT count(*) FROM Person") == ["0"])
      #expect(song["title"] == "b" && !song.hasChanges)
    }
    #expect(try stack.sql("SELECT count(*) FROM Person") == ["1"])
    #expect(try stack.sql("SELECT title, _v FROM Song") == ["b|1"])
  }

  @Test("A failed write is thrown, everything stays pending, and the next save works")
  func retry() async throws {
    let folder = NSTemporaryDirectory() + "stack-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/a.db"
    let options = SQLiteStore.Options(busyTimeout: .seconds(0))
    let stack = try Stack(crm, at: .file(path), options: options)
    let other = try SQLiteStore(at: .file(path), options: options)
    try await stack.write { context in
      let song = try context.insert("Song")
      song["title"] = "a"
      try other.write { session in
        try session.begin()
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(error?.code == .busy)
        #expect(song.isInserted && song["title"] == "a")
      }
      try context.save()
      #expect(!song.hasChanges)
    }
    #expect(try stack.sql("SELECT title FROM Song") == ["a"])
    try FileManager.default.removeItem(atPath: path)
    let error = await #expect(throws: StoreError.self) {
      try await stack.write { context in try context.insert("Song")["title"] = "b" }
    }
    #expect(error?.code == .missing)
  }

  @MainActor @Test("A context tells its observers once a turn what changed, and what others saved")
  func notices() async throws {
    let main = stack.main
    var notices = main.changes().makeAsyncIterator()
    let song = try main.insert("Song")
    song["title"] = "a"
    song["title"] = "b"
    let id = song.objectID
    #expect(await notices.next() == ChangeNotice(inserted: [id]))
    try main.save()
    song["title"] = "c"
    let person = try main.insert("Person")
    person[many: "playlist"] = [song]
    #expect(
      await notices.next()
        == ChangeNotice(inserted: [person.objectID], updated: [id: ["title"]])
    )
    main.rollback()
    let undone = await notices.next()
    #expect(undone?.deleted == [person.objectID])
    #expect(undone?.updated.keys.contains(id) == true)
    try await stack.write { context in try context.object(with: id)["title"] = "d" }
    #expect(await notices.next() == ChangeNotice(updated: [id: ["title"]]))
    #expect(song["title"] == "d")
  }

  @Test(
    "A stack opens a file that contradicts its model as the policy says, and tells what it did",
    arguments: [
      (.error, AttributeType.bool, nil), (.migrate, .bool, nil), (.migrate, .string, "12"),
      (.recreate, .string, "12"), (.recreate, .bool, "none"),
    ] as [(SQLiteStore.ConflictPolicy, AttributeType, String?)]
  )
  func conflict(
    policy: SQLiteStore.ConflictPolicy,
    type: AttributeType,
    stored: String?
  ) async throws {
    let folder = NSTemporaryDirectory() + "stack-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/a.db"
    let old = try Stack(Self.songs(.int32), at: .file(path))
    try await old.write { context in try context.insert("Song")["length"] = 12 }
    try old.close()
    guard let stored else {
      let error = #expect(throws: StoreError.self) {
        try Stack(Self.songs(type), at: .file(path), onConflict: policy)
      }
      #expect(error?.code == .modelConflict)
      return
    }
    let stack = try Stack(Self.songs(type), at: .file(path), onConflict: policy)
    let rows = try stack.sql("SELECT length FROM Song")
    if stored == "none" {
      #expect(rows == [] && stack.migration == nil)
      #expect(stack.recreation?.movedTo == path + ".old-1")
      #expect(FileManager.default.fileExists(atPath: path + ".old-1"))
    } else {
      #expect(rows == [stored] && stack.recreation == nil)
      #expect(
        stack.migration?.steps.map(\.sentence) == ["Convert Song.length from int32 to string."]
      )
    }
    try await stack.write { context in _ = try context.insert("Song") }
    try stack.close()
  }

  private static func songs(_ type: AttributeType) -> Model {
    Model(entities: [Entity(name: "Song", attributes: [Attribute(name: "length", type: type)])])
  }
}
