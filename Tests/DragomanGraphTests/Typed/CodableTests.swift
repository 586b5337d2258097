import Testing

@testable import DragomanGraph

/// Plain `Codable` types that do not fit their entity, and graphs of them.
@MainActor @Suite struct CodableTests {
  private struct PlainCompany: Codable, Equatable {
    var name: String
    var staff: [PlainPerson]
  }

  private struct PlainPerson: Codable, Equatable {
    var ticket: String
    var employer: Employer?

    struct Employer: Codable, Equatable { var name: String }
  }

  // MARK: - Writing

  @Test("A scalar where a relationship is, is an error and no endless recursion")
  func scalars() throws {
    struct One: Codable { var ticket: String, employer: String }
    struct Many: Codable { var name: String, staff: [Int] }
    let stack = try Stack(staffModel, at: .inMemory)
    let main = stack.main
    let one = valueError { try main.save(One(ticket: "1", employer: "Acme"), as: "Person") }
    #expect(one?.code == .type && one?.property == "employer")
    #expect(one?.message == "Person.employer leads to objects of Company, and String is none.")
    let many = valueError { try main.save(Many(name: "Acme", staff: [1]), as: "Company") }
    #expect(many?.code == .type && many?.property == "staff")
    let top = valueError { try main.save("x", as: "Person") }
    #expect(top?.message == "String is no object of Person.")
    #expect(try stack.sql("SELECT count(*) FROM Person") == ["0"])
  }

