import GRDB

/// The primary keys of one table: given out in rising order, never twice.
///
/// The next free key is stored in `_dragoman_keys` in the transaction of the rows that use the
/// keys, which holds the write lock: so no other process can give out the same ones.
final class PrimaryKeys {
  private let table: String
  /// The next free key when the keys were first asked for: what has it or a later one is new since then.
  let first: Int64
  private var stored: Int64
  /// The next free key.
  @exclusivity(unchecked) private(set) var next: Int64

  init(table: String, database: Database) throws {
    self.table = table
    next = try Self.next(of: table, in: database)
    stored = next
    first = next
  }

  /// Reads the next free key.
  ///
  /// Needs an open transaction.
  func load(from database: Database) throws {
    stored = try Self.next(of: table, in: database)
    next = stored
  }

  private static func next(of table: String, in database: Database) throws -> Int64 {
    let found = try database.storedValue(
      "SELECT next FROM _dragoman_keys WHERE \"table\" = ?",
      [table],
      of: "_dragoman_keys",
      as: Int64.self
    )
    return try checked(found ?? 1, of: table)
  }

  /// The next free key as it was stored, if there can be one behind it.
  ///
  /// - Throws: `StoreError`, `.damaged`: keys are given out from 1 on, and nobody comes near the end.
  static func checked(_ key: Int64, of table: String) throws(StoreError) -> Int64 {
    guard (1..<maximum).contains(key) else {
      throw StoreError(
        .damaged,
        "The next key of \(table) in _dragoman_keys is \(key), which cannot be.",
        help: "restore a backup, or set next behind the largest _pk of the table"
      )
    }
    return key
  }

  /// Behind all keys; a block of them still fits into 64 bits.
  private static let maximum: Int64 = 1 << 62

  /// Marks the next key as used.
  @inline(__always)
  func take() {
    next += 1
  }

  /// Marks that many keys as used.
  func take(_ count: Int64) {
    next += count
  }

  /// Stores the next free key, if any were taken.
  func save(to database: Database) throws {
    guard next != stored else { return }
    try database.execute(
      sql: "INSERT INTO _dragoman_keys (\"table\", next) VALUES (?, ?)"
        + " ON CONFLICT (\"table\") DO UPDATE SET next = excluded.next",
      arguments: [table, next]
    )
    stored = next
  }
}
