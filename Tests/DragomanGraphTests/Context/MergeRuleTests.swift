import Foundation
import GRDB
import Testing

@testable import DragomanGraph

/// What the merge policies do with links, and what is checked of what goes along.
@MainActor
@Suite struct MergeRuleTests {
  private let stack: Stack

  init() throws { stack = try Stack(crm, at: .inMemory) }

  private func make(_ body: @escaping @Sendable (ManagedObjectContext) throws -> Void) async throws
  {
    try await stack.write(body)
    await Task { @MainActor in }.value
  }

  private func object(_ entity: String, _ key: Int64) throws -> ManagedObject {
    try stack.main.object(with: id(entity, key))
  }

  @Test(
    "A target of a one-to-one has one owner, though two contexts give it to two",
    arguments: [MergePolicy.error, .storeTrumps, .objectTrumps, .overwrite, .rollback],
    [false, true]
  )
  func oneToOne(policy: MergePolicy, isNew: Bool) async throws {
    try await make { context in
      _ = try (context.insert("Person"), context.insert("Person"), context.insert("Desk"))
    }
    let desk = try object("Desk", 1)
    let ours = isNew ? try stack.main.insert("Person") : try object("Person", 1)
    try desk.setTarget(ours, of: "user")
    if isNew {
      try stack.elsewhere("UPDATE Person SET desk = 1, _v = _v + 1 WHERE _pk = 2")
    } else {
      try await make { context in
        let person = try context.object(with: id("Person", 2))
        try context.object(with: id("Desk", 1)).setTarget(person, of: "user")
      }
    }
    stack.main.mergePolicy = policy
    let key = ours.objectID.primaryKey
    if policy == .error {
      let error = #expect(throws: ContextError.self) { try stack.main.save() }
      #expect(error?.code == .conflict)
      #expect(error?.conflicts.first?.object == id("Desk", 1))
      #expect(error?.conflicts.first?.property == "user")
      #expect(error?.conflicts.map(\.ours).first == .integer(key))
      // Whoever reads what the conflict names again can save.
      for conflict in error?.conflicts ?? [] where conflict.object != ours.objectID || !isNew {
        stack.main.refresh(try stack.main.object(with: conflict.object))
      }
      if isNew { try stack.main.delete(ours) }
    }
    try stack.main.save()
    let owner = [.objectTrumps, .overwrite].contains(policy) ? key : 2
    #expect(try stack.sql("SELECT _pk FROM Person WHERE desk = 1") == ["\(owner)"])
    #expect(desk[one: "user"]?.objectID == id("Person", owner))
    let other = owner == 2 ? (isNew && policy == .error ? nil : ours) : try object("Person", 2)
    #expect(other?[one: "desk"] == nil)
    #expect(try object("Person", owner)[one: "desk"] === desk)
  }

