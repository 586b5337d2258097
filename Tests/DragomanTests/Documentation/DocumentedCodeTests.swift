import Dragoman
import DragomanGraph
import Foundation
import Testing

/// Holds the Swift code of the documents to code that is compiled and run here.
@Suite struct DocumentedCodeTests {
  @Test(
    "Every Swift block of a document is code that a test runs",
    arguments: [
      ("README.md", ["ReadmeCode.swift"]),
      ("docs/library.md", ["LibraryCode.swift"]),
      (
        "Sources/Dragoman/Dragoman.docc/FromAFeedToADatabase.md",
        ["FromAFeedToADatabaseTests.swift"]
      ),
      (
        "Sources/DragomanEntities/DragomanEntities.docc/AModelInSwift.md",
        ["AModelInSwiftTests.swift"]
      ),
      ("docs/predicates.md", ["PredicatesTests.swift"]),
      ("docs/live.md", ["LiveTests.swift"]),
      ("docs/values.md", ["ValuesTests.swift", "ValuesGraphTests.swift"]),
      ("docs/objects.md", ["ObjectsContextTests.swift", "ObjectsImportTests.swift"]),
    ]
  )
  func blocks(document: String, sources: [String]) throws {
    let code = try sources.flatMap {
      try DocumentFile(path: "Tests/DragomanTests/Documentation/\($0)").regions()
    }
    #expect(try DocumentFile(path: document).blocks(in: "swift") == code)
    #expect(!code.isEmpty)
  }

  @MainActor @Test("The everyday things of docs/library.md do what their comments say")
  func readmeEveryday() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let result = try await everyday(folder.appending(path: "people.db").path)
    #expect(result.names == ["Panchal", "Smith"])
    #expect(result.ids == result.fetched)
    #expect(
      result.exported == [
        ["ticket_number": "A14", "name": ["last": "Panchal"], "salary": "118.000,5"],
        [
          "ticket_number": "A15", "name": ["last": "Smith"], "salary": "132.000",
          "born": "10.12.1985",
        ],
      ]
    )
  }

  @Test("The README's library sample imports and fetches the sample data")
  func readme() async throws {
    let store = try SQLiteStore(at: .inMemory)
    let report = try await importPeople(
      DocumentFile(path: "SampleData/people.json").url.path,
      by: DocumentFile(path: "Maps/people.map.yaml").url.path,
      into: store
    )
    #expect(report.counts.inserted == 12 && report.status == .done)
    #expect(
      try bestPaid(in: "Paris", of: store) == [
        [.text("Dubois"), .text("156000.00")], [.text("Moreau"), .text("132000.00")],
        [.text("Moreau"), .text("118000.50")], [.text("Lefèvre"), .text("101250.75")],
      ]
    )
  }
}
