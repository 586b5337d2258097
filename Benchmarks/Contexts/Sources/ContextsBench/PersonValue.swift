import DragomanGraph

/// The person of the feed as a value: an id and eleven attributes, written by hand as `@Entity` would.
struct PersonValue: PersistentValue {
  var objectID: ObjectID?
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

  struct Fields: Sendable {
    let ticketNumber = Field(0, "ticketNumber", \PersonValue.ticketNumber, isUnique: true)
    let firstName = Field(1, "firstName", \PersonValue.firstName)
    let lastName = Field(2, "lastName", \PersonValue.lastName)
    let socialSecurityNumber = Field(
      3,
      "socialSecurityNumber",
      \PersonValue.socialSecurityNumber
    )
    let salary = Field(4, "salary", \PersonValue.salary)
    let dateOfBirth = Field(5, "dateOfBirth", \PersonValue.dateOfBirth) { $0.type = .timestamp }
    let active = Field(6, "active", \PersonValue.active)
    let score = Field(7, "score", \PersonValue.score)
    let visits = Field(8, "visits", \PersonValue.visits)
    let city = Field(9, "city", \PersonValue.city)
    let zip = Field(10, "zip", \PersonValue.zip)
  }
  static let fields = Fields()
  static let schema = EntitySchema<PersonValue>(
    "Person",
    [
      fields.ticketNumber, fields.firstName, fields.lastName, fields.socialSecurityNumber,
      fields.salary, fields.dateOfBirth, fields.active, fields.score, fields.visits, fields.city,
      fields.zip,
    ]
  )

  init(from row: borrowing UnboxingRow) throws {
    objectID = row.objectID
    ticketNumber = try row[Self.fields.ticketNumber]
    firstName = try row[Self.fields.firstName]
    lastName = try row[Self.fields.lastName]
    socialSecurityNumber = try row[Self.fields.socialSecurityNumber]
    salary = try row[Self.fields.salary]
    dateOfBirth = try row[Self.fields.dateOfBirth]
    active = try row[Self.fields.active]
    score = try row[Self.fields.score]
    visits = try row[Self.fields.visits]
    city = try row[Self.fields.city]
    zip = try row[Self.fields.zip]
  }

  mutating func box(into row: inout BoxingRow) throws {
    try row.set(Self.fields.ticketNumber, &ticketNumber)
    try row.set(Self.fields.firstName, &firstName)
    try row.set(Self.fields.lastName, &lastName)
    try row.set(Self.fields.socialSecurityNumber, &socialSecurityNumber)
    try row.set(Self.fields.salary, &salary)
    try row.set(Self.fields.dateOfBirth, &dateOfBirth)
    try row.set(Self.fields.active, &active)
    try row.set(Self.fields.score, &score)
    try row.set(Self.fields.visits, &visits)
    try row.set(Self.fields.city, &city)
    try row.set(Self.fields.zip, &zip)
  }

  /// Something of every value, so that unboxing it cannot be left out; the sum is GRDB's.
  var weight: Int {
    func weight(_ text: String) -> Int { text.utf8.count &+ Int(text.utf8.first ?? 0) }
    var sum = Int(visits) &+ Int(score) &+ Int(salary ?? 0) &+ (active ? 1 : 0)
    sum &+= weight(ticketNumber) &+ weight(firstName) &+ weight(lastName)
    sum &+= weight(socialSecurityNumber) &+ weight(dateOfBirth) &+ weight(zip)
    if let city { sum &+= weight(city) }
    return sum
  }
}
