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
struct Person: Codable, FetchableRecord, PersistableRecord {
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
    let words = CommandLine.arguments
    if words.count == 4, words[1] == "--fetch", let count = Int(words[3]) {
      return try fetch(count, from: words[2])
    }
    guard words.count == 3 else {
      print("usage: grdb-codable FEED DB | --fetch DB COUNT")
      exit(64)
    }
    let feed = try Data(contentsOf: URL(fileURLWithPath: words[1]))
    let people = try JSONDecoder().decode([ForeignPerson].self, from: feed)
    let database = try DatabasePool(path: words[2])
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

  /// Fetches people of a file that anybody made, and looks at every value; the median of five rounds.
  private static func fetch(_ count: Int, from path: String) throws {
    let database = try DatabasePool(path: path)
    var seconds: [Double] = []
    var sum = 0
    for _ in 0..<5 {
      let start = ContinuousClock().now
      let people = try database.read { db in try Person.limit(count).fetchAll(db) }
      precondition(people.count == count, "\(people.count) people")
      sum = people.reduce(0) { $0 &+ $1.weight }
      let duration = (ContinuousClock().now - start).components
      seconds.append(Double(duration.seconds) + Double(duration.attoseconds) / 1e18)
    }
    print("{\"records\": \(count), \"fetchAndRead\": \(seconds.sorted()[2]), \"sum\": \(sum)}")
  }
}

extension Person {
  /// Something of every value, so that reading it cannot be left out.
  fileprivate var weight: Int {
    func weight(_ text: String) -> Int { text.utf8.count &+ Int(text.utf8.first ?? 0) }
    var sum = Int(visits) &+ Int(score) &+ Int(salary ?? 0) &+ (active ? 1 : 0)
    sum &+= weight(ticketNumber) &+ weight(firstName) &+ weight(lastName)
    sum &+= weight(socialSecurityNumber) &+ weight(dateOfBirth) &+ weight(zip)
    if let city { sum &+= weight(city) }
    return sum
  }
}
