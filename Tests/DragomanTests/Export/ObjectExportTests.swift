import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

@Suite("Exporting live objects") struct ObjectExportTests {
  private let stack: Stack

  init() throws {
    stack = try Stack(MapperFixture.model, at: .inMemory)
    try stack.mappers.register(MapperFixture.person())
  }

  private static let jane: ForeignRecord = [
    "ticket_number": "A1", "first_name": "Jane", "name": ["last": "Smith"],
    "salary": "1,234.50", "dob": "10 Dec 1985", "age": 36, "cool": true,
  ]

  /// The record of an object that was just imported, and whether importing it again changes anything.
  private func roundTrip(_ request: ExportRequest) async throws -> (ForeignRecord, String) {
    try await stack.write { context in
      let person = try context.import(Self.jane, into: "Person")
      let record = try context.export(person, request)
      try context.save()
      let again = try context.import([.object(record)], into: "Person")
      return (record, again.report.summary)
    }
  }

  @Test("A record comes back in the names, formats and nesting of the feed")
  func nested() async throws {
    let (record, again) = try await roundTrip(ExportRequest())
    #expect(record["name"]?.record?["last"]?.string == "Smith")
    #expect(record["dob"]?.string == "10 Dec 1985")
    #expect(record["salary"]?.string == "1,234.5")
    #expect(record["ss_num"] == nil)
    #expect(again == "read 1, unchanged 1")
  }

  @MainActor @Test("An object of another stack is refused, though one here has its number")
  func foreign() throws {
    let other = try Stack(MapperFixture.model, at: .inMemory)
    let (own, strange) = try (stack.main.insert("Person"), other.main.insert("Person"))
    #expect(own.objectID == strange.objectID)
    for isList in [false, true] {
      let error = #expect(throws: ContextError.self) {
        if isList {
          _ = try stack.main.export([strange], ExportRequest(isLossy: true))
        } else {
          _ = try stack.main.export(strange, ExportRequest(isLossy: true))
        }
      }
      #expect(error?.code == .foreignContext)
    }
  }

  @Test("A flat export can be imported again, nulls written or not")
  func flat() async throws {
    let (record, again) = try await roundTrip(
      ExportRequest(style: ExportStyle(shape: .flat, nulls: .write))
    )
    #expect(record["name.last"]?.string == "Smith")
    #expect(record.keys.contains("ss_num"))
    #expect(again == "read 1, unchanged 1")
  }

  @Test("The default mapper exports every type as JSON has it, and reads it again")
  func defaultMapper() async throws {
    let types: [(String, AttributeType)] = [
      ("i16", .int16), ("i32", .int32), ("i64", .int64), ("real", .double), ("small", .float),
      ("money", .decimal), ("yes", .bool), ("any", .json), ("text", .string), ("on", .date),
      ("at", .timestamp), ("time", .time), ("id", .uuid), ("link", .url), ("bytes", .data),
      ("lasts", .duration),
    ]
    let model = Model(entities: [
      Entity(
        name: "All",
        attributes: types.map { name, type in
          Attribute(
            name: name,
            type: type,
            rules: AttributeRules(scale: type == .decimal ? 2 : nil)
          )
        },
        uniqueKeys: [["i64"]]
      ),
      Entity(name: "More", attributes: [Attribute(name: "own", type: .int32)], parent: "All"),
    ])
    let stack = try Stack(model, at: .inMemory)
    let record: ForeignRecord = [
      "i16": -17, "i32": 17, "i64": 9_007_199_254_740_993, "real": 0.1, "small": 0.5,
      "money": .number("12.50"), "yes": true, "any": ["a": [1, nil, "x"]], "text": "17",
      "on": "2024-02-29", "at": "2024-02-29T13:00:00Z", "time": "13:05:10",
      "id": "0e984725-c51c-4bf4-9960-e1c80e27aba0", "link": "https://example.com/",
      "bytes": "AQI=", "lasts": "P1DT2H30M", "own": 3,
    ]
    let (exported, again) = try await stack.write { context in
      let object = try context.import(record, into: "More")
      let exported = try context.export(object)
      try context.save()
      let again = try context.import([.object(exported)], into: "More")
      return (exported, again.report.summary)
    }
    // Numbers are `.number` or `.integer`; the text is what a reader of JSON sees.
    #expect("\(exported)" == "\(record)")
    #expect(again == "read 1, unchanged 1")
    let strings = try await stack.import([["i64": "9007199254740993", "own": "4"]], into: "More")
    #expect(strings.report.summary == "read 1, updated 1")
  }

  @Test("Unsaved changes are exported, by a mapper's closures, and the hook has the last word")
  func closures() async throws {
    let mapper = try Mapper(for: "Person", in: MapperFixture.model) {
      Map("number", to: "ticketNumber")
      Map(
        "who.first",
        to: "firstName",
        convert: { .text(($0.string ?? "").lowercased()) },
        export: { .string(($0.string ?? "").uppercased()) }
      )
    }.with {
      $0.postExport = { object, record in record["type"] = .string(object.entityName) }
    }
    try stack.mappers.register(mapper)
    let record = try await stack.read { context in
      let person = try context.insert("Person")
      person["ticketNumber"] = "A1"
      person["firstName"] = "jane"
      return try context.export(person)
    }
    #expect(
      record == ["number": "A1", "who": ["first": "JANE"], "type": "Person"] as ForeignRecord
    )
  }
}
