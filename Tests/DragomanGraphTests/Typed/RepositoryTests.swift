import Foundation
import Testing

@testable import DragomanGraph

/// SwiftyCoreData's controller, asynchronous and throwing.
@Suite struct RepositoryTests {
  private let stack: Stack

  init() throws { stack = try Stack(shopModel, at: .inMemory) }

  @Test(
    "Everything works in the background and on main",
    arguments: [Repository<Shop>.Place.background, .main]
  )
  func operations(place: Repository<Shop>.Place) async throws {
    let shops = stack.repository(of: Shop.self, on: place)
    let a = try await shops.save(Shop("a", age: 1, employees: [Employee("Tom", age: 1)]))
    let others = try await shops.save([Shop("b", age: 2), Shop("c", age: 3)])
    #expect(try await shops.fetchAll() == [a] + others)
    #expect(try await shops.fetch(\.age > 1, sort: [.descending(\.age)]) == others.reversed())
    #expect(try await shops.first(sort: [.descending(\.name)]) == others[1])
    #expect(try await shops.fetch(#require(a.objectID)) == a)
    #expect(try await shops.count() == 3)
    // Updating keeps the objects: SwiftyCoreData deleted and inserted.
    #expect(try await shops.update(\.age >= 2) { $0.age += 10 } == 2)
    #expect(try await shops.fetch(\.age > 10).map(\.objectID) == others.map(\.objectID))
    let changed = try await shops.update(#require(a.objectID)) { $0.employees[0].age = 9 }
    #expect(changed.employees.map(\.age) == [9] && changed.objectID == a.objectID)
    #expect(try await shops.delete(a))
    #expect(try await shops.delete(others) == 2)
    #expect(try await shops.count() == 0)
    _ = try await shops.save([Shop("x"), Shop("y")])
    #expect(try await shops.deleteAll(\.name == "x") == 1)
    #expect(try await shops.deleteAll() == 1)
    #expect(try stack.sql("SELECT count(*) FROM Employee") == ["0"])
  }

  @Test("Two who count up at once both count")
  func counting() async throws {
    let shops = stack.repository(of: Shop.self)
    let shop = try #require(try await shops.save(Shop("a", age: 0)).objectID)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        group.addTask {
          if number % 2 == 0 {
            _ = try await shops.update(shop) { $0.age += 1 }
          } else {
            _ = try await shops.update(\.name == "a") { $0.age += 1 }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await shops.fetch(shop)?.age == 40)
  }

  @Test("Who saves and deletes the same at once is done one after the other")
  func savesAtOnce() async throws {
    let stack = try Stack(Model(Counted.self), at: .inMemory)
    let shops = stack.repository(of: Counted.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<30 {
        group.addTask { _ = try await shops.save(Counted(name: "same", age: number)) }
      }
      try await group.waitForAll()
    }
    let saved = try await shops.fetchAll()
    try #require(saved.count == 1)
    let id = try #require(saved[0].objectID)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          if number == 10 {
            _ = try await shops.delete(saved[0])
          } else {
            _ = try? await shops.update(id) { $0.age += 1 }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await shops.count() == 0)
  }

