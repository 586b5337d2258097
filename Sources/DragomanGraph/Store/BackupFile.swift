import Foundation

/// The file of a backup: made under another name in the same folder, and renamed when it is whole.
struct BackupFile {
  let path: String
  /// The name of the file until it is whole.
  let temporaryPath: String

  init(path: String) {
    self.path = path
    temporaryPath = "\(path).\(ProcessInfo.processInfo.processIdentifier).part"
  }

  /// Refuses to replace the store itself, a database in use, and what is no database.
  ///
  /// - Parameter store: The file of the store; nil where it has none.
  /// - Throws: `.output`.
  func check(against store: String?) throws(StoreError) {
    if let store {
      for file in [store, "\(store)-wal", "\(store)-shm"] where isSame(file, path) {
        throw refusal(
          "The database cannot be backed up onto itself.",
          help: "name another file"
        )
      }
    }
    var status = stat()
    guard stat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw refusal("This is no file that could be replaced by a backup.")
    }
    guard try isDatabaseOrEmpty() else {
      throw refusal(
        "The file exists and is no database; it is not replaced.",
        help: "name another file, or remove this one first"
      )
    }
    for ending in ["-wal", "-journal"] where byteCount(of: path + ending) > 0 {
      throw refusal(
        "The file is a database in use: \(path)\(ending) belongs to it.",
        help: "close the program that uses it, or name another file"
      )
    }
  }

  /// Makes the empty file, with the permissions of the store's.
  func create(like store: String?) throws(StoreError) {
    var status = stat()
    let mode = store.map { stat($0, &status) == 0 } == true ? status.st_mode & 0o666 : 0o644
    unlink(temporaryPath)
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

  /// Waits until the file is on the disk, and gives its size.
  func synchronize() throws(StoreError) -> Int {
    let descriptor = open(temporaryPath, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure() }
    defer { close(descriptor) }
    var status = stat()
    guard fsync(descriptor) == 0, fstat(descriptor, &status) == 0 else { throw failure() }
    return Int(status.st_size)
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

  private func isDatabaseOrEmpty() throws(StoreError) -> Bool {
    guard let file = FileHandle(forReadingAtPath: path) else {
      throw refusal("The file exists and may not be read.")
    }
    do {
      defer { try? file.close() }
      let header = try file.read(upToCount: 16) ?? Data()
      return header.isEmpty || header.elementsEqual("SQLite format 3\0".utf8)
    } catch {
      throw refusal("The file exists and cannot be read: \(error).")
    }
  }

  private func byteCount(of file: String) -> Int {
    var status = stat()
    return stat(file, &status) == 0 ? Int(status.st_size) : 0
  }

  private func isSame(_ first: String, _ second: String) -> Bool {
    var one = stat()
    var other = stat()
    guard stat(first, &one) == 0, stat(second, &other) == 0 else { return first == second }
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino
  }

  private func refusal(_ message: String, help: String? = nil) -> StoreError {
    StoreError(.output, message, help: help, path: path)
  }

  private func failure() -> StoreError {
    StoreError(
      .inputOutput,
      "Writing the backup failed: \(String(cString: strerror(errno))).",
      path: path
    )
  }
}
