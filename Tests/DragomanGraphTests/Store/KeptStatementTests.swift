import GRDB
import Testing

@testable import DragomanGraph

/// A connection keeps some statements, not all that it was ever asked for.
@Suite("Kept statements") struct KeptStatementTests {
  private let layout: ModelLayout
  private let store: SQLiteStore

  init() throws {
    let attributes = (0..<12).map { Attribute(name: "a\($0)", type: .int64) }
    store = try SQLiteStore(at: .inMemory)
    try store.grow(to: Model(entities: [Entity(name: "Thing", attributes: attributes)]))
    layout = store.layout
    _ = try store.onWriter {
      try $0.execute(sql: "INSERT INTO Thing (_pk, _v, a0, a1, a2) VALUES (1, 1, 10, 11, 12)")
    }
  }

  @Test("Whatever columns are asked for, the connection keeps no more than its measure")
  func shapes() throws {
    try store.read { database in
      let snapshot = StoreSnapshot(database, layout)
      var most = 0
      for shape in 1..<2048 {
        let columns = (0..<12).filter { shape & 1 << $0 != 0 }.map { "a\($0)" }
        try snapshot.rows(at: [1], of: 0, reading: columns) { row in
          if columns.first == "a0" { #expect(row.integer(1) == 10) }
        }
        most = max(most, database.keptStatements)
      }
      #expect(most <= Database.keptStatementCount + 1)
      #expect(most > Database.keptStatementCount / 2)
    }
  }

  @Test("What is asked for again is the same statement, also beside many others that are held")
  func again() throws {
    try store.read { database in
      let others = try (0..<2 * Database.keptStatementCount).map {
        try RawStatement("SELECT \($0)", in: database)
      }
      let first = try RawStatement(kept: "SELECT 'a'", in: database)
      try first.run()
      for number in 0..<10 { try RawStatement(kept: "SELECT -\(number)", in: database).run() }
      #expect(try RawStatement(kept: "SELECT 'a'", in: database).handle == first.handle)
      for other in others { try other.run() }
    }
  }

  @Test("Who steps through one goes on when all are forgotten")
  func inUse() throws {
    try store.read { database in
      let statement = try RawStatement(
        kept:
          "WITH n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 999) SELECT i FROM n",
        in: database
      )
      var sum: Int64 = 0
      try statement.forEachRow { row in
        sum += row.integer(0)
        try RawStatement(kept: "SELECT \(row.integer(0))", in: database).run()
      }
      #expect(sum == 499_500)
    }
  }
}
