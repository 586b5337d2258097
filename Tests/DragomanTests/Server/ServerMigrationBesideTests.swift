import DragomanPostgreSQL
import Foundation
import GRDB
import TestServer
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Migrations of servers beside what others have made there, and beside others at work.
@Suite("Servers that are migrated beside others", .enabled(if: TestServer.isThere))
struct ServerMigrationBesideTests {
  private static let old = Model(entities: [
    Entity(
      name: "P",
      attributes: [
        Attribute(name: "id", type: .int64), Attribute(name: "a"),
        Attribute(name: "b", type: .bool),
      ],
      uniqueKeys: [["id"]]
    )
  ])
  private static let new = Model(entities: [
    Entity(
      name: "P",
      attributes: [
        Attribute(name: "id", type: .string), Attribute(name: "a", type: .double),
        Attribute(name: "b", type: .int16),
      ],
      uniqueKeys: [["id"]]
    )
  ])

  private let test: TestServer
  private let url: String
  private let schema: String
  private let server: PostgreSQLServer

  init() throws {
    test = try #require(TestServer.shared)
    url = try test.schema()
    schema = TestServer.schema(of: url)
    server = PostgreSQLServer(url)
    let store = try server.store()
    defer { store.end() }
    try store.grow(to: Self.old)
  }

  private func psql(_ sql: String) throws -> String {
    try test.psql("SET search_path = \(schema); \(sql)").replacing("SET\n", with: "")
  }

