// docs: begin modules
import Dragoman
import DragomanGraph
// docs: end
import Foundation
import Testing

// docs: begin model
let staff = Model(entities: [
  Entity(
    name: "Company",
    attributes: [Attribute(name: "name", isRequired: true), Attribute(name: "city")],
    relationships: [.toMany("employees", "Person", inverse: "company")],
    uniqueKeys: [["name"]]
  ),
  Entity(
    name: "Person",
    attributes: [
      Attribute(name: "ticketNumber"), Attribute(name: "firstName"),
      Attribute(name: "lastName", isRequired: true, isIndexed: true),
      Attribute(name: "dateOfBirth", type: .date),
      Attribute(name: "salary", type: .decimal, rules: AttributeRules(minimum: "0", scale: 2)),
    ],
    relationships: [
      .toOne("company", "Company", inverse: "employees"),
      .toMany("phones", "Phone", inverse: "owner", isOrdered: true, deleteRule: .cascade),
    ],
    uniqueKeys: [["ticketNumber"]]
  ),
  Entity(name: "Manager", attributes: [Attribute(name: "car")], parent: "Person"),
  Entity(
    name: "Phone",
    attributes: [Attribute(name: "number", isRequired: true)],
    relationships: [.toOne("owner", "Person", inverse: "phones")]
  ),
])
// docs: end

/// Runs the code of docs/objects.md, up to fetching.
@MainActor @Suite struct ObjectsContextTests {
  private let stack: Stack
  /// What the code prints.
  private final class Printed {
    var lines: [String] = []
  }
  private let printed = Printed()

  init() throws { stack = try Stack(staff, at: .inMemory) }

  private func print(_ line: Any) { printed.lines.append("\(line)") }

