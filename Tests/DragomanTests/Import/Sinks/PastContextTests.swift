import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Dictionaries that are written as rows, where nobody can tell the difference from objects: who could, does not.
@Suite("Imports past the objects of a context") struct PastContextTests {
  private static let model = Model(entities: [
    Entity(
      name: "Person",
      attributes: [
        Attribute(name: "ticketNumber", isRequired: true), Attribute(name: "firstName"),
      ],
      uniqueKeys: [["ticketNumber"]]
    )
  ])

  private let stack: Stack

  init() throws {
    stack = try Stack(Self.model, at: .inMemory)
    try register(nil)
  }

  private func register(_ hook: PostImportHook?) throws {
    try stack.mappers.register(
      Mapper(for: "Person", in: Self.model, uniqueKey: ["ticketNumber"]) {
        Map("ticket_number", to: "ticketNumber")
        Map("first_name", to: "firstName")
      }.with { $0.postImport = hook }
    )
  }

  private static func people(_ range: Range<Int>, _ name: String) -> [ForeignValue] {
    range.map { ["ticket_number": .string("A\($0)"), "first_name": .string(name)] }
  }

  /// Whether the next import would write rows.
  private func writesRows() async throws -> Bool {
    let (map, code) = try stack.mappers.importMap(for: "Person")
    return try await stack.writeInOneTransaction { context in
      RowBackend(past: context, map, code) != nil
    }
  }

  @Test("Objects that main holds are as they were imported")
  @MainActor func refreshed() async throws {
    let first = try await stack.import(Self.people(0..<3, "Ada"), into: "Person")
    let ada = try stack.main.object(with: first.ids[1])
    #expect(ada["firstName"] == "Ada")
    #expect(try await writesRows())
    let second = try await stack.import(Self.people(1..<4, "Eve"), into: "Person")
    #expect(second.ids.prefix(2) == first.ids.suffix(2))
    #expect(second.report.counts.updated == 2 && second.report.counts.inserted == 1)
    // Main is told at its next turn.
    for _ in 0..<90_000 where ada["firstName"] != "Eve" {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(ada["firstName"] == "Eve")
    #expect(try stack.main.count(FetchRequest("Person")) == 4)
  }

  @Test("What main has not saved of the entity is seen, and what it inserts later gets other keys")
  @MainActor func unsaved() async throws {
    let unsaved = try stack.main.insert("Person")
    unsaved["ticketNumber"] = "A1"
    #expect(try await !writesRows())
    let imported = try await stack.import(Self.people(0..<2, "Ada"), into: "Person")
    #expect(imported.ids[1] == unsaved.objectID)
    #expect(imported.report.counts.inserted == 1 && imported.report.counts.updated == 1)
    try stack.main.save()
    #expect(try await writesRows())
    let more = try await stack.import(Self.people(5..<9, "Ada"), into: "Person")
    let later = try (0..<3).map { number in
      let person = try stack.main.insert("Person")
      person["ticketNumber"] = .text("B\(number)")
      return person.objectID
    }
    try stack.main.save()
    #expect(Set(imported.ids + more.ids + later).count == 9)
    #expect(try stack.main.count(FetchRequest("Person")) == 9)
  }

  @Test("Who observes is told of each object")
  func observed() async throws {
    let changes = stack.changes()
    #expect(try await !writesRows())
    let imported = try await stack.import(Self.people(0..<2, "Ada"), into: "Person")
    var told = Set<ObjectID>()
    for await notice in changes where !notice.inserted.isEmpty {
      told = notice.inserted
      break
    }
    #expect(told == Set(imported.ids))
  }

  @Test("Hooks are given objects")
  func hooks() async throws {
    #expect(try await writesRows())
    try register { _, person in person["firstName"] = "hooked" }
    #expect(try await !writesRows())
    _ = try await stack.import(Self.people(0..<1, "Ada"), into: "Person")
    #expect(
      try stack.store.count(
        FetchRequest("Person", filter: Filter(parsing: "firstName == 'hooked'"))
      ) == 1
    )
  }

  @Test("Too many rejects leave nothing behind")
  func rejected() async throws {
    let records = Self.people(0..<3, "Ada") + [["first_name": "nobody"], "nothing"]
    await #expect(throws: ImportError.self) {
      try await stack.import(records, into: "Person", maximumRejects: 0)
    }
    #expect(try stack.store.count(FetchRequest("Person")) == 0)
    let some = try await stack.import(records, into: "Person")
    #expect(some.report.counts.inserted == 3 && some.report.counts.rejected == 2)
    #expect(some.ids.count == 3)
  }
}
