import Dragoman
import DragomanGraph
import Logging

/// Where an import goes: a file, or a server.
enum ImportTarget {
  case file(SQLiteStore)
  case server(Stack)

  /// What imports there.
  func importer(_ map: ImportMap, _ logger: Logger) -> Importer {
    switch self {
    case .file(let store): Importer(map: map, store: store, logger: logger)
    case .server(let stack): Importer(map: map, stack: stack, logger: logger)
    }
  }

  /// Closes it; a file that was made for an import that kept nothing is removed again.
  ///
  /// - Throws: `StoreError`.
  func close(keeping outcome: Result<ImportReport, ImportFailure>) throws {
    switch (self, outcome) {
    case (.server(let stack), _): try stack.close()
    case (.file(let store), .success(let report))
    where report.status != .cancelled || report.committed > 0:
      try store.close()
    case (.file(let store), .failure(let failure)) where failure.report.committed > 0:
      try store.close()
    case (.file(let store), _): try store.discard()
    }
  }
}
