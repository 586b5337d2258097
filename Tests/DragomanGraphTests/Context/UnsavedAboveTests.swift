import Testing

@testable import DragomanGraph

/// What others write of objects that main has changed, and not saved.
@MainActor
@Suite("Objects that main is changing") struct UnsavedAboveTests {
  private let stack: Stack
  private var main: ManagedObjectContext { stack.main }
  private let person: ManagedObject

  init() async throws {
    stack = try Stack(crm, at: .inMemory)
    try await stack.write { context in
      let person = try context.insert("Person")
      person["name"] = "a"
      person["age"] = 1
      try context.insert("Company")["name"] = "acme"
    }
    person = try stack.main.object(with: id("Person", 1))
  }

  enum Way: CaseIterable, Sendable {
    case durable, merged, nested
  }

  @Test(
    "Who says what main has unsaved has said it: it is stored, whatever becomes of main's",
    arguments: Way.allCases
  )
  func same(way: Way) async throws {
    person["name"] = "b"
    person[one: "company"] = try main.object(with: id("Company", 1))
    let say: @Sendable (ManagedObjectContext) throws -> Void = { context in
      let person = try context.object(with: id("Person", 1))
      person["name"] = "b"
      person[one: "company"] = try context.object(with: id("Company", 1))
    }
    switch way {
    case .durable: try await stack.write(say)
    case .merged: try await stack.write(until: .merged, say)
    case .nested: try await stack.write { try $0.nested(say) }
    }
    try await wait { try stack.sql("SELECT name, company FROM Person") == ["b|1"] }
    #expect(try stack.sql("SELECT name, company FROM Person") == ["b|1"])
    main.rollback()
    #expect(person["name"] == "b" && person[one: "company"]?.objectID == id("Company", 1))
    person["name"] = "c"
    try main.save()
    #expect(try stack.sql("SELECT name, company FROM Person") == ["c|1"])
  }

  @Test("That a to-one leads nowhere is said, too; who links the same is no conflict")
  func toOnes() async throws {
    person[one: "company"] = try main.object(with: id("Company", 1))
    try main.save()
    person[one: "company"] = nil
    try await stack.write { try $0.object(with: id("Person", 1))[one: "company"] = nil }
    #expect(try stack.sql("SELECT company IS NULL FROM Person") == ["1"])
    try main.save()
    person[one: "company"] = try main.object(with: id("Company", 1))
    try await stack.write { context in
      let company = try context.object(with: id("Company", 1))
      try company.add(context.object(with: id("Person", 1)), to: "employees")
    }
    #expect(try stack.sql("SELECT company FROM Person") == ["1"])
    try main.save()
    #expect(try stack.sql("SELECT company FROM Person") == ["1"])
  }

  @Test("A place in an ordered list of main's stays main's", arguments: [true, false])
  func places(isMerged: Bool) async throws {
    let phones = try (1...3).map { number in
      let phone = try main.insert("Phone")
      phone["number"] = .text("\(number)")
      return phone
    }
    try main.save()
    person[many: "phones"] = phones
    let link: @Sendable (ManagedObjectContext) throws -> Void = { context in
      let phone = try context.object(with: id("Phone", 1))
      phone["number"] = "9"
      phone[one: "owner"] = try context.object(with: id("Person", 1))
    }
    try await stack.write(until: isMerged ? .merged : .durable, link)
    #expect(person[many: "phones"].map(\.place.key) == [1, 2, 3])
    try main.save()
    try await wait {
      try stack.sql("SELECT number, owner, _phones_order FROM Phone ORDER BY _pk")
        == ["9|1|0", "2|1|1", "3|1|2"]
    }
    #expect(person[many: "phones"].map(\.place.key) == [1, 2, 3])
  }

  @Test("A list that others change stores no place of what main has added to it")
  func listed() async throws {
    for number in 1...3 { try main.insert("Phone")["number"] = .text("\(number)") }
    try main.save()
    person[many: "phones"] = try [2, 3].map { try main.object(with: id("Phone", $0)) }
    try await stack.write { context in
      let phone = try context.object(with: id("Phone", 1))
      try context.object(with: id("Person", 1)).add(phone, to: "phones")
    }
    let places = "SELECT owner IS NULL, _phones_order IS NULL FROM Phone ORDER BY _pk"
    #expect(try stack.sql(places) == ["0|0", "1|1", "1|1"])
    try main.save()
    #expect(
      try stack.sql("SELECT _pk FROM Phone WHERE owner = 1 ORDER BY _phones_order")
        == ["2", "3", "1"]
    )
  }

  @Test("Both have changed it then: main's save is a conflict, as with any other value")
  func conflict() async throws {
    person["name"] = "b"
    try await stack.write { try $0.object(with: id("Person", 1))["name"] = "b" }
    let error = #expect(throws: ContextError.self) { try main.save() }
    #expect(error?.code == .conflict && error?.conflicts.map(\.property) == ["name"])
    main.refresh(person, keepingChanges: true)
    try main.save()
    #expect(try stack.sql("SELECT name FROM Person") == ["b"])
  }

  @Test("What nobody has changed is not written again")
  func unchanged() async throws {
    person["age"] = 7
    try await stack.write { try $0.object(with: id("Person", 1))["name"] = "a" }
    #expect(try stack.sql("SELECT _v, age FROM Person") == ["1|1"])
    try main.save()
    #expect(try stack.sql("SELECT _v, age FROM Person") == ["2|7"])
  }

  enum Other: CaseIterable, Sendable {
    case write, past, link
  }

  @Test(
    "What is taken back shows what is stored by now, and can be changed and saved",
    arguments: Other.allCases,
    [true, false]
  )
  func takenBack(other: Other, byRollback: Bool) async throws {
    let name = other == .link ? "company" : "age"
    person["age"] = 5
    if other == .link { person[one: "company"] = try main.object(with: id("Company", 1)) }
    let results = try main.results(FetchRequest("Person", filter: .where("age", .greaterThan, 3)))
    #expect(results.count == 1)
    switch other {
    case .write: try await stack.write { try $0.object(with: id("Person", 1))["age"] = 7 }
    case .past:
      try stack.elsewhere("UPDATE Person SET age = 7, _v = _v + 1")
      stack.storeDidChange()
    case .link:
      try await stack.write { context in
        try context.insert("Company")["name"] = "other"
        let person = try context.object(with: id("Person", 1))
        person["age"] = 7
        person[one: "company"] = try context.object(with: id("Company", 2))
      }
    }
    await Task { @MainActor in }.value
    if byRollback {
      main.rollback()
    } else {
      person["age"] = 1
      if other == .link { person[one: "company"] = nil }
    }
    #expect(!main.hasChanges && person["age"] == 7, "\(name)")
    if other == .link { #expect(person[one: "company"]?.objectID == id("Company", 2)) }
    #expect(results.count == 1)
    person["age"] = 50
    try main.save()
    #expect(try stack.sql("SELECT age FROM Person") == ["50"])
  }

  @Test("What was deleted elsewhere is gone when what was unsaved of it is dropped")
  func deleted() async throws {
    person["age"] = 5
    try stack.elsewhere("DELETE FROM Person")
    stack.storeDidChange()
    main.rollback()
    #expect(throws: ContextError.self) { try person.value(of: "age") }
    #expect(try main.fetch(FetchRequest("Person")).isEmpty)
  }
}
