import Foundation
import Testing

@testable import DragomanGraph

/// Properties of live objects that are set without `try`, and what the save says of it.
@MainActor @Suite struct SettingTests {
  @Test("Attributes, transformed ones and relationships are set by assignment")
  func assignment() throws {
    let stack = try Stack(everythingModel, at: .inMemory)
    var value = Everything(1)
    let id = try stack.main.save(&value)
    let live = try #require(try stack.main.live(Everything.self, with: id))
    live.text = "x"
    live.maybe = 7
    live.words = ["a", "b"]
    live.color = Color(red: 1, green: 2)
    live.maybeColor = Color(red: 3, green: 4)
    live.maybeKind = .sedan
    let optional = try stack.main.live(Everything.self, \.key == 1)
    optional?.took = .seconds(90)
    try stack.main.save()
    #expect(try live.text == "x" && live.maybe == 7 && live.words == ["a", "b"])
    #expect(try live.color == Color(red: 1, green: 2))
    #expect(try stack.sql("SELECT text, maybeKind, took FROM Everything") == ["x|sedan|PT1M30S"])
    live.maybe = nil
    live.maybeColor = nil
    try stack.main.save()
    #expect(try live.maybe == nil && live.maybeColor == nil)

    let staff = try Stack(staffModel, at: .inMemory)
    let acme = try staff.main.insert(Company.self)
    acme.name = "Acme"
    let ada = try staff.main.insert(Person.self)
    ada.ticket = "1"
    ada.employer = acme
    #expect(try acme.staff.map { try $0.ticket } == ["1"])
    acme.staff = []
    #expect(try ada.employer == nil)
    try staff.main.save()
  }

  @Test("A save tells every value that was refused, and every rule that is broken, by name")
  func refusals() throws {
    let stack = try Stack(shopModel, at: .inMemory)
    let main = stack.main
    let everything = try Stack(everythingModel, at: .inMemory)
    var value = Everything(1)
    let id = try everything.main.save(&value)
    let live = try #require(try everything.main.live(Everything.self, with: id))
    live.uint64 = .max
    live.double = .nan
    live.text = "taken"
    let error = contextError { try everything.main.save() }
    #expect(error?.code == .invalid)
    #expect(error?.faults.map(\.property) == ["uint64", "double"])
    #expect(error?.faults.map(\.rule) == [.type, .type])
    #expect(error?.message.hasPrefix("Everything.uint64 takes") == true)
    #expect(error?.message.hasSuffix("(1 more fault)") == true)
    // Told once; what was taken is still pending, and the save can be tried again.
    try everything.main.save()
    #expect(try everything.sql("SELECT uint64, text FROM Everything") == ["0|taken"])

    let employee = try main.insert(Employee.self)
    employee.age = -1
    employee.object["position"] = 5
    employee.object["typo"] = 5
    let other = contextError { try main.save() }
    #expect(other?.faults.map(\.property) == ["position", "typo", "name", "age"])
    #expect(other?.faults.map(\.rule) == [.type, .type, .required, .range])
    let rules = contextError { try main.save() }
    #expect(rules?.faults.map(\.property) == ["name", "age"])
  }

  @Test("A single refusal is thrown as what it is, and one that was mended not at all")
  func mended() throws {
    let stack = try Stack(everythingModel, at: .inMemory)
    var value = Everything(1)
    let id = try stack.main.save(&value)
    let live = try #require(try stack.main.live(Everything.self, with: id))
    live.double = .nan
    #expect(valueError { try stack.main.save() }?.property == "double")
    live.double = .nan
    live.uint64 = .max
    live.double = 2
    #expect(valueError { try stack.main.save() }?.property == "uint64")
    try stack.main.save()
    #expect(try live.double == 2)
    live.double = .nan
    stack.main.rollback()
    try stack.main.save()
  }

  @Test("In the background the end of the closure tells all, and nothing is stored")
  func background() async throws {
    let stack = try Stack(shopModel, at: .inMemory)
    for until in [Stack.Durability.durable, .merged] {
      let error = await #expect(throws: ContextError.self) {
        try await stack.write(until: until) { context in
          let employee = try context.insert(Employee.self)
          employee.name = "Ada"
          employee.age = 1
          employee.object["position"] = 5
          employee.object["nmae"] = "x"
        }
      }
      #expect(error?.faults.map(\.property) == ["position", "nmae"])
    }
    #expect(try stack.main.count(Employee.self) == 0)
  }
}
