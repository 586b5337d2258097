import Foundation
import GRDB
import Testing

@testable import DragomanGraph

@Suite("Databases of strangers") struct StrangerStoreTests {
  private func file() throws -> String {
    let path = NSTemporaryDirectory() + "stranger-\(UUID().uuidString).db"
    let store = try SQLiteStore(at: .file(path))
    try store.grow(
      to: Model(entities: [
        Entity(
          name: "A",
          attributes: [Attribute(name: "x", type: .string)],
          relationships: [Relationship(name: "b", destination: "B", kind: .toMany)]
        ),
        Entity(name: "B", attributes: [Attribute(name: "y", type: .string)]),
        Entity(name: "Ärzte", attributes: [Attribute(name: "x", type: .string)]),
      ])
    )
    try store.close()
    return path
  }

  /// What is made of the stored model, and what is said then.
  static let faults: [(change: @Sendable (inout Model) -> Void, message: String)] = [
    ({ $0.entities[0].parent = "A" }, "A is its own ancestor."),
    ({ ($0.entities[0].parent, $0.entities[1].parent) = ("B", "A") }, "A is its own ancestor."),
    ({ $0.entities[0].parent = "C" }, "A has a parent C, which there is not."),
    (
      { $0.entities[0].relationships.append($0.entities[0].relationships[0]) },
      "A has two properties b."
    ),
    ({ $0.entities[0].attributes[0].name = "b" }, "A has two properties b."),
    ({ $0.entities.append($0.entities[1]) }, "There are two entities B."),
    ({ $0.entities[0].relationships[0].destination = "C" }, "A.b leads to C, which there is not."),
    (
      { model in
        for number in 0..<500 {
          model.entities.append(
            Entity(
              name: "S\(number)",
              attributes: [],
              parent: number == 0 ? "B" : "S\(number - 1)"
            )
          )
        }
      }, "S8 has more than 8 ancestors."
    ),
  ]

  @Test("A model that nobody can work with is refused", arguments: faults.indices)
  func models(index: Int) throws {
    let path = try file()
    defer { for ending in ["", "-wal", "-shm"] { unlink(path + ending) } }
    let (change, message) = Self.faults[index]
    try DatabaseQueue(path: path).write { database in
      let text = try #require(
        try String.fetchOne(database, sql: "SELECT model FROM _dragoman_model")
      )
      var model = try JSONDecoder().decode(Model.self, from: Data(text.utf8))
      change(&model)
      try database.execute(
        sql: "UPDATE _dragoman_model SET model = ?",
        arguments: [String(decoding: try JSONEncoder().encode(model), as: UTF8.self)]
      )
    }
    let error = #expect(throws: StoreError.self) { _ = try SQLiteStore(at: .file(path)) }
    #expect(error?.code == .damaged)
    #expect(error?.message == "The model in _dragoman_model is faulty: \(message)")
  }

  @Test(
    "A view in the place of a table is never read, whatever its letters are, nor one of our own",
    arguments: ["A", "a", "Ärzte", "_dragoman_model", "_DRAGOMAN_KEYS", "_dragoman_imports"]
  )
  func views(name: String) throws {
    let path = try file()
    defer { for ending in ["", "-wal", "-shm"] { unlink(path + ending) } }
    try DatabaseQueue(path: path).write { database in
      try database.execute(sql: "DROP TABLE \(name)")
      try database.execute(
        sql: """
          CREATE VIEW \(name) AS WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n)
          SELECT i AS _pk, i AS id, 1 AS _v, 'x' AS x, '' AS model FROM n
          """
      )
    }
    let error = #expect(throws: StoreError.self) { _ = try SQLiteStore(at: .file(path)) }
    #expect(error?.code == .damaged)
    #expect(
      error?.message == "\(name) is a view or a virtual table, and not the table that it should be."
    )
  }

  @Test("A virtual table is none either, however it was made")
  func virtual() throws {
    let path = try file()
    defer { for ending in ["", "-wal", "-shm"] { unlink(path + ending) } }
    try DatabaseQueue(path: path).write { database in
      try database.execute(sql: "DROP TABLE A; CREATE/**/VIRTUAL TABLE A USING fts5(x)")
    }
    let error = #expect(throws: StoreError.self) { _ = try SQLiteStore(at: .file(path)) }
    #expect(error?.code == .damaged)
  }

  @Test(
    "A column that is computed when it is read is none of the model's, nor of our own tables",
    arguments: [("A", "x"), ("_dragoman_keys", "computed")]
  )
  func computed(table: String, column: String) throws {
    let path = try file()
    defer { for ending in ["", "-wal", "-shm"] { unlink(path + ending) } }
    try DatabaseQueue(path: path).write { database in
      if table == "A" { try database.execute(sql: "ALTER TABLE A DROP COLUMN x") }
      try database.execute(
        sql: "ALTER TABLE \(table) ADD COLUMN \(column) TEXT AS (hex(zeroblob(1000000000)))"
      )
    }
    let error = #expect(throws: StoreError.self) { _ = try SQLiteStore(at: .file(path)) }
    #expect(error?.code == .damaged)
    #expect(
      error?.message
        == "The column \(column) of \(table) is computed when it is read, and not stored as it should be."
    )
  }

  @Test("A computed column beside the model's is its owner's")
  func ownColumns() throws {
    let path = try file()
    defer { for ending in ["", "-wal", "-shm"] { unlink(path + ending) } }
    try DatabaseQueue(path: path).write {
      try $0.execute(sql: "ALTER TABLE A ADD COLUMN mine TEXT AS (upper(x))")
    }
    try SQLiteStore(at: .file(path)).close()
  }

  @Test(
    "A file that SQLite writes beside the database, and that has another name, is not written over",
    arguments: ["-wal", "-shm", "-journal"]
  )
  func linked(ending: String) throws {
    let path = try file()
    let mine = path + ".mine"
    defer { for ending in ["", "-wal", "-shm", "-journal", ".mine"] { unlink(path + ending) } }
    try Data("mine".utf8).write(to: URL(fileURLWithPath: mine))
    unlink(path + ending)
    #expect(link(mine, path + ending) == 0)
    let options = SQLiteStore.Options(isReadOnly: true)
    let error = #expect(throws: StoreError.self) {
      _ = try SQLiteStore(at: .file(path), options: options)
    }
    #expect(error?.code == .unreachable)
    #expect(try Data(contentsOf: URL(fileURLWithPath: mine)) == Data("mine".utf8))
  }

  @Test("A file of a byte is no empty database")
  func oneByte() throws {
    let path = NSTemporaryDirectory() + "byte-\(UUID().uuidString)"
    defer { unlink(path) }
    try Data([0x41]).write(to: URL(fileURLWithPath: path))
    let error = #expect(throws: StoreError.self) { _ = try SQLiteStore(at: .file(path)) }
    #expect(error?.code == .notAStore)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data([0x41]))
  }

  @Test("Views beside the tables are their owner's")
  func ownViews() throws {
    let path = try file()
    defer { for ending in ["", "-wal", "-shm"] { unlink(path + ending) } }
    try DatabaseQueue(path: path).write {
      try $0.execute(sql: "CREATE VIEW mine AS SELECT x FROM A")
    }
    try SQLiteStore(at: .file(path)).close()
  }
}
