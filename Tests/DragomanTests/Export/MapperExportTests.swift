import DragomanGraph
import Testing

@testable import Dragoman

/// Exports of live objects by mappers that have closures and hooks, and that clear what records do not give.
@MainActor
@Suite("Exporting by mappers") struct MapperExportTests {
  private static let model = Model(entities: [
    Entity(
      name: "Person",
      attributes: [
        Attribute(name: "id", type: .int64), Attribute(name: "name"),
        Attribute(name: "ssn").with { $0.isSensitive = true },
        Attribute(name: "lon", type: .double),
      ],
      relationships: [
        .toMany("phones", "Phone", inverse: "owner", isOrdered: true),
        .toOne("boss", "Person", inverse: "staff"), .toMany("staff", "Person", inverse: "boss"),
        .toOne("company", "Company", inverse: "employees"),
      ],
      uniqueKeys: [["id"]]
    ),
    Entity(
      name: "Phone",
      attributes: [Attribute(name: "number")],
      relationships: [.toOne("owner", "Person", inverse: "phones")],
      uniqueKeys: [["number"]]
    ),
    Entity(
      name: "Company",
      attributes: [Attribute(name: "name"), Attribute(name: "note")],
      relationships: [.toMany("employees", "Person", inverse: "company")],
      uniqueKeys: [["name"]]
    ),
  ])

  private let stack: Stack

  init() throws { stack = try Stack(Self.model, at: .inMemory) }

  private func register(
    _ name: String,
    _ hook: PostExportHook? = nil,
    @MapBuilder maps: () -> [MapperPart]
  ) throws {
    var mapper = try Mapper(for: name, in: Self.model, maps: maps)
    mapper.postExport = hook
    try stack.mappers.register(mapper)
  }

  private func people(_ request: ExportRequest = ExportRequest()) throws -> [ForeignRecord] {
    stack.main.refreshAll()
    let order = FetchRequest("Person", sortKeys: [SortKey("id")])
    return try stack.main.export(stack.main.fetch(order), request)
  }

  @Test(
    "A closure does not write what is masked, not exported, no column, or null",
    arguments: [true, false]
  )
  func leftOut(masks: Bool) async throws {
    try register("Person") {
      Map("id", to: "id")
      Map("ssn", to: "ssn", export: { .string("SSN-\($0.string ?? "?")") })
      Map("note", to: "name", export: { _ in "note" }).with { $0.isExported = false }
    }
    try await stack.import([["id": 1, "ssn": "123", "note": "n"], ["id": 2]], into: "Person")
    let request = ExportRequest(isLossy: true).with {
      if masks { $0.masksSensitive = true } else { $0.columns = ["id"] }
    }
    let first: ForeignRecord = masks ? ["id": 1, "ssn": "•••"] : ["id": 1]
    #expect(try people(request) == [first, ["id": 2]])
  }

  @Test("Closures and hooks of nested objects run as they do for the objects alone")
  func nested() async throws {
    try register("Person") {
      Map("id", to: "id")
      RelationshipMap(name: "phones", entity: "Phone", kind: .toMany)
      RelationshipMap(name: "company", entity: "Company", kind: .toOne)
    }
    try register("Phone") {
      Map(
        "no",
        to: "number",
        convert: { .text("+47\($0.string ?? "")") },
        export: { .string(String(($0.string ?? "").dropFirst(3))) }
      )
    }
    try register("Company") { company, record in
      record["note"] = nil
      record["kind"] = .string(company.entityName)
    } maps: {
      Map("name", to: "name")
      Map("note", to: "note")
    }
    let feed: ForeignValue = [
      "id": 1, "phones": [["no": "1"]], "company": ["name": "A", "note": "n"],
    ]
    try await stack.import([feed], into: "Person")
    let expected: ForeignRecord = [
      "id": 1, "phones": [["no": "1"]], "company": ["name": "A", "kind": "Company"],
    ]
    #expect(try people() == [expected])
    struct Refusal: Error {}
    try register("Company") { _, _ in
      throw Refusal()
    } maps: {
      Map("name", to: "name")
    }
    #expect(throws: Refusal.self) { try people() }
  }

  @Test(
    "A closure's value stands where its attribute is read, whatever the path",
    arguments: [true, false]
  )
  func places(isFlat: Bool) async throws {
    try register("Person") {
      Map("id", to: "id")
      Map(
        "pos[0]",
        to: "lon",
        convert: { .real(($0.double ?? 0) * 2) },
        export: { .double(($0.real ?? 0) / 2) }
      )
      Map("/a.b", to: "name", export: { .string("\($0.string ?? "")!") })
    }
    try await stack.import([["id": 1, "pos": [5.5], "a.b": "hey"]], into: "Person")
    let expected: ForeignRecord =
      isFlat
      ? ["id": 1, "pos[0]": 5.5, "a.b": "hey!"] : ["id": 1, "pos": [5.5], "a.b": "hey!"]
    #expect(
      try people(ExportRequest(style: ExportStyle(shape: isFlat ? .flat : .nested))) == [expected]
    )
  }

  @Test("Who is nested in his own kind is written whole where an import would take away his links")
  func chain() async throws {
    try register("Person") {
      Map("id", to: "id")
      RelationshipMap(name: "boss", entity: "Person", kind: .toOne)
    }
    try await stack.write { context in
      var last: ManagedObject?
      for number in 1...4 {
        let person = try context.insert("Person")
        person["id"] = .integer(Int64(number))
        person[one: "boss"] = last
        last = person
      }
    }
    let records = try people()
    #expect(records[2] == ["id": 3, "boss": ["id": 2, "boss": ["id": 1]]])
    let again = try await stack.import(records.map { .object($0) }, into: "Person")
    #expect(again.report.summary == "read 4, unchanged 4")
    #expect(try people() == records)
    // In a circle there is no whole.
    try await stack.write { context in
      let all = try context.fetch(FetchRequest("Person", sortKeys: [SortKey("id")]))
      all[0][one: "boss"] = all[1]
    }
    #expect(throws: ExportError.self) { try people() }
    #expect(try people(ExportRequest(isLossy: true)).count == 4)
  }

  @Test("The other side of a list that an import would clear throws where there are others in it")
  func otherSide() async throws {
    try register("Person") {
      Map("id", to: "id")
      RelationshipMap(name: "company", entity: "Company", kind: .toOne)
    }
    try register("Company") {
      Map("name", to: "name")
      RelationshipMap(name: "employees", entity: "Person", kind: .toMany)
    }
    try await stack.import([["name": "A", "employees": [["id": 1]]]], into: "Company")
    #expect(try people() == [["id": 1, "company": ["name": "A"]]])
    try await stack.import([["name": "A", "employees": [["id": 1], ["id": 2]]]], into: "Company")
    let error = #expect(throws: ExportError.self) { try people() }
    #expect(error?.message.contains("Company.employees is not written inside of others") == true)
    let main = stack.main
    let company = try main.export(main.fetch(FetchRequest("Company")))
    let again = try await stack.import(company.map { .object($0) }, into: "Company")
    #expect(again.report.summary == "read 1, unchanged 1")
    #expect(try people(ExportRequest(isLossy: true)).allSatisfy { $0["company"] != nil })
  }
}
