import Dragoman
import DragomanGraph
import DragomanOperators
import Foundation
import Testing

// docs: begin nested
struct Device: PersistentValue {
  var objectID: ObjectID?
  var kind: Kind
  var ports: [Int]

  enum Kind: String, AttributeValue, CaseIterable { case phone, printer }
}

struct Desk: PersistentValue {
  var objectID: ObjectID?
  var name: String
  var devices: [Device]
  var user: Ref<Employee>?
}
// docs: end

// docs: begin nested conformance
extension Desk {
  struct Fields: Sendable {
    let name = Field(0, "name", \Desk.name)
    let devices = Field(1, "devices", \Desk.devices, deleteRule: .cascade)
    let user = Field(2, "user", \Desk.user)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Desk>("Desk", [fields.name, fields.devices, fields.user])

  init(from row: borrowing UnboxingRow) throws {
    objectID = row.objectID
    name = try row[Self.fields.name]
    devices = try row[Self.fields.devices]
    user = try row[Self.fields.user]
  }
}
// docs: end

extension Device {
  struct Fields: Sendable {
    let kind = Field(0, "kind", \Device.kind)
    let ports = Field(1, "ports", \Device.ports)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Device>("Device", [fields.kind, fields.ports])
}

extension Desk {
  init(name: String, devices: [Device], user: Ref<Employee>? = nil) {
    (self.name, self.devices, self.user) = (name, devices, user)
  }
}

/// Runs the rest of the code of docs/values.md.
extension ValuesTests {
  @Test("Nested values get their ids, references lead on")
  func nested() throws {
    try context.save(Employee("T-1001", firstName: "Rohan"))
    // docs: begin graph
    var desk = Desk(
      name: "window",
      devices: [Device(kind: .phone, ports: [1]), Device(kind: .printer, ports: [])],
      user: Ref(key: "T-1001")
    )
    let id = try context.save(&desk)  // desk.objectID and the devices' ids are set now
    desk.devices.swapAt(0, 1)
    desk.devices.removeLast()  // cascade: saving deletes the phone
    try context.save(&desk)

    let same = try context.value(Desk.self, with: id)
    let user = try desk.user.flatMap { try context.value(of: $0) }
    // docs: end
    #expect(same?.devices.map(\.kind) == [.printer])
    #expect(same?.devices.map(\.objectID) == desk.devices.map(\.objectID))
    #expect(user?.firstName == "Rohan")
    #expect(try context.count(Device.self) == 1)
    // docs: begin delete
    try context.delete(&desk)  // the device goes with it, and desk.objectID is nil
    // docs: end
    #expect(desk.objectID == nil)
    #expect(try context.count(Device.self) == 0)
  }

  @Test("Live objects have the same names")
  func live() throws {
    try context.save(Employee("T-1001", firstName: "Rohan", salary: 1))
    // docs: begin live
    if let employee = try context.live(Employee.self, \.ticketNumber == "T-1001") {
      let name = try employee.firstName ?? "nobody"
      employee.firstName = "\(name)!"  // what does not fit is told by the save
      try employee.update { $0.salary = ($0.salary ?? 0) * 2 }
      let snapshot = try employee.value  // Sendable: it may leave the context
      print(snapshot)
    }
    try context.save()  // live objects are saved with their context
    // docs: end
    let saved = try context.query(Employee.self)
    #expect(saved.map(\.firstName) == ["Rohan!"] && saved.map(\.salary) == [2])
  }

  private func print(_ value: some Sendable) {}

