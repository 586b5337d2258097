import Foundation

/// What the store keeps of an import so that it can be taken back: the table `_dragoman_undo`.
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
  /// The greatest number of a reference that waited at the end, where there are new tables; nil in older files.
  ///
  /// Those behind it are others'.
  var lastWaiting: Int64?
  /// What the rows that were there got when the model was changed since; nil: nothing.
  var additions: [RowAddition]?
  /// How many rows the changesets have.
  var rowCount = 0
  /// Who records it.
  var mark: RunMark?

  /// Whether nothing was changed.
  var isEmpty: Bool { rowCount == 0 && newTables.isEmpty && newLinks.isEmpty }

  static let table = "_dragoman_undo"
  static let columns = ["run", "part", "changes"]
  /// How many imports are kept that are not taken back.
  static let keptCount = 10
  /// How many runs are kept with those that are taken back, and what took them back.
  static let maximumCount = 40

  /// Makes the table.
  ///
  /// On a server it is to be made while nobody else writes.
  static func makeTable(_ sql: any SharedSQL) throws(StoreError) {
    try sql.run(
      "CREATE TABLE IF NOT EXISTS \(table)"
        + " (run BIGINT, part BIGINT, changes \(sql.bytesType), PRIMARY KEY (run, part))"
        + sql.keyedTable
    )
  }

  /// Adds a part.
  static func add(_ bytes: [UInt8], to run: Int64, _ sql: any SharedSQL) throws(StoreError) {
    let last = try sql.integers(
      "coalesce(max(part), 0)",
      "FROM \(table) WHERE run = ?1",
      [.integer(run)]
    ).first
    try add(bytes, as: (last ?? 0) + 1, to: run, sql)
  }

  /// Adds a part of a number that there is not yet.
  static func add(
    _ bytes: [UInt8],
    as part: Int64,
    to run: Int64,
    _ sql: any SharedSQL
  ) throws(StoreError) {
    try sql.run(
      "INSERT INTO \(table) (run, part, changes) VALUES (?1, ?2, ?3)",
      [.integer(run), .integer(part), .blob(bytes)]
    )
  }

  /// The bytes of a part; nil where there is none.
  static func part(
    _ part: Int64,
    of run: Int64,
    _ sql: any SharedSQL
  ) throws(StoreError) -> [UInt8]? {
    guard let value = try value(of: part, of: run, sql) else { return nil }
    guard case .blob(let bytes) = value else { throw damaged(run) }
    return bytes
  }

  /// What stands in the place of a part; nil: there is none.
  private static func value(
    of part: Int64,
    of run: Int64,
    _ sql: any SharedSQL
  ) throws(StoreError) -> StoredValue? {
    try sql.values(
      ["changes"],
      "FROM \(table) WHERE run = ?1 AND part = ?2",
      [.integer(run), .integer(part)]
    ).first?[0]
  }

  /// The numbers of the changesets, the last one first.
  static func parts(of run: Int64, _ sql: any SharedSQL) throws(StoreError) -> [Int64] {
    try sql.integers(
      "part",
      "FROM \(table) WHERE run = ?1 AND part > 0 ORDER BY part DESC",
      [.integer(run)]
    )
  }

  /// Writes part 0, in place of what it was.
  func save(as run: Int64, _ sql: any SharedSQL) throws {
    try sql.run(
      "INSERT INTO \(Self.table) (run, part, changes) VALUES (?1, 0, ?2)"
        + " ON CONFLICT (run, part) DO UPDATE SET changes = excluded.changes",
      [.integer(run), .blob(Array(try JSONEncoder().encode(self)))]
    )
  }

  /// Reads part 0, for what takes the run back; nil where the run is not recorded.
  ///
  /// - Throws: `StoreError`, `.damaged` where it cannot be read.
  static func load(_ run: Int64, _ sql: any SharedSQL) throws(StoreError) -> RecordedRun? {
    guard try sql.hasTable(table), let value = try value(of: 0, of: run, sql) else { return nil }
    guard let recorded = decoded(value) else { throw damaged(run) }
    return recorded
  }

  /// Reads part 0, for everything else; nil also where it cannot be read: that costs the run its undo, and nothing
  /// besides.
  static func readable(_ run: Int64, _ sql: any SharedSQL) throws(StoreError) -> RecordedRun? {
    guard try sql.hasTable(table) else { return nil }
    return try value(of: 0, of: run, sql).flatMap { decoded($0) }
  }

  /// Decodes part 0; nil: it is none.
  private static func decoded(_ value: StoredValue) -> RecordedRun? {
    guard case .blob(let bytes) = value else { return nil }
    return try? JSONDecoder().decode(RecordedRun.self, from: Data(bytes))
  }

  /// Reads a changeset.
  static func changeset(
    _ part: Int64,
    of run: Int64,
    _ sql: any SharedSQL
  ) throws(StoreError) -> Changeset {
    guard let bytes = try self.part(part, of: run, sql).flatMap(PackedBytes.unpack) else {
      throw damaged(run)
    }
    return Changeset(bytes)
  }

  /// Lends the changesets, the last one first.
  static func forEachChangeset(
    of run: Int64,
    _ sql: any SharedSQL,
    _ body: (Changeset) throws -> Void
  ) throws {
    for part in try parts(of: run, sql) { try body(changeset(part, of: run, sql)) }
  }

  /// The tables that the changesets have rows of.
  static func changedTables(of run: Int64, _ sql: any SharedSQL) throws -> Set<NameKey> {
    var tables: Set<NameKey> = []
    try forEachChangeset(of: run, sql) { changes in
      try changes.withRows { row in tables.insert(NameKey(row.table)) }
    }
    return tables
  }

  /// The runs that are recorded, the last one first, those included that changed nothing.
  static func all(_ sql: any SharedSQL) throws(StoreError) -> [Int64] {
    guard try sql.hasTable(table) else { return [] }
    return try sql.integers("run", "FROM \(table) WHERE part = 0 ORDER BY run DESC")
  }

  /// Gives the parts of a run another number.
  static func renumber(
    _ run: Int64,
    as other: Int64,
    _ sql: any SharedSQL
  ) throws(StoreError) {
    try sql.run(
      "UPDATE \(table) SET run = ?1 WHERE run = ?2",
      [.integer(other), .integer(run)]
    )
  }

  /// Forgets a run.
  static func drop(_ run: Int64, _ sql: any SharedSQL) throws(StoreError) {
    guard try sql.hasTable(table) else { return }
    try sql.run("DELETE FROM \(table) WHERE run = ?1", [.integer(run)])
  }

  /// Forgets all runs.
  static func dropAll(_ sql: any SharedSQL) throws(StoreError) {
    guard try sql.hasTable(table) else { return }
    try sql.run("DELETE FROM \(table)")
  }

  /// Forgets all runs but the last ones that changed something.
  static func dropOld(_ sql: any SharedSQL) throws(StoreError) {
    guard try sql.hasTable(table) else { return }
    let runs = try sql.values(
      ["run", "CASE WHEN status <> 'undone' AND map_hash <> '' THEN 1 ELSE 0 END"],
      "FROM \(table) LEFT JOIN _dragoman_imports ON id = run WHERE part = 0 ORDER BY run DESC",
      []
    )
    var (standing, effective) = (0, 0)
    for row in runs {
      guard let run = row[0].integer else { continue }
      if standing == keptCount || effective == maximumCount {
        try drop(run, sql)
      } else if try readable(run, sql)?.isEmpty == false {
        effective += 1
        if row[1] == .integer(1) { standing += 1 }
      }
    }
  }

  static func damaged(_ run: Int64) -> StoreError {
    StoreError(
      .damaged,
      "What \(table) keeps of import \(run) cannot be read.",
      help:
        "import \(run) cannot be taken back, unless the version of Dragoman that wrote it does; all else works"
    )
  }
}

extension SharedSQL {
  /// Who recorded an import; nil where nothing that can be read is recorded of it.
  func recordedMark(of run: Int64) throws -> RunMark? { try RecordedRun.readable(run, self)?.mark }
}
