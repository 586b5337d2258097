import CZstd

/// The decompressed bytes of zstd data (RFC 8878), concatenated frames included.
///
/// Memory is bounded by the library's default window limit of 128 MB; frames that want more are
/// refused.
final class ZstdSource: ByteSource {
  private let source: any ByteSource
  private let context: OpaquePointer
  private let bytes: UnsafeMutableRawBufferPointer
  private var input: ZSTD_inBuffer
  private var isInsideFrame = false

  var name: String { source.name }
  var consumedByteCount: Int { source.consumedByteCount }

  /// Makes a source that decompresses another one.
  init(_ source: any ByteSource) throws(ReadError) {
    guard let context = ZSTD_createDCtx() else {
      throw ReadError(.inputOutput, "There is no memory to decompress \(source.name).")
    }
    self.source = source
    self.context = context
    bytes = .allocate(byteCount: ZSTD_DStreamInSize(), alignment: 16)
    input = ZSTD_inBuffer(src: bytes.baseAddress, size: 0, pos: 0)
  }

  deinit {
    ZSTD_freeDCtx(context)
    bytes.deallocate()
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ReadError) -> Int {
    var output = ZSTD_outBuffer(dst: buffer.baseAddress, size: buffer.count, pos: 0)
    while output.pos == 0, !buffer.isEmpty {
      let isExhausted = input.pos == input.size
      if isExhausted {
        input.size = try source.read(into: bytes)
        input.pos = 0
      }
      if input.size == 0, !isInsideFrame { return 0 }
      let status = ZSTD_decompressStream(context, &output, &input)
      guard ZSTD_isError(status) == 0 else {
        throw ReadError(
          .compression,
          "The zstd data of \(name) is damaged before byte \(place):"
            + " \(String(cString: ZSTD_getErrorName(status)))."
        )
      }
      isInsideFrame = status != 0
      // At the end of the input the decoder may still hold output; when it gives none, it waits
      // for bytes that will never come.
      if input.size == 0, output.pos == 0, isInsideFrame {
        throw ReadError(
          .compression,
          "The zstd data of \(name) is truncated: it ends after \(consumedByteCount) bytes, inside"
            + " a frame.",
          help: "fetch the file again; its end is missing"
        )
      }
    }
    return output.pos
  }

  /// How many bytes of the compressed data were used.
  private var place: Int { consumedByteCount - (input.size - input.pos) }
}
