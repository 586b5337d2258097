/// A source whose first bytes can be looked at before they are read.
final class PeekableSource: ByteSource {
  private let source: any ByteSource
  private var peeked: [UInt8] = []
  private var position = 0

  var name: String { source.name }
  var consumedByteCount: Int { source.consumedByteCount }

  /// Makes a peekable source of another one.
  init(_ source: any ByteSource) {
    self.source = source
  }

  /// The next bytes, without taking them: that many, or fewer where the input ends before.
  func peek(_ count: Int) throws(ReadError) -> ArraySlice<UInt8> {
    if position > 0 {
      peeked.removeFirst(position)
      position = 0
    }
    guard peeked.count < count else { return peeked.prefix(count) }
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
    defer { piece.deallocate() }
    while peeked.count < count {
      let room = UnsafeMutableRawBufferPointer(rebasing: piece[..<(count - peeked.count)])
      let received = try source.read(into: room)
      if received == 0 { break }
      peeked.append(contentsOf: room[..<received])
    }
    return peeked.prefix(count)
  }

  /// Takes that many of the bytes that were peeked at.
  func skip(_ count: Int) {
    position = min(position + count, peeked.count)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ReadError) -> Int {
    guard position < peeked.count else { return try source.read(into: buffer) }
    let count = min(buffer.count, peeked.count - position)
    buffer.copyBytes(from: peeked[position..<position + count])
    position += count
    return count
  }
}
