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

  @Test("A flat export can be imported again, nulls written or not")
  func flat() async throws {
    let (record, again) = try await roundTrip(ExportRequest(shape: .flat, nulls: .write))
    #expect(record["name.last"]?.string == "Smith")
    #expect(record.keys.contains("ss_num"))
    #expect(again == "read 1, unchanged 1")
  }

  @Test("Unsaved changes are exported, by a mapper's closures, and the hook has the last word")
  func closures() async throws {
    let mapper = try Mapper(
      for: "Person",
      in: MapperFixture.model,
      postExport: { object, record in record["type"] = .string(object.entityName) },
      maps: {
        Map("number", to: "ticketNumber")
        Map(
          "who.first",
          to: "firstName",
          convert: { .text(($0.string ?? "").lowercased()) },
          export: { .string(($0.string ?? "").uppercased()) }
        )
      }
    )
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