  @Test("A repository needs no context")
  func repository() async throws {
    // docs: begin repository
    let employees = stack.repository(of: Employee.self)
    try await employees.save([Employee("T-1"), Employee("T-2"), Employee("T-3")])
    let all = try await employees.fetchAll(sort: [.ascending(\.ticketNumber)])
    try await employees.update(\.salary == nil) { $0.salary = 1000 }
    try await employees.delete(all[0])
    let count = try await employees.count()
    // docs: end
    #expect(all.count == 3 && count == 2)
    #expect(try context.query(Employee.self).map(\.salary) == [1000, 1000])
    let loaded = Task {
      // docs: begin observe
      for try await values in employees.values(sort: [.ascending(\.ticketNumber)]) {
        print("\(values.count) employees")  // at once, and again after each change
        break
      }
      // docs: end
    }
    try await loaded.value
    // docs: begin results
    let rich = try await stack.results(
      Employee.self,
      \.salary >= 1000,
      sort: [.ascending(\.ticketNumber)]
    )
    let first = try await rich.elements(at: 0..<1)
    // docs: end
    #expect(first.map(\.ticketNumber) == ["T-2"])
  }

  @Test("Plain Codable types")
  func codable() throws {
    // docs: begin codable
    struct PlainDesk: Codable {
      var objectID: ObjectID?
      var name: String
      var devices: [PlainDevice]
    }
    struct PlainDevice: Codable {
      var kind: String
      var ports: [Int]
    }
    var desk = PlainDesk(name: "door", devices: [PlainDevice(kind: "phone", ports: [1, 2])])
    desk.objectID = try context.save(desk, as: "Desk")
    let desks = try context.query(PlainDesk.self, from: "Desk")
    // docs: end
    #expect(desks.map(\.name) == ["door"] && desks[0].devices.map(\.ports) == [[1, 2]])
  }

  @Test("Feeds become values")
  func importing() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "employees.json").path
    let feed = #"[{"ticket": "T-1", "firstName": "Ada", "pay": "1.000,50", "born": "10.12.1815"}]"#
    try Data(feed.utf8).write(to: URL(fileURLWithPath: file))
    // docs: begin import
    let map = try ImportMap(
      for: Employee.self,
      [
        .map("ticket", to: \.ticketNumber),
        .map("pay", to: \.salary, numbers: NumberFormat(decimal: ",", group: ".")),
        .map("born", to: \.dateOfBirth, dates: ["dd.MM.yyyy"]),
      ]
    )
    let employees: [Employee] = try await stack.import(file, into: Employee.self, by: map)
    // docs: end
    #expect(employees.map(\.firstName) == ["Ada"] && employees[0].isActive)
    #expect(employees[0].salary == Decimal(string: "1000.5"))
    #expect(employees[0].dateOfBirth == Date(timeIntervalSince1970: -4_861_728_000))
  }

  @Test("What the tables for users of CoreValue and SwiftyCoreData show is run")
  func predecessors() async throws {
    // table: begin
    var desk = Desk(name: "a", devices: [])
    let id = try context.save(&desk)
    try context.save(desk)
    let shops: [Desk] = try context.query()
    let object = try context.box(&desk)
    let value = try object.value
    let sorted = try context.query(Desk.self, \.name == "a", sort: [.ascending(\.name)])
    let one = try context.query(Desk.self, ValueFilter(parsing: "name == 'a'"), limit: 1)
    let detached = try desk.detached()
    let again = try Desk(detached)
    var both = [desk, Desk(name: "b", devices: [])]
    try context.saveAll(&both)
    let total = try context.count(Desk.self)
    let repository = stack.repository(of: Desk.self)
    let onMain = stack.repository(of: Desk.self, on: .main)
    let fetched = try await repository.fetchAll()
    let some = try await repository.fetch(\.name == "b")
    try await repository.save(fetched)
    try await repository.update(id) { $0.name = "c" }
    try await repository.delete(some)
    let changes = repository.changes()
    try context.deleteAll(&both)
    // table: end
    #expect(shops.count == 1 && sorted.count == 1 && one.count == 1 && total == 2)
    #expect(value.name == "a" && again.name == "a" && some.count == 1)
    #expect(try await onMain.count() == 0)
    _ = changes
  }
}

extension Device {
  // docs: begin operators
  init(from row: borrowing UnboxingRow) throws {
    try self.init(objectID: row.objectID, kind: row <| "kind", ports: row <| "ports")
  }
  // docs: end
}
