import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Imports taken back: what is in the way, what is kept, what is refused.
@Suite("Imports taken back")
struct UndoTests {
  private static let shop = """
    version: 1
    entities:
      Product: { unique: sku, attributes: { sku: { type: string }, price: { type: int64 } } }
      Line:
        unique: no
        attributes: { no: { type: int64 } }
        relationships:
          product: { entity: Product, kind: toOne, key: { sku: sku }, onUnresolved: pending }
    sources:
      products: { format: json, entity: Product, records: products }
      lines: { format: json, entity: Line, records: lines }
    """

  /// Objects that are linked in a table of their own, of which both sides are read.
  private static let pairs = """
    version: 1
    entities:
      A:
        unique: id
        attributes: { id: { type: int64 } }
        relationships: { bs: { entity: B, kind: toMany, key: { id: bs }, inverse: as } }
      B:
        unique: id
        deleteWhen: { from: op, equals: D }
        attributes: { id: { type: int64 } }
        relationships: { as: { entity: A, kind: toMany, key: { id: as }, inverse: bs } }
    sources:
      a: { format: json, entity: A, records: a }
      b: { format: json, entity: B, records: b }
    """

  private func conflicts(_ report: UndoReport) -> [String] {
    report.conflicts.map { conflict in
      let key = conflict.key?.parts.map { "\($0.value.integer ?? 0)" }.joined(separator: ",") ?? "-"
      return "\(conflict.entity) \(conflict.object?.primaryKey ?? 0) \(key) \(conflict.reason)"
    }
  }

  @Test("Nothing was imported: nothing can be taken back", arguments: [nil, 1])
  func nothing(run: Int64?) throws {
    let store = try SQLiteStore(at: .inMemory)
    let error = #expect(throws: StoreError.self) { try store.undoImport(run) }
    #expect(error?.code == .undo)
    #expect(error?.message == "There is no import that could be taken back.")
  }

