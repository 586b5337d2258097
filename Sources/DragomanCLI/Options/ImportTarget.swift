import Dragoman
import DragomanGraph
import Logging

/// Where an import goes: a file, or a server.
enum ImportTarget {
  case file(SQLiteStore)
  case server(ServerStore)

  /// What imports there.
  func importer(_ map: ImportMap, _ logger: Logger) -> Importer {
    switch self {
    case .file(let store): Importer(map: map, store: store, logger: logger)
    case .server(let server): Importer(map: map, server: server, logger: logger)
    }
  }

  /// Closes it.
  ///
  /// - Throws: `StoreError`.
  func close() throws {
    switch self {
    case .server(let server): server.end()
    case .file(let store): try store.close()
    }
  }

  /// Closes it; a file that was made for an import that kept nothing is removed again.
  ///
  /// - Throws: `StoreError`.
  func close(keeping outcome: Result<ImportReport, ImportFailure>) throws {
    guard case .file(let store) = self, !outcome.keepsSomething else { return try close() }
    try store.discard()
  }
}
