import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

@Suite struct ImporterTests {
  private static let people = #"[{"id":1,"v":"a"},{"id":2,"v":"b"},{"id":1,"v":"c"}]"#

  @Test("Duplicates in one input behave as if each came in an import of its own")
  func duplicates() async throws {
    let fixture = try ImportFixture(attributes: "v: v")
    #expect(try await fixture.run(Self.people).summary == "read 3, inserted 2, updated 1")
    #expect(try fixture.rows() == ["1|c", "2|b"])
    #expect(
      try await fixture.run(Self.people).summary == "read 3, updated 2, unchanged 1",
      "a, then c again"
    )
  }

  @Test("Importing again changes no row and writes one row of history")
  func again() async throws {
    let fixture = try ImportFixture(attributes: "v: v")
    let feed = #"[{"id":1,"v":"a"},{"id":2,"v":null}]"#
    try await fixture.run(feed)
    let before = try sql(fixture.store, "SELECT _pk, _v, id, v FROM P")
    #expect(try await fixture.run(feed).summary == "read 2, unchanged 2")
    #expect(try sql(fixture.store, "SELECT _pk, _v, id, v FROM P") == before)
    #expect(
      try sql(
        fixture.store,
        "SELECT status, read, inserted, unchanged, committed FROM _dragoman_imports"
      )
        == ["done|2|2|0|2", "done|2|0|2|2"]
    )
  }

  @Test(
    "Modes say what happens to objects that exist",
    arguments: [
      (
        EntityWriter.Mode.upsert, "read 3, inserted 1, updated 1, unchanged 1",
        ["1|new|w", "2|b|null", "3|c|null"]
      ),
      (.insert, "read 3, inserted 1, rejected 2", ["1|a|w", "2|b|null", "3|c|null"]),
      (.ignore, "read 3, inserted 1, skipped 2", ["1|a|w", "2|b|null", "3|c|null"]),
      (
        .replace, "read 3, inserted 1, updated 1, unchanged 1",
        ["1|new|null", "2|b|null", "3|c|null"]
      ),
    ]
  )
  func modes(mode: EntityWriter.Mode, summary: String, rows: [String]) async throws {
    let fixture = try ImportFixture(attributes: "v: v\n      w: w")
    try await fixture.run(#"[{"id":1,"v":"a","w":"w"},{"id":2,"v":"b"}]"#)
    let report = try await fixture.run(
      #"[{"id":1,"v":"new"},{"id":2,"v":"b"},{"id":3,"v":"c"}]"#,
      mode: mode
    )
    #expect(report.summary == summary)
    #expect(try fixture.rows() == rows)
  }

  @Test("overwriteExisting: false leaves existing objects untouched")
  func overwriteExisting() async throws {
    let fixture = try ImportFixture(attributes: "v: v", entity: "overwriteExisting: false")
    #expect(try await fixture.run(Self.people).summary == "read 3, inserted 2, skipped 1")
    #expect(try fixture.rows() == ["1|a", "2|b"])
  }

  @Test("Older records are skipped, tombstones delete, and neither counts as anything else")
  func versions() async throws {
    let fixture = try ImportFixture(
      attributes: "v: v\n      at: { type: date }",
      entity: "version: at\n    deleteWhen: { from: gone, equals: true }"
    )
    let report = try await fixture.run(
      """
      [{"id":1,"v":"now","at":"2024-01-02"},{"id":1,"v":"old","at":"2024-01-01"},
       {"id":1,"v":"same","at":"2024-01-02"},{"id":1,"v":"unknown"},{"id":2},{"id":2,"gone":true},
       {"id":3,"gone":true},{"id":1,"gone":true,"at":"2023-12-31"},{"id":2,"gone":false}]
      """
    )
    #expect(
      report.summary == "read 9, inserted 3, updated 2, unchanged 1, deleted 1, skipped 2"
    )
    #expect(try fixture.rows() == ["1|unknown|2024-01-02", "2|null|null"])
  }

  @Test("Pruning deletes what a complete feed does not have, and only then")
  func prune() async throws {
    let fixture = try ImportFixture(attributes: "v: { type: int32 }")
    try await fixture.run(#"[{"id":1},{"id":2},{"id":3},{"id":4}]"#)
    let feed = #"[{"id":2},{"id":5}]"#
    let dirty = try await fixture.run(#"[{"id":2},{"id":5,"v":"x"}]"#) { $0.prune = .init() }
    #expect(dirty.summary == "read 2, unchanged 1, rejected 1")
    #expect(dirty.notices == ["nothing was pruned: of the feed, 1 record was rejected"])
    for (text, change) in [
      ("[]", { (_: inout ImportRequest) in }), (feed, { $0.limit = 1 }),
      (feed, { $0.prune = .init(maximumShare: 0.1) }),
    ] {
      let failure = await #expect(throws: ImportFailure.self) {
        try await fixture.run(text) {
          $0.prune = .init()
          change(&$0)
        }
      }
      #expect((failure?.cause as? ImportError)?.code == .prune)
    }
    #expect(try fixture.rows() == ["1|null", "2|null", "3|null", "4|null"])
    for commit in [ImportMap.ImportOptions.Commit.batch, .all] {
      let report = try await fixture.run(feed) {
        $0.prune = .init(maximumShare: 0.6)
        $0.options.commit = commit
        $0.options.batchSize = 1
      }
      #expect(report.pruned == (commit == .batch ? 3 : 0))
    }
    #expect(try fixture.rows() == ["2|null", "5|null"])
  }

  @Test("A clash on another unique key rejects the record and leaves both objects alone")
  func secondKey() async throws {
    let fixture = try ImportFixture(
      "version: 1\nentities: { P: { unique: [[id], [mail]], attributes: { id: id, mail: { required: false } } } }"
    )
    let report = try await fixture.run(
      #"[{"id":"1","mail":"a"},{"id":"2","mail":"a"},{"id":"3","mail":null},{"id":"4"},{"id":"1","mail":"b"},{"id":"3","mail":"b"}]"#
    )
    #expect(report.summary == "read 6, inserted 3, updated 1, rejected 2")
    #expect(report.issueSummary == ["key.duplicate 2"])
    #expect(try fixture.rows() == ["1|b", "3|null", "4|null"])
  }

  @Test("Without a unique key every record is a new object")
  func noKey() async throws {
    let fixture = try ImportFixture("version: 1\nentities: { P: { attributes: { v: v } } }")
    try await fixture.run(#"[{"v":"a"},{"v":"a"}]"#)
    #expect(try fixture.rows() == ["a", "a"])
  }

  @Test(
    "A feed that fails leaves the store as it was",
    arguments: [ImportMap.ImportOptions.Commit.all, .batch]
  )
  func failure(commit: ImportMap.ImportOptions.Commit) async throws {
    let fixture = try ImportFixture(attributes: "v: v")
    try await fixture.run(#"[{"id":1,"v":"before"}]"#)
    let records = (0..<25).map { #"{"id":\#($0),"v":"new"}"# }.joined(separator: ",")
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run("[\(records),{\"id\":") {
        $0.options.commit = commit
        $0.options.batchSize = 10
      }
    }
    #expect((failure?.cause as? ReadError)?.code == .truncated)
    #expect(failure?.report.status == .failed)
    #expect(failure?.report.committed == (commit == .all ? 0 : 25))
    #expect(try fixture.rows().count == (commit == .all ? 1 : 25))
    #expect(try sql(fixture.store, "PRAGMA integrity_check") == ["ok"])
  }

  @Test("More rejects than admitted fail the import; up to that they are counted")
  func maximumRejects() async throws {
    let fixture = try ImportFixture(attributes: "v: { type: int32 }")
    let feed = #"[{"id":1,"v":1},{"id":2,"v":"x"},7,{"id":3,"v":3}]"#
    let report = try await fixture.run(feed) { $0.options.maximumRejects = 2 }
    #expect(report.status == .rejected)
    #expect(report.summary == "read 4, inserted 2, rejected 2")
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(feed) { $0.options.maximumRejects = 1 }
    }
    #expect((failure?.cause as? ImportError)?.code == .tooManyRejects)
  }

  @Test("A dry run reports what would happen and keeps nothing")
  func dryRun() async throws {
    let fixture = try ImportFixture(attributes: "v: v")
    let report = try await fixture.run(Self.people) { $0.isDryRun = true }
    #expect(report.summary == "read 3, inserted 2, updated 1")
    #expect(report.committed == 0)
    #expect(fixture.store.model.entities.isEmpty)
  }

  @Test("A limit stops after that many records of all inputs together", arguments: [0, 1, 2, 4, 9])
  func limit(limit: Int) async throws {
    let fixture = try ImportFixture(attributes: "v: v")
    let report = try await fixture.run(
      #"[{"id":1},{"id":2}]"#,
      "{\"id\":3}\n{\"id\":4}\n{\"id\":5}\n"
    ) {
      $0.limit = limit
    }
    #expect(report.counts.read == min(limit, 5))
  }

  @Test("Inputs of several formats are one import; sources can be chosen by name")
  func severalInputs() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        A: { unique: id, attributes: { id: { from: { json: id, xml: "@id" } } } }
        B: { unique: id, attributes: { id: { from: { json: id, xml: "@id" } } } }
      sources:
        as: { format: json, entity: A, records: as }
        bs: { format: json, entity: B, records: bs }
        xs: { format: xml, entity: B, records: /r/b }
      """
    )
    let json = #"{"as":[{"id":"1"}],"bs":[{"id":"1"},{"id":"2"}]}"#
    let report = try await fixture.run(json, "<r><b id='3'/></r>")
    #expect(report.summary == "read 4, inserted 4")
    #expect(report.entities.mapValues(\.inserted) == ["A": 1, "B": 3])
    let chosen = try await fixture.run(json) { $0.sources = ["bs"] }
    #expect(chosen.summary == "read 2, unchanged 2")
    let one = try await fixture.run(#"{"as":[]}"#)
    #expect(one.notices == ["feed1: source bs: bs occurs nowhere"])
    for (text, source, code) in [
      (json, "cs", "import.request"), (#"{"x":[]}"#, "as", "input.norecords"),
      ("<r><c/></r>", "xs", "input.norecords"), ("", "as", "input.truncated"),
    ] {
      let failure = await #expect(throws: ImportFailure.self) {
        try await fixture.run(text) { $0.sources = [source] }
      }
      let read = (failure?.cause as? ReadError)?.code.rawValue
      #expect((read ?? (failure?.cause as? ImportError)?.code.rawValue) == code)
    }
  }

  @Test("A record of the wrong kind is named and the import goes on")
  func wrongRecords() async throws {
    let fixture = try ImportFixture(attributes: "v: { type: int32 }")
    let report = try await fixture.run("{\"id\":1}\n{\"id\":2,\n[3]\n{\"id\":4,\"v\":4}\n")
    #expect(report.summary == "read 4, inserted 2, rejected 2")
    #expect(report.issueSummary == ["record.syntax 1", "record.type 1"])
    #expect(
      report.issues[0].examples[0].origin
        == Origin(file: "feed1", line: 2, column: 9, byte: 17, record: 2)
    )
  }

  @Test("Every issue is counted, the first five of a kind are shown")
  func examples() async throws {
    let fixture = try ImportFixture(attributes: "v: { type: int32, onInvalid: clear }")
    let feed = (0..<12).map { #"{"id":\#($0),"v":"x"}"# }.joined(separator: ",")
    let report = try await fixture.run("[\(feed)]")
    #expect(report.status == .done)
    #expect(report.issueSummary == ["value.type 12"])
    #expect(report.issues[0].examples.map(\.origin.record) == [1, 2, 3, 4, 5])
    #expect(report.issues[0].examples[0].isReject == false)
  }

  @Test("The rejects file holds place, reason and the record as it came")
  func rejectsFile() async throws {
    let fixture = try ImportFixture(
      attributes: "v: { from: { json: a.v, xml: \"@v\" }, type: int32 }"
    )
    let path = NSTemporaryDirectory() + "rejects-\(UUID().uuidString).ndjson"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try await fixture.run(
      "[{\"id\":1},\n{\"id\":2, \"a\":{\"v\":1e99}}]",
      "<r><p id='3' v='é&amp;'/></r>"
    ) { $0.options.rejectsFile = path }
    #expect(
      try String(contentsOfFile: path, encoding: .utf8) == """
        {"file":"feed1","line":2,"byte":29,"index":1,"entity":"P","key":"2","code":"value.range",\
        "attribute":"v","path":"a.v","value":"1e99","message":"The number is outside of what int32 \
        holds.","record":{"id":2,"a":{"v":1e99}},"source":"json","format":"json","recordByte":11}
        {"file":"feed2","line":1,"byte":3,"index":0,"entity":"P","key":"3","code":"value.number",\
        "attribute":"v","path":"@v","value":"\\"é&\\"","message":"The text is not a number as the map \
        declares them.","record":"<p id='3' v='é&amp;'/>","source":"xml","format":"xml"}

        """
    )
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test("A cancelled import keeps nothing, and says so, though its feed never ends")
  func cancel() async throws {
    let fixture = try ImportFixture(attributes: "v: v")
    let path = NSTemporaryDirectory() + "feed-\(UUID().uuidString)"
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    // Open for both, so that neither side waits for the other, and the end never comes.
    let pipe = FileHandle(fileDescriptor: open(path, O_RDWR), closeOnDealloc: true)
    let records = (0..<10_000).map { #"{"id":\#($0)}"# + "\n" }.joined()
    Thread { try? pipe.write(contentsOf: Data(records.utf8)) }.start()
    let run = Importer(map: fixture.map, store: fixture.store)
      .start(ImportRequest([.file(path)]))
    for await _ in run.progress { run.cancel() }
    let report = try await run.report()
    #expect(report.status == .cancelled)
    #expect(report.counts.read > 0)
    #expect(report.committed == 0)
    #expect(fixture.store.model.entities.isEmpty)
  }

  @Test("A number of rejects below nothing is refused")
  func negativeRejects() async throws {
    let fixture = try ImportFixture(attributes: "v: v")
    let error = await #expect(throws: ImportFailure.self) {
      try await fixture.run("[]") { $0.options.maximumRejects = -1 }
    }
    #expect(
      (error?.cause as? ImportError)
        == ImportError(.request, "There may be 0 or more rejects, not -1.")
    )
  }
}
