import CZlib

/// The decompressed bytes of gzip data (RFC 1952), concatenated members included.
final class GzipSource: ByteSource {
  private let source: any ByteSource
  // zlib keeps the address of its stream, so the stream must not move.
  private let stream: UnsafeMutablePointer<z_stream>
  private let input: UnsafeMutableRawBufferPointer
  private var isBetweenMembers = false
  private var hasEnded = false

  var name: String { source.name }
  var consumedByteCount: Int { source.consumedByteCount }

  /// Makes a source that decompresses another one.
  init(_ source: any ByteSource) throws(ReadError) {
    self.source = source
    input = .allocate(byteCount: 1 << 16, alignment: 16)
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // 16 asks for gzip headers and checksums, 15 is the largest window.
    let status = inflateInit2_(
      stream,
      15 + 16,
      ZLIB_VERSION,
      CInt(MemoryLayout<z_stream>.size)
    )
    guard status == Z_OK else {
      throw ReadError(.inputOutput, "There is no memory to decompress \(source.name).")
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    input.deallocate()
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ReadError) -> Int {
    let capacity = min(buffer.count, Int(UInt32.max))
    stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(capacity)
    while !hasEnded, Int(stream.pointee.avail_out) == capacity {
      if stream.pointee.avail_in == 0 { try fill() }
      if hasEnded { break }
      if isBetweenMembers {
        try startNextMember()
        continue
      }
      try inflateOnce()
    }
    return capacity - Int(stream.pointee.avail_out)
  }

  private func fill() throws(ReadError) {
    let count = try source.read(into: input)
    stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_in = UInt32(count)
    guard count == 0 else { return }
    guard isBetweenMembers else {
      throw ReadError(
        .compression,
        "The gzip data of \(name) is truncated: it ends after \(consumedByteCount) bytes, inside a"
          + " member.",
        help: "fetch the file again; its end is missing"
      )
    }
    hasEnded = true
  }

  private func inflateOnce() throws(ReadError) {
    let status = inflate(stream, Z_NO_FLUSH)
    switch status {
    case Z_OK, Z_BUF_ERROR:
      return
    case Z_STREAM_END:
      isBetweenMembers = true
    case Z_MEM_ERROR:
      throw ReadError(.inputOutput, "There is no memory to decompress \(name).")
    default:
      let reason = stream.pointee.msg.map { String(cString: $0) } ?? "unknown damage"
      throw ReadError(
        .compression,
        "The gzip data of \(name) is damaged before byte \(place): \(reason)."
      )
    }
  }

  /// Zero bytes may pad the end, as gzip itself allows; another member may follow.
  private func startNextMember() throws(ReadError) {
    guard let next = stream.pointee.next_in else { return }
    if next.pointee == 0 {
      stream.pointee.next_in = next + 1
      stream.pointee.avail_in -= 1
      return
    }
    guard next.pointee == 0x1F, inflateReset(stream) == Z_OK else {
      throw ReadError(
        .compression,
        "The gzip data of \(name) is followed by other data at byte \(place)."
      )
    }
    isBetweenMembers = false
  }

  /// How many bytes of the compressed data were used.
  private var place: Int { consumedByteCount - Int(stream.pointee.avail_in) }
}
