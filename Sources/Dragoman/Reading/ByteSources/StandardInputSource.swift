#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The bytes of standard input.
final class StandardInputSource: ByteSource {
  let name = "-"
  private(set) var consumedByteCount = 0
  private var watch: FileWatch

  /// - Parameter admitsGrowth: What is asked at the end of a file that has grown since.
  init(admittingGrowth admitsGrowth: FileWatch.Growth? = nil) {
    watch = FileWatch(STDIN_FILENO, admitsGrowth)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ReadError) -> Int {
    let count = try readDescriptor(STDIN_FILENO, into: buffer, name: "standard input")
    if count == 0 { try watch.checkEnd(of: STDIN_FILENO, name: "standard input") }
    consumedByteCount += count
    return count
  }
}
