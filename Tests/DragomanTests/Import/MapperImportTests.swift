import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// Vokoder's own cases, and what it got wrong.
@Suite("Importing dictionaries by mappers") struct MapperImportTests {
  private static let ada: ForeignValue = [
    "ticket_number": "A1", "first_name": "Ada", "name": ["last": "Lovelace"], "ss_num": "123",
    "salary": "1,234.50", "dob": "10 Dec 1815", "age": 36, "cool": true,
  ]

  @Test("A custom mapper imports by foreign keys, key paths and formats, and updates by its key")
  func custom() async throws {
    let store = try MapperStore(MapperFixture.person())
    let report = try await store.run(Self.ada)
    #expect(report.summary == "read 1, inserted 1")
    #expect(report.issues.isEmpty)
    let columns = [
      "ticketNumber", "firstName", "lastName", "salary", "dateOfBirth", "age", "isCool",
    ]
    #expect(
      try sql(store.store, "SELECT \(columns.joined(separator: ", ")) FROM Person")
        == ["A1|Ada|Lovelace|1234.5|1815-12-10|36|1"]
    )
    #expect(try await store.run(Self.ada).summary == "read 1, unchanged 1")
    #expect(
      store.store.model.entity(named: "Person")?.attributes.count == 14,
      "the store has the whole model"
    )
  }

  @Test("Missing and null clear; with ignoreNullValueOverwrites both leave what is stored")
  func nulls() async throws {
    let sparse: ForeignValue = ["ticket_number": "A1", "first_name": nil, "salary": "x"]
    let clearing = try MapperStore(MapperFixture.person())
    try await clearing.run(Self.ada)
    let report = try await clearing.run(sparse)
    #expect(try clearing.rows("firstName", "lastName", "salary") == ["null|null|null"])
    #expect(report.issueSummary == ["value.number 1"])
    #expect(report.summary == "read 1, updated 1")

    let keeping = try MapperStore(MapperFixture.person(ignoreNullValueOverwrites: true))
    try await keeping.run(Self.ada)
    let second = try await keeping.run(sparse)
    #expect(try keeping.rows("firstName", "lastName", "salary") == ["Ada|Lovelace|1234.5"])
    #expect(second.issueSummary == ["value.number 1"], "invalid is reported all the same")
    #expect(second.summary == "read 1, unchanged 1")

    let silent = try MapperStore(MapperFixture.person(ignoreOptionalNullValues: true))
    try await silent.run(Self.ada)
    #expect(try await silent.run(sparse).issues.isEmpty)
    #expect(try silent.rows("firstName", "salary") == ["null|null"])
  }

  @Test("With overwriteExisting off a match is left untouched")
  func overwriteExisting() async throws {
    let store = try MapperStore(MapperFixture.person(overwriteExisting: false))
    try await store.run(Self.ada)
    let report = try await store.run(["ticket_number": "A1", "first_name": "Augusta"])
    #expect(report.summary == "read 1, skipped 1")
    #expect(try store.rows("firstName") == ["Ada"])
  }

  @Test("What is no record is rejected by its number, and the rest is imported")
  func malformed() async throws {
    let store = try MapperStore(MapperFixture.person())
    var deep: ForeignValue = 1
    for _ in 0..<1100 { deep = [deep] }
    let report = try await store.run(
      ["ticket_number": "A1"],
      nil,
      "text",
      7,
      [["ticket_number": "A2"]],
      deep,
      ["ticket_number": "A3", "age": ["years": 3]],
      .date(Date(timeIntervalSince1970: 0)),
      ["ticket_number": ["A5"]],
      ["ticket_number": "A4", "age": 40]
    )
    #expect(report.summary == "read 10, inserted 3, rejected 7")
    #expect(
      report.issueSummary == ["record.type 5", "record.syntax 1", "value.type 1", "value.type 1"]
    )
    #expect(try store.rows("ticketNumber", "age") == ["A1|null", "A3|null", "A4|40"])
    let example = report.issues[0].examples[0]
    #expect(example.origin == Origin(file: "records", line: 0, column: 0, byte: 0, record: 2))
    #expect("\(example.origin)" == "records (record 2)")
    #expect(
      report.issues[0].examples[4].message == "A record must be an object; this one is a date."
    )
  }

  @Test("A record without its key makes a new object each time; duplicates in one array are one")
  func keys() async throws {
    let store = try MapperStore(MapperFixture.person())
    let report = try await store.run(
      ["first_name": "a"],
      ["first_name": "b", "ticket_number": nil],
      ["ticket_number": "X", "first_name": "c"],
      ["ticket_number": "X", "first_name": "d"],
      ["ticket_number": 1]
    )
    #expect(report.summary == "read 5, inserted 3, updated 1, rejected 1")
    #expect(try store.rows("ticketNumber", "firstName") == ["null|a", "null|b", "X|d"])
  }

  @Test("Dates, bytes and numbers of Swift are taken by type, and only there")
  func swiftValues() async throws {
    let moment = Date(timeIntervalSince1970: 1_700_000_000.25)
    let store = try MapperStore(
      Mapper(for: "Person", in: MapperFixture.model) {
        Map("t", to: "ticketNumber")
        Map("seen", to: "seen")
        Map("seen", to: "dateOfBirth", format: ValueFormat(timeZone: "Pacific/Auckland"))
        Map("seen", to: "wakes", format: ValueFormat(timeZone: "Pacific/Auckland"))
        Map("photo", to: "photo")
        Map("extra", to: "extra")
        Map("score", to: "score")
        Map("salary", to: "salary")
      }
    )
    let report = try await store.run([
      "t": "A", "seen": .date(moment), "photo": .data([1, 2, 3]),
      "extra": [.date(moment), .data([1, 2, 3]), 1.5], "score": .double(0.1),
      "salary": .double(0.1),
    ])
    #expect(report.issues.isEmpty)
    #expect(
      try sql(
        store.store,
        "SELECT seen, dateOfBirth, wakes, hex(photo), extra, score, salary FROM Person"
      ) == [
        #"2023-11-14 22:13:20.25|2023-11-15|11:13:20.25|010203|["2023-11-14T22:13:20.25Z","AQID",1.5]|0.1|0.1"#
      ]
    )
  }

  @Test(
    "What an attribute cannot take is named, and never stored as something else",
    arguments: [
      ("dateOfBirth", .date(Date(timeIntervalSince1970: 0)), "value.date"),
      ("wakes", .date(Date(timeIntervalSince1970: 0)), "value.date"),
      ("firstName", .date(Date(timeIntervalSince1970: 0)), "value.type"),
      ("age", .date(Date(timeIntervalSince1970: 0)), "value.type"),
      ("seen", .instant(ForeignInstant(seconds: 253_402_300_800)), "value.date"),
      ("seen", "2024-02-30T00:00:00Z", "value.date"), ("firstName", .data([65]), "value.type"),
      ("extra", [.double(.nan)], "value.number"), ("extra", .double(.infinity), "value.number"),
      ("score", .double(.nan), "value.number"), ("score", .double(-.infinity), "value.number"),
      ("salary", .double(.nan), "value.number"), ("salary", .number("1,5"), "value.number"),
      ("salary", .number(""), "value.number"), ("age", 1.5, "value.number"),
      ("age", 40_000, "value.range"), ("age", "36", "value.type"), ("isCool", 2, "value.boolean"),
      ("isCool", "true", "value.boolean"), ("kind", "c", "value.word"), ("photo", 1, "value.type"),
    ] as [(String, ForeignValue, String)]
  )
  func invalid(attribute: String, value: ForeignValue, code: String) async throws {
    let store = try MapperStore(
      Mapper(for: "Person", in: MapperFixture.model) {
        Map("t", to: "ticketNumber")
        Map("v", to: attribute)
      }
    )
    let report = try await store.run(["t": "A", "v": value])
    #expect(report.issueSummary == ["\(code) 1"])
    #expect(report.summary == "read 1, inserted 1")
    #expect(try store.rows(attribute) == ["null"])
  }

  @Test("Rejected records are written as JSON, with their number")
  func rejects() async throws {
    let path = NSTemporaryDirectory() + "rejects-\(UUID().uuidString).ndjson"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try MapperStore(
      MapperFixture.person(policies: ValuePolicies(onInvalid: .reject))
    )
    try await store.run(
      ["ticket_number": "A"],
      [
        "ticket_number": "B", "age": "x", "at": .date(Date(timeIntervalSince1970: 0)),
        "d": .data([1]),
      ]
    ) { $0.options.rejectsFile = path }
    #expect(
      try String(contentsOfFile: path, encoding: .utf8) == """
        {"file":"records","line":0,"byte":0,"index":1,"entity":"Person","key":"B","code":"value.type",\
        "attribute":"age","path":"age","value":"\\"x\\"","message":"The value is of a type that an \
        int16 attribute does not take.","record":{"ticket_number":"B","age":"x",\
        "at":"1970-01-01T00:00:00Z","d":"AQ=="},"source":"Person","format":"json"}

        """
    )
  }

  @Test("A hook that could not run is refused, not left out")
  func hooks() async throws {
    let hook: PostImportHook = { record, object in object["firstName"] = .text(record.description) }
    let mapper = try Mapper(for: "Person", in: MapperFixture.model) {
      Map("ticket_number", to: "ticketNumber")
    }.with { $0.postImport = hook }
    #expect(mapper.postImport != nil)
    let store = try MapperStore(mapper)
    let failure = await #expect(throws: ImportFailure.self) { try await store.run(Self.ada) }
    #expect((failure?.cause as? ImportError)?.code == .request)
    #expect(store.store.model.entities.isEmpty)
  }

  @Test("Files go through the same mapper as dictionaries")
  func files() async throws {
    let store = try MapperStore(MapperFixture.person())
    try await store.run(Self.ada)
    let records = [Self.ada.json, #"{"ticket_number":"B2","last_name":"Boole"}"#]
    let inputs: [ImportInput] = [
      .bytes(Array("[\(records.joined(separator: ","))]".utf8), name: "a.json"),
      .bytes(Array((records.joined(separator: "\n") + "\n").utf8), name: "b.ndjson"),
    ]
    let report = try await Importer(mapper: store.mapper, store: store.store)
      .run(ImportRequest(inputs + [.records([Self.ada], name: "more")]))
    #expect(report.summary == "read 5, inserted 1, unchanged 4")
    #expect(try store.rows("ticketNumber", "lastName") == ["A1|Lovelace", "B2|Boole"])
  }

  @Test("A map file imports dictionaries by one of its sources")
  func mapFile() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        A: { unique: id, attributes: { id: { type: int64 }, at: { from: $index, type: int64 }, line: { from: $line, type: int64 }, file: { from: $file } } }
        B: { unique: id, attributes: { id: { type: int64 } } }
      sources:
        as: { format: json, entity: A, records: as }
        bs: { format: json, entity: B, records: bs }
      """
    )
    let input = ImportInput.records([["id": 1], ["id": 2]], name: "memory")
    let importer = Importer(map: fixture.map, store: fixture.store)
    let failure = await #expect(throws: ImportFailure.self) {
      try await importer.run(ImportRequest([input]))
    }
    #expect((failure?.cause as? ImportError)?.code == .request)
    #expect("\(failure as Any)".contains("as, bs"))
    let report = try await importer.run(ImportRequest([input], sources: ["as"]))
    #expect(report.summary == "read 2, inserted 2")
    #expect(try fixture.rows("A") == ["1|0|null|memory", "2|1|null|memory"])
    let limited = try await importer.run(ImportRequest([input], sources: ["as"], limit: 1))
    #expect(limited.summary == "read 1, unchanged 1")
  }

  @Test("A line of NDJSON that could be of several sources is refused, and not taken for the first")
  func severalSources() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        A: { unique: id, attributes: { id: id } }
        B: { unique: id, attributes: { id: id } }
      sources:
        as: { format: ndjson, entity: A }
        bs: { format: ndjson, entity: B }
      """
    )
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run("{\"id\":\"1\"}\n{\"id\":\"2\"}\n")
    }
    #expect((failure?.cause as? ImportError)?.code == .request)
    let report = try await fixture.run("{\"id\":\"1\"}\n") { $0.sources = ["bs"] }
    #expect(report.entities.mapValues(\.inserted) == ["B": 1])
  }
}

