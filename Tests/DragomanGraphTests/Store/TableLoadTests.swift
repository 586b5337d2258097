import Foundation
import GRDB
import Testing

@testable import DragomanGraph

@Suite("Tables that are loaded") struct TableLoadTests {
  private let entity = Entity(
    name: "P",
    attributes: [
      Attribute(name: "id"), Attribute(name: "code", type: .int64),
      Attribute(name: "name").with { $0.isIndexed = true },
    ],
    uniqueKeys: [["id"], ["code"]]
  )

  @Test("A filter forgets no key, and takes few others for known, over all of its levels")
  func filter() {
    let filter = KeyFilter()
    func hash(_ number: Int) -> UInt64 {
      var hash = KeyHash(seed: 0)
      hash.add(Int64(number))
      return hash.value
    }
    let count = 400_000
    let wrong = (0..<count).count { filter.insert(hash($0)) }
    #expect(wrong < 60)
    #expect((0..<count).allSatisfy { filter.contains(hash($0)) })
    #expect((count..<2 * count).count { filter.contains(hash($0)) } < 120)
    #expect(!filter.isFull)
  }

  @Test("Keys that SQLite takes for equal have the same hash, others have not")
  func hashes() {
    func hash(_ body: (inout KeyHash) -> Void) -> UInt64 {
      var hash = KeyHash(seed: 3)
      body(&hash)
      return hash.value
    }
    #expect(hash { $0.add(0.0) } == hash { $0.add(-0.0) })
    #expect(hash { $0.add(7.0) } == hash { $0.add(Int64(7)) })
    #expect(hash { $0.add(Int64.max) } != hash { $0.add(Int64.max - 1) })
    let texts = ["", "\0", "a", "aaaaaaaa", "aaaaaaaa\0", "é", "e\u{301}", "aaaaaaaaaaaaaaab"]
    let hashes = texts.map { text in
      hash { hash in Array(text.utf8).withUnsafeBytes { hash.add($0) } }
    }
    #expect(Set(hashes).count == texts.count)
  }

  /// Writes rows of an id and a code; what is undecided is told by its number.
  private func write(
    _ rows: [(id: String, code: Int64?)],
    by writer: EntityWriter
  ) throws -> [Int] {
    var undecided: [Int] = []
    for (number, row) in rows.enumerated() {
      let values: [RowValue] = [
        .text(at: 0, length: UInt32(row.id.utf8.count)), row.code.map { .integer($0) } ?? .null,
        .absent,
      ]
      try Array((row.id + " ").utf8).withUnsafeBytes { arena in
        guard let arena = arena.baseAddress else { return }
        try values.withUnsafeBufferPointer { values in
          if try writer.isUndecided(values, arena: arena, isTombstone: false) {
            undecided.append(number)
          } else {
            let outcome = try writer.write(values, arena: arena)
            #expect(outcome == .inserted)
          }
        }
      }
    }
    return undecided
  }

  private func withWriter(
    in store: SQLiteStore,
    _ body: (WriteSession, EntityWriter) throws -> Void
  ) throws {
    try store.write { session in
      try session.begin()
      try session.grow(to: Model(entities: [entity]))
      let layout = try #require(session.layout.entity(named: "P"))
      let rows = EntityStatements(
        entity: layout,
        slots: entity.attributes.map { RowSlot($0) },
        mode: .upsert
      )
      try body(session, session.writer(for: rows, mayLoad: true))
      try session.commit()
    }
  }

  @Test("An empty table is filled without indexes, and has them in the end as they were")
  func loads() throws {
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: Model(entities: [entity]))
    let schema = "SELECT sql FROM sqlite_master WHERE tbl_name = 'P' ORDER BY sql"
    let before = try store.onWriter { try String?.fetchAll($0, sql: schema) }
    try withWriter(in: store) { session, writer in
      let undecided = try write(
        [("a", 1), ("b", 2), ("a", 3), ("c", 2), ("d", nil), ("e", nil), ("f", 3)],
        by: writer
      )
      // The third one's code is known, though nothing was written of it.
      #expect(undecided == [2, 3, 6])
      #expect(session.loads.isOpen)
      let loaded = try String?.fetchAll(session.database, sql: schema)
      #expect(loaded.count == 1)
      try session.loads.end()
      #expect(!session.loads.isOpen)
      let more = try write([("z", nil)], by: writer)
      #expect(more == [])
    }
    #expect(try store.onWriter { try String?.fetchAll($0, sql: schema) } == before)
    #expect(before.count == 4)
    #expect(try store.count(FetchRequest("P")) == 5)
    #expect(try store.onWriter { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"])
  }

  @Test(
    "A table that is not empty, or has what the filter does not stand for, is not loaded",
    arguments: [
      "INSERT INTO P (_pk, _v, id) VALUES (99, 1, 'x')",
      "CREATE TRIGGER t AFTER INSERT ON P BEGIN SELECT 1; END",
      "CREATE UNIQUE INDEX mine ON P (name COLLATE NOCASE)",
      "CREATE UNIQUE INDEX mine ON P (lower(name))",
      "CREATE UNIQUE INDEX mine ON P (name) WHERE code > 7",
    ]
  )
  func others(_ sql: String) throws {
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: Model(entities: [entity]))
    try store.onWriter { try $0.execute(sql: sql) }
    try withWriter(in: store) { session, writer in
      let more = try write([("a", 1)], by: writer)
      #expect(more == [])
      #expect(!session.loads.isOpen)
    }
  }

  @Test("An index that a user made stays, and a unique one of his is heeded")
  func own() throws {
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: Model(entities: [entity]))
    try store.onWriter {
      try $0.execute(
        sql: "CREATE INDEX a ON P (lower(name)); CREATE UNIQUE INDEX b ON P (name, code)"
      )
    }
    try withWriter(in: store) { session, writer in
      let more = try write([("a", 1), ("b", 2)], by: writer)
      #expect(more == [])
      #expect(session.loads.isOpen)
      try session.loads.end()
    }
    let names =
      "SELECT name FROM sqlite_master WHERE type = 'index' AND name IN ('a', 'b') ORDER BY name"
    #expect(try store.onWriter { try String.fetchAll($0, sql: names) } == ["a", "b"])
  }

  @Test("A load that is rolled back leaves the indexes")
  func rolledBack() throws {
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: Model(entities: [entity]))
    try store.write { session in
      try session.begin()
      let layout = try #require(session.layout.entity(named: "P"))
      let slots = entity.attributes.map { RowSlot($0) }
      let rows = EntityStatements(entity: layout, slots: slots, mode: .upsert)
      _ = try write([("a", 1)], by: session.writer(for: rows, mayLoad: true))
      session.rollbackIfOpen()
    }
    let sql = "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = 'P'"
    #expect(try store.onWriter { try Int.fetchOne($0, sql: sql) } == 3)
  }
}
