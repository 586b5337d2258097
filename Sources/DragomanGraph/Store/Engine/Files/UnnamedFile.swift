import Foundation

/// A file without a name in the folder for temporary files: it is gone with the last who holds it, however the process
/// ends.
package final class UnnamedFile: Sendable {
  /// It, open for reading and writing.
  package let descriptor: Int32

  /// Makes an empty one.
  ///
  /// - Throws: `StoreError`, `.output`, where there is no place for it.
  package init() throws(StoreError) {
    var path = Array("\(FilePath.temporaryFolder)/dragoman-XXXXXX".utf8CString)
    descriptor = mkstemp(&path)
    guard descriptor >= 0 else { throw StoreError.noTemporaryFile(errno) }
    unlink(path)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  deinit { close(descriptor) }
}

extension FilePath {
  /// Where temporary files go: the folder that `TMPDIR` names, without `/` at its end; else `/tmp`.
  package static var temporaryFolder: String {
    let named = getenv("TMPDIR").map { String(cString: $0) } ?? ""
    let folder = String(named.reversed().drop { $0 == "/" }.reversed())
    return folder.isEmpty ? named.isEmpty ? "/tmp" : "/" : folder
  }
}

extension StoreError {
  /// A temporary file or folder cannot be made.
  package static func noTemporaryFile(_ code: Int32) -> StoreError {
    StoreError(
      .output,
      "There is no place for temporary files in \(FilePath.temporaryFolder):"
        + " \(String(cString: strerror(code))).",
      help: "name a folder that can be written in TMPDIR"
    )
  }
}
