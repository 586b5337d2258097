import DragomanGraph
import Foundation

/// The file that rejected records are written to: NDJSON, one object a reject, mode 0600.
///
/// Each line holds the place, the reason and the foreign record as it came, so that the record can
/// be imported again after the map was mended.
///
/// The file is emptied with the first batch, not before: a run that fails over its inputs leaves the
/// rejects of the run before. From then on it has all rejects so far, whatever becomes of the run.
///
/// Large because it knows what it has found in the file, and what of it is its own.
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
  /// Hashes of lines that are there, and that this import may come to write once more.
  private var known: Set<UInt64> = []
  private var buffer: [UInt8] = []

  /// What such a file looks like: its first line is an object that has the place of a reject, however it is spaced and
  /// sorted.
  private static let form = OutputPlace.Form("a rejects file", lookingAt: 1 << 20) { start in
    ["file", "line", "byte", "index", "entity"].allSatisfy(memberNames(of: start).contains)
  }

  /// The names in the object on the first line that is not blank, as far as the bytes go.
  private static func memberNames(of start: [UInt8]) -> Set<String> {
    let text = start.starts(with: [0xEF, 0xBB, 0xBF]) ? start.dropFirst(3) : start[...]
    let line = text.drop { [0x20, 0x09, 0x0D, 0x0A].contains($0) }.prefix { $0 != 0x0A }
    var names: Set<String> = []
    guard line.first == UInt8(ascii: "{") else { return names }
    var depth = 0
    var (isString, isEscaped) = (false, false)
    var string: [UInt8] = []
    for byte in line {
      switch byte {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\") where isString: isEscaped = true
      case UInt8(ascii: "\""):
        if !isString { string.removeAll(keepingCapacity: true) }
        isString.toggle()
      case _ where isString: if depth == 1 { string.append(byte) }
      case UInt8(ascii: ":") where depth == 1: names.insert(String(decoding: string, as: UTF8.self))
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return names }
      default: break
      }
    }
    return names
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
      if descriptor >= 0 { flock(descriptor, LOCK_EX) }
    case .file(let target, _):
      descriptor = Self.openAlone(target)
      if descriptor < 0, errno == EWOULDBLOCK {
        throw ImportError(
          .output,
          "Another import or retry is writing the rejects file \(path).",
          help: "run it again when that has ended"
        )
      }
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

  /// Opens a file, and keeps others from writing and replacing it until it is closed (`RejectsReplacement`).
  ///
  /// - Returns: -1 where that fails; with `EWOULDBLOCK` where somebody writes it, and does not end soon: the
  ///   database is locked meanwhile.
  private static func openAlone(_ path: String) -> Int32 {
    let deadline = ContinuousClock.now + .seconds(2)
    while true {
      let descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else { return descriptor }
      if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        // A file system without locks has none that would be held.
        guard errno == EWOULDBLOCK else { return descriptor }
        close(descriptor)
        guard ContinuousClock.now < deadline else {
          errno = EWOULDBLOCK
          return -1
        }
        Thread.sleep(forTimeInterval: 0.02)
        continue
      }
      // Who replaced it just now has left the old file behind.
      guard let own = FileStatus(descriptor: descriptor),
        let named = FileStatus(unfollowed: path), own.identity != named.identity
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

  /// How long a file is, and the hash of its lines.
  struct Extent: Equatable {
    let byteCount: Int
    let hash: UInt64?
  }

  /// What became of the lines that a stopped import had left.
  enum Left {
    /// They are there.
    case whole
    /// The file is gone, or empty: it begins anew.
    case gone
    /// They are others by now, or more: all of them stay.
    case changed
  }

  /// Goes on behind the lines of a stopped import.
  ///
  /// What stands behind those that it had committed is of records that are read again: it goes. But a file that somebody
  /// has changed meanwhile loses nothing: what is to be written goes behind all its lines, except for what stands there.
  ///
  /// - Parameters:
  ///   - committed: What the file was at the last commit.
  ///   - end: What it was left as; nil: nobody knows.
  /// - Returns: What of it is there.
  /// - Throws: `.inputOutput` when the file cannot be read: what was committed may be there.
  func goOn(behind committed: Extent, leftAs end: Extent?) throws(ImportError) -> Left {
    goesOn = true
    let size = size
    guard size > 0 else { return committed.byteCount == 0 ? .whole : .gone }
    let found = size < committed.byteCount ? nil : try lines(of: committed.byteCount)
    let isThere = found != nil && (committed.byteCount == 0 || found?.value == committed.hash)
    if let found, isThere {
      var isLeft = size == committed.byteCount
      if !isLeft, size == end?.byteCount { isLeft = try lines(of: size)?.value == end?.hash }
      if isLeft {
        (byteCount, hash) = (off_t(committed.byteCount), found)
        return .whole
      }
    }
    try keepAll()
    return isThere && end == nil ? .whole : .changed
  }

  /// Goes on behind all lines, but for the rest of one that was broken off.
  private func keepAll() throws(ImportError) {
    guard let lines = LineReader(target) else { throw failure(errno, "read") }
    while let line = lines.next() {
      let isWhole = line.last == UInt8(ascii: "\n")
      // The last line of an editor may have no end.
      if !isWhole, !isReject(line) { break }
      var hash = FeedHash()
      hash.addBytes(isWhole ? line : line + [UInt8(ascii: "\n")])
      known.insert(hash.value)
      self.hash.addBytes(line)
      byteCount += off_t(line.count)
      if !isWhole { buffer = [UInt8(ascii: "\n")] }
    }
    if lines.hasFailed { throw failure(EIO, "read") }
  }

  /// Whether a line is whole.
  private func isReject(_ line: [UInt8]) -> Bool {
    (try? RejectLine(line, number: 1, of: path, JSONText(around: 1))) != nil
  }

  /// Goes on behind all lines that the file has, where they are those of another import of the same run.
  ///
  /// - Parameter run: What the run has begun; nil: the import is on its own.
  /// - Throws: `.inputOutput` when the file cannot be read.
  func goOn(within run: BegunRejects?) throws(ImportError) {
    self.run = run
    guard let run, run.contains(descriptor) else { return }
    goesOn = true
    let size = size
    guard size > 0, let found = try lines(of: size) else { return }
    byteCount = off_t(size)
    hash = found
  }

  /// How many bytes the file has that was there before; 0 where there was none.
  private var size: Int {
    guard case .file = place else { return 0 }
    return FileStatus(descriptor: descriptor)?.byteCount ?? 0
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
    let start = buffer.count
    record.appendLine(of: issue, to: &buffer)
    if !known.isEmpty {
      var hash = FeedHash()
      hash.addBytes(buffer[start...])
      if known.remove(hash.value) != nil { buffer.removeLast(buffer.count - start) }
    }
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
      hasReplaced = !goesOn && size > 0
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
