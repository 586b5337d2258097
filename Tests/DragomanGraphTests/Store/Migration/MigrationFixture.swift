import Foundation
import GRDB
import Testing

@testable import DragomanGraph

/// A change of a model with rows: what the tables hold before and after.
struct MigrationCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let old: Model
  let new: Model
  /// Statements that fill the old tables.
  let rows: [String]
  /// Queries of the new tables, with their rows.
  var after: [String: [String]] = [:]
  var steps: [String] = []
  var faults: [String] = []
  var drops = false

  init(
    _ name: String,
    _ old: [Entity],
    _ rows: [String],
    to new: [Entity],
    drops: Bool = false,
    steps: [String] = [],
    after: [String: [String]] = [:],
    faults: [String] = []
  ) {
    testDescription = name
    self.old = Model(entities: old)
    self.new = Model(entities: new)
    self.rows = rows
    self.steps = steps
    self.after = after
    self.faults = faults
    self.drops = drops
  }

  /// A store in memory, with the old model and the rows.
  func store() throws -> SQLiteStore {
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: old)
    try store.execute(rows)
    return store
  }
}

extension SQLiteStore {
  /// Runs statements in one transaction.
  func execute(_ statements: [String]) throws {
    try write { session in
      try session.begin()
      for statement in statements { try session.database.execute(sql: statement) }
      try session.commit()
    }
  }

  /// The rows of a query: their values joined by `|`, null as `-`.
  func texts(_ query: String) throws -> [String] {
    try read { database in
      try Row.fetchAll(database, sql: query).map { row in
        row.databaseValues.map { value in
          switch value.storage {
          case .null: "-"
          case .int64(let integer): "\(integer)"
          case .double(let real): "\(real)"
          case .string(let text): text
          case .blob(let data): "x" + data.map { String($0, radix: 16) }.joined()
          }
        }.joined(separator: "|")
      }
    }
  }

  /// Tables, columns and indexes as SQLite sees them, in no order of making.
  func shape() throws -> [String] {
    try texts(
      """
      SELECT m.name, c.name, c.type, c.pk,
        (SELECT f."table" FROM pragma_foreign_key_list(m.name) f WHERE f."from" = c.name) AS parent
      FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'
      UNION ALL
      SELECT m.tbl_name, m.name, m.sql, 0, 0 FROM sqlite_master m
      WHERE m.type = 'index' AND m.sql NOT NULL ORDER BY 1, 2
      """
    )
  }

  /// Everything in the file, for a comparison of before and after.
  func dump() throws -> [String] {
    let tables = try texts("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return try texts("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2")
      + tables.flatMap { table in
        try texts("SELECT '\(table)', * FROM \(Schema.quoted(table))").sorted()
      }
  }
}
