import Foundation
import GRDB

extension SQLiteStore {
  /// What a backup wrote.
  public struct Backup: Sendable, Hashable {
    /// How many pages the copy has.
    public let pageCount: Int
    /// How many bytes the copy has.
    public let byteCount: Int
    /// Whether a later backup will know the file for one; false where the file system keeps no
    /// extended attributes, so that replacing it wants `overwrites`.
    public let isMarked: Bool
  }

  /// Copies the whole store into a file, while it may be in use.
  ///
  /// The copy is of one moment: what others commit meanwhile is in it or not, as a whole. It is
  /// made by SQLite's backup API (https://www.sqlite.org/backup.html) in a new file beside `path`,
  /// written through to the disk and then renamed, so that `path` is the old file or the whole copy
  /// and never a part of it. A file that is there is replaced if a backup made it, and nobody wrote to
  /// it since (or if it is empty).
  ///
  ///     let backup = try store.backup(to: "people-2026-11-21.db")
  ///
  /// - Parameters:
  ///   - path: The file of the copy; behind a symbolic link that of the link.
  ///   - overwrites: Whether a file may be replaced that no backup made, or that was changed since;
  ///     never the store itself and a database in use.
  ///   - shouldStop: Is asked every few thousand pages.
  /// - Returns: How large the copy is.
  /// - Throws: `.output` where the file cannot be made or may not be replaced, `.stopped` where it was to stop, and what
  ///   reading the store and writing the copy throw: `.busy`, `.full`, `.inputOutput`, `.damaged`. Nothing is made then.
  public func backup(
    to path: String,
    overwrites: Bool = false,
    unless shouldStop: () -> Bool = { false }
  ) throws(StoreError) -> Backup {
    let place = try BackupPlace(path: path, overwrites: overwrites)
    try place.check(against: self.path)
    _ = try place.lockReplaced()
    let file = try place.makeFile(like: self.path)
    do {
      let pageCount = try copy(into: file.temporaryPath, unless: shouldStop)
      guard let status = FileStatus(descriptor: file.descriptor) else {
        throw place.failure(PublishedFile.Failure(errno))
      }
      let isMarked = OutputMark.set(BackupPlace.kind, on: file.descriptor)
      // Nobody opens what is replaced, until it is.
      var replaced: SoleDatabase?
      try file.publish { () throws(StoreError) in
        try place.check(against: self.path)
        replaced = try place.lockReplaced()
        place.removeLeftovers()
      } orThrow: {
        place.failure($0)
      }
      withExtendedLifetime(replaced) {}
      return Backup(
        pageCount: pageCount,
        byteCount: status.byteCount,
        isMarked: isMarked
      )
    } catch {
      let known = StoreError(error, path: path)
      if known.code == .damaged, let source = self.path, let failure = StoreFile.readFailure(source)
      {
        throw failure
      }
      guard known.code == .unreachable || known.code == .permission else { throw known }
      throw StoreError(.output, known.message, help: known.help, path: path)
    }
  }

  private func copy(into path: String, unless shouldStop: () -> Bool) throws -> Int {
    var configuration = Configuration()
    configuration.busyMode = .immediateError
    let copy = try DatabaseQueue(path: FilePath.ofDatabase(path), configuration: configuration)
    var pageCount = 0
    func check() throws(StoreError) {
      if shouldStop() { throw StoreError(.stopped, "The backup was stopped; nothing was made.") }
    }
    try backUp(to: copy) { progress in
      pageCount = progress.totalPageCount
      try check()
    }
    // What the last step throws is heard by nobody.
    try check()
    try copy.close()
    return pageCount
  }
}

/// Where a backup goes.
private struct BackupPlace {
  /// The file as it was named.
  private let name: String
  /// The file behind symbolic links, which is replaced: the link is not.
  private let path: String
  private let overwrites: Bool
  /// What the mark of a backup says.
  static let kind = "backup"

  init(path name: String, overwrites: Bool) throws(StoreError) {
    self.name = name
    path = try Self.place(name) { () throws(OutputPlace.Refusal) in
      try OutputPlace.target(of: name)
    }
    self.overwrites = overwrites
  }

  /// Refuses to replace the store itself, a database in use, and what is no backup of a store.
  ///
  /// - Parameter store: The file of the store; nil where it has none.
  /// - Throws: `.output`.
  func check(against store: String?) throws(StoreError) {
    let user = ["-wal", "-journal"].first { byteCount(of: path + $0) > 0 }
    let proof = OutputPlace.Proof.mark(name: "a backup", kind: Self.kind)
    try Self.place(name) { () throws(OutputPlace.Refusal) in
      let place = try OutputPlace(
        path,
        besides: OutputPlace.Kept.database(store),
        proof: overwrites || user != nil ? .needless : proof
      )
      if case .stream = place {
        throw OutputPlace.Refusal("is no regular file")
      }
    }
    if let user {
      throw refusal(
        "The file is a database in use: \(path)\(user) belongs to it.",
        help: "close the program that uses it, or name another file"
      )
    }
  }

  /// Locks the database that is replaced; nil: there is none, or one that cannot be locked.
  ///
  /// - Throws: `.output` where somebody has it open.
  func lockReplaced() throws(StoreError) -> SoleDatabase? {
    guard FileHead.isDatabase(path) else { return nil }
    do throws(SoleDatabase.Refusal) {
      return try SoleDatabase(path)
    } catch {
      guard case .used = error else { return nil }
      throw refusal(
        "The file is a database in use.",
        help: "close the program that uses it, or name another file"
      )
    }
  }

  /// Makes the empty file, with the permissions of the file that it replaces, or of the store's, which its owner may
  /// write in any case.
  ///
  /// - Parameter store: The file of the store; nil where it has none.
  /// - Returns: The file, which is published when it is whole.
  /// - Throws: `.output`.
  func makeFile(like store: String?) throws(StoreError) -> PublishedFile {
    let mode = store.flatMap { FileStatus($0) }.map { $0.permissions & 0o666 | 0o600 } ?? 0o644
    do throws(PublishedFile.Failure) {
      return try PublishedFile(beside: path, mode: .likeReplaced(else: mode))
    } catch {
      throw refusal("The file cannot be made: \(error.reason).")
    }
  }

  /// Removes what a reader of the older file left beside it: it belongs to that one.
  func removeLeftovers() {
    for ending in ["-wal", "-shm"] where byteCount(of: "\(path)-wal") == 0 {
      unlink(path + ending)
    }
  }

  private func byteCount(of file: String) -> Int {
    FileStatus(file)?.byteCount ?? 0
  }

  /// Says of what file a place was refused.
  private static func place<Place>(
    _ name: String,
    _ decide: () throws(OutputPlace.Refusal) -> Place
  ) throws(StoreError) -> Place {
    do throws(OutputPlace.Refusal) {
      return try decide()
    } catch {
      throw StoreError(
        .output,
        "The file of the backup \(error.reason).",
        help: error.help,
        path: name
      )
    }
  }

  private func refusal(_ message: String, help: String? = nil) -> StoreError {
    StoreError(.output, message, help: help, path: name)
  }

  func failure(_ failure: PublishedFile.Failure) -> StoreError {
    StoreError(.inputOutput, "Writing the backup failed: \(failure.reason).", path: name)
  }
}