  @Test("A stack is opened in a file or in memory")
  func opening() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "staff.db").path
    // docs: begin open
    let stack = try Stack(staff, at: .file(path))
    let scratch = try Stack(staff, at: .inMemory)
    // docs: end
    let (stored, temporary) = (try stack.store.path, try scratch.store.path)
    #expect(stored == path && temporary == nil)
    try stack.close()
  }

  @Test("Main, writing in the background and nested contexts")
  func contexts() async throws {
    // docs: begin contexts
    // On the main actor: the context of what is on the screen.
    let person = try stack.main.insert("Person")
    person["lastName"] = "Panchal"
    try await stack.saveMain()

    // In the background: a temporary context, lent to the closure and saved at its end.
    let id = try await stack.write { context in
      let acme = try context.insert("Company")
      acme["name"] = "Acme"
      return acme.objectID
    }

    // To look at something only; whatever it changes is dropped.
    let name = try await stack.read { context in try context.object(with: id)["name"] }

    // A child of a background context: all of what it does, or nothing.
    try await stack.write { context in
      do {
        try context.nested { child in
          try child.delete(child.object(with: id))
          throw CancellationError()
        }
      } catch is CancellationError {
        // The context is as it was before: the company is still there.
      }
    }
    // docs: end
    #expect(name == "Acme")
    #expect(try stack.store.count(FetchRequest("Company")) == 1)
    #expect(try stack.store.count(FetchRequest("Person")) == 1)
  }

  @Test("Ids and values leave a closure")
  func leaving() async throws {
    let id = try await insertPanchal()
    // docs: begin leaving
    let (ids, names) = try await stack.read { context in
      let people = try context.fetch(FetchRequest("Person"))
      return (people.map(\.objectID), people.map { $0["lastName"] })
    }
    let people = try stack.main.objects(with: ids)  // main's own objects of the same rows
    // docs: end
    #expect(ids == [id] && names == ["Panchal"])
    #expect(people.map { $0["lastName"] } == ["Panchal"])
    // docs: begin uri
    let text = ids[0].uri  // "dragoman:///Person/1"
    let same = try ObjectID(uri: text)
    // docs: end
    #expect(text == "dragoman:///Person/1" && same == id)
  }

  @Test("Objects: attributes, relationships, what is wrong")
  func objects() async throws {
    // docs: begin objects
    try await stack.write { context in
      let person = try context.insert("Person")
      person["lastName"] = "Panchal"
      person["salary"] = 118_000  // stored as 118000.00: scale is 2
      person["dateOfBirth"] = "1985-12-10"

      let acme = try context.insert("Company")
      acme["name"] = "Acme"
      person[one: "company"] = acme  // acme[many: "employees"] has the person now

      let phone = try context.insert("Phone")
      phone["number"] = "+47 55 00 00 00"
      try person.add(phone, to: "phones")
    }
    // docs: end
    #expect(
      try stack.store.dictionaries(FetchRequest("Person", columns: ["salary", "company.name"]))
        == [["salary": "118000.00", "company.name": "Acme"]]
    )
    // docs: begin mistakes
    let message = try await stack.read { context in
      let person = try context.insert("Person")
      do {
        try person.setValue("Panchal", of: "lsatName")
        return ""
      } catch let error as ContextError {
        return error.description
      }
    }
    print(message)
    // docs: end
    try checkOutput(0)
  }

  @Test("Deleting obeys the delete rules")
  func deleting() async throws {
    let id = try await insertPanchal()
    // docs: begin delete
    try await stack.write { context in
      try context.delete(context.object(with: id))  // and the person's phones: .cascade

      let unpaid = FetchRequest("Person", filter: .where("salary", .equalTo, nil))
      try context.deleteAll(unpaid)
    }
    // docs: end
    #expect(try stack.store.count(FetchRequest("Person")) == 0)
    #expect(try stack.store.count(FetchRequest("Phone")) == 0)
  }

  @Test("A save tells every fault, and rollback drops what is unsaved")
  func validation() async throws {
    // docs: begin validation
    let main = stack.main
    let person = try main.insert("Person")
    person["salary"] = -1
    do {
      try main.save()
    } catch let error as ContextError where error.code == .invalid {
      for fault in error.faults { print(fault) }
    }
    main.rollback()
    print(main.hasChanges)
    // docs: end
    try checkOutput(1)
    #expect(person.isDeleted)
  }

  @Test("A write can be merged into main before it is stored")
  func merged() async throws {
    // docs: begin merged
    try await stack.write(until: .merged) { context in
      try context.insert("Person")["lastName"] = "Panchal"
    }
    // docs: end
    #expect(try stack.main.fetch(FetchRequest("Person")).map { $0["lastName"] } == ["Panchal"])
    while stack.main.hasChanges { try await Task.sleep(for: .milliseconds(1)) }
    #expect(stack.backgroundErrors.isEmpty)
    #expect(try stack.store.count(FetchRequest("Person")) == 1)
  }

  @Test("A conflict names the object, the property and the three values")
  func conflicts() async throws {
    let id = try await insertPanchal()
    let stack = stack
    // docs: begin conflict
    let person = try stack.main.object(with: id)
    person["firstName"] = "Rohan"
    try await stack.write { try $0.object(with: id)["firstName"] = "Ron" }
    do {
      try stack.main.save()
    } catch let error as ContextError where error.code == .conflict {
      print(error.message)  // error.conflicts has them as values
    }
    stack.main.mergePolicy = .objectTrumps
    try stack.main.save()
    // docs: end
    try checkOutput(2)
    #expect(
      try stack.store.dictionaries(FetchRequest("Person", columns: ["firstName"]))
        == [["firstName": "Rohan"]]
    )
  }

  @Test("Fetching: filters, orders, single objects, tables of values")
  func fetching() async throws {
    try await stack.write { context in
      let acme = try context.insert("Company")
      acme["name"] = "Acme"
      acme["city"] = "Bergen"
      for (first, last, salary) in [
        ("Ada", "Smith", 90_000), ("Rohan", "Panchal", 118_000), ("Zoë", "Smith", 101_000),
      ] as [(String, String, Int64)] {
        let person = try context.insert("Person")
        person["ticketNumber"] = .text("A\(salary / 1000)")
        person["firstName"] = .text(first)
        person["lastName"] = .text(last)
        person["salary"] = .integer(salary)
        person[one: "company"] = acme
      }
    }
    let main = stack.main
    // docs: begin fetch
    let smiths = try main.fetch(
      FetchRequest(
        "Person",
        filter: try Filter(
          parsing: "lastName == %@ AND company.city == 'Bergen'",
          arguments: ["Smith"]
        ),
        sortKeys: [SortKey("salary", ascending: false), SortKey("firstName")],
        limit: 50
      )
    )
    let byTicket = Filter.where("ticketNumber", .equalTo, "A90")
    let ada = try main.fetchOne(FetchRequest("Person", filter: byTicket))  // throws where two match
    let isKnown = try main.exists(FetchRequest("Person", filter: byTicket))
    let count = try main.count(FetchRequest("Person"))
    // docs: end
    #expect(smiths.map { $0["firstName"] } == ["Zoë", "Ada"])
    #expect(ada === smiths[1] && isKnown && count == 3)
    // docs: begin tables
    let payroll = try main.dictionaries(
      FetchRequest(
        "Person",
        sortKeys: [SortKey("total", ascending: false)],
        columns: ["lastName", .count(as: "people"), .sum("salary", as: "total")],
        groupBy: ["lastName"]
      )
    )
    // docs: end
    #expect(
      payroll == [
        ["lastName": "Smith", "people": 2, "total": "191000.00"],
        ["lastName": "Panchal", "people": 1, "total": "118000.00"],
      ]
    )
  }

  /// A person with two phones.
  private func insertPanchal() async throws -> ObjectID {
    try await stack.write { context in
      let person = try context.insert("Person")
      person["lastName"] = "Panchal"
      person[many: "phones"] = try ["1", "2"].map { number in
        let phone = try context.insert("Phone")
        phone["number"] = .text(number)
        return phone
      }
      return person.objectID
    }
  }

  /// Holds what was printed to a block of the document.
  private func checkOutput(_ block: Int) throws {
    let blocks = try DocumentFile(path: "docs/objects.md").blocks(in: "text")
    let printed = printed.lines.joined(separator: "\n")
    let written = try #require(blocks.indices.contains(block) ? blocks[block] : nil)
    #expect(printed == written)
    self.printed.lines = []
  }
}
