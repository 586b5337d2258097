import GRDB

/// One row of the store's history, `_dragoman_imports`: an import, what it read and what came of it.
///
/// It is written in the transaction of the rows it speaks of, so history and contents cannot
/// disagree.
public struct ImportLedgerEntry: Sendable, Hashable {
  /// How an import ended.
  public enum Status: String, Sendable, Codable {
    /// It is under way, or was stopped between two batches.
    case running
    /// It is complete.
    case done
    /// It was stopped between two batches by the user.
    case cancelled
  }

  /// The row's number; nil until it is written.
  public private(set) var id: Int64?
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

  /// Reads a row of `_dragoman_imports`.
  init(_ row: Row) throws {
    let status = Status(rawValue: row["status"] ?? "")
    guard let status else {
      throw StoreError(
        .damaged,
        "The import \(row["id"] ?? 0) in _dragoman_imports has no status that Dragoman knows.",
        help: "restore a backup, or correct the column status"
      )
    }
    id = row["id"]
    source = row["source"] ?? ""
    fingerprint = row["fingerprint"] ?? ""
    map = row["map"] ?? ""
    mapHash = row["map_hash"] ?? ""
    started = row["started"] ?? ""
    finished = row["finished"]
    self.status = status
    committed = row["committed"] ?? 0
    counts.read = row["read"] ?? 0
    counts.inserted = row["inserted"] ?? 0
    counts.updated = row["updated"] ?? 0
    counts.unchanged = row["unchanged"] ?? 0
    counts.deleted = row["deleted"] ?? 0
    counts.skipped = row["skipped"] ?? 0
    counts.rejected = row["rejected"] ?? 0
    byteCount = row["bytes"] ?? 0
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
