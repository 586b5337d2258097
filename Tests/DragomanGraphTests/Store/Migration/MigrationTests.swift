import Foundation
import GRDB
import Testing

@testable import DragomanGraph

@Suite struct MigrationTests {
  @Test(
    "A change is carried out, and the file is as one made with the new model",
    arguments: MigrationCase.attributes + MigrationCase.links + MigrationCase.further
  )
  func changes(_ change: MigrationCase) throws {
    let store = try change.store()
    let planned = try store.migration(to: change.new, drops: change.drops)
    #expect(planned.faults == [])
    if !change.steps.isEmpty { #expect(planned.steps.map(\.sentence) == change.steps) }
    let done = try store.migrate(to: change.new, drops: change.drops)
    #expect(done == planned)
    for (query, rows) in change.after {
      let found = try store.texts(query)
      // Rows of links come in the order of their index, whichever SQLite takes.
      #expect(found.sorted() == rows.sorted(), "\(query)")
    }
    #expect(store.model == done.model)
    #expect(try store.texts("PRAGMA foreign_key_check") == [])
    #expect(try store.texts("PRAGMA integrity_check") == ["ok"])
    let fresh = try SQLiteStore(at: .inMemory)
    try fresh.grow(to: done.model)
    #expect(try store.shape() == fresh.shape())
    #expect(try store.migration(to: change.new, drops: change.drops).isEmpty)
    #expect(try store.write { try $0.pragma("foreign_keys") } == "1")
  }

  @Test(
    "What is in the way is named, and nothing is changed",
    arguments: MigrationCase.refused + MigrationCase.furtherRefused
  )
  func refusals(_ change: MigrationCase) throws {
    let store = try change.store()
    let before = try store.dump()
    #expect(try store.migration(to: change.new).faults == change.faults)
    let error = #expect(throws: StoreError.self) { try store.migrate(to: change.new) }
    #expect(error?.code == .modelConflict)
    #expect(error?.message == change.faults.joined(separator: " "))
    #expect(try store.dump() == before)
  }

  private struct Interruption: Error {}

  @Test(
    "An error in front of any statement leaves the old contents and the old model",
    arguments: MigrationCase.attributes + MigrationCase.links + MigrationCase.further
  )
  func interruptions(_ change: MigrationCase) throws {
    let store = try change.store()
    let before = try store.dump()
    var stop = 0
    var done = Migration(from: change.old, to: change.old)
    var isDone = false
    while !isDone {
      var count = 0
      do {
        done = try store.migrate(to: change.new, drops: change.drops) {
          if count == stop { throw Interruption() }
          count += 1
        }
        isDone = true
      } catch {
        #expect(try store.dump() == before, "statement \(stop)")
        #expect(store.model == change.old.completingInverses())
        stop += 1
      }
    }
    #expect((stop > 1) == (done.model != change.old.completingInverses()))
    #expect(try store.migration(to: change.new, drops: change.drops).isEmpty)
  }

  @Test("Indexes, triggers and views that somebody else made stay")
  func additions() throws {
    let change = MigrationCase.attributes[0]
    let store = try change.store()
    try store.execute([
      "CREATE TABLE log (n)", "CREATE INDEX mine ON P (a, id)",
      "CREATE VIEW names AS SELECT a, id FROM P",
      "CREATE TRIGGER told AFTER UPDATE ON P BEGIN INSERT INTO log VALUES (new.id); END",
    ])
    var new = change.old
    new.entities[0].attributes[0].type = .string
    try store.migrate(to: new)
    let names = "SELECT name FROM sqlite_master WHERE name IN ('mine', 'told') ORDER BY 1"
    #expect(try store.texts(names) == ["mine", "told"])
    #expect(try store.texts("SELECT * FROM names WHERE id = '10'") == ["x|10"])
    #expect(try store.texts("SELECT * FROM log") == [])
  }

  @Test("An addition that does not fit any more is named, and nothing is changed")
  func unfitAddition() throws {
    let change = MigrationCase.attributes[7]
    let store = try change.store()
    try store.execute(["CREATE INDEX mine ON P (a, id)"])
    let before = try store.dump()
    let error = #expect(throws: StoreError.self) { try store.migrate(to: change.new, drops: true) }
    #expect(error?.message.hasPrefix("The index mine, which Dragoman did not make,") == true)
    #expect(try store.dump() == before)
  }

  @Test(
    "An index that an earlier version made, and that a unique key makes needless, is in nobody's way"
  )
  func needlessIndex() throws {
    let a = Attribute(name: "a", isIndexed: true)
    let b = Attribute(name: "b")
    let store = try SQLiteStore(at: .inMemory)
    let names =
      "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'P' AND sql NOT NULL"
    let keyed = Entity(name: "P", attributes: [a, b], uniqueKeys: [["a", "b"]])
    try store.grow(to: Model(entities: [keyed]))
    #expect(try store.texts(names) == ["P_unique_a_b"])
    try store.execute(["CREATE INDEX P_a ON P (a)"])
    let other = Entity(name: "P", attributes: [b], uniqueKeys: [["b"]])
    try store.migrate(to: Model(entities: [other]), drops: true)
    #expect(try store.texts(names) == ["P_unique_b"])
  }

  @Test("References that wait in the store follow new names, and go with what goes")
  func pending() throws {
    let id = Attribute(name: "id", type: .int64)
    let old = Model(entities: [
      Entity(
        name: "P",
        attributes: [id],
        relationships: [.toOne("a", "Q"), .toOne("b", "Q"), .toOne("c", "Q"), .toOne("d", "R")],
        uniqueKeys: [["id"]]
      ),
      Entity(name: "Q", attributes: [id, Attribute(name: "kind")], uniqueKeys: [["id", "kind"]]),
      Entity(name: "R", attributes: [id], uniqueKeys: [["id"]]),
    ])
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: old)
    try store.execute([
      "INSERT INTO P (_pk, _v, id) VALUES (1, 1, 1)",
      """
      INSERT INTO _dragoman_pending (owner, relationship, entity, key) VALUES
        (1, 'P.a', 'Q', '{"id":7,"kind":"x"}'), (1, 'P.b', 'Q', '{"id":8,"kind":"y"}'),
        (1, 'P.c', 'Q', '{"id":9,"kind":"z"}'), (1, 'P.d', 'R', '{"id":1}')
      """,
    ])
    // a and b change places, c goes; so does R.
    let new = Model(entities: [
      Entity(
        name: "Person",
        attributes: [id],
        relationships: [
          .toOne("b", "Thing").with { $0.renamedFrom = "a" },
          .toOne("a", "Thing").with { $0.renamedFrom = "b" },
        ],
        uniqueKeys: [["id"]]
      ).with { $0.renamedFrom = "P" },
      Entity(
        name: "Thing",
        attributes: [id, Attribute(name: "sort").with { $0.renamedFrom = "kind" }],
        uniqueKeys: [["id", "sort"]]
      ).with { $0.renamedFrom = "Q" },
    ])
    try store.migrate(to: new, drops: true)
    #expect(
      try store.texts("SELECT relationship, entity, key FROM _dragoman_pending ORDER BY id") == [
        #"Person.b|Thing|{"id":7,"sort":"x"}"#, #"Person.a|Thing|{"id":8,"sort":"y"}"#,
      ]
    )
  }

  @Test("Objects are written by their new keys afterwards, with ids that go on")
  func writing() throws {
    let old = Entity(
      name: "P",
      attributes: [Attribute(name: "id", type: .int64), Attribute(name: "a")],
      uniqueKeys: [["id"]]
    )
    let store = try store(old, [[.integer(1), .text("x")], [.integer(2), .text("y")]])
    let new = Entity(
      name: "Q",
      attributes: [
        Attribute(name: "id", type: .string), Attribute(name: "b").with { $0.renamedFrom = "a" },
      ],
      uniqueKeys: [["b"]]
    ).with { $0.renamedFrom = "P" }
    try store.migrate(to: Model(entities: [new]))
    try store.write { session in
      try session.begin()
      let writer = try session.writer(for: new, slots: new.attributes, mode: .upsert)
      let arena = Array("007xz".utf8)
      let rows: [[RowValue]] = [
        [.text(at: 0, length: 3), .text(at: 3, length: 1)],
        [.text(at: 0, length: 3), .text(at: 4, length: 1)],
      ]
      for row in rows {
        try row.withUnsafeBufferPointer { row in
          try arena.withUnsafeBytes { arena in
            if let base = arena.baseAddress { _ = try writer.write(row, arena: base) }
          }
        }
      }
      try session.commit()
    }
    #expect(try store.texts("SELECT * FROM Q") == ["1|2|007|x", "2|1|2|y", "3|1|007|z"])
  }
}
