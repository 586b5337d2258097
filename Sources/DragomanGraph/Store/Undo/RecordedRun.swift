import Foundation
import GRDB

/// What the file keeps of an import so that it can be taken back: the table `_dragoman_undo`.
///
/// Part 0 is this value as JSON; the parts behind it are changesets, packed, in the order in which they came about; those
/// below 0 are versions (`RowVersions`).
/// Of a table that was empty before no row is kept: what the import made goes by its keys.
struct RecordedRun: Codable {
  /// A table whose changes are recorded, with its columns as they were.
  struct Table: Codable {
    let name: String
    let columns: [String]
  }

  /// A table of objects that was empty before.
  struct NewTable: Codable {
    let name: String
    /// The least and the greatest key that the import gave; other writers' rows have none between.
    let first: Int64
    let last: Int64
    /// The parts that have the versions which are not 1; nil in older files.
    var versionParts: [Int64]?
    /// The same by keys, in older files.
    var versions: [Int64: Int64]?
  }

  /// The links of a table that was empty before, of owners that were new, too, and whose versions tell whether
  /// somebody has changed them since.
  struct NewLinks: Codable {
    let name: String
    let owners: String
  }

  var tables: [Table]
  var newTables: [NewTable] = []
  var newLinks: [NewLinks] = []
  /// How many rows the changesets have.
  var rowCount = 0
  /// Who records it.
  var mark: RunMark?

  /// Whether nothing was changed.
  var isEmpty: Bool { rowCount == 0 && newTables.isEmpty && newLinks.isEmpty }

  static let table = "_dragoman_undo"
  /// How many imports are kept that are not taken back.
  static let keptCount = 10
  /// How many runs are kept with those that are taken back, and what took them back.
  static let maximumCount = 40

  /// Makes the table.
  static func makeTable(in database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE IF NOT EXISTS main.\(table)
          (run INTEGER, part INTEGER, changes BLOB, PRIMARY KEY (run, part)) WITHOUT ROWID
        """
    )
  }

  /// Adds a part.
  static func add(_ bytes: [UInt8], to run: Int64, in database: Database) throws {
    try database.execute(
      sql: """
        INSERT INTO main.\(table) (run, part, changes) VALUES (?1,
          (SELECT coalesce(max(part), 0) + 1 FROM main.\(table) WHERE run = ?1), ?2)
        """,
      arguments: [run, Data(bytes)]
    )
  }

  /// Adds a part of a number that there is not yet.
  static func add(_ bytes: [UInt8], as part: Int64, to run: Int64, in database: Database) throws {
    try database.execute(
      sql: "INSERT INTO main.\(table) (run, part, changes) VALUES (?, ?, ?)",
      arguments: [run, part, Data(bytes)]
    )
  }

  /// The bytes of a part; nil where there is none.
  static func part(_ part: Int64, of run: Int64, in database: Database) throws -> [UInt8]? {
    let row = try Row.fetchOne(
      database,
      sql: "SELECT changes FROM main.\(table) WHERE run = ? AND part = ?",
      arguments: [run, part]
    )
    return try row.map { Array(try $0.stored(0, of: table, as: Data.self)) }
  }

  /// Writes part 0, in place of what it was.
  func save(as run: Int64, in database: Database) throws {
    try database.execute(
      sql: "INSERT OR REPLACE INTO main.\(Self.table) (run, part, changes) VALUES (?, 0, ?)",
      arguments: [run, try JSONEncoder().encode(self)]
    )
  }

  /// Reads part 0; nil where the run is not recorded.
  static func load(_ run: Int64, from database: Database) throws -> RecordedRun? {
    guard try database.hasTable(table) else { return nil }
    let row = try Row.fetchOne(
      database,
      sql: "SELECT changes FROM main.\(table) WHERE run = ? AND part = 0",
      arguments: [run]
    )
    guard let row else { return nil }
    let bytes: Data = try row.stored(0, of: table)
    guard let recorded = try? JSONDecoder().decode(RecordedRun.self, from: bytes) else {
      throw damaged(run)
    }
    return recorded
  }

  /// Lends the changesets, the last one first.
  static func forEachChangeset(
    of run: Int64,
    in database: Database,
    _ body: (Changeset) throws -> Void
  ) throws {
    let parts = try Row.fetchAll(
      database,
      sql: "SELECT part FROM main.\(table) WHERE run = ? AND part > 0 ORDER BY part DESC",
      arguments: [run]
    ).map { try $0.stored(0, of: table, as: Int64.self) }
    for part in parts {
      let bytes = try self.part(part, of: run, in: database).flatMap(PackedBytes.unpack)
      guard let bytes else { throw damaged(run) }
      try body(Changeset(bytes))
    }
  }

  /// The runs that are recorded, the last one first, those included that changed nothing.
  static func all(in database: Database) throws -> [Int64] {
    guard try database.hasTable(table) else { return [] }
    return try Row.fetchAll(
      database,
      sql: "SELECT run FROM main.\(table) WHERE part = 0 ORDER BY run DESC"
    ).map { try $0.stored(0, of: table) }
  }

  /// Gives the parts of a run another number.
  static func renumber(_ run: Int64, as other: Int64, in database: Database) throws {
    try database.execute(
      sql: "UPDATE main.\(table) SET run = ? WHERE run = ?",
      arguments: [other, run]
    )
  }

  /// Forgets a run.
  static func drop(_ run: Int64, from database: Database) throws {
    guard try database.hasTable(table) else { return }
    try database.execute(sql: "DELETE FROM main.\(table) WHERE run = ?", arguments: [run])
  }

  /// Forgets all runs.
  static func dropAll(from database: Database) throws {
    guard try database.hasTable(table) else { return }
    try database.execute(sql: "DELETE FROM main.\(table)")
  }

  /// Forgets all runs but the last ones that changed something.
  static func dropOld(from database: Database) throws {
    guard try database.hasTable(table) else { return }
    let runs = try Row.fetchAll(
      database,
      sql: """
        SELECT run, status <> 'undone' AND map_hash <> '' FROM main.\(table)
        LEFT JOIN main._dragoman_imports ON id = run WHERE part = 0 ORDER BY run DESC
        """
    )
    var (standing, effective) = (0, 0)
    for row in runs {
      let run: Int64 = try row.stored(0, of: table)
      if standing == keptCount || effective == maximumCount {
        try drop(run, from: database)
      } else if try load(run, from: database)?.isEmpty == false {
        effective += 1
        if try row.stored(1, of: table, as: Int?.self) == 1 { standing += 1 }
      }
    }
  }

  static func damaged(_ run: Int64) -> StoreError {
    StoreError(
      .damaged,
      "What \(table) keeps of import \(run) cannot be read.",
      help:
        "restore a backup; without the import's rows in \(table) it cannot be taken back, and all else works"
    )
  }
}
