import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Imports taken back where something else came between: another writer, a migration, a part without a record.
@Suite("Imports taken back, and what came between")
struct UndoBesidesTests {
  static let waiting = """
    version: 1
    entities:
      P:
        unique: id
        attributes: { id: { type: int64 }, name: name }
        relationships:
          boss: { entity: P, kind: toOne, key: { id: boss }, onUnresolved: pending }
          mentor: { entity: P, kind: toOne, key: { id: mentor }, onUnresolved: pending }
          friends: { entity: P, kind: toMany, key: { id: friends }, ordered: true }
    sources: { json: { format: json, entity: P }, lines: { format: ndjson, entity: P } }
    """

  private func execute(_ statements: String, in store: SQLiteStore) throws {
    try store.write { session in
      try session.begin()
      try session.database.execute(sql: statements)
      try session.commit()
    }
  }

  private func temporaryFile() -> String {
    FileManager.default.temporaryDirectory.appending(path: "\(UUID()).db").path
  }

  private func remove(_ path: String) {
    for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
  }

  @Test(
    "A record that cannot be read costs the undo of its own import, and nothing else",
    arguments: [#"'{"future":1}'"#, "X'7B7D'", "NULL"]
  )
  func unreadable(record: String) async throws {
    let fixture = try ImportFixture(attributes: "name: { type: string }")
    for number in 1...2 { try await fixture.run(#"[{"id":\#(number)}]"#) }
    try execute(
      "UPDATE _dragoman_undo SET changes = \(record) WHERE run = 1 AND part = 0",
      in: fixture.store
    )
    #expect(try await fixture.run(#"[{"id":3}]"#).counts.inserted == 1)
    #expect(try fixture.store.undoImport().run.id == 3)
    #expect(try fixture.store.undoImport().run.id == 2)
    let error = #expect(throws: StoreError.self) { try fixture.store.undoImport(1) }
    #expect(error?.code == .damaged)
    #expect(try sql(fixture.store, "SELECT id FROM P") == ["1"])
  }

  @Test(
    "Of an import that was stopped and gone on with, all is taken back or nothing",
    arguments: [
      (ImportRequest.Recording.never, ImportRequest.Recording.upToAMillionRows),
      (.upToAMillionRows, .never), (.upToAMillionRows, .upToAMillionRows),
    ]
  )
  func resumed(first: ImportRequest.Recording, second: ImportRequest.Recording) async throws {
    let fixture = try ImportFixture(attributes: "name: { type: string }")
    try await fixture.run(#"[{"id":1,"name":"a"},{"id":2,"name":"a"},{"id":3,"name":"a"}]"#)
    let before = try UndoPropertyTests.state(of: fixture.store)
    let feed = #"[{"id":1,"name":"b"},{"id":2,"name":"b"},{"id":3,"name":"b"}"#
    func change(_ request: inout ImportRequest) {
      request.options.commit = .batch
      request.options.batchSize = 1
    }
    await #expect(throws: ImportFailure.self) {
      try await fixture.run(feed + ",{") {
        change(&$0)
        $0.recording = first
      }
    }
    try await fixture.run(feed + "]") {
      change(&$0)
      $0.recording = second
      $0.resumes = true
    }
    #expect(try sql(fixture.store, "SELECT DISTINCT name FROM P") == ["b"])
    if first == second {
      #expect(try fixture.store.undoImport(2).isPossible)
      #expect(try UndoPropertyTests.state(of: fixture.store) == before)
    } else {
      #expect(throws: StoreError.self) { try fixture.store.undoImport(2) }
      #expect(throws: StoreError.self) { try fixture.store.withCopy(asOf: 1) { _ in } }
      #expect(try sql(fixture.store, "SELECT DISTINCT name FROM P") == ["b"])
    }
  }

  @Test("A migration that changes columns ends what is recorded; one that adds does not")
  func migrated() async throws {
    let map = { (attributes: String) in
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: { type: int64 }, \(attributes) } } }
      sources: { json: { format: json, entity: P } }
      """
    }
    let fixture = try ImportFixture(map("code: { type: string }"))
    try await fixture.run(#"[{"id":1,"code":"7"},{"id":2,"code":"abc"}]"#)
    try await fixture.run(#"[{"id":1,"code":"7"}]"#) { $0.prune = .init() }
    try fixture.store.migrate(
      to: ImportMap(yaml: map("code: { type: string }, more: { type: int64 }")).model()
    )
    #expect(try fixture.store.undoImport(2, isDryRun: true).isPossible)
    try fixture.store.migrate(
      to: ImportMap(yaml: map("code: { type: int64 }, more: { type: int64 }")).model()
    )
    #expect(throws: StoreError.self) { try fixture.store.undoImport(2) }
    #expect(try sql(fixture.store, "SELECT id, code FROM P") == ["1|7"])
  }

  @Test("An object that several parts of the record tell of is counted once")
  func counted() async throws {
    let fixture = try ImportFixture(attributes: "name: { type: string }")
    for letter in ["a", "b"] {
      let name = String(repeating: letter, count: 1_500_000)
      let records = (1...6).map { #"{"id":\#($0),"name":"\#(name)"}"# }
      try await fixture.run("[\(records.joined(separator: ","))]") {
        $0.options.commit = .batch
        $0.options.batchSize = 1
      }
    }
    #expect(try fixture.store.undoImport(2).isPossible)
    try execute("UPDATE P SET name = 'mine', _v = _v + 1", in: fixture.store)
    let report = try fixture.store.undoImport(3)
    #expect(report.conflictCount == 6 && report.conflicts.count == 6)
    #expect(Set(report.conflicts.map(\.object)).count == 6)
  }

  @Test("References of several imports wait for themselves", arguments: [2, 3])
  func pending(undone: Int64) async throws {
    let fixture = try ImportFixture(Self.waiting)
    try await fixture.run(#"[{"id":1},{"id":2},{"id":3}]"#)
    try await fixture.run(#"[{"id":1,"boss":91,"mentor":91}]"#)
    try await fixture.run(#"[{"id":2,"boss":91}]"#)
    try await fixture.run(#"[{"id":3,"boss":91}]"#)
    #expect(try fixture.store.undoImport(undone).isPossible)
    try await fixture.run(#"[{"id":91}]"#)
    let kept = try sql(
      fixture.store,
      "SELECT id, boss NOT NULL, mentor NOT NULL FROM P WHERE id < 9 ORDER BY id"
    )
    #expect(kept == (undone == 2 ? ["1|0|0", "2|1|0", "3|1|0"] : ["1|1|1", "2|0|0", "3|1|0"]))
  }

  @Test("An import that still runs is not taken back")
  func running() async throws {
    let path = temporaryFile()
    defer { remove(path) }
    let fixture = try ImportFixture(Self.waiting, in: SQLiteStore(at: .file(path)))
    let other = try ImportFixture(Self.waiting, in: SQLiteStore(at: .file(path)))
    let third = try SQLiteStore(at: .file(path))
    var codes: [StoreError.Code?] = []
    try fixture.runInBatches(#"{"id":1}"# + "\n" + #"{"id":2}"#) {
      guard codes.isEmpty else { return }
      try other.runInBatches(#"{"id":3}"# + "\n" + #"{"id":4}"#) {
        for run: Int64 in [1, 2] {
          do {
            _ = try third.undoImport(run)
            codes.append(nil)
          } catch { codes.append((error as? StoreError)?.code) }
        }
      }
    }
    #expect(codes.prefix(2) == [.busy, .busy])
    #expect(try third.undoImport(1).isPossible && third.undoImport(2).isPossible)
    #expect(try sql(third, "SELECT count(*) FROM P") == ["0"])
  }

  @Test("How it was is told, or that it cannot be told")
  func asOf() async throws {
    func count(_ run: Int64, _ fixture: ImportFixture) throws -> String? {
      do {
        return try fixture.store.withCopy(asOf: run) { try sql($0, "SELECT count(*) FROM P")[0] }
      } catch let error as StoreError where error.code == .undo { return nil }
    }
    let pruned = try ImportFixture(attributes: "")
    try await pruned.run(#"[{"id":1},{"id":2}]"#)
    try await pruned.run(#"[{"id":1}]"#)
    #expect(try count(1, pruned) == "2")
    try await pruned.run(#"[{"id":1}]"#) {
      $0.prune = .init()
      $0.recording = .never
    }
    #expect(try count(1, pruned) == nil)

    let deleted = try ImportFixture(attributes: "")
    try await deleted.run(#"[{"id":1},{"id":2},{"id":3}]"#)
    _ = try deleted.store.delete(FetchRequest("P", filter: Filter(parsing: "id > 1")))
    #expect(try count(1, deleted) == "3")
    #expect(try count(2, deleted) == "1")
    let entry = try #require(try deleted.store.history(limit: 1).first)
    #expect(entry.source == "delete P" && entry.counts.deleted == 2 && entry.status == .done)
    #expect(try deleted.store.undoImport().entities["P"]?.restored == 2)
    #expect(try sql(deleted.store, "SELECT id FROM P ORDER BY id") == ["1", "2", "3"])
  }

  @Test("Values that objects took from each other go back")
  func exchanged() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P: { unique: [[id], [mail], [seat]], attributes: { id: { type: int64 }, mail: mail, seat: { type: int64 } } }
      sources: { json: { format: json, entity: P } }
      """
    )
    try await fixture.run(
      #"[{"id":1,"mail":"x","seat":1},{"id":2,"mail":"y","seat":2},{"id":3,"mail":"z","seat":3}]"#
    )
    let before = try sql(fixture.store, "SELECT id, mail, seat FROM P ORDER BY id")
    try await fixture.run(
      #"[{"id":1,"mail":null},{"id":2,"mail":"x"},{"id":3,"mail":"y","seat":null},{"id":1,"mail":"z","seat":3},{"id":3,"seat":1}]"#
    )
    #expect(
      try sql(fixture.store, "SELECT mail, seat FROM P ORDER BY id") == ["z|3", "x|2", "y|1"]
    )
    let report = try fixture.store.undoImport()
    #expect(report.isPossible && report.entities["P"]?.changed == 3)
    #expect(try sql(fixture.store, "SELECT id, mail, seat FROM P ORDER BY id") == before)
    #expect(try fixture.store.undoImport(3).isPossible)
    #expect(
      try sql(fixture.store, "SELECT mail, seat FROM P ORDER BY id") == ["z|3", "x|2", "y|1"]
    )
    // Who has one of the values by now is in the way.
    try execute("INSERT INTO P (_pk, _v, id, mail) VALUES (9, 1, 9, 'y1')", in: fixture.store)
    try execute("UPDATE P SET mail = 'w' WHERE id = 2", in: fixture.store)
    #expect(try !fixture.store.undoImport(4).isPossible)
  }

  @Test("Tables of others are theirs, and who was deleted with links is not in the way")
  func besides() async throws {
    let fixture = try ImportFixture(Self.waiting)
    try await fixture.run(#"[{"id":1,"friends":[2,3]},{"id":2},{"id":3}]"#)
    try execute(
      """
      PRAGMA defer_foreign_keys = 1;
      CREATE TABLE other (x, y REFERENCES nobody (z));
      """,
      in: fixture.store
    )
    _ = try fixture.store.delete(FetchRequest("P", filter: Filter(parsing: "id == 1")))
    try fixture.store.write { session in
      try session.database.execute(sql: "PRAGMA foreign_keys = 0; INSERT INTO other VALUES (1, 7)")
      try session.database.execute(sql: "PRAGMA foreign_keys = 1")
    }
    let report = try fixture.store.undoImport(1)
    #expect(report.isPossible, "\(report.conflicts)")
    #expect(try sql(fixture.store, "SELECT count(*) FROM P") == ["0"])
    #expect(try sql(fixture.store, "SELECT count(*) FROM P_friends") == ["0"])
  }

  @Test("What cannot be noted is imported all the same, and said")
  func unnoted() async throws {
    let fixture = try ImportFixture(attributes: "name: { type: string }")
    try await fixture.run(#"[{"id":1,"name":"a"}]"#)
    try execute("ALTER TABLE P ADD COLUMN extra AS (name || '!')", in: fixture.store)
    let report = try await fixture.run(#"[{"id":1,"name":"b"}]"#)
    #expect(report.counts.updated == 1)
    #expect(report.notices.contains { $0.hasSuffix("the import cannot be taken back") })
    #expect(try sql(fixture.store, "SELECT name FROM P") == ["b"])
    #expect(throws: StoreError.self) { try fixture.store.undoImport(2) }
  }

  @Test("A stopped import in one transaction leaves nothing, however much it noted")
  func stopped() async throws {
    let fixture = try ImportFixture(attributes: "text: { type: string }")
    let long = String(repeating: "x", count: 1 << 20)
    let records = (1...20).map { "{\"id\":\($0),\"text\":\"\(long)\"}" }
    try await fixture.run("[\(records.joined(separator: ","))]")
    let other = records.map { $0.replacingOccurrences(of: "xx", with: "y") }
    await #expect(throws: ImportFailure.self) {
      try await fixture.run("[\(other.joined(separator: ",")),{")
    }
    #expect(try fixture.store.history().map(\.id) == [1])
    #expect(try sql(fixture.store, "SELECT count(*) FROM _dragoman_undo WHERE run <> 1") == ["0"])
    let all = try await fixture.run("[\(other.joined(separator: ","))]")
    #expect(all.counts.updated == 20)
    #expect(
      try sql(fixture.store, "SELECT count(*) > 2 FROM _dragoman_undo WHERE run = 2") == ["1"]
    )
    #expect(try fixture.store.undoImport().isPossible)
    #expect(try sql(fixture.store, "SELECT DISTINCT substr(text, 1, 2) FROM P") == ["xx"])
  }

  /// 40,000 objects in tables that were empty, each with a second record, and so with another version than 1.
  private func manyVersions() async throws -> ImportFixture {
    let fixture = try ImportFixture(attributes: "name: { type: string }")
    let records = (0..<80_000).map { #"{"id":\#($0 / 2),"name":"n\#($0 % 2)"}"# }
    try await fixture.run("[\(records.joined(separator: ","))]")
    #expect(try sql(fixture.store, "SELECT count(*) FROM P WHERE _v IS NOT 1") == ["40000"])
    return fixture
  }

  private func change(_ store: SQLiteStore, _ statement: String) throws {
    try store.write { session in
      try session.begin()
      try session.database.execute(sql: statement)
      try session.commit()
    }
  }

  @Test("Versions of many rows are kept in portions, and each row is held against its own")
  func portions() async throws {
    let fixture = try await manyVersions()
    #expect(
      try sql(fixture.store, "SELECT part FROM _dragoman_undo ORDER BY part")
        == ["-3", "-2", "-1", "0"]
    )
    // One in each portion, and the last one of all.
    let changed = [7, 16_384, 20_000, 39_999]
    try change(
      fixture.store,
      "UPDATE P SET _v = _v + 1 WHERE id IN (\(changed.map(String.init).joined(separator: ",")))"
    )
    let refused = try fixture.store.undoImport()
    #expect(
      refused.conflicts.compactMap { $0.key?.parts.first?.value.integer } == changed.map(Int64.init)
    )
    try change(fixture.store, "UPDATE P SET _v = _v - 1 WHERE _v > 2")
    #expect(try fixture.store.undoImport().entities["P"]?.deleted == 40_000)
    #expect(try sql(fixture.store, "SELECT count(*) FROM P") == ["0"])
  }

  @Test(
    "Portions that are damaged are told, and nothing is done",
    arguments: ["x'00'", "7", "NULL"]
  )
  func damagedPortion(bytes: String) async throws {
    let fixture = try await manyVersions()
    try change(fixture.store, "UPDATE _dragoman_undo SET changes = \(bytes) WHERE part = -2")
    #expect { try fixture.store.undoImport() } throws: { ($0 as? StoreError)?.code == .damaged }
    #expect(try sql(fixture.store, "SELECT count(*) FROM P") == ["40000"])
  }

  @Test("What older files keep of versions is read")
  func olderFile() async throws {
    let fixture = try ImportFixture(attributes: "name: { type: string }")
    try await fixture.run(#"[{"id":1},{"id":2,"name":"a"},{"id":2,"name":"b"}]"#)
    let keys = try sql(fixture.store, "SELECT _pk || ',' || _v FROM P WHERE _v IS NOT 1")
    #expect(keys == ["2,2"])
    try change(
      fixture.store,
      """
      UPDATE _dragoman_undo SET changes = CAST(json_set(json_remove(CAST(changes AS TEXT),
        '$.newTables[0].versionParts'), '$.newTables[0].versions', json('[2,2]')) AS BLOB) WHERE part = 0;
      DELETE FROM _dragoman_undo WHERE part < 0
      """
    )
    try change(fixture.store, "UPDATE P SET _v = 3 WHERE id = 2")
    #expect(try fixture.store.undoImport().conflictCount == 1)
    try change(fixture.store, "UPDATE P SET _v = 2 WHERE id = 2")
    #expect(try fixture.store.undoImport().entities["P"]?.deleted == 2)
  }
}
