import Foundation
import GRDB

/// The foreign record, as JSONDecoder sees it.
struct ForeignPerson: Decodable {
  var ticketNumber: String
  var firstName: String
  var lastName: String
  var socialSecurityNumber: String
  var salary: String
  var dateOfBirth: String
  var active: Bool
  var score: Double
  var visits: Int64
  var address: Address

  enum CodingKeys: String, CodingKey {
    case ticketNumber = "ticket_number"
    case firstName = "first_name"
    case lastName = "last_name"
    case socialSecurityNumber = "ss_num"
    case dateOfBirth = "dob"
    case salary, active, score, visits, address
  }

  struct Address: Decodable {
    var city: String?
    var zip: String
  }
}

/// The row, as GRDB's Codable records see it.
struct Person: Codable, PersistableRecord {
  var ticketNumber: String
  var firstName: String
  var lastName: String
  var socialSecurityNumber: String
  var salary: Double?
  var dateOfBirth: String
  var active: Bool
  var score: Double
  var visits: Int64
  var city: String?
  var zip: String

  init(_ person: ForeignPerson) {
    ticketNumber = person.ticketNumber
    firstName = person.firstName
    lastName = person.lastName
    socialSecurityNumber = person.socialSecurityNumber
    salary = Double(person.salary.filter { $0 != "," })
    dateOfBirth = String(person.dateOfBirth.prefix(19)).replacing("T", with: " ")
    active = person.active
    score = person.score
    visits = person.visits
    city = person.address.city
    zip = person.address.zip
  }
}

/// Peer: what a Swift programmer writes with JSONDecoder and GRDB's records.
@main
enum GRDBCodable {
  static func main() throws {
    guard CommandLine.arguments.count == 3 else {
      print("usage: grdb-codable FEED DB")
      exit(64)
    }
    let feed = try Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1]))
    let people = try JSONDecoder().decode([ForeignPerson].self, from: feed)
    let database = try DatabasePool(path: CommandLine.arguments[2])
    try database.write { db in
      try db.create(table: "Person", options: .ifNotExists) { table in
        table.autoIncrementedPrimaryKey("_pk")
        table.column("ticketNumber", .text).unique()
        for column in ["firstName", "lastName", "socialSecurityNumber", "dateOfBirth"] {
          table.column(column, .text)
        }
        table.column("salary", .double)
        table.column("active", .integer)
        table.column("score", .double)
        table.column("visits", .integer)
        table.column("city", .text)
        table.column("zip", .text)
      }
      for person in people {
        try Person(person).upsert(db)
      }
    }
    try database.close()
  }
}
