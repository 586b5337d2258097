import DragomanGraph
import Testing

@testable import Dragoman

/// The faults of a mapper, as `code place: message (suggestion)`.
private func faults(_ make: () throws(MapFaults) -> Mapper) -> [String] {
  do {
    _ = try make()
    return []
  } catch {
    return error.faults.map { fault in
      let hint = fault.suggestion.map { " (\($0))" } ?? ""
      return "\(fault.code.rawValue) \(fault.place): \(fault.message)\(hint)"
    }
  }
}

@Suite struct MapperTests {
  private static let model = MapperFixture.model

  private func person(_ maps: Map..., uniqueKey: [String]? = nil) -> [String] {
    faults { () throws(MapFaults) in
      try Mapper(for: "Person", in: Self.model, uniqueKey: uniqueKey) {
        Map("t", to: "ticketNumber")
        maps
      }
    }
  }

  @Test("A local key that the entity does not have is a fault with the nearest name")
  func unknownKeys() {
    #expect(
      person(
        Map("a", to: "frstName"),
        Map("b", to: "lastname"),
        Map("c", to: "zzz"),
        Map("d", to: "employer")
      )
        == [
          "map.reference entities.Person.attributes.frstName: Person has no attribute \"frstName\". (firstName)",
          "map.reference entities.Person.attributes.lastname: Person has no attribute \"lastname\". (lastName)",
          "map.reference entities.Person.attributes.zzz: Person has no attribute \"zzz\".",
          "map.reference entities.Person.attributes.employer: Person has no attribute \"employer\".",
        ]
    )
  }

  @Test("All faults are told together, whatever their kind")
  func together() {
    let found = person(
      Map("a", to: "age", dates: ["iso8601"]),
      Map("b", to: "dateOfBirth", dates: ["yyyy-QQQQQQQ"]),
      Map("c", to: "salary", numbers: NumberFormat(locale: "xx_YY")),
      Map("d..e", to: "firstName"),
      Map("f", to: "seen", format: ValueFormat(timeZone: "Europe/Olso")),
      Map("g", to: "age"),
      Map("h", to: "isCool").with {
        $0.format.trueValues = ["y"]
        $0.format.falseValues = ["y"]
      },
      Map("i", to: "kind", format: ValueFormat(values: ["one": "a", "two": "c"])),
      Map("j", to: "lastName").with { $0.policies = ValuePolicies(onInvalid: .default) }
    )
    #expect(
      Set(found.map { $0.split(separator: ":")[0] })
        == [
          "map.misplaced entities.Person.attributes.age.dates",
          "map.format entities.Person.attributes.dateOfBirth.dates",
          "map.format entities.Person.attributes.salary.numbers",
          "map.path entities.Person.attributes.firstName.from",
          "map.format entities.Person.attributes.seen.timeZone",
          "map.duplicate entities.Person.attributes.age",
          "map.value entities.Person.attributes.isCool.falseValues",
          "map.value entities.Person.attributes.kind.values",
          "map.policy entities.Person.attributes.lastName.onInvalid",
        ]
    )
    #expect(found.count == 9)
    #expect(found.contains { $0.hasSuffix("(Europe/Oslo)") })
  }

  @Test(
    "A unique key that no map feeds, that does not exist, or that is not the model's is a fault"
  )
  func uniqueKeys() {
    let unfed = faults { () throws(MapFaults) in
      try Mapper(for: "Person", in: Self.model) { Map("a", to: "age") }
    }
    #expect(
      unfed == [
        "map.unique entities.Person.unique: No map feeds \"ticketNumber\", by which records find their object."
      ]
    )
    #expect(
      person(uniqueKey: ["tiketNumber"]).first
        == "map.reference entities.Person.unique: Person has no attribute \"tiketNumber\". (ticketNumber)"
    )
    #expect(
      person(Map("a", to: "age"), uniqueKey: ["age"]) == [
        "map.unique entities.Person.unique: The model finds Person by [ticketNumber], and the mapper by [age]."
      ]
    )
    #expect(person(uniqueKey: ["ticketNumber"]).isEmpty)
    #expect(person(uniqueKey: []).count == 1)
  }

  @Test("Where the model has no key, the mapper's becomes it")
  func newKey() throws {
    let none = try Mapper(for: "Note", in: Self.model) { Map("t", to: "text") }
    #expect(none.uniqueKey == [])
    let mapper = try Mapper(for: "Note", in: Self.model, uniqueKey: ["text", "stars"]) {
      Map("t", to: "text")
      Map("s", to: "stars")
    }
    #expect(mapper.uniqueKey == ["text", "stars"])
    #expect(mapper.model.entity(named: "Note")?.uniqueKeys == [["text", "stars"]])
    #expect(
      faults { () throws(MapFaults) in
        try Mapper(for: "Note", in: Self.model, uniqueKey: ["stars"]) { Map("t", to: "text") }
      } == [
        "map.unique entities.Note.unique: No map feeds \"stars\", by which records find their object."
      ]
    )
  }

  @Test("An entity that the model does not have is named with its neighbour")
  func unknownEntity() {
    #expect(
      faults { () throws(MapFaults) in
        try Mapper(for: "Persn", in: Self.model) { Map("a", to: "b") }
      } == ["map.reference entities.Persn: The model has no entity \"Persn\". (Person)"]
    )
    #expect(
      faults { () throws(MapFaults) in try .default(for: "Bos", in: Self.model) }
        == ["map.reference entities.Bos: The model has no entity \"Bos\". (Boss)"]
    )
  }

  @Test("Relationships are checked against the model, which says how they are stored")
  func relationships() throws {
    let byKey = RelationshipMap(
      name: "employer",
      entity: "Company",
      kind: .toOne,
      key: [
        "id": .path(
          ForeignPaths(json: [ForeignPath(steps: [.member("cid", namespace: nil)], text: "cid")]),
          split: nil
        )
      ]
    )
    let mapper = try Mapper(for: "Person", in: Self.model) {
      Map("t", to: "ticketNumber")
      byKey
    }
    #expect(mapper.entityMap.relationships.map(\.name) == ["employer"])
    #expect(mapper.entityMap.relationships[0].onDelete == .nullify)
    #expect(mapper.importMap.entities.map(\.name) == ["Person", "Company"])
    for (change, message) in [
      ({ (map: inout RelationshipMap) in map.name = "emploier" }, "map.reference"),
      ({ $0.entity = "Note" }, "map.value"), ({ $0.kind = .toMany }, "map.value"),
      ({ $0.key = ["name": .attribute("ticketNumber")] }, "map.reference"),
      ({ $0.onUnresolved = .stub }, "map.value"),
    ] {
      var wrong = byKey
      change(&wrong)
      let found = faults { () throws(MapFaults) in
        try Mapper(for: "Person", in: Self.model) {
          Map("t", to: "ticketNumber")
          wrong
        }
      }
      #expect(found.map { $0.prefix { $0 != " " } } == [Substring(message)])
    }
  }

  @Test("A sub-entity's mapper may map what is inherited")
  func inherited() throws {
    let mapper = try Mapper(for: "Boss", in: Self.model) {
      Map("t", to: "ticketNumber")
      Map("d", to: "desk")
      Map("c", to: "car")
    }
    #expect(mapper.uniqueKey == ["ticketNumber"])
    #expect(mapper.entityMap.parent == "Employee")
  }

  @Test("Policies of mappers are Vokoder's: missing and null clear, invalid is as null")
  func policies() throws {
    func policies(_ mapper: Mapper) -> [ValuePolicy?] {
      let policies = mapper.entityMap.policies
      return [policies.onMissing, policies.onNull, policies.onInvalid]
    }
    #expect(policies(try MapperFixture.person()) == [.clear, .clear, .clear])
    #expect(
      policies(try MapperFixture.person(ignoreNullValueOverwrites: true)) == [.keep, .keep, .keep]
    )
    let changed = try MapperFixture.person(
      ignoreNullValueOverwrites: true,
      policies: ValuePolicies(onMissing: .reject, onInvalid: .reject)
    )
    #expect(policies(changed) == [.reject, .keep, .reject])
  }

  @Test("Mappers compile to maps that are written and read as files")
  func mapFile() throws {
    let map = try MapperFixture.person().importMap
    #expect(try ImportMap(json: map.json()) == map)
    #expect(map.validate().isEmpty)
    let model = map.model()
    #expect(model.entities[0].attribute(named: "kind") == nil, "only what is mapped")
  }
}

