import Foundation
import Testing

@testable import DragomanGraph

@Suite struct LinkTests {
  private let stack: Stack

  init() throws { stack = try Stack(crm, at: .inMemory) }

  @Test(
    "An object of another entity is neither linked nor unlinked, and nothing of it is changed",
    arguments: ["employees", "phones", "skills", "friends", "playlist"]
  )
  func strangers(name: String) async throws {
    try await stack.write { context in
      let company = try context.insert("Company")
      company["name"] = "Acme"
      company["city"] = "Bonn"
      let person = try context.insert("Person")
      let desk = try context.insert("Desk")
      let owner = name == "employees" ? company : person
      for target in [desk, company] {
        let ways: [() throws -> Void] = [
          { try owner.remove(target, from: name) }, { try owner.add(target, to: name) },
          { try owner.insert(target, into: name, at: 0) },
          { try owner.setTargets([target], of: name) },
        ]
        for way in ways {
          let error = #expect(throws: ContextError.self) { try way() }
          #expect(error?.code == .type)
        }
      }
      #expect(company["city"] == "Bonn")
    }
  }

  @Test("Setting one side of a relationship sets the other, stored or not")
  func inverses() async throws {
    let ids = try await stack.write { context in
      let acme = try context.insert("Company")
      acme["name"] = "Acme"
      let people = try ["a", "b", "c"].map { name in
        let person = try context.insert("Person")
        person["name"] = .text(name)
        return person
      }
      people[0][one: "company"] = acme
      try acme.add(people[1], to: "employees")
      acme[many: "employees"] += [people[2]]
      #expect(acme[many: "employees"].map { $0["name"] } == ["a", "b", "c"])
      #expect(people[2][one: "company"] === acme)
      return people.map(\.objectID)
    }
    #expect(try stack.sql("SELECT name, company FROM Person") == ["a|1", "b|1", "c|1"])
    try await stack.write { context in
      let person = try context.object(with: ids[1])
      let acme = try #require(person[one: "company"])
      try acme.remove(person, from: "employees")
      #expect(person[one: "company"] == nil)
      #expect(acme[many: "employees"].map { $0["name"] } == ["a", "c"])
      #expect(person.changedProperties == ["company"])
      #expect(acme.changedProperties == ["employees"])
    }
    #expect(try stack.sql("SELECT name, company, _v FROM Person") == ["a|1|1", "b|-|2", "c|1|1"])
  }

  @Test("An ordered to-many keeps its order, and a new order is stored")
  func order() async throws {
    let id = try await stack.write { context in
      let person = try context.insert("Person")
      person[many: "phones"] = try ["1", "2", "3"].map { try phone($0, context) }
      return person.objectID
    }
    #expect(try numbers() == ["1|0", "2|1", "3|2"])
    try await stack.write { context in
      let person = try context.object(with: id)
      let phones = person[many: "phones"]
      person[many: "phones"] = [phones[2], phones[0], phones[1]]
      try person.insert(try phone("new", context), into: "phones", at: 1)
      #expect(person[many: "phones"].map { $0["number"] } == ["3", "new", "1", "2"])
    }
    #expect(try numbers() == ["3|0", "new|1", "1|2", "2|3"])
    let seen = try await stack.read { context in
      try context.object(with: id)[many: "phones"].map { $0["number"] }
    }
    #expect(seen == ["3", "new", "1", "2"])
  }