  @Test("Errors come back to the caller, and a batch that fails leaves nothing")
  func errors() async throws {
    let employees = stack.repository(of: Employee.self)
    #expect(
      await contextCode {
        try await employees.save([Employee("a", age: 1), Employee("b", age: -1)])
      } == .invalid
    )
    #expect(try await employees.count() == 0)
    struct Refusal: Error {}
    _ = try await employees.save([Employee("a", age: 1), Employee("b", age: 2)])
    await #expect(throws: Refusal.self) {
      try await employees.update { employee in
        if employee.age == 2 { throw Refusal() }
        employee.age = 50
      }
    }
    #expect(try await employees.fetchAll(sort: [.ascending(\.age)]).map(\.age) == [1, 2])
  }

  @Test("Changes tell ids, of this entity only, by whomever they were made")
  func changes() async throws {
    let owners = stack.repository(of: Owner.self)
    var changes = owners.changes().makeAsyncIterator()
    _ = try await stack.repository(of: Employee.self).save(Employee("x", age: 1))
    let ada = try await owners.save(Owner(name: "Ada"))
    let id = try #require(ada.objectID)
    #expect(await changes.next() == .init(inserted: [id]))
    try await stack.write { try $0.object(with: id)["name"] = "Bob" }
    #expect(await changes.next() == .init(updated: [id]))
    _ = try await owners.delete(ada)
    #expect(await changes.next() == .init(deleted: [id]))
    try stack.close()
    #expect(await changes.next() == nil)
  }

  @Test("Values are told now and after each change")
  func values() async throws {
    let owners = stack.repository(of: Owner.self)
    _ = try await owners.save(Owner(name: "Ada"))
    var values = owners.values(sort: [.ascending(\.name)]).makeAsyncIterator()
    #expect(try await values.next()?.map(\.name) == ["Ada"])
    _ = try await owners.save(Owner(name: "Bob"))
    #expect(try await values.next()?.map(\.name) == ["Ada", "Bob"])
  }

  @Test("Values are told again when only a nested value changes", .timeLimit(.minutes(60)))
  func nestedValues() async throws {
    let shops = stack.repository(of: Shop.self)
    let shop = try await shops.save(Shop("a", employees: [Employee("Tom", age: 1)]))
    var values = shops.values().makeAsyncIterator()
    #expect(try await values.next() == [shop])
    let employees = stack.repository(of: Employee.self)
    _ = try await employees.update(\.name == "Tom") { $0.age = 2 }
    #expect(try await values.next()?.first?.employees.map(\.age) == [2])
  }

  @Test(
    "Values are told again when what their condition leads to changes",
    .timeLimit(.minutes(60))
  )
  func relatedValues() async throws {
    let stack = try Stack(staffModel, at: .inMemory)
    let companies = stack.repository(of: Company.self)
    let people = stack.repository(of: Person.self)
    let acme = try await companies.save(Company("Acme"))
    _ = try await people.save(Person("1", employer: Ref(acme)))
    let filter = try ValueFilter<Person>(parsing: "employer.name == 'Acme'")
    var values = people.values(filter).makeAsyncIterator()
    #expect(try await values.next()?.map(\.ticket) == ["1"])
    try await stack.write { try $0.object(with: #require(acme.objectID))["name"] = "Bits" }
    #expect(try await values.next()?.map(\.ticket) == [])
  }

  @Test("A condition that cannot be followed ends the values with its error")
  func wrongValues() async throws {
    let wrong = try ValueFilter<Shop>(parsing: "naem == 'a'")
    var values = stack.repository(of: Shop.self).values(wrong).makeAsyncIterator()
    await #expect(throws: StoreError.self) { try await values.next() }
  }

  @Test("Many writers at once lose nothing")
  func concurrency() async throws {
    let tags = try Stack(library, at: .inMemory).repository(of: Tag.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask { try await tags.save([Tag("\(number % 5)"), Tag("own \(number)")]) }
      }
      try await group.waitForAll()
    }
    #expect(try await tags.count() == 25)
  }
}

/// A value with a key.
private struct Counted: PersistentValue, Hashable {
  var objectID: ObjectID?
  var name: String
  var age: Int

  struct Fields: Sendable {
    let name = Field(0, "name", \Counted.name)
    let age = Field(1, "age", \Counted.age)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Counted>(
    "Counted",
    uniqueKeys: [["name"]],
    [fields.name, fields.age]
  )

  init(name: String, age: Int) { (self.name, self.age) = (name, age) }

  init(from row: borrowing UnboxingRow) throws {
    objectID = row.objectID
    name = try row[Self.fields.name]
    age = try row[Self.fields.age]
  }
}
