import GRDB

/// The primary keys of one table: given out in rising order, never twice.
///
/// The next free key is stored in `_dragoman_keys` in the transaction of the rows that use the
/// keys, which holds the write lock: so no other process can give out the same ones.
final class PrimaryKeys {
  private let table: String
  private let first: Int64
  /// The next free key.
  private(set) var next: Int64

  init(table: String, database: Database) throws {
    self.table = table
    first =
      try Int64.fetchOne(
        database,
        sql: "SELECT next FROM _dragoman_keys WHERE \"table\" = ?",
        arguments: [table]
      ) ?? 1
    next = first
  }

  /// Marks the next key as used.
  @inline(__always)
  func take() {
    next += 1
  }

  /// Stores the next free key, if any were taken.
  func save(to database: Database) throws {
    guard next != first else { return }
    try database.execute(
      sql: "INSERT INTO _dragoman_keys (\"table\", next) VALUES (?, ?)"
        + " ON CONFLICT (\"table\") DO UPDATE SET next = max(next, excluded.next)",
      arguments: [table, next]
    )
  }
}
