import DragomanGraph
import Testing

@testable import Dragoman

@Suite("Closures in place of conversions") struct ClosureTests {
  private struct Refusal: Error, CustomStringConvertible {
    let description = "No such thing."
  }

  private func store(
    _ attribute: String,
    policies: ValuePolicies = ValuePolicies(),
    _ closure: @escaping ImportClosure
  ) throws -> MapperStore {
    try MapperStore(
      Mapper(for: "Person", in: MapperFixture.model, policies: policies) {
        Map("t", to: "ticketNumber")
        Map("v", to: attribute, convert: closure)
        Map("w", to: "lastName")
      }
    )
  }

  @Test("A closure sees the value as it came, and never missing values or nulls")
  func values() async throws {
    let store = try store("firstName") { value in
      #expect(!value.isNull)
      return .text(value.json)
    }
    try await store.run(
      ["t": "A", "v": ["a": [1, .number("1.0"), nil]], "w": "x"],
      ["t": "B", "v": nil],
      ["t": "C"]
    )
    #expect(
      try store.rows("ticketNumber", "firstName", "lastName")
        == [#"A|{"a":[1,1.0,null]}|x"#, "B|null|null", "C|null|null"]
    )
  }

  @Test(
    "What a closure gives is checked against the attribute's type, and stored in its spelling",
    arguments: [
      ("age", .integer(7), "7"), ("age", .integer(40_000), nil), ("age", .text("7"), nil),
      ("salary", .text("1.50"), "1.5"), ("salary", .integer(3), "3"), ("salary", .text("x"), nil),
      ("salary", .real(1.5), nil),
      ("seen", .text("2024-02-29T13:00:00+01:00"), "2024-02-29 12:00:00"),
      ("seen", .text("2024-02-30 00:00:00"), nil),
      ("dateOfBirth", .text("1815-12-10"), "1815-12-10"),
      ("isCool", .integer(1), "1"), ("isCool", .integer(2), nil), ("kind", .text("a"), "a"),
      ("kind", .text("z"), nil), ("photo", .blob([1]), "1 byte"), ("photo", .text("AQ=="), nil),
      ("extra", .text("[1]"), "[1]"), ("extra", .text("[1"), nil), ("score", .real(.nan), nil),
      ("score", .real(.infinity), nil), ("score", .integer(2), "2.0"),
      ("wakes", .text("7:30"), nil),
      ("firstName", .null, "null"), ("firstName", .integer(1), nil),
    ] as [(String, StoredValue, String?)]
  )
  func types(attribute: String, value: StoredValue, stored: String?) async throws {
    let store = try store(attribute) { _ in value }
    let report = try await store.run(["t": "A", "v": 1])
    #expect(try store.rows(attribute) == [stored ?? "null"])
    #expect(report.issueSummary == (stored == nil ? ["value.closure 1"] : []))
  }

  @Test("What a closure throws makes the value invalid, with its words in the report")
  func failures() async throws {
    let store = try store("firstName", policies: ValuePolicies(onInvalid: .reject)) { value in
      guard let text = value.string else { throw Refusal() }
      return .text(text)
    }
    let report = try await store.run(
      ["t": "A", "v": "x"],
      ["t": "B", "v": 1],
      ["t": "C", "v": "z"]
    )
    #expect(report.summary == "read 3, inserted 2, rejected 1")
    let example = report.issues[0].examples[0]
    #expect(example.message == "The map's closure refused the value. It says: No such thing.")
    #expect([example.value, example.path, example.attribute] == ["1", "v", "firstName"])
  }

  @Test("A closure may make the key")
  func keys() async throws {
    let mapper = try Mapper(for: "Person", in: MapperFixture.model) {
      Map("t", to: "ticketNumber") { .text(($0.string ?? "").uppercased()) }
    }
    let store = try MapperStore(mapper)
    #expect(
      try await store.run(["t": "a"], ["t": "A"]).summary == "read 2, inserted 1, unchanged 1"
    )
    #expect(try store.rows("ticketNumber") == ["A"])
  }

  @Test("A map file's computed attributes get their values from registered closures")
  func compute() async throws {
    let fixture = try ImportFixture(
      attributes:
        "n: { from: { json: n, xml: n } }\n      full: { compute: full }\n      other: { compute: other }"
    )
    var closures = ClosureRegistry()
    closures.compute("full") { record in
      guard let name = record["n"]?.string else { throw Refusal() }
      return .text("\(name) \(record.members.count)")
    }
    #expect(closures.computeNames == ["full"])
    let importer = Importer(map: fixture.map, closures: closures, store: fixture.store)
    let feeds = [#"[{"id":1,"n":"a","x":[1]},{"id":2}]"#, "<r><p id='3'><n>c</n></p></r>"]
    let report = try await importer.run(
      ImportRequest(feeds.map { .bytes(Array($0.utf8), name: "feed") })
    )
    #expect(report.notices == ["P: computed attributes skipped: other"])
    #expect(report.summary == "read 3, inserted 2, rejected 1")
    #expect(try fixture.rows("P", ["id", "full", "other"]) == ["1|a 3|null", "3|c 2|null"])
    let example = report.issues[0].examples[0]
    #expect([example.value, example.path] == [nil, nil])
    #expect(example.code == .closure)
  }
}
