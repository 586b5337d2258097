import Foundation
import Testing

@testable import DragomanGraph

/// Reading values: filters, order, slices, and the same answer with and without unsaved changes.
@MainActor @Suite struct QueryTests {
  private let stack: Stack
  private var main: ManagedObjectContext { stack.main }

  init() throws {
    stack = try Stack(shopModel, at: .inMemory)
    try stack.main.saveAll(
      ["Eve", "ada", "Bob", "Ada"].enumerated().map { index, name in
        Employee(name, age: Int16(index), position: index == 2 ? nil : "p\(index)")
      }
    )
  }

  private func names(_ filter: ValueFilter<Employee>) throws -> [String] {
    try main.query(Employee.self, filter).map(\.name)
  }

  @Test("Filters of key paths compare by type")
  func filters() throws {
    #expect(try names(\.name == "Bob") == ["Bob"])
    #expect(try names(\.name != "Bob") == ["Eve", "ada", "Ada"])
    #expect(try names(\.age >= 2) == ["Bob", "Ada"])
    #expect(try names(\.age < 1 || \.age > 2) == ["Eve", "Ada"])
    #expect(try names(\.age <= 2 && !(\.name == "ada")) == ["Eve", "Bob"])
    #expect(try names(\.position == nil) == ["Bob"])
    #expect(try names(\.position != nil && \.age < 2) == ["Eve", "ada"])
    #expect(try names(.equal(\.name, "ADA", .caseInsensitive)) == ["ada", "Ada"])
    #expect(try names(.beginsWith(\.name, "A")) == ["Ada"])
    #expect(try names(.endsWith(\.name, "e") || .contains(\.name, "o")) == ["Eve", "Bob"])
    #expect(try names(.isIn(\.age, [0, 3, 9])) == ["Eve", "Ada"])
    #expect(try names(.between(\.age, 1...2)) == ["ada", "Bob"])
    #expect(try names(.between(\.position, "p0"..."p1")) == ["Eve", "ada"])
    #expect(try names(ValueFilter(parsing: "name LIKE '?da'")) == ["ada", "Ada"])
    #expect(try main.count(Employee.self, \.age > 0) == 3)
    #expect(try main.count(Employee.self) == 4)
  }

  @Test("Filters and sort keys go through to-ones, of values and of references")
  func paths() throws {
    let stack = try Stack(shopModel, at: .inMemory)
    try stack.main.saveAll([
      Shop("a", age: 3, owner: Owner(name: "Zoe")), Shop("b", age: 1, owner: Owner(name: "Ada")),
      Shop("c", age: 2),
    ])
    func names(_ filter: ValueFilter<Shop>?, _ sort: [ValueSort<Shop>] = []) throws -> [String] {
      try stack.main.query(Shop.self, filter, sort: sort).map(\.name)
    }
    #expect(try names(\.owner.name == "Ada") == ["b"])
    #expect(try names(\.owner.name > "B" && \.age > 1) == ["a"])
    #expect(try names(.beginsWith(\.owner.name, "z", .caseInsensitive)) == ["a"])
    #expect(try names(.isIn(\.owner.name, ["Ada", "Zoe"]), [.ascending(\.age)]) == ["b", "a"])
    #expect(try names(nil, [.ascending(\.owner.name)]) == ["c", "b", "a"])
    #expect(try names(nil, [.descending(\.owner.name), .ascending(\.age)]) == ["a", "b", "c"])

    let staff = try Stack(staffModel, at: .inMemory)
    var acme = Company("Acme")
    try staff.main.save(&acme)
    try staff.main.save(Person("1", name: "Ada", employer: Ref(acme)))
    try staff.main.save(Person("2", name: "Bob"))
    #expect(try staff.main.query(Person.self, \.employer.name == "Acme").map(\.ticket) == ["1"])
    let live = try #require(try staff.main.live(Person.self, \.ticket == "1"))
    #expect(valueError { try live.set(\.employer.name, to: "Else") }?.code == .schema)
    let keys = ValueSort<Person>.ascending(\.employer.name)
    #expect(keys.key == SortKey("employer.name"))
  }

  @Test("Order, limit and offset")
  func order() throws {
    let sorted = try main.query(
      Employee.self,
      sort: [.ascending(\.name, .caseInsensitive), .descending(\.age)],
      limit: 2,
      offset: 1
    )
    #expect(sorted.map(\.age) == [1, 2])
  }