  @Test("Who has read what the import wrote sees that it is gone")
  func versions() async throws {
    let fixture = try ImportFixture(attributes: "name: { type: string }")
    try await fixture.run(#"[{"id":1,"name":"a"},{"id":2,"name":"x"}]"#)
    try await fixture.run(#"[{"id":1,"name":"b"}]"#)
    let read = try sql(fixture.store, "SELECT _v FROM P WHERE id = 1")
    _ = try fixture.store.undoImport()
    #expect(try sql(fixture.store, "SELECT name, _v FROM P ORDER BY id") == ["a|3", "x|1"])
    #expect(read == ["2"])
    // What comes next has a version that nobody had.
    try await fixture.run(#"[{"id":1,"name":"c"}]"#)
    #expect(try sql(fixture.store, "SELECT name, _v FROM P WHERE id = 1") == ["c|4"])
    try await fixture.run(#"[{"id":1,"name":"c"}]"#)
    let report = try fixture.store.undoImport(4)
    #expect(report.run.id == 4 && report.entities["P"]?.changed == 1)
  }

  @Test(
    "What was changed since is named, and nothing is done",
    arguments: [
      ("UPDATE P SET name = 'mine', _v = _v + 1 WHERE id = 1", "P 1 1 changed"),
      ("UPDATE P SET name = 'mine' WHERE id = 1", "P 1 1 changed"),
      ("DELETE FROM P WHERE id = 1", "P 1 - deleted"),
      ("INSERT INTO P (_pk, _v, id) VALUES (9, 1, 3)", "P 3 - taken"),
      ("INSERT INTO P (_pk, _v, id) VALUES (3, 1, 9)", "P 3 9 taken"),
    ]
  )
  func conflict(change: String, expected: String) async throws {
    let fixture = try ImportFixture(attributes: "name: { type: string }")
    try await fixture.run(#"[{"id":1,"name":"a"},{"id":2},{"id":3}]"#)
    try await fixture.run(#"[{"id":1,"name":"b"},{"id":2},{"id":4}]"#) { $0.prune = .init() }
    try fixture.store.write { session in
      try session.begin()
      try session.database.execute(sql: change)
      try session.commit()
    }
    let before = try sql(fixture.store, "SELECT * FROM P ORDER BY _pk")
    let report = try fixture.store.undoImport()
    #expect(conflicts(report) == [expected] && !report.isPossible && report.conflictCount == 1)
    #expect(try sql(fixture.store, "SELECT * FROM P ORDER BY _pk") == before)
    #expect(try fixture.store.history().map(\.status) == [.done, .done])
  }

  @Test("What later runs did and took back is not counted")
  func netCounts() async throws {
    let fixture = try ImportFixture(attributes: "name: { type: string }")
    try await fixture.run(#"[{"id":1},{"id":2}]"#)
    try await fixture.run(#"[{"id":1,"name":"a"}]"#)
    try await fixture.run(#"[{"id":2,"name":"b"}]"#)
    _ = try fixture.store.undoImport()
    let report = try fixture.store.undoImport()
    #expect(report.run.id == 2 && report.entities["P"]?.changed == 1)
    #expect(try sql(fixture.store, "SELECT count(name) FROM P") == ["0"])
  }

  @Test("Who has deleted already what goes is not in the way")
  func goneAlready() async throws {
    let fixture = try ImportFixture(attributes: "name: { type: string }")
    try await fixture.run(#"[{"id":1}]"#)
    try await fixture.run(#"[{"id":2},{"id":3}]"#)
    try fixture.store.write { session in
      try session.begin()
      try session.database.execute(sql: "DELETE FROM P WHERE id = 2")
      try session.commit()
    }
    #expect(try fixture.store.undoImport().isPossible)
    #expect(try sql(fixture.store, "SELECT id FROM P") == ["1"])
  }

  @Test("Who refers to what the import made is named", arguments: [false, true])
  func referenced(isBatch: Bool) async throws {
    let fixture = try ImportFixture(Self.shop)
    try await fixture.run(#"{"products":[{"sku":"a"}],"lines":[]}"#) {
      $0.options.commit = isBatch ? .batch : .all
    }
    try await fixture.run(#"{"products":[],"lines":[{"no":1,"sku":"a"}]}"#)
    let report = try fixture.store.undoImport(1)
    #expect(conflicts(report) == ["Line 1 1 referenced"])
    #expect(try fixture.store.undoImport(2).isPossible)
    #expect(try fixture.store.undoImport(1).isPossible)
    #expect(try UndoPropertyTests.state(of: fixture.store) == [])
  }

  @Test(
    "Who has a link in a table of links to what the import made is named, whichever end that is",
    arguments: [false, true]
  )
  func referencedByList(isBatch: Bool) async throws {
    let fixture = try ImportFixture(Self.pairs)
    try await fixture.run(#"{"a":[{"id":1},{"id":2,"bs":[1]}],"b":[{"id":1}]}"#) {
      $0.options.commit = isBatch ? .batch : .all
    }
    try await fixture.run(#"{"a":[{"id":7,"bs":[1]}],"b":[{"id":8,"as":[1]}]}"#)
    let report = try fixture.store.undoImport(1)
    #expect(Set(conflicts(report)) == ["A 3 7 referenced", "B 2 8 referenced"])
    #expect(report.conflicts.compactMap(\.links) == ["A_bs", "A_bs"])
    #expect(try fixture.store.undoImport(2).isPossible)
    #expect(try fixture.store.undoImport(1).isPossible)
  }

  @Test(
    "A link that was taken away and given again goes with the import that made it",
    arguments: [
      // Taken away, and taken back.
      [#"{"a":[{"id":1,"bs":[]}],"b":[]}"#], [#"{"a":[],"b":[{"id":1,"op":"D"}]}"#],
      [#"{"a":[],"b":[{"id":1,"as":[]}]}"#],
      // Taken away and given again, each taken back; and made by a later import from the other side.
      [#"{"a":[{"id":1,"bs":[]}],"b":[]}"#, #"{"a":[{"id":1,"bs":[1]}],"b":[]}"#],
      [
        #"{"a":[],"b":[{"id":8,"as":[1]}]}"#, #"{"a":[],"b":[{"id":8,"as":[]}]}"#,
        #"{"a":[],"b":[{"id":8,"as":[1]}]}"#,
      ],
    ]
  )
  func givenAgain(later: [String]) async throws {
    let fixture = try ImportFixture(Self.pairs)
    try await fixture.run(#"{"a":[{"id":1,"bs":[1]},{"id":2}],"b":[{"id":1},{"id":3,"as":[1,2]}]}"#)
    let first = try UndoPropertyTests.state(of: fixture.store)
    for feed in later { try await fixture.run(feed) }
    // As it was before everything, and behind the first import.
    let behind = try fixture.store.withCopy(asOf: 1) { try UndoPropertyTests.state(of: $0) }
    #expect(behind == first)
    let linkCount = try fixture.store.withCopy(asOf: 0) { try sql($0, "SELECT count(*) FROM A_bs") }
    #expect(linkCount == ["0"])
    var changed = 0
    try fixture.store.changes(ofImport: 1) { _ in changed += 1 }
    #expect(changed == 4)
    for _ in later { #expect(try fixture.store.undoImport().isPossible) }
    #expect(try UndoPropertyTests.state(of: fixture.store) == first)
    #expect(try fixture.store.undoImport(1).isPossible)
    #expect(try sql(fixture.store, "SELECT count(*) FROM A_bs") == ["0"])
  }

  @Test("A reference that waited waits again", arguments: [1, 2])
  func pending(round: Int) async throws {
    let fixture = try ImportFixture(Self.shop)
    if round == 2 { try await fixture.run(#"{"products":[{"sku":"z"}],"lines":[{"no":9}]}"#) }
    try await fixture.run(#"{"products":[],"lines":[{"no":1,"sku":"a"}]}"#)
    let before = try UndoPropertyTests.state(of: fixture.store)
    try await fixture.run(#"{"products":[{"sku":"a"}],"lines":[{"no":2,"sku":"b"}]}"#)
    _ = try fixture.store.undoImport()
    #expect(try UndoPropertyTests.state(of: fixture.store) == before)
    #expect(before.contains { $0.hasPrefix("_dragoman_pending") })
    // And it is found when its target comes after all.
    try await fixture.run(#"{"products":[{"sku":"a"}],"lines":[]}"#)
    #expect(
      try sql(fixture.store, "SELECT no, sku FROM Line JOIN Product ON product = Product._pk")
        == ["1|a"]
    )
  }

  @Test("The last ten imports that changed something are kept")
  func kept() async throws {
    let fixture = try ImportFixture(attributes: "n: { type: int64 }")
    for number in 1...12 {
      try await fixture.run("[{\"id\":1,\"n\":\(number)}]")
      // This one changes nothing, and takes nobody's place.
      try await fixture.run("[{\"id\":1,\"n\":\(number)}]")
    }
    #expect(
      try sql(fixture.store, "SELECT count(DISTINCT run) FROM _dragoman_undo WHERE part > 0") == [
        "10"
      ]
    )
    for number in (2...11).reversed() {
      #expect(try fixture.store.undoImport(Int64(2 * number + 1)).isPossible)
      #expect(try sql(fixture.store, "SELECT n FROM P") == ["\(number)"])
    }
    #expect(throws: StoreError.self) { try fixture.store.undoImport(1) }
  }

  @Test("Without a number the last import is meant, and no earlier one where that changed nothing")
  func unchanged() async throws {
    let fixture = try ImportFixture(attributes: "n: { type: int64 }")
    try await fixture.run(#"[{"id":1,"n":1}]"#)
    try await fixture.run(#"[{"id":1,"n":1}]"#)
    let error = #expect(throws: StoreError.self) { try fixture.store.undoImport() }
    #expect(error?.code == .undo && error?.message.contains("import, 2,") == true)
    #expect(error?.help == "the last one that did is 1: take it back by its number")
    #expect(try sql(fixture.store, "SELECT n FROM P") == ["1"])
    #expect(try fixture.store.undoImport(1).isPossible)
    // What is not recorded is no reason to take back what was before it.
    try await fixture.run(#"[{"id":2}]"#)
    try await fixture.run(#"[{"id":3}]"#) { $0.recording = .never }
    #expect(throws: StoreError.self) { try fixture.store.undoImport() }
    #expect(try sql(fixture.store, "SELECT id FROM P ORDER BY id") == ["2", "3"])
    // Nor is one that changed nothing named because it is not recorded.
    try await fixture.run(#"[{"id":3}]"#) { $0.recording = .never }
    let again = #expect(throws: StoreError.self) { try fixture.store.undoImport() }
    let last = try fixture.store.history().count
    #expect(again?.message.contains("import, \(last),") == true)
    #expect(again?.help == "nothing is kept of \(last - 1) either, the last one that did")
  }

  @Test("An import that is not recorded, or too large, cannot be taken back")
  func unrecorded() async throws {
    let fixture = try ImportFixture(attributes: "n: { type: int64 }")
    try await fixture.run(#"[{"id":1}]"#) { $0.recording = .never }
    #expect(throws: StoreError.self) { try fixture.store.undoImport() }
    do {
      _ = try fixture.store.undoImport(1)
      Issue.record("it is taken back")
    } catch let error as StoreError {
      #expect(error.code == .undo && error.message.contains("import 1"))
    }
    try fixture.store.write { session in
      try session.begin()
      let recorder = try #require(try session.recorder(isWhole: false, limit: 2))
      try session.database.execute(
        sql: "INSERT INTO P (_pk, _v, id) VALUES (7, 1, 7), (8, 1, 8), (9, 1, 9)"
      )
      try recorder.finish(as: 7)
      #expect(recorder.ending != nil)
      try session.commit()
    }
    #expect(try fixture.store.write { try $0.recordedRuns() }.isEmpty)
  }

  @Test("Of a migrated model, of an undone import, of a strange number and of damage it is told")
  func refusals() async throws {
    let fixture = try ImportFixture(attributes: "name: { type: string }")
    try await fixture.run(#"[{"id":1,"name":"a"}]"#)
    try await fixture.run(#"[{"id":1,"name":"b"}]"#)
    func code(_ run: Int64?) -> StoreError.Code? {
      do {
        _ = try fixture.store.undoImport(run)
        return nil
      } catch { return (error as? StoreError)?.code }
    }
    #expect(code(7) == .badRequest && code(0) == .badRequest && code(-1) == .badRequest)
    #expect(code(2) == nil && code(2) == .undo)
    // The undo of 2 is import 3; it can be taken back once.
    #expect(code(3) == nil && code(3) == .undo)
    try fixture.store.write { session in
      try session.begin()
      try session.database.execute(
        sql:
          "UPDATE _dragoman_undo SET changes = x'0102030405060708090a' WHERE run = 4 AND part = 1"
      )
      try session.commit()
    }
    #expect(code(4) == .damaged)
    try fixture.store.write { session in
      try session.begin()
      try session.database.execute(
        sql: "UPDATE _dragoman_undo SET changes = 7 WHERE run = 4 AND part = 0"
      )
      try session.commit()
    }
    #expect(code(4) == .damaged)
  }

  @Test("An import in batches that broke off is taken back as far as it came")
  func brokenOff() async throws {
    let fixture = try ImportFixture(attributes: "name: { type: string }")
    try await fixture.run(#"[{"id":1,"name":"a"}]"#)
    let before = try UndoPropertyTests.state(of: fixture.store)
    await #expect(throws: ImportFailure.self) {
      try await fixture.run(#"[{"id":1,"name":"b"},{"id":2},{"id":3},{"#) {
        $0.options.commit = .batch
        $0.options.batchSize = 1
      }
    }
    #expect(try sql(fixture.store, "SELECT count(*) FROM P") != ["1"])
    let report = try fixture.store.undoImport()
    #expect(report.isPossible && report.run.id == 2)
    #expect(try UndoPropertyTests.state(of: fixture.store) == before)
    // Nothing is left that could be gone on with.
    #expect(
      try sql(fixture.store, "SELECT name FROM sqlite_master WHERE name GLOB '_dragoman_run*'")
        == []
    )
  }

  @Test("A dry run keeps nothing, and a new file is taken back like any other")
  func newFile() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).db").path
    defer {
      for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
    }
    var options = SQLiteStore.Options()
    options.buildsAside = true
    let store = try SQLiteStore(at: .file(path), options: options)
    let fixture = try ImportFixture(Self.shop, in: store)
    try await fixture.run(
      #"{"products":[{"sku":"a"},{"sku":"a","price":2}],"lines":[{"no":1,"sku":"a"},{"no":2,"sku":"q"}]}"#
    )
    try store.close()
    let again = try SQLiteStore(at: .file(path))
    let report = try again.undoImport(isDryRun: true)
    #expect(report.entities["Product"]?.deleted == 1 && report.entities["Line"]?.deleted == 2)
    #expect(try sql(again, "SELECT price FROM Product") == ["2"])
    #expect(try again.undoImport().entities == report.entities)
    #expect(try UndoPropertyTests.state(of: again) == [])
  }
}
