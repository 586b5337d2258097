import Foundation
import Synchronization

/// A database file that is built beside its place and gets its name when it is whole.
///
/// Nobody looks into such a file before, so that nothing of it is synchronised until it is whole: what a power failure, a kill or a full disk
/// leaves is a file beside the place, which the next one who builds there takes over. Who builds holds a lock
/// (`flock`), which the system releases with the process: a second one waits.
///
/// The name is given by `link`, which fails where it is taken: who came first with a whole file wins.
final class NewFile: Sendable {
  /// What the name of the file beside its place ends with.
  static let ending = ".building"

  /// The place.
  let path: String
  /// The file until it has its name.
  let temporaryPath: String
  /// The file, locked; nil: it has its name, or is gone.
  private let descriptor: Mutex<Int32?>

  private init(_ path: String, _ descriptor: Int32) {
    self.path = path
    temporaryPath = path + Self.ending
    self.descriptor = Mutex(descriptor)
  }

  deinit { discard() }

  /// Makes the file beside a place where nothing is.
  ///
  /// - Parameters:
  ///   - path: The place.
  ///   - timeout: How long to wait for another one who builds there.
  /// - Returns: nil where something is at the place, or a file of ours cannot be made or locked beside it: the
  ///   ordinary way tells what is wrong.
  /// - Throws: `.busy`.
  static func claim(_ path: String, within timeout: Duration) throws(StoreError) -> NewFile? {
    guard FilePath.hasRoom(forNameOf: path, ending: ending + "-journal") else { return nil }
    let temporary = path + ending
    let deadline = ContinuousClock.now + timeout
    removeSecondName(of: path)
    while true {
      // A log without its database would be taken for the new one's.
      let parts = ["", "-wal", "-shm", "-journal"]
      guard parts.allSatisfy({ FileStatus(unfollowed: path + $0) == nil }) else { return nil }
      let descriptor = open(temporary, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o644)
      guard descriptor >= 0 else { return nil }
      switch lock(descriptor, temporary) {
      case .ours:
        // It may have got its name while we waited for it.
        if FileStatus(unfollowed: path) == nil, ftruncate(descriptor, 0) == 0 {
          for ending in ["-wal", "-shm", "-journal"] { unlink(temporary + ending) }
          return NewFile(path, descriptor)
        }
        unlink(temporary)
        close(descriptor)
        return nil
      case .strange:
        close(descriptor)
        return nil
      case .gone:
        // Open for ever: it may be a database by now that this process has opened (`FileHead`).
        flock(descriptor, LOCK_UN)
      case .taken:
        close(descriptor)
        guard ContinuousClock.now < deadline else {
          throw StoreError(
            .busy,
            "Another process makes this database, and did not end in time.",
            help: "try again when the other import has finished",
            path: path
          )
        }
        Thread.sleep(forTimeInterval: 0.02)
      }
    }
  }

  /// Waits until the file is on the disk, and gives it its name.
  ///
  /// Nothing may have it open any more. Where it fails the file is gone.
  ///
  /// - Throws: `.busy` where somebody else has made a file of that name meanwhile; `.full`, `.inputOutput`.
  func publish() throws(StoreError) {
    defer { discard() }
    guard let file = descriptor.withLock({ $0 }) else { return }
    guard synchronize(file) == 0 else { throw failure(errno) }
    guard FileStatus(unfollowed: path + "-wal") == nil,
      FileStatus(unfollowed: path + "-journal") == nil
    else {
      throw taken
    }
    switch PublishedFile.nameNew(temporaryPath, path) {
    case 0:
      // It stays open: who has opened the database since would lose its locks (`FileHead`).
      flock(file, LOCK_UN)
      descriptor.withLock { $0 = nil }
    case EEXIST: throw taken
    case let code: throw failure(code)
    }
    do throws(PublishedFile.Failure) {
      try synchronizeFolder(of: path)
    } catch {
      throw StoreError(
        .inputOutput,
        "The database is complete, but its folder cannot be written to the disk: \(error.reason).",
        help:
          "look at the disk; the same command again changes nothing where the database is there",
        path: path
      )
    }
  }

  /// Removes the file, unless it has its name.
  func discard() {
    descriptor.withLock { descriptor in
      guard let file = descriptor else { return }
      if Self.isNamed(temporaryPath, file) {
        for ending in ["", "-wal", "-shm", "-journal"] { unlink(temporaryPath + ending) }
      }
      close(file)
      descriptor = nil
    }
  }

  // MARK: - Files

  /// Who was killed between giving a file its name and removing the other one has left it both.
  private static func removeSecondName(of path: String) {
    guard let file = FileStatus(unfollowed: path),
      file.identity == FileStatus(unfollowed: path + ending)?.identity
    else { return }
    unlink(path + ending)
  }

  /// Whether a file has two names because one who builds it gives it the second, or was killed at that.
  static func isBeingNamed(_ path: String, _ status: FileStatus) -> Bool {
    status.nameCount == 2 && FileStatus(unfollowed: path + ending)?.identity == status.identity
  }

  /// How a file that was opened stands.
  private enum Lock {
    case ours
    /// Another process has it.
    case taken
    /// It has got its name or was removed meanwhile.
    case gone
    /// It is no file that was left by who built here, or cannot be locked.
    case strange
  }

  private static func lock(_ descriptor: Int32, _ path: String) -> Lock {
    // What somebody else has made is his, with his permissions.
    guard let made = FileStatus(descriptor: descriptor), made.kind == .regular,
      made.owner == geteuid()
    else { return .strange }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      return errno == EWOULDBLOCK ? .taken : .strange
    }
    guard isNamed(path, descriptor), let own = FileStatus(descriptor: descriptor) else {
      return .gone
    }
    if own.nameCount > 1 {
      // It has its name, and who gave it was killed before this one was removed.
      return unlink(path) == 0 ? .gone : .strange
    }
    return isLeftOver(descriptor) ? .ours : .strange
  }

  /// Whether a file is what a build that was interrupted leaves: empty, a database, or one whose first page was not
  /// written.
  private static func isLeftOver(_ descriptor: Int32) -> Bool {
    var start = [UInt8](repeating: 0, count: 16)
    let count = start.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
    guard count >= 0 else { return false }
    return start.allSatisfy { $0 == 0 } || start == FileHead.databaseMagic
  }

  private static func isNamed(_ path: String, _ descriptor: Int32) -> Bool {
    guard let own = FileStatus(descriptor: descriptor) else { return false }
    return own.identity == FileStatus(unfollowed: path)?.identity
  }

  private var taken: StoreError {
    StoreError(
      .busy,
      "Another process has made this database meanwhile; nothing of this one was kept.",
      help: "run it again: it goes into the database that is there now",
      path: path
    )
  }

  private func failure(_ code: Int32) -> StoreError {
    code == ENOSPC || code == EDQUOT
      ? StoreError(
        .full,
        "The disk is full; nothing was kept.",
        help: "free some space and run the same command again",
        path: path
      )
      : StoreError(
        .inputOutput,
        "Writing the database failed: \(String(cString: strerror(code))).",
        path: path
      )
  }
}
