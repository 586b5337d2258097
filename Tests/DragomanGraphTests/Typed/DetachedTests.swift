import Foundation
import Testing

@testable import DragomanGraph

/// Values without a context, and plain Codable types.
@MainActor @Suite struct DetachedTests {
  @Test("A value is boxed and unboxed without a context, nested values included")
  func detached() throws {
    let shop = Shop("a", age: 3, owner: Owner(name: "Ada"), employees: [Employee("Tom", age: 1)])
    let object = try shop.detached()
    #expect(
      object
        == DetachedObject(
          entity: "Shop",
          attributes: ["name": "a", "age": 3],
          targets: [
            "owner": [.object(DetachedObject(entity: "Owner", attributes: ["name": "Ada"]))],
            "employees": [
              .object(
                DetachedObject(
                  entity: "Employee",
                  attributes: ["name": "Tom", "age": 1, "position": .null]
                )
              )
            ],
          ]
        )
    )
    #expect(try Shop(object) == shop)
    let person = Person("1", employer: Ref(key: "Acme"))
    #expect(try Person(person.detached()) == person)
    var wrong = object
    wrong.attributes["age"] = "x"
    #expect(valueError { try Shop(wrong) }?.property == "age")
    wrong = object
    wrong.entity = "Owner"
    #expect(valueError { try Shop(wrong) }?.code == .type)
  }

  // MARK: - Codable

  private struct PlainShop: Codable, Equatable {
    var objectID: ObjectID?
    var name: String
    var age: Int
    var owner: PlainOwner?
    var employees: [PlainEmployee]
  }

  private struct PlainOwner: Codable, Equatable { var name: String }

  private struct PlainEmployee: Codable, Equatable {
    var name: String
    var age: Int16
    var position: Position?
    enum Position: String, Codable { case till, door }
  }

  @Test("Plain Codable types are saved and read by the names of their keys")
  func codable() throws {
    let stack = try Stack(shopModel, at: .inMemory)
    let main = stack.main
    var shop = PlainShop(
      name: "a",
      age: 1,
      owner: PlainOwner(name: "Ada"),
      employees: [
        PlainEmployee(name: "Tom", age: 1, position: .till),
        PlainEmployee(name: "Eve", age: 2, position: nil),
      ]
    )
    shop.objectID = try main.save(shop, as: "Shop")
    #expect(try main.query(PlainShop.self, from: "Shop") == [shop])
    #expect(try main.query(Shop.self)[0].employees.map(\.position) == ["till", nil])
    shop.employees[0].position = nil
    shop.employees.removeLast()
    shop.owner = nil
    try main.save(shop, as: "Shop")
    #expect(try main.query(PlainShop.self, from: "Shop") == [shop])
    #expect(try stack.sql("SELECT name, position FROM Employee") == ["Tom|-"])
  }

  @Test("Codable types find their objects by unique keys, and errors name entity and attribute")
  func codableKeys() throws {
    struct PlainAuthor: Codable { var id: Int64, name: String }
    struct Wrong: Codable { var id: String }
    struct Unknown: Codable { var naem: String }
    let stack = try Stack(library, at: .inMemory)
    let main = stack.main
    let ids = try main.saveAll(
      [
        PlainAuthor(id: 1, name: "A"), PlainAuthor(id: 2, name: "B"), PlainAuthor(id: 1, name: "C"),
      ],
      as: "Author"
    )
    #expect(ids[0] == ids[2] && ids[0] != ids[1])
    #expect(try stack.sql("SELECT id, name FROM Author") == ["1|C", "2|B"])
    let read = valueError { try main.query(Wrong.self, from: "Author") }
    #expect(read?.property == "id" && read?.message.contains("String") == true)
    let written = valueError { try main.save(Wrong(id: "x"), as: "Author") }
    #expect(written?.property == "id")
    let unknown = valueError { try main.save(Unknown(naem: "x"), as: "Author") }
    #expect(unknown?.help == "did you mean \"name\"?")
    #expect(valueError { try main.query(Unknown.self, from: "Author") }?.code == .schema)
  }

  @Test("Codable types of every kind of attribute")
  func codableTypes() throws {
    struct Plain: Codable, Equatable {
      var key: Int
      var flag: Bool
      var decimal: Decimal
      var instant: Date
      var data: Data
      var uuid: UUID
      var url: URL
      var words: [String]
      var numbers: Set<Int>
      var address: Place?
      var maybe: Int?
      struct Place: Codable, Equatable { var street: String }
    }
    let stack = try Stack(everythingModel, at: .inMemory)
    var value = Everything(5)
    value.address = Address(street: "s", city: nil)
    value.words = ["x"]
    try stack.main.save(value)
    var plain = try #require(try stack.main.query(Plain.self, from: "Everything").first)
    #expect(plain.address == Plain.Place(street: "s") && plain.words == ["x"])
    plain.decimal = Decimal(string: "1.25") ?? 0
    plain.address = nil
    plain.maybe = 3
    try stack.main.save(plain, as: "Everything")
    #expect(try stack.main.query(Plain.self, from: "Everything") == [plain])
    #expect(
      try stack.sql("SELECT count(*), max(_v), decimal, address FROM Everything") == ["1|2|1.25|-"]
    )
  }
}
