import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// What a rejects file holds when the run does not end well.
@Suite struct RejectsFileTests {
  private let folder: URL
  private var path: String { folder.appendingPathComponent("r.ndjson").path }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// The numbers of the records in the file.
  private var rejected: [Int] {
    get throws {
      try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { line in
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return try #require(object?["index"] as? Int)
      }
    }
  }

  /// Every tenth of the records is rejected: 9, 19, 29.
  private static func feed(_ count: Int) -> String {
    "["
      + (0..<count).map { $0 % 10 == 9 ? #"{"id":"x\#($0)"}"# : #"{"id":\#($0)}"# }
      .joined(separator: ",\n") + "]"
  }

  private struct Stop: Error {}

  @Test(
    "More rejects than admitted: all of them up to there",
    arguments: [(ImportMap.ImportOptions.Commit.all, 3), (.batch, 3), (.all, 700), (.batch, 700)]
  )
  func tooMany(commit: ImportMap.ImportOptions.Commit, maximum: Int) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let fixture = try ImportFixture(attributes: "v: v")
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(Self.feed(10_000)) {
        $0.options.rejectsFile = path
        $0.options.maximumRejects = maximum
        $0.options.commit = commit
        $0.options.batchSize = 100
      }
    }
    #expect((failure?.cause as? ImportError)?.code == .tooManyRejects)
    #expect(try rejected == (0...maximum).map { $0 * 10 + 9 })
  }

  @Test("An error in the middle of a batch: all rejects up to there", arguments: [15, 95, 205])
  func error(record: Int) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    for commit in [ImportMap.ImportOptions.Commit.all, .batch] {
      let fixture = try ImportFixture(attributes: "v: v")
      let failure = await #expect(throws: ImportFailure.self) {
        try await fixture.run(Self.feed(300)) {
          $0.options.rejectsFile = path
          $0.options.commit = commit
          $0.options.batchSize = 10
          $0.changes = { if $0.key.first?.value == .integer(Int64(record)) { throw Stop() } }
        }
      }
      #expect(failure?.cause is Stop)
      let count = try rejected.count
      #expect(try rejected == (0..<count).map { $0 * 10 + 9 })
      #expect(count == failure?.report.counts.rejected)
      #expect(count >= record / 10)
    }
  }

  /// Every tenth of the records is rejected, and behind the last one the text breaks off.
  private static func broken(_ count: Int, _ format: String) -> String {
    let ids = (0..<count).map { $0 % 10 == 9 ? "x\($0)" : String($0) }
    switch format {
    case "json": return String(feed(count).dropLast()) + ",{\"id\":"
    case "ndjson":
      let lines = ids.map { $0.hasPrefix("x") ? "{\"id\":\"\($0)\"}\n" : "{\"id\":\($0)}\n" }
      return lines.joined() + "{\"id\":"
    case "xml": return "<r>" + ids.map { "<p id=\"\($0)\"/>" }.joined() + "<p id=\"1\"><v>"
    default: return "id,v\n" + ids.map { "\($0),\n" }.joined() + "1,\""
    }
  }

  @Test(
    "A feed that breaks off: all rejects in front of the place",
    arguments: ["json", "ndjson", "xml", "csv"],
    [30, 9_000]
  )
  func brokenFeed(format: String, count: Int) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    for commit in [ImportMap.ImportOptions.Commit.all, .batch] {
      let fixture = try ImportFixture(
        """
        version: 1
        entities:
          P: { unique: id, attributes: { id: { type: int64, from: { json: id, xml: "@id", csv: id } }, v: v } }
        sources:
          json: { format: json, entity: P }
          ndjson: { format: ndjson, entity: P }
          xml: { format: xml, entity: P, records: /r/p }
          csv: { format: csv, entity: P }
        """
      )
      let failure = await #expect(throws: ImportFailure.self) {
        try await fixture.run {
          $0.inputs = [.bytes(Array(Self.broken(count, format).utf8), name: "feed.\(format)")]
          $0.options.rejectsFile = path
          $0.options.commit = commit
          $0.options.batchSize = 7
        }
      }
      #expect(failure?.cause is ReadError)
      #expect(failure?.report.counts.read == count)
      #expect(try rejected == (0..<count / 10).map { $0 * 10 + 9 })
      // What was committed is what stood in front of the place, or nothing.
      let stored = commit == .all ? 0 : count - count / 10
      #expect(try commit == .all || fixture.rows().count == stored)
    }
  }

  @Test("A stopped run: all rejects up to there, also where nothing is kept")
  func cancelled() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let fixture = try ImportFixture(attributes: "v: v")
    let feed = folder.appendingPathComponent("feed").path
    try #require(mkfifo(feed, 0o600) == 0)
    // Open for both, so that neither side waits for the other, and the end never comes.
    let pipe = FileHandle(fileDescriptor: open(feed, O_RDWR), closeOnDealloc: true)
    let records = (0..<10_000).map { $0 % 10 == 9 ? "{\"id\":\"x\"}\n" : "{\"id\":\($0)}\n" }
      .joined()
    Thread { try? pipe.write(contentsOf: Data(records.utf8)) }.start()
    let run = Importer(map: fixture.map, store: fixture.store)
      .start(ImportRequest([.file(feed)], options: .init(rejectsFile: path)))
    for await _ in run.progress { run.cancel() }
    let report = try await run.report()
    #expect(report.status == .cancelled && report.counts.rejected > 0)
    #expect(try rejected.count == report.counts.rejected)
  }

  @Test("Two imports do not write one rejects file at a time")
  func twoAtOnce() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("both.rejects").path
    let fixture = try ImportFixture(attributes: "v: { type: int64, required: true }")
    let first = try RejectsFile(path: path, besides: [])
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(#"[{"v":"x"}]"#) { $0.options.rejectsFile = path }
    }
    #expect((failure?.cause as? ImportError)?.code == .output)
    withExtendedLifetime(first) {}
  }

  @Test(
    "A full disk ends the run with an error of its own, and the file with a whole line",
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "there is no /dev/full")
  )
  func fullDisk() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let fixture = try ImportFixture(attributes: "v: v")
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(Self.feed(20)) { $0.options.rejectsFile = "/dev/full" }
    }
    #expect((failure?.cause as? ImportError)?.code == .inputOutput)
    #expect(fixture.store.model.entities.isEmpty)
  }

  @Test(
    "Rejects of an earlier import that are replaced are told; those of a part that is gone on with are none"
  )
  func replaced() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let told = "the rejects of an earlier import were replaced in \(path)"
    func run(_ feed: String, size: Int? = nil) async throws -> ImportReport {
      try await ImportFixture(attributes: "v: v").run(feed) {
        ($0.options.rejectsFile, $0.options.batchSize) = (path, size)
        if size != nil { $0.options.commit = .batch }
      }
    }
    #expect(try await !run(Self.feed(10)).notices.contains(told))
    #expect(try await run(Self.feed(30), size: 2).notices.filter { $0 == told }.count == 1)
    // A run that fails over its inputs has replaced nothing.
    let failure = await #expect(throws: ImportFailure.self) { _ = try await run("no feed") }
    #expect(failure?.report.notices.contains(told) == false)
    #expect(try !rejected.isEmpty)
    // One without rejects leaves none, nor does one without records; then there is nothing more to be told.
    for feed in ["[]", #"[{"id":1}]"#] {
      _ = try await run(Self.feed(10))
      #expect(try await run(feed).notices.contains(told))
      #expect(try rejected.isEmpty)
      #expect(try await !run(feed).notices.contains(told))
    }
  }

  @Test("A file with older rejects gets mode 0600; behind a link it is the file that it leads to")
  func mode() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let old = #"{"file":"old","line":1,"byte":0,"index":0,"entity":"P","key":null}"#
    try Data("\(old)\n".utf8).write(to: URL(fileURLWithPath: path))
    chmod(path, 0o644)
    let fixture = try ImportFixture(attributes: "v: v")
    try await fixture.run(Self.feed(10)) { $0.options.rejectsFile = path }
    #expect(try rejected == [9])
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    let link = folder.appendingPathComponent("link").path
    for target in [path, folder.appendingPathComponent("none").path] {
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
      try await fixture.run(Self.feed(20)) { $0.options.rejectsFile = link }
      #expect(try String(contentsOfFile: target, encoding: .utf8).split(separator: "\n").count == 2)
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == target)
      #expect(unlink(link) == 0)
    }
    // Not every file is a rejects file because a link says so.
    try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(Self.feed(10)) { $0.options.rejectsFile = link }
    }
    #expect((failure?.cause as? ImportError)?.code == .output)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
  }
}
