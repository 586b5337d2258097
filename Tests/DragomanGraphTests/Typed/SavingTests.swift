import Foundation
import Testing

@testable import DragomanGraph

/// Saving and deleting values with ids: CoreValue's cases, and its traps.
@MainActor @Suite struct SavingTests {
  private let stack: Stack
  private var main: ManagedObjectContext { stack.main }

  init() throws { stack = try Stack(shopModel, at: .inMemory) }

  private let count = "SELECT (SELECT count(*) FROM Shop), (SELECT count(*) FROM Employee)"

  @Test("Saving inserts once and updates then; ids come back into nested values")
  func saveTwice() throws {
    var shop = Shop(
      "Household Wares",
      age: 30,
      owner: Owner(name: "Ada"),
      employees: [Employee("Tom", age: 18), Employee("Eve", age: 40, position: "till")]
    )
    let id = try main.save(&shop)
    #expect(shop.objectID == id && shop.owner?.objectID != nil)
    #expect(Set(shop.employees.compactMap(\.objectID)).count == 2)
    shop.age += 1
    shop.employees[0].age += 1
    #expect(try main.save(&shop) == id)
    #expect(try main.query(Shop.self) == [shop])
    #expect(try stack.sql(count) == ["1|2"])
    #expect(try stack.sql("SELECT _v FROM Owner") == ["1"])
    try main.save(&shop)
    #expect(try stack.sql("SELECT _v FROM Shop") == ["2"])
  }

