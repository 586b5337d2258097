import Foundation

/// Bytes on their way to a file, a pipe or a terminal.
package enum FileOutput {
  /// Hands all bytes to the system, in as many calls as it takes.
  ///
  /// A pipe whose other users have it never wait (`O_NONBLOCK`) is waited for all the same.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - descriptor: Where they go.
  ///   - shouldStop: For pipes: is asked while their reader takes nothing; nil: it is waited for, however long it takes.
  /// - Returns: The error's number where the system takes no more, `ECANCELED` where it was asked to stop; nil: all are
  ///   written.
  package static func write(
    _ bytes: UnsafeRawBufferPointer,
    to descriptor: Int32,
    unless shouldStop: (() -> Bool)? = nil
  ) -> Int32? {
    var rest = bytes
    while !rest.isEmpty {
      var piece = rest
      if let shouldStop {
        guard waits(for: descriptor, unless: shouldStop) else { return ECANCELED }
        // What has room has room for so much; more would wait for the reader.
        piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Int(PIPE_BUF)))
      }
      let count = Foundation.write(descriptor, piece.baseAddress, piece.count)
      if count >= 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      } else if errno == EAGAIN {
        _ = isReady(descriptor, milliseconds: -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return nil
  }

  /// Waits until a pipe takes bytes; who asks to stop waits for half a second more.
  private static func waits(for descriptor: Int32, unless shouldStop: () -> Bool) -> Bool {
    var patience = 5
    while !isReady(descriptor, milliseconds: 100) {
      if shouldStop() { patience -= 1 }
      if patience == 0 { return false }
    }
    return true
  }

  private static func isReady(_ descriptor: Int32, milliseconds: Int32) -> Bool {
    var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&state, 1, milliseconds) > 0
  }
}
