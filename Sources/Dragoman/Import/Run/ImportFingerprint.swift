import DragomanGraph
import Foundation

extension ImportInput {
  /// How many bytes the input has; nil where it does not tell.
  var byteCount: Int? {
    switch self {
    case .file(let path), .rejects(let path): FileStatus(path)?.byteCount
    case .opened(let feed, _): feed.byteCount
    case .standardInput, .url: nil
    case .bytes(let bytes, _): bytes.count
    case .records: nil
    }
  }

  /// Name, size and time of modification: enough to see that a feed is the same as before.
  var fingerprint: String {
    switch self {
    case .file(let path), .rejects(let path):
      let status = FileStatus(path)
      return "\(name):\(status?.byteCount ?? 0):\(status?.modified.seconds ?? 0)"
    case .standardInput: return "-"
    case .url, .opened: return "\(name):\(byteCount ?? 0)"
    case .bytes(let bytes, let name): return "\(name):\(bytes.count)"
    case .records(let records, let name): return "\(name):\(records.count)"
    }
  }
}

extension ImportRequest {
  /// Whether the inputs can be read a second time, and nobody is told of each record.
  var isRepeatable: Bool { observer == nil && readsItself }

  /// Whether all inputs can be read again, and by others.
  var readsItself: Bool {
    inputs.allSatisfy { input in
      switch input {
      case .file(let path), .rejects(let path): FileStatus(path)?.kind == .regular
      case .url, .bytes, .records: true
      case .standardInput, .opened: false
      }
    }
  }
}

extension ImportRequest {
  /// Whether an import into empty tables may go there by a temporary file: it asks for nothing that is kept on the
  /// server besides objects.
  var mayLoad: Bool {
    !isDryRun && !resumes && prune == nil && retriedFile == nil && partition == nil
      && changes == nil && observer == nil && !hasURLs
  }
}

extension ImportMap {
  /// A hash of what the map says: 16 hexadecimal digits, the same for the same map.
  ///
  /// Bounds do not count: who has raised one after an import failed goes on with it.
  var fingerprint: String {
    var map = self
    map.importOptions.maximumRejects = nil
    map.importOptions.maximumRecordByteCount = nil
    map.importOptions.maximumWaitingByteCount = nil
    return FeedHash.text(map.json())
  }
}
