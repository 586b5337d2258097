import Foundation
import GRDB

/// A migration tried on a copy of the tables without their rows.
///
/// It tells what is in the way of what others have made in a file, their columns, indexes, triggers and views, before
/// anything is done: SQLite itself goes through all that refers to a table.
struct MigrationTrial {
  let plan: MigrationPlan

  /// Something in `sqlite_master`.
  private struct Thing: Equatable {
    let type: String
    let name: String
    let sql: String

    /// `DROP VIEW …`, `DROP TRIGGER …`.
    var removal: String { "DROP \(type) IF EXISTS \(Schema.quoted(name))" }
  }

  /// What is in the way, a sentence each; nothing where there is nothing of others in the file.
  ///
  /// Reads `sqlite_master`; the steps run in memory.
  ///
  /// - Parameter database: The file.
  /// - Returns: The faults.
  /// - Throws: `StoreError`, GRDB's errors, where the file cannot be read.
  func faults(in database: Database) throws -> [String] {
    let things = try things(in: database)
    guard try hasStrangers(things, database) else { return [] }
    let others = things.filter { ["view", "trigger"].contains($0.type) }
    return try Self.emptyCopy(of: things).writeWithoutTransaction { copy in
      // What is broken before is not our business, unless SQLite refuses to rename anything for it.
      let broken = try Self.removeBroken(others, copy).map(\.thing)
      for thing in broken { try Self.make(thing, in: copy) }
      do {
        try ConversionFunction.with(plan.conversions, on: copy) {
          try MigrationRun(database: copy, plan: plan, beforeStatement: {}).run()
        }
      } catch let error as DatabaseError {
        guard let thing = Self.culprit(error, others) else {
          return [StoreError(error, path: nil).message]
        }
        let wasBroken = broken.contains { $0 == thing }
        return [Self.fault(thing, error, wasBroken ? "" : " with the new model")]
      } catch let error as StoreError {
        return [error.message]
      }
      for thing in broken { try copy.execute(sql: thing.removal) }
      return try Self.removeBroken(others, copy).map {
        Self.fault($0.thing, $0.error, " with the new model")
      }
    }
  }

  /// The tables with what belongs to them, in an order in which they can be made.
  private func things(in database: Database) throws -> [Thing] {
    let place = "sqlite_master"
    return try Row.fetchAll(
      database,
      sql: """
        SELECT type, name, sql FROM sqlite_master WHERE sql NOT NULL AND name NOT GLOB 'sqlite_*'
        ORDER BY instr('table index view trigger', type), rowid
        """
    ).map { row in
      Thing(
        type: try row.stored("type", of: place),
        name: try row.stored("name", of: place),
        sql: try row.stored("sql", of: place)
      )
    }
  }

  /// Whether the file has anything that Dragoman did not make.
  private func hasStrangers(_ things: [Thing], _ database: Database) throws -> Bool {
    let schema = plan.oldSchema
    let tables = Dictionary(schema.tables.map { (NameKey($0.name), $0) }) { first, _ in first }
    let indexes = Dictionary(
      (schema.indexes + schema.needlessIndexes).map { (NameKey($0.name), $0) }
    ) { first, _ in first }
    for thing in things where !thing.name.hasPrefix("_dragoman_") {
      switch thing.type {
      case "table":
        guard let table = tables[NameKey(thing.name)] else { return true }
        let count = try Int.fetchOne(
          database,
          sql: "SELECT count(*) FROM pragma_table_xinfo(?)",
          arguments: [thing.name]
        )
        if count != table.columns.count { return true }
      case "index":
        guard try indexes[NameKey(thing.name)]?.removal(in: database) != nil else { return true }
      default: return true
      }
    }
    return false
  }

  /// A database in memory with the same tables, and nothing in them.
  private static func emptyCopy(of things: [Thing]) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA trusted_schema=OFF")
      try FetchFunctions.register(on: database)
    }
    let copy = try DatabaseQueue(configuration: configuration)
    try copy.writeWithoutTransaction { database in
      for thing in things {
        do {
          try make(thing, in: database)
        } catch is DatabaseError {
          // A virtual table of a module that is not here, its own tables, a collation of somebody's: what refers to
          // it is broken here, and left out for that.
        }
      }
    }
    return copy
  }

  /// Makes a thing as the file says.
  ///
  /// The text is the file's, and may be anybody's: SQLite reads one statement of it when it opens the file, and never what
  /// stands behind that. GRDB refuses a second one.
  private static func make(_ thing: Thing, in database: Database) throws {
    try database.makeStatement(sql: thing.sql).execute()
  }

  /// Drops the views and triggers that do not work.
  ///
  /// A column that is renamed lets SQLite look at all of them (https://www.sqlite.org/lang_altertable.html).
  ///
  /// - Returns: What was dropped, and what SQLite says of it.
  private static func removeBroken(
    _ things: [Thing],
    _ database: Database
  ) throws -> [(thing: Thing, error: DatabaseError)] {
    var found: [(thing: Thing, error: DatabaseError)] = []
    try database.execute(sql: "CREATE TABLE _dragoman_trial (a)")
    while found.count < things.count {
      do {
        try database.execute(
          sql:
            "ALTER TABLE _dragoman_trial RENAME a TO b; ALTER TABLE _dragoman_trial RENAME b TO a"
        )
        break
      } catch let error as DatabaseError {
        guard let thing = culprit(error, things) else { break }
        found.append((thing, error))
        try database.execute(sql: thing.removal)
      }
    }
    try database.execute(sql: "DROP TABLE _dragoman_trial")
    return found
  }

  /// The view or trigger that SQLite speaks of: `error in view v: no such column: b`.
  private static func culprit(_ error: DatabaseError, _ things: [Thing]) -> Thing? {
    guard let message = error.message else { return nil }
    return things.first { thing in
      let start = "error in \(thing.type) \(thing.name)"
      return message.hasPrefix(start + ": ") || message.hasPrefix(start + " after ")
    }
  }

  private static func fault(_ thing: Thing, _ error: DatabaseError, _ circumstance: String)
    -> String
  {
    let message = error.message ?? ""
    let reason = message.dropFirst("error in \(thing.type) \(thing.name)".count)
    let cause = reason.range(of: ": ").map { reason[$0.upperBound...] } ?? reason
    return
      "The \(thing.type) \(thing.name), which Dragoman did not make, does not work\(circumstance): \(cause)."
      + " Drop it first, and make it again afterwards."
  }
}
