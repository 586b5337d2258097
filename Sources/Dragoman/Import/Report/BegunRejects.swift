import DragomanGraph
import Foundation
import Synchronization

/// The rejects files that the imports of one run have begun: the first one makes a file anew, and the others write
/// behind it.
package final class BegunRejects: Sendable {
  /// Those of the run that the task belongs to; nil: an import is on its own.
  @TaskLocal package static var current: BegunRejects?

  private let files = Mutex<Set<FileStatus.Identity>>([])

  /// Nothing is begun.
  package init() {}

  /// Whether an open file was begun.
  func contains(_ descriptor: Int32) -> Bool {
    guard let file = FileStatus(descriptor: descriptor)?.identity else { return false }
    return files.withLock { $0.contains(file) }
  }

  /// Takes note that an open file is begun.
  func add(_ descriptor: Int32) {
    guard let file = FileStatus(descriptor: descriptor)?.identity else { return }
    _ = files.withLock { $0.insert(file) }
  }
}
