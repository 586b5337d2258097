import Foundation
import Testing

@testable import DragomanGraph

/// Live objects by the property names of their Swift type.
@MainActor @Suite struct ManagedTests {
  @Test("Properties read and write by name, with their types")
  func properties() throws {
    let stack = try Stack(everythingModel, at: .inMemory)
    let live = try stack.main.insert(Everything.self)
    try live.set(\.key, to: 1)
    try live.set(\.kind, to: .sedan)
    try live.set(\.maybe, to: 7)
    try live.set(\.words, to: ["a", "b"])
    try live.set(\.address, to: Address(street: "a", city: nil))
    try live.set(\.color, to: Color(red: 1, green: 2))
    try live.set(\.maybeColor, to: Color(red: 3, green: 4))
    func check() throws {
      #expect(try live.key == 1)
      #expect(try live.kind == .sedan)
      #expect(try live.maybe == 7)
      #expect(try live.words == ["a", "b"])
      #expect(try live.address == Address(street: "a", city: nil))
      #expect(try live.color == Color(red: 1, green: 2))
      #expect(try live.maybeColor == Color(red: 3, green: 4))
      #expect(try live.maybeKind == nil)
    }
    try check()
    // The rest is required, and has no value: the object is not saved, and is no value yet.
    #expect(contextCode { try stack.main.save() } == .invalid)
    #expect(valueError { try live.value }?.code == .null)
    var value = Everything(1)
    value.kind = .sedan
    value.maybe = 7
    value.words = ["a", "b"]
    value.address = Address(street: "a", city: nil)
    value.color = Color(red: 1, green: 2)
    value.maybeColor = Color(red: 3, green: 4)
    #expect(try stack.main.box(&value).objectID == live.objectID)
    try stack.main.save()
    stack.main.refreshAll()
    try check()
    try live.set(\.maybe, to: nil)
    #expect(try live.maybe == nil)
    #expect(valueError { try live.set(\.uint64, to: .max) }?.code == .range)
  }

  @Test("Relationships are live objects; references and values look the same")
  func relationships() throws {
    let stack = try Stack(staffModel, at: .inMemory)
    let main = stack.main
    let acme = try main.insert(Company.self)
    try acme.set(\.name, to: "Acme")
    let ada = try main.insert(Person.self)
    try ada.set(\.ticket, to: "1")
    try ada.set(\.employer, to: acme)
    #expect(try acme.staff.map { try $0.ticket } == ["1"])
    #expect(try ada.employer?.name == "Acme")
    let bob = try main.insert(Person.self)
    try bob.set(\.ticket, to: "2")
    try acme.set(\.staff, to: [bob])
    #expect(try ada.employer == nil)
    #expect(try bob.employer?.objectID == acme.objectID)
    try main.save()
    #expect(try main.query(Company.self).map { $0.staff.map(\.ticket) } == [["2"]])
  }

  @Test("update changes the object through its value, and keeps the object")
  func update() throws {
    let stack = try Stack(shopModel, at: .inMemory)
    let main = stack.main
    var shop = Shop("a", employees: [Employee("Tom", age: 1), Employee("Eve", age: 2)])
    let id = try main.save(&shop)
    let live = try #require(try main.live(Shop.self, with: id))
    try live.update {
      $0.age += 1
      $0.employees.removeFirst()
      $0.employees[0].age = 3
      $0.employees.append(Employee("Zoe", age: 4))
    }
    #expect(try live.age == 1 && live.object.isUpdated)
    #expect(try live.employees.map { try $0.name } == ["Eve", "Zoe"])
    #expect(try stack.sql("SELECT age FROM Shop") == ["0"])
    try main.save()
    #expect(try main.query(Shop.self).first == live.value)
    #expect(try stack.sql("SELECT name, age FROM Employee ORDER BY age") == ["Eve|3", "Zoe|4"])
    struct Refusal: Error {}
    #expect(throws: Refusal.self) {
      try live.update {
        $0.age = 99
        throw Refusal()
      }
    }
    #expect(try live.age == 1 && !main.hasChanges)
  }

  @Test("A unique key may be changed through a live object: it stays the same object")
  func changedKey() throws {
    let stack = try Stack(staffModel, at: .inMemory)
    let main = stack.main
    let id = try main.save(Person("1", name: "Ada"))
    let live = try #require(try main.live(Person.self, with: id))
    try live.update { $0.ticket = "2" }
    try main.save()
    #expect(try stack.sql("SELECT _pk, ticket FROM Person") == ["\(id.primaryKey)|2"])
  }

  @Test("An object whose row is gone throws at once")
  func gone() throws {
    let stack = try Stack(staffModel, at: .inMemory)
    let id = try stack.main.save(Person("1"))
    let live = try Managed<Person>(stack.main.object(with: id))
    try stack.execute("DELETE FROM Person")
    #expect(contextCode { try live.ticket } == .missing)
    #expect(contextCode { try live.value } == .missing)
    #expect(try stack.main.live(Person.self, with: id) == nil)
    #expect(try stack.main.value(Person.self, with: id) == nil)
  }

  @Test("Only objects of the entity, or below it, can be seen as the type")
  func family() throws {
    let stack = try Stack(staffModel, at: .inMemory)
    let company = try stack.main.insert("Company")
    #expect(valueError { try Managed<Person>(company) }?.code == .type)
    let id = company.objectID
    #expect(valueError { try stack.main.live(Person.self, with: id) }?.code == .stale)
  }
}
