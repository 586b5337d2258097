import Foundation

@testable import DragomanGraph

/// The file of a store, whatever is in it.
enum StoreTarget {
  private static let path = FileManager.default.temporaryDirectory
    .appendingPathComponent("dragoman-fuzz-\(getpid()).db").path

  static let open: Target = { bytes in
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    guard FileManager.default.createFile(atPath: path, contents: Data(bytes)) else { return }
    guard let store = try? SQLiteStore(at: .file(path)) else { return }
    _ = try? store.contents()
    for entity in store.layout.entities.prefix(4) {
      try? store.forEachRow(FetchRequest(entity.name, limit: 10)) { _ in }
    }
    try? store.close()
  }
}
