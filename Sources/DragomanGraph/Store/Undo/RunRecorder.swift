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
  /// The number of a run that the ledger does not have yet; its transaction is open.
  private static let provisionalNumber: Int64 = -1

  private let database: Database
  private let path: String?
  /// How many changed rows are recorded at most; nil: all.
  private let limit: Int?
  private let mark = RunMark()
  private var recorded: RecordedRun
  private var recording: ChangesetRecording?
  private let newTables: [String]
  private let newLinks: [RecordedRun.NewLinks]
  private var number: Int64?
  private var hasParts = false
  /// Why the run is not recorded after all; nil: it is.
  package private(set) var ending: String?

  /// Begins to record, in an open transaction, after `grow(to:)`.
  ///
  /// Runs `SELECT EXISTS` and `PRAGMA table_info` a table.
  ///
  /// - Parameters:
  ///   - layout: The tables.
  ///   - database: The connection.
  ///   - path: The file, for messages.
  ///   - isWhole: Whether the transaction holds everything that is recorded.
  ///   - earlier: The number and the record of the part that is gone on with.
  ///   - limit: How many changed rows are recorded at most; nil: all.
  /// - Throws: What SQLite refuses.
  init(
    _ layout: ModelLayout,
    in database: Database,
    path: String?,
    isWhole: Bool,
    behind earlier: (number: Int64, recorded: RecordedRun)? = nil,
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
      return RecordedRun.NewLinks(name: table.name, owners: owners)
    }
    let new = Set(newTables + newLinks.map(\.name))
    var noted = tables.map(\.name).filter { !new.contains($0) }
    // References of new objects that wait go with them.
    if !noted.isEmpty { noted.append(PendingReference.table) }
    recorded = RecordedRun(
      tables: try noted.map { .init(name: $0, columns: try database.columnNames(of: $0)) }
    )
    number = earlier?.number
    hasParts = earlier != nil
    recorded.rowCount = earlier?.recorded.rowCount ?? 0
    recorded.mark = mark
    try begin()
  }

  deinit { mark.end() }

  private func begin() throws {
    recording = nil
    if recorded.tables.isEmpty { return }
    recording = try ChangesetRecording(of: recorded.tables.map(\.name), in: database)
  }

  /// Writes the notes into the file where there are as many as memory should hold.
  ///
  /// - Throws: `StoreError`.
  package func keepIfFull() throws(StoreError) {
    guard let recording, recording.byteCount > Self.portionByteCount else { return }
    try keep()
  }

  /// Writes the notes so far into the file.
  ///
  /// Needs the open transaction. Runs `INSERT INTO _dragoman_undo`.
  ///
  /// - Parameter run: The import's number in the ledger.
  /// - Throws: `StoreError`.
  package func keep(as run: Int64) throws(StoreError) {
    guard ending == nil else { return }
    if number == nil {
      number = run
      if hasParts {
        try StoreError.naming(path) {
          try RecordedRun.renumber(Self.provisionalNumber, as: run, in: database)
        }
      }
    }
    try keep()
  }

  private func keep() throws(StoreError) {
    guard ending == nil else { return }
    try StoreError.naming(path) {
      if let recording {
        let changes: Changeset
        do {
          changes = try recording.changeset()
        } catch {
          return try giveUp("SQLite could not note what it changed: \(error)")
        }
        try changes.withRows { _ in recorded.rowCount += 1 }
        if let limit, recorded.rowCount > limit {
          return try giveUp("more than \(limit) rows changed")
        }
        try store()
        if changes.isEmpty { return }
        try RecordedRun.add(
          PackedBytes.pack(changes.bytes),
          to: number ?? Self.provisionalNumber,
          in: database
        )
        try begin()
      } else {
        try store()
      }
    }
  }

  /// What cannot be recorded is done all the same.
  private func giveUp(_ reason: String) throws {
    ending = reason
    recording = nil
    if hasParts { try RecordedRun.drop(number ?? Self.provisionalNumber, from: database) }
  }

  /// Writes the rest, and forgets the oldest runs.
  ///
  /// - Parameter run: The import's number in the ledger.
  /// - Throws: `StoreError`.
  package func finish(as run: Int64) throws(StoreError) {
    try keep(as: run)
    recording = nil
    guard ending == nil else { return }
    try StoreError.naming(path) {
      var lastPart: Int64 = 0
      recorded.newTables = try newTables.compactMap { try newTable($0, as: run, &lastPart) }
      recorded.newLinks = newLinks.filter { recorded.newTable($0.owners) != nil }
      recorded.mark = nil
      try store()
      try RecordedRun.dropOld(from: database)
    }
  }

  /// Ends without a word; nothing of it may outlive the connection.
  package func stop() {
    recording = nil
    mark.end()
  }

  private func store() throws {
    if !hasParts { try RecordedRun.makeTable(in: database) }
    hasParts = true
    try recorded.save(as: number ?? Self.provisionalNumber, in: database)
  }

  /// What a table that was empty has now; nil: nothing.
  private func newTable(
    _ name: String,
    as run: Int64,
    _ part: inout Int64
  ) throws -> RecordedRun.NewTable? {
    let table = Schema.quoted(name)
    let ends = try Row.fetchOne(
      database,
      sql: "SELECT (SELECT min(_pk) FROM main.\(table)), (SELECT max(_pk) FROM main.\(table))"
    )
    guard let ends, let first = try ends.stored(0, of: name, as: Int64?.self) else { return nil }
    return RecordedRun.NewTable(
      name: name,
      first: first,
      last: try ends.stored(1, of: name),
      versionParts: try RowVersions.keep(of: name, as: run, behind: &part, in: database)
    )
  }
}

extension RecordedRun {
  /// The table of objects that was empty; nil where it still was at the end.
  func newTable(_ name: String) -> NewTable? { newTables.first { $0.name == name } }
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
