import Dragoman
import Testing

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
  }
}
