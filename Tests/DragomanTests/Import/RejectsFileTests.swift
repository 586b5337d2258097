import Dragoman
import DragomanGraph
import Foundation
import Testing

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
        $0.rejectsFile = path
        $0.maximumRejects = maximum
        $0.commit = commit
        $0.batchSize = 100
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
          $0.rejectsFile = path
          $0.commit = commit
          $0.batchSize = 10
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

  @Test("A feed that breaks off: the rejects in front of the place")
  func brokenFeed() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let fixture = try ImportFixture(attributes: "v: v")
    await #expect(throws: ImportFailure.self) {
      try await fixture.run(Self.feed(9_000).dropLast() + ",{") { $0.rejectsFile = path }
    }
    let found = try rejected
    #expect(found.count > 400)
    #expect(found == (0..<found.count).map { $0 * 10 + 9 })
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
      .start(ImportRequest([.file(feed)], rejectsFile: path))
    for await _ in run.progress { run.cancel() }
    let report = try await run.report()
    #expect(report.status == .cancelled && report.counts.rejected > 0)
    #expect(try rejected.count == report.counts.rejected)
  }

  @Test("A full disk ends the run with an error of its own, and the file with a whole line")
  func fullDisk() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try #require(FileManager.default.fileExists(atPath: "/dev/full"))
    let fixture = try ImportFixture(attributes: "v: v")
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(Self.feed(20)) { $0.rejectsFile = "/dev/full" }
    }
    #expect((failure?.cause as? ImportError)?.code == .inputOutput)
    #expect(fixture.store.model.entities.isEmpty)
  }

  @Test("A file with older rejects gets mode 0600, and a symbolic link is not followed")
  func mode() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let old = #"{"file":"old","line":1,"byte":0,"index":0,"entity":"P","key":null}"#
    try Data("\(old)\n".utf8).write(to: URL(fileURLWithPath: path))
    chmod(path, 0o644)
    let fixture = try ImportFixture(attributes: "v: v")
    try await fixture.run(Self.feed(10)) { $0.rejectsFile = path }
    #expect(try rejected == [9])
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    let link = folder.appendingPathComponent("link").path
    for target in [path, folder.appendingPathComponent("none").path] {
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
      let failure = await #expect(throws: ImportFailure.self) {
        try await fixture.run(Self.feed(10)) { $0.rejectsFile = link }
      }
      #expect((failure?.cause as? ImportError)?.code == .output)
      #expect(unlink(link) == 0)
    }
    #expect(try rejected == [9])
  }
}
