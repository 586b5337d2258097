import DragomanGraph
import Foundation

/// Writes a rejects file again, line by line: beside its place first, then under its name.
///
/// What others have written into it meanwhile is not lost: the file stays as it is then. While an import writes it
/// (`RejectsFile` has a lock on it, `flock`) it is not begun, and until its end nobody else writes it.
package final class RejectsReplacement {
  private let path: String
  /// What the file was when this began.
  private var before: FileStatus.Version?
  /// The file, locked.
  private let descriptor: Int32

  /// - Parameter path: The file; a link is followed.
  /// - Throws: `.output` where the file is none that can be replaced, or others are writing it.
  package init(_ path: String) throws(ImportError) {
    self.path = FilePath.resolved(path)
    let found = FileStatus(path)
    descriptor = open(self.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    // A file system without locks has none that would be held.
    if descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
      throw ImportError(
        .output,
        "Another import or retry is writing \(path): nothing was done.",
        help: "run it again when that has ended"
      )
    }
    guard let found, descriptor >= 0, found.kind == .regular else {
      throw ImportError(
        .output,
        "\(path) is no file that can be written again without the records that go in.",
        help: "put the rejects into a file"
      )
    }
    guard let locked = FileStatus(descriptor: descriptor), locked.identity == found.identity else {
      throw ImportError(
        .output,
        "Another import or retry has just written \(path): nothing was done.",
        help: "run it again"
      )
    }
    // Who held the lock may have written until now.
    before = locked.version
    guard access(FilePath.openFolder(of: self.path), W_OK) == 0 else {
      throw ImportError(
        .output,
        "The folder of \(path) cannot be written to: \(String(cString: strerror(errno)))."
      )
    }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Replaces the file.
  ///
  /// - Parameter line: Gets the number, from 1, and the bytes of each line; says what stands in its place.
  /// - Throws: `.inputOutput` where that fails, and what the closure throws: the file is as it was then.
  package func replace(
    _ line: (Int, [UInt8]) throws(ImportError) -> [UInt8]
  ) throws(ImportError) {
    let file: PublishedFile
    do throws(PublishedFile.Failure) {
      file = try PublishedFile(beside: path, mode: .exactly(0o600))
    } catch {
      throw failure(error.code)
    }
    try copyLines(to: file.descriptor, line)
    try file.publish { () throws(ImportError) in
      guard FileStatus(path)?.version == before else { throw changed }
    } orThrow: { failure in
      failure.isNamed
        ? ImportError(
          .inputOutput,
          "The rejects file \(path) cannot be completed: \(failure.reason)."
        )
        : self.failure(failure.code)
    }
  }

  private func copyLines(
    to descriptor: Int32,
    _ replaced: (Int, [UInt8]) throws(ImportError) -> [UInt8]
  ) throws(ImportError) {
    guard let lines = LineReader(path) else { throw failure(errno) }
    var buffer: [UInt8] = []
    var number = 0
    while let line = lines.next() {
      number += 1
      buffer += try replaced(number, line)
      if buffer.count > 64 << 10 { try write(&buffer, to: descriptor) }
    }
    if lines.hasFailed { throw failure(EIO) }
    try write(&buffer, to: descriptor)
  }

  private func write(_ buffer: inout [UInt8], to descriptor: Int32) throws(ImportError) {
    if let code = buffer.withUnsafeBytes({ FileOutput.write($0, to: descriptor) }) {
      throw failure(code)
    }
    buffer.removeAll(keepingCapacity: true)
  }

  private static let help =
    "take the lines out of it that went in, or run it again: objects with a unique key count as unchanged"
    + " then, and others come in once more"

  private var changed: ImportError {
    ImportError(
      .inputOutput,
      "The rejects file \(path) was changed meanwhile and stays as it is; the records are imported.",
      help: Self.help
    )
  }

  /// Why the file is not replaced, by the system's error number.
  func failure(_ code: Int32) -> ImportError {
    ImportError(
      .inputOutput,
      "The rejects file \(path) cannot be written again: \(String(cString: strerror(code))). It is as it was.",
      help: Self.help
    )
  }
}

extension RejectsReplacement {
  /// Takes a line out of the file.
  ///
  /// - Parameters:
  ///   - number: The line, from 1.
  ///   - bytes: What the line is.
  /// - Throws: `.inputOutput` where the line is another one by now, or the file cannot be written again.
  package func remove(line number: Int, _ bytes: [UInt8]) throws(ImportError) {
    var isThere = false
    try replace { place, line throws(ImportError) in
      guard place == number else { return line }
      guard line == bytes else { throw changed }
      isThere = true
      return []
    }
    guard isThere else { throw changed }
  }
}
