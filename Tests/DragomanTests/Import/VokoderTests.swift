import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// What Vokoder's own tests check, in the order of its suites: importing, contexts, fetching,
/// deleting.
///
/// Names and values are Vokoder's where they say something.
@Suite("Vokoder's cases") struct VokoderTests {
  private let stack: Stack

  init() throws {
    stack = try Stack(MapperFixture.model, at: .inMemory)
    try stack.mappers.register(MapperFixture.person())
  }

  private static let jane: ForeignValue = [
    "ticket_number": "A1", "first_name": "Jane", "name": ["last": "Smith"], "ss_num": "1",
    "salary": "1,234.50", "dob": "10 Dec 1985", "age": 36, "cool": true,
  ]
  private static let john: ForeignValue = ["ticket_number": "A2", "first_name": "John"]

  // MARK: Importing

  @Test("An array is imported in the background and comes back as ids in input order")
  func background() async throws {
    let imported = try await stack.import([Self.john, Self.jane], into: "Person")
    #expect(imported.report.summary == "read 2, inserted 2")
    let names = try await stack.read { context in
      try context.objects(with: imported.ids).map { $0["firstName"] }
    }
    #expect(names == ["John", "Jane"])
    #expect(
      try sql(stack.store, "SELECT firstName, lastName, salary, dateOfBirth FROM Person")
        == ["John|null|null|null", "Jane|Smith|1234.5|1985-12-10"]
    )
  }

  @MainActor @Test("Callers on main get main's objects, in input order, distinct")
  func mainObjects() async throws {
    let people = try await stack.importObjects(
      [Self.john, Self.jane, Self.john],
      into: "Person"
    )
    #expect(people.map { $0["firstName"] } == ["John", "Jane"])
    #expect(people.allSatisfy { $0.context === stack.main })
  }

  @Test("The default mapper takes the keys that are there and clears nulls")
  func defaultMapper() async throws {
    let first: ForeignValue = ["id": 1, "name": "Acme"]
    try await stack.import([first], into: "Company")
    let second = try await stack.import([["id": 1, "name": nil], ["id": "2"]], into: "Company")
    #expect(second.report.summary == "read 2, inserted 1, updated 1")
    #expect(try sql(stack.store, "SELECT id, name FROM Company") == ["1|null", "2|null"])
    let third = try await stack.import([["id": 1, "nmae": "x"]], into: "Company")
    #expect(third.report.issueSummary == ["record.key 1"])
    #expect(third.report.issues[0].examples[0].help == "did you mean \"name\"?")
  }

  private enum Worker: Mappable {
    static let entityName = "Person"
    static let uniqueKey: [String]? = ["ticketNumber"]
    static let ignoreNullValueOverwrites = true
    static var maps: [MapperPart] {
      [.attribute(Map("number", to: "ticketNumber")), .attribute(Map("given", to: "firstName"))]
    }
  }

  @Test("A mappable type brings its mapper; another stack does not have it")
  func mappable() async throws {
    let other = try Stack(MapperFixture.model, at: .inMemory)
    try other.mappers.register(Worker.self)
    try await other.import([["number": "A1", "given": "Jane"]], into: "Person")
    try await other.import([["number": "A1", "given": nil]], into: "Person")
    #expect(try sql(other.store, "SELECT ticketNumber, firstName FROM Person") == ["A1|Jane"])
    let here = try await stack.import([["number": "A1"]], into: "Person")
    #expect(try sql(stack.store, "SELECT ticketNumber FROM Person") == ["null"])
    #expect(here.report.summary == "read 1, inserted 1")
  }

  @Test("A malformed value, or record, in the middle of an array stops nothing")
  func malformed() async throws {
    let bad: ForeignValue = ["ticket_number": "B1", "age": "many", "cool": "maybe"]
    let imported = try await stack.import(
      [Self.jane, bad, 7, nil, [Self.john], Self.john],
      into: "Person"
    )
    #expect(imported.report.summary == "read 6, inserted 3, rejected 3")
    #expect(imported.ids.count == 3)
    #expect(
      imported.report.issueSummary.sorted()
        == ["record.type 3", "value.boolean 1", "value.type 1"]
    )
    #expect(
      try sql(stack.store, "SELECT ticketNumber, age FROM Person")
        == ["A1|36", "B1|null", "A2|null"]
    )
  }

  @Test("A mapper that names a property which does not exist is refused when it is made")
  func unknownProperty() throws {
    let error = #expect(throws: MapFaults.self) {
      try Mapper(for: "Person", in: MapperFixture.model) { Map("a", to: "firtsName") }
    }
    #expect(error?.description.contains("firstName") == true)
  }

  @Test("A unique key updates the object; without overwriting it stays as it was")
  func uniqueKey() async throws {
    let first = try await stack.import([Self.jane], into: "Person")
    let again: ForeignValue = ["ticket_number": "A1", "first_name": "Janet"]
    let second = try await stack.import([again], into: "Person")
    #expect(second.ids == first.ids)
    #expect(second.report.summary == "read 1, updated 1")
    try stack.mappers.register(MapperFixture.person(overwriteExisting: false))
    let third = try await stack.import([Self.jane], into: "Person")
    #expect(third.report.summary == "read 1, skipped 1")
    #expect(third.ids == first.ids)
    #expect(try sql(stack.store, "SELECT firstName FROM Person") == ["Janet"])
  }

  @Test("A unique key may come from a key path")
  func uniqueKeyPath() async throws {
    let mapper = try Mapper(for: "Company", in: MapperFixture.model) {
      Map("ids.tax", to: "id")
      Map("name", to: "name")
    }
    try stack.mappers.register(mapper)
    let record: ForeignValue = ["ids": ["tax": 7], "name": "a"]
    try await stack.import([record, record], into: "Company")
    #expect(try sql(stack.store, "SELECT id, name FROM Company") == ["7|a"])
  }

  @Test("With ignoreNullValueOverwrites nulls and missing keys leave what is stored")
  func ignoreNulls() async throws {
    try stack.mappers.register(MapperFixture.person(ignoreNullValueOverwrites: true))
    try await stack.import([Self.jane], into: "Person")
    let second = try await stack.import(
      [["ticket_number": "A1", "first_name": nil]],
      into: "Person"
    )
    #expect(second.report.summary == "read 1, unchanged 1")
    #expect(try sql(stack.store, "SELECT firstName, lastName FROM Person") == ["Jane|Smith"])
  }

  @Test("Two records with one key in one array make one object; the later one wins")
  func duplicates() async throws {
    let later: ForeignValue = ["ticket_number": "A1", "first_name": "Janet"]
    let imported = try await stack.import([Self.jane, Self.john, later], into: "Person")
    #expect(imported.ids.count == 2)
    #expect(imported.report.summary == "read 3, inserted 2, updated 1")
    #expect(
      try sql(stack.store, "SELECT firstName, lastName FROM Person") == ["Janet|null", "John|null"]
    )
  }

  // MARK: Hooks

  @Test("The hook gets record and object, once a record, and may import a nested thing")
  func hooks() async throws {
    var mapper = try Mapper(for: "Person", in: MapperFixture.model) {
      Map("ticket_number", to: "ticketNumber")
      Map("first_name", to: "firstName")
    }
    mapper.postImport = { record, person in
      guard let employer = record["employer"]?.record else { return }
      person[one: "employer"] = try person.context.import(employer, into: "Company")
      if person["firstName"] == "Mallory" { throw CancellationError() }
    }
    try stack.mappers.register(mapper)
    let acme: ForeignValue = ["id": 1, "name": "Acme"]
    let imported = try await stack.import(
      [
        ["ticket_number": "A1", "first_name": "Jane", "employer": acme],
        ["ticket_number": "A2", "first_name": "Mallory", "employer": ["id": 2, "name": "Evil"]],
        ["ticket_number": "A3", "first_name": "John", "employer": acme],
      ],
      into: "Person"
    )
    #expect(imported.report.summary == "read 3, inserted 2, rejected 1")
    #expect(imported.report.issueSummary == ["record.hook 1"])
    #expect(try sql(stack.store, "SELECT id, name FROM Company") == ["1|Acme"])
    #expect(
      try sql(
        stack.store,
        "SELECT firstName, name FROM Person JOIN Company c ON c._pk = employer ORDER BY firstName"
      ) == ["Jane|Acme", "John|Acme"]
    )
  }

  // MARK: Contexts

  @MainActor @Test("An import sees main's unsaved objects and does not duplicate them")
  func unsavedMain() async throws {
    let person = try stack.main.insert("Person")
    person["ticketNumber"] = "A1"
    person["lastName"] = "Unsaved"
    person["score"] = 1.5
    let imported = try await stack.import([Self.jane], into: "Person")
    #expect(imported.ids == [person.objectID])
    #expect(imported.report.summary == "read 1, updated 1")
    while person["firstName"] == .null { try await Task.sleep(for: .milliseconds(1)) }
    try stack.main.save()
    #expect(
      try sql(stack.store, "SELECT firstName, lastName, score FROM Person") == ["Jane|Smith|1.5"]
    )
  }

  @Test("Records can be imported into a given context, where they stay unsaved")
  func givenContext() async throws {
    let stack = stack
    try await stack.write { context in
      let jane = try #require(Self.jane.record)
      let person = try context.import(jane, into: "Person")
      #expect(person.isInserted && person["firstName"] == "Jane")
      #expect(try sql(stack.store, "SELECT count(*) FROM Person") == ["0"])
      let same = try context.import([Self.jane], into: "Person")
      #expect(same.ids == [person.objectID] && same.report.summary == "read 1, unchanged 1")
      try context.apply(["ticket_number": "Z9", "first_name": "Zoe"], to: person)
      #expect(person["ticketNumber"] == "Z9" && person["firstName"] == "Zoe")
      try context.apply(["first_name": "Zoë"], to: person)
      #expect(person["ticketNumber"] == "Z9" && person["firstName"] == "Zoë")
      #expect(throws: ImportError.self) {
        try context.import(["id": "x"], into: "Company")
      }
    }
    #expect(try sql(stack.store, "SELECT ticketNumber FROM Person") == ["Z9"])
  }

  @MainActor @Test("A record is not applied to an object of another context")
  func foreignObject() throws {
    let person = try stack.main.insert("Person")
    let other = ManagedObjectContext(.background, root: stack.root)
    let error = #expect(throws: ContextError.self) {
      try other.apply(["first_name": "Zoë"], to: person)
    }
    #expect(error?.code == .foreignContext)
  }

  @MainActor @Test("Main refreshes what an import changed, and is told of it once")
  func refresh() async throws {
    let people = try await stack.importObjects([Self.jane, Self.john], into: "Person")
    #expect(people[0]["firstName"] == "Jane")
    var notices = stack.changes().makeAsyncIterator()
    let later: ForeignValue = ["ticket_number": "A1", "first_name": "Janet"]
    try await stack.import([later, ["ticket_number": "A3"]], into: "Person")
    let notice = await notices.next()
    #expect(notice?.inserted.count == 1)
    #expect(notice?.updated[people[0].objectID]?.contains("firstName") == true)
    while people[0]["firstName"] != "Janet" { try await Task.sleep(for: .milliseconds(1)) }
    #expect(people[1]["firstName"] == "John")
  }

  @MainActor @Test("Main also refreshes what a map imported straight into the store")
  func feed() async throws {
    let people = try await stack.importObjects([Self.jane], into: "Person")
    #expect(people[0]["firstName"] == "Jane")
    let map = try MapperFixture.person().importMap
    let feed = Array(#"[{"ticket_number": "A1", "first_name": "Janet"}]"#.utf8)
    var notices = stack.changes().makeAsyncIterator()
    let report = try await stack.import(
      ImportRequest([.bytes(feed, name: "feed.json")]),
      by: map
    )
    #expect(report.summary == "read 1, updated 1")
    #expect(await notices.next()?.refreshedEntities.contains("Person") == true)
    while people[0]["firstName"] != "Janet" { try await Task.sleep(for: .milliseconds(1)) }
    #expect(people[0]["lastName"] == .null)
  }

  // MARK: Fetching and deleting

  @MainActor @Test("Fetching, sorting, counting and deleting, all and by predicate")
  func fetching() async throws {
    let main = stack.main
    for (name, age) in [("Anna", 30), ("Bert", 20), ("Carl", 40)] as [(String, Int64)] {
      let person = try main.insert("Person")
      person["firstName"] = .text(name)
      person["age"] = .integer(age)
    }
    try main.save()
    let up = try main.fetch(FetchRequest("Person", sortKeys: [SortKey("age")]))
    let down = try main.fetch(FetchRequest("Person", sortKeys: [SortKey("age", ascending: false)]))
    #expect(up.map { $0["firstName"] } == ["Bert", "Anna", "Carl"])
    #expect(down.map { $0["firstName"] } == ["Carl", "Anna", "Bert"])
    let old = FetchRequest("Person", filter: .where("age", .greaterThan, 25))
    #expect(try main.count(old) == 2 && main.exists(old))
    #expect(throws: ContextError.self) { try main.fetchOne(old) }
    up[0]["age"] = 26
    #expect(try main.count(old) == 3)
    #expect(try main.deleteAll(old) == 3)
    #expect(try main.count(FetchRequest("Person")) == 0)
    main.rollback()
    #expect(try main.count(old) == 2)
    try main.deleteAll(FetchRequest("Person"))
    try main.save()
    #expect(try sql(stack.store, "SELECT count(*) FROM Person") == ["0"])
  }

  @MainActor @Test("An id is a URI and back; a malformed one is refused")
  func uri() throws {
    let person = try stack.main.insert("Person")
    let id = try ObjectID(uri: person.objectID.uri)
    #expect(try stack.main.object(with: id) === person)
    #expect(throws: (any Error).self) { try ObjectID(uri: "dragoman:///Person/x") }
    #expect(throws: (any Error).self) { try ObjectID(uri: "file:///Person/1") }
  }

  @Test("A sub-entity without a mapper uses its parent's; one with its own uses that")
  func subentities() async throws {
    let imported = try await stack.import([Self.jane], into: "Employee")
    let name = try await stack.read { try $0.object(with: imported.ids[0]).entityName }
    #expect(name == "Employee")
    let mapper = try Mapper(for: "Boss", in: MapperFixture.model) {
      Map("t", to: "ticketNumber")
      Map("car", to: "car")
    }
    try stack.mappers.register(mapper)
    try await stack.import([["t": "B1", "car": "red"]], into: "Boss")
    #expect(
      try sql(stack.store, "SELECT _entity, ticketNumber, car FROM Person")
        == ["Employee|A1|null", "Boss|B1|red"]
    )
  }
}
