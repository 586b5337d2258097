import Foundation
import Synchronization

/// The body of a request as it comes: in memory while it is short, then in a temporary file.
final class BodySpool: Sendable {
  private struct State {
    var buffer = Data()
    var file: (handle: FileHandle, path: String)?
    var byteCount = 0
  }

  /// So many bytes are kept in memory.
  private static let memoryByteCount = 1 << 20

  private let limit: Int
  private let path: @Sendable () throws -> String
  private let state = Mutex(State())

  /// - Parameters:
  ///   - limit: How many bytes are taken.
  ///   - path: Tells where the file may be.
  init(limit: Int, path: @escaping @Sendable () throws -> String) {
    self.limit = limit
    self.path = path
  }

  deinit { state.withLock { Self.removeFile(&$0) } }

  /// Takes bytes.
  ///
  /// - Returns: Whether there are enough of them to be flushed.
  /// - Throws: `ConsoleError`, 413, where they are too many.
  func append(_ bytes: [UInt8]) throws(ConsoleError) -> Bool {
    try state.withLock { (state) throws(ConsoleError) in
      state.byteCount += bytes.count
      guard state.byteCount <= limit else { throw ConsoleGuard.tooLong(limit) }
      state.buffer.append(contentsOf: bytes)
      return state.buffer.count >= Self.memoryByteCount
    }
  }

  /// Writes what is in memory to the file.
  ///
  /// - Throws: `ConsoleError`, 507, where it cannot be written.
  func flush() throws(ConsoleError) {
    try state.withLock { (state) throws(ConsoleError) in try flush(&state) }
  }

  /// The whole body; of a file it is mapped, and the file has no name any more.
  ///
  /// - Throws: `ConsoleError`, 507.
  func finish() throws(ConsoleError) -> Data {
    try state.withLock { (state) throws(ConsoleError) in
      guard let path = state.file?.path else { return state.buffer }
      try flush(&state)
      defer { Self.removeFile(&state) }
      do {
        return try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
      } catch {
        throw ConsoleError(507, "What was sent cannot be read again: \(error)")
      }
    }
  }

  private func flush(_ state: inout State) throws(ConsoleError) {
    do {
      if state.file == nil {
        let path = try path()
        let isMade = FileManager.default.createFile(
          atPath: path,
          contents: nil,
          attributes: [.posixPermissions: 0o600]
        )
        guard isMade, let handle = FileHandle(forWritingAtPath: path) else {
          throw CocoaError(.fileWriteUnknown)
        }
        state.file = (handle, path)
      }
      try state.file?.handle.write(contentsOf: state.buffer)
      state.buffer.removeAll(keepingCapacity: true)
    } catch {
      throw ConsoleError(
        507,
        "What was sent cannot be kept: \(error)",
        help:
          "make room on the disk of temporary files, or give the file's path on the server instead"
      )
    }
  }

  private static func removeFile(_ state: inout State) {
    guard let file = state.file else { return }
    // Its space goes with the last one who has it mapped; what cannot be removed goes with the folder.
    try? file.handle.close()
    try? FileManager.default.removeItem(atPath: file.path)
    state.file = nil
  }
}
