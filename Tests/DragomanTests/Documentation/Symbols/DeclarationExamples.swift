import DragomanEntities
import DragomanGraph
import DragomanOperators
import Foundation

/// The examples of symbols that declare types: compiled, not run.
private enum DeclarationExamples {
  enum ByMacro {
    // docs: begin entity
    @Entity struct Person {
      @Unique var ticketNumber: String
      var firstName: String?
      @Attribute(type: .date) var dateOfBirth: Date?
      @Attribute(range: 0...) var salary: Decimal?
      var employer: Ref<Company>?
    }
    // docs: end

    @Entity struct Shirt {
      // docs: begin transformed
      @Attribute(by: ColorText.self) var color: Color
      // docs: end
    }

    @Entity struct Owner {
      // docs: begin relationship
      @Relationship(inverse: "employer", deleteRule: .cascade) var staff: [Ref<Person>]
      // docs: end
    }
  }

  struct Color {
    var hexadecimal: String
    init(hexadecimal: String) throws { self.hexadecimal = hexadecimal }
  }

  // docs: begin transform
  enum ColorText: ValueTransform {
    static func stored(_ color: Color) -> String { color.hexadecimal }
    static func value(_ text: String) throws -> Color { try Color(hexadecimal: text) }
  }
  // docs: end

  struct Shirt {
    var color: Color
  }

  // docs: begin attribute value
  enum Level: String, AttributeValue { case low, high }
  // docs: end

  // docs: begin codable value
  struct Address: CodableValue {
    var street: String
    var city: String
  }
  // docs: end

  struct PlayerFields {
    // docs: begin field
    let score = Field(1, "score", \Player.score, default: 0, rules: .init(minimum: 0, maximum: 100))
    let born = Field(2, "born", \Player.born) { $0.type = .date }
    // docs: end
  }

  static func codable(context: ManagedObjectContext) throws {
    // docs: begin codable
    struct Person: Codable {
      var ticketNumber: String
      var firstName: String?
    }
    let rohan = Person(ticketNumber: "T-1001", firstName: "Rohan")
    try context.save(rohan, as: "Person")
    let people = try context.query(Person.self, from: "Person")
    // docs: end
    use(people)
  }

  struct Friend: Sendable {
    var name: String
    var age: Int?
    var phones: [Phone]
  }
}

private struct Person {
  var ticketNumber: String
  var firstName: String?
}

// docs: begin entity by hand
extension Person: EntityValue {
  struct Fields: Sendable {
    let ticketNumber = Field(0, "ticketNumber", \Person.ticketNumber, isUnique: true)
    let firstName = Field(1, "firstName", \Person.firstName)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Person>("Person", [fields.ticketNumber, fields.firstName])
  init(from row: borrowing UnboxingRow) throws {
    ticketNumber = try row[Self.fields.ticketNumber]
    firstName = try row[Self.fields.firstName]
  }
}
// docs: end

@Entity private struct Company {
  @Unique var name: String
}

@Entity private struct Phone {
  var number: String
}

@Entity private struct Player {
  var name: String
  var score: Int
  var born: Date
}

extension DeclarationExamples.Friend {
  // docs: begin operators
  init(from row: borrowing UnboxingRow) throws {
    try self.init(name: row <| "name", age: row <|? "age", phones: row <|| "phones")
  }
  // docs: end
}
