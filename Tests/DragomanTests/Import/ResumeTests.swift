import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// Imports in batches that end early, and those that go on with them.
@Suite("Imports that are resumed") struct ResumeTests {
  private static let map = """
    version: 1
    name: people
    entities:
      Person:
        unique: id
        version: changed
        deleteWhen: { from: gone, equals: "yes" }
        attributes: { id: { type: int64 }, changed: { type: int64 }, name: name }
        relationships:
          boss: { entity: Person, kind: toOne, key: { id: boss }, onUnresolved: pending }
          mentor: { entity: Person, kind: toOne, key: { id: mentor }, onUnresolved: reject }
          friends: { entity: Person, kind: toMany, key: { id: friends }, ordered: true, onUnresolved: stub }
          admired: { entity: Person, kind: toMany, key: { id: admired }, ordered: true, assign: union }
          phones: { entity: Phone, kind: toMany, inverse: owner, ordered: true, onUnlink: delete }
          parts: { entity: Part, kind: toMany, inverse: holder }
      Phone: { unique: number, attributes: { number: number } }
      Part: { unique: id, attributes: { id: { type: int64 }, size: { type: int64, required: true } } }
    sources: { json: { format: json, entity: Person } }
    """
  private static let records = [
    #"{"id":1,"changed":2,"boss":5,"friends":[9,2,3],"phones":[{"number":"a"},{"number":"b"}]}"#,
    #"{"id":2,"mentor":6,"parts":[{"id":1},{"id":2,"size":1}]}"#,
    #"{"id":3,"mentor":77,"name":"held, and rejected"}"#,
    #"{"id":4,"name":7}"#,
    #"{"id":2,"boss":99,"admired":[8,1]}"#,
    #"{"id":1,"changed":1,"name":"too old"}"#,
    #"{"id":5,"parts":[{"id":1,"size":2}],"admired":[2]}"#,
    #"{"id":50,"gone":"yes"}"#,
    #"{"id":2,"admired":[5]}"#,
    #"{"id":8,"phones":[{"number":"b"}]}"#,
    #"{"id":6,"friends":[1,6]}"#,
    #"{"id":1,"changed":2,"boss":5,"friends":[9,2,3]}"#,
  ]

