import Foundation

/// The size of files.
enum FileSize {
  /// How many bytes a file has; 0 where it is not there.
  static func of(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}
