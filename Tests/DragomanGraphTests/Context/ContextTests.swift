import Foundation
import Testing

@testable import DragomanGraph

@Suite struct ContextTests {
  private let stack: Stack

  init() throws { stack = try Stack(crm, at: .inMemory) }

  @Test("What a background write inserts is in the store, with defaults and in stored form")
  func insertion() async throws {
    let id = try await stack.write { context in
      let person = try context.insert("Person")
      person["name"] = "Rohan"
      person["age"] = 31
      person["born"] = "1990-02-03"
      person["salary"] = 12
      return person.objectID
    }
    #expect(id == ObjectID(entity: "Person", primaryKey: 1))
    #expect(
      try stack.sql("SELECT _pk, _v, name, age, born, salary, active, company FROM Person")
        == ["1|1|Rohan|31|1990-02-03|12.00|1|-"]
    )
  }

  @Test("A thrown error saves nothing and comes back to the caller")
  func failure() async throws {
    struct Stop: Error {}
    await #expect(throws: Stop.self) {
      try await stack.write { context in
        _ = try context.insert("Song")
        throw Stop()
      }
    }
    #expect(try stack.sql("SELECT count(*) FROM Song") == ["0"])
  }

  @Test("A typo is named with the nearest property, at once or at the save")
  func typos() async throws {
    let message = try await stack.write { context in
      let person = try context.insert("Person")
      do {
        try person.setValue("x", of: "nmae")
        return "nothing"
      } catch let error as ContextError {
        return error.description
      }
    }
    #expect(
      message == "object.property: Person has no attribute \"nmae\". (did you mean \"name\"?)"
    )
    let code = await contextCode { [stack] in
      try await stack.write { context in
        let person = try context.insert("Person")
        person["nmae"] = "x"
        return person["slary"].isNull
      }
    }
    #expect(code == .unknownProperty)
    #expect(try stack.sql("SELECT count(*) FROM Person") == ["1"])
  }

  @Test(
    "A value of another type is refused, one that means the same is taken",
    arguments: [
      ("age", 31, 31), ("age", 40_000, nil), ("age", "31", nil), ("age", .null, .null),
      ("name", "x", "x"), ("name", 1, nil), ("born", "1990-02-30", nil),
      ("born", "1990-02-03", "1990-02-03"), ("salary", "1.5", "1.50"), ("salary", "1.555", nil),
      ("salary", 2, "2.00"), ("salary", 2.5, nil), ("active", true, 1), ("active", 2, nil),
    ] as [(String, StoredValue, StoredValue?)]
  )
  func types(name: String, value: StoredValue, stored: StoredValue?) async throws {
    let found = try await stack.read { context -> StoredValue? in
      let person = try context.insert("Person")
      do {
        try person.setValue(value, of: name)
        return person[name]
      } catch let error as ContextError where error.code == .type {
        return nil
      }
    }
    #expect(found == stored)
  }

  @Test("All broken rules are told together, nothing is written, and the save can be repeated")
  func validation() async throws {
    let outcome = try await stack.write { context in
      let company = try context.insert("Company")
      let person = try context.insert("Person")
      person["age"] = 200
      person["code"] = "A"
      person["level"] = "middle"
      let phone = try context.insert("Phone")
      var faults: [String] = []
      do {
        try context.save()
      } catch let error as ContextError {
        faults = error.faults.map { "\($0.entity).\($0.property ?? "") \($0.rule)" }
      }
      company["name"] = "Acme"
      person["age"] = 20
      person["code"] = "abc"
      person["level"] = "low"
      phone["number"] = "1"
      return faults
    }
    #expect(
      outcome == [
        "Company.name required", "Person.age range", "Person.code length", "Person.code pattern",
        "Person.level enumeration", "Phone.number required",
      ]
    )
    #expect(try stack.sql("SELECT name FROM Company") == ["Acme"])
  }

  @Test("One row is one object, and its id stays from insertion on")
  func uniquing() async throws {
    let id = try await stack.write { context in
      let person = try context.insert("Person")
      person["name"] = "a"
      let id = person.objectID
      let same = try context.object(with: id)
      #expect(same === person)
      try context.save()
      #expect(person.objectID == id)
      #expect(!person.hasChanges && person.rowVersion == 1)
      return id
    }
    let isSame = try await stack.read { context in
      let one = try context.object(with: id)
      let isFault = one.isFault
      let other = try context.existingObject(with: id)
      return isFault && one === other && one["name"] == "a" && !one.isFault
    }
    #expect(isSame)
  }

  @Test("Only what differs is a change, and setting it back is none")
  func changes() async throws {
    let id = try await song("a")
    try await stack.write { context in
      let song = try context.object(with: id)
      song["title"] = "b"
      #expect(song.changedProperties == ["title"])
      #expect(try song.committedValue(of: "title") == "a")
      #expect(context.hasChanges)
      song["title"] = "a"
      #expect(!context.hasChanges && !song.hasChanges)
    }
    #expect(try stack.sql("SELECT _v, title FROM Song") == ["1|a"])
    try await stack.write { context in try context.object(with: id)["title"] = "c" }
    #expect(try stack.sql("SELECT _v, title FROM Song") == ["2|c"])
  }

  @Test("Rollback undoes insertions, changes, deletions and links")
  func rollback() async throws {
    let id = try await song("a")
    try await stack.write { context in
      let song = try context.object(with: id)
      song["title"] = "b"
      let person = try context.insert("Person")
      person[many: "playlist"] = [song, song]
      try context.delete(song)
      context.rollback()
      #expect(!context.hasChanges)
      #expect(song["title"] == "a" && !song.isDeleted && person.isDeleted)
    }
    #expect(try stack.sql("SELECT title FROM Song") == ["a"])
    #expect(try stack.sql("SELECT count(*) FROM Person") == ["0"])
  }

  @Test("A deleted object keeps its values until it is saved and refuses changes")
  func deletion() async throws {
    let id = try await song("a")
    let code = try await stack.write { context in
      let song = try context.object(with: id)
      #expect(song["title"] == "a")
      try context.delete(song)
      #expect(song.isDeleted && song["title"] == "a")
      return contextCode { try song.setValue("b", of: "title") }
    }
    #expect(code == .deleted)
    #expect(try stack.sql("SELECT count(*) FROM Song") == ["0"])
    let gone = try await stack.read { context in
      let isNil = try context.existingObject(with: id) == nil
      let song = try context.object(with: id)
      let code = contextCode { try song.value(of: "title") }
      return (isNil, code)
    }
    #expect(gone.0 && gone.1 == .missing)
  }

  @Test("Two saves of one property conflict; other properties are merged")
  func conflicts() async throws {
    let id = try await stack.write { context in
      let person = try context.insert("Person")
      person["name"] = "a"
      person["age"] = 1
      return person.objectID
    }
    let stack = stack
    let conflicts = try await stack.write { context -> [SaveConflict] in
      let person = try context.object(with: id)
      person["name"] = "mine"
      try other(id, "name", "theirs", in: stack)
      do {
        try context.save()
        return []
      } catch let error as ContextError {
        defer { context.rollback() }
        return error.conflicts
      }
    }
    #expect(
      conflicts == [
        SaveConflict(object: id, property: "name", base: "a", ours: "mine", theirs: "theirs")
      ]
    )
    try await stack.write { context in
      let person = try context.object(with: id)
      person["age"] = 2
      try other(id, "name", "again", in: stack)
      try context.save()
      #expect(person["name"] == "again" && person["age"] == 2)
    }
    #expect(try stack.sql("SELECT name, age FROM Person") == ["again|2"])
  }

  @Test(
    "A merge policy settles conflicts property by property",
    arguments: [
      (.storeTrumps, "theirs|5|2"), (.objectTrumps, "mine|5|2"), (.overwrite, "mine|1|2"),
      (.rollback, "theirs|5|-"),
    ] as [(MergePolicy, String)]
  )
  func policies(policy: MergePolicy, row: String) async throws {
    let id = try await stack.write { context in
      let person = try context.insert("Person")
      person["name"] = "a"
      person["age"] = 1
      return person.objectID
    }
    let stack = stack
    try await stack.write(policy: policy) { context in
      let person = try context.object(with: id)
      person["name"] = "mine"
      person["salary"] = 2
      try other(id, "name", "theirs", in: stack)
      try other(id, "age", 5, in: stack)
    }
    let expected = row.replacing("|2", with: "|2.00")
    #expect(try stack.sql("SELECT name, age, salary FROM Person") == [expected])
  }

  @Test("Unique keys can be exchanged in one save; a duplicate is named")
  func uniqueKeys() async throws {
    let ids = try await stack.write { context in
      try ["a", "b"].map { name in
        let person = try context.insert("Person")
        person["ticket"] = .text(name)
        return person.objectID
      }
    }
    try await stack.write { context in
      try context.object(with: ids[0])["ticket"] = "b"
      try context.object(with: ids[1])["ticket"] = "a"
    }
    #expect(try stack.sql("SELECT ticket FROM Person ORDER BY _pk") == ["b", "a"])
    let code = await contextCode { [stack] in
      try await stack.write { context in try context.insert("Person")["ticket"] = "a" }
    }
    #expect(code == .duplicate)
    #expect(try stack.sql("SELECT count(*) FROM Person") == ["2"])
  }

  @Test("Several stacks live side by side, and a reset one starts empty")
  func stacks() async throws {
    let other = try Stack(crm, at: .inMemory)
    let id = try await song("a")
    #expect(try other.sql("SELECT count(*) FROM Song") == ["0"])
    let code = try await codeAfterReset()
    #expect(try stack.sql("SELECT count(*) FROM Song") == ["0"])
    #expect(code == .stackClosed)
    let again = try await song("b")
    #expect(again == id)
  }

  @MainActor private func codeAfterReset() throws -> ContextError.Code? {
    let main = stack.main
    try stack.reset()
    return contextCode { try main.insert("Song") }
  }

  private func song(_ title: String) async throws -> ObjectID {
    try await stack.write { context in
      let song = try context.insert("Song")
      song["title"] = .text(title)
      return song.objectID
    }
  }
}

/// Another process, so to speak, changes a property.
private func other(
  _ id: ObjectID,
  _ name: String,
  _ value: StoredValue,
  in stack: Stack
) throws {
  let context = ManagedObjectContext(.background, root: stack.root)
  let object = try context.object(with: id)
  try object.setValue(value, of: name)
  try context.save()
}
