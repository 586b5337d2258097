import Testing

@testable import DragomanGraph

/// Unique keys with a relationship in them.
@MainActor @Suite struct KeyTests {
  @Test("A value is found by a key that holds a nested value, and nothing is made by looking")
  func nestedKey() throws {
    let stack = try Stack(Model(Room.self, House.self), at: .inMemory)
    let main = stack.main
    let room = Room(House("A", floors: 2), 1, note: "x")
    let id = try main.save(room)
    #expect(try main.save(Room(House("A", floors: 2), 1, note: "y")) == id)
    #expect(try main.save(Room(House("A", floors: 2), 2)) != id)
    let all =
      "SELECT h.name, h.floors, h._v, r.number, r.note FROM Room r JOIN House h"
      + " ON r.house = h._pk ORDER BY r._pk"
    #expect(try stack.sql(all) == ["A|2|1|1|y", "A|2|1|2|-"])
    // Neither a house that is not there nor one that differs is written.
    #expect(try !main.delete(Room(House("none", floors: 9), 1)))
    #expect(try main.delete(Room(House("A", floors: 9), 1)))
    #expect(try stack.sql(all) == ["A|2|1|2|-"])
    #expect(try stack.sql("SELECT name, floors, _v FROM House") == ["A|2|1"])
    // Two rooms of a new house in one batch are in one house.
    try main.saveAll([
      Room(House("B", floors: 1), 1), Room(House("B", floors: 1), 2),
      Room(House("B", floors: 1), 1, note: "z"),
    ])
    #expect(
      try stack.sql(all) == ["A|2|1|2|-", "B|1|1|1|z", "B|1|1|2|-"]
    )
    #expect(try stack.sql("SELECT count(*) FROM House") == ["2"])
  }

  @Test("A nested value of a key that has an id and no key is made once")
  func nestedID() throws {
    let stack = try Stack(Model(Stall.self, Owner.self), at: .inMemory)
    var stall = Stall(Owner(name: "Ada"), 1)
    try stack.main.save(stall)
    #expect(try stack.sql("SELECT count(*) FROM Owner") == ["1"])
    try stack.main.delete(stall)
    try stack.main.save(&stall)
    try stack.main.save(&stall)
    #expect(
      try stack.sql("SELECT (SELECT count(*) FROM Owner), (SELECT count(*) FROM Stall)")
        == ["2|2"]
    )
  }

  @Test("A key whose values could not be found is refused when the type is used")
  func unfindable() throws {
    let stack = try Stack(Model(Nest.self, Branch.self), at: .inMemory)
    let error = valueError { try stack.main.save(Nest(Branch("a"))) }
    #expect(error?.code == .schema && error?.property == "branch")
    #expect(error?.help == "give Branch a unique key, or declare the property with Ref")
  }

  @Test("Keys that are sensitive are in no message")
  func sensitive() throws {
    let stack = try Stack(Model(Secret.self, Holder.self), at: .inMemory)
    let error = valueError { try stack.main.save(Holder(Ref(key: "abc123"))) }
    #expect(error?.code == .stale && error?.message.contains("abc123") == false)
    let filter: ValueFilter<Secret> = \.weight == Double.nan
    let fault = valueError { try stack.main.query(Secret.self, filter) }
    #expect(fault != nil)
    #expect(fault?.message.contains("NaN") == false)
  }
}

private struct House: EntityValue {
  var name: String
  var floors: Int

  struct Fields: Sendable {
    let name = Field(0, "name", \House.name, isUnique: true)
    let floors = Field(1, "floors", \House.floors)
  }
  static let fields = Fields()
  static let schema = EntitySchema<House>("House", [fields.name, fields.floors])

  init(_ name: String, floors: Int) { (self.name, self.floors) = (name, floors) }

  init(from row: borrowing UnboxingRow) throws {
    name = try row[Self.fields.name]
    floors = try row[Self.fields.floors]
  }
}

private struct Room: EntityValue {
  var house: House
  var number: Int
  var note: String?

  struct Fields: Sendable {
    let house = Field(0, "house", \Room.house)
    let number = Field(1, "number", \Room.number)
    let note = Field(2, "note", \Room.note)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Room>(
    "Room",
    uniqueKeys: [["house", "number"]],
    [fields.house, fields.number, fields.note]
  )

  init(_ house: House, _ number: Int, note: String? = nil) {
    (self.house, self.number, self.note) = (house, number, note)
  }

  init(from row: borrowing UnboxingRow) throws {
    house = try row[Self.fields.house]
    number = try row[Self.fields.number]
    note = try row[Self.fields.note]
  }
}

private struct Stall: EntityValue {
  var owner: Owner
  var number: Int

  struct Fields: Sendable {
    let owner = Field(0, "owner", \Stall.owner)
    let number = Field(1, "number", \Stall.number)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Stall>(
    "Stall",
    uniqueKeys: [["owner", "number"]],
    [fields.owner, fields.number]
  )

  init(_ owner: Owner, _ number: Int) { (self.owner, self.number) = (owner, number) }

  init(from row: borrowing UnboxingRow) throws {
    owner = try row[Self.fields.owner]
    number = try row[Self.fields.number]
  }
}

private struct Nest: EntityValue {
  var branch: Branch

  struct Fields: Sendable {
    let branch = Field(0, "branch", \Nest.branch, isUnique: true)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Nest>("Nest", [fields.branch])

  init(_ branch: Branch) { self.branch = branch }

  init(from row: borrowing UnboxingRow) throws { branch = try row[Self.fields.branch] }
}

private struct Secret: EntityValue {
  var word: String
  var weight: Double

  struct Fields: Sendable {
    let word = Field(0, "word", \Secret.word, isUnique: true) { $0.isSensitive = true }
    let weight = Field(1, "weight", \Secret.weight) { $0.isSensitive = true }
  }
  static let fields = Fields()
  static let schema = EntitySchema<Secret>("Secret", [fields.word, fields.weight])

  init(from row: borrowing UnboxingRow) throws {
    word = try row[Self.fields.word]
    weight = try row[Self.fields.weight]
  }
}

private struct Holder: EntityValue {
  var secret: Ref<Secret>

  struct Fields: Sendable {
    let secret = Field(0, "secret", \Holder.secret)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Holder>("Holder", [fields.secret])

  init(_ secret: Ref<Secret>) { self.secret = secret }

  init(from row: borrowing UnboxingRow) throws { secret = try row[Self.fields.secret] }
}
