/// The bytes of an input as they are read, up to a bound.
///
/// A few kilobytes of gzip or zstd can stand for more than any disk holds. Where no bound is asked for,
/// data that unpacks to more than a gigabyte and to more than 200 times what it takes packed is
/// refused: feeds come to 5 to 30 times.
final class UnpackedSource: ByteSource {
  private static let standardByteCount = 1 << 30
  private static let standardRatio = 200

  private let source: any ByteSource
  private let maximumByteCount: Int?
  private let isPacked: Bool
  private var byteCount = 0

  var name: String { source.name }
  var consumedByteCount: Int { source.consumedByteCount }

  /// Makes a source that ends with an error where another one goes on beyond the bound.
  ///
  /// - Parameters:
  ///   - source: The bytes, unpacked.
  ///   - maximumByteCount: How many there may be, 1 or more; nil for the bound of packed data.
  ///   - isPacked: Whether they were packed.
  init(_ source: any ByteSource, maximumByteCount: Int?, isPacked: Bool) {
    self.source = source
    self.maximumByteCount = maximumByteCount
    self.isPacked = isPacked
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ReadError) -> Int {
    let count = try source.read(into: buffer)
    byteCount += count
    if let maximumByteCount {
      guard byteCount <= maximumByteCount else {
        throw error("has more than \(maximumByteCount) bytes")
      }
    } else if isPacked, byteCount > Self.standardByteCount,
      byteCount / Self.standardRatio > consumedByteCount
    {
      throw error("unpacks \(consumedByteCount) bytes to more than \(byteCount)")
    }
    return count
  }

  private func error(_ excess: String) -> ReadError {
    ReadError(
      .limit,
      "The input \(name) \(excess).",
      help: "where that is right, raise `maximumInputByteCount`"
    )
  }
}