  @Test("More rows than are written at once are converted, extreme values too")
  func manyRows() throws {
    _ = try psql(
      "INSERT INTO \"P\" (_pk, _v, id, a, b) SELECT n, 1, n, n || '.5', n % 2 = 0"
        + " FROM generate_series(1, 12001) AS n;"
        + " UPDATE \"P\" SET id = 9223372036854775807, a = '-inf' WHERE _pk = 12001;"
        + " UPDATE \"P\" SET id = -9223372036854775808, a = NULL, b = NULL WHERE _pk = 5000;"
        + " DELETE FROM \"P\" WHERE _pk BETWEEN 7000 AND 9000"
    )
    try server.migrate(to: Self.new)
    let found = try psql(
      "SELECT count(*), count(a), sum(b), sum(a) FILTER (WHERE _pk < 12001) = sum(_pk + 0.5) FILTER"
        + " (WHERE a IS NOT NULL AND _pk < 12001), count(*) FILTER (WHERE id = _pk::text) FROM \"P\";"
        + " SELECT id, a FROM \"P\" WHERE _pk IN (5000, 12001) ORDER BY _pk"
    )
    #expect(
      found
        == "10000|9999|4998|t|9998\n-9223372036854775808|\n9223372036854775807|-Infinity"
    )
  }

  @Test(
    "Columns, indexes, triggers and views of others stay; what depends on what goes is named",
    .enabled(if: TestServer.isPlain)
  )
  func additions() throws {
    _ = try psql(
      "INSERT INTO \"P\" (_pk, _v, id, a, b) VALUES (1, 1, 10, '1.5', true);"
        + " ALTER TABLE \"P\" ADD COLUMN mine text DEFAULT 'own'; CREATE INDEX of_mine ON \"P\" (mine);"
        + " CREATE VIEW seen AS SELECT _pk, mine FROM \"P\""
    )
    try server.migrate(to: Self.new)
    let found = try psql(
      "SELECT * FROM seen; SELECT id, a, b FROM \"P\"; SELECT count(*) FROM pg_class WHERE relname = 'of_mine'"
        + " AND relnamespace = '\(schema)'::regnamespace"
    )
    #expect(found == "1|own\n10|1.5|1\n1")
    _ = try psql("CREATE VIEW ids AS SELECT id FROM \"P\"")
    let error = #expect(throws: StoreError.self) { try server.migrate(to: Self.old) }
    #expect(error?.code == .modelConflict && error?.message.contains("depends on") == true)
    #expect(try psql("SELECT * FROM ids") == "10")
    #expect(try server.model() == Self.new)
  }

  @Test("A name that is too long for a server, and a value that it does not take, are in the way")
  func limits() throws {
    var long = Self.old
    long.entities[0].attributes.append(Attribute(name: String(repeating: "ä", count: 40)))
    #expect(try server.migration(to: long).faults.first?.contains("63 bytes") == true)
    #expect(throws: StoreError.self) { try server.migrate(to: long) }
    _ = try psql("INSERT INTO \"P\" (_pk, _v, id, a) VALUES (1, 1, 10, '1' || repeat('0', 200000))")
    var wide = Self.old
    wide.entities[0].attributes[1].type = .decimal
    let error = #expect(throws: StoreError.self) { try server.migrate(to: wide) }
    #expect(error?.code == .modelConflict)
    #expect(try server.model() == Self.old)
    #expect(try psql("SELECT length(a) FROM \"P\"") == "200001")
  }

  @Test("JSON has no index on a server, and is in no unique key")
  func json() throws {
    var indexed = Self.old
    indexed.entities[0].attributes[1].type = .json
    indexed.entities[0].attributes[1].isIndexed = true
    let store = try PostgreSQLServer(try test.schema()).store()
    defer { store.end() }
    try store.grow(to: indexed)
    _ = try psql("INSERT INTO \"P\" (_pk, _v, id, a) VALUES (1, 1, 10, '{\"b\": 1}')")
    try server.migrate(to: indexed)
    #expect(try psql("SELECT a->>'b' FROM \"P\"") == "1")
    var unique = indexed
    unique.entities[0].uniqueKeys.append(["a"])
    #expect(
      try server.migration(to: unique).faults.first?.contains("does not compare JSON") == true
    )
    let error = #expect(throws: StoreError.self) { try server.migrate(to: unique) }
    #expect(error?.code == .modelConflict)
    #expect(throws: StoreError.self) { try store.grow(to: unique) }
    #expect(try server.model() == indexed)
  }

  @Test("Names that differ in their bytes only are two, as they are in a file")
  func normalForms() throws {
    let names = ["\u{E9}", "e\u{301}"]
    _ = try psql(
      "INSERT INTO \"P\" (_pk, _v, id, a) VALUES (1, 1, 10, '\(names[1])'), (2, 1, 20, '\(names[0])')"
    )
    var unique = Self.old
    unique.entities[0].uniqueKeys.append(["a"])
    unique.entities[0].attributes[1].renamedFrom = "a"
    unique.entities[0].attributes[1].name = names[1]
    unique.entities[0].attributes[1].column = names[1]
    unique.entities[0].uniqueKeys[1] = [names[1]]
    try server.migrate(to: unique)
    #expect(
      try psql("SELECT \"\(names[1])\" FROM \"P\" ORDER BY _pk") == "\(names[1])\n\(names[0])"
    )
  }

  @Test("A store of another schema of the search path is left alone")
  func otherSchema() throws {
    let both = test.url(schema: "\(schema)%2Cpublic")
    let other = try test.schema()
    let store = try PostgreSQLServer(other).store()
    try store.grow(to: Self.old)
    store.end()
    let path = both.replacing("public", with: TestServer.schema(of: other))
    try PostgreSQLServer(path).migrate(to: Self.new)
    #expect(try server.model() == Self.new)
    #expect(try PostgreSQLServer(other).model() == Self.old)
  }

  @Test("A schema without a store gets the model, and a dry run leaves not even tables")
  func empty() throws {
    let fresh = PostgreSQLServer(try test.schema())
    #expect(try fresh.migration(to: Self.new).steps.count == 1)
    #expect(try fresh.model().entities.isEmpty)
    try fresh.migrate(to: Self.new)
    #expect(try fresh.model() == Self.new)
  }

  @Test("Beside a reader that does not end, a writer and an import in batches it is busy")
  func busy() throws {
    let store = try server.store()
    defer { store.end() }
    try store.moment { _ in
      let error = #expect(throws: StoreError.self) { try server.migrate(to: Self.new) }
      #expect(error?.code == .busy)
    }
    try store.write { session in
      try session.begin()
      let error = #expect(throws: StoreError.self) { try server.migrate(to: Self.new) }
      #expect(error?.code == .busy)
    }
    // An import that shares the database lets go of its lock between two batches.
    let connection = try store.connect()
    let run = ServerRun()
    try connection.run("CREATE TABLE \(run.name) (id integer)")
    _ = try run.begin(on: connection)
    let error = #expect(throws: StoreError.self) { try server.migrate(to: Self.new) }
    #expect(error?.code == .busy && error?.message.contains("in batches") == true)
    run.end(on: connection)
    connection.close()
    // One that was stopped does not stand in the way, as in a file.
    try server.migrate(to: Self.new)
    #expect(try server.model() == Self.new)
  }

  @Test("Who reads while the model changes sees one of the two, whole")
  func readers() async throws {
    _ = try psql("INSERT INTO \"P\" (_pk, _v, id, a, b) VALUES (1, 1, 10, '1.5', true)")
    let isOver = Flag()
    async let readers = withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<3 {
        group.addTask { [server] in
          var count = 0
          repeat {
            let copy = try server.copy()
            let type = copy.model.entities[0].attributes[0].type
            let row = try copy.read {
              try String.fetchAll($0, sql: "SELECT typeof(id) || a || b FROM P")
            }
            #expect(row == [type == .string ? "text1.51" : "integer1.51"])
            try copy.close()
            count += 1
          } while !isOver.value
          return count
        }
      }
      return try await group.reduce(0, +)
    }
    for number in 0..<10 { try server.migrate(to: number % 2 == 0 ? Self.new : Self.old) }
    isOver.value = true
    #expect(try await readers >= 3)
  }

  private final class Flag: @unchecked Sendable {
    // One thread writes; that others see it late does no harm.
    var value = false
  }
}
