import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// The rejects file of an import that was stopped, when somebody has worked on it before it is gone on with.
@Suite("Rejects of an import that is resumed") struct ResumedRejectsTests {
  private let path = FileManager.default.temporaryDirectory
    .appendingPathComponent("resumed-\(UUID().uuidString)").path

  private var text: String { get throws { try String(contentsOfFile: path, encoding: .utf8) } }

  /// Every second record is rejected: 1, 3, 5 and so on.
  private static let feed =
    "["
    + (0..<12).map { $0 % 2 == 0 ? #"{"id":\#($0)}"# : #"{"id":\#($0),"v":"bad"}"# }
    .joined(separator: ",\n") + "]"

  private func run(
    _ fixture: ImportFixture,
    maximum: Int?,
    resumes: Bool
  ) async throws -> ImportReport {
    try await fixture.run(Self.feed) {
      $0.options.rejectsFile = path
      $0.options.maximumRejects = maximum
      if !resumes { $0.options.commit = .batch }
      $0.options.batchSize = 4
      $0.resumes = resumes
    }
  }

  /// A store with an import that was stopped by its fourth reject, behind four records that are committed.
  private func stopped() async throws -> ImportFixture {
    let fixture = try ImportFixture(attributes: "v: { type: int32 }")
    await #expect(throws: ImportFailure.self) { try await run(fixture, maximum: 3, resumes: false) }
    #expect(try text.split(separator: "\n").count == 4)
    return fixture
  }

  @Test("One that nobody has changed ends as that of an import without a stop")
  func unchanged() async throws {
    defer { unlink(path) }
    let whole = try ImportFixture(attributes: "v: { type: int32 }")
    _ = try await run(whole, maximum: nil, resumes: false)
    let expected = try text
    unlink(path)
    let fixture = try await stopped()
    let report = try await run(fixture, maximum: nil, resumes: true)
    #expect(report.counts.rejected == 6 && !report.notices.contains { $0.contains("rejects file") })
    #expect(try text == expected)
  }

  @Test(
    "Lines that were mended in it, or put behind it, stay, and no reject is lost or there twice"
  )
  func mended() async throws {
    defer { unlink(path) }
    let fixture = try await stopped()
    let before = try text.split(separator: "\n").map(String.init)
    let mended = [0, 3].map { before[$0].replacing(#""v":"bad""#, with: #""v":7"#) }
    let own = before[0].replacing("\"index\":1", with: "\"index\":99")
    try ([mended[0], before[1], before[2], mended[1], own].joined(separator: "\n"))
      .write(toFile: path, atomically: false, encoding: .utf8)
    let report = try await run(fixture, maximum: nil, resumes: true)
    #expect(report.notices.contains { $0.hasPrefix("the rejects file is not as") })
    let after = try text.split(separator: "\n").map(String.init)
    #expect(after.prefix(5) == [mended[0], before[1], before[2], mended[1], own])
    // The record of the last one was not committed, and is rejected again.
    #expect(after.count == 8 && after[5] == before[3])
    let again = try await Importer(map: fixture.map, store: fixture.store)
      .run(ImportRequest([.rejects(path)]))
    #expect(again.counts.rejected == 6)
    #expect(try sql(fixture.store, "SELECT id, v FROM P WHERE v IS NOT NULL") == ["1|7", "7|7"])
  }

  @Test("A retry in between takes its records out, and the import is gone on with all the same")
  func retried() async throws {
    defer { unlink(path) }
    let fixture = try await stopped()
    try text.replacing(#""id":1,"v":"bad""#, with: #""id":1,"v":7"#)
      .write(toFile: path, atomically: false, encoding: .utf8)
    let retry = try await Importer(map: fixture.map, store: fixture.store)
      .run(ImportRequest([.rejects(path)]))
    #expect(retry.summary == "read 4, inserted 1, rejected 3")
    let report = try await run(fixture, maximum: nil, resumes: true)
    #expect(report.notices.contains { $0.hasPrefix("went on behind 4 records") })
    let ids = try text.matches(of: /"record":{"id":(\d+)/).map { String($0.output.1) }
    #expect(ids == ["3", "5", "7", "9", "11"])
    let stored = try sql(fixture.store, "SELECT id FROM P ORDER BY id")
    #expect(stored == ["0", "1", "2", "4", "6", "8", "10"])
  }

  @Test("Of a line that was broken off nothing is left", arguments: ["{\"file\":\"fe", "\n"])
  func broken(rest: String) async throws {
    defer { unlink(path) }
    let fixture = try await stopped()
    let before = try text
    try (before + rest).write(toFile: path, atomically: false, encoding: .utf8)
    _ = try await run(fixture, maximum: nil, resumes: true)
    #expect(try text.hasPrefix(before))
    let lines = try RejectLines(path)
    var count = 0
    while try lines.next() != nil { count += 1 }
    #expect(count == 6)
  }

  @Test(
    "A file is one of rejects however its first line is spaced and sorted",
    arguments: [
      ("\u{FEFF}", true), ("\n \n", true), ("  ", true), (#"{"ticket":"{\"","# + "|", true),
      (#"{"other":[{"file":1,"line":1,"byte":1,"index":1,"entity":1}],"# + "-", false),
      (#"{"id":1}"# + "\n", false),
    ]
  )
  func form(front: String, isOne: Bool) async throws {
    defer { unlink(path) }
    let line =
      #"{ "byte": 0, "entity": "P", "file": "a", "index": 0, "line": 1, "record": {"id": "x"} }"#
    let text =
      switch front.last {
      case "|": String(front.dropLast()) + String(line.dropFirst())
      case "-": String(front.dropLast()) + "\"id\":1}"
      default: front + line
      }
    try (text + "\n").write(toFile: path, atomically: false, encoding: .utf8)
    let fixture = try ImportFixture(attributes: "v: v")
    let report = try? await fixture.run(#"[{"id":"x"}]"#) { $0.options.rejectsFile = path }
    #expect((report != nil) == isOne)
    #expect(try self.text.contains("\"code\"") == isOne)
  }
}
