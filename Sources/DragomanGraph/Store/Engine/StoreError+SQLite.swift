import Foundation
import GRDB

extension StoreError {
  /// Works on the file at `path`; what SQLite or GRDB throw meanwhile is translated.
  static func naming<T>(_ path: String?, _ body: () throws -> T) throws(StoreError) -> T {
    do {
      return try body()
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// What beside a database keeps this user from it, though it may only be read.
  private static func lock(of path: String) -> String? {
    let folder = FilePath.openFolder(of: path)
    if access(folder, W_OK) != 0 {
      return
        "the folder \(folder) may not be written, where SQLite has files of its own also to read: copy the"
        + " database elsewhere"
    }
    let files = ["-wal", "-shm"].map { path + $0 }
    return files.first { access($0, F_OK) == 0 && access($0, W_OK) != 0 }.map {
      "\($0) was left by another user who read the database: have it made writable, or removed while nobody uses"
        + " the database and the -wal is empty"
    }
  }

  /// There is no room beside a database, or for what SQLite sorts.
  private static func full(_ path: String?) -> StoreError {
    let named = getenv("SQLITE_TMPDIR") ?? getenv("TMPDIR")
    let folder = named.map { String(cString: $0) } ?? "/var/tmp"
    if let path, !isFull(FilePath.openFolder(of: path)), isFull(folder) {
      return StoreError(
        .full,
        "The disk of the temporary files is full; nothing of the open transaction was kept.",
        help: "free some space in \(folder), or name another folder in TMPDIR",
        path: folder
      )
    }
    return StoreError(
      .full,
      "The disk is full; nothing of the open transaction was kept.",
      help: "free some space and run the same command again",
      path: path
    )
  }

  /// Whether the disk of a folder has less room than SQLite asks for at once.
  private static func isFull(_ folder: String) -> Bool {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { return false }
    return UInt64(status.f_bavail) * UInt64(status.f_frsize) < 64 << 10
  }

  /// Translates what SQLite or GRDB threw while working on the file at `path`.
  ///
  /// The result codes are those of https://www.sqlite.org/rescode.html.
  init(_ error: any Error, path: String?) {
    if let known = error as? StoreError {
      self = known
      return
    }
    if error is RowDecodingError {
      // What it says shows values, which may be sensitive.
      self.init(
        .damaged,
        "The database holds a value of another type where Dragoman wrote it, or none.",
        help: "restore a backup, or try sqlite3's .recover on a copy",
        path: path
      )
      return
    }
    guard let database = error as? DatabaseError else {
      self.init(.refused, "\(error)", path: path)
      return
    }
    // The connection may know nothing of the error of another one.
    let text =
      database.message.flatMap { $0 == "not an error" ? nil : $0 }
      ?? "SQLite error \(database.extendedResultCode)"
    switch database.resultCode {
    // A protocol error is a race for the write-ahead log that SQLite has given up.
    case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL:
      self.init(
        .busy,
        "Another process holds the write lock of the database and did not release it in time.",
        help: "try again when the other import or tool has finished",
        path: path
      )
    case .SQLITE_INTERRUPT:
      self.init(
        .stopped,
        "The statement was ended before it was done.",
        help: "ask for less, or by attributes that have an index",
        path: path
      )
    case .SQLITE_FULL: self = Self.full(path)
    // SQLite does not tell of its files beside a database that there is no room for them.
    case .SQLITE_IOERR where path.map { Self.isFull(FilePath.openFolder(of: $0)) } == true:
      self = Self.full(path)
    case .SQLITE_READONLY where database.extendedResultCode == .SQLITE_READONLY_DBMOVED:
      self.init(
        .migrated,
        "The database was moved, replaced or removed while it was in use.",
        help: "put it back, and begin again",
        path: path
      )
    case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
      self.init(
        .permission,
        "The database cannot be written: \(text).",
        help: path.flatMap(Self.lock(of:)),
        path: path
      )
    case .SQLITE_CANTOPEN
    where path.map { access($0, F_OK) == 0 && Self.lock(of: $0) != nil } == true:
      self.init(
        .permission,
        "The database cannot be opened: \(text).",
        help: path.flatMap(Self.lock(of:)),
        path: path
      )
    case .SQLITE_CANTOPEN:
      self.init(.unreachable, "The database cannot be opened: \(text).", path: path)
    case .SQLITE_NOTADB:
      self.init(.notAStore, "The file is not a SQLite database.", path: path)
    case .SQLITE_CORRUPT:
      self.init(
        .damaged,
        "The database is damaged: \(text).",
        help: "restore a backup, or try sqlite3's .recover on a copy",
        path: path
      )
    case .SQLITE_IOERR:
      self.init(.inputOutput, "Reading or writing the database failed: \(text).", path: path)
    case .SQLITE_ERROR where text.hasPrefix("duplicate column name: "):
      self.init(
        .modelConflict,
        "A table of the database has a column \(text.dropFirst(23)) already that Dragoman does not know as an"
          + " attribute.",
        help: "rename or drop it, or give the attribute another one with `column:` in the map",
        path: path
      )
    case .SQLITE_ERROR where database.tellsOfAnotherSchema:
      self.init(
        .damaged,
        "The tables of the database are not as its model says: \(text).",
        help: "another program may have changed them; restore a backup",
        path: path
      )
    case .SQLITE_CONSTRAINT where database.tellsOfAKeyGivenTwice:
      self.init(
        .damaged,
        "The next keys in _dragoman_keys are behind those that objects have: \(text).",
        help: "restore a backup, or set next behind the largest _pk of the table",
        path: path
      )
    default:
      self.init(.refused, "SQLite refused: \(text).", path: path)
    }
  }
}

extension DatabaseError {
  /// Whether a new object got the primary key of another one.
  fileprivate var tellsOfAKeyGivenTwice: Bool {
    [.SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID].contains(extendedResultCode)
      && message?.hasSuffix("._pk") == true
  }

  /// Whether a statement that was made for the stored model does not fit the tables.
  ///
  /// SQLite has one code for it and all other mistakes in SQL, and says which in words only.
  var tellsOfAnotherSchema: Bool {
    guard resultCode == .SQLITE_ERROR, let message else { return false }
    return ["no such table", "no such column", "has no column named", "malformed JSON"].contains {
      message.contains($0)
    }
  }
}
