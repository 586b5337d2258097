import Dragoman
import DragomanGraph
import Foundation
import Synchronization

/// Why output could not be written.
struct OutputError: Error, CustomStringConvertible {
  /// The system's error number.
  let code: Int32
  /// What happened to a file; nil of a stream, which has no name.
  private let reason: String?

  /// A failure of a stream.
  init(code: Int32) {
    self.code = code
    reason = nil
  }

  /// A failure of a file.
  init(_ error: ExportError) {
    code = error.isClosedPipe ? EPIPE : EIO
    reason = error.message
  }

  /// Whether the reader of the pipe went away, as `head` does: no error worth a message.
  var isClosedPipe: Bool { code == EPIPE }

  /// A sentence for people.
  var description: String {
    reason ?? "The output cannot be written: \(String(cString: strerror(code)))."
  }
}

/// Bytes on their way to a file or a file descriptor, written in large pieces; or kept in memory.
///
/// Whoever makes one calls `flush()` at the end.
final class OutputBuffer {
  private static let capacity = 64 << 10
  /// Whether anything was written to standard output.
  static let hasPrinted = Atomic<Bool>(false)

  private enum Target {
    case memory
    case descriptor(Int32)
    case file(OutputFile)
  }

  /// What has not been written yet; everything, where there is no target.
  private(set) var bytes: [UInt8] = []
  private let target: Target
  /// Whether people look at it: text is written as they may see it (`TextStyle.visible`).
  private let isForPeople: Bool

  /// Makes a buffer in front of a descriptor, or one in memory for nil.
  ///
  /// - Parameters:
  ///   - descriptor: Where the bytes go.
  ///   - isForPeople: Whether only people read it; a terminal is theirs in any case.
  init(descriptor: Int32?, isForPeople: Bool = false) {
    target = descriptor.map(Target.descriptor) ?? .memory
    self.isForPeople = isForPeople || descriptor.map(Terminal.isTerminal) ?? false
    bytes.reserveCapacity(Self.capacity)
  }

  /// Makes a buffer in front of a file, which is somebody else's to finish.
  init(_ file: OutputFile) {
    target = .file(file)
    isForPeople = false
    bytes.reserveCapacity(Self.capacity)
  }

  /// Appends text as UTF-8.
  func write(_ text: String) throws(OutputError) {
    try write((isForPeople ? TextStyle.visible(text) : text).utf8)
  }

  /// Appends bytes, which a terminal may obey.
  func write(_ bytes: some Sequence<UInt8>) throws(OutputError) {
    self.bytes.append(contentsOf: bytes)
    if self.bytes.count >= Self.capacity { try flush() }
  }

  /// Appends one byte.
  func write(byte: UInt8) throws(OutputError) {
    bytes.append(byte)
    if bytes.count >= Self.capacity { try flush() }
  }

  /// Writes text to standard output; where nobody reads any more it is not wanted.
  static func print(_ text: String) throws(OutputError) {
    let output = OutputBuffer(descriptor: STDOUT_FILENO)
    do {
      try output.write(text)
      try output.flush()
    } catch  where error.isClosedPipe {
      // Whoever read has enough.
    }
  }

  /// Hands everything to the system.
  func flush() throws(OutputError) {
    switch target {
    case .memory: return
    case .descriptor(let descriptor):
      if descriptor == STDOUT_FILENO, !bytes.isEmpty {
        Self.hasPrinted.store(true, ordering: .relaxed)
      }
      let code = bytes.withUnsafeBytes { FileOutput.write($0, to: descriptor) }
      bytes.removeAll(keepingCapacity: true)
      if let code { throw OutputError(code: code) }
    case .file(let file):
      defer { bytes.removeAll(keepingCapacity: true) }
      let failure = bytes.withUnsafeBytes { bytes -> ExportError? in
        do throws(ExportError) {
          try file.write(bytes)
          return nil
        } catch {
          return error
        }
      }
      if let failure { throw OutputError(failure) }
    }
  }
}
