import DragomanGraph

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A feed that was fetched, or a page of one: pages are behind each other in one file.
public final class OpenedFeed: Sendable, Hashable {
  private let file: UnnamedFile
  /// Where it begins in the file.
  private let start: off_t
  /// How many bytes there are; written by who fetches, before anybody else has it.
  nonisolated(unsafe) private(set) var byteCount = 0

  /// Whether the server says that it has packed it for the way (`Content-Encoding`); written as `byteCount` is.
  nonisolated(unsafe) var isPackedForTransfer = false

  /// Makes an empty one.
  init() throws(ReadError) {
    do throws(StoreError) {
      file = try UnnamedFile()
    } catch {
      throw ReadError(.inputOutput, error.message, help: error.help)
    }
    start = 0
  }

  /// Makes an empty one behind a page that is whole.
  init(behind page: OpenedFeed) {
    file = page.file
    start = off_t(page.end)
  }

  /// How many bytes there are with those of the pages before it.
  var end: Int { Int(start) + byteCount }

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

  /// Appends bytes.
  ///
  /// - Returns: false where there is no room.
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = pwrite(file.descriptor, rest.baseAddress, rest.count, start + off_t(byteCount))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      byteCount += count
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return true
  }

  /// Empties it, for another try.
  func clear() {
    ftruncate(file.descriptor, start)
    byteCount = 0
  }

  /// Reads from a place on.
  ///
  /// - Returns: How many bytes; 0 at the end, negative for an error (`errno`).
  func read(from place: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(buffer.count, byteCount - place)
    return count > 0 ? pread(file.descriptor, buffer.baseAddress, count, start + off_t(place)) : 0
  }

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
      let count = feed.read(from: consumedByteCount, into: buffer)
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
