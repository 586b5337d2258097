import DragomanPostgreSQL
import Foundation
import TestServer
import Testing

@testable import DragomanGraph

/// A file, and a server that holds the same: what a migration makes of one it must make of the other.
struct ServerTwin {
  let file: SQLiteStore
  let server: PostgreSQLServer
  let schema: String
  private let test: TestServer

  /// Copies a file, which is moved into one of its own first, to a schema of its own.
  init(_ source: SQLiteStore) throws {
    test = try #require(TestServer.shared)
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "twin.db").path
    _ = try source.backup(to: path)
    let url = try test.schema()
    schema = TestServer.schema(of: url)
    server = PostgreSQLServer(url)
    _ = try CopyPlace.file(path).copy(to: .server(server))
    file = source
  }

  /// What both hold: the model, all tables with the columns of the model, what waits, the next keys.
  func expectEqual(_ place: Comment) throws {
    let copy = try server.copy()
    defer { try? copy.close() }
    #expect(copy.model == file.model, place)
    #expect(try Self.rows(of: copy) == Self.rows(of: file), place)
    let keys = "SELECT \"table\", next FROM"
    let known = try test.psql("\(keys) \(schema)._dragoman_keys ORDER BY \"table\" COLLATE \"C\"")
    #expect(
      known == (try file.texts("\(keys) _dragoman_keys ORDER BY 1")).joined(separator: "\n"),
      place
    )
  }

  private static func rows(of store: SQLiteStore) throws -> [String] {
    var rows = try store.texts(
      "SELECT owner, relationship, entity, key FROM _dragoman_pending ORDER BY id"
    )
    for table in Schema(store.layout).tables {
      let columns = table.columns.map { Schema.quoted($0.name) }
      let types = columns.map { "typeof(\($0))" }
      rows += try store.texts(
        "SELECT \(Schema.literal(table.name)), \((columns + types).joined(separator: ", ")) FROM \(Schema.quoted(table.name))"
      ).sorted()
    }
    return rows
  }

  /// Whether tables, columns, constraints, indexes and comments are those of a schema that is made anew.
  func expectFreshShape(_ place: Comment) throws {
    let fresh = try test.schema()
    let store = try PostgreSQLServer(fresh).store()
    defer { store.end() }
    try store.grow(to: file.model)
    #expect(try shape == Self.shape(test, TestServer.schema(of: fresh)), place)
  }

  /// Everything that the catalogs of the server say of the tables.
  var shape: [String] { get throws { try Self.shape(test, schema) } }

  private static func shape(_ test: TestServer, _ schema: String) throws -> [String] {
    // The index of a primary key has the name that its table had first.
    let text = try test.psql(
      """
      SELECT 'column', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), l.collname,
        col_description(c.oid, a.attnum)
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid LEFT JOIN pg_collation l ON l.oid = a.attcollation
      WHERE c.relnamespace = '\(schema)'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
      UNION ALL
      SELECT 'constraint', c.relname, CASE WHEN o.contype IN ('p', 'n') THEN '' ELSE o.conname END,
        replace(pg_get_constraintdef(o.oid), '\(schema).', ''), NULL, NULL
      FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid WHERE o.connamespace = '\(schema)'::regnamespace
      UNION ALL
      SELECT 'index', c.relname, i.relname, replace(pg_get_indexdef(i.oid), '\(schema).', ''), NULL, NULL
      FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
      WHERE i.relnamespace = '\(schema)'::regnamespace AND NOT x.indisprimary
      """
    )
    return text.split(separator: "\n").map(String.init).sorted()
  }
}
