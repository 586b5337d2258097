import Foundation

/// A file that appears under its name when it is whole, and not before.
///
/// The bytes go into a hidden file beside it, which is synchronised with the disk and then renamed, so that a crash, a
/// full disk or a signal leaves what stood there before. A file that is let go without having been published is
/// gone, too.
///
/// Whether it may stand there is not asked here, but of `OutputPlace`.
package final class PublishedFile {
  /// Which permissions the file has in the end.
  ///
  /// Until then what replaces another file is its owner's only.
  package enum Mode {
    /// Those of the file that it replaces; where there is none, these, less what the process denies (`umask`).
    case likeReplaced(else: mode_t)
    /// These, whatever stood there.
    case exactly(mode_t)
  }

  /// What the system refused.
  package struct Failure: Error {
    /// The error's number.
    package let code: Int32
    /// Whether the file has its name already, and only its folder may not be on the disk.
    package let isNamed: Bool

    init(_ code: Int32, isNamed: Bool = false) {
      self.code = code
      self.isNamed = isNamed
    }

    /// Why, without a full stop: "No space left on device".
    package var reason: String {
      let reason = String(cString: strerror(code))
      return isNamed
        ? "it is there, but its folder cannot be written to the disk: \(reason)" : reason
    }
  }

  /// The hidden file, open for writing; valid until the file is published or discarded.
  package let descriptor: Int32
  /// The hidden file, for who opens it by its name.
  package let temporaryPath: String
  private let path: String
  private let mode: Mode
  /// The permissions of what stood there in the beginning.
  private let replacedMode: mode_t?
  private var isOpen: Bool
  /// Whether there is a hidden file that has to go.
  private var isHidden: Bool

  /// Makes the hidden file.
  ///
  /// - Parameters:
  ///   - path: Where the file is to appear; no link, which would be replaced itself (`OutputPlace` follows them).
  ///   - mode: The permissions of the file.
  /// - Throws: `Failure` where the system makes no file there.
  package init(beside path: String, mode: Mode) throws(Failure) {
    self.path = path
    self.mode = mode
    temporaryPath = FilePath.file(
      Self.hiddenName(of: FilePath.name(of: path)),
      in: FilePath.folder(of: path)
    )
    replacedMode = Self.mode(of: path)
    // What replaces a private file is private from its first byte on.
    var first: mode_t = 0o600
    if case .likeReplaced(let other) = mode, replacedMode == nil { first = other }
    descriptor = open(temporaryPath, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, first)
    isOpen = descriptor >= 0
    isHidden = isOpen
    guard isOpen else { throw Failure(errno) }
  }

  deinit { discard() }

  /// Gives the file its name, when it and its permissions are on the disk, and waits until its folder is.
  ///
  /// Where it fails nothing is left beside the place, and what stood there stands there still; but a folder that
  /// cannot be written to the disk is told when the file has its name (`Failure.isNamed`).
  ///
  /// - Parameters:
  ///   - isNew: Whether it fails (`EEXIST`) where something stands there.
  ///   - check: Is called before the file gets its name: much may have happened there since it was begun.
  ///   - refusal: What is thrown for a failure of the system.
  /// - Throws: What the check throws, and refusals.
  package func publish<Refusal: Error>(
    isNew: Bool = false,
    checking check: () throws(Refusal) -> Void,
    orThrow refusal: (Failure) -> Refusal
  ) throws(Refusal) {
    defer { discard() }
    // A file system without permissions refuses; what it makes of them is its own then.
    if let last = lastMode { fchmod(descriptor, last) }
    guard synchronize(descriptor) == 0 else { throw refusal(Failure(errno)) }
    try check()
    // Before it has its name: once it may be open as a database, to close it would release the locks on it (`FileHead`).
    close()
    let code = isNew ? Self.nameNew(temporaryPath, path) : Self.rename(temporaryPath, path)
    guard code == 0 else { throw refusal(Failure(code)) }
    isHidden = false
    do throws(Failure) {
      try synchronizeFolder(of: path)
    } catch {
      throw refusal(Failure(error.code, isNamed: true))
    }
  }

  /// Removes the hidden file, with what SQLite keeps beside a database; does nothing where it has its name.
  package func discard() {
    close()
    guard isHidden else { return }
    isHidden = false
    for ending in ["", "-wal", "-shm", "-journal"] { unlink(temporaryPath + ending) }
  }

  private func close() {
    guard isOpen else { return }
    isOpen = false
    Foundation.close(descriptor)
  }

  /// The permissions that the file gets before its name; nil: it has them.
  private var lastMode: mode_t? {
    switch mode {
    case .exactly(let mode): mode
    // Somebody may have made the file private, or made it at all, meanwhile.
    case .likeReplaced: Self.mode(of: path) ?? replacedMode
    }
  }

  private static func mode(of path: String) -> mode_t? {
    guard let status = FileStatus(path), status.kind == .regular else { return nil }
    return status.permissions
  }

  // MARK: - Names

  /// How many bytes of a name a hidden one begins with: what is added to it, by SQLite (`-journal`), too, fits into
  /// the 143 bytes that encrypted file systems leave of 255.
  private static let maximumStemByteCount = 100

  /// A name that nobody has: `.NAME.….part`.
  static func hiddenName(of name: String) -> String {
    var stem = String.UnicodeScalarView()
    var byteCount = 0
    for scalar in name.unicodeScalars {
      byteCount += UTF8.width(scalar)
      guard byteCount <= maximumStemByteCount else { break }
      stem.append(scalar)
    }
    return ".\(String(stem)).\(String(UInt64.random(in: 0 ... .max), radix: 36)).part"
  }

  /// Gives a file another name, whatever has it.
  ///
  /// - Returns: 0, or the error's number.
  private static func rename(_ old: String, _ new: String) -> Int32 {
    Foundation.rename(old, new) == 0 ? 0 : errno
  }

  /// Gives a file another name that nobody has.
  ///
  /// - Returns: 0, or the error's number: `EEXIST` where somebody has it.
  static func nameNew(_ old: String, _ new: String) -> Int32 {
    if link(old, new) == 0 {
      unlink(old)
      return 0
    }
    switch errno {
    case EPERM, EOPNOTSUPP, ENOTSUP, ENOSYS, EMLINK:
      // A file system without links: nobody comes between these two calls, most likely.
      return FileStatus(unfollowed: new) != nil ? EEXIST : rename(old, new)
    default: return errno
    }
  }
}

/// Waits until what was written to a file is on its disk, and not only in the disk's own memory.
///
/// - Returns: 0, or -1 with `errno`.
func synchronize(_ descriptor: Int32) -> Int32 {
  #if canImport(Darwin)
  // https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/fsync.2.html
  if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
  #endif
  return fsync(descriptor)
}

/// Waits until the disk knows the names in the folder of a file.
///
/// File systems that cannot do that for folders, and folders that may not be read, are overlooked: the file itself
/// is safe.
///
/// - Parameter path: The file.
/// - Throws: `Failure` where the disk fails or is full: `EIO`, `ENOSPC`, `EDQUOT`.
package func synchronizeFolder(of path: String) throws(PublishedFile.Failure) {
  let descriptor = open(FilePath.openFolder(of: path), O_RDONLY | O_CLOEXEC)
  let isDone = descriptor >= 0 && synchronize(descriptor) == 0
  let code = errno
  if descriptor >= 0 { close(descriptor) }
  guard !isDone, [EIO, ENOSPC, EDQUOT].contains(code) else { return }
  throw PublishedFile.Failure(code)
}
