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
  /// - Returns: How large the copy is.
  /// - Throws: `.output` where the file cannot be made or may not be replaced, and what reading the
  ///   store and writing the copy throw: `.busy`, `.full`, `.inputOutput`, `.damaged`.
  public func backup(to path: String, overwrites: Bool = false) throws(StoreError) -> Backup {
    let file = try BackupFile(path: path, overwrites: overwrites)
    try file.check(against: self.path)
    try file.create(like: self.path)
    do {
      let pageCount = try copy(into: file.temporaryPath)
      let (byteCount, isMarked) = try file.complete()
      try file.check(against: self.path)
      try file.rename()
      return Backup(pageCount: pageCount, byteCount: byteCount, isMarked: isMarked)
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

/// The file of a backup: made under another name in the same folder, and renamed when it is whole.
struct BackupFile {
  /// The file as it was named.
  private let name: String
  /// The file behind symbolic links, which is replaced: the link is not.
  private let path: String
  /// The name of the file until it is whole.
  let temporaryPath: String
  private let overwrites: Bool
  /// What its mark says.
  private static let kind = "backup"

  init(path name: String, overwrites: Bool) throws(StoreError) {
    self.name = name
    path = try Self.place(name) { () throws(OutputPlace.Refusal) in
      try OutputPlace.target(of: name)
    }
    self.overwrites = overwrites
    // Its own, also where two processes of one number, or two threads, copy to one path.
    temporaryPath = "\(path).\(UUID().uuidString).part"
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

  /// Makes the empty file, with the permissions of the store's; its owner may write it in any case.
  func create(like store: String?) throws(StoreError) {
    var status = stat()
    let mode = store.map { stat($0, &status) == 0 } == true ? status.st_mode & 0o666 | 0o600 : 0o644
    let descriptor = open(
      temporaryPath,
      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
      mode
    )
    guard descriptor >= 0 else {
      throw refusal("The file cannot be made: \(String(cString: strerror(errno))).")
    }
    close(descriptor)
  }

  /// Marks the file as a backup, waits until it is on the disk, and gives its size.
  func complete() throws(StoreError) -> (byteCount: Int, isMarked: Bool) {
    let descriptor = open(temporaryPath, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure() }
    defer { close(descriptor) }
    let isMarked = OutputMark.set(Self.kind, on: descriptor)
    var status = stat()
    guard fsync(descriptor) == 0, fstat(descriptor, &status) == 0 else { throw failure() }
    return (Int(status.st_size), isMarked)
  }

  /// Gives the file its name, and waits until the folder knows.
  ///
  /// What a reader of the older file left beside it belongs to that one.
  func rename() throws(StoreError) {
    for ending in ["-wal", "-shm"] where byteCount(of: "\(path)-wal") == 0 {
      unlink(path + ending)
    }
    guard Foundation.rename(temporaryPath, path) == 0 else { throw failure() }
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    // Some file systems cannot do this for folders; the file itself is safe.
    _ = fsync(descriptor)
  }

  /// Removes what was made, with SQLite's files beside it.
  func discard() {
    for ending in ["", "-wal", "-shm", "-journal"] { unlink(temporaryPath + ending) }
  }

  private func byteCount(of file: String) -> Int {
    var status = stat()
    return stat(file, &status) == 0 ? Int(status.st_size) : 0
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

  private func failure() -> StoreError {
    StoreError(
      .inputOutput,
      "Writing the backup failed: \(String(cString: strerror(errno))).",
      path: name
    )
  }
}
