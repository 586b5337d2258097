import DragomanGraph
import DragomanOperators
import Foundation
import Testing

/// Unboxing by operators, as CoreValue had it.
@MainActor @Suite struct OperatorTests {
  @Test("Operators unbox attributes, optionals, nested values and lists")
  func operators() throws {
    let stack = try Stack(shopModel, at: .inMemory)
    var shop = Shop("a", age: 3, owner: Owner(name: "Ada"), employees: [Employee("Tom", age: 1)])
    try stack.main.save(&shop)
    try stack.main.save(Shop("b"))
    let read = try stack.main.query(OperatorShop.self)
    #expect(read.map(\.name) == ["a", "b"])
    #expect(read.map { $0.owner?.name } == ["Ada", nil])
    #expect(read.map { $0.employees.map(\.name) } == [["Tom"], []])
    #expect(
      try stack.main.query(CurriedEmployee.self) == [
        CurriedEmployee(name: "Tom", age: 1, position: nil)
      ]
    )
  }

  @Test("nil gives nil under <|?, a wrong type throws")
  func optionals() throws {
    let stack = try Stack(shopModel, at: .inMemory)
    try stack.main.save(Employee("Tom", age: 1))
    #expect(try stack.main.query(CurriedEmployee.self)[0].position == nil)
    try stack.execute("UPDATE Employee SET position = x'00'")
    #expect(throws: ValueError.self) { try stack.main.query(CurriedEmployee.self) }
    try stack.execute("UPDATE Employee SET position = NULL, name = NULL")
    #expect(throws: ValueError.self) { try stack.main.query(CurriedEmployee.self) }
  }

  @Test("curry takes up to twenty parameters")
  func curried() {
    func all(
      _ a: Int,
      _ b: Int,
      _ c: Int,
      _ d: Int,
      _ e: Int,
      _ f: Int,
      _ g: Int,
      _ h: Int,
      _ i: Int,
      _ j: Int,
      _ k: Int,
      _ l: Int,
      _ m: Int,
      _ n: Int,
      _ o: Int,
      _ p: Int,
      _ q: Int,
      _ r: Int,
      _ s: Int,
      _ t: Int
    ) -> [Int] {
      [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t]
    }
    let first = curry(all)(1)(2)(3)(4)(5)(6)(7)(8)(9)(10)
    #expect(first(11)(12)(13)(14)(15)(16)(17)(18)(19)(20) == Array(1...20))
    #expect((curry { (a: Int, b: String) in "\(a)\(b)" } <^> 1 <^> "x") == "1x")
  }
}

private struct OperatorShop: EntityValue {
  var name: String
  var owner: Owner?
  var employees: [Employee]

  struct Fields: Sendable {
    let name = Field(0, "name", \OperatorShop.name)
    let owner = Field(1, "owner", \OperatorShop.owner)
    let employees = Field(2, "employees", \OperatorShop.employees)
  }
  static let fields = Fields()
  static let schema = EntitySchema<OperatorShop>(
    "Shop",
    [fields.name, fields.owner, fields.employees]
  )

  init(name: String, owner: Owner?, employees: [Employee]) {
    (self.name, self.owner, self.employees) = (name, owner, employees)
  }

  init(from row: borrowing UnboxingRow) throws {
    try self.init(name: row <| "name", owner: row <|? "owner", employees: row <|| "employees")
  }
}

private struct CurriedEmployee: EntityValue, Equatable {
  var name: String
  var age: Int
  var position: String?

  struct Fields: Sendable {
    let name = Field(0, "name", \CurriedEmployee.name)
    let age = Field(1, "age", \CurriedEmployee.age)
    let position = Field(2, "position", \CurriedEmployee.position)
  }
  static let fields = Fields()
  static let schema = EntitySchema<CurriedEmployee>(
    "Employee",
    [fields.name, fields.age, fields.position]
  )

  init(name: String, age: Int, position: String?) {
    (self.name, self.age, self.position) = (name, age, position)
  }

  init(from row: borrowing UnboxingRow) throws {
    let make = curry(CurriedEmployee.init(name:age:position:))
    let made = try make <^> row <| "name" <^> row <| "age" <^> row <|? "position"
    self = made
  }
}
