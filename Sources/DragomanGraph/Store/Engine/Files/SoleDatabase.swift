import GRDBSQLite

/// A database file that nobody has open, nor can open to read or write, until this is let go.
final class SoleDatabase {
  /// Why there is none.
  enum Refusal: Error {
    /// Others have it open; where it is in WAL mode that is told of idle connections, too.
    case used
    /// It cannot be opened or read, or may not be written.
    case unknown
  }

  private let connection: OpaquePointer

  /// Locks a file: `PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE`.
  init(_ path: String) throws(Refusal) {
    var connection: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
    var code = sqlite3_open_v2(FilePath.ofDatabase(path), &connection, flags, nil)
    if code == SQLITE_OK {
      code = sqlite3_exec(
        connection,
        "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE",
        nil,
        nil,
        nil
      )
    }
    guard code == SQLITE_OK, let connection else {
      sqlite3_close(connection)
      throw code == SQLITE_BUSY || code == SQLITE_LOCKED ? .used : .unknown
    }
    self.connection = connection
  }

  deinit { sqlite3_close(connection) }
}
