import Foundation
import GRDBSQLite

/// The first bytes of a file that may be a database, and open in this process.
///
/// Who closes a descriptor of a file releases all locks that the process has on it (`fcntl`, POSIX), those of SQLite's
/// connections, too: another process may then remove the log that they still write, and what they commit is lost
/// (https://www.sqlite.org/howtocorrupt.html, 2.2). SQLite's own files know of each other, so it is asked for the bytes.
package enum FileHead {
  /// What the system refused.
  package struct Failure: Error {
    /// The error's number.
    package let code: Int32
    /// Why, without a full stop.
    package var reason: String { String(cString: strerror(code)) }
  }

  /// Reads the first bytes of a regular file.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - path: The file; links are followed.
  /// - Returns: That many, or fewer where the file ends before.
  /// - Throws: `Failure`: `ESPIPE` for what is no regular file, `EBUSY` for a `-shm` that belongs to a database: the locks
  ///   of who works with that are on it.
  package static func bytes(_ count: Int, of path: String) throws(Failure) -> [UInt8] {
    guard let status = FileStatus(path) else { throw Failure(code: errno) }
    guard status.kind == .regular else { throw Failure(code: ESPIPE) }
    if isShared(path) { throw Failure(code: EBUSY) }
    // SQLite opens no longer path, so that nobody has a database there.
    if path.utf8.count > maximumPathByteCount { return try plainBytes(count, of: path) }
    var connection: OpaquePointer?
    defer { sqlite3_close(connection) }
    // Nothing is read as a database, and nothing made beside it, before the first statement.
    let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard
      sqlite3_open_v2(FilePath.ofDatabase(path), &connection, flags, nil) == SQLITE_OK,
      sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
      let file, let read = file.pointee.pMethods?.pointee.xRead
    else {
      let code = sqlite3_system_errno(connection)
      throw Failure(code: code == 0 ? EIO : code)
    }
    // SQLite itself says of a file of one byte that it is empty.
    var bytes = [UInt8](repeating: 0, count: min(count, status.byteCount))
    guard bytes.isEmpty || read(file, &bytes, Int32(bytes.count), 0) == SQLITE_OK else {
      throw Failure(code: EIO)
    }
    return bytes
  }

  /// The most bytes that SQLite takes of a path (`MAX_PATHNAME` of its os_unix.c, less what it adds).
  private static let maximumPathByteCount = 500

  private static func plainBytes(_ count: Int, of path: String) throws(Failure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(code: errno) }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: count)
    let found = pread(descriptor, &bytes, count, 0)
    guard found >= 0 else { throw Failure(code: errno) }
    return Array(bytes[..<found])
  }

  /// Whether a file is what connections to a database share.
  private static func isShared(_ path: String) -> Bool {
    let target = Array(FilePath.resolved(path).utf8)
    guard target.count > 4, target.suffix(4).elementsEqual("-shm".utf8) else { return false }
    return access(String(decoding: target.dropLast(4), as: UTF8.self), F_OK) == 0
  }

  /// What a database of SQLite starts with (https://www.sqlite.org/fileformat.html, 1.3.1).
  package static let databaseMagic = Array("SQLite format 3\0".utf8)

  /// Whether a file is a database of SQLite, or shared by its connections, which nobody else is to open.
  package static func isDatabase(_ path: String) -> Bool {
    do throws(Failure) {
      return try bytes(databaseMagic.count, of: path) == databaseMagic
    } catch {
      return error.code == EBUSY
    }
  }
}
