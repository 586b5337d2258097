import Testing

@testable import DragomanGraph

/// Types of sub-entities, and types that describe a part of an entity.
@MainActor @Suite struct FamilyTests {
  private let stack: Stack
  private var main: ManagedObjectContext { stack.main }

  init() throws { stack = try Stack(Model(Vehicle.self, Car.self, Bike.self), at: .inMemory) }

  @Test("A type of a parent reads what is below it; the model shares one table")
  func family() throws {
    #expect(
      stack.model.entities.map { $0.attributes.map(\.name) } == [
        ["plate", "wheels"], ["doors"], [],
      ]
    )
    try main.saveAll([Car("c1", doors: 3), Car("c2", doors: 5)])
    try main.save(Bike("b1"))
    let byPlate = [ValueSort<Vehicle>.ascending(\.plate)]
    #expect(try main.query(Vehicle.self, sort: byPlate).map(\.plate) == ["b1", "c1", "c2"])
    #expect(try main.query(Car.self, \.doors > 3).map(\.plate) == ["c2"])
    #expect(try main.query(Bike.self).map(\.wheels) == [2])
    #expect(
      try stack.sql("SELECT plate, _entity FROM Vehicle ORDER BY plate")
        == ["b1|Bike", "c1|Car", "c2|Car"]
    )
    // A value of the parent's type updates the car by the key that the family shares.
    var vehicle = try #require(try main.query(Vehicle.self, \.plate == "c1").first)
    vehicle.wheels = 6
    try main.save(vehicle)
    let cars = try main.query(Car.self, sort: [.ascending(\.plate)])
    #expect(cars.map(\.wheels) == [6, 4])
    let live = try #require(try main.live(Vehicle.self, \.plate == "c1"))
    #expect(try Managed<Car>(live.object).doors == 3)
    #expect(valueError { try Managed<Bike>(live.object) }?.code == .type)
  }

  @Test("An id of another branch of the family is refused everywhere", arguments: [false, true])
  func otherBranch(hasUnsaved: Bool) throws {
    try main.saveAll([Car("c1", doors: 3)])
    try main.save(Bike("b1"))
    let car = try #require(try main.live(Car.self, \.plate == "c1")).objectID
    let bike = try #require(try main.live(Bike.self, \.plate == "b1")).objectID
    if hasUnsaved { try main.insert(Bike.self).set(\.plate, to: "b2") }
    #expect(try main.values(Vehicle.self, with: [car, bike]).map(\.plate) == ["c1", "b1"])
    #expect(valueError { try main.values(Bike.self, with: [bike, car]) }?.code == .type)
    #expect(valueError { try main.value(Bike.self, with: car) }?.code == .type)
    var known = KnownBike(plate: "b3")
    known.objectID = car
    #expect(valueError { try main.save(&known) }?.code == .type)
    #expect(valueError { try main.delete(&known) }?.code == .type)
    #expect(
      try stack.sql("SELECT plate, _entity FROM Vehicle ORDER BY plate") == ["b1|Bike", "c1|Car"]
    )
  }

  @Test(
    "A value beside one of another branch with its key is refused, and changes nothing",
    arguments: [1, 2],
    [false, true]
  )
  func keyOfAnotherBranch(count: Int, isUnsaved: Bool) throws {
    let bikes = [Bike("c1"), Bike("b1")].prefix(count)
    if isUnsaved {
      let car = try main.insert(Car.self)
      try car.set(\.plate, to: "c1")
      try car.set(\.doors, to: 3)
    } else {
      try main.saveAll([Car("c1", doors: 3)])
    }
    #expect(contextCode { try main.saveAll(Array(bikes)) } == .duplicate)
    #expect(contextCode { try main.save(Bike("c1")) } == .duplicate)
    #expect(try main.delete(Bike("c1")) == false)
    #expect(try main.deleteAll([Bike("c1"), Bike("c1")]) == 0)
    if isUnsaved { try main.save() }
    #expect(
      try stack.sql("SELECT plate, _entity, wheels, doors FROM Vehicle") == ["c1|Car|4|3"]
    )
    // Of its own branch it is the same object, and of the parent's too.
    try main.saveAll([Car("c1", doors: 5)])
    #expect(try stack.sql("SELECT _entity, doors FROM Vehicle") == ["Car|5"])
  }

  @Test("A reference by key leads to no object of another branch")
  func referenceByKey() throws {
    let stack = try Stack(Model(Vehicle.self, Car.self, Bike.self, Garage.self), at: .inMemory)
    try stack.main.save(Bike("b1"))
    #expect(
      valueError { try stack.main.save(Garage("1", car: Ref(key: "b1"))) }?.code == .stale
    )
    #expect(try stack.sql("SELECT count(*) FROM Garage") == ["0"])
  }

  @Test("A reference leads to the entity that the relationship says, alone and in a batch")
  func referenceToBranch() throws {
    let stack = try Stack(Model(Vehicle.self, Car.self, Bike.self, Garage.self), at: .inMemory)
    let main = stack.main
    let car = try main.save(Car("c1", doors: 3))
    let bike = try main.save(Bike("b1"))
    #expect(throws: (any Error).self) { try main.save(Garage("1", car: Ref(bike))) }
    #expect(throws: (any Error).self) { try main.saveAll([Garage("1", car: Ref(bike))]) }
    try main.saveAll([Garage("1", car: Ref(car))])
    #expect(try stack.sql("SELECT name, car FROM Garage") == ["1|\(car.primaryKey)"])
  }

  @Test("What a type leaves out of a batch is not held against its limits")
  func leftOut() throws {
    let stack = try Stack(Model(Part.self), at: .inMemory)
    try stack.main.saveAll([Part("a", weight: 1), Part("b", weight: nil)])
    #expect(try stack.sql("SELECT name, weight FROM Part") == ["a|1", "b|5"])
  }

  @Test("An abstract entity has no values of its own", arguments: [1, 2])
  func abstract(count: Int) throws {
    let vehicles = (0..<count).map { Vehicle("v\($0)") }
    #expect(contextCode { try main.saveAll(vehicles) } == .invalid)
  }

  @Test("A type with fewer properties leaves the others alone, and defaults fill new objects")
  func part() throws {
    try main.save(Car("c1", doors: 3))
    try main.saveAll([Plate(plate: "c1"), Plate(plate: "c2")])
    #expect(try stack.sql("SELECT plate, wheels, doors FROM Vehicle") == ["c1|4|3", "c2|4|-"])
    try main.save(Plate(plate: "c2"))
    #expect(try stack.sql("SELECT plate, wheels, _v FROM Vehicle") == ["c1|4|1", "c2|4|1"])
  }
}

