import Dragoman
import DragomanGraph
import Foundation
import Synchronization

/// The database that is shown, opened anew for each request.
///
/// So a file that was migrated, replaced or taken away meanwhile is seen as it is.
final class ConsoleDatabase: Sendable {
  /// The file.
  let path: String

  /// A number of objects, and the file that it was counted in.
  private struct Count {
    let fingerprint: [Int]
    let number: Int
  }

  private let counts = Mutex<[String: Count]>([:])

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

  /// The number of all objects of an entity; counted again when the file has changed.
  func count(of entity: String, in store: SQLiteStore) throws(StoreError) -> Int {
    let now = fingerprint
    if let known = counts.withLock({ $0[entity] }), known.fingerprint == now { return known.number }
    let number = try store.count(FetchRequest(entity))
    counts.withLock { $0[entity] = Count(fingerprint: now, number: number) }
    return number
  }

  /// What changes with every commit: the sizes and times of the file and of its write-ahead log.
  private var fingerprint: [Int] {
    [path, path + "-wal"].flatMap { path -> [Int] in
      var status = stat()
      // An empty log is made and removed by whoever reads.
      guard stat(path, &status) == 0, status.st_size > 0 else { return [0] }
      #if os(Linux)
      let time = status.st_mtim
      #else
      let time = status.st_mtimespec
      #endif
      return [Int(status.st_ino), Int(status.st_size), Int(time.tv_sec), Int(time.tv_nsec)]
    }
  }
}
