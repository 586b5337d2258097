import Dragoman
import DragomanGraph
import Foundation

/// The database that is shown, opened anew for each request.
///
/// So a file that was migrated, replaced or taken away meanwhile is seen as it is.
final class ConsoleDatabase: Sendable {
  /// The file.
  let path: String

  init(_ path: String) { self.path = path }

  /// The file's name.
  var name: String { FilePath.name(of: path) }

  /// How many bytes the file has, together with its write-ahead log; 0 where it is not there.
  var byteCount: Int {
    [path, path + "-wal"].reduce(0) { $0 + (FileStatus($1)?.byteCount ?? 0) }
  }

  /// How long a page may read: who looks at it does not wait longer, and others wait behind it.
  static let patience = Duration.seconds(10)

  /// Opens the file to read it.
  ///
  /// - Parameter patience: How long it may be read; nil: as long as it takes, for what is sent as it is read.
  /// - Returns: The store; statements that run longer are ended.
  /// - Throws: `StoreError`: no such file, none of ours, …
  func open(for patience: Duration? = patience) throws(StoreError) -> SQLiteStore {
    var options = SQLiteStore.Options(
      isReadOnly: true,
      createsFile: false,
      readsConcurrently: false
    )
    if let patience {
      let deadline = ContinuousClock.now + patience
      options.shouldStop = { ContinuousClock.now > deadline }
    }
    return try SQLiteStore(at: .file(path), options: options)
  }

  /// Opens the file to write it.
  ///
  /// - Returns: The store, which the caller closes.
  /// - Throws: `StoreError`.
  func openToWrite() throws(StoreError) -> SQLiteStore {
    try SQLiteStore(
      at: .file(path),
      options: SQLiteStore.Options(createsFile: false, readsConcurrently: false)
    )
  }
}
