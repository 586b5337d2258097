import Foundation

/// Bytes on their way to a file, a pipe or a terminal.
package enum FileOutput {
  /// Hands all bytes to the system, in as many calls as it takes.
  ///
  /// - Returns: The error's number where the system takes no more; nil: all are written.
  package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
    var rest = bytes
    while !rest.isEmpty {
      let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
      if count >= 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      } else if errno != EINTR {
        return errno
      }
    }
    return nil
  }
}
