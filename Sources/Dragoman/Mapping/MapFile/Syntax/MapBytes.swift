import DragomanGraph
import Foundation

/// The bytes of a map file: of a regular file, or of a pipe that somebody writes into.
package enum MapBytes {
  /// Why there are none.
  package struct Failure: Error {
    /// A part of a sentence: "there is no such file".
    package let reason: String
    /// Whether this user may not read it.
    package var isDenied = false
  }

  /// How long a pipe may have no writer: one that is about to open it takes a moment.
  private static let patience: Int32 = 1000

  /// Reads a map, never more than a byte beyond what one may have: the limit is checked on the text.
  ///
  /// - Throws: `Failure`, of a database, too, which this process may have open (`FileHead`).
  package static func read(_ path: String) throws(Failure) -> [UInt8] {
    if FilePath.isCut(path) { throw Failure(reason: "its path holds U+0000") }
    if FileHead.isDatabase(path) { throw Failure(reason: "it is a SQLite database") }
    // Opened without waiting: a named pipe that nobody writes into would wait for ever.
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      let code = errno
      throw Failure(
        reason: code == ENOENT ? "there is no such file" : text(code),
        isDenied: code == EACCES
      )
    }
    defer { close(descriptor) }
    guard let file = FileStatus(descriptor: descriptor) else { throw Failure(reason: text(errno)) }
    switch file.kind {
    case .regular, .pipe: return try bytes(of: descriptor)
    case .folder: throw Failure(reason: "it is a folder")
    default: throw Failure(reason: "it is neither a file nor a pipe")
    }
  }

  private static func bytes(of descriptor: Int32) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    var hasWaited = false
    while bytes.count <= MapNode.maximumByteCount {
      let count = piece.withUnsafeMutableBytes {
        Foundation.read(descriptor, $0.baseAddress, $0.count)
      }
      if count > 0 {
        bytes += piece[..<count]
      } else if count == 0 {
        // The end; or a pipe that no writer has opened so far, or that one left without a word.
        guard bytes.isEmpty, !hasWaited, isPipe(descriptor) else { break }
        hasWaited = true
        _ = isReady(descriptor, milliseconds: patience)
      } else if errno == EAGAIN {
        // The writer of a pipe takes its time.
        _ = isReady(descriptor, milliseconds: -1)
      } else if errno != EINTR {
        throw Failure(reason: text(errno))
      }
    }
    if bytes.isEmpty, isPipe(descriptor) {
      throw Failure(reason: "it is a pipe, and nobody writes into it")
    }
    return bytes
  }

  private static func isPipe(_ descriptor: Int32) -> Bool {
    FileStatus(descriptor: descriptor)?.kind == .pipe
  }

  private static func isReady(_ descriptor: Int32, milliseconds: Int32) -> Bool {
    var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let count = poll(&state, 1, milliseconds)
      if count < 0, errno == EINTR { continue }
      return count > 0
    }
  }

  private static func text(_ number: Int32) -> String { String(cString: strerror(number)) }
}
