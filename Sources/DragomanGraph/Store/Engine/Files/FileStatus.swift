import Foundation

/// What the system tells of a file (`man 2 stat`): what it is, which one, how large, and when it was written last.
package struct FileStatus: Sendable {
  /// What a file is.
  package enum Kind: Sendable {
    case regular, folder, pipe, characterDevice, blockDevice, socket
    /// A link that was not followed, or what only some systems have.
    case other
  }

  /// Which file it is, whatever it is called: no two that are there at once have the same.
  package struct Identity: Hashable, Sendable {
    private let device: dev_t
    private let number: ino_t

    fileprivate init(_ status: stat) { (device, number) = (status.st_dev, status.st_ino) }
  }

  /// A moment, counted from 1970.
  package struct Time: Hashable, Sendable {
    package let seconds: Int
    package let nanoseconds: Int

    fileprivate init(_ time: timespec) {
      (seconds, nanoseconds) = (Int(time.tv_sec), Int(time.tv_nsec))
    }
  }

  /// What another writing, or another file of the same name, makes another value of.
  package struct Version: Hashable, Sendable {
    let file: Identity
    let byteCount: Int
    let modified: Time
  }

  private let status: stat

  /// Looks at a file, behind links.
  ///
  /// - Parameter path: The file.
  package init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.status = status
  }

  /// Looks at what has a name; a link counts itself, wherever it leads.
  ///
  /// - Parameter path: The name.
  package init?(unfollowed path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    self.status = status
  }

  /// Looks at an open file.
  ///
  /// - Parameter descriptor: The file.
  package init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.status = status
  }

  /// What it is.
  package var kind: Kind {
    switch status.st_mode & S_IFMT {
    case S_IFREG: .regular
    case S_IFDIR: .folder
    case S_IFIFO: .pipe
    case S_IFCHR: .characterDevice
    case S_IFBLK: .blockDevice
    case S_IFSOCK: .socket
    default: .other
    }
  }

  /// Which file it is.
  package var identity: Identity { Identity(status) }

  /// How large it is.
  package var byteCount: Int { Int(status.st_size) }

  /// Who may do what with it: the lower twelve bits of its mode.
  package var permissions: mode_t { status.st_mode & 0o7777 }

  /// Whose it is.
  package var owner: uid_t { status.st_uid }

  /// How many names it has, symbolic links aside.
  package var nameCount: Int { Int(status.st_nlink) }

  /// When it was written last.
  package var modified: Time {
    #if canImport(Darwin)
    Time(status.st_mtimespec)
    #else
    Time(status.st_mtim)
    #endif
  }

  /// What is the same for as long as nobody writes to it or replaces it.
  package var version: Version {
    Version(file: identity, byteCount: byteCount, modified: modified)
  }
}