  @Test("Re-ordering is stored, and removed children follow the delete rule")
  func children() throws {
    var shop = Shop("a", employees: ["x", "y", "z"].map { Employee($0, age: 1) })
    try main.save(&shop)
    shop.employees.reverse()
    try main.save(&shop)
    #expect(try main.query(Shop.self) == [shop])
    shop.employees.remove(at: 1)
    shop.employees.append(Employee("new", age: 2))
    try main.save(&shop)
    #expect(try main.query(Shop.self) == [shop])
    #expect(
      try stack.sql("SELECT name FROM Employee ORDER BY _pk") == ["x", "z", "new"]
    )
    shop.employees = []
    try main.save(&shop)
    #expect(try main.query(Shop.self)[0].employees == [])
    #expect(try stack.sql(count) == ["1|0"])
  }

  @Test("A child that moves to another owner in the same batch is not deleted")
  func moving() throws {
    var shops = [Shop("a", employees: [Employee("Tom", age: 1)]), Shop("b")]
    try main.saveAll(&shops)
    shops[1].employees = shops[0].employees
    shops[0].employees = []
    try main.saveAll(&shops)
    #expect(try main.query(Shop.self) == shops)
    #expect(try stack.sql(count) == ["2|1"])
  }

  @Test("A removed target of a nullify relationship stays")
  func nullify() throws {
    var shop = Shop("a", owner: Owner(name: "Ada"))
    try main.save(&shop)
    shop.owner = Owner(name: "Bob")
    try main.save(&shop)
    #expect(try stack.sql("SELECT name FROM Owner ORDER BY _pk") == ["Ada", "Bob"])
    shop.owner = nil
    try main.save(&shop)
    #expect(try main.query(Shop.self)[0].owner == nil)
    #expect(try stack.sql("SELECT count(*) FROM Owner") == ["2"])
  }

  @Test("Deleting clears the id and cascades; a second time there is nothing to delete")
  func delete() throws {
    var shop = Shop("a", owner: Owner(name: "Ada"), employees: [Employee("Tom", age: 1)])
    try main.save(&shop)
    #expect(try main.delete(&shop))
    #expect(shop.objectID == nil)
    #expect(try stack.sql(count) == ["0|0"])
    #expect(try stack.sql("SELECT count(*) FROM Owner") == ["1"])
    #expect(try !main.delete(&shop))
  }

  @Test("A stale id is an error that leaves everything alone, unless a new object is asked for")
  func stale() throws {
    var shop = Shop("a")
    let id = try main.save(&shop)
    try main.deleteAll(Shop.self)
    shop.name = "b"
    let before = shop
    let error = valueError { try main.save(&shop) }
    #expect(error?.code == .stale && error?.object == id)
    #expect(shop == before)
    try main.save(&shop, reinserting: true)
    #expect(shop.objectID != id && shop.objectID != nil)
    #expect(try main.query(Shop.self) == [shop])
  }

  @Test("An id of another entity is refused")
  func foreignID() throws {
    var shop = Shop("a")
    shop.objectID = ObjectID(entity: "Owner", primaryKey: 1)
    #expect(valueError { try main.save(&shop) }?.message.contains("is no object of Shop") == true)
  }

  @Test("A save commits that value and what it refers to, and nothing else that is pending")
  func onlyThat() async throws {
    let form = try main.insert(Shop.self)
    try form.set(\.name, to: "half-edited")
    try form.set(\.age, to: 1)
    var shop = Shop("whole")
    try main.save(&shop)
    #expect(try stack.sql("SELECT name FROM Shop") == ["whole"])
    #expect(form.object.isInserted && main.hasChanges)
    #expect(
      try main.query(Shop.self, sort: [.ascending(\.name)]).map(\.name) == ["half-edited", "whole"]
    )
    // The employee is stored with the shop that holds it.
    let employee = try main.insert(Employee.self)
    try employee.set(\.name, to: "Tom")
    try employee.set(\.age, to: 3)
    shop.employees = [try employee.value]
    try main.save(&shop)
    #expect(try stack.sql("SELECT name, age FROM Employee") == ["Tom|3"])
    #expect(form.object.isInserted)
  }

  @Test("Rules are checked before anything is written, and ids are not set then")
  func rules() throws {
    var shop = Shop("a", employees: [Employee("Tom", age: -1), Employee("Eve", age: -2)])
    do {
      try main.save(&shop)
      Issue.record("two employees are too young")
    } catch let error as ContextError {
      #expect(error.code == .invalid && error.faults.count == 2)
    }
    #expect(shop.objectID == nil && shop.employees.allSatisfy { $0.objectID == nil })
    #expect(try stack.sql(count) == ["0|0"])
    #expect(!main.hasChanges)
    // The bulk path has the same rules.
    let employees = [Employee("Tom", age: 1), Employee("Eve", age: -2)]
    #expect(contextCode { try main.saveAll(employees) } == .invalid)
    #expect(try stack.sql(count) == ["0|0"])
  }

  @Test("Live objects of main see what values saved, in the same turn")
  func seen() async throws {
    var shop = Shop("a", owner: Owner(name: "Ada"))
    try main.save(&shop)
    let live = try #require(try main.live(Shop.self, \.name == "a"))
    #expect(try live.age == 0)
    shop.age = 5
    try main.save(&shop)
    #expect(try live.age == 5)
    let saved = shop
    try await stack.read { context in
      var copy = saved
      copy.age = 6
      try context.save(&copy)
    }
    try await wait { try live.age == 6 }
    #expect(try live.age == 6)
  }

  @Test("A value that is saved has the last word of what is unsaved of the same properties")
  func lastWord() throws {
    var shop = Shop("a", age: 1)
    try main.save(&shop)
    let live = try #require(try main.live(Shop.self, \.name == "a"))
    try live.set(\.age, to: 1000)
    shop.age = 5
    try main.save(&shop)
    #expect(try live.age == 5 && !main.hasChanges)
    #expect(try main.value(Shop.self, with: #require(shop.objectID))?.age == 5)
    // Said again what is unsaved, too: it is stored.
    try live.set(\.age, to: 7)
    shop.age = 7
    try main.save(&shop)
    #expect(try stack.sql("SELECT age FROM Shop") == ["7"] && !main.hasChanges)
    main.rollback()
    #expect(try live.age == 7)
    try live.set(\.age, to: 8)
    try main.save()
    #expect(try stack.sql("SELECT age FROM Shop") == ["8"])
  }

  @Test("An update stores what it changes, and not what main shows of the rest")
  func onlyWhatDiffers() async throws {
    var shop = Shop("a", age: 1, owner: Owner(name: "Ada"))
    let id = try main.save(&shop)
    let live = try #require(try main.live(Shop.self, \.name == "a"))
    try live.set(\.age, to: 1000)
    try await stack.repository(of: Shop.self).update(id) { $0.name = "b" }
    #expect(try stack.sql("SELECT name, age FROM Shop") == ["b|1"])
    try main.save()
    #expect(try stack.sql("SELECT name, age FROM Shop") == ["b|1000"])
  }

  @Test("Boxing into a context leaves the change unsaved")
  func box() throws {
    var shop = Shop("a", employees: [Employee("Tom", age: 1)])
    let live = try main.box(&shop)
    #expect(try live.name == "a" && live.object.isInserted)
    #expect(shop.objectID == live.objectID)
    #expect(try stack.sql(count) == ["0|0"])
    try main.save()
    #expect(try stack.sql(count) == ["1|1"])
    #expect(try main.query(Shop.self) == [shop])
  }

  @Test("All of a batch is saved, or nothing, whichever way it is written")
  func batches() throws {
    var employees = (0..<3).map { Employee("e\($0)", age: Int16($0)) }
    try main.saveAll(&employees)
    let keys = employees.compactMap { $0.objectID?.primaryKey }
    #expect(keys.count == 3 && keys == keys.sorted())
    #expect(try main.query(Employee.self) == employees)
    // With ids: through objects.
    for index in employees.indices { employees[index].age += 10 }
    try main.saveAll(&employees)
    #expect(try main.query(Employee.self) == employees)
    #expect(try main.deleteAll(&employees) == 3)
    #expect(employees.allSatisfy { $0.objectID == nil })
    #expect(try stack.sql(count) == ["0|0"])
  }
}
