import DragomanGraph
import Foundation
import Synchronization

/// The lines of a rejects file that a retry leaves alone; the reading thread tells them.
final class RetriedLines: Sendable {
  private let kept = Mutex<Set<Int>>([])

  /// Leaves a line as it is, by its number from 1.
  func keep(_ number: Int) { kept.withLock { _ = $0.insert(number) } }

  /// Whether a line is left as it is.
  func isKept(_ number: Int) -> Bool { kept.withLock { $0.contains(number) } }
}

/// Writes a rejects file again when its records have been imported: without those that went in.
///
/// Lines of records that were rejected again stand in their old places with the new reason; lines that were left
/// alone are the same bytes. The new file is written beside, and takes the place of the old one by its name.
final class RejectsRewriting: RejectsOutput {
  private let path: String
  private let retried: RetriedLines
  /// What the file was when it was opened.
  private let before: stat
  /// New lines, in a file that nobody else sees.
  private let fresh: UnsafeMutablePointer<FILE>
  private var places: [Int: (start: Int, count: Int)] = [:]
  private var byteCount = 0

  /// - Parameters:
  ///   - path: The file; a link is followed.
  ///   - retried: The lines that stay as they are.
  /// - Throws: `.output` where the file is none that can be replaced.
  init(_ path: String, _ retried: RetriedLines) throws(ImportError) {
    self.path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    self.retried = retried
    var found = stat()
    guard stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
      throw ImportError(
        .output,
        "\(path) is no file that can be written again without the records that go in.",
        help: "put the rejects into a file"
      )
    }
    before = found
    let folder = (self.path as NSString).deletingLastPathComponent
    guard access(folder.isEmpty ? "." : folder, W_OK) == 0 else {
      throw ImportError(
        .output,
        "The folder of \(path) cannot be written to: \(String(cString: strerror(errno)))."
      )
    }
    guard let fresh = tmpfile() else {
      throw ImportError(
        .inputOutput,
        "There is no temporary file for the new rejects: \(String(cString: strerror(errno)))."
      )
    }
    self.fresh = fresh
  }

  deinit { fclose(fresh) }

  func write(_ issue: ImportIssue, _ record: RejectedRecord) throws(ImportError) {
    guard let number = record.number else { return }
    var line: [UInt8] = []
    record.appendLine(of: issue, to: &line)
    guard fwrite(line, 1, line.count, fresh) == line.count else { throw failure(errno) }
    places[number] = (byteCount, line.count)
    byteCount += line.count
  }

  /// Replaces the file.
  ///
  /// - Throws: `.inputOutput` where that fails: the file is as it was, and another retry finds what is in the
  ///   database already unchanged.
  func finish() throws(ImportError) {
    guard fflush(fresh) == 0 else { throw failure(errno) }
    // A name that nobody has: what stands beside is somebody's.
    var name = Array("\(path).XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else { throw failure(errno) }
    let made = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    do throws(ImportError) {
      defer { close(descriptor) }
      try copyLines(to: descriptor)
      guard fsync(descriptor) == 0 else { throw failure(errno) }
      try checkIsSame()
      guard rename(made, path) == 0 else { throw failure(errno) }
    } catch {
      unlink(made)
      throw error
    }
  }

  private func copyLines(to descriptor: Int32) throws(ImportError) {
    guard let lines = LineReader(path) else { throw failure(errno) }
    var buffer: [UInt8] = []
    var number = 0
    while let line = lines.next() {
      number += 1
      if retried.isKept(number) {
        buffer += line
      } else if let place = places[number] {
        buffer += try newLine(place)
      }
      if buffer.count > 64 << 10 { try write(&buffer, to: descriptor) }
    }
    if lines.hasFailed { throw failure(EIO) }
    try write(&buffer, to: descriptor)
  }

  private func newLine(_ place: (start: Int, count: Int)) throws(ImportError) -> [UInt8] {
    var line = [UInt8](repeating: 0, count: place.count)
    guard pread(fileno(fresh), &line, place.count, off_t(place.start)) == place.count else {
      throw failure(EIO)
    }
    return line
  }

  private func write(_ buffer: inout [UInt8], to descriptor: Int32) throws(ImportError) {
    if let code = buffer.withUnsafeBytes({ FileOutput.write($0, to: descriptor) }) {
      throw failure(code)
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// What others have written into the file meanwhile must not be lost.
  private func checkIsSame() throws(ImportError) {
    var now = stat()
    guard stat(path, &now) == 0, now.st_ino == before.st_ino, now.st_dev == before.st_dev,
      now.st_size == before.st_size, now.modified == before.modified
    else {
      throw ImportError(
        .inputOutput,
        "The rejects file \(path) was changed meanwhile and stays as it is; the records are imported.",
        help: "run it again: what is in the database already counts as unchanged"
      )
    }
  }

  private func failure(_ code: Int32) -> ImportError {
    ImportError(
      .inputOutput,
      "The rejects file \(path) cannot be written again: \(String(cString: strerror(code))). It is as it was.",
      help: "run it again: what is in the database already counts as unchanged"
    )
  }
}

extension stat {
  /// The time of the last change of the contents, in nanoseconds.
  fileprivate var modified: Int {
    #if os(Linux)
    Int(st_mtim.tv_sec) &* 1_000_000_000 &+ Int(st_mtim.tv_nsec)
    #else
    Int(st_mtimespec.tv_sec) &* 1_000_000_000 &+ Int(st_mtimespec.tv_nsec)
    #endif
  }
}
