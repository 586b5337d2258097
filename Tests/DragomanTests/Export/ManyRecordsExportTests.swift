import Foundation
import GRDB
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Exports of more records than are read at once: they are written while the next ones are read.
@Suite("Exports of many batches") struct ManyRecordsExportTests {
  private func fixture(_ count: Int) async throws -> ImportFixture {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes:
            id: { type: int64 }
            name: { type: string }
            word: { type: enum, values: { A: a } }
      sources: { json: { format: json, entity: P } }
      """
    )
    let records = (0..<count).map { #"{"id":\#($0),"name":"é\"\#($0)","word":"A"}"# }
    let report = try await fixture.run("[\(records.joined(separator: ","))]")
    try #require(report.counts.inserted == count)
    return fixture
  }

  @Test(
    "Every record is written once and in order, and counted",
    arguments: [0, 1, 511, 512, 513, 1024, 1025, 5000]
  )
  func order(count: Int) async throws {
    let fixture = try await fixture(count)
    let exporter = Exporter(map: fixture.map, store: fixture.store)
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).ndjson").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let report = try await exporter.run(ExportRequest(), to: .file(path))
    let lines = (0..<count).map { #"{"id":\#($0),"name":"é\"\#($0)","word":"A"}"# + "\n" }
    let expected = lines.joined()
    #expect(try String(contentsOfFile: path, encoding: .utf8) == expected)
    #expect(report.recordCount == count)
    #expect(report.byteCount == expected.utf8.count)
    #expect(try await exporter.records(ExportRequest()).count == count)
  }

  @Test(
    "A value of a late record that cannot be written ends the export, and no file stands there",
    arguments: [0, 600, 2999]
  )
  func fault(place: Int) async throws {
    let fixture = try await fixture(3000)
    try fixture.store.write { session in
      try session.begin()
      try session.database.execute(sql: "UPDATE P SET word = 'b' WHERE id = \(place)")
      try session.commit()
    }
    let exporter = Exporter(map: fixture.map, store: fixture.store)
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).ndjson").path
    let error = await #expect(throws: ExportError.self) {
      try await exporter.run(ExportRequest(), to: .file(path))
    }
    #expect(error?.code == .value)
    #expect(error?.message.contains("P \(place) ") == true, "\(error?.message ?? "")")
    #expect(!FileManager.default.fileExists(atPath: path))
    // The store is free again, and a lossy export tells how many there were.
    let report = try await exporter.run(ExportRequest().with { $0.isLossy = true }, to: .file(path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(report.recordCount == 3000)
    #expect(report.issues.map(\.count) == [1])
  }
}
