import DragomanGraph
import Foundation
import Synchronization

/// A folder for copies and uploads that only this user sees, and that goes with its use, or with the process.
package struct TemporaryFolder: Sendable {
  /// Those that are there.
  private static let made = Mutex<Set<String>>([])

  /// Its path, without `/` at its end.
  package let path: String

  /// Makes one, where temporary files go.
  ///
  /// - Throws: `StoreError`, `.output`, where there is no place for it.
  package init() throws(StoreError) {
    let path = "\(FilePath.temporaryFolder)/dragoman-\(UUID().uuidString)"
    let code = Self.made.withLock { made -> Int32 in
      guard mkdir(path, 0o700) == 0 else { return errno }
      made.insert(path)
      return 0
    }
    guard code == 0 else { throw StoreError.noTemporaryFile(code) }
    self.path = path
  }

  /// Removes it, with all that it holds.
  ///
  /// What cannot be removed goes when the system empties its folder for temporary files.
  package func remove() {
    Self.made.withLock { made in
      made.remove(path)
      try? FileManager.default.removeItem(atPath: path)
    }
  }

  /// Removes all of them, and ends the process.
  ///
  /// Whoever removes one meanwhile waits for that end: what fails because its files are gone is not told.
  ///
  /// - Parameter status: The exit code.
  package static func endProcess(_ status: Int32) -> Never {
    made.withLock { made in
      for path in made { try? FileManager.default.removeItem(atPath: path) }
      _exit(status)
    }
  }
}
