import CExtendedAttributes
import Foundation

/// What stays with a file that an output made: which kind of output, and how the file was when it was whole.
///
/// An export looks like any other feed, and a backup like any other database, so nothing in the file
/// itself tells whether it may be replaced. The mark is an extended attribute
/// (`user.dragoman.output`, see `man 7 xattr`) that holds size and time of the last change: it goes
/// with the file when it is renamed, is not on copies, and says that somebody wrote to the file since.
package enum OutputMark {
  /// What the mark of a file tells.
  package enum Reading {
    /// No mark, or that of another kind of output.
    case missing
    /// Made as such an output, and changed since.
    case stale
    /// Made as such an output, and as it was then.
    case intact
  }

  private static let name = "user.dragoman.output"

  /// Marks a file whose contents are complete.
  ///
  /// - Parameters:
  ///   - kind: What the file is: "export".
  ///   - descriptor: The file, open for writing.
  /// - Returns: false where the file system keeps no such attributes.
  package static func set(_ kind: String, on descriptor: Int32) -> Bool {
    guard let status = FileStatus(descriptor: descriptor) else { return false }
    let mark = Array(text(kind, status).utf8)
    return dragoman_fsetxattr(descriptor, name, mark, mark.count) == 0
  }

  /// Reads the mark of a file.
  ///
  /// - Parameters:
  ///   - kind: What the file should be.
  ///   - path: The file, behind symbolic links.
  ///   - status: What the system says of the file.
  /// - Returns: Whether there is one, and what it says.
  static func read(_ kind: String, at path: String, _ status: FileStatus) -> Reading {
    var bytes = [UInt8](repeating: 0, count: 128)
    let count = dragoman_getxattr(path, name, &bytes, bytes.count)
    guard count > 0 else { return .missing }
    let mark = bytes[..<count]
    if mark.elementsEqual(text(kind, status).utf8) { return .intact }
    return mark.starts(with: "\(kind) ".utf8) ? .stale : .missing
  }

  /// Kind, size in bytes, and time of the last change to the nanosecond.
  private static func text(_ kind: String, _ status: FileStatus) -> String {
    let changed = status.modified
    return "\(kind) \(status.byteCount) \(changed.seconds) \(changed.nanoseconds)"
  }
}
