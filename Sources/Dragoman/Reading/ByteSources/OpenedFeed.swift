#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

// The descriptor is written by who fetches, before anybody else has it, and read by position.

/// A feed that was fetched: a file without a name, which is gone with the last who holds it, however the process
/// ends.
public final class OpenedFeed: Sendable, Hashable {
  let descriptor: CInt

  /// Makes an empty one in the folder for temporary files.
  init() throws(ReadError) {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var path = Array("\(folder)/dragoman-XXXXXX".utf8CString)
    descriptor = mkstemp(&path)
    guard descriptor >= 0 else {
      throw ReadError(
        .inputOutput,
        "No temporary file can be made in \(folder): \(String(cString: strerror(errno))).",
        help: "set TMPDIR to a folder with room"
      )
    }
    unlink(path)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  /// Keeps bytes that somebody has sent; they are in no memory afterwards.
  ///
  /// - Parameter bytes: The feed.
  /// - Throws: `ReadError.Code.inputOutput` where there is no room.
  public convenience init(_ bytes: UnsafeRawBufferPointer) throws(ReadError) {
    try self.init()
    guard append(bytes) else {
      throw ReadError(
        .inputOutput,
        "There is no room for a temporary file: \(String(cString: strerror(errno))).",
        help: "set TMPDIR to a folder with room"
      )
    }
  }

  deinit { close(descriptor) }

  /// Appends bytes.
  ///
  /// - Returns: false where there is no room.
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = write(descriptor, rest.baseAddress, rest.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return true
  }

  /// Empties it, for another try.
  func clear() {
    ftruncate(descriptor, 0)
    lseek(descriptor, 0, SEEK_SET)
  }

  /// How many bytes there are.
  var byteCount: Int { Int(lseek(descriptor, 0, SEEK_END)) }

  /// The same feed.
  public static func == (left: OpenedFeed, right: OpenedFeed) -> Bool { left === right }

  /// Hashes which feed it is.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The bytes of a feed that was fetched, from its start.
final class OpenedFeedSource: ByteSource {
  let name: String
  private(set) var consumedByteCount = 0
  private let feed: OpenedFeed

  init(_ feed: OpenedFeed, name: String) {
    self.feed = feed
    self.name = name
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ReadError) -> Int {
    while true {
      let count = pread(feed.descriptor, buffer.baseAddress, buffer.count, off_t(consumedByteCount))
      if count >= 0 {
        consumedByteCount += count
        return count
      }
      guard errno == EINTR else {
        throw ReadError(
          .inputOutput,
          "What was fetched of \(name) cannot be read: \(String(cString: strerror(errno)))."
        )
      }
    }
  }
}
