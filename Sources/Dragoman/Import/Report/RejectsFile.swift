import DragomanGraph
import Foundation

/// The file that rejected records are written to: NDJSON, one object a reject, mode 0600.
///
/// Each line holds the place, the reason and the foreign record as it came, so that the record can
/// be imported again after the map was mended.
///
/// The file is emptied with the first batch, not before: a run that fails over its inputs leaves the
/// rejects of the run before. From then on it has all rejects so far, whatever becomes of the run.
package final class RejectsFile: RejectsOutput {
  let path: String
  private let descriptor: Int32
  private let place: OutputPlace
  /// The file behind symbolic links.
  private var target: String {
    switch place {
    case .absent(let target), .file(let target, _): target
    case .stream: path
    }
  }
  /// Of a pipe: whether to wait no more for a reader that takes nothing; nil: it is waited for.
  var shouldStop: (() -> Bool)?
  /// Whether that was so: nothing is written any more.
  private var isGivenUp = false
  private var isBegun = false
  /// Is told when the file is begun.
  private var run: BegunRejects?
  /// Whether it goes on behind a part of this import.
  private var goesOn = false
  /// Whether rejects of an earlier import stood in the file, which are gone.
  private(set) var hasReplaced = false
  /// How much of the file is whole lines.
  private(set) var byteCount: off_t = 0
  /// A hash of these lines.
  private(set) var hash = FeedHash()
  private var buffer: [UInt8] = []

  /// What such a file looks like: its first line starts with the place of a reject.
  private static let form = OutputPlace.Form("a rejects file", lookingAt: 16 << 10) { start in
    let line = start.prefix { $0 != UInt8(ascii: "\n") }
    return line.starts(with: "{\"file\":".utf8)
      && [",\"line\":", ",\"byte\":", ",\"index\":", ",\"entity\":"].allSatisfy {
        String(decoding: line, as: UTF8.self).contains($0)
      }
  }

  /// Whether a file holds rejects of an earlier run.
  ///
  /// - Parameter path: The file; what cannot be read is none.
  /// - Returns: false of an empty file, too.
  package static func isThere(at path: String) -> Bool {
    form.fits(path)
  }

  /// Creates the file, or opens the one that is there and leaves it as it is for now.
  ///
  /// Behind a symbolic link it is the file that the link leads to.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - kept: The files that it must not be.
  /// - Throws: `.output` when it cannot be created, or is there and is no rejects file.
  init(path: String, besides kept: [OutputPlace.Kept]) throws(ImportError) {
    self.path = path
    do throws(OutputPlace.Refusal) {
      place = try OutputPlace(path, besides: kept, proof: .form(Self.form))
    } catch {
      throw ImportError(.output, "The rejects file \(path) \(error.reason).", help: error.help)
    }
    switch place {
    case .absent(let target):
      descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      if descriptor >= 0 { flock(descriptor, LOCK_SH) }
    case .file(let target, _):
      descriptor = Self.openShared(target)
    case .stream:
      // A pipe that nobody reads is an error, not a wait.
      descriptor = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
      if descriptor >= 0 { _ = fcntl(descriptor, F_SETFL, O_WRONLY) }
    }
    guard descriptor >= 0 else {
      let reason =
        errno == ENXIO ? "it is a pipe, and nobody reads it" : String(cString: strerror(errno))
      throw ImportError(.output, "The rejects file \(path) cannot be created: \(reason).")
    }
  }

  /// Opens a file, and keeps others from replacing it until it is closed (`RejectsReplacement`).
  private static func openShared(_ path: String) -> Int32 {
    while true {
      let descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0, flock(descriptor, LOCK_SH) == 0 else { return descriptor }
      // Who replaced it just now has left the old file behind.
      var (own, named) = (stat(), stat())
      guard fstat(descriptor, &own) == 0, lstat(path, &named) == 0,
        own.st_ino != named.st_ino || own.st_dev != named.st_dev
      else { return descriptor }
      close(descriptor)
    }
  }

  deinit {
    // Nothing was opened, and nothing made, where the initializer throws.
    guard descriptor >= 0 else { return }
    close(descriptor)
    if case .absent = place, !isBegun { unlink(target) }
  }

  /// Goes on behind the lines that a stopped import had committed; what stands behind them goes.
  ///
  /// - Parameters:
  ///   - byteCount: How long the file was then.
  ///   - hash: The hash of its lines.
  /// - Returns: Whether they are there; if not, the file begins anew.
  /// - Throws: `.inputOutput` when the file cannot be read: what was committed may be there.
  func goOn(behind byteCount: Int, _ hash: UInt64?) throws(ImportError) -> Bool {
    goesOn = true
    if byteCount == 0 { return true }
    guard case .file = place, let found = try lines(of: byteCount), found.value == hash else {
      return false
    }
    self.byteCount = off_t(byteCount)
    self.hash = found
    return true
  }

  /// Goes on behind all lines that the file has, where they are those of another import of the same run.
  ///
  /// - Parameter run: What the run has begun; nil: the import is on its own.
  /// - Throws: `.inputOutput` when the file cannot be read.
  func goOn(within run: BegunRejects?) throws(ImportError) {
    self.run = run
    var file = stat()
    guard let run, run.contains(descriptor) else { return }
    goesOn = true
    guard case .file = place, fstat(descriptor, &file) == 0, file.st_size > 0,
      let found = try lines(of: Int(file.st_size))
    else { return }
    byteCount = file.st_size
    hash = found
  }

  /// The hash of the first bytes of the file; nil where it has not so many.
  private func lines(of byteCount: Int) throws(ImportError) -> FeedHash? {
    let file = open(target, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw failure(errno, "read")
    }
    defer { close(file) }
    var found = FeedHash()
    var rest = byteCount
    var piece = [UInt8](repeating: 0, count: min(byteCount, 1 << 20))
    while rest > 0 {
      let count = read(file, &piece, min(rest, piece.count))
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw failure(errno, "read") }
      if count == 0 { return nil }
      found.addBytes(piece[..<count])
      rest -= count
    }
    return found
  }

  func write(_ issue: ImportIssue, _ record: RejectedRecord) throws(ImportError) {
    record.appendLine(of: issue, to: &buffer)
    if buffer.count > 64 << 10 { try flush() }
  }

  /// Writes what is still in memory; without rejects the file is empty from now on.
  ///
  /// - Throws: `.inputOutput` when the file cannot be written; then it ends with a whole line.
  func flush() throws(ImportError) {
    try begin()
    if isGivenUp { buffer.removeAll() }
    var shouldStop: (() -> Bool)?
    if case .stream = place { shouldStop = self.shouldStop }
    if let code = buffer.withUnsafeBytes({
      FileOutput.write($0, to: descriptor, unless: shouldStop)
    }) {
      if case .stream = place {} else { _ = ftruncate(descriptor, byteCount) }
      buffer.removeAll()
      if code == ECANCELED {
        isGivenUp = true
        return
      }
      throw failure(code)
    }
    byteCount += off_t(buffer.count)
    hash.addBytes(buffer)
    buffer.removeAll(keepingCapacity: true)
  }

  /// Empties the file, once, but for the lines that it goes on behind.
  private func begin() throws(ImportError) {
    guard !isBegun else { return }
    isBegun = true
    if case .file = place {
      var file = stat()
      hasReplaced = !goesOn && fstat(descriptor, &file) == 0 && file.st_size > 0
      guard ftruncate(descriptor, byteCount) == 0, fchmod(descriptor, 0o600) == 0,
        lseek(descriptor, byteCount, SEEK_SET) >= 0
      else {
        throw failure(errno)
      }
    }
    run?.add(descriptor)
  }

  private func failure(_ code: Int32, _ verb: String = "written") -> ImportError {
    ImportError(
      .inputOutput,
      "The rejects file \(path) cannot be \(verb): \(String(cString: strerror(code)))."
    )
  }
}