private struct Vehicle: EntityValue {
  var plate: String
  var wheels: Int

  struct Fields: Sendable {
    let plate = Field(0, "plate", \Vehicle.plate, isUnique: true)
    let wheels = Field(1, "wheels", \Vehicle.wheels, default: 4)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Vehicle>(
    "Vehicle",
    isAbstract: true,
    [fields.plate, fields.wheels]
  )

  init(_ plate: String) { (self.plate, wheels) = (plate, 4) }

  init(from row: borrowing UnboxingRow) throws {
    plate = try row[Self.fields.plate]
    wheels = try row[Self.fields.wheels]
  }
}

private struct Car: EntityValue {
  var plate: String
  var wheels: Int
  var doors: Int

  struct Fields: Sendable {
    let plate = Field(0, "plate", \Car.plate)
    let wheels = Field(1, "wheels", \Car.wheels)
    let doors = Field(2, "doors", \Car.doors) { $0.isRequired = false }
  }
  static let fields = Fields()
  static let schema = EntitySchema<Car>(
    "Car",
    parent: Vehicle.self,
    [fields.plate, fields.wheels, fields.doors]
  )

  init(_ plate: String, doors: Int) { (self.plate, wheels, self.doors) = (plate, 4, doors) }

  init(from row: borrowing UnboxingRow) throws {
    plate = try row[Self.fields.plate]
    wheels = try row[Self.fields.wheels]
    doors = try row[Self.fields.doors]
  }
}

private struct Bike: EntityValue {
  var plate: String
  var wheels: Int

  struct Fields: Sendable {
    let plate = Field(0, "plate", \Bike.plate)
    let wheels = Field(1, "wheels", \Bike.wheels)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Bike>(
    "Bike",
    parent: Vehicle.self,
    [fields.plate, fields.wheels]
  )

  init(_ plate: String) { (self.plate, wheels) = (plate, 2) }

  init(from row: borrowing UnboxingRow) throws {
    plate = try row[Self.fields.plate]
    wheels = try row[Self.fields.wheels]
  }
}

private struct KnownBike: PersistentValue {
  var objectID: ObjectID?
  var plate: String

  struct Fields: Sendable {
    let plate = Field(0, "plate", \KnownBike.plate)
  }
  static let fields = Fields()
  static let schema = EntitySchema<KnownBike>("Bike", [fields.plate])

  init(plate: String) { self.plate = plate }

  init(from row: borrowing UnboxingRow) throws {
    objectID = row.objectID
    plate = try row[Self.fields.plate]
  }
}

private struct Garage: EntityValue {
  var name: String
  var car: Ref<Car>?

  struct Fields: Sendable {
    let name = Field(0, "name", \Garage.name, isUnique: true)
    let car = Field(1, "car", \Garage.car)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Garage>("Garage", [fields.name, fields.car])

  init(_ name: String, car: Ref<Car>?) { (self.name, self.car) = (name, car) }

  init(from row: borrowing UnboxingRow) throws {
    name = try row[Self.fields.name]
    car = try row[Self.fields.car]
  }
}

/// Leaves its weight to the attribute's default.
private struct Part: EntityValue {
  var name: String
  var weight: Int?

  struct Fields: Sendable {
    let name = Field(0, "name", \Part.name, isUnique: true)
    let weight = Field(1, "weight", \Part.weight, default: 5, rules: AttributeRules(minimum: 1)) {
      $0.isRequired = true
    }
  }
  static let fields = Fields()
  static let schema = EntitySchema<Part>("Part", [fields.name, fields.weight])

  init(_ name: String, weight: Int?) { (self.name, self.weight) = (name, weight) }

  init(from row: borrowing UnboxingRow) throws {
    name = try row[Self.fields.name]
    weight = try row[Self.fields.weight]
  }

  mutating func box(into row: inout BoxingRow) throws {
    try row.set(Self.fields.name, name)
    if let weight { try row.set(Self.fields.weight, weight) }
  }
}

/// The plate of a car and nothing else.
private struct Plate: EntityValue {
  var plate: String

  struct Fields: Sendable {
    let plate = Field(0, "plate", \Plate.plate)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Plate>("Car", [fields.plate])

  init(plate: String) { self.plate = plate }

  init(from row: borrowing UnboxingRow) throws { plate = try row[Self.fields.plate] }
}
