import Dispatch
import GRDB
import Testing

@testable import DragomanGraph

/// What one change set makes true: conflicts that are none, deletions that are given up, children that
/// see what comes later, objects that are let go anywhere.
@MainActor
@Suite struct ChangeSetTests {
  private let stack: Stack

  init() throws { stack = try Stack(crm, at: .inMemory) }

  private func make(_ body: @escaping @Sendable (ManagedObjectContext) throws -> Void) async throws
  {
    try await stack.write(body)
    await Task { @MainActor in }.value
  }

  private func object(_ entity: String, _ key: Int64) throws -> ManagedObject {
    try stack.main.object(with: ObjectID(entity: entity, primaryKey: key))
  }

  @Test("Moving a to-one away from what is deleted in the same save is no conflict")
  func moved() async throws {
    try await make { context in
      let boss = try context.insert("Person")
      boss["name"] = "boss"
      let other = try context.insert("Person")
      let person = try context.insert("Person")
      person[one: "manager"] = boss
      other["name"] = "other"
    }
    try object("Person", 3)[one: "manager"] = object("Person", 2)
    try stack.main.delete(object("Person", 1))
    try stack.main.save()
    #expect(try stack.sql("SELECT _pk, manager FROM Person") == ["2|-", "3|2"])
  }

  @Test("What was linked and unlinked again leaves nothing behind")
  func returned() async throws {
    try await make { context in
      try context.insert("Person")["name"] = "a"
      try context.insert("Skill")["name"] = "s"
      try context.insert("Company")["name"] = "c"
    }
    let main = stack.main
    let (person, skill) = (try object("Person", 1), try object("Skill", 1))
    try person.add(skill, to: "skills")
    try person.remove(skill, from: "skills")
    person[one: "company"] = try object("Company", 1)
    person[one: "company"] = nil
    #expect(!main.hasChanges && person.changedProperties == [])
    // What others link meanwhile stays.
    try person.add(skill, to: "skills")
    try await make { context in
      let person = try context.object(with: ObjectID(entity: "Person", primaryKey: 1))
      try person.add(context.object(with: ObjectID(entity: "Skill", primaryKey: 1)), to: "skills")
    }
    try person.add(skill, to: "skills")
    try main.save()
    #expect(try stack.sql("SELECT owner, target FROM Person_skills") == ["1|1"])
    try person.remove(skill, from: "skills")
    try person.add(skill, to: "skills")
    try main.save()
    #expect(try stack.sql("SELECT owner, target FROM Person_skills") == ["1|1"])
  }

  @Test("A to-one that was set and set back is no conflict with who sets it meanwhile")
  func setBack() async throws {
    try await make { context in
      try context.insert("Person")["name"] = "a"
      for name in ["c", "d"] { try context.insert("Company")["name"] = .text(name) }
    }
    let person = try object("Person", 1)
    person[one: "company"] = try object("Company", 1)
    person[one: "company"] = nil
    try await make { context in
      let person = try context.object(with: ObjectID(entity: "Person", primaryKey: 1))
      person[one: "company"] = try context.object(with: ObjectID(entity: "Company", primaryKey: 2))
    }
    person["name"] = "b"
    try stack.main.save()
    #expect(try stack.sql("SELECT name, company FROM Person") == ["b|2"])
  }

  @Test("A merged child deletes an owner whose links main has not saved")
  func ownerDeletedBelow() async throws {
    try await make { context in
      try context.insert("Person")["name"] = "a"
      try context.insert("Skill")["name"] = "s"
    }
    try object("Person", 1).add(object("Skill", 1), to: "skills")
    try await stack.write(until: .merged) { context in
      try context.delete(context.object(with: ObjectID(entity: "Person", primaryKey: 1)))
    }
    try stack.main.save()
    #expect(try stack.sql("SELECT count(*) FROM Person_skills") == ["0"])
    #expect(try stack.sql("SELECT count(*) FROM Person") == ["0"])
    #expect(try stack.sql("SELECT name FROM Skill") == ["s"])
  }

