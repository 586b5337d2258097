import DragomanEntities
import Foundation

/// Five attributes, as one writes them with the macro.
@Entity("Person") struct MacroPerson: Equatable {
  @Unique var ticketNumber: String
  var firstName: String?
  @Attribute(type: .date) var dateOfBirth: Date?
  @Attribute(scale: 2) var salary: Decimal?
  var isActive: Bool = true
}

/// The same five attributes, as one writes them without.
struct HandPerson: Equatable {
  var ticketNumber: String
  var firstName: String?
  var dateOfBirth: Date?
  var salary: Decimal?
  var isActive = true
}

extension HandPerson: EntityValue {
  struct Fields: Sendable {
    let ticketNumber = Field(0, "ticketNumber", \HandPerson.ticketNumber, isUnique: true)
    let firstName = Field(1, "firstName", \HandPerson.firstName)
    let dateOfBirth = Field(2, "dateOfBirth", \HandPerson.dateOfBirth) { $0.type = .date }
    let salary = Field(3, "salary", \HandPerson.salary, rules: AttributeRules(scale: 2))
    let isActive = Field(4, "isActive", \HandPerson.isActive, default: true)
  }
  static let fields = Fields()
  static let schema = EntitySchema<HandPerson>(
    "Person",
    [fields.ticketNumber, fields.firstName, fields.dateOfBirth, fields.salary, fields.isActive]
  )
  init(from row: borrowing UnboxingRow) throws {
    ticketNumber = try row[Self.fields.ticketNumber]
    firstName = try row[Self.fields.firstName]
    dateOfBirth = try row[Self.fields.dateOfBirth]
    salary = try row[Self.fields.salary]
    isActive = try row[Self.fields.isActive]
  }
}

enum Size: String, AttributeValue, CaseIterable { case small, large }

struct Place: CodableValue, Equatable {
  var street: String
  var city: String
}

struct Color: Equatable, Sendable {
  var red: UInt8
  var green: UInt8
  var blue: UInt8
}

struct BadColor: Error {}

enum HexColor: ValueTransform {
  static func stored(_ color: Color) -> String {
    [color.red, color.green, color.blue].map { String(format: "%02x", $0) }.joined()
  }
  static func value(_ text: String) throws -> Color {
    guard text.utf8.count == 6, let number = UInt32(text, radix: 16) else { throw BadColor() }
    return Color(
      red: UInt8(number >> 16),
      green: UInt8(number >> 8 & 255),
      blue: UInt8(number & 255)
    )
  }
}

/// Every type that an attribute has, more than twenty of them.
@Entity public struct Everything: Equatable {
  /// The key.
  @Unique @Attribute(name: "identifier", column: "id") public let id: UInt64
  var bool: Bool = false
  var int: Int, int8: Int8, int16: Int16
  var int32: Int32
  var int64: Swift.Int64 = -1
  var uint: UInt
  var uint8: UInt8
  var uint16: UInt16
  var uint32: UInt32
  @Attribute(range: 0...100) var float: Float
  @Attribute(range: ...1.5) var double: Double
  @Attribute(scale: 2, range: 0...) var decimal: Decimal
  @Attribute(isIndexed: true) var date: Date
  @Attribute(type: .date) var day: Date?
  var data: Foundation.Data
  var uuid: UUID
  var lasts: CalendarDuration?
  var url: URL?
  @Attribute(length: 1...80, pattern: "[a-z]+") var text: String = "x"
  @Attribute(oneOf: ["a", "b"]) var letter: String?
  var size: Size = .small
  var `default`: Size?
  var place: Place?
  @Attribute(codable: true) var counts: [String: Int] = [:]
  @Attribute(codable: true) var range: ClosedRange<Int>?
  @Attribute(by: HexColor.self) var color: Color
  @Attribute(by: HexColor.self) var background: Color?
  var tags: [String] = []
  var numbers: Set<Int>
  @Transient var cached: [Int: Int] = [:]
  var sum: Int { int + cached.count }
}

/// Entities in a space of names, which lead to each other in every way.
enum Trade {
  @Entity struct Shop: Equatable {
    var objectID: ObjectID?
    @Unique var name: String
    var city: City?
    @Relationship(deleteRule: .cascade) var shelves: [Shelf] = []
    var brands: Set<Brand> = []
    @Relationship(inverse: "employer", isOrdered: false) var staff: [Ref<Clerk>] = []
    @Relationship(inverse: nil) var partners: Set<Ref<Shop>> = []
    var manager: Ref<Clerk>?
  }

  @Entity struct City: Equatable {
    @Unique let code: String
    var name: String?
  }

  @Entity struct Shelf: Equatable {
    var objectID: ObjectID?
    var number: Int
  }

  @Entity struct Brand: Hashable {
    @Unique let name: String
  }

  @Entity(unique: [["first", "last"]], indexes: [["last", "first"]]) struct Clerk: Equatable {
    var first: String, last: String
    var employer: Ref<Shop>?
  }

  @Entity(parent: Clerk.self) struct Manager: Equatable {
    var first: String, last: String
    var employer: Ref<Shop>?
    var car: String?
  }
}

/// Types and values that are named as they are seen where the struct stands, private ones included.
enum Scope {
  enum Level: String, AttributeValue { case low, high }

  enum Upper: ValueTransform {
    static func stored(_ value: String) -> String { value.uppercased() }
    static func value(_ stored: String) -> String { stored.lowercased() }
  }

  fileprivate enum Mood: String, AttributeValue { case good }

  @Entity struct Root {
    @Unique var id: Int
  }

  @Entity(parent: Root.self) struct Leaf {
    static let smallest = 3
    enum Kind: String, AttributeValue { case plain }

    var id: Int
    var level: Level = Level.high
    var kind: Kind = Kind.plain
    @Attribute(by: Upper.self) var code: String
    @Attribute(range: smallest...) var count: Int
    private var mood: Mood = .good
  }
}

/// Two entities that hold each other's values.
enum Endless {
  @Entity struct Ship {
    @Unique var name: String
    @Relationship(inverse: "ship") var crew: [Hand] = []
  }

  @Entity struct Hand {
    @Unique var name: String
    var ship: [Ship] = []
  }
}
