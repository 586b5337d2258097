import GRDB

/// One row of the store's history, `_dragoman_imports`: an import, what it read and what came of it.
///
/// It is written in the transaction of the rows it speaks of, so history and contents cannot
/// disagree.
public struct ImportLedgerEntry: Sendable, Hashable {
  /// How an import ended.
  public enum Status: String, Sendable, Codable {
    /// It is under way.
    case running
    /// It is not at its end; whether it is under way cannot be known here: a standby does not see the locks of the
    /// server that it follows. Never stored.
    case unfinished
    /// It ended between two batches without being complete: by a fault, or because its process did. It can be gone on
    /// with until another import begins.
    case stopped
    /// It is complete.
    case done
    /// The user stopped it between two batches.
    case cancelled
    /// It was taken back.
    case undone
  }

  /// The row's number; nil until it is written.
  public internal(set) var id: Int64?
  /// The inputs as the user named them.
  public var source: String
  /// A hash of the input's names, sizes and times.
  public var fingerprint: String
  /// The map's name or file.
  public var map: String
  /// A hash of the map's text.
  public var mapHash: String
  /// When the import began: `yyyy-MM-dd HH:mm:ss.ffffff`, UTC.
  public var started: String
  /// When it ended.
  public var finished: String?
  /// How it ended.
  public var status: Status
  /// How many records of the input are committed, applied or not.
  public var committed = 0
  /// The report's counts.
  public var counts = Counts()
  /// How many bytes of input were read.
  public var byteCount = 0

  /// The counts of a report over top-level records.
  public struct Counts: Sendable, Hashable, Codable {
    /// Records read: the sum of all others.
    public var read = 0
    /// New objects.
    public var inserted = 0
    /// Objects changed.
    public var updated = 0
    /// Objects that were already as the record says.
    public var unchanged = 0
    /// Objects deleted by tombstones.
    public var deleted = 0
    /// Records whose object was left alone.
    public var skipped = 0
    /// Records refused.
    public var rejected = 0

    /// Records that made, changed or deleted an object.
    package var changed: Int {
      // A file of somebody else may say anything.
      [inserted, updated, deleted].reduce(0) { sum, count in
        let (sum, isTooMuch) = sum.addingReportingOverflow(count)
        return isTooMuch ? .max : sum
      }
    }

    /// Makes zeros.
    public init() {}
  }

  /// Makes an entry for an import that begins.
  public init(
    source: String,
    fingerprint: String,
    map: String,
    mapHash: String,
    started: String
  ) {
    self.source = source
    self.fingerprint = fingerprint
    self.map = map
    self.mapHash = mapHash
    self.started = started
    status = .running
  }

  /// The import that this entry took back; nil for an import.
  public var undoes: Int64? { undone?.run }

  /// The import that this entry took back, and how that had ended.
  var undone: (run: Int64, status: Status)? {
    let parts = fingerprint.split(separator: ":")
    guard mapHash.isEmpty, parts.count == 3, parts[0] == Self.undoMark, let run = Int64(parts[1]),
      let status = Status(rawValue: String(parts[2]))
    else { return nil }
    return (run, status)
  }

  /// An entry for taking back an import, of its number.
  public init(undoing run: ImportLedgerEntry, started: String) {
    let number = run.id ?? 0
    self.init(
      source: "undo of import \(number)",
      fingerprint: "\(Self.undoMark):\(number):\(run.status.rawValue)",
      map: run.map,
      mapHash: "",
      started: started
    )
  }

  private static let undoMark = "undo"

  /// An entry for the deletion of objects of an entity, which begins.
  init(deleting entity: String) {
    self.init(
      source: "delete \(entity)",
      fingerprint: "",
      map: "",
      mapHash: "",
      started: ImportClock.now()
    )
  }

  /// The end has come.
  package mutating func finish(_ status: Status = .done) {
    self.status = status
    finished = ImportClock.now()
  }

  /// The columns of `_dragoman_imports`.
  static let columns = [
    "id", "source", "fingerprint", "map", "map_hash", "started", "finished", "status", "committed",
    "read", "inserted", "updated", "unchanged", "deleted", "skipped", "rejected", "bytes",
  ]

  /// Reads a row of `_dragoman_imports`.
  ///
  /// - Throws: `StoreError`, `.damaged`, for a value that no import writes.
  init(_ row: Row) throws(StoreError) {
    let place = "_dragoman_imports"
    func text(_ column: String) throws(StoreError) -> String {
      try row.stored(column, of: place, as: String?.self) ?? ""
    }
    func count(_ column: String) throws(StoreError) -> Int {
      let count = try row.stored(column, of: place, as: Int?.self) ?? 0
      guard count >= 0 else {
        throw StoreError(
          .damaged,
          "The column \(column) of \(place) counts less than nothing: \(count).",
          help: "restore a backup, or correct the value"
        )
      }
      return count
    }
    let id: Int64 = try row.stored("id", of: place)
    guard let status = Status(rawValue: try text("status")) else {
      throw StoreError(
        .damaged,
        "The import \(id) in \(place) has no status that Dragoman knows.",
        help: "restore a backup, or correct the column status"
      )
    }
    self.id = id
    source = try text("source")
    fingerprint = try text("fingerprint")
    map = try text("map")
    mapHash = try text("map_hash")
    started = try text("started")
    finished = try row.stored("finished", of: place)
    self.status = status
    committed = try count("committed")
    counts.read = try count("read")
    counts.inserted = try count("inserted")
    counts.updated = try count("updated")
    counts.unchanged = try count("unchanged")
    counts.deleted = try count("deleted")
    counts.skipped = try count("skipped")
    counts.rejected = try count("rejected")
    byteCount = try count("bytes")
  }

  mutating func save(to database: Database) throws {
    let values: StatementArguments = [
      id, source, fingerprint, map, mapHash, started, finished, status.rawValue, committed,
      counts.read, counts.inserted, counts.updated, counts.unchanged, counts.deleted,
      counts.skipped, counts.rejected, byteCount,
    ]
    try database.execute(
      sql: """
        INSERT OR REPLACE INTO _dragoman_imports (id, source, fingerprint, map, map_hash, started,
          finished, status, committed, read, inserted, updated, unchanged, deleted, skipped,
          rejected, bytes)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
      arguments: values
    )
    if id == nil { id = database.lastInsertedRowID }
  }
}
