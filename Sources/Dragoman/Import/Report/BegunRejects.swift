import Foundation
import Synchronization

/// The rejects files that the imports of one run have begun: the first one makes a file anew, and the others write
/// behind it.
package final class BegunRejects: Sendable {
  /// Those of the run that the task belongs to; nil: an import is on its own.
  @TaskLocal package static var current: BegunRejects?

  /// A file, whatever its path is spelled like.
  private struct File: Hashable {
    let device: UInt64
    let number: UInt64
  }

  private let files = Mutex<Set<File>>([])

  /// Nothing is begun.
  package init() {}

  /// Whether an open file was begun.
  func contains(_ descriptor: Int32) -> Bool {
    guard let file = Self.file(descriptor) else { return false }
    return files.withLock { $0.contains(file) }
  }

  /// Takes note that an open file is begun.
  func add(_ descriptor: Int32) {
    guard let file = Self.file(descriptor) else { return }
    _ = files.withLock { $0.insert(file) }
  }

  private static func file(_ descriptor: Int32) -> File? {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    return File(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
  }
}
