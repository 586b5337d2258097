import Foundation
import GRDB

/// Records what an import does to the store, so that it can be taken back.
///
/// SQLite's session extension notes changed rows; portions of the notes are written into the file in the
/// transactions of the changes that they speak of. Tables that are empty when one transaction begins that
/// holds the whole import need no notes: all that is in them afterwards is the import's.
package final class RunRecorder {
  /// How many bytes of notes are kept in memory.
  private static let portionByteCount = 4 << 20

  private let database: Database
  private let path: String?
  /// How many changed rows are recorded at most; nil: all.
  private let limit: Int?
  private var recorded: RecordedRun
  private var recording: ChangesetRecording?
  private let newTables: [String]
  private let newLinks: [(table: String, owners: String)]
  private var isStored = false
  /// Whether more rows were changed than are recorded; nothing is kept then.
  package private(set) var isOver = false

  /// Begins to record, in an open transaction, after `grow(to:)`.
  ///
  /// Runs `SELECT EXISTS` and `PRAGMA table_info` a table.
  ///
  /// - Parameters:
  ///   - layout: The tables.
  ///   - database: The connection.
  ///   - path: The file, for messages.
  ///   - isWhole: Whether the transaction holds everything that is recorded.
  ///   - limit: How many changed rows are recorded at most; nil: all.
  /// - Throws: What SQLite refuses.
  init(
    _ layout: ModelLayout,
    in database: Database,
    path: String?,
    isWhole: Bool,
    limit: Int?
  ) throws {
    self.database = database
    self.path = path
    self.limit = limit
    let tables = Schema(layout).tables
    var empty: Set<String> = []
    if isWhole {
      for table in tables where try !database.hasRows(table.name) { empty.insert(table.name) }
    }
    newTables = tables.filter { $0.primaryKey.isEmpty && empty.contains($0.name) }.map(\.name)
    newLinks = tables.compactMap { table in
      guard !table.primaryKey.isEmpty, empty.contains(table.name),
        let owners = table.columns.first(where: { $0.name == "owner" })?.references,
        empty.contains(owners)
      else { return nil }
      return (table.name, owners)
    }
    let new = Set(newTables + newLinks.map(\.table))
    var noted = tables.map(\.name).filter { !new.contains($0) }
    // References of new objects that wait go with them.
    if !noted.isEmpty { noted.append(PendingReference.table) }
    recorded = RecordedRun(
      tables: try noted.map { .init(name: $0, columns: try database.columnNames(of: $0)) }
    )
    try begin()
  }

  private func begin() throws {
    recording = nil
    if recorded.tables.isEmpty { return }
    recording = try ChangesetRecording(of: recorded.tables.map(\.name), in: database)
  }

  /// Whether there are as many notes as are kept in memory.
  package var isFull: Bool { (recording?.byteCount ?? 0) > Self.portionByteCount }

  /// Writes the notes so far into the file.
  ///
  /// Needs the open transaction. Runs `INSERT INTO _dragoman_undo`.
  ///
  /// - Parameter run: The import's number in the ledger.
  /// - Throws: `StoreError`.
  package func keep(as run: Int64) throws(StoreError) {
    guard let recording else { return }
    try StoreError.naming(path) {
      let changes = try recording.changeset()
      guard !changes.isEmpty else { return }
      try changes.withRows { _ in recorded.rowCount += 1 }
      if let limit, recorded.rowCount > limit {
        isOver = true
        self.recording = nil
        return try RecordedRun.drop(run, from: database)
      }
      try store(as: run)
      try RecordedRun.add(changes.packed(), to: run, in: database)
      try begin()
    }
  }

  /// Writes the rest, and forgets the oldest runs.
  ///
  /// - Parameters:
  ///   - run: The import's number in the ledger.
  ///   - hasCounts: Whether it counts changes, which may have come to nothing.
  /// - Throws: `StoreError`.
  package func finish(as run: Int64, hasCounts: Bool) throws(StoreError) {
    try keep(as: run)
    recording = nil
    if isOver { return }
    try StoreError.naming(path) {
      recorded.newTables = try newTables.compactMap(newTable)
      recorded.newLinks = try newLinks.map { table, owners in
        RecordedRun.NewLinks(
          name: table,
          owners: owners,
          digest: try RecordedRun.digest(of: table, recorded.newTable(owners), in: database)
        )
      }
      if isStored || !recorded.newTables.isEmpty || hasCounts { try store(as: run) }
      try RecordedRun.dropOld(from: database)
    }
  }

  /// Ends without a word; nothing of it may outlive the connection.
  package func stop() { recording = nil }

  private func store(as run: Int64) throws {
    if !isStored { try RecordedRun.makeTable(in: database) }
    isStored = true
    try recorded.save(as: run, in: database)
  }

  /// What a table that was empty has now; nil: nothing.
  private func newTable(_ name: String) throws -> RecordedRun.NewTable? {
    let table = Schema.quoted(name)
    let ends = try Row.fetchOne(
      database,
      sql: "SELECT (SELECT min(_pk) FROM main.\(table)), (SELECT max(_pk) FROM main.\(table))"
    )
    guard let ends, let first = try ends.stored(0, of: name, as: Int64?.self) else { return nil }
    let rows = try Row.fetchAll(
      database,
      sql: "SELECT _pk, _v FROM main.\(table) WHERE _v IS NOT 1"
    )
    return RecordedRun.NewTable(
      name: name,
      first: first,
      last: try ends.stored(1, of: name),
      versions: try Dictionary(
        uniqueKeysWithValues: rows.map { (try $0.stored(0, of: name), try $0.stored(1, of: name)) }
      )
    )
  }
}

extension RecordedRun {
  /// The table of objects that was empty; nil where it still was at the end.
  func newTable(_ name: String) -> NewTable? { newTables.first { $0.name == name } }

  /// The number of links of these owners, and a sum over them.
  static func digest(
    of links: String,
    _ owners: NewTable?,
    in database: Database
  ) throws -> [Int64] {
    guard let owners else { return [0, 0] }
    let hasOrder = try database.columnNames(of: links).contains("position")
    let row = try Row.fetchOne(
      database,
      sql: """
        SELECT count(*), coalesce(sum((owner % 1000003 * 8191 + target % 1000003 * 31
          + \(hasOrder ? "position" : "0")) % 2147483647), 0)
        FROM main.\(Schema.quoted(links)) WHERE owner BETWEEN ? AND ?
        """,
      arguments: [owners.first, owners.last]
    )
    guard let row else { return [0, 0] }
    return [try row.stored(0, of: links), try row.stored(1, of: links)]
  }
}

extension Database {
  /// The columns of a table, in the order in which its rows have them.
  func columnNames(of table: String) throws -> [String] {
    try Row.fetchAll(self, sql: "PRAGMA main.table_info(\(Schema.quoted(table)))").map {
      try $0.stored("name", of: table)
    }
  }

  /// Whether a table has rows.
  func hasRows(_ table: String) throws -> Bool {
    try Bool.fetchOne(self, sql: "SELECT EXISTS (SELECT 1 FROM main.\(Schema.quoted(table)))")
      == true
  }
}