  @Test("Many-to-many, symmetric and repeating links have a table of their own")
  func tables() async throws {
    let ids = try await stack.write { context in
      let ann = try person("ann", context)
      let bob = try person("bob", context)
      let swift = try context.insert("Skill")
      ann[many: "skills"] = [swift]
      try swift.add(bob, to: "people")
      ann[many: "friends"] = [bob, ann]
      #expect(bob[many: "friends"].map { $0["name"] } == ["ann"])
      let songs = try (0..<2).map { _ in try context.insert("Song") }
      ann[many: "playlist"] = [songs[0], songs[1], songs[0]]
      return [ann.objectID, bob.objectID, swift.objectID]
    }
    #expect(
      try stack.sql("SELECT owner, target FROM Person_skills ORDER BY 1, 2") == ["1|1", "2|1"]
    )
    #expect(
      try stack.sql("SELECT owner, target FROM Person_friends ORDER BY 1, 2") == [
        "1|1", "1|2", "2|1",
      ]
    )
    #expect(
      try stack.sql("SELECT owner, position, target FROM Person_playlist ORDER BY 1, 2")
        == ["1|0|1", "1|1|2", "1|2|1"]
    )
    try await stack.write { context in
      let ann = try context.object(with: ids[0])
      let swift = try context.object(with: ids[2])
      try swift.remove(ann, from: "people")
      ann[many: "friends"] = []
      ann[many: "playlist"].removeFirst()
      #expect(ann[many: "skills"].isEmpty)
    }
    #expect(try stack.sql("SELECT owner, target FROM Person_skills") == ["2|1"])
    #expect(try stack.sql("SELECT owner, target FROM Person_friends") == [])
    #expect(try stack.sql("SELECT target FROM Person_playlist ORDER BY position") == ["2", "1"])
    #expect(try stack.sql("SELECT _v FROM Person") == ["2", "1"])
  }

  @Test("A one-to-one takes its target away from whoever had it")
  func oneToOne() async throws {
    try await stack.write { context in
      let ann = try person("ann", context)
      let bob = try person("bob", context)
      let desk = try context.insert("Desk")
      ann[one: "desk"] = desk
      desk[one: "user"] = bob
      #expect(ann[one: "desk"] == nil)
      #expect(bob[one: "desk"] === desk)
      let other = try context.insert("Desk")
      bob[one: "desk"] = other
      #expect(desk[one: "user"] == nil)
      try context.save()
      #expect(bob[one: "desk"] === other && desk[one: "user"] == nil)
    }
    #expect(try stack.sql("SELECT name, desk FROM Person") == ["ann|-", "bob|2"])
  }

  @Test("Deleting nullifies, cascades, and clears links without an inverse")
  func deletion() async throws {
    let ids = try await stack.write { context in
      let acme = try context.insert("Company")
      acme["name"] = "Acme"
      let ann = try person("ann", context)
      let bob = try person("bob", context)
      ann[one: "company"] = acme
      bob[one: "manager"] = ann
      ann[many: "phones"] = [try phone("1", context), try phone("2", context)]
      ann[many: "friends"] = [bob]
      let book = try context.insert("Book")
      book["isbn"] = "x"
      book[one: "author"] = ann
      return [acme, ann, bob, book].map(\.objectID)
    }
    try await stack.write { context in
      let bob = try context.object(with: ids[2])
      #expect(bob[one: "manager"] != nil)
      try context.delete(try context.object(with: ids[1]))
      #expect(try context.object(with: ids[0])[many: "employees"].isEmpty)
      #expect(bob[many: "friends"].isEmpty && bob[one: "manager"] == nil)
      try context.save()
      #expect(bob[one: "manager"] == nil)
      #expect(try context.object(with: ids[3])[one: "author"] == nil)
    }
    #expect(try stack.sql("SELECT name, manager FROM Person") == ["bob|-"])
    #expect(try stack.sql("SELECT count(*) FROM Phone") == ["0"])
    #expect(try stack.sql("SELECT author FROM Document") == ["-"])
    #expect(try stack.sql("SELECT * FROM Person_friends") == [])
  }

  @Test("A deny rule is named by the save, and obeyed once its targets are gone")
  func deny() async throws {
    let id = try await stack.write { context in
      let account = try context.insert("Account")
      account[many: "entries"] = [try context.insert("Entry"), try context.insert("Entry")]
      return account.objectID
    }
    try await stack.write { context in
      let account = try context.object(with: id)
      let entries = account[many: "entries"]
      try context.delete(account)
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .denied)
      #expect(
        error?.message
          == "Account 1 cannot be deleted: its entries are still there (Entry 1 and 1 more)."
      )
      #expect(context.deletedObjects.count == 1)
      try context.delete(entries[0])
      entries[1][one: "account"] = nil
    }
    #expect(try stack.sql("SELECT count(*) FROM Account") == ["0"])
    #expect(try stack.sql("SELECT _pk FROM Entry") == ["2"])
  }

  @Test("A link that noAction leaves dangling is refused by name")
  func noAction() async throws {
    let id = try await stack.write { context in
      let account = try context.insert("Account")
      account[many: "notes"] = [try context.insert("Note")]
      return account.objectID
    }
    try await stack.write { context in
      try context.delete(try context.object(with: id))
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .denied)
      #expect(error?.object == ObjectID(entity: "Note", primaryKey: 1))
      context.rollback()
    }
    #expect(try stack.sql("SELECT count(*) FROM Account") == ["1"])
  }

  @Test("Objects of other entities, of other contexts and deleted ones cannot be linked")
  func refusals() async throws {
    let codes = try await stack.read { context in
      let person = try context.insert("Person")
      let song = try context.insert("Song")
      let other = ManagedObjectContext(.background, root: context.root)
      let stranger = try other.insert("Company")
      let gone = try context.insert("Company")
      try context.delete(gone)
      return [
        contextCode { try person.setTarget(song, of: "company") },
        contextCode { try person.setTarget(stranger, of: "company") },
        contextCode { try person.setTarget(gone, of: "company") },
        contextCode { try person.targets(of: "company") },
        contextCode { try person.target(of: "phones") },
        contextCode { try person.target(of: "compny") },
      ]
    }
    #expect(codes == [.type, .foreignContext, .deleted, .type, .type, .unknownProperty])
  }

  @Test("A fault of a family turns out to be of its sub-entity")
  func family() async throws {
    let ids = try await stack.write { context in
      let book = try context.insert("Book")
      book["title"] = "Emma"
      book["isbn"] = "1"
      let film = try context.insert("Film")
      film["minutes"] = 90
      return [book.objectID, film.objectID]
    }
    #expect(ids.map(\.entity) == ["Document", "Document"])
    let found = try await stack.read { context in
      let film = try context.object(with: ids[1])
      let isAbstract = contextCode { try context.insert("Document") }
      return (film["minutes"], film.entityName, isAbstract)
    }
    #expect(found.0 == 90 && found.1 == "Film" && found.2 == .invalid)
    #expect(
      try stack.sql("SELECT _entity, title, isbn, minutes FROM Document")
        == ["Book|Emma|1|-", "Film|-|-|90"]
    )
  }

  @Test("Linking, deleting and saving look at what changed, not at all that is registered")
  func steps() async throws {
    var visits: [Int] = []
    for count in [500, 2000] {
      visits.append(
        try await stack.write { context in
          let acme = try context.insert("Company")
          acme["name"] = .text("\(count)")
          let people = try (0..<count).map { _ in try context.insert("Person") }
          for person in people { try acme.add(person, to: "employees") }
          try context.save()
          let start = context.visitCount
          for (place, person) in people.enumerated() {
            person[one: "company"] = place % 2 == 0 ? nil : acme
            if place % 5 == 0 { try context.delete(person) }
          }
          try context.save()
          for person in people.prefix(10) where !person.isDeleted {
            person["name"] = "one"
            try context.save()
          }
          return context.visitCount - start
        }
      )
    }
    #expect(visits[1] <= visits[0] * 5)
  }

  @Test("A member that another context has moved comes to the place that it is given")
  @MainActor func movedTwice() async throws {
    let stack = try Stack(everyLink(.nullify), at: .inMemory)
    let lists = try (0..<2).map { _ in try stack.main.insert("A") }
    let rows = try (0..<3).map { _ in try stack.main.insert("B") }
    lists[1][many: "rows"] = [rows[1], rows[2]]
    try stack.main.save()
    // Main's place of it is the one that the child gives it in another list.
    lists[0][many: "rows"] = [rows[0]]
    let wanted = rows.map(\.objectID)
    try stack.main.nested { [id = lists[1].objectID] child in
      let list = try child.object(with: id)
      list[many: "rows"] = try wanted.map { try child.object(with: $0) }
      #expect(list[many: "rows"].map(\.objectID) == wanted)
    }
    #expect(lists[1][many: "rows"].map(\.objectID) == wanted)
    try stack.main.save()
    #expect(
      try stack.sql("SELECT _pk FROM B WHERE sheet = 2 ORDER BY _rows_order") == ["1", "2", "3"]
    )
  }

  private func numbers() throws -> [String] {
    try stack.sql("SELECT number, _phones_order FROM Phone ORDER BY _phones_order")
  }
}

private func phone(_ number: String, _ context: ManagedObjectContext) throws -> ManagedObject {
  let phone = try context.insert("Phone")
  phone["number"] = .text(number)
  return phone
}

private func person(_ name: String, _ context: ManagedObjectContext) throws -> ManagedObject {
  let person = try context.insert("Person")
  person["name"] = .text(name)
  return person
}
