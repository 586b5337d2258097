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
  var name: String { (path as NSString).lastPathComponent }

  /// Opens the file to read it.
  ///
  /// - Throws: `StoreError`: no such file, none of ours, …
  func open() throws(StoreError) -> SQLiteStore {
    try SQLiteStore(
      at: .file(path),
      options: SQLiteStore.Options(isReadOnly: true, createsFile: false, readsConcurrently: false)
    )
  }
}
