import Foundation
import Testing

@testable import DragomanGraph

@Suite("Opening a file for a model")
struct OpeningTests {
  private let folder = NSTemporaryDirectory() + "opening-\(UUID().uuidString)"
  private let old = Entity(
    name: "P",
    attributes: [Attribute(name: "id", type: .int64), Attribute(name: "a")],
    uniqueKeys: [["id"]]
  )

  private func withFile<T>(_ body: (String) throws -> T) throws -> T {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/p.db"
    try store(old, [[.integer(1), .text("x")]], at: .file(path)).close()
    return try body(path)
  }

  private func model(_ type: AttributeType) -> Model {
    var entity = old
    entity.attributes[1].type = type
    return Model(entities: [entity])
  }

  private var files: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
  }

  @Test("A path that the system would cut, or that is none, is refused before anything is made")
  func paths() throws {
    try withFile { path in
      let cut = "\(path)\u{0}zz.db"
      for name in [cut, ""] {
        let error = #expect(throws: StoreError.self) { try Stack(model(.string), at: .file(name)) }
        #expect(error?.code == .unreachable)
      }
      #expect(try files == ["p.db"])
      let store = try SQLiteStore(at: .file(path))
      let error = #expect(throws: StoreError.self) { try store.backup(to: folder + "/b\u{0}.db") }
      #expect(error?.message.contains("U+0000") == true)
      try store.close()
      #expect(try files == ["p.db"])
    }
  }

  @Test("What is new and required, or required now, has its default in the objects that are there")
  func defaults() throws {
    try withFile { path in
      var grown = old
      grown.attributes[1].isRequired = true
      grown.attributes[1].defaultValue = .text("none")
      var level = Attribute(name: "level", type: .int64)
      (level.isRequired, level.defaultValue) = (true, .integer(1))
      var optional = Attribute(name: "optional", type: .int64)
      optional.defaultValue = .integer(1)
      // Two objects cannot have it.
      var code = Attribute(name: "code")
      (code.isRequired, code.defaultValue) = (true, .text("c"))
      grown.attributes += [level, optional, code]
      grown.uniqueKeys.append(["code"])
      let model = Model(entities: [
        grown, Entity(name: "Q", attributes: [Attribute(name: "q")], parent: "P"),
      ])
      do {
        let stack = try Stack(Model(entities: [old]), at: .file(path))
        try stack.store.write { session in
          try session.begin()
          try session.database.execute(sql: "INSERT INTO P (_pk, _v, id) VALUES (77, 3, 2)")
          try session.commit()
        }
        try stack.close()
      }
      let stack = try Stack(model, at: .file(path))
      #expect(
        try stack.sql("SELECT id || ' ' || a || ' ' || level || ' ' || _v FROM P ORDER BY id")
          == ["1 x 1 1", "2 none 1 3"]
      )
      #expect(try stack.sql("SELECT count(optional) + count(code) FROM P") == ["0"])
      try stack.close()
    }
  }

  @Test("By the policy error a contradiction is thrown, and what is new is added")
  func error() throws {
    try withFile { path in
      let error = #expect(throws: StoreError.self) {
        _ = try SQLiteStore.open(model(.json), at: .file(path))
      }
      #expect(error?.code == .modelConflict)
      var renamed = old
      renamed.attributes[1] = Attribute(name: "b").with { $0.renamedFrom = "a" }
      let other = #expect(throws: StoreError.self) {
        _ = try SQLiteStore.open(Model(entities: [renamed]), at: .file(path))
      }
      #expect(other?.message == "P.a is called b in the map.")
      var grown = old
      grown.attributes.append(Attribute(name: "c"))
      let opening = try SQLiteStore.open(Model(entities: [grown]), at: .file(path))
      #expect(opening.store.model == Model(entities: [grown]))
      #expect(opening.migration == nil)
      try opening.store.close()
    }
  }

  @Test("By the policy migrate the file is migrated, once")
  func migrate() throws {
    try withFile { path in
      let wanted = Model(entities: [
        Entity(name: "Q", attributes: old.attributes).with { $0.renamedFrom = "P" }
      ]
      )
      let opening = try SQLiteStore.open(wanted, at: .file(path), onConflict: .migrate)
      #expect(
        opening.migration?.steps.map(\.sentence) == [
          "Rename the entity P to Q.", "Rename the table P to Q.",
        ]
      )
      #expect(try opening.store.texts("SELECT * FROM Q") == ["1|1|1|x"])
      try opening.store.close()
      let again = try SQLiteStore.open(wanted, at: .file(path), onConflict: .migrate)
      #expect(again.migration == nil)
      try again.store.close()
      let error = #expect(throws: StoreError.self) {
        var faulty = wanted
        faulty.entities[0].attributes[1].type = .int64
        _ = try SQLiteStore.open(faulty, at: .file(path), onConflict: .migrate)
      }
      #expect(error?.code == .modelConflict)
      #expect(try files == ["p.db"])
    }
  }

  @Test("By the policy recreate a file that cannot be migrated is moved beside the new one")
  func recreate() throws {
    try withFile { path in
      for number in 1...2 {
        let type: AttributeType = number == 1 ? .int64 : .data
        let opening = try SQLiteStore.open(model(type), at: .file(path), onConflict: .recreate)
        let recreation = try #require(opening.recreation)
        #expect(recreation.movedTo == "\(path).old-\(number)")
        let reason =
          number == 1
          ? "P.a cannot become int64 from string: 1 value does not convert (x of 1)."
          : "P.a is int64 and cannot become data: there is no rule for it."
        #expect(recreation.reason == reason)
        #expect(try opening.store.texts("SELECT count(*) FROM P") == ["0"])
        try opening.store.close()
      }
      #expect(
        try files.filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
          == ["p.db", "p.db.old-1", "p.db.old-2"]
      )
      let kept = try SQLiteStore(at: .file("\(path).old-1"))
      #expect(try kept.texts("SELECT * FROM P") == ["1|1|1|x"])
      try kept.close()
    }
  }

  @Test("A file that is no database is moved; one that can be migrated is not")
  func unreadable() throws {
    try withFile { path in
      let model = model(.json)
      try store(old, [[.integer(2), .text("[1]")]], at: .file(folder + "/q.db")).close()
      let migrated = try SQLiteStore.open(
        model,
        at: .file(folder + "/q.db"),
        onConflict: .recreate
      )
      #expect(migrated.recreation == nil)
      #expect(try migrated.store.texts("SELECT a FROM P") == ["[1]"])
      try migrated.store.close()
      try Data("not a database, but a text".utf8).write(to: URL(fileURLWithPath: path))
      let opening = try SQLiteStore.open(model, at: .file(path), onConflict: .recreate)
      #expect(opening.recreation?.reason == "The file is not a SQLite database.")
      let text = try String(contentsOfFile: "\(path).old-1", encoding: .utf8)
      #expect(text == "not a database, but a text")
      try opening.store.close()
    }
  }

  @Test("A locked file is never moved")
  func busy() throws {
    try withFile { path in
      let holder = try SQLiteStore(at: .file(path))
      try holder.write { session in
        try session.begin()
        let error = #expect(throws: StoreError.self) {
          _ = try SQLiteStore.open(
            model(.int64),
            at: .file(path),
            options: SQLiteStore.Options(busyTimeout: .zero),
            onConflict: .recreate
          )
        }
        #expect(error?.code == .busy)
      }
      #expect(try files.filter { $0.contains("old") } == [])
      try holder.close()
    }
  }
}