  @Test(
    "What main has unsaved of a one-to-one is in nobody's way",
    arguments: [0, 1, 2],
    [true, false]
  )
  func oneToOneAbove(how: Int, saves: Bool) async throws {
    try await make { context in
      let person = try context.insert("Person")
      _ = try context.insert("Person")
      try person.setTarget(context.insert("Desk"), of: "desk")
    }
    let (first, desk) = (try object("Person", 1), try object("Desk", 1))
    switch how {
    case 0: try first.setTarget(nil, of: "desk")
    case 1: try stack.main.delete(first)
    default: try desk.setTarget(stack.main.insert("Person"), of: "user")
    }
    // With the book goes its author, whom main has not saved.
    try await make { context in
      if how == 2 {
        let author = try context.object(with: id("Desk", 1)).target(of: "user")
        try context.insert("Book").setTarget(author, of: "author")
      } else {
        let person = try context.object(with: id("Person", 2))
        try person.setTarget(context.object(with: id("Desk", 1)), of: "desk")
      }
    }
    let owner: Int64 = how == 2 ? 3 : 2
    #expect(try stack.sql("SELECT _pk FROM Person WHERE desk = 1") == ["\(owner)"])
    if saves { try stack.main.save() } else { stack.main.rollback() }
    #expect(try stack.sql("SELECT _pk FROM Person WHERE desk = 1") == ["\(owner)"])
    let isThere = try stack.sql("SELECT _pk FROM Person WHERE _pk = 1") == ["1"]
    #expect(isThere == (how != 1 || !saves))
    #expect(desk[one: "user"]?.objectID == id("Person", owner))
    #expect(
      try stack.main.fetch(FetchRequest("Person")).filter { $0[one: "desk"] === desk }.count == 1
    )
    try stack.main.save()
  }

  @Test("Somebody else takes two targets of an object that main deletes", arguments: [true, false])
  func twoOneToOnes(saves: Bool) async throws {
    let model = Model(entities: [
      Entity(
        name: "Owner",
        attributes: [Attribute(name: "n")],
        relationships: [
          .toOne("desk", "Desk", inverse: "user"), .toOne("locker", "Locker", inverse: "user"),
        ]
      ),
      Entity(
        name: "Desk",
        attributes: [],
        relationships: [.toOne("user", "Owner", inverse: "desk")]
      ),
      Entity(
        name: "Locker",
        attributes: [],
        relationships: [.toOne("user", "Owner", inverse: "locker")]
      ),
    ])
    let stack = try Stack(model, at: .inMemory)
    let (first, second) = try await stack.write { context in
      let (first, second) = try (context.insert("Owner"), context.insert("Owner"))
      try first.setTarget(context.insert("Desk"), of: "desk")
      try first.setTarget(context.insert("Locker"), of: "locker")
      return (first.objectID, second.objectID)
    }
    try stack.main.delete(stack.main.object(with: first))
    try await stack.write { context in
      let (old, new) = try (context.existingObject(with: first), context.object(with: second))
      #expect(old == nil)
      let (desk, locker) = try (
        #require(try context.fetch(FetchRequest("Desk")).first),
        #require(try context.fetch(FetchRequest("Locker")).first)
      )
      try new.setTarget(desk, of: "desk")
      try new.setTarget(locker, of: "locker")
    }
    if saves { try stack.main.save() } else { stack.main.rollback() }
    #expect(try stack.main.count(FetchRequest("Owner")) == (saves ? 1 : 2))
    let key = "\(second.primaryKey)"
    #expect(try stack.sql("SELECT _pk FROM Owner WHERE desk NOT NULL") == [key])
    #expect(try stack.sql("SELECT _pk FROM Owner WHERE locker NOT NULL") == [key])
    try stack.main.save()
  }

  @Test("Two who set the same attribute to the same value may both have counted up")
  func sameValue() async throws {
    try await make { try $0.insert("Person")["age"] = 1 }
    let person = try object("Person", 1)
    person["age"] = 2
    try stack.elsewhere("UPDATE Person SET age = 2, _v = _v + 1")
    let error = #expect(throws: ContextError.self) { try stack.main.save() }
    #expect(error?.code == .conflict && error?.conflicts.map(\.property) == ["age"])
    // The same target is no conflict.
    stack.main.rollback()
    try await make { try $0.insert("Company")["name"] = "Acme" }
    try person.setTarget(object("Company", 1), of: "company")
    try stack.elsewhere("UPDATE Person SET company = 1, _v = _v + 1")
    try stack.main.save()
    #expect(try stack.sql("SELECT company FROM Person") == ["1"])
  }

  @Test(
    "The links of a row whose changes the policy drops are dropped with them",
    arguments: [false, true],
    ["skills", "playlist"]
  )
  func dropped(isGone: Bool, list: String) async throws {
    try await make { context in
      _ = try context.insert("Person")
      _ = try context.insert("Skill")
      _ = try context.insert("Song")
    }
    let person = try object("Person", 1)
    _ = person["name"]
    try person.add(object(list == "skills" ? "Skill" : "Song", 1), to: list)
    try stack.elsewhere(
      isGone ? "DELETE FROM Person" : "UPDATE Person SET name = 'theirs', _v = _v + 1"
    )
    stack.main.mergePolicy = isGone ? .storeTrumps : .rollback
    try stack.main.save()
    #expect(try stack.sql("SELECT * FROM Person_\(list)") == [])
    if !isGone { #expect(person[many: list].isEmpty && person["name"] == "theirs") }
  }

  @Test(
    "An object whose row is gone is deleted, where the store wins over what was changed of it",
    arguments: [MergePolicy.storeTrumps, .rollback],
    [true, false]
  )
  func gone(policy: MergePolicy, isElsewhere: Bool) async throws {
    try await make { context in
      _ = try (context.insert("Person"), context.insert("Skill"))
    }
    let (person, skill) = (try object("Person", 1), try object("Skill", 1))
    person["name"] = "mine"
    skill["name"] = "mine"
    if isElsewhere {
      try stack.elsewhere("DELETE FROM Person")
    } else {
      try await stack.write { try $0.delete($0.object(with: id("Person", 1))) }
    }
    stack.main.mergePolicy = policy
    try stack.main.save()
    #expect(person.isDeleted && !person.hasChanges && !skill.isDeleted)
    #expect(try stack.main.existingObject(with: id("Person", 1)) == nil)
    // Reading it is no error of the next save.
    _ = person["name"]
    skill["name"] = "again"
    try stack.main.save()
    #expect(try stack.sql("SELECT name FROM Skill") == ["again"])
  }

  @Test(
    "Where the store wins, a link to what somebody deleted goes with it",
    arguments: [MergePolicy.storeTrumps, .rollback],
    [
      "only", "kids", "rows", "wife", "tags", "path", "songs", "clubs", "ranks", "tops", "parent",
      "husband", "fans", "bottoms",
    ]
  )
  func linksToGone(policy: MergePolicy, link: String) async throws {
    let stack = try Stack(everyLink(.nullify), at: .inMemory)
    try await stack.write { context in
      for _ in 0..<2 { _ = try (context.insert("A"), context.insert("B")) }
    }
    await Task { @MainActor in }.value
    let main = stack.main
    main.mergePolicy = policy
    let isBack = ["parent", "husband", "fans", "bottoms"].contains(link)
    let owner = try main.object(with: id(isBack ? "B" : "A", 1))
    let new = try main.insert(isBack ? "B" : "A")
    let (gone, there) = try (
      main.object(with: id(isBack ? "A" : "B", 1)), main.object(with: id(isBack ? "A" : "B", 2))
    )
    _ = (owner["n"], gone["n"], there["n"])
    let isToOne = ["only", "wife", "parent", "husband"].contains(link)
    if isToOne {
      owner[one: link] = gone
      new[one: link] = there
    } else {
      owner[many: link] = [there, gone]
    }
    owner["n"] = 7
    try stack.elsewhere("DELETE FROM \(isBack ? "A" : "B") WHERE _pk = 1")
    try main.save()
    #expect(try stack.sql("SELECT n FROM \(isBack ? "B" : "A") WHERE _pk = 1") == ["7"])
    if isToOne {
      #expect(owner[one: link] == nil && new[one: link] === there)
    } else {
      #expect(owner[many: link].map(\.place.key) == [2])
    }
    #expect(try stack.sql("PRAGMA foreign_key_check") == [])
    // What was saved can be changed and saved again.
    owner["n"] = 8
    if isToOne { owner[one: link] = there } else { owner[many: link] = [] }
    try main.save()
    #expect(try stack.sql("SELECT n FROM \(isBack ? "B" : "A") WHERE _pk = 1") == ["8"])
  }

  @Test("A deletion that the policy gives up keeps its place in lists", arguments: [1, 2])
  func place(given: Int64) async throws {
    let stack = try Stack(everyLink(.nullify), at: .inMemory)
    try await stack.write { context in
      let a = try context.insert("A")
      let list = try (0..<3).map { _ in try context.insert("B") }
      a[many: "ranks"] = Array(list.prefix(2))
    }
    await Task { @MainActor in }.value
    let main = stack.main
    main.mergePolicy = .storeTrumps
    let kept = try main.object(with: id("B", given))
    _ = kept["n"]
    try stack.elsewhere("UPDATE B SET n = 5, _v = _v + 1 WHERE _pk = \(given)")
    try main.delete(kept)
    let a = try main.object(with: id("A", 1))
    if given == 1 { try a.add(main.object(with: id("B", 3)), to: "ranks") }
    try main.save()
    let wanted: [Int64] = given == 2 ? [1, 2] : [1, 2, 3]
    #expect(
      try stack.sql("SELECT target FROM A_ranks ORDER BY position") == wanted.map(String.init)
    )
    #expect(a[many: "ranks"].map(\.place.key) == wanted)
  }

  @Test("A target of a cascade that the policy keeps stays, unlinked", arguments: [0, 1])
  func keptTarget(policy: Int) async throws {
    try await make { context in
      let phone = try context.insert("Phone")
      phone["number"] = "1"
      try context.insert("Person")[many: "phones"] = [phone]
    }
    let person = try object("Person", 1)
    let phone = person[many: "phones"][0]
    _ = (person["name"], phone["number"])
    try stack.elsewhere("UPDATE Phone SET number = '2', _v = _v + 1")
    stack.main.mergePolicy = policy == 0 ? .storeTrumps : .rollback
    try stack.main.delete(person)
    try stack.main.save()
    #expect(try stack.sql("SELECT number, owner FROM Phone") == ["2|-"])
    #expect(try stack.sql("SELECT count(*) FROM Person") == ["0"])
    #expect(phone["number"] == "2" && phone[one: "owner"] == nil)
    phone["number"] = "3"
    try stack.main.save()
  }

  @Test("What a merged write stores is what it changed, not what main has besides")
  func mergedPart() async throws {
    try await make { try $0.insert("Person")["name"] = "a" }
    let person = try object("Person", 1)
    person["age"] = -5
    try await stack.write(until: .merged) { try $0.object(with: id("Person", 1))["name"] = "b" }
    while try stack.sql("SELECT name FROM Person") != ["b"], stack.backgroundErrors.isEmpty {
      try await Task.sleep(for: .milliseconds(1))
    }
    await Task { @MainActor in }.value
    #expect(try stack.sql("SELECT name, age FROM Person") == ["b|-"])
    #expect(person["age"] == -5 && person["name"] == "b" && person.isUpdated)
    person["age"] = 5
    try stack.main.save()
    #expect(try stack.sql("SELECT name, age FROM Person") == ["b|5"])
  }

  /// Waits until something is stored that a merge left to the background.
  private func wait(_ stack: Stack, until query: String, is rows: [String]) async throws {
    for _ in 0..<90_000 where stack.backgroundErrors.isEmpty {
      if try stack.sql(query) == rows { break }
      try await Task.sleep(for: .milliseconds(10))
    }
    await Task { @MainActor in }.value
    #expect(try stack.sql(query) == rows)
  }

  @Test("A list of which a merge has stored a part keeps its order")
  func orderOfPart() async throws {
    let stack = try Stack(everyLink(.nullify), at: .inMemory)
    try await stack.write { _ = try $0.insert("B") }
    await Task { @MainActor in }.value
    let a = try stack.main.insert("A")
    a[many: "rows"] = [try stack.main.insert("B")]
    try await stack.write(until: .merged) { [id = a.objectID] context in
      let b = try context.object(with: ObjectID(entity: "B", primaryKey: 1))
      try context.object(with: id).add(b, to: "rows")
    }
    let wanted = a[many: "rows"].map(\.place.key)
    #expect(wanted.count == 2 && wanted[1] == 1)
    try await wait(stack, until: "SELECT _pk FROM B WHERE sheet = 1", is: ["1"])
    #expect(a[many: "rows"].map(\.place.key) == wanted)
    try stack.main.save()
    #expect(
      try stack.sql("SELECT _pk FROM B WHERE sheet = 1 ORDER BY _rows_order")
        == wanted.map(String.init)
    )
  }

  @Test("A merge that changes a list stores what it changed of it, not what main has besides")
  func partOfList() async throws {
    try await make { context in
      let songs = try (0..<3).map { _ in try context.insert("Song") }
      try context.insert("Person")[many: "playlist"] = [songs[0]]
    }
    let person = try object("Person", 1)
    try person.add(object("Song", 2), to: "playlist")
    try await stack.write(until: .merged) { context in
      let song = try context.object(with: id("Song", 3))
      try context.object(with: id("Person", 1)).add(song, to: "playlist")
    }
    let stored = "SELECT target FROM Person_playlist ORDER BY position"
    try await wait(stack, until: stored, is: ["1", "3"])
    #expect(person.isUpdated && Set(person[many: "playlist"].map(\.place.key)) == [1, 2, 3])
    try stack.main.save()
    #expect(try Set(stack.sql(stored)) == ["1", "2", "3"])
  }

  @Test("A merge stores no link of main's to what main has deleted")
  func linkToDeleted() async throws {
    let stack = try Stack(everyLink(.noAction), at: .inMemory)
    try await stack.write { _ = try $0.insert("A") }
    await Task { @MainActor in }.value
    let b = try stack.main.insert("B")
    let a = try stack.main.object(with: id("A", 1))
    b[one: "parent"] = a
    try stack.main.delete(a)
    try await stack.write(until: .merged) { [id = b.objectID] in try $0.object(with: id)["n"] = 3 }
    try await wait(stack, until: "SELECT n, parent FROM B", is: ["3|-"])
    try stack.main.save()
    #expect(try stack.sql("SELECT n, parent FROM B") == ["3|-"])
  }

  @Test("What goes along with a child's save is checked with it")
  func checkedAlong() async throws {
    let id = try stack.main.insert("Company").objectID
    let stack = stack
    let code = await contextCode {
      try await stack.write {
        try $0.insert("Person")[one: "company"] = $0.object(with: id)
      }
    }
    #expect(code == .invalid)
    #expect(try stack.sql("SELECT count(*) FROM Company") == ["0"])
  }

  @Test("A deletion in a child stores nothing that main has unsaved", arguments: [0, 1, 2])
  func deletion(kind: Int) async throws {
    try await make { context in
      try context.insert("Company")["name"] = "acme"
      _ = try context.insert("Skill")
      _ = try context.insert("Desk")
    }
    let person = try stack.main.insert("Person")
    let names = [("Company", "company"), ("Skill", "skills"), ("Desk", "desk")]
    let (entity, name) = names[kind]
    if kind == 1 {
      try person.add(object(entity, 1), to: name)
    } else {
      person[one: name] = try object(entity, 1)
    }
    try await make { try $0.delete($0.object(with: id(entity, 1))) }
    #expect(try stack.sql("SELECT count(*) FROM Person") == ["0"])
    #expect(try stack.sql("SELECT count(*) FROM \(entity)") == ["0"])
    #expect(person.isInserted && person[one: "company"] == nil && person[one: "desk"] == nil)
    #expect(person[many: "skills"].isEmpty)
    try stack.main.save()
    #expect(try stack.sql("SELECT company, desk FROM Person") == ["-|-"])
  }

  @Test("A required relationship that a deletion empties is told", arguments: [false, true])
  func requiredTarget(isMany: Bool) async throws {
    let link = Relationship(
      name: "target",
      destination: "Target",
      kind: isMany ? .toMany : .toOne,
      isRequired: true
    )
    let stack = try Stack(
      Model(entities: [
        Entity(name: "Owner", attributes: [Attribute(name: "n")], relationships: [link]),
        Entity(name: "Target", attributes: [Attribute(name: "name")]),
      ]),
      at: .inMemory
    )
    let main = stack.main
    let (owner, target) = (try main.insert("Owner"), try main.insert("Target"))
    if isMany { owner[many: "target"] = [target] } else { owner[one: "target"] = target }
    try main.save()
    try main.delete(target)
    let error = contextError { try main.save() }
    #expect(error?.code == .invalid)
    try main.delete(owner)
    try main.save()
  }

  @Test(
    "A merge is refused that takes the last target of what main has not saved",
    arguments: [false, true],
    [false, true]
  )
  func lastOfMain(isMerged: Bool, isDeletion: Bool) async throws {
    for link in needs {
      let stack = try Stack(needy(link), at: .inMemory)
      try await stack.write { _ = try $0.insert("Target") }
      await Task { @MainActor in }.value
      let owner = try stack.main.insert("Owner")
      let target = try stack.main.object(with: id("Target", 1))
      if link.kind == .toOne { owner[one: "link"] = target } else { owner[many: "link"] = [target] }
      let body: @Sendable (ManagedObjectContext) throws -> Void = { [ownerID = owner.objectID] in
        if isDeletion { return try $0.delete($0.object(with: id("Target", 1))) }
        let owner = try $0.object(with: ownerID)
        if link.kind == .toOne { owner[one: "link"] = nil } else { owner[many: "link"] = [] }
      }
      do {
        if isMerged {
          try await stack.write(until: .merged, body)
        } else {
          try stack.main.nested(body)
        }
        Issue.record("merged: \(link)")
      } catch let error as ContextError {
        #expect(error.code == .invalid)
      }
      try stack.main.save()
    }
  }

  @Test("A deletion whose targets are gone elsewhere is none the less whole")
  func goneTarget() async throws {
    try await make { context in
      let phones = try (0..<3).map { _ in try context.insert("Phone") }
      for phone in phones { phone["number"] = "1" }
      try context.insert("Person")[many: "phones"] = phones
    }
    let person = try object("Person", 1)
    _ = (person["name"], person[many: "phones"].count)
    try stack.elsewhere("DELETE FROM Phone WHERE _pk = 2")
    try stack.main.delete(person)
    try stack.main.save()
    #expect(try stack.sql("SELECT count(*) FROM Phone") == ["0"])
    #expect(try stack.sql("SELECT count(*) FROM Person") == ["0"])
  }

  @Test("An assignment that throws has changed nothing")
  func wholeAssignment() async throws {
    try await make { context in
      let acme = try context.insert("Company")
      acme["name"] = "acme"
      for _ in 0..<3 { _ = try context.insert("Person") }
      acme[many: "employees"] = [try context.object(with: id("Person", 1))]
    }
    let acme = try object("Company", 1)
    _ = acme[many: "employees"]
    try stack.elsewhere("DELETE FROM Person WHERE _pk = 3")
    let list = [try object("Person", 2), try object("Person", 3)]
    let error = contextError { try acme.setTargets(list, of: "employees") }
    #expect(error?.code == .missing)
    #expect(acme[many: "employees"].map(\.place.key) == [1])
    #expect(!stack.main.hasChanges && !list[0].hasChanges)
  }

  @Test("What is refreshed forgets both ends of its links", arguments: [0, 1, 2])
  func refreshed(kind: Int) async throws {
    try await make { context in
      for _ in 0..<2 { _ = try context.insert("Person") }
      _ = try context.insert("Skill")
    }
    let (a, b, skill) = (try object("Person", 1), try object("Person", 2), try object("Skill", 1))
    if kind == 0 { try a.add(b, to: "friends") } else { try a.add(skill, to: "skills") }
    stack.main.refresh(kind == 2 ? skill : a)
    #expect(a[many: "friends"].isEmpty && b[many: "friends"].isEmpty)
    #expect(a[many: "skills"].isEmpty && skill[many: "people"].isEmpty)
    #expect(!stack.main.hasChanges)
  }

  @Test("A reset between a merged write and its merge ends it")
  func reset() async throws {
    let stack = stack
    let begun = DispatchSemaphore(value: 0)
    let writing = Task.detached {
      try await stack.write(until: .merged) { context in
        try context.insert("Song")["title"] = "old"
        begun.signal()
      }
    }
    // The main actor is held: the merge waits.
    let reset: () throws -> Void = {
      begun.wait()
      usleep(100_000)
      try stack.reset()
    }
    try reset()
    #expect(await contextCode { try await writing.value } == .stackClosed)
    #expect(try stack.main.fetch(FetchRequest("Song")).isEmpty)
  }
}

/// Required relationships of every storage.
private let needs: [Relationship] = [
  .toOne("link", "Target", isRequired: true),
  .toOne("link", "Target", inverse: "owner", isRequired: true),
  .toMany("link", "Target", isRequired: true),
  .toMany("link", "Target", isOrdered: true, isRequired: true),
  .toMany("link", "Target", inverse: "owner", isRequired: true),
  .toMany("link", "Target", inverse: "owner", isOrdered: true, isRequired: true),
  .toMany("link", "Target", inverse: "owners", isRequired: true),
]

/// Owners that need a target by a relationship.
private func needy(_ link: Relationship) -> Model {
  let inverses: [Relationship] =
    switch link.inverse {
    case "owner": [.toOne("owner", "Owner", inverse: "link")]
    case "owners": [.toMany("owners", "Owner", inverse: "link")]
    default: []
    }
  return Model(entities: [
    Entity(name: "Owner", attributes: [Attribute(name: "n")], relationships: [link]),
    Entity(name: "Target", attributes: [Attribute(name: "n")], relationships: inverses),
  ])
}