@Suite("The default mapper") struct DefaultMapperTests {
  private func store(_ entity: String) throws -> MapperStore {
    try MapperStore(.default(for: entity, in: MapperFixture.model))
  }

  @Test("Only the keys of a record are applied, null clears, and strings are read by type")
  func keys() async throws {
    let store = try store("Person")
    let report = try await store.run([
      "ticketNumber": "A", "firstName": "2024-01-01", "salary": "-12.50", "age": "36",
      "seen": "2024-02-29T12:00:00+01:00", "dateOfBirth": "1815-12-10", "wakes": "07:30",
      "score": "1e3", "kind": "a", "extra": ["a": 1], "photo": "AQID",
    ])
    #expect(report.issues.isEmpty)
    let row =
      "SELECT firstName, salary, age, seen, dateOfBirth, wakes, score, kind, extra, hex(photo) FROM Person"
    #expect(
      try sql(store.store, row)
        == [#"2024-01-01|-12.5|36|2024-02-29 11:00:00|1815-12-10|07:30:00|1000.0|a|{"a":1}|010203"#]
    )
    try await store.run(["ticketNumber": "A", "salary": nil, "seen": 1_700_000_000])
    #expect(
      try sql(store.store, "SELECT firstName, salary, age, seen FROM Person")
        == ["2024-01-01|null|36|2023-11-14 22:13:20"]
    )
  }

  @Test(
    "A string of digits is no date, and what does not fit is cleared and reported",
    arguments: [
      ("seen", "1700000000", "value.date"), ("seen", "20240229", "value.date"),
      ("seen", "03/04/2024", "value.date"), ("dateOfBirth", 0, "value.date"),
      ("salary", "1,234", "value.number"), ("age", "x", "value.number"),
      ("firstName", 1, "value.type"), ("isCool", "yes", "value.boolean"),
      ("kind", "z", "value.word"),
    ] as [(String, ForeignValue, String)]
  )
  func strict(attribute: String, value: ForeignValue, code: String) async throws {
    let store = try store("Person")
    var record: ForeignRecord = ["ticketNumber": "A"]
    record[attribute] = value
    let report = try await store.run(.object(record))
    #expect(report.issueSummary == ["\(code) 1"])
    #expect(try store.rows(attribute) == ["null"])
  }

  @Test("A key that is no attribute rejects the record and names the nearest one")
  func unknownKeys() async throws {
    let store = try store("Person")
    let report = try await store.run(
      ["ticketNumber": "A"],
      ["ticketNumber": "B", "frstName": "x"],
      ["employer": nil, "ticketNumber": "C"],
      [:],
      ["ticketNumber": "D", "": 1]
    )
    #expect(report.summary == "read 5, inserted 2, rejected 3")
    #expect(report.issueSummary == ["record.key 3"])
    let examples = report.issues[0].examples
    #expect(examples.map(\.path) == ["frstName", "employer", ""])
    #expect(
      examples[0].message
        == "The record has a key \"frstName\", and Person has no attribute for it."
    )
    #expect(examples[0].help == "did you mean \"firstName\"?")
    #expect(examples.map(\.key) == ["B", "C", "D"])
  }

  @Test("Names with dots are names, and nested records of a JSON attribute are not looked into")
  func dottedNames() async throws {
    let model = Model(entities: [
      Entity(name: "N", attributes: [Attribute(name: "a.b"), Attribute(name: "j", type: .json)])
    ])
    let store = try MapperStore(.default(for: "N", in: model))
    let report = try await store.run(["a.b": "x", "j": ["k": ["l": 1]]], ["a": ["b": "y"]])
    #expect(report.summary == "read 2, inserted 1, rejected 1")
    #expect(try sql(store.store, "SELECT \"a.b\", j FROM N") == [#"x|{"k":{"l":1}}"#])
  }

  @Test("A mapper may be told to refuse unknown keys, whatever paths it has")
  func rejectsUnknownKeys() async throws {
    let mapper = try Mapper(for: "Person", in: MapperFixture.model) {
      Map("t", to: "ticketNumber")
      Map("a.b", to: "firstName")
      Map("list[*]", to: "extra")
      Map("/x/0", to: "lastName")
    }.with { $0.rejectsUnknownKeys = true }
    let store = try MapperStore(mapper)
    let report = try await store.run(
      ["t": "A", "a": ["b": "x", "c": 1], "list": [1, 2], "x": ["0": "y"]],
      ["t": "B", "a.b": "x"],
      ["t": "C", "b": 1]
    )
    #expect(report.summary == "read 3, inserted 2, rejected 1")
    #expect(try store.rows("firstName", "lastName", "extra") == ["x|y|[1,2]", "x|null|null"])
  }

  private struct Worded: LocalizedError {
    var errorDescription: String? { "the till is closed" }
  }

  @Test("What a closure gives or throws is told in words")
  func closures() async throws {
    let model = Model(entities: [
      Entity(
        name: "P",
        attributes: [
          Attribute(name: "pay", type: .decimal, rules: AttributeRules(scale: 2)),
          Attribute(name: "tip", type: .decimal),
        ]
      )
    ])
    let stack = try Stack(model, at: .inMemory)
    try stack.mappers.register(
      Mapper(for: "P", in: model) {
        Map("pay", to: "pay").with { $0.convert = { .text($0.string ?? "") } }
        Map("tip", to: "tip").with { $0.convert = { _ in throw Worded() } }
      }
    )
    let imported = try await stack.import([["pay": "1.239", "tip": 1], ["pay": "x"]], into: "P")
    #expect(
      imported.report.issues.flatMap(\.examples).map(\.message).sorted() == [
        "The map's closure gave a value that is not a decimal.",
        "The map's closure refused the value. It says: the till is closed",
        "The number has more than 2 digits behind the point.",
      ]
    )
  }

  @Test("An import whose task is cancelled imports nothing", arguments: [true, false])
  func cancelling(isBefore: Bool) async throws {
    let stack = try Stack(MapperFixture.model, at: .inMemory)
    let (signal, begun) = AsyncStream<Void>.makeStream()
    let gate = DispatchSemaphore(value: 0)
    try stack.mappers.register(
      Mapper(for: "Note", in: MapperFixture.model) { Map("text", to: "text") }
        .with { mapper in
          mapper.postImport = { _, note in
            guard note["text"] == "0" else { return }
            begun.finish()
            gate.wait()
          }
        }
    )
    let task = Task {
      if isBefore { while !Task.isCancelled { await Task.yield() } }
      let notes = (0..<1500).map { ["text": .string("\($0)")] as ForeignValue }
      return try await stack.import(notes, into: "Note")
    }
    if !isBefore { for await _ in signal {} }
    task.cancel()
    gate.signal()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try sql(stack.store, "SELECT count(*) FROM Note") == ["0"])
  }
}
