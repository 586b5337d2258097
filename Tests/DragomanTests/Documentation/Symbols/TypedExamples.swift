import Dragoman
import DragomanEntities
import DragomanGraph
import DragomanOperators
import Foundation

/// The examples of symbols around values of Swift types: compiled, not run.
///
/// The parameters of a function are what its example takes for granted.
private enum TypedExamples {
  static func live(context: ManagedObjectContext) throws {
    // docs: begin managed
    let person = try context.live(Person.self, \.ticketNumber == "T-1001")
    let name = try person?.lastName
    person?.lastName = "Moreau"  // what does not fit is told by the save
    try person?.set(\.lastName, to: "Moreau")  // at once
    try person?.update { $0.visits += 1 }
    // docs: end
    // docs: begin query
    let people = try context.query(Person.self, \.city == "Paris", sort: [.ascending(\.lastName)])
    // docs: end
    use(name, people)
    @Lines func lines() throws {
      // docs: begin sort
      try context.query(Person.self, sort: [.ascending(\.employer.name), .descending(\.salary)])
      // docs: end
    }
    try lines()
  }

  static func setting(
    context: ManagedObjectContext,
    person: Managed<Person>,
    company: Managed<Company>
  ) throws {
    // docs: begin settable
    person.firstName = "Rohan"
    person.employer = company
    try context.save()  // tells every property that did not take its value
    // docs: end
  }

  static func filters() {
    // docs: begin typed filters
    let rich: ValueFilter<Person> = \.lastName == "Moreau" && \.salary > 100_000
    let alike: ValueFilter<Person> = .beginsWith(\.lastName, "Mo", .caseInsensitive)
    let there: ValueFilter<Person> = \.employer.name == "Acme"
    // docs: end
    use(rich, alike, there)
  }

  static func detached(person: Person) throws {
    // docs: begin detached
    let object = try person.detached()
    print(object.attributes["salary"] ?? .null)  // "118000.50"
    let same = try Person(object)
    // docs: end
    use(same)
  }

  static func stack() throws {
    // docs: begin model of types
    let stack = try Stack(Model(Person.self, Company.self), at: .file("staff.db"))
    // docs: end
    use(stack)
  }

  static func repository(stack: Stack) async throws {
    // docs: begin repository
    let cats = stack.repository(of: Cat.self)
    let tom = try await cats.save(Cat(name: "Tom", weight: 4.2))
    try await cats.update(\.name == "Tom") { $0.weight += 0.1 }
    for try await all in cats.values(sort: [.ascending(\.name)]) { print(all) }
    // docs: end
    use(tom)
  }

  static func results(stack: Stack) async throws {
    // docs: begin value results
    let people = try await stack.results(
      Person.self,
      \.city == "Paris",
      sort: [.ascending(\.lastName)]
    )
    for try await event in people.events() { print(event) }
    let firstPage = try await people.elements(at: 0..<50)
    // docs: end
    use(firstPage)
  }

  static func pages(stack: Stack, request: FetchRequest) async throws {
    // docs: begin pages
    let pages = try stack.pages(request, options: PageOptions(size: 50)) {
      try $0.value(of: "name")
    }
    try await pages.loadNext()
    await pages.didShow(45)  // near the end: the next page is on its way
    // docs: end
  }

  static func imported(stack: Stack) async throws {
    // docs: begin import into values
    let people: [Person] = try await stack.import("people.json", into: Person.self)
    // docs: end
    // docs: begin map of a type
    let map = try ImportMap(
      for: Person.self,
      [
        .map("ticket_number", to: \.ticketNumber),
        .map("salary", to: \.salary, numbers: NumberFormat(locale: "en_US")),
        .nested("phones", to: \.phones),
      ]
    )
    // docs: end
    use(people, map)
  }

  static func reference(context: ManagedObjectContext) throws {
    // docs: begin reference
    struct Employee { var employer: Ref<Company> }
    func company(of employee: Employee) throws -> Company? {
      try context.value(of: employee.employer)
    }
    // docs: end
    use(company)
  }

  static func carried(row: borrowing UnboxingRow) throws -> Cat {
    // docs: begin curry
    try curry(Cat.init(name:weight:)) <^> row <| "name" <^> row <| "weight"
    // docs: end
  }
}

@Entity private struct Company {
  @Unique var name: String
}

@Entity private struct Phone {
  var number: String
}

@Entity private struct Person {
  @Unique var ticketNumber: String
  var firstName: String?
  var lastName: String
  var city: String
  var salary: Decimal
  var visits: Int
  var employer: Ref<Company>?
  @Relationship(inverse: nil) var phones: [Phone]
}

@Entity private struct Cat: Equatable {
  var name: String
  var weight: Double
}
