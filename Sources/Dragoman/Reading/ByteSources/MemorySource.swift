/// Bytes that are already in memory.
final class MemorySource: ByteSource {
  let name: String
  private(set) var consumedByteCount = 0
  private let bytes: [UInt8]
  private let stride: Int

  /// Makes a source of bytes.
  ///
  /// - Parameters:
  ///   - bytes: What the source delivers.
  ///   - name: The name of the input for messages.
  ///   - stride: How many bytes one call to `read` delivers at most, 1 or more; small strides
  ///     behave as a slow pipe does.
  init(_ bytes: [UInt8], name: String = "memory", stride: Int = .max) {
    precondition(stride > 0, "a source that delivers nothing would never end")
    self.bytes = bytes
    self.name = name
    self.stride = stride
  }

  /// Makes a source of a text, as UTF-8.
  convenience init(_ text: String, name: String = "memory", stride: Int = .max) {
    self.init(Array(text.utf8), name: name, stride: stride)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ReadError) -> Int {
    let count = min(buffer.count, bytes.count - consumedByteCount, stride)
    bytes.withUnsafeBytes { source in
      buffer.copyMemory(
        from: UnsafeRawBufferPointer(
          rebasing: source[consumedByteCount..<consumedByteCount + count]
        )
      )
    }
    consumedByteCount += count
    return count
  }
}