// MARK: - Types that declare their mappers

private struct Person: Mappable {
  static var maps: [MapperPart] {
    Map("ticket_number", to: "ticketNumber")
    for name in ["firstName", "lastName"] { Map(name, to: name) }
  }
  static var ignoreNullValueOverwrites: Bool { true }
}

private struct Faulty: Mappable {
  static var entityName: String { "Note" }
  static var uniqueKey: [String]? { ["txt"] }
  static var maps: [MapperPart] { Map("text", to: "txt") }
}

@Suite struct MapperRegistryTests {
  @Test("A type that declares its mapper is registered by its name")
  func mappable() throws {
    let registry = MapperRegistry(model: MapperFixture.model)
    try registry.register(Person.self)
    let mapper = try registry.mapper(for: "Person")
    #expect(mapper.entityMap.attributes.map(\.name) == ["ticketNumber", "firstName", "lastName"])
    #expect(mapper.entityMap.policies.onMissing == .keep)
    #expect(mapper.overwriteExisting)
    let faults = #expect(throws: MapFaults.self) { try registry.register(Faulty.self) }
    #expect(
      faults?.faults.map(\.place) == ["entities.Note.unique", "entities.Note.attributes.txt"]
    )
    #expect(registry.registeredMapper(for: "Note") == nil)
  }

  @Test("A sub-entity without a mapper has its nearest ancestor's, then the default")
  func inheritance() throws {
    let registry = MapperRegistry(model: MapperFixture.model)
    func maps(_ name: String) throws -> String {
      let map = try registry.mapper(for: name).entityMap
      return "\(map.name) \(map.attributes.count) \(map.overwriteExisting ?? true)"
    }
    #expect(try maps("Boss") == "Boss 16 true", "the default mapper: all attributes")
    try registry.register(MapperFixture.person())
    #expect(try maps("Boss") == "Boss 8 true")
    try registry.register(
      Mapper(for: "Employee", in: MapperFixture.model, overwriteExisting: false) {
        Map("ticketNumber", to: "ticketNumber")
      }
    )
    #expect(try maps("Boss") == "Boss 1 false")
    #expect(try maps("Person") == "Person 8 true")
    #expect(try maps("Company") == "Company 2 true")
    registry.removeMapper(for: "Employee")
    #expect(try maps("Employee") == "Employee 8 true")
    #expect(throws: MapFaults.self) { try registry.mapper(for: "Nobody") }
  }

  @Test("A second registration replaces the first, and registries do not know of each other")
  func replacement() throws {
    let registries = [
      MapperRegistry(model: MapperFixture.model), MapperRegistry(model: MapperFixture.model),
    ]
    try registries[0].register(Person.self)
    try registries[0].register(MapperFixture.person())
    #expect(try registries[0].mapper(for: "Person").entityMap.attributes.count == 8)
    #expect(registries[1].registeredMapper(for: "Person") == nil)
    let other = Model(entities: [Entity(name: "Thing", attributes: [])])
    #expect(throws: MapFaults.self) {
      try MapperRegistry(model: other).register(MapperFixture.person())
    }
  }

  @Test("An entity's map has the mappers of its relationships' targets")
  func targets() throws {
    let registry = MapperRegistry(model: MapperFixture.model)
    try registry.register(
      Mapper(for: "Company", in: MapperFixture.model) { Map("no", to: "id") }
    )
    try registry.register(
      Mapper(for: "Person", in: MapperFixture.model) {
        Map("t", to: "ticketNumber")
        RelationshipMap(
          name: "employer",
          entity: "Company",
          kind: .toOne,
          from: ForeignPaths(json: [ForeignPath(steps: [.member("c", namespace: nil)], text: "c")])
        )
      }
    )
    let (map, code) = try registry.importMap(for: "Person")
    #expect(map.entities.map(\.name) == ["Person", "Company"])
    #expect(map.entities[1].attributes.map { $0.from?.json.map(\.text) } == [["no"]])
    #expect(code.entity("Company").rejectsUnknownKeys == false)
  }

  @Test("Of several unique keys only the identity has to be fed")
  func severalKeys() async throws {
    let attributes = ["k", "n", "v"].map { Attribute(name: $0) }
    let model = Model(entities: [
      Entity(name: "P", attributes: attributes, uniqueKeys: [["k"], ["n"]])
    ])
    let mapper = try Mapper(for: "P", in: model, ignoreNullValueOverwrites: true) {
      Map("k", to: "k")
      Map("v", to: "v")
    }
    #expect(mapper.entityMap.uniqueKeys == [["k"]])
    #expect(
      faults { () throws(MapFaults) in
        try Mapper(for: "P", in: model) {
          Map("n", to: "n")
          Map("v", to: "w")
        }
      } == [
        "map.reference entities.P.attributes.w: P has no attribute \"w\".",
        "map.unique entities.P.unique: No map feeds \"k\", by which records find their object.",
      ]
    )
    let stack = try Stack(model, at: .inMemory)
    try await stack.import([["k": "1", "n": "a", "v": "x"]], into: "P")
    try stack.mappers.register(mapper)
    let imported = try await stack.import([["k": "1", "v": "y"], ["k": "2"]], into: "P")
    #expect(imported.report.summary == "read 2, inserted 1, updated 1")
    #expect(try sql(stack.store, "SELECT k, n, v FROM P") == ["1|a|y", "2|null|null"])
    // The other key is still one.
    let other: ForeignRecord = ["k": "3", "n": "a"]
    stack.mappers.removeMapper(for: "P")
    let last = try await stack.import([.object(other)], into: "P")
    #expect(last.report.issueSummary == ["key.duplicate 1"])
  }
}
