import DragomanGraph
import Foundation

/// The size of files.
enum FileSize {
  /// How many bytes a file has; 0 where it is not there.
  static func of(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}

/// What tells whether a file is still the one that it was.
struct FileStamp: Equatable, Sendable {
  private let device: UInt64
  private let number: UInt64
  private let byteCount: Int64
  private let second: Int64
  private let nanosecond: Int64

  /// - Returns: nil where there is no such file.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    number = UInt64(status.st_ino)
    byteCount = Int64(status.st_size)
    device = UInt64(truncatingIfNeeded: status.st_dev)
    (second, nanosecond) = (Int64(status.modified.tv_sec), Int64(status.modified.tv_nsec))
  }

  /// Whether nothing is in the file.
  var isEmpty: Bool { byteCount == 0 }

  /// Whether both are of one file, whatever was written into it meanwhile.
  func isOfSameFile(as other: FileStamp?) -> Bool {
    device == other?.device && number == other?.number
  }
}
