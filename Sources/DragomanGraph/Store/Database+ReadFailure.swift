import Foundation
import GRDB
import GRDBSQLite

extension Database {
  /// Runs work on this connection, and tells a file that cannot be read from one that is damaged.
  ///
  /// Where the system says EIO, ENXIO or ERANGE for a read, SQLite assumes a damaged file system and
  /// says `SQLITE_CORRUPT` (https://www.sqlite.org/rescode.html#ioerr_corruptfs): nothing is known of
  /// the file's contents then.
  ///
  /// - Throws: What `body` throws; `StoreError`, `.inputOutput`, where that is damage and reading failed.
  func tellingOfUnreadFiles<T>(_ path: String?, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch {
      let isDamage =
        (error as? DatabaseError)?.resultCode == .SQLITE_CORRUPT
        || (error as? StoreError)?.code == .damaged
      guard isDamage, let connection = sqliteConnection,
        let number = StoreFile.errorNumber(of: connection)
      else { throw error }
      throw StoreFile.unread(number, path)
    }
  }
}

extension StoreFile {
  /// Why a database that SQLite calls damaged cannot be opened, if reading it fails.
  ///
  /// Opens it once more, reads `sqlite_schema` and asks the system's last error.
  static func readFailure(_ path: String) -> StoreError? {
    var connection: OpaquePointer?
    defer { sqlite3_close(connection) }
    guard
      sqlite3_open_v2(FilePath.ofDatabase(path), &connection, SQLITE_OPEN_READONLY, nil)
        == SQLITE_OK,
      let connection
    else { return nil }
    sqlite3_exec(connection, "SELECT count(*) FROM sqlite_schema", nil, nil, nil)
    return errorNumber(of: connection).map { unread($0, path) }
  }

  /// The system's error of the last read of a connection that failed, of the database or its log.
  ///
  /// See https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html.
  fileprivate static func errorNumber(of connection: OpaquePointer) -> Int32? {
    let operations = [SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER]
    for operation in operations {
      var file: UnsafeMutablePointer<sqlite3_file>?
      guard sqlite3_file_control(connection, "main", operation, &file) == SQLITE_OK,
        let file, let methods = file.pointee.pMethods, let control = methods.pointee.xFileControl
      else { continue }
      var number: Int32 = 0
      if control(file, SQLITE_FCNTL_LAST_ERRNO, &number) == SQLITE_OK, number != 0 {
        return number
      }
    }
    return nil
  }

  fileprivate static func unread(_ number: Int32, _ path: String?) -> StoreError {
    StoreError(
      .inputOutput,
      "Reading the database failed: \(String(cString: strerror(number))).",
      help: "look after the disk; what the file holds is not known to be damaged",
      path: path
    )
  }
}
