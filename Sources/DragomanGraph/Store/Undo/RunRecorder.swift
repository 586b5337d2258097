import Foundation

/// Records what an import does to the store, so that it can be taken back.
///
/// Something notes changed rows (`ChangeNotes`); portions of the notes are written into the store in the
/// transactions of the changes that they speak of. Tables of a file that are empty when one transaction begins
/// that holds the whole import need no notes: all that is in them afterwards is the import's.
package final class RunRecorder {
  /// The number of a run that the ledger does not have yet; its transaction is open.
  private static let provisionalNumber: Int64 = -1

  /// The statements of the writer, whose connection may be another one in each transaction.
  private let sql: () -> any SharedSQL
  /// The file in messages.
  private let path: String?
  /// How many changed rows are recorded at most; nil: all.
  private let limit: Int?
  private let mark: RunMark?
  private var recorded: RecordedRun
  private var notes: (any ChangeNotes)?
  private let newTables: [String]
  private let newLinks: [RecordedRun.NewLinks]
  private var number: Int64?
  private var hasParts = false
  /// Why the run is not recorded after all; nil: it is.
  package private(set) var ending: String?

  /// Begins to record, in an open transaction, after `grow(to:)`.
  ///
  /// - Parameters:
  ///   - tables: The tables whose changes are noted, and those that need no notes.
  ///   - notes: What notes them; nil: there are none.
  ///   - mark: What says that the import runs, where others cannot see that otherwise.
  ///   - earlier: The number and the record of the part that is gone on with.
  ///   - limit: How many changed rows are recorded at most; nil: all.
  ///   - path: The file, for messages.
  ///   - sql: The statements of the writer.
  init(
    _ tables: RecordedTables,
    _ notes: (any ChangeNotes)?,
    as mark: RunMark?,
    behind earlier: (number: Int64, recorded: RecordedRun)?,
    limit: Int?,
    path: String?,
    _ sql: @escaping () -> any SharedSQL
  ) {
    self.sql = sql
    self.path = path
    self.notes = notes
    self.limit = limit
    self.mark = mark
    newTables = tables.newTables
    newLinks = tables.newLinks
    recorded = RecordedRun(tables: tables.noted)
    number = earlier?.number
    hasParts = earlier != nil
    recorded.rowCount = earlier?.recorded.rowCount ?? 0
    recorded.mark = mark
  }

  deinit { mark?.end() }

  /// Writes the notes into the store where there are as many as memory should hold.
  ///
  /// - Throws: `StoreError`.
  package func keepIfFull() throws(StoreError) {
    try StoreError.naming(path) {
      guard let notes, ending == nil, try notes.isFull() else { return }
      try keep()
    }
  }

  /// Writes the notes so far into the store.
  ///
  /// Needs the open transaction. Runs `INSERT INTO _dragoman_undo`.
  ///
  /// - Parameter run: The import's number in the ledger.
  /// - Throws: `StoreError`.
  package func keep(as run: Int64) throws(StoreError) {
    guard ending == nil else { return }
    if number == nil {
      number = run
      if hasParts { try RecordedRun.renumber(Self.provisionalNumber, as: run, sql()) }
    }
    try StoreError.naming(path) { try keep() }
  }

  private func keep() throws {
    guard ending == nil else { return }
    guard let notes else { return try store() }
    let changes: Changeset
    do {
      changes = try notes.take()
    } catch let lost as ChangesetRecording.Loss {
      return try giveUp("SQLite could not note what it changed: \(lost.cause)")
    }
    try changes.withRows { _ in recorded.rowCount += 1 }
    if let limit, recorded.rowCount > limit {
      return try giveUp("more than \(limit) rows changed")
    }
    if hasParts {
      // Who ends forgets the oldest ones, and who changes the model writes it down.
      guard let kept = try RecordedRun.readable(number ?? Self.provisionalNumber, sql()) else {
        return try giveUp("other imports that ended meanwhile left no room for its record")
      }
      recorded.additions = kept.additions
    }
    try store()
    guard !changes.isEmpty else { return }
    try RecordedRun.add(
      PackedBytes.pack(changes.bytes),
      to: number ?? Self.provisionalNumber,
      sql()
    )
  }

  /// What cannot be recorded is done all the same.
  private func giveUp(_ reason: String) throws {
    ending = reason
    endNotes()
    if hasParts { try RecordedRun.drop(number ?? Self.provisionalNumber, sql()) }
  }

  private func endNotes() {
    notes?.end()
    notes = nil
  }

  /// Writes the rest, and forgets the oldest runs.
  ///
  /// - Parameter run: The import's number in the ledger.
  /// - Throws: `StoreError`.
  package func finish(as run: Int64) throws(StoreError) {
    try keep(as: run)
    endNotes()
    guard ending == nil else { return }
    var lastPart: Int64 = 0
    for name in newTables {
      if let table = try newTable(name, as: run, &lastPart) { recorded.newTables.append(table) }
    }
    if !recorded.newTables.isEmpty {
      recorded.lastWaiting = try sql().integers(
        "coalesce(max(id), 0)",
        "FROM \(PendingReference.table)"
      ).first
    }
    recorded.newLinks = newLinks.filter { recorded.newTable($0.owners) != nil }
    recorded.mark = nil
    try StoreError.naming(path) { try store() }
    try RecordedRun.dropOld(sql())
  }

  /// Ends without a word; nothing of it may outlive the connection.
  package func stop() {
    endNotes()
    mark?.end()
  }

  private func store() throws {
    if !hasParts, try !sql().hasTable(RecordedRun.table) { try RecordedRun.makeTable(sql()) }
    hasParts = true
    try recorded.save(as: number ?? Self.provisionalNumber, sql())
  }

  /// What a table that was empty has now; nil: nothing.
  private func newTable(
    _ name: String,
    as run: Int64,
    _ part: inout Int64
  ) throws(StoreError) -> RecordedRun.NewTable? {
    let table = Schema.quoted(name)
    let ends = try sql().values(
      ["(SELECT min(_pk) FROM \(table))", "(SELECT max(_pk) FROM \(table))"],
      "",
      []
    ).first
    guard let first = ends?[0].integer, let last = ends?[1].integer else { return nil }
    return RecordedRun.NewTable(
      name: name,
      first: first,
      last: last,
      versionParts: try RowVersions.keep(of: name, as: run, behind: &part, sql())
    )
  }
}

/// The tables of a model as a recorder sees them.
struct RecordedTables {
  /// Those whose changes are noted, with their columns in the order of their rows.
  var noted: [RecordedRun.Table] = []
  /// Those of objects that are empty, and need no notes.
  var newTables: [String] = []
  /// Those of links that are, too, and whose owners do not.
  var newLinks: [RecordedRun.NewLinks] = []
}

extension RecordedRun {
  /// The table of objects that was empty; nil where it still was at the end.
  func newTable(_ name: String) -> NewTable? { newTables.first { $0.name == name } }
}
