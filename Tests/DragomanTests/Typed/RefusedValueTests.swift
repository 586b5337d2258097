import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// Records that the model takes, and that a Swift type or a rule of a relationship does not.
@Suite("What imports into values and contexts refuse") struct RefusedValueTests {
  @Test(
    "What a type cannot hold is an error, and nothing is stored that nobody could read",
    arguments: [0, 10, nil]
  )
  func values(maximumRejects: Int?) async throws {
    let stack = try Stack(Model(Gauge.self), at: .inMemory)
    await #expect(throws: (any Error).self) {
      try await stack.importValues(
        [.records([["name": "A", "level": 7], ["name": "B", "level": 300]])],
        into: Gauge.self,
        maximumRejects: maximumRejects
      )
    }
    let gauges = stack.repository(of: Gauge.self)
    #expect(try await gauges.count() == 0)
    let taken = try await stack.import([["name": "A", "level": 7]], into: Gauge.self)
    #expect(taken.map(\.level) == [7])
    #expect(try await gauges.count() == 1)
  }

  @Test("A feed that is refused whole says which record was at fault, and why")
  func reasons() async throws {
    let stack = try Stack(Model(Gauge.self), at: .inMemory)
    let error = await #expect(throws: ImportError.self) {
      _ = try await stack.import(
        [["name": "A", "level": 7], ["name": "B", "level": "x"]],
        into: Gauge.self
      )
    }
    #expect(error?.code == .tooManyRejects)
    #expect(
      error?.message.contains("records (record 2): [value.number] Gauge.level, \"x\": ") == true,
      "\(error?.message ?? "")"
    )
    #expect(try await stack.repository(of: Gauge.self).count() == 0)
  }

  @Test("Without a map an import that gives no report leaves out no value that does not fit")
  func leftOut() async throws {
    let stack = try Stack(Model(Pint.self), at: .inMemory)
    let records: [ForeignValue] = [["name": "A", "pin": "SECRET"]]
    let error = await #expect(throws: ImportError.self) {
      _ = try await stack.import(records, into: Pint.self)
    }
    #expect(error?.code == .tooManyRejects)
    #expect(error?.message.contains("[value.number] Pint.pin") == true, "\(error?.message ?? "")")
    #expect(error?.description.contains("SECRET") == false)
    #expect(try await stack.repository(of: Pint.self).count() == 0)
    #expect(
      try await stack.import(records, into: Pint.self, maximumRejects: nil).map(\.pin) == [nil]
    )
    let told = try await stack.importValues([.records(records)], into: Pint.self)
    #expect(told.values.count == 1 && told.report.issues.map(\.code) == [.number])
  }

  @Test("A second key that is set back to what it was is looked for among the others, too")
  func keysSetBack() async throws {
    let model = Model(
      entities: [
        Entity(
          name: "P",
          attributes: [Attribute(name: "id"), Attribute(name: "mail")],
          uniqueKeys: [["id"], ["mail"]]
        )
      ]
    )
    let stack = try Stack(model, at: .inMemory)
    _ = try await stack.import([["id": "1", "mail": "a"], ["id": "2", "mail": "c"]], into: "P")
    let again = try await stack.import(
      [["id": "1", "mail": "b"], ["id": "2", "mail": "a"], ["id": "1", "mail": "a"]],
      into: "P"
    )
    #expect(again.report.counts.rejected == 1)
    #expect(again.report.issues.map(\.code) == [.keyDuplicate])
  }

  private static let model = Model(
    entities: [
      Entity(
        name: "A",
        attributes: [Attribute(name: "k"), Attribute(name: "n", type: .int32)],
        relationships: [
          .toOne("b", "B", isRequired: true),
          .toMany("few", "B").with { $0.maximumCount = 1 },
        ],
        uniqueKeys: [["k"]]
      ),
      Entity(name: "B", attributes: [Attribute(name: "k")], uniqueKeys: [["k"]]),
    ]
  )

  private func path(_ text: String) throws -> ForeignPath {
    try ForeignPathParser(format: .json).parse(text)
  }

  private func stack() throws -> Stack {
    let stack = try Stack(Self.model, at: .inMemory)
    let (one, few) = (
      ForeignPaths(json: [try path("b")]), ForeignPaths(json: [try path("few")])
    )
    try stack.mappers.register(
      Mapper(for: "A", in: Self.model, uniqueKey: ["k"]) {
        Map("k", to: "k")
        Map("n", to: "n")
        RelationshipMap(
          name: "b",
          entity: "B",
          kind: .toOne,
          key: ["k": .path(one, split: nil)]
        )
        RelationshipMap(
          name: "few",
          entity: "B",
          kind: .toMany,
          key: ["k": .path(few, split: nil)]
        )
      }
    )
    return stack
  }

  private static let records: [(records: [ForeignValue], property: String?)] = [
    ([["k": "1"]], "b"),
    ([["k": "1", "b": nil]], "b"),
    ([["k": "1", "b": "nobody"]], "b"),
    ([["k": "1", "b": "x", "few": ["x", "y"]]], "few"),
    ([["k": "1", "b": "x", "few": ["x"]]], nil),
    // A mapper clears what a record does not give.
    ([["k": "1", "b": "x"], ["k": "1", "n": 2]], "b"),
    ([["k": "1", "b": "x"], ["k": "1", "b": nil]], "b"),
  ]

  @Test("A required relationship has a target when the import ends", arguments: 0..<7)
  func required(number: Int) async throws {
    let (records, property) = Self.records[number]
    let stack = try stack()
    try await stack.write { context in
      for name in ["x", "y"] { try context.insert("B")["k"] = .text(name) }
    }
    if let property {
      let error = await #expect(throws: ContextError.self) {
        try await stack.import(records, into: "A")
      }
      #expect(error?.code == .invalid && error?.faults.map(\.property) == [property])
      #expect(try await stack.read { try $0.count(FetchRequest("A")) } == 0)
    } else {
      #expect(try await stack.import(records, into: "A").report.counts.rejected == 0)
      #expect(try await stack.read { try $0.count(FetchRequest("A")) } == 1)
    }
  }
}

private struct Pint: EntityValue {
  var name: String
  var pin: Int8?

  struct Fields: Sendable {
    let name = Field(0, "name", \Pint.name, isUnique: true)
    let pin = Field(1, "pin", \Pint.pin) { $0.isSensitive = true }
  }
  static let fields = Fields()
  static let schema = EntitySchema<Pint>("Pint", [fields.name, fields.pin])

  init(from row: borrowing UnboxingRow) throws {
    name = try row[Self.fields.name]
    pin = try row[Self.fields.pin]
  }
}

private struct Gauge: PersistentValue, Equatable {
  var objectID: ObjectID?
  var name: String
  var level: Int8

  struct Fields: Sendable {
    let name = Field(0, "name", \Gauge.name, isUnique: true)
    let level = Field(1, "level", \Gauge.level)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Gauge>("Gauge", [fields.name, fields.level])

  init(from row: borrowing UnboxingRow) throws {
    objectID = row.objectID
    name = try row[Self.fields.name]
    level = try row[Self.fields.level]
  }
}
