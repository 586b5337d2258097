import CZlib

/// Bytes as the file keeps them: their number in 8 bytes, and deflated.
enum PackedBytes {
  static func pack(_ bytes: [UInt8]) -> [UInt8] {
    var length = compressBound(uLong(bytes.count))
    var packed = [UInt8](repeating: 0, count: Int(length))
    // Only a buffer that is too small fails.
    compress2(&packed, &length, bytes, uLong(bytes.count), Z_BEST_SPEED)
    return withUnsafeBytes(of: UInt64(bytes.count).littleEndian, Array.init)
      + packed.prefix(Int(length))
  }

  /// Reads what `pack(_:)` made; nil for anything else.
  static func unpack(_ packed: [UInt8]) -> [UInt8]? {
    guard packed.count >= 8 else { return nil }
    let count = packed.prefix(8).enumerated().reduce(UInt64(0)) { sum, byte in
      sum | UInt64(byte.element) << UInt64(8 * byte.offset)
    }
    // SQLite's changesets have less than 2 GB, and deflate makes a thousandth at best.
    guard count < UInt64(Int32.max), count <= UInt64(packed.count) * 1100 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(count))
    var length = uLong(count)
    let code = packed.withUnsafeBufferPointer { buffer in
      uncompress(&bytes, &length, buffer.baseAddress.map { $0 + 8 }, uLong(buffer.count - 8))
    }
    return code == Z_OK && length == uLong(count) ? bytes : nil
  }
}
