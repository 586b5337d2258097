import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Records of objects that main has deleted and not saved: the store holds their keys yet.
@Suite struct DeletedAboveTests {
  private let stack: Stack
  private static var one: FetchRequest {
    get throws { FetchRequest("Person", filter: try Filter(parsing: "id = 1")) }
  }

  init() async throws {
    let model = Model(entities: [
      Entity(
        name: "Person",
        attributes: [
          Attribute(name: "id", type: .int64, isRequired: true), Attribute(name: "name"),
          Attribute(name: "email"),
        ],
        relationships: [Relationship(name: "boss", destination: "Person", kind: .toOne)],
        uniqueKeys: [["id"], ["email"]]
      ).with { $0.admitsStubs = true }
    ])
    stack = try Stack(model, at: .inMemory)
    let boss = ForeignPaths(json: [try ForeignPathParser(format: .json).parse("boss")])
    try stack.mappers.register(
      Mapper(for: "Person", in: model, uniqueKey: ["id"]) {
        Map("id", to: "id")
        Map("name", to: "name")
        Map("email", to: "email")
        RelationshipMap(
          name: "boss",
          entity: "Person",
          kind: .toOne,
          key: ["id": .path(boss, split: nil)]
        ).with { $0.onUnresolved = .stub }
      }
    )
    _ = try await stack.import(
      (0..<3).map { ["id": .integer($0), "name": "old", "email": .string("\($0)@b.org")] },
      into: "Person"
    )
  }

  private func names() throws -> [String] {
    try sql(stack.store, "SELECT id || ' ' || coalesce(name, '-') FROM Person ORDER BY id")
  }

  @Test("The record is rejected, and the others are not")
  @MainActor func rejected() async throws {
    let one = try #require(try stack.main.fetch(try Self.one).first)
    try stack.main.delete(one)
    let people: [ForeignValue] = (0..<4).map { ["id": .integer($0), "name": "new"] }
    let report = try await stack.import(people, into: "Person").report
    #expect(report.counts.rejected == 1 && report.counts.inserted == 1)
    #expect(report.issues.first?.code == .keyDuplicate)
    #expect(report.issues.first?.examples.first?.key == "1")
    #expect(try names() == ["0 new", "1 old", "2 new", "3 new"])
    stack.main.rollback()
    #expect(try one.value(of: "name") == .text("old"))
    try stack.main.delete(one)
    try stack.main.save()
    #expect(try await stack.import(people, into: "Person").report.counts.inserted == 1)
    #expect(try names() == ["0 new", "1 new", "2 new", "3 new"])
  }

  @Test("A second unique key of such an object is taken, too, and no stub is made of it")
  @MainActor func others() async throws {
    let one = try #require(try stack.main.fetch(try Self.one).first)
    try stack.main.delete(one)
    let people: [ForeignValue] = [
      ["id": 7, "email": "1@b.org"], ["id": 8, "boss": 1], ["id": 9, "boss": 5],
    ]
    let report = try await stack.import(people, into: "Person").report
    #expect(report.counts.rejected == 1)
    #expect(report.issues.first?.examples.first?.key == "7")
    #expect(try names() == ["0 old", "1 old", "2 old", "5 -", "8 -", "9 -"])
  }

  @Test("What a context deletes and imports again itself, is stored")
  func own() async throws {
    try await stack.write { context in
      try context.delete(try #require(try context.fetch(try Self.one).first))
      try context.import(["id": 1, "name": "again"], into: "Person")
    }
    #expect(try names() == ["0 old", "1 again", "2 old"])
  }
}
