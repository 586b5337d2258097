import GRDB
import Testing

@testable import DragomanGraph

/// What others store while a context has changes or holds objects: nothing is lost, nothing comes back.
@MainActor
@Suite struct SharedChangesTests {
  private let stack: Stack

  init() throws { stack = try Stack(crm, at: .inMemory) }

  private func make(_ body: @escaping @Sendable (ManagedObjectContext) throws -> Void) async throws
  {
    try await stack.write(body)
    await turn()
  }

  /// What was sent to main is there afterwards.
  private func turn() async { await Task { @MainActor in }.value }

  private func object(_ entity: String, _ key: Int64) throws -> ManagedObject {
    try stack.main.object(with: id(entity, key))
  }

  // MARK: - Own saves

  @Test("What a deletion clears in other rows is no change of others", arguments: [0, 1, 2])
  func ownDeletion(then: Int) async throws {
    let main = stack.main
    let (boss, other, person) = (
      try main.insert("Person"), try main.insert("Person"), try main.insert("Person")
    )
    person[one: "manager"] = boss
    try main.save()
    try main.delete(boss)
    try main.save()
    #expect(person[one: "manager"] == nil && person.rowVersion == 2)
    switch then {
    case 0: person[one: "manager"] = other
    case 1:
      main.mergePolicy = .overwrite
      person["name"] = "x"
    default: try main.delete(person)
    }
    try main.save()
    let stored = ["2", "-"].prefix(then == 2 ? 0 : 1)
    #expect(
      try stack.sql("SELECT manager FROM Person WHERE _pk = 3")
        == (then == 1 ? ["-"] : Array(stored))
    )
  }

  @Test(
    "Unsaved links of an owner that a background write deletes go with it, and main saves",
    arguments: [
      "only", "kids", "rows", "wife", "tags", "path", "songs", "clubs", "ranks", "tops", "friends",
      "pairs",
    ],
    [false, true]
  )
  func deletedOwner(link: String, hasOther: Bool) async throws {
    let stack = try Stack(everyLink(.nullify), at: .inMemory)
    try await stack.write { context in
      for _ in 0..<2 { _ = try (context.insert("A"), context.insert("B")) }
    }
    await turn()
    let main = stack.main
    let (owner, other) = try (main.object(with: id("A", 1)), main.object(with: id("A", 2)))
    let target = try main.object(with: id(link == "friends" ? "A" : "B", link == "friends" ? 2 : 1))
    _ = (owner["n"], other["n"], target["n"])
    if ["only", "wife"].contains(link) {
      owner[one: link] = target
    } else {
      owner[many: link] = [target]
    }
    if hasOther { target["n"] = 7 }
    try await stack.write { try $0.delete($0.object(with: id("A", 1))) }
    await turn()
    #expect(try main.existingObject(with: id("A", 1)) == nil && owner.isDeleted)
    try main.save()
    #expect(!main.hasChanges)
    #expect(try stack.sql("SELECT _pk FROM A") == ["2"])
    if hasOther {
      let table = target.objectID.entity
      #expect(
        try stack.sql("SELECT n FROM \(table) WHERE _pk = \(target.objectID.primaryKey)") == ["7"]
      )
    }
    for list in ["tags", "path", "songs", "clubs", "ranks", "tops", "friends", "pairs"] {
      #expect(try stack.sql("SELECT * FROM A_\(list)") == [])
    }
    #expect(try stack.sql("SELECT count(parent), count(sheet) FROM B") == ["0|0"])
  }

  @Test("A value that main has changed of it is a conflict")
  func changedOwner() async throws {
    try await make { _ = try ($0.insert("Person"), $0.insert("Skill")) }
    let person = try object("Person", 1)
    person["name"] = "x"
    try person.add(object("Skill", 1), to: "skills")
    try await make { try $0.delete($0.object(with: id("Person", 1))) }
    let fault = #expect(throws: ContextError.self) { try stack.main.save() }
    #expect(fault?.code == .conflict, "\(String(describing: fault))")
  }

  @Test("Those who listen hear of what a deletion cleared")
  func clearedNotice() async throws {
    try await make { context in
      let boss = try context.insert("Person")
      try context.insert("Person")[one: "manager"] = boss
    }
    var changes = stack.changes().makeAsyncIterator()
    try await make { try $0.delete($0.object(with: id("Person", 1))) }
    let notice = try #require(await changes.next())
    #expect(notice.deleted == [id("Person", 1)])
    #expect(notice.updated == [id("Person", 2): ["manager"]])
  }

  @Test("What was taken back while it was stored is a change of what is stored", arguments: [0, 1])
  func takenBack(then: Int) async throws {
    let person = try stack.main.insert("Person")
    person["name"] = "a"
    try stack.main.save()
    person["name"] = "b"
    let stack = stack
    let settles = stack.root.main.settles
    let saving = Task { try await stack.saveMain() }
    await Task.yield()
    person["name"] = "a"
    // Main's turn does not end until it is stored.
    while try stack.sql("SELECT name FROM Person") != ["b"] {}
    while stack.root.main.settles == settles {}
    if then == 0 { person["name"] = "c" } else { try stack.main.delete(person) }
    try await saving.value
    try stack.main.save()
    #expect(try stack.sql("SELECT name FROM Person") == (then == 0 ? ["c"] : []))
  }

  @Test("What another thread has stored a moment ago is found by its key")
  func foundByKey() async throws {
    let person = try stack.main.insert("Person")
    person["ticket"] = "t"
    let stack = stack
    let settles = stack.root.main.settles
    let saving = Task { try await stack.saveMain() }
    await Task.yield()
    // Main's turn does not end until it is stored.
    while stack.root.main.settles == settles {}
    let entity = try #require(stack.root.layout.entity(named: "Person"))
    #expect(try stack.main.finder.find(entity, entity.uniqueKeys[0], [.text("t")]) === person)
    try await saving.value
    #expect(person["ticket"] == "t")
  }

  @Test("Objects that saveMain has stored share their rows' buffers")
  func buffers() async throws {
    let songs = try (0..<2000).map { _ in try stack.main.insert("Song") }
    for (n, song) in songs.enumerated() { song["title"] = .text("\(n)") }
    try await stack.saveMain()
    let buffers = Set(
      songs.compactMap { song in
        if case .row(let row) = song.content { ObjectIdentifier(row.buffer) } else { nil }
      }
    )
    #expect(buffers.count < 20)
    #expect(songs.last?["title"] == "1999")
  }

  // MARK: - Imports

  @Test("What main has inserted goes with the first batch that refers to it, once")
  func batches() async throws {
    let company = try stack.main.insert("Company")
    company["name"] = "Acme"
    let acme = company.objectID
    try await stack.writeInOneTransaction { context in
      for _ in 0..<2 {
        let person = try context.insert("Person")
        person[one: "company"] = try context.object(with: acme)
        try context.nested { child in
          try child.insert("Person")[one: "company"] = child.object(with: acme)
          try child.save()
        }
        try context.records.flush()
      }
    }
    await turn()
    #expect(try stack.sql("SELECT count(*) FROM Person WHERE company = 1") == ["4"])
    #expect(try stack.sql("SELECT name, _v FROM Company") == ["Acme|1"])
    #expect(!stack.main.hasChanges && company[many: "employees"].count == 4)
    company["city"] = "Bergen"
    try stack.main.save()
  }

  @Test("What main changes of it between the batches stays unsaved")
  func betweenBatches() async throws {
    let company = try stack.main.insert("Company")
    company["name"] = "Acme"
    let acme = company.objectID
    let stack = stack
    try await stack.writeInOneTransaction { context in
      for n in 0..<3 {
        let person = try context.insert("Person")
        let company = try context.object(with: acme)
        person[one: "company"] = company
        if n == 2 { company["city"] = "Bergen" }
        try context.records.flush()
        if n == 0 {
          stack.root.main.change { [layout = stack.root.layout] changes in
            let place = RowKey(table: layout.entity(named: "Company")?.tableIndex ?? 0, key: 1)
            var change = changes[place] ?? RowChange(.updated, 0)
            change.values[0] = "Beta"
            changes.set(change, at: place, layout)
          }
        }
      }
    }
    await turn()
    #expect(try stack.sql("SELECT name, city FROM Company") == ["Acme|Bergen"])
    #expect(company["name"] == "Beta" && company.isUpdated)
    try stack.main.save()
    #expect(try stack.sql("SELECT name, city FROM Company") == ["Beta|Bergen"])
  }

  @Test("A nested context inserts as much as it likes while an import runs")
  func nestedInsertions() async throws {
    try await stack.writeInOneTransaction { context in
      try context.nested { child in
        for _ in 0..<1100 { _ = try child.insert("Song") }
      }
    }
    #expect(try stack.sql("SELECT count(*) FROM Song") == ["1100"])
  }

  // MARK: - Children and main

  @Test("A child's save leaves main's changes of the same list alone")
  func sameList() async throws {
    try await make { context in
      let person = try context.insert("Person")
      person[many: "playlist"] = [try context.insert("Song")]
      for _ in 0..<2 { _ = try context.insert("Song") }
    }
    let child = ManagedObjectContext(.background, root: stack.root)
    defer { child.close() }
    try child.object(with: id("Person", 1)).add(child.object(with: id("Song", 2)), to: "playlist")
    let person = try object("Person", 1)
    try person.add(object("Song", 3), to: "playlist")
    try child.save()
    await turn()
    let list = "SELECT target FROM Person_playlist ORDER BY position"
    #expect(try stack.sql(list) == ["1", "2"])
    #expect(person[many: "playlist"].map(\.place.key) == [1, 3, 2])
    try stack.main.save()
    #expect(try stack.sql(list) == ["1", "3", "2"])
  }

  @Test("A child that adds to a list does not store what main has added to it", arguments: [0, 1])
  func pendingList(ends: Int) async throws {
    try await make { context in
      let person = try context.insert("Person")
      person[many: "playlist"] = [try context.insert("Song")]
      _ = try context.insert("Song")
    }
    let person = try object("Person", 1)
    let song = try stack.main.insert("Song")
    try person.add(song, to: "playlist")
    let added = song.objectID
    try await make { context in
      let person = try context.object(with: id("Person", 1))
      #expect(person[many: "playlist"].map(\.objectID) == [id("Song", 1), added])
      if ends == 0 { try person.add(context.object(with: id("Song", 2)), to: "playlist") }
      if ends == 1 { try person.remove(context.object(with: id("Song", 1)), from: "playlist") }
    }
    let list = "SELECT target FROM Person_playlist ORDER BY position"
    #expect(try stack.sql(list) == (ends == 0 ? ["1", "2"] : []))
    #expect(try stack.sql("SELECT count(*) FROM Song") == ["2"])
    #expect(song.isInserted)
    try stack.main.save()
    #expect(try stack.sql(list) == (ends == 0 ? ["1", "3", "2"] : ["3"]))
  }

  @Test("A child's save leaves what main has linked or unlinked alone", arguments: [false, true])
  func samePair(isLinked: Bool) async throws {
    try await make { context in
      let person = try context.insert("Person")
      let skill = try context.insert("Skill")
      if isLinked { person[many: "skills"] = [skill] }
    }
    let child = ManagedObjectContext(.background, root: stack.root)
    defer { child.close() }
    let theirs = (try child.object(with: id("Person", 1)), try child.object(with: id("Skill", 1)))
    try theirs.0.add(theirs.1, to: "skills")
    theirs.0["name"] = "x"
    let (person, skill) = (try object("Person", 1), try object("Skill", 1))
    if isLinked {
      try person.remove(skill, from: "skills")
    } else {
      try person.add(skill, to: "skills")
    }
    try child.save()
    await turn()
    try stack.main.save()
    #expect(
      try stack.sql("SELECT count(*) FROM Person_skills") == [isLinked ? "0" : "1"]
    )
  }

  @Test("Two contexts, or two processes, that change one list lose nothing", arguments: [0, 1, 2])
  func listOfTwo(case number: Int) async throws {
    try await make { context in
      let person = try context.insert("Person")
      let songs = try (0..<3).map { _ in try context.insert("Song") }
      person[many: "playlist"] = number == 2 ? songs : Array(songs.prefix(1))
    }
    let stack = stack
    let code = await contextCode {
      try await stack.write { context in
        let person = try context.object(with: id("Person", 1))
        if number == 2 {
          person[many: "playlist"] = [2, 1, 3].map { person[many: "playlist"][$0 - 1] }
        } else {
          try person.add(context.object(with: id("Song", 2)), to: "playlist")
        }
        switch number {
        case 0:
          try stack.elsewhere(
            "INSERT INTO Person_playlist (owner, position, target) VALUES (1, 1, 3)",
            "UPDATE Person SET _v = _v + 1"
          )
        case 1: try stack.elsewhere("DELETE FROM Person_playlist", "UPDATE Person SET _v = _v + 1")
        default:
          try stack.elsewhere(
            "UPDATE Person_playlist SET position = position + 10",
            "UPDATE Person_playlist SET position = CASE target WHEN 1 THEN 0 WHEN 2 THEN 2 ELSE 1 END",
            "UPDATE Person SET _v = _v + 1"
          )
        }
      }
    }
    #expect(code == (number == 2 ? .conflict : nil))
    #expect(
      try stack.sql("SELECT target FROM Person_playlist ORDER BY position")
        == [["1", "3", "2"], ["2"], ["1", "3", "2"]][number]
    )
  }

  @Test("What main saves while a child is open stays in the child's view")
  func savedAbove() async throws {
    try await make { context in
      let acme = try context.insert("Company")
      acme["name"] = "acme"
      for name in ["a", "b", "c"] {
        let person = try context.insert("Person")
        person["name"] = .text(name)
        person[one: "company"] = acme
      }
      try context.insert("Person")[one: "manager"] = context.object(with: id("Person", 2))
    }
    let child = ManagedObjectContext(.background, root: stack.root)
    defer { child.close() }
    let acme = try child.object(with: id("Company", 1))
    let people = try (1...3).map { try child.object(with: id("Person", $0)) }
    #expect(people.map { $0["name"] } == ["a", "b", "c"] && acme[many: "employees"].count == 3)
    let led = try child.object(with: id("Person", 4))
    #expect(led[one: "manager"] != nil)
    people[2]["age"] = 3
    try object("Person", 1)["name"] = "later"
    try object("Person", 3)["name"] = "last"
    try stack.main.insert("Person")[one: "company"] = object("Company", 1)
    try stack.main.delete(object("Person", 2))
    for _ in 0..<2 {
      #expect(people[0]["name"] == "later" && people[2]["name"] == "last")
      #expect(acme[many: "employees"].map(\.place.key) == [1, 3, 5])
      #expect(led[one: "manager"] == nil)
      #expect(try child.existingObject(with: id("Person", 2)) == nil)
      try stack.main.save()
    }
    // What main had and the child saw is no conflict, what it did not see is one.
    people[2]["name"] = "child"
    try child.save()
    #expect(try stack.sql("SELECT name, age FROM Person WHERE _pk = 3") == ["child|3"])
  }

  @Test("A child's deletion takes main's unsaved links to the object along", arguments: [0, 1, 2])
  func deletedBelow(kind: Int) async throws {
    try await make { context in
      for _ in 0..<2 { _ = try context.insert("Person") }
      _ = try context.insert("Song")
      _ = try context.insert("Skill")
    }
    let person = try object("Person", 2)
    switch kind {
    case 0: person[one: "manager"] = try object("Person", 1)
    case 1: try person.add(object("Song", 1), to: "playlist")
    default: try person.add(object("Skill", 1), to: "skills")
    }
    let doomed = id(["Person", "Song", "Skill"][kind], 1)
    try await make { try $0.delete($0.object(with: doomed)) }
    #expect(person[one: "manager"] == nil && person[many: "playlist"].isEmpty)
    #expect(person[many: "skills"].isEmpty)
    try stack.main.save()
    #expect(!stack.main.hasChanges)
  }

  @Test("Main's objects show what a child saved of other properties of a row that is changed here")
  func otherProperties() async throws {
    try await make { context in
      let boss = try context.insert("Person")
      let person = try context.insert("Person")
      person["name"] = "a"
      person[one: "manager"] = boss
    }
    let person = try object("Person", 2)
    person["name"] = "mine"
    try await make { context in
      try context.object(with: id("Person", 2))["age"] = 7
      try context.delete(context.object(with: id("Person", 1)))
    }
    #expect(person["age"] == 7 && person["name"] == "mine" && person[one: "manager"] == nil)
    try stack.main.save()
    #expect(try stack.sql("SELECT name, age, manager FROM Person") == ["mine|7|-"])
  }

  @Test("A nested child's save leaves its parent's other changes compared with what they were")
  func nestedSave() async throws {
    try await make { try $0.insert("Person")["name"] = "a" }
    let stack = stack
    let code = await contextCode {
      try await stack.write { context in
        let person = try context.object(with: id("Person", 1))
        person["name"] = "mine"
        try stack.elsewhere("UPDATE Person SET name = 'theirs', _v = _v + 1")
        try context.nested { child in
          try child.object(with: id("Person", 1))["age"] = 5
          try child.save()
        }
      }
    }
    #expect(code == .conflict)
    #expect(try stack.sql("SELECT name, age FROM Person") == ["theirs|5"])
  }

  @Test("A nested child's save is no conflict of its parent with itself")
  func nestedSaveAlone() async throws {
    try await make { try $0.insert("Person")["name"] = "a" }
    try await stack.write { context in
      let person = try context.object(with: id("Person", 1))
      person["name"] = "mine"
      try context.nested { child in
        let person = try child.object(with: id("Person", 1))
        person["age"] = 5
        person["code"] = "ab"
        try child.save()
      }
      #expect(person["age"] == 5 && person["name"] == "mine")
      person["age"] = 6
    }
    #expect(try stack.sql("SELECT name, age, code FROM Person") == ["mine|6|ab"])
  }
}
