import Testing

@testable import Dragoman
@testable import DragomanCLI

@Suite("Reports for people") struct ImportReportTextTests {
  @Test("What a migration has ended is not to be gone on with", arguments: [true, false])
  func end(isResumable: Bool) {
    var report = ImportReport()
    report.status = .failed
    report.committed = 2
    let text = ImportReportText(
      report: report,
      inputs: ["f.json"],
      database: "p.db",
      signal: nil,
      isResumable: isResumable
    ).text
    #expect(text.contains("2 records were committed to p.db before that"))
    #expect(text.contains("--resume") == isResumable)
    report.committed = 1
    let one = ImportReportText(report: report, inputs: [], database: "p.db", signal: nil).text
    #expect(one.hasPrefix("1 record was committed to p.db before that"))
  }

  @Test("A discriminator that no record has is told by its path")
  func discriminator() {
    var report = ImportReport()
    report.unmatchedPaths = ["discriminator", "name"].map { property in
      UnmatchedPath(
        entity: "T",
        property: property,
        path: property == "name" ? "title" : "kind",
        format: .json,
        recordCount: 1,
        suggestion: nil,
        names: [],
        namespace: nil,
        mayBeMissing: false,
        isDiscriminator: property == "discriminator"
      )
    }
    let text = ImportReportText(report: report, inputs: [], database: "p.db", signal: nil).text
    #expect(text.contains("note: no record has kind (the discriminator of T), T.name\n"))
  }
}
