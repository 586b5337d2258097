/// A source that ends when an import is to stop.
final class StoppableSource: ByteSource {
  private let source: any ByteSource
  private let cancellation: Cancellation

  var name: String { source.name }
  var consumedByteCount: Int { source.consumedByteCount }

  init(_ source: any ByteSource, _ cancellation: Cancellation) {
    self.source = source
    self.cancellation = cancellation
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ReadError) -> Int {
    cancellation.isCancelled ? 0 : try source.read(into: buffer)
  }
}
