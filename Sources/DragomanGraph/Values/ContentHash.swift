/// A hash of what is stored or read: it tells whether something is as it was.
///
/// It protects nothing: who wants two contents of one hash can make them.
package struct ContentHash: Sendable, Hashable {
  @usableFromInline package var value: UInt64

  /// The hash of nothing, or what an earlier hash had come to.
  package init(value: UInt64 = 0xcbf2_9ce4_8422_2325) { self.value = value }

  /// The hash of a text.
  ///
  /// FNV-1a (https://datatracker.ietf.org/doc/html/draft-eastlake-fnv).
  package init(ofText text: String) {
    self.init()
    addBytes(text.utf8)
  }

  /// The hash in 16 hexadecimal digits.
  package var digits: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Adds bytes; in how many parts they come makes no difference.
  @inlinable
  package mutating func addBytes(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }

  /// Adds bytes as one part, with their number.
  @inlinable
  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    add(UInt64(bytes.count))
    var place = 0
    while place + 8 <= bytes.count {
      add(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      place += 8
    }
    var rest: UInt64 = 0
    while place < bytes.count {
      rest = rest << 8 | UInt64(bytes[place])
      place += 1
    }
    add(rest)
  }

  /// Adds a number.
  @inlinable
  package mutating func add(_ word: UInt64) {
    value = (value ^ word) &* 0x9e37_79b9_7f4a_7c15
    value ^= value >> 29
  }

  /// Adds a stored value with its storage class.
  mutating func add(value stored: StoredValue) {
    switch stored {
    case .null: add(0)
    case .integer(let integer):
      add(1)
      add(UInt64(bitPattern: integer))
    case .real(let real):
      add(2)
      add(real.bitPattern)
    case .text(var text):
      add(3)
      text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    case .blob(let bytes):
      add(4)
      bytes.withUnsafeBytes { add($0) }
    }
  }
}
