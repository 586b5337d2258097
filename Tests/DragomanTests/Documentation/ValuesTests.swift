// docs: begin modules
import Dragoman
import DragomanGraph
// docs: end
import Foundation
import Testing

// docs: begin type
struct Employee {
  var ticketNumber: String
  var firstName: String?
  var dateOfBirth: Date?
  var salary: Decimal?
  var isActive: Bool
}
// docs: end

// docs: begin conformance
extension Employee: EntityValue {
  struct Fields: Sendable {
    let ticketNumber = Field(0, "ticketNumber", \Employee.ticketNumber, isUnique: true)
    let firstName = Field(1, "firstName", \Employee.firstName)
    let dateOfBirth = Field(2, "dateOfBirth", \Employee.dateOfBirth) { $0.type = .date }
    let salary = Field(3, "salary", \Employee.salary, rules: AttributeRules(scale: 2))
    let isActive = Field(4, "isActive", \Employee.isActive, default: true)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Employee>(
    "Employee",
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
// docs: end

extension Employee {
  init(_ ticketNumber: String, firstName: String? = nil, salary: Decimal? = nil) {
    self.init(
      ticketNumber: ticketNumber,
      firstName: firstName,
      dateOfBirth: nil,
      salary: salary,
      isActive: true
    )
  }
}

/// Runs the code of docs/values.md.
@MainActor @Suite struct ValuesTests {
  let stack: Stack
  var context: ManagedObjectContext { stack.main }

  init() throws {
    stack = try Stack(Model(Employee.self, Desk.self, Device.self), at: .inMemory)
  }

  @Test("The documented conformance has at most 25 lines")
  func lines() throws {
    let regions = try DocumentFile(path: "Tests/DragomanTests/Documentation/ValuesTests.swift")
      .regions()
    let conformance = try #require(regions.first { $0.hasPrefix("extension Employee") })
    #expect(conformance.split(separator: "\n").count <= 25)
  }

  @Test("A stack is opened with types")
  func model() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "staff.db").path
    // docs: begin model
    let stack = try Stack(Model(Employee.self, Desk.self, Device.self), at: .file(path))
    // docs: end
    #expect(stack.model.entities.map(\.name) == ["Employee", "Desk", "Device"])
    #expect(stack.model.entity(named: "Employee")?.uniqueKeys == [["ticketNumber"]])
    try stack.close()
  }

  @Test("Values are saved, found and deleted")
  func saving() throws {
    // docs: begin save
    var rohan = Employee("T-1001", firstName: "Rohan", salary: 118_000)
    try context.save(rohan)
    rohan.salary = 120_000
    try context.save(rohan)  // the same object: it is found by its ticket number
    try context.saveAll([rohan, Employee("T-1002", firstName: "Ada")])  // one transaction

    let rich = try context.query(
      Employee.self,
      \.salary > 100_000 && \.firstName != nil,
      sort: [.descending(\.salary), .ascending(\.firstName)],
      limit: 10
    )
    try context.delete(rohan)
    // docs: end
    #expect(rich.map(\.ticketNumber) == ["T-1001"] && rich[0].salary == 120_000)
    #expect(try context.query(Employee.self).map(\.ticketNumber) == ["T-1002"])
  }

  @Test("Every Swift span of the tables is code that is run here")
  func table() throws {
    let folder = "Tests/DragomanTests/Documentation/"
    let code = try ["ValuesTests.swift", "ValuesGraphTests.swift"]
      .map { try DocumentFile(path: folder + $0).lines().joined() }
      .joined().replacing(" ", with: "")
    let lines = try DocumentFile(path: "docs/values.md").lines()
    let start = try #require(lines.firstIndex { $0.hasPrefix("## Coming from CoreValue") })
    let rows = lines[start...].filter { $0.hasPrefix("| ") && !$0.hasPrefix("| | ") }
    #expect(rows.count > 20)
    for row in rows {
      let column = row.split(separator: " | ").last.map(String.init) ?? ""
      for span in column.matches(of: /`([^`]+)`/) {
        let text = String(span.output.1).replacing(#"\|"#, with: "|")
        let isRun = code.contains(text.replacing(" ", with: ""))
        #expect(isRun, "\(text) is in no test")
      }
    }
  }
}
