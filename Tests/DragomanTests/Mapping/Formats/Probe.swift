@testable import Dragoman

/// Runs a converter of bytes on a string, with a buffer of that many bytes; nil: it wrote nothing.
func converted(
  _ text: String,
  capacity: Int = 256,
  _ convert: (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) throws -> Int
) rethrows -> String? {
  let output = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
  defer { output.deallocate() }
  return try withBytes(of: text) { bytes in
    let count = try convert(bytes, output)
    return count == 0 ? nil : String(decoding: output[..<count], as: UTF8.self)
  }
}

/// Lends the UTF-8 bytes of a string, in memory of exactly their size.
func withBytes<Value>(
  of text: String,
  _ body: (UnsafeRawBufferPointer) throws -> Value
) rethrows -> Value {
  try Array(text.utf8).withUnsafeBytes(body)
}

extension DateReader {
  func text(_ value: String) -> String? {
    converted(value, capacity: Self.capacity) { read(text: $0, into: $1) }
  }

  func number(_ value: String) -> String? {
    converted(value, capacity: Self.capacity) { read(number: $0, into: $1) }
  }
}

extension NumberReader {
  func text(_ value: String) -> String? {
    converted(value, capacity: Self.capacity(byteCount: value.utf8.count)) { plain($0, into: $1) }
  }

  /// The canonical decimal; nil: not a number under the format.
  func decimal(_ value: String) -> String? {
    text(value).flatMap { plain in
      converted(plain, capacity: 2000) { bytes, output in
        (try? PlainNumber(bytes, notation: .text)?.decimal(into: output)) ?? 0
      }
    }
  }
}
