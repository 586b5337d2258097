import Dragoman
import DragomanGraph
import Testing

/// Holds the Swift code of the documents to code that is compiled and run here.
@Suite struct DocumentedCodeTests {
  @Test(
    "Every Swift block of a document is code that a test runs",
    arguments: [
      ("README.md", "ReadmeCode.swift"),
      (
        "Sources/Dragoman/Dragoman.docc/FromAFeedToADatabase.md",
        "FromAFeedToADatabaseTests.swift"
      ),
    ]
  )
  func blocks(document: String, source: String) throws {
    let code = try DocumentFile(path: "Tests/DragomanTests/Documentation/\(source)").regions()
    #expect(try DocumentFile(path: document).blocks(in: "swift") == code)
    #expect(!code.isEmpty)
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
