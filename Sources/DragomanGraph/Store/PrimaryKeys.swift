import GRDB

/// The primary keys of one table: given out in rising order, never twice.
///
/// The next free key is stored in `_dragoman_keys` in the transaction of the rows that use the
/// keys, which holds the write lock: so no other process can give out the same ones.
final class PrimaryKeys {
  private let table: String
  private var stored: Int64 = 1
  /// The next free key.
  @exclusivity(unchecked) private(set) var next: Int64 = 1

  init(table: String, database: Database) throws {
    self.table = table
    try load(from: database)
  }

  /// Reads the next free key.
  ///
  /// Needs an open transaction.
  func load(from database: Database) throws {
    let found = try Int64.fetchOne(
      database,
      sql: "SELECT next FROM _dragoman_keys WHERE \"table\" = ?",
      arguments: [table]
    )
    stored = found ?? 1
    next = stored
  }

  /// Marks the next key as used.
  @inline(__always)
  func take() {
    next += 1
  }

  /// Marks that many keys as used.
  func take(_ count: Int) {
    next += Int64(count)
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
