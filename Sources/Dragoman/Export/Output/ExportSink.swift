import CZlib
import CZstd
import DragomanGraph
import Foundation

/// Where the bytes of an export go.
protocol ExportSink: AnyObject {
  /// Takes the next bytes.
  func write(_ bytes: UnsafeRawBufferPointer) throws(ExportError)
  /// Completes the output: only now a file stands under its name.
  ///
  /// - Returns: What is worth knowing of it, if anything.
  func finish() throws(ExportError) -> String?
  /// Forgets an output that was not completed.
  func discard()
}

/// Output kept in memory.
final class MemorySink: ExportSink {
  private(set) var bytes: [UInt8] = []

  func write(_ bytes: UnsafeRawBufferPointer) { self.bytes.append(contentsOf: bytes) }
  func finish() -> String? { nil }
  func discard() { bytes = [] }
}

/// Output to an open descriptor, standard output for one.
final class DescriptorSink: ExportSink {
  private let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  func write(_ bytes: UnsafeRawBufferPointer) throws(ExportError) {
    try Self.write(bytes, to: descriptor, name: "The output")
  }

  func finish() -> String? { nil }
  func discard() {}

  /// Hands all bytes to the system, in as many calls as it takes.
  static func write(
    _ bytes: UnsafeRawBufferPointer,
    to descriptor: Int32,
    name: String
  ) throws(ExportError) {
    guard let code = FileOutput.write(bytes, to: descriptor) else { return }
    var error = ExportError(
      .inputOutput,
      "\(name) cannot be written: \(String(cString: strerror(code)))."
    )
    error.isClosedPipe = code == EPIPE
    throw error
  }
}

/// Output compressed with gzip (RFC 1952) or zstd (RFC 8878) on its way to another sink.
///
/// The same bytes in give the same bytes out: the headers hold no time and no name.
final class CompressingSink: ExportSink {
  /// How.
  enum Method {
    case gzip
    case zstd

    /// The method that a file's name asks for.
    init?(name: String) {
      if name.hasSuffix(".gz") {
        self = .gzip
      } else if name.hasSuffix(".zst") {
        self = .zstd
      } else {
        return nil
      }
    }
  }

  private let sink: any ExportSink
  // zlib keeps the address of its stream, so the stream must not move.
  private let stream: UnsafeMutablePointer<z_stream>?
  private let context: OpaquePointer?
  private let output: UnsafeMutableRawBufferPointer

  init(_ method: Method, into sink: any ExportSink) throws(ExportError) {
    self.sink = sink
    output = .allocate(byteCount: 1 << 17, alignment: 16)
    switch method {
    case .gzip:
      context = nil
      let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
      stream.initialize(to: z_stream())
      self.stream = stream
      // 16 asks for a gzip header, 15 is the largest window.
      let status = deflateInit2_(
        stream,
        Z_DEFAULT_COMPRESSION,
        Z_DEFLATED,
        15 + 16,
        8,
        Z_DEFAULT_STRATEGY,
        ZLIB_VERSION,
        CInt(MemoryLayout<z_stream>.size)
      )
      guard status == Z_OK else { throw Self.noMemory }
    case .zstd:
      stream = nil
      context = ZSTD_createCCtx()
      guard context != nil else { throw Self.noMemory }
    }
  }

  deinit {
    if let stream {
      deflateEnd(stream)
      stream.deallocate()
    }
    ZSTD_freeCCtx(context)
    output.deallocate()
  }

  private static var noMemory: ExportError {
    ExportError(.inputOutput, "There is no memory to compress the output.")
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(ExportError) {
    try compress(bytes, isLast: false)
  }

  func finish() throws(ExportError) -> String? {
    try compress(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)
    return try sink.finish()
  }

  func discard() { sink.discard() }

  private func compress(_ bytes: UnsafeRawBufferPointer, isLast: Bool) throws(ExportError) {
    if let stream {
      try deflate(bytes, isLast: isLast, stream)
    } else if let context {
      try compress(bytes, isLast: isLast, context)
    }
  }

  private func deflate(
    _ bytes: UnsafeRawBufferPointer,
    isLast: Bool,
    _ stream: UnsafeMutablePointer<z_stream>
  ) throws(ExportError) {
    var rest = bytes
    repeat {
      // zlib counts in 32 bits and only reads from what it calls a mutable pointer.
      let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece.count))
      stream.pointee.next_in = UnsafeMutablePointer(
        mutating: piece.baseAddress?.assumingMemoryBound(to: UInt8.self)
      )
      stream.pointee.avail_in = UInt32(piece.count)
      repeat {
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(output.count)
        CZlib.deflate(stream, isLast && rest.isEmpty ? Z_FINISH : Z_NO_FLUSH)
        let count = output.count - Int(stream.pointee.avail_out)
        try sink.write(UnsafeRawBufferPointer(rebasing: output[..<count]))
      } while stream.pointee.avail_out == 0
    } while !rest.isEmpty
  }

  private func compress(
    _ bytes: UnsafeRawBufferPointer,
    isLast: Bool,
    _ context: OpaquePointer
  ) throws(ExportError) {
    var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
    while true {
      var written = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
      let status = ZSTD_compressStream2(
        context,
        &written,
        &input,
        isLast ? ZSTD_e_end : ZSTD_e_continue
      )
      guard ZSTD_isError(status) == 0 else { throw Self.noMemory }
      try sink.write(UnsafeRawBufferPointer(rebasing: output[..<written.pos]))
      if isLast ? status == 0 : input.pos == input.size { return }
    }
  }
}
