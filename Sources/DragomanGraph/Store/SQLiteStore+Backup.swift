import Foundation
import GRDB

extension SQLiteStore {
  /// What a backup wrote.
  public struct Backup: Sendable, Hashable {
    /// How many pages the copy has.
    public let pageCount: Int
    /// How many bytes the copy has.
    public let byteCount: Int
  }

  /// Copies the whole store into a file, while it may be in use.
  ///
  /// The copy is of one moment: what others commit meanwhile is in it or not, as a whole. It is
  /// made by SQLite's backup API (https://www.sqlite.org/backup.html) in a new file beside `path`,
  /// written through to the disk and then renamed, so that `path` is the old file or the whole copy
  /// and never a part of it. A file that is there is replaced if it is a database (or empty).
  ///
  ///     let backup = try store.backup(to: "people-2026-11-21.db")
  ///
  /// - Parameter path: The file of the copy.
  /// - Returns: How large the copy is.
  /// - Throws: `.output` where the file cannot be made or may not be replaced, and what reading the
  ///   store and writing the copy throw: `.busy`, `.full`, `.inputOutput`, `.damaged`.
  public func backup(to path: String) throws(StoreError) -> Backup {
    let file = BackupFile(path: path)
    try file.check(against: self.path)
    try file.create(like: self.path)
    do {
      let pageCount = try copy(into: file.temporaryPath)
      let byteCount = try file.synchronize()
      try file.check(against: self.path)
      try file.rename()
      return Backup(pageCount: pageCount, byteCount: byteCount)
    } catch {
      file.discard()
      let known = StoreError(error, path: path)
      if known.code == .damaged, let source = self.path, let failure = StoreFile.readFailure(source)
      {
        throw failure
      }
      guard known.code == .unreachable || known.code == .permission else { throw known }
      throw StoreError(.output, known.message, help: known.help, path: path)
    }
  }

  private func copy(into path: String) throws -> Int {
    var configuration = Configuration()
    configuration.busyMode = .immediateError
    let copy = try DatabaseQueue(path: path, configuration: configuration)
    var pageCount = 0
    try backUp(to: copy) { progress in pageCount = progress.totalPageCount }
    try copy.close()
    return pageCount
  }
}
