/// One value of a row on its way into the store: a few words, no allocation.
///
/// Text and bytes are given by their place in an arena that the caller lends together with the
/// row; they are bound as they are and never become a `String`.
public struct RowValue: Sendable {
  /// What the value is.
  public enum Kind: UInt8, Sendable {
    /// The record says nothing of this attribute: what is stored stays.
    case absent
    /// Null.
    case null
    /// A signed 64-bit integer.
    case integer
    /// A double.
    case real
    /// Text in the arena.
    case text
    /// Bytes in the arena.
    case blob
  }

  /// What the value is.
  public let kind: Kind
  /// Text and bytes: how many.
  public let length: UInt32
  /// The integer, the double's bit pattern, or the offset in the arena.
  package let bits: UInt64

  private init(_ kind: Kind, length: UInt32 = 0, bits: UInt64 = 0) {
    self.kind = kind
    self.length = length
    self.bits = bits
  }

  /// A value from its kind and `packed`.
  @inline(__always)
  init(_ kind: Kind, packed: UInt64) {
    self.kind = kind
    let isPlaced = kind == .text || kind == .blob
    length = isPlaced ? UInt32(truncatingIfNeeded: packed >> 32) : 0
    bits = isPlaced ? packed & 0xFFFF_FFFF : packed
  }

  /// All but the kind in one word: an offset has 32 bits.
  @inline(__always)
  var packed: UInt64 { bits | UInt64(length) << 32 }

  /// The record says nothing of this attribute.
  public static let absent = RowValue(.absent)
  /// Null.
  public static let null = RowValue(.null)

  /// An integer.
  @inline(__always)
  public static func integer(_ value: Int64) -> RowValue {
    RowValue(.integer, bits: UInt64(bitPattern: value))
  }

  /// A double; NaN must have been refused before.
  @inline(__always)
  public static func real(_ value: Double) -> RowValue {
    RowValue(.real, bits: value.bitPattern)
  }

  /// Text at an offset of the arena.
  @inline(__always)
  public static func text(at offset: UInt32, length: UInt32) -> RowValue {
    RowValue(.text, length: length, bits: UInt64(offset))
  }

  /// Bytes at an offset of the arena.
  @inline(__always)
  public static func blob(at offset: UInt32, length: UInt32) -> RowValue {
    RowValue(.blob, length: length, bits: UInt64(offset))
  }

  /// Text and bytes: where they start in the arena.
  public var offset: Int { Int(truncatingIfNeeded: bits) }
  /// The integer.
  public var integer: Int64 { Int64(bitPattern: bits) }
  /// The double.
  public var real: Double { Double(bitPattern: bits) }

  /// The value with its text copied out of the arena, for messages and tests.
  public func stored(in arena: UnsafeRawBufferPointer) -> StoredValue {
    switch kind {
    case .absent, .null: .null
    case .integer: .integer(integer)
    case .real: .real(real)
    case .text: .text(String(decoding: arena[offset..<offset + Int(length)], as: UTF8.self))
    case .blob: .blob(Array(arena[offset..<offset + Int(length)]))
    }
  }
}