  @Test("Changes that are kept over a refresh are compared with what is read then")
  func refreshed() async throws {
    try await make { try $0.insert("Person")["name"] = "a" }
    let person = try object("Person", 1)
    person["name"] = "mine"
    try await make { context in
      try context.object(with: ObjectID(entity: "Person", primaryKey: 1))["name"] = "theirs"
    }
    stack.main.refresh(person, keepingChanges: true)
    #expect(person["name"] == "mine")
    try stack.main.save()
    #expect(try stack.sql("SELECT name FROM Person") == ["mine"])
  }

  @Test("A deletion that the policy gives up keeps the links", arguments: [0, 1])
  func kept(policy: Int) async throws {
    try await make { context in
      let acme = try context.insert("Company")
      acme["name"] = "acme"
      let person = try context.insert("Person")
      person[one: "company"] = acme
      person[many: "skills"] = [try context.insert("Skill")]
      person[many: "phones"] = [try context.insert("Phone")]
      person[many: "phones"][0]["number"] = "1"
    }
    let main = stack.main
    main.mergePolicy = policy == 0 ? .storeTrumps : .rollback
    let (acme, person) = (try object("Company", 1), try object("Person", 1))
    _ = (acme["name"], person["name"])
    try stack.store.write { session in
      try session.begin()
      try session.database.execute(sql: "UPDATE Company SET city = 'Bergen', _v = _v + 1")
      try session.database.execute(sql: "UPDATE Person SET age = 3, _v = _v + 1")
      try session.commit()
    }
    try main.delete(acme)
    try main.delete(person)
    try main.save()
    #expect(
      try stack.sql("SELECT company, (SELECT count(*) FROM Person_skills) FROM Person") == ["1|1"]
    )
    #expect(try stack.sql("SELECT owner FROM Phone") == ["1"])
    #expect(acme[many: "employees"].map(\.place.key) == [1])
  }

  @Test("A child sees what main changes later, and follows no link to what main deletes")
  func later() async throws {
    try await make { context in
      let acme = try context.insert("Company")
      acme["name"] = "acme"
      for name in ["a", "b"] {
        let person = try context.insert("Person")
        person["name"] = .text(name)
        person[one: "company"] = acme
      }
    }
    let child = ManagedObjectContext(.background, root: stack.root)
    defer { child.close() }
    let acme = try child.object(with: ObjectID(entity: "Company", primaryKey: 1))
    let person = try child.object(with: ObjectID(entity: "Person", primaryKey: 1))
    #expect(person["name"] == "a" && acme[many: "employees"].count == 2)
    try object("Person", 1)["name"] = "later"
    #expect(person["name"] == "later")
    let new = try stack.main.insert("Person")
    new[one: "company"] = try object("Company", 1)
    #expect(acme[many: "employees"].count == 3)
    try stack.main.delete(object("Person", 1))
    #expect(acme[many: "employees"].map(\.place.key) == [2, 3])
    #expect(try child.existingObject(with: ObjectID(entity: "Person", primaryKey: 1)) == nil)
    try stack.main.delete(object("Company", 1))
    #expect(
      try child.object(with: ObjectID(entity: "Person", primaryKey: 2))[one: "company"] == nil
    )
    stack.main.rollback()
    #expect(person["name"] == "a" && acme[many: "employees"].count == 2)
  }

  @Test("Objects may be let go on any thread while their context looks them up")
  func released() async throws {
    try await make { context in
      for _ in 0..<200 { _ = try context.insert("Song") }
    }
    let main = stack.main
    let queue = DispatchQueue(label: "release", attributes: .concurrent)
    let group = DispatchGroup()
    for _ in 0..<300 {
      nonisolated(unsafe) var objects = try main.fetch(FetchRequest("Song"))
      #expect(objects.count == 200)
      queue.async(group: group) { @Sendable in objects = [] }
    }
    await withCheckedContinuation { done in
      group.notify(queue: queue) { @Sendable in done.resume() }
    }
    #expect(try main.fetch(FetchRequest("Song")).count == 200)
  }
}