  private struct ByHand: Encodable {
    enum Way: CaseIterable {
      case keyed
      case list
      case owner
    }
    enum Keys: String, CodingKey {
      case ticket
      case name
    }
    let way: Way

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode("1", forKey: .ticket)
      switch way {
      case .keyed:
        var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .name)
        try nested.encode("x", forKey: .name)
      case .list:
        var nested = container.nestedUnkeyedContainer(forKey: .name)
        try nested.encode("x")
      case .owner: try "x".encode(to: container.superEncoder(forKey: .name))
      }
    }
  }

  @Test("What is encoded by hand into a container of its own is not lost", arguments: [0, 1, 2])
  func ownContainers(way: Int) throws {
    let stack = try Stack(staffModel, at: .inMemory)
    let value = ByHand(way: ByHand.Way.allCases[way])
    let error = valueError { try stack.main.save(value, as: "Person") }
    #expect(error?.code == .schema && error?.property == "name")
    #expect(try stack.sql("SELECT count(*) FROM Person") == ["0"])
  }

  private class Named: Codable {
    var name: String

    init(_ name: String) { self.name = name }
  }

  private final class Aged: Named {
    var age: Int

    init(_ name: String, age: Int) {
      self.age = age
      super.init(name)
    }

    private enum Keys: CodingKey { case age }

    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      age = try container.decode(Int.self, forKey: .age)
      try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(age, forKey: .age)
      try super.encode(to: container.superEncoder())
    }
  }

  /// The same, but for what its superclass is given: the encoder itself.
  private final class Flat: Named {
    let age: Int

    init(_ name: String, age: Int) {
      self.age = age
      super.init(name)
    }

    private enum Keys: CodingKey { case age }

    required init(from decoder: any Decoder) throws {
      age = try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .age)
      try super.init(from: decoder)
    }

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(age, forKey: .age)
      try super.encode(to: encoder)
    }
  }

  @Test("A superclass is a part of its object")
  func superclass() throws {
    let stack = try Stack(shopModel, at: .inMemory)
    try stack.main.save(Aged("Tom", age: 18), as: "Employee")
    try stack.main.save(Flat("Ann", age: 19), as: "Employee")
    #expect(try stack.sql("SELECT name, age FROM Employee") == ["Tom|18", "Ann|19"])
    let read = try stack.main.query(Aged.self, from: "Employee").first
    #expect(read?.name == "Tom" && read?.age == 18)
    let flat = try stack.main.query(Flat.self, from: "Employee").last
    #expect(flat?.name == "Ann" && flat?.age == 19)
  }

  private final class Knot: Encodable {
    let name = "knot"
    var children: [Knot] = []
  }

  @Test("A graph of classes with a cycle is an error")
  func cycleOfClasses() throws {
    let stack = try Stack(forest, at: .inMemory)
    let knot = Knot()
    knot.children = [knot]
    defer { knot.children = [] }
    #expect(valueError { try stack.main.save(knot, as: "Branch") }?.code == .cycle)
    #expect(try stack.sql("SELECT count(*) FROM Branch") == ["0"])
  }

  @Test("A key with a relationship in it finds its object")
  func relationshipKey() throws {
    struct Place: Codable { var name: String }
    struct Seat: Codable { var place: Place, number: Int, note: String }
    let stack = try Stack(
      Model(entities: [
        Entity(
          name: "Place",
          attributes: [Attribute(name: "name", type: .string)],
          uniqueKeys: [["name"]]
        ),
        Entity(
          name: "Seat",
          attributes: [
            Attribute(name: "number", type: .int64), Attribute(name: "note", type: .string),
          ],
          relationships: [
            Relationship(name: "place", destination: "Place", kind: .toOne, isRequired: true)
          ],
          uniqueKeys: [["place", "number"]]
        ),
      ]),
      at: .inMemory
    )
    let hall = Place(name: "Hall")
    let id = try stack.main.save(Seat(place: hall, number: 1, note: "a"), as: "Seat")
    #expect(try stack.main.save(Seat(place: hall, number: 1, note: "b"), as: "Seat") == id)
    #expect(try stack.main.save(Seat(place: hall, number: 2, note: "c"), as: "Seat") != id)
    #expect(try stack.sql("SELECT number, note FROM Seat ORDER BY number") == ["1|b", "2|c"])
    #expect(try stack.sql("SELECT count(*) FROM Place") == ["1"])
  }

  @Test("Targets that are given as ids are spared when their owner lets them go")
  func references() throws {
    struct Listing: Codable { var objectID: ObjectID?, name: String, employees: [ObjectID] }
    let stack = try Stack(shopModel, at: .inMemory)
    let main = stack.main
    var shop = Shop("a", employees: [Employee("Tom", age: 1), Employee("Eve", age: 2)])
    try main.save(&shop)
    let ids = shop.employees.compactMap(\.objectID)
    var listing = try #require(try main.query(Listing.self, from: "Shop").first)
    #expect(listing.employees == ids)
    listing.objectID = shop.objectID
    listing.employees = [ids[1]]
    try main.save(listing, as: "Shop")
    #expect(try main.query(Shop.self)[0].employees.map(\.name) == ["Eve"])
    listing.employees = []
    try main.save(listing, as: "Shop")
    #expect(try stack.sql("SELECT name FROM Employee ORDER BY _pk") == ["Tom", "Eve"])
  }

  // MARK: - Reading

  @Test("A value that would hold itself is an error and no endless recursion")
  func cycle() throws {
    struct Worker: Codable { var ticket: String, employer: Firm? }
    struct Firm: Codable { var name: String, staff: [Worker] }
    let stack = try Stack(staffModel, at: .inMemory)
    let company = PlainCompany(name: "Acme", staff: [PlainPerson(ticket: "1", employer: nil)])
    try stack.main.save(company, as: "Company")
    let error = valueError { try stack.main.query(Firm.self, from: "Company") }
    #expect(error?.code == .cycle)
    #expect(error?.help == "declare one of the properties on the way as ObjectID")
    // Another type that stops on the way reads the same graph.
    let read = try stack.main.query(PlainCompany.self, from: "Company")
    #expect(read[0].staff[0].employer == PlainPerson.Employer(name: "Acme"))
  }

  @Test("Too deep a nesting is refused")
  func depth() async throws {
    struct Twig: Codable { var name: String, children: [Twig] }
    let stack = try Stack(forest, at: .inMemory)
    try await stack.write { context in
      var outer: ManagedObject?
      for number in 0..<300 {
        let branch = try context.insert("Branch")
        branch["name"] = .text("\(number)")
        try outer?.setTargets([branch], of: "children")
        outer = branch
      }
    }
    let root = try Filter(parsing: "name == '0'")
    #expect(valueError { try stack.main.query(Twig.self, from: "Branch", root) }?.code == .cycle)
  }

  @Test("Who decodes more targets than there are gets an error")
  func beyondTheEnd() throws {
    struct Pair: Decodable {
      var first: PlainPerson.Employer
      var second: PlainPerson.Employer

      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        first = try list.decode(PlainPerson.Employer.self)
        second = try list.decode(PlainPerson.Employer.self)
      }
    }
    struct Wanted: Decodable { var employees: Pair }
    let stack = try Stack(shopModel, at: .inMemory)
    try stack.main.save(Shop("a", employees: [Employee("Tom", age: 1)]))
    #expect(throws: DecodingError.self) { try stack.main.query(Wanted.self, from: "Shop") }
  }
}
