import Foundation

/// Reads a file line by line, whatever their length.
final class LineReader {
  private let file: UnsafeMutablePointer<FILE>
  private var line: UnsafeMutablePointer<CChar>?
  private var capacity = 0
  /// Whether reading ended before the file did.
  var hasFailed: Bool { ferror(file) != 0 }

  /// Opens a file; nil where that fails, and `errno` says why.
  init?(_ path: String) {
    guard let file = fopen(path, "re") else { return nil }
    self.file = file
  }

  deinit {
    fclose(file)
    free(line)
  }

  /// The next line with its line feed, where it has one; nil at the end.
  func next() -> [UInt8]? {
    let count = getline(&line, &capacity, file)
    guard count > 0, let line else { return nil }
    return Array(UnsafeRawBufferPointer(start: line, count: count))
  }
}
