import Foundation
import GRDB

/// What can be told of a database file before SQLite opens it.
enum StoreFile {
  /// Checks that a path can be that of a database, whatever is there.
  ///
  /// - Throws: `.unreachable`.
  static func checkName(_ path: String) throws(StoreError) {
    if path.isEmpty { throw StoreError(.unreachable, "The path of the database is empty.") }
    guard !FilePath.isCut(path) else {
      throw StoreError(
        .unreachable,
        "The path of the database holds U+0000, at which the system would end it.",
        path: path
      )
    }
  }

  /// Checks that a store can be opened at `path`.
  ///
  /// - Returns: Whether the file has to be made.
  /// - Throws: `.missing`, `.unreachable`, `.permission` or `.notAStore`, each naming the path.
  static func check(_ path: String, options: SQLiteStore.Options) throws(StoreError) -> Bool {
    try checkCompanions(of: FilePath.resolved(path))
    guard let status = FileStatus(path) else {
      try checkFolder(of: path, options: options)
      return true
    }
    if status.kind == .folder {
      throw StoreError(.unreachable, "This is a folder, not a database file.", path: path)
    }
    if status.kind != .regular {
      // Opening a pipe would wait for somebody who writes into it.
      throw StoreError(.unreachable, "This is no regular file, so no database.", path: path)
    }
    guard FileManager.default.isReadableFile(atPath: path) else {
      throw StoreError(.permission, "The database may not be read.", path: path)
    }
    if !options.isReadOnly && !FileManager.default.isWritableFile(atPath: path) {
      throw StoreError(.permission, "The database may not be written.", path: path)
    }
    if !options.isReadOnly, status.nameCount > 1, !NewFile.isBeingNamed(path, status) {
      throw StoreError(
        .unreachable,
        "The file has \(status.nameCount) names: SQLite keeps a log beside each, and who writes by one loses what is"
          + " written by another.",
        help: "remove the other names (find . -samefile), or work on a copy",
        path: path
      )
    }
    try checkHeader(path)
    return false
  }

  /// SQLite writes the files that it keeps beside a database, also for who only reads: they must not be others as well.
  private static func checkCompanions(of path: String) throws(StoreError) {
    for ending in ["-wal", "-shm", "-journal"] {
      guard let status = FileStatus(unfollowed: path + ending), status.kind == .regular,
        status.nameCount > 1
      else { continue }
      throw StoreError(
        .unreachable,
        "The file \(path)\(ending) has \(status.nameCount) names: SQLite would write over what the others lead to.",
        help: "remove the other names (find . -samefile), or work on a copy",
        path: path
      )
    }
  }

  private static func checkFolder(
    of path: String,
    options: SQLiteStore.Options
  ) throws(StoreError) {
    if options.isReadOnly || !options.createsFile {
      throw StoreError(
        .missing,
        "There is no such database.",
        help: "opening \(path) with `createsFile` makes one",
        path: path
      )
    }
    let folder = FilePath.openFolder(of: path)
    guard FileStatus(folder)?.kind == .folder else {
      throw StoreError(
        .unreachable,
        "The folder \(folder) does not exist.",
        help: "make it first",
        path: path
      )
    }
    guard FileManager.default.isWritableFile(atPath: folder) else {
      throw StoreError(.permission, "The folder \(folder) may not be written.", path: path)
    }
    guard FilePath.hasRoom(forNameOf: path, ending: "-journal") else {
      throw StoreError(
        .unreachable,
        "The name of the database is too long: SQLite keeps files beside it, with -journal behind its name.",
        help: "name it with 8 bytes less than the file system takes, mostly 255",
        path: path
      )
    }
  }

  /// A SQLite file starts with 16 known bytes (https://www.sqlite.org/fileformat.html); an empty
  /// file is an empty database.
  ///
  /// Opening a file to write puts it into WAL mode, which is written into byte 18: a file of another
  /// program that is not is looked at first, by a connection that can only read, and stays as it is.
  private static func checkHeader(_ path: String) throws(StoreError) {
    let header: [UInt8]
    do throws(FileHead.Failure) {
      // Its permissions were looked at before.
      header = try FileHead.bytes(19, of: path)
    } catch {
      throw StoreError(.inputOutput, "Reading the database failed: \(error.reason).", path: path)
    }
    guard header.isEmpty || header.starts(with: FileHead.databaseMagic) else {
      throw StoreError(
        .notAStore,
        "The file is not a SQLite database.",
        help: "open another file",
        path: path
      )
    }
    guard header.count == 19, header[18] == 1 else { return }
    do {
      var configuration = Configuration()
      configuration.readonly = true
      let reader = try DatabaseQueue(
        path: FilePath.ofDatabase(path),
        configuration: configuration
      )
      _ = try reader.read { try StoredModel.load($0) }
    } catch let error as StoreError where [.notAStore, .newerFormat].contains(error.code) {
      var named = error
      named.path = path
      throw named
    } catch {
      // Whatever else is wrong is told when the file is opened to work with it.
    }
  }
}