  @Test("Values of every type are compared in their stored form")
  func types() throws {
    let stack = try Stack(everythingModel, at: .inMemory)
    var value = Everything(1)
    value.decimal = Decimal(string: "1.50") ?? 0
    value.flag = true
    value.instant = Date(timeIntervalSince1970: 86_400)
    value.kind = .sedan
    try stack.main.save(value)
    func count(_ filter: ValueFilter<Everything>) throws -> Int {
      try stack.main.count(Everything.self, filter)
    }
    #expect(try count(\.decimal == 1.5) == 1)
    #expect(try count(\.flag == true) == 1)
    #expect(try count(\.instant < Date(timeIntervalSince1970: 86_401)) == 1)
    #expect(try count(\.kind == .sedan) == 1)
    #expect(try count(\.level == .low) == 1)
    #expect(try count(\.uuid == value.uuid) == 1)
    #expect(try count(\.maybe == nil) == 1)
    #expect(try count(\.maybe == 1) == 0)
    #expect(try count(\.uint64 < .max) == 1)
    #expect(try count(\.uint64 >= .max) == 0)
    #expect(try count(\.uint64 == .max) == 0)
    #expect(try count(.between(\.uint64, 0...UInt64.max)) == 1)
    #expect(
      valueError { try count(\.double == .nan) }?.message.contains(
        "a value that no object can have"
      )
        == true
    )
  }

  @Test("Objects that a relationship leads to")
  func relationships() throws {
    var shops = [
      Shop("a", owner: Owner(name: "Ada")), Shop("b", employees: [Employee("x", age: 1)]),
    ]
    try main.saveAll(&shops)
    let owner = try #require(shops[0].owner?.objectID)
    let employee = try #require(shops[1].employees[0].objectID)
    #expect(try main.query(Shop.self, .leads(\.owner, to: owner)) == [shops[0]])
    #expect(try main.query(Shop.self, .leads(\.employees, to: employee)) == [shops[1]])
  }

  @Test("Unsaved changes are in the answer, and it is the same as after the save")
  func unsaved() throws {
    let live = try #require(try main.live(Employee.self, \.name == "Bob"))
    try live.set(\.age, to: 50)
    let new = try main.insert(Employee.self)
    try new.set(\.name, to: "Zoe")
    try new.set(\.age, to: 60)
    let old = try #require(try main.live(Employee.self, \.name == "Eve"))
    main.delete(old)
    let before = try main.query(Employee.self, \.age > 0, sort: [.descending(\.age)])
    #expect(before.map(\.name) == ["Zoe", "Bob", "Ada", "ada"])
    try main.save()
    #expect(try main.query(Employee.self, \.age > 0, sort: [.descending(\.age)]) == before)
  }

  @Test("A query makes no objects")
  func noObjects() throws {
    let context = main
    _ = try context.query(Employee.self)
    let registered = context.identities.map { $0.count }
    #expect(registered == [0, 0, 0])
  }

  @Test("A type that does not describe its entity is refused with the reason, before anything runs")
  func schema() throws {
    #expect(
      valueError { try main.query(Author.self) }?.description.contains(
        "The model has no entity \"Author\""
      ) == true
    )
    #expect(valueError { try main.query(Misnamed.self) }?.help == "did you mean \"name\"?")
    #expect(
      valueError { try main.query(Mistyped.self) }?.message
        == "Mistyped.age is String, and Employee.age is an int16, which it cannot hold."
    )
    #expect(
      valueError { try main.query(Misnumbered.self) }?.message.contains("with slot 0") == true
    )
  }
}

private struct Misnamed: EntityValue {
  var naem = ""
  struct Fields: Sendable {
    let naem = Field(0, "naem", \Misnamed.naem)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Misnamed>("Employee", [fields.naem])
  init(from row: borrowing UnboxingRow) throws { naem = try row[Self.fields.naem] }
}

private struct Mistyped: EntityValue {
  var age = ""
  struct Fields: Sendable {
    let age = Field(0, "age", \Mistyped.age)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Mistyped>("Employee", [fields.age])
  init(from row: borrowing UnboxingRow) throws { age = try row[Self.fields.age] }
}

private struct Misnumbered: EntityValue {
  var name = ""
  var position: String?
  struct Fields: Sendable {
    let name = Field(0, "name", \Misnumbered.name)
    let position = Field(0, "position", \Misnumbered.position)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Misnumbered>("Employee", [fields.name, fields.position])
  init(from row: borrowing UnboxingRow) throws { name = try row[Self.fields.name] }
}

extension ManagedObjectContext {
  fileprivate func delete<Value: EntityValue>(_ live: Managed<Value>) {
    do { try delete(live.object) } catch { Issue.record(error) }
  }
}
