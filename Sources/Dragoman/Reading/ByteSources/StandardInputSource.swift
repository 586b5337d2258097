#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The bytes of standard input.
final class StandardInputSource: ByteSource {
  let name = "-"
  private(set) var consumedByteCount = 0

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ReadError) -> Int {
    let count = try readDescriptor(STDIN_FILENO, into: buffer, name: "standard input")
    consumedByteCount += count
    return count
  }
}
