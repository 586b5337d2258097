import DragomanPostgreSQL
import Foundation
import GRDB
import TestServer
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Copies between files and servers: the same contents, also when they were stopped, and nothing by half.
@Suite("Copies to and from a server", .enabled(if: TestServer.isThere))
final class ServerCopyTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  private let server: TestServer

  init() throws {
    server = try #require(TestServer.shared)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func path(_ name: String) -> String { folder.appending(path: name).path }
  private func place(_ url: String) -> CopyPlace { .server(PostgreSQLServer(url)) }

  /// All rows of all tables but those that a file alone has.
  private func dump(_ file: String) throws -> [String: [Row]] {
    try DatabaseQueue(path: file).read { database in
      let tables = try String.fetchAll(
        database,
        sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> '_dragoman_undo'"
      )
      var rows: [String: [Row]] = [:]
      for table in tables {
        rows[table] = try Row.fetchAll(database, sql: "SELECT * FROM \"\(table)\" ORDER BY 1, 2")
      }
      return rows
    }
  }

  @Test(
    "What goes to a server and comes back is the same, row by row",
    arguments: ServerImportTests.feeds.map(\.map)
  )
  func bothWays(name: String) async throws {
    let feeds = try #require(ServerImportTests.feeds.first { $0.map == name }?.feeds)
    let root = ServerImportTests.root
    let map = try ImportMap(contentsOf: root.appendingPathComponent("Maps/\(name).map.yaml").path)
    let store = try SQLiteStore(at: .file(path("source.db")))
    for feed in feeds {
      var request = ImportRequest([.file(root.appendingPathComponent("SampleData/\(feed)").path)])
      request.options.rejectsFile = "/dev/null"
      _ = try await Importer(map: map, store: store).run(request)
    }
    try store.close()
    let url = try server.schema()
    let there = try CopyPlace.file(path("source.db")).copy(to: place(url))
    let other = try server.schema()
    #expect(try place(url).copy(to: place(other)).tables == there.tables)
    let back = try place(other).copy(to: .file(path("back.db")))
    #expect(back.tables == there.tables)
    #expect(try dump(path("back.db")) == dump(path("source.db")))
    // It is a store like others: a feed does to it what it does to the source.
    let first = root.appendingPathComponent("SampleData/\(feeds[0])").path
    var request = ImportRequest([.file(first)])
    request.options.rejectsFile = "/dev/null"
    let report = try await ServerImportTests.run(request, map, url)
    let source = try SQLiteStore(at: .file(path("source.db")))
    let expected = try await Importer(map: map, store: source).run(request)
    ServerImportTests.compare(report, expected, "\(name)")
    let copy = try PostgreSQLServer(url).copy()
    #expect(try contents(of: copy) == contents(of: source))
    try copy.close()
    try source.close()
  }

  /// Texts as they are not in feeds, and every type at its ends.
  private static let values = Model(
    entities: [
      Entity(
        name: "V",
        attributes: [
          Attribute(name: "s"), Attribute(name: "i16", type: .int16),
          Attribute(name: "i32", type: .int32), Attribute(name: "i64", type: .int64),
          Attribute(name: "d", type: .double), Attribute(name: "f", type: .float),
          Attribute(name: "n", type: .decimal), Attribute(name: "b", type: .bool),
          Attribute(name: "at", type: .timestamp), Attribute(name: "on", type: .date),
          Attribute(name: "time", type: .time), Attribute(name: "u", type: .uuid),
          Attribute(name: "raw", type: .data), Attribute(name: "j", type: .json),
          Attribute(name: "url", type: .url), Attribute(name: "span", type: .duration),
        ]
      )
    ]
  )
  private static let rows: [[StoredValue]] = [
    [
      "a\"b\\c,{}\n\t\u{1}é", .integer(-32768), .integer(-2_147_483_648), .integer(.min),
      .real(-.greatestFiniteMagnitude), .real(0.10000000149011612), "-0.000000000000000000000123",
      .integer(0), "0000-01-01 00:00:00", "0000-12-31", "00:00:00.000001",
      "00000000-0000-0000-0000-000000000000", .blob([]), "{\"b\" : 1.0, \"a\":[ ]}", "x:y", "P1D",
    ],
    [
      "", .integer(32767), .integer(2_147_483_647), .integer(.max), .real(.leastNonzeroMagnitude),
      .real(-0.0),
      "99999999999999999999999999999999999999.5", .integer(1), "9999-12-31 23:59:59.999999",
      "9999-12-31", "23:59:59.999999", "ffffffff-ffff-ffff-ffff-ffffffffffff",
      .blob([0, 255, 92, 34]), "null", "", "PT0.000001S",
    ],
    Array(repeating: .null, count: 16), ["NULL"] + Array(repeating: .null, count: 15),
  ]

  @Test("Values of every type come back as they were")
  func everyType() throws {
    let store = try SQLiteStore(at: .file(path("v.db")))
    try store.grow(to: Self.values)
    try store.write { session in
      try session.begin()
      for (index, row) in Self.rows.enumerated() {
        try session.database.execute(
          sql: "INSERT INTO V VALUES (?, 1\(String(repeating: ", ?", count: row.count)))",
          arguments: StatementArguments([Int64(index + 1).databaseValue] + row.map(\.databaseValue))
        )
      }
      try session.commit()
    }
    try store.close()
    let url = try server.schema()
    let there = try CopyPlace.file(path("v.db")).copy(to: place(url))
    #expect(try place(url).copy(to: .file(path("w.db"))).tables == there.tables)
    #expect(try dump(path("w.db"))["V"] == dump(path("v.db"))["V"])
  }

  @Test(
    "A value that another program has stored otherwise is told with its place, and so is a link to nobody",
    arguments: [
      (
        "UPDATE V SET u = '6BA7B810-9DAD-11D1-80B4-00C04FD430C8' WHERE _pk = 2",
        "V.u of the row _pk 2"
      ),
      ("UPDATE V SET at = '2026-01-01T00:00:00Z' WHERE _pk = 1", "V.at of the row _pk 1"),
      ("UPDATE V SET b = 2 WHERE _pk = 2", "V.b of the row _pk 2"),
      ("UPDATE V SET i16 = 'x' WHERE _pk = 4", "V.i16 of the row _pk 4"),
      ("UPDATE V SET raw = 'text' WHERE _pk = 3", "V.raw of the row _pk 3"),
      ("UPDATE V SET s = x'00ff' WHERE _pk = 3", "V.s of the row _pk 3"),
      ("UPDATE V SET n = '0.' || hex(zeroblob(9000)) || '1' WHERE _pk = 4", "V.n of the row _pk 4"),
      (
        "PRAGMA foreign_keys = OFF; UPDATE V SET next = 77 WHERE _pk = 2", "V.next of the row _pk 2"
      ),
    ]
  )
  func strangeValue(change: String, place: String) throws {
    var model = Self.values
    model.entities[0].relationships = [.toOne("next", "V")]
    let store = try SQLiteStore(at: .file(path("v.db")))
    try store.grow(to: model)
    try store.write { session in
      try session.begin()
      for key in 1...4 {
        try session.database.execute(sql: "INSERT INTO V (_pk, _v) VALUES (\(key), 1)")
      }
      try session.commit()
    }
    try store.close()
    let queue = try DatabaseQueue(path: path("v.db"))
    try queue.inDatabase { try $0.execute(sql: change) }
    try queue.close()
    let url = try server.schema()
    let error = #expect(throws: StoreError.self) {
      try CopyPlace.file(path("v.db")).copy(to: self.place(url))
    }
    #expect(error?.message.hasPrefix(place) == true, "\(error.map { "\($0)" } ?? "")")
    // What the server cannot hold is the server's matter.
    if !place.hasPrefix("V.n ") { #expect(error?.path == path("v.db")) }
  }

  private func makeMany(_ name: String, count: Int) throws {
    let store = try SQLiteStore(at: .file(path(name)))
    try store.grow(
      to: Model(
        entities: [
          Entity(name: "P", attributes: [Attribute(name: "n")], relationships: [.toOne("q", "Q")]),
          Entity(name: "Q", attributes: [Attribute(name: "n")], uniqueKeys: [["n"]]),
        ]
      )
    )
    try store.write { session in
      try session.begin()
      for table in ["P", "Q"] {
        try session.database.execute(
          sql: "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(count))"
            + " INSERT INTO \(table) (_pk, _v, n) SELECT i, 1, 'n' || i FROM c"
        )
      }
      // Each leads to a row of a table that comes later.
      try session.database.execute(sql: "UPDATE P SET q = \(count) + 1 - _pk")
      try session.commit()
    }
    try store.close()
  }

  private struct Stop: Error {}

  /// Copies until that many times something was committed.
  private func copy(_ name: String, to url: String, stoppedAfter batches: Int) {
    var count = 0
    #expect(throws: Stop.self) {
      try CopyPlace.file(path(name)).copy(to: place(url)) { _, _ in
        count += 1
        if count == batches { throw Stop() }
      }
    }
  }

  @Test(
    "A copy that was stopped goes on where it was, and is no store before its end",
    arguments: 1...6
  )
  func resumed(batches: Int) throws {
    try makeMany("m.db", count: 12_000)
    let url = try server.schema()
    copy("m.db", to: url, stoppedAfter: batches)
    for use in [
      { _ = try PostgreSQLServer(url).model() }, { _ = try PostgreSQLServer(url).copy() },
    ] {
      let error = #expect(throws: StoreError.self) { try use() }
      #expect(error?.code == .notAStore && error?.message.contains("copy") == true)
    }
    let copy = try CopyPlace.file(path("m.db")).copy(to: place(url))
    let resumed = copy.tables.map(\.resumedCount)
    let wanted = [min(batches * 5_000, 12_000), max(0, min((batches - 3) * 5_000, 12_000))]
    #expect(resumed == wanted)
    #expect(copy.tables.map(\.rowCount) == [12_000, 12_000])
    _ = try place(url).copy(to: .file(path("back.db")))
    #expect(try dump(path("back.db")) == dump(path("m.db")))
    #expect(
      try server.psql(
        "SELECT count(*) FROM \(TestServer.schema(of: url)).\"P\" WHERE q = 12001 - _pk"
      ) == "12000"
    )
  }

  @Test("What was changed in the source since is not mixed with what was copied")
  func changed() throws {
    try makeMany("m.db", count: 6_000)
    for sql in ["UPDATE P SET n = 'x' WHERE _pk = 1", "DELETE FROM P WHERE _pk > 10"] {
      let url = try server.schema()
      copy("m.db", to: url, stoppedAfter: 1)
      try DatabaseQueue(path: path("m.db")).write { try $0.execute(sql: sql) }
      let error = #expect(throws: StoreError.self) {
        try CopyPlace.file(path("m.db")).copy(to: place(url))
      }
      #expect(error?.code == .output && error?.message.contains("are others") == true)
      // Nor a part with the whole.
      let other = #expect(throws: StoreError.self) {
        try CopyPlace.file(path("m.db")).copy(to: place(url), entities: ["Q"])
      }
      #expect(other?.code == .output)
      let copy = try CopyPlace.file(path("m.db")).copy(to: place(url), startsAnew: true)
      #expect(copy.tables.allSatisfy { $0.resumedCount == 0 })
      _ = try place(url).copy(to: .file(path("back.db")))
      #expect(try dump(path("back.db")) == dump(path("m.db")))
      try FileManager.default.removeItem(atPath: path("back.db"))
    }
  }

  @Test(
    "Rows that the server changes on their way make no store",
    .enabled(if: TestServer.isPlain)
  )
  func tampered() throws {
    try makeMany("m.db", count: 6_000)
    let url = try server.schema()
    copy("m.db", to: url, stoppedAfter: 1)
    let schema = TestServer.schema(of: url)
    try server.psql(
      "CREATE FUNCTION \(schema).f() RETURNS trigger LANGUAGE plpgsql AS"
        + " 'BEGIN NEW.n = NEW.n || '' ''; RETURN NEW; END';"
        + " CREATE TRIGGER t BEFORE INSERT ON \(schema).\"Q\" FOR EACH ROW EXECUTE FUNCTION \(schema).f()"
    )
    var error: StoreError?
    for _ in 0..<5 where error == nil || error?.code == .busy {
      // A server that has much to do holds what the stopped copy had for a while.
      error = #expect(throws: StoreError.self) {
        try CopyPlace.file(path("m.db")).copy(to: place(url))
      }
    }
    #expect(
      error?.code == .damaged && error?.message.contains("rows of Q") == true,
      "\(error.map(String.init(describing:)) ?? "")"
    )
    #expect(throws: StoreError.self) { try PostgreSQLServer(url).model() }
  }

  @Test(
    "A store that is there is not touched; a text that the server cannot hold is told with its place"
  )
  func refused() throws {
    try makeMany("m.db", count: 3)
    let url = try server.schema()
    _ = try CopyPlace.file(path("m.db")).copy(to: place(url))
    let there = #expect(throws: StoreError.self) {
      try CopyPlace.file(path("m.db")).copy(to: place(url), startsAnew: true)
    }
    #expect(there?.code == .output && there?.message.contains("store already") == true)
    #expect(try PostgreSQLServer(url).model().entities.count == 2)
    try DatabaseQueue(path: path("m.db")).write {
      try $0.execute(sql: "UPDATE Q SET n = 'a' || char(0) WHERE _pk = 2")
    }
    let text = #expect(throws: StoreError.self) {
      try CopyPlace.file(path("m.db")).copy(to: place(try server.schema()))
    }
    #expect(
      text?.message.contains("Q.n of the row _pk 2") == true
        && text?.message.contains("U+0000") == true
    )
    let foreign = try server.schema()
    try server.psql("CREATE TABLE \(TestServer.schema(of: foreign)).mine (a int)")
    let mine = #expect(throws: StoreError.self) {
      try CopyPlace.file(path("m.db")).copy(to: place(foreign))
    }
    #expect(mine?.code == .notAStore && mine?.message.contains("mine") == true)
  }

  @Test("What another schema of the search path has is none of the store's")
  func schemas() throws {
    try makeMany("m.db", count: 3)
    let (mine, theirs) = (try server.schema(), try server.schema())
    _ = try CopyPlace.file(path("m.db")).copy(to: place(theirs))
    let before = try server.psql(
      "SELECT md5(model) FROM \(TestServer.schema(of: theirs))._dragoman_model"
    )
    let both = mine.replacing(
      "search_path%3D\(TestServer.schema(of: mine))",
      with: "search_path%3D\(TestServer.schema(of: mine)),\(TestServer.schema(of: theirs))"
    )
    #expect(both != mine)
    let stack = try Stack(Self.values, at: .postgreSQL(both))
    #expect(stack.model.entities.map(\.name) == ["V"])
    try stack.close()
    #expect(
      try server.psql("SELECT md5(model) FROM \(TestServer.schema(of: theirs))._dragoman_model")
        == before
    )
    #expect(try PostgreSQLServer(mine).model().entities.map(\.name) == ["V"])
  }

  @Test(
    "What imports under a contract have kept goes along; an import that is not at its end is waited for"
  )
  func kept() throws {
    try makeMany("m.db", count: 3)
    try DatabaseQueue(path: path("m.db")).write {
      try $0.execute(
        sql:
          "CREATE TABLE _dragoman_contracts (run INTEGER PRIMARY KEY, map TEXT, seen TEXT, evolved TEXT);"
          + " INSERT INTO _dragoman_contracts VALUES (7, 'm', '{}', '[\"a\"]')"
      )
    }
    let url = try server.schema()
    _ = try CopyPlace.file(path("m.db")).copy(to: place(url))
    _ = try place(url).copy(to: .file(path("back.db")))
    #expect(try dump(path("back.db")) == dump(path("m.db")))
    try server.psql(
      "CREATE TABLE \(TestServer.schema(of: url))._dragoman_run17 (id int, state text);"
        + " INSERT INTO \(TestServer.schema(of: url))._dragoman_run17 VALUES (1, '{}')"
    )
    let busy = #expect(throws: StoreError.self) { try place(url).copy(to: .file(path("n.db"))) }
    #expect(busy?.code == .busy && busy?.help?.contains("go on with it") == true)
  }
}