  /// A store that holds something already.
  private func fixture() async throws -> ImportFixture {
    let fixture = try ImportFixture(Self.map)
    try await fixture.run(#"[{"id":50},{"id":1,"boss":5,"friends":[2]},{"id":40,"boss":8}]"#)
    return fixture
  }

  private func feed(_ records: some Sequence<String>) -> String {
    "[\(records.joined(separator: ",\n"))]"
  }

  /// A feed that breaks off behind so many records.
  private func cut(_ count: Int) -> String {
    String(feed(Self.records.prefix(count)).dropLast()) + ",{"
  }

  /// What an import leaves.
  private func outcome(_ fixture: ImportFixture) throws -> [String] {
    try contents(of: fixture.store)
      + sql(
        fixture.store,
        "SELECT source, status, committed, read, inserted, updated, unchanged, deleted, skipped, rejected"
          + " FROM _dragoman_imports"
      )
      + sql(fixture.store, "SELECT owner, relationship, key FROM _dragoman_pending")
      + sql(fixture.store, "SELECT name FROM sqlite_master WHERE name GLOB '_dragoman_run*'")
  }

  private func rejectsFile() -> String {
    FileManager.default.temporaryDirectory
      .appendingPathComponent("resume-\(UUID().uuidString).ndjson").path
  }

  @Test(
    "They end as an unbroken one does, wherever the earlier ones ended",
    arguments: Array(0...ResumeTests.records.count),
    [1, 2, 5]
  )
  func goOn(count: Int, size: Int) async throws {
    let (whole, broken) = (try await fixture(), try await fixture())
    let files = [rejectsFile(), rejectsFile()]
    defer { for file in files { try? FileManager.default.removeItem(atPath: file) } }
    let first = feed([#"{"id":60,"friends":[6]}"#, #"{"id":61,"mentor":6}"#])
    let all = feed(Self.records)
    let report = try await whole.run(first, all) {
      ($0.options.commit, $0.options.batchSize, $0.options.rejectsFile) = (.batch, size, files[0])
    }
    // The second run breaks off at the same place or later; the third has the whole feed.
    for (attempt, stop) in [count, max(count, 7)].enumerated() {
      let failure = await #expect(throws: ImportFailure.self) {
        try await broken.run(first, cut(stop)) {
          ($0.options.commit, $0.options.batchSize, $0.options.rejectsFile) = (
            .batch, size, files[1]
          )
          $0.resumes = attempt > 0
        }
      }
      #expect(failure?.cause is ReadError)
    }
    let resumed = try await broken.run(first, all) {
      ($0.options.batchSize, $0.options.rejectsFile, $0.resumes) = (size + 1, files[1], true)
    }
    #expect(try outcome(broken) == outcome(whole))
    #expect(resumed.counts == report.counts)
    #expect(resumed.entities == report.entities)
    #expect(resumed.relationships == report.relationships)
    // Records on both sides of the stop are not compared.
    let issues = [report, resumed].map { report in
      report.issueSummary.filter { !$0.hasPrefix("value.contradiction") }.sorted()
    }
    #expect(issues[0] == issues[1])
    #expect(resumed.committed == report.committed)
    #expect(resumed.status == .rejected)
    #expect(try String(contentsOfFile: files[1], encoding: .utf8).isEmpty == false)
    let rejects = try files.map { try String(contentsOfFile: $0, encoding: .utf8) }
    #expect(rejects[0] == rejects[1])
  }

  @Test("Rejects of another import are not taken for those of the earlier part, and are not lost")
  func otherRejects() async throws {
    let (broken, other) = (try await fixture(), try await fixture())
    let files = [rejectsFile(), rejectsFile()]
    defer { for file in files { try? FileManager.default.removeItem(atPath: file) } }
    let bad = (1...30).map { "{\"id\":\"no number \($0)\"}" }
    _ = await #expect(throws: ImportFailure.self) {
      try await broken.run(String(feed(bad.prefix(20)).dropLast())) {
        ($0.options.commit, $0.options.batchSize, $0.options.rejectsFile) = (.batch, 4, files[0])
      }
    }
    try await other.run(feed(bad.map { $0.replacing("no number", with: "a stranger's reject") })) {
      $0.options.rejectsFile = files[1]
    }
    let report = try await broken.run(feed(bad)) {
      ($0.options.rejectsFile, $0.resumes) = (files[1], true)
    }
    #expect(report.notices.contains { $0.contains("is not as the import") }, "\(report.notices)")
    let lines = try String(contentsOfFile: files[1], encoding: .utf8).split(separator: "\n")
    #expect(lines.prefix(30).allSatisfy { $0.hasPrefix("{") && $0.contains("a stranger's reject") })
    let own = lines.dropFirst(30)
    #expect(own.allSatisfy { $0.hasPrefix("{") && $0.contains("no number") }, "\(own)")
    #expect((1..<30).contains(own.count))
  }

  @Test("What the earlier part brought is not pruned, and what neither brought is")
  func prune() async throws {
    let fixture = try await fixture()
    let plain = (1...9).map { "{\"id\":\($0)}" }
    _ = await #expect(throws: ImportFailure.self) {
      try await fixture.run(String(feed(plain.prefix(6)).dropLast())) {
        ($0.options.commit, $0.options.batchSize, $0.prune) = (.batch, 4, .init())
      }
    }
    let report = try await fixture.run(feed(plain)) { ($0.resumes, $0.prune) = (true, .init()) }
    // 2 and 5 and 8 were stubs or references before.
    #expect(report.pruned == 2)
    #expect(
      try sql(fixture.store, "SELECT id FROM Person ORDER BY id") == (1...9).map { "\($0)" }
    )
  }

  @Test(
    "Another import than the one that was stopped is refused with its reason",
    arguments: [
      ("It was of feed1", 1), ("The map has changed", 2),
      ("other options: none – not mode ignore", 3),
      ("its first 5 records are others", 4), ("it has 2 records, and 5 were read before", 5),
      ("other options: none – not prune yes", 6), ("The model of the store", 7),
    ]
  )
  func refusals(reason: String, change: Int) async throws {
    var fixture = try await fixture()
    _ = await #expect(throws: ImportFailure.self) {
      try await fixture.run(cut(5)) { ($0.options.commit, $0.options.batchSize) = (.batch, 4) }
    }
    // The fifth record is before the place where the feed breaks off.
    let committed = try sql(fixture.store, "SELECT max(committed) FROM _dragoman_imports")
    #expect(committed == ["3"])
    let before = try outcome(fixture)
    var records = Self.records
    if change == 2 {
      fixture = try ImportFixture(
        Self.map.replacing("name: name", with: "name: { from: nom }"),
        in: fixture.store
      )
    }
    if change == 4 { records[2] = records[2].replacing("77", with: "78") }
    if change == 5 { records.removeLast(records.count - 2) }
    if change == 7 {
      let other = Self.map.replacing(
        "  Part: {",
        with: "  Other: { unique: a, attributes: { a: a } }\n  Part: {"
      )
      try fixture.store.grow(to: ImportMap(yaml: other).model())
    }
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(feed(records)) {
        $0.resumes = true
        if change == 1 { $0.inputs.append($0.inputs[0]) }
        if change == 3 { $0.mode = .ignore }
        if change == 6 { $0.prune = .init() }
      }
    }
    let error = try #require(failure?.cause as? ImportError)
    #expect(error.code == .resume)
    #expect(error.message.contains(reason))
    if change != 7 { #expect(try outcome(fixture) == before) }
  }

  @Test("Where nothing is to be resumed everything is imported, and the report says so")
  func nothing() async throws {
    let fixture = try await fixture()
    let notice = "there is nothing to resume: no import in batches was stopped; all is imported"
    let first = try await fixture.run(feed(["{\"id\":1}", "{\"id\":2}"])) { $0.resumes = true }
    #expect(first.notices.contains(notice))
    #expect(first.counts.read == 2)
    // One that came to its end is none that was stopped, and one after it lets it be forgotten.
    _ = await #expect(throws: ImportFailure.self) {
      try await fixture.run(cut(5)) { ($0.options.commit, $0.options.batchSize) = (.batch, 2) }
    }
    try await fixture.run(feed(["{\"id\":3}"]))
    let last = try await fixture.run(feed(Self.records)) { $0.resumes = true }
    #expect(last.notices.contains(notice))
    #expect(last.counts.read == Self.records.count)
  }

  @Test(
    "One that was stopped says so, and so does the import that ends it, and who would go on with it"
  )
  func ended() async throws {
    let fixture = try await fixture()
    func run(_ text: String, _ change: (inout ImportRequest) -> Void = { _ in }) async throws
      -> ImportReport
    {
      try await fixture.run {
        $0.inputs = [.bytes(Array(text.utf8), name: "long.json")]
        change(&$0)
      }
    }
    _ = await #expect(throws: ImportFailure.self) {
      try await run(cut(5)) { ($0.options.commit, $0.options.batchSize) = (.batch, 2) }
    }
    #expect(try fixture.store.history().map(\.status) == [.done, .stopped])
    let other = try await fixture.run(feed(["{\"id\":3}"]))
    #expect(
      other.notices.contains(
        "import 2 was stopped behind 5 records, and this one ends it: the references and lists that it had kept"
          + " for its end are gone, and it cannot be resumed any more"
      )
    )
    #expect(
      try sql(fixture.store, "SELECT status FROM _dragoman_imports") == ["done", "stopped", "done"]
    )
    let again = try await run(feed(Self.records)) { $0.resumes = true }
    #expect(
      again.notices.contains(
        "there is nothing to resume: import 2 was stopped, and import 3 has ended it; all is imported"
      )
    )
  }

  @Test("A dry run and one transaction cannot be resumed")
  func requests() async throws {
    let fixture = try await fixture()
    for change: @Sendable (inout ImportRequest) -> Void in [
      { $0.isDryRun = true }, { $0.options.commit = .all },
    ] {
      let failure = await #expect(throws: ImportFailure.self) {
        try await fixture.run(feed(Self.records)) {
          $0.resumes = true
          change(&$0)
        }
      }
      #expect((failure?.cause as? ImportError)?.code == .request)
    }
  }

  @Test("An import that still runs is not gone on with, and the one that asks is told to wait")
  func running() throws {
    let path = NSTemporaryDirectory() + "running-\(UUID().uuidString).db"
    defer {
      for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
    }
    let map = "version: 1\nentities: { L: { attributes: { n: { type: int64 } } } }"
    let fixture = try ImportFixture(map, in: SQLiteStore(at: .file(path)))
    let other = try ImportFixture(map, in: SQLiteStore(at: .file(path)))
    let feed = "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n"
    var error: StoreError?
    try fixture.runInBatches(feed) {
      if error == nil {
        error = #expect(throws: StoreError.self) {
          try other.runInBatches(feed, change: { $0.resumes = true })
        }
      }
    }
    #expect(error?.code == .busy && error?.message.contains("still running, as process") == true)
    #expect(try fixture.rows("L", ["n"]) == ["1", "2", "3"])
  }

  @Test(
    "An import with which another process has gone on, which could not see that it runs, ends busy",
    arguments: [
      "DROP TABLE _dragoman_run", "UPDATE _dragoman_run SET state = replace(state, 'a', 'b')",
    ]
  )
  func takenOver(change: String) throws {
    let path = NSTemporaryDirectory() + "taken-\(UUID().uuidString).db"
    defer {
      for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
    }
    let fixture = try ImportFixture(
      "version: 1\nentities: { L: { attributes: { n: { type: int64 } } } }",
      in: SQLiteStore(at: .file(path))
    )
    let other = try SQLiteStore(at: .file(path))
    var isChanged = false
    let error = #expect(throws: StoreError.self) {
      try fixture.runInBatches("{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n") {
        if !isChanged { try other.execute(change) }
        isChanged = true
      }
    }
    #expect(error?.code == .busy && error?.message.contains("gone on with this import") == true)
    // Only what was committed before that.
    #expect(try fixture.rows("L", ["n"]) == ["1"])
  }

  #if os(Linux)
  @Test("A killed import that nobody has asked for yet does not run")
  func unreaped() throws {
    var process = pid_t()
    let name = strdup("sleep")
    let seconds = strdup("3600")
    defer { for text in [name, seconds] { free(text) } }
    try #require(posix_spawnp(&process, "sleep", nil, nil, [name, seconds, nil], environ) == 0)
    let stat = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    let begun = stat.split(separator: " ")[21]
    let text = #"{"process":\#(process),"begun":"\#(begun)","name":"x"}"#
    let mark = try JSONDecoder().decode(RunMark.self, from: Data(text.utf8))
    #expect(mark.isRunning)
    kill(process, SIGKILL)
    for _ in 0..<90_000 where mark.isRunning { usleep(10_000) }
    #expect(!mark.isRunning)
    waitpid(process, nil, 0)
  }
  #endif

  @Test("What a dry run finds of an earlier import stays")
  func dryRun() async throws {
    let fixture = try await fixture()
    _ = await #expect(throws: ImportFailure.self) {
      try await fixture.run(cut(5)) { ($0.options.commit, $0.options.batchSize) = (.batch, 2) }
    }
    try await fixture.run(feed(Self.records)) { $0.isDryRun = true }
    let report = try await fixture.run(feed(Self.records)) { $0.resumes = true }
    #expect(report.notices.contains("went on behind 5 records that were read earlier"))
  }
}
