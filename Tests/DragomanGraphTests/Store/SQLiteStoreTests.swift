import Foundation
import GRDB
import Testing

@testable import DragomanGraph

@Suite struct SQLiteStoreTests {
  private let folder = NSTemporaryDirectory() + "store-\(UUID().uuidString)"
  private let model = Model(
    entities: [
      Entity(
        name: "P",
        table: "people",
        attributes: [
          Attribute(name: "id", type: .int64, isRequired: true),
          Attribute(name: "order", isIndexed: true), Attribute(name: "price", type: .decimal),
        ],
        uniqueKeys: [["id"], ["order", "price"]]
      )
    ]
  )

  /// Runs `body` with the path of a file in a folder of its own.
  private func withFile<T>(_ body: (String) throws -> T) throws -> T {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder + "/test.db")
  }

  private func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  @Test("A file of another program or a newer version is refused by its path and stays as it is")
  func othersFiles() throws {
    try withFile { path in
      for sql in [
        "CREATE TABLE people (id INTEGER PRIMARY KEY)",
        "PRAGMA application_id = 1234; CREATE TABLE p (x)",
        "PRAGMA application_id = 0x44524147; PRAGMA user_version = 99; CREATE TABLE p (x)",
      ] {
        try DatabaseQueue(path: path).write { try $0.execute(sql: sql) }
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let error = try #require(throws: StoreError.self) { _ = try SQLiteStore(at: .file(path)) }
        #expect([.notAStore, .newerFormat].contains(error.code))
        #expect(error.path == path)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["test.db"])
        try FileManager.default.removeItem(atPath: path)
      }
    }
  }

  @Test(
    "A lock is waited for to the millisecond, whatever the duration is",
    arguments: [
      (Duration.milliseconds(500), 500), (.milliseconds(1500), 1500), (.milliseconds(285), 285),
      (.seconds(5), 5000), (.zero, 0), (.nanoseconds(1), 1), (.microseconds(1001), 2),
      (.seconds(-1), 0), (.nanoseconds(-1), 0), (.seconds(Int64.max), 2_147_483_647),
      (.seconds(2_147_483), 2_147_483_000), (.seconds(2_147_484), 2_147_483_647),
      (.milliseconds(2_147_483_647), 2_147_483_647), (.seconds(Int64.min), 0),
    ]
  )
  func busyTimeout(duration: Duration, milliseconds: Int) throws {
    let options = SQLiteStore.Options(busyTimeout: duration)
    let store = try SQLiteStore(at: .inMemory, options: options)
    let known = try store.read { try Int.fetchOne($0, sql: "PRAGMA busy_timeout") }
    #expect(known == milliseconds)
    // The connection that writes; those that read wait for the write-ahead log only, 10 s.
    try withFile { path in
      let store = try SQLiteStore(at: .file(path), options: options)
      let writing = try store.write { try Int.fetchOne($0.database, sql: "PRAGMA busy_timeout") }
      #expect(writing == milliseconds)
      try store.close()
    }
  }

  @Test("A lock on a file is waited for as long as asked, and not in whole seconds")
  func partsOfSeconds() throws {
    try withFile { path in
      let store = try SQLiteStore(at: .file(path), options: .init(busyTimeout: .milliseconds(700)))
      try store.grow(to: model)
      try DatabaseQueue(path: path).inDatabase { db in
        try db.execute(sql: "BEGIN IMMEDIATE")
        let begin = ContinuousClock.now
        #expect(code { try store.write { try $0.begin() } } == .busy)
        let waited = ContinuousClock.now - begin
        // Whole seconds were none here. A busy machine may take longer, never less.
        #expect(waited >= .milliseconds(650), "\(waited)")
        try db.execute(sql: "ROLLBACK")
      }
    }
  }

  @Test("Every key has an index of its own, whatever the others are called")
  func indexNames() throws {
    let model = Model(
      entities: [
        Entity(
          name: "P",
          attributes: [
            Attribute(name: "a_b"), Attribute(name: "A"), Attribute(name: "b"),
            Attribute(name: "unique_a_b", isIndexed: true),
          ],
          uniqueKeys: [["a_b"], ["A", "b"]]
        )
      ]
    )
    try withFile { path in
      let store = try SQLiteStore(at: .file(path))
      try store.grow(to: model)
      let indexes = try store.read {
        try String.fetchAll(
          $0,
          sql: "SELECT sql FROM sqlite_master WHERE type = 'index' ORDER BY 1"
        )
      }
      .filter { $0.contains("ON \"P\"") }
      #expect(
        indexes == [
          #"CREATE INDEX "P_unique_a_b_3" ON "P" ("unique_a_b")"#,
          #"CREATE UNIQUE INDEX "P_unique_A_b_2" ON "P" ("A", "b")"#,
          #"CREATE UNIQUE INDEX "P_unique_a_b" ON "P" ("a_b")"#,
        ]
      )
    }
  }

  @Test("A model may grow by a table that is called as one of its indexes was")
  func tableNamedAsIndex() throws {
    let entity = { (name: String, relationship: Relationship) in
      Entity(name: name, attributes: [], relationships: [relationship], parent: "V")
    }
    let car = entity("Car", Relationship(name: "owner", destination: "M", kind: .toOne))
    let bus = entity("Bus", Relationship(name: "owner", destination: "M", kind: .toMany))
    let others = [
      Entity(name: "V", attributes: [Attribute(name: "id")]),
      Entity(name: "M", attributes: [Attribute(name: "n")]),
    ]
    try withFile { path in
      let store = try SQLiteStore(at: .file(path))
      try store.grow(to: Model(entities: others + [car]))
      try store.grow(to: Model(entities: others + [car, bus]))
      let names = try store.read {
        try String.fetchAll(
          $0,
          sql: "SELECT name FROM sqlite_master WHERE name LIKE 'V_owner%' ORDER BY 1"
        )
      }
      #expect(names == ["V_owner", "V_owner_2", "V_owner_target"])
      try store.close()
      let again = try SQLiteStore(at: .file(path))
      try again.grow(to: Model(entities: others + [car, bus]))
      try again.close()
    }
  }

  @Test(
    "Each result of SQLite has the code that tells what to do",
    arguments: [
      (ResultCode.SQLITE_BUSY, StoreError.Code.busy), (.SQLITE_BUSY_SNAPSHOT, .busy),
      (.SQLITE_BUSY_RECOVERY, .busy), (.SQLITE_LOCKED, .busy), (.SQLITE_PROTOCOL, .busy),
      (.SQLITE_FULL, .full), (.SQLITE_IOERR, .inputOutput), (.SQLITE_IOERR_READ, .inputOutput),
      (.SQLITE_IOERR_FSYNC, .inputOutput), (.SQLITE_IOERR_LOCK, .inputOutput),
      (ResultCode(rawValue: 10 | 33 << 8), .inputOutput), (.SQLITE_NOMEM, .refused),
      (.SQLITE_CANTOPEN, .unreachable), (.SQLITE_CANTOPEN_ISDIR, .unreachable),
      (.SQLITE_READONLY, .permission), (.SQLITE_READONLY_CANTLOCK, .permission),
      (.SQLITE_READONLY_DBMOVED, .migrated), (.SQLITE_PERM, .permission),
      (.SQLITE_CORRUPT, .damaged), (.SQLITE_CORRUPT_VTAB, .damaged), (.SQLITE_NOTADB, .notAStore),
    ]
  )
  func resultCodes(result: ResultCode, code: StoreError.Code) {
    #expect(StoreError(DatabaseError(resultCode: result), path: nil).code == code)
  }

  /// Why a file is not opened; nil: it is.
  private func refusal(of file: String) -> StoreError.Code? {
    code { _ = try SQLiteStore(at: .file(file)) }
  }

  @Test("The file is laid out as documented, for any SQLite tool to read")
  func layout() throws {
    try withFile { path in
      let store = try SQLiteStore(at: .file(path))
      try store.grow(to: model)
      try store.close()
      let again = try SQLiteStore(at: .file(path))
      #expect(try rows(again, "PRAGMA application_id") == [String(0x4452_4147)])
      #expect(try rows(again, "PRAGMA user_version") == ["1"])
      #expect(try rows(again, "PRAGMA journal_mode") == ["wal"])
      let schema = try rows(
        again,
        "SELECT sql FROM sqlite_master WHERE tbl_name = 'people' ORDER BY rowid"
      )
      #expect(
        schema == [
          """
          CREATE TABLE "people" (_pk INTEGER PRIMARY KEY, _v INTEGER, "id" INTEGER, "order" TEXT, \
          "price" TEXT)
          """,
          "CREATE UNIQUE INDEX \"people_unique_id\" ON \"people\" (\"id\")",
          // It serves as the index of "order", too.
          "CREATE UNIQUE INDEX \"people_unique_order_price\" ON \"people\" (\"order\", \"price\")",
        ]
      )
    }
  }

  @Test("The model is stored, grows by itself and drops nothing")
  func growth() throws {
    try withFile { path in
      let store = try SQLiteStore(at: .file(path))
      try store.grow(to: model)
      var other = model
      other.entities[0].attributes = [
        model.entities[0].attributes[0], Attribute(name: "note", defaultValue: .text("-")),
      ]
      other.entities.append(Entity(name: "Q", attributes: [Attribute(name: "v")]))
      try store.grow(to: other)
      let again = try SQLiteStore(at: .file(path))
      #expect(again.model == store.model)
      #expect(again.model.entities[0].attributes.map(\.name) == ["id", "order", "price", "note"])
      #expect(again.model.entities.map(\.name) == ["P", "Q"])
    }
  }

  /// A way in which a map can contradict a file.
  enum Change {
    case type
    case table
    case key
    case scale
    case column

    func apply(to entity: inout Entity) {
      switch self {
      case .type: entity.attributes[2].type = .double
      case .table: entity.table = "persons"
      case .key: entity.uniqueKeys = [["order"]]
      case .scale: entity.attributes[2].rules.scale = 2
      case .column: entity.attributes[1].column = "o"
      }
    }
  }

  @Test(
    "What contradicts the file is refused by name, and nothing is added",
    arguments: [
      (.type, "P.price is decimal in the database and double in the map."),
      (.table, "P is stored in table people and the map wants table persons."),
      (.key, "P's unique key is [id] in the database and [order] in the map."),
      (.scale, "P.price has scale none in the database and 2 in the map."),
      (.column, "P.order is column order in the database and o in the map."),
    ] as [(Change, String)]
  )
  func conflicts(change: Change, message: String) throws {
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: model)
    var other = model
    change.apply(to: &other.entities[0])
    other.entities[0].attributes.append(Attribute(name: "new"))
    let error = #expect(throws: StoreError.self) { try store.grow(to: other) }
    #expect(error?.code == .modelConflict)
    #expect(error?.message == message)
    #expect(store.model == model)
  }

  @Test("Files that are not ours are refused, each with its reason")
  func foreign() throws {
    try withFile { path in
      try "not a database, but long enough".write(toFile: path, atomically: true, encoding: .utf8)
      #expect(refusal(of: path) == .notAStore)
      #expect(refusal(of: folder) == .unreachable)
      #expect(refusal(of: folder + "/none/x.db") == .unreachable)
      try FileManager.default.removeItem(atPath: path)
      try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE t (a)") }
      #expect(refusal(of: path) == .notAStore)
      try FileManager.default.removeItem(atPath: path)
      try SQLiteStore(at: .file(path)).grow(to: model)
      try DatabaseQueue(path: path).write { try $0.execute(sql: "PRAGMA user_version = 9") }
      #expect(refusal(of: path) == .newerFormat)
      try DatabaseQueue(path: path).write {
        try $0.execute(sql: "PRAGMA user_version = 1; DELETE FROM _dragoman_model")
      }
      #expect(refusal(of: path) == .damaged)
      try Data().write(to: URL(fileURLWithPath: folder + "/empty.db"))
      #expect(refusal(of: folder + "/empty.db") == nil)
      let readOnly = SQLiteStore.Options(isReadOnly: true)
      let missing = code {
        _ = try SQLiteStore(at: .file(folder + "/no.db"), options: readOnly)
      }
      #expect(missing == .missing)
    }
  }

  @Test("A lock held elsewhere is waited for, then named")
  func busy() throws {
    try withFile { path in
      let store = try SQLiteStore(at: .file(path), options: .init(busyTimeout: .zero))
      try store.grow(to: model)
      let other = try DatabaseQueue(path: path)
      try other.inDatabase { db in
        try db.execute(sql: "BEGIN IMMEDIATE")
        let busy = code { try store.write { try $0.begin() } }
        #expect(busy == .busy)
        try db.execute(sql: "ROLLBACK")
      }
      try store.write { try $0.begin() }
    }
  }

  @Test(
    "Every commit is synchronous, with one connection and with several",
    arguments: [true, false]
  )
  func durability(readsConcurrently: Bool) throws {
    try withFile { path in
      let options = SQLiteStore.Options(readsConcurrently: readsConcurrently)
      for _ in 1...2 {
        let store = try SQLiteStore(at: .file(path), options: options)
        try store.grow(to: model)
        let settings = try store.write { session in
          try ["synchronous", "journal_mode", "foreign_keys"].map { try session.pragma($0) }
        }
        #expect(settings == ["2", "wal", "1"])
      }
    }
  }

  @Test("Opening a file with one connection writes nothing to it")
  func opening() throws {
    try withFile { path in
      let options = SQLiteStore.Options(readsConcurrently: false)
      let store = try SQLiteStore(at: .file(path), options: options)
      try store.grow(to: model)
      try store.close()
      let before = try Data(contentsOf: URL(fileURLWithPath: path))
      let again = try SQLiteStore(at: .file(path), options: options)
      try again.write { session in
        try session.begin()
        try session.grow(
          to: Model(entities: [Entity(name: "Q", attributes: [Attribute(name: "a")])])
        )
      }
      try again.close()
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }
  }

  @Test("Discarding removes a file that holds nothing, and no other")
  func discard() throws {
    try withFile { path in
      try SQLiteStore(at: .file(path)).discard()
      #expect(!FileManager.default.fileExists(atPath: path))
      let used = try SQLiteStore(at: .file(path))
      try used.grow(to: model)
      try used.discard()
      #expect(FileManager.default.fileExists(atPath: path))
      try SQLiteStore(at: .file(path)).discard()
      #expect(FileManager.default.fileExists(atPath: path))
    }
  }

  @Test("A new file that another connection has opened is not removed")
  func discardShared() throws {
    try withFile { path in
      let first = try SQLiteStore(at: .file(path))
      let second = try SQLiteStore(at: .file(path))
      try first.discard()
      try second.grow(to: model)
      #expect(try SQLiteStore(at: .file(path)).model == model)
    }
  }

  @Test("Primary keys rise, survive and are never given out twice; versions count changes")
  func primaryKeys() throws {
    try withFile { path in
      let entity = model.entities[0]
      for (ids, expected) in [([1, 2], ["1 1", "2 1"]), ([2, 3], ["1 1", "2 1", "3 1"])] {
        let store = try SQLiteStore(at: .file(path))
        try store.grow(to: model)
        try store.write { session in
          try session.begin()
          let writer = try session.writer(for: entity, slots: [entity.attributes[0]], mode: .upsert)
          for id in ids { try write(writer, [.integer(Int64(id))]) }
          try session.commit()
          try session.begin()
          try write(writer, [.integer(100)])
          session.rollbackIfOpen()
        }
        #expect(try rows(store, "SELECT _pk || ' ' || _v FROM people") == expected)
      }
      try DatabaseQueue(path: path).write {
        try $0.execute(sql: "DELETE FROM people WHERE _pk = 3")
      }
      let store = try SQLiteStore(at: .file(path))
      try store.write { session in
        try session.begin()
        let writer = try session.writer(
          for: entity,
          slots: Array(entity.attributes.prefix(2)),
          mode: .upsert
        )
        try write(writer, [.integer(4), .null])
        try write(writer, [.integer(1), .text(at: 0, length: 1)])
        try session.commit()
      }
      #expect(
        try rows(store, "SELECT _pk || ' ' || id || ' ' || _v FROM people") == [
          "1 1 2", "2 2 1", "4 4 1",
        ]
      )
    }
  }

  @Test("More than 64 attributes, and more shapes than are kept, are written right")
  func wide() throws {
    let attributes = (0..<70).map { Attribute(name: "a\($0)", type: .int64) }
    let entity = Entity(name: "W", attributes: attributes, uniqueKeys: [["a0"]])
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: Model(entities: [entity]))
    try store.write { session in
      try session.begin()
      let writer = try session.writer(for: entity, slots: attributes, mode: .upsert)
      for shape in 0..<500 {
        var row = Array(repeating: RowValue.absent, count: 70)
        row[0] = .integer(Int64(shape))
        for bit in 0..<9 where shape >> bit & 1 == 1 { row[69 - bit] = .integer(Int64(bit)) }
        try write(writer, row)
      }
      try session.commit()
    }
    #expect(try rows(store, "SELECT count(*) FROM W WHERE a69 = 0") == ["250"])
    #expect(try rows(store, "SELECT a0 FROM W WHERE a61 = 8 AND a69 IS NULL LIMIT 1") == ["256"])
  }

  private func write(_ writer: EntityWriter, _ row: [RowValue]) throws {
    let arena: [UInt8] = Array("x".utf8)
    _ = try row.withUnsafeBufferPointer { row in
      try arena.withUnsafeBytes { arena in
        try writer.write(row, arena: try #require(arena.baseAddress))
      }
    }
  }

  private func rows(_ store: SQLiteStore, _ query: String) throws -> [String] {
    try store.read { try String.fetchAll($0, sql: query) }
  }
}
