/// A Swift type that an attribute can hold: it is unboxed from a column and boxed into one, exactly
/// or not at all.
///
/// There are conformances for `Bool`, all integers, `Float`, `Double`, `Decimal`, `Date`, `Data`,
/// `UUID`, `URL`, `Duration`, `CalendarDuration` and `String`, and for optionals, arrays and sets of
/// these. An enumeration with raw values says so and nothing else:
///
///     enum Level: String, AttributeValue { case low, high }
///
/// A `Codable` type says `CodableValue`; `ValueTransform` is for types of other modules.
public protocol AttributeValue: Sendable {
  /// The type of an attribute that is declared by a property of this type.
  static var attributeType: AttributeType { get }
  /// Whether null is a value; false unless the type is an optional.
  static var isOptional: Bool { get }
  /// The raw values of an enumeration that lists its cases; nil: any.
  static var allowedValues: [String]? { get }
  /// Whether an attribute of that type can be read into this type and written from it.
  static func admits(_ type: AttributeType) -> Bool
  /// Unboxes a column; texts and bytes are lent for the duration of the call.
  ///
  /// - Throws: `ValueMismatch` where the value is of another type or does not fit; nothing is cut or
  ///   rounded.
  init(unboxing value: ColumnValue) throws
  /// Boxes the value into a column.
  ///
  /// - Throws: `ValueMismatch` where it does not fit the attribute.
  func box(into column: inout BoxingColumn) throws
}

extension AttributeValue {
  /// False.
  @inlinable public static var isOptional: Bool { false }
  /// Any.
  public static var allowedValues: [String]? { nil }
  /// Whether it is `attributeType`.
  public static func admits(_ type: AttributeType) -> Bool { type == attributeType }
}

/// One column of a row that is being boxed, lent to an `AttributeValue`.
///
/// It checks what it is given against the type of the attribute.
public struct BoxingColumn {
  private let buffer: BoxingBuffer
  private let slot: Int

  init(_ buffer: BoxingBuffer, _ slot: Int) {
    self.buffer = buffer
    self.slot = slot
  }

  /// The type of the attribute.
  public var type: AttributeType { buffer.attributes[slot].type }

  /// Boxes null.
  public mutating func null() { buffer.set(.null, slot) }

  /// Boxes an integer.
  ///
  /// - Throws: `ValueMismatch` where the attribute's type does not reach that far.
  public mutating func integer(_ value: Int64) throws {
    switch type {
    case .int64: break
    case .int32:
      guard Int32(exactly: value) != nil else { throw beyond("a 32-bit integer", "\(value)") }
    case .int16:
      guard Int16(exactly: value) != nil else { throw beyond("a 16-bit integer", "\(value)") }
    case .bool:
      guard value == 0 || value == 1 else { throw beyond("true or false", "\(value)") }
    default: throw mismatch(.integer(value))
    }
    buffer.set(.integer(value), slot)
  }

  /// Boxes a floating-point number.
  ///
  /// - Throws: `ValueMismatch` for NaN, and where a `float` attribute cannot hold it exactly.
  public mutating func real(_ value: Double) throws {
    guard !value.isNaN else { throw beyond("a number", "NaN") }
    switch type {
    case .double: break
    case .float:
      guard Double(Float(value)) == value else { throw beyond("a 32-bit number", "\(value)") }
    default: throw mismatch(.real(value))
    }
    buffer.set(.real(value.withoutNegativeZero), slot)
  }

  /// Boxes text: decimals, dates, UUIDs and JSON in any spelling that the attribute's type takes, and
  /// absolute URLs.
  ///
  /// - Throws: `ValueMismatch` where the text is no value of the attribute's type.
  public mutating func text(_ value: String) throws {
    switch type {
    case .string, .enum: try canonical(value)
    case .timestamp, .date:
      var known = value
      if known.withUTF8({ TimestampText.isCanonical(UnsafeRawBufferPointer($0), type) }) {
        return try canonical(value)
      }
      try admit(value)
    default: try admit(value)
    }
  }

  private mutating func admit(_ value: String) throws {
    guard case .text(let text) = buffer.attributes[slot].admitted(.text(value)) else {
      let expected = type == .url ? "an absolute URL" : type.withArticle
      throw StoredValue.text(value).withColumn { ValueMismatch(expected: expected, found: $0) }
    }
    try canonical(text)
  }

  /// Boxes text that is known to be in the form that docs/file.md has for the attribute's type.
  mutating func canonical(_ value: String) throws {
    var value = value
    try value.withUTF8 { bytes in
      let place = try buffer.copy(UnsafeRawBufferPointer(bytes))
      buffer.set(.text(at: place, length: UInt32(bytes.count)), slot)
    }
  }

  /// Boxes bytes; into a `json` attribute, its text.
  ///
  /// - Throws: `ValueMismatch` where the attribute holds no bytes.
  public mutating func bytes(_ value: UnsafeRawBufferPointer) throws {
    switch type {
    case .data:
      let place = try buffer.copy(value)
      buffer.set(.blob(at: place, length: UInt32(value.count)), slot)
    case .json:
      let place = try buffer.copy(value)
      buffer.set(.text(at: place, length: UInt32(value.count)), slot)
    default: throw mismatch(.blob(Array(value)))
    }
  }

  private func beyond(_ expected: String, _ value: String) -> ValueMismatch {
    ValueMismatch(expected: expected, beyond: value)
  }

  private func mismatch(_ value: StoredValue) -> ValueMismatch {
    value.withColumn { ValueMismatch(expected: type.withArticle, found: $0) }
  }
}

/// The values of one row while it is boxed: a few words a column, texts and bytes in one arena.
final class BoxingBuffer {
  /// The attribute of each slot; relationships have a placeholder.
  let attributes: [Attribute]
  /// The values, by slot.
  private(set) var values: UnsafeMutableBufferPointer<RowValue>
  private var arena: UnsafeMutableRawPointer
  private var capacity = 256
  private var end = 0

  init(_ attributes: [Attribute]) {
    self.attributes = attributes
    values = .allocate(capacity: max(1, attributes.count))
    values.initialize(repeating: .absent)
    arena = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit {
    values.deallocate()
    arena.deallocate()
  }

  /// Forgets the row.
  func reset() {
    values.update(repeating: .absent)
    end = 0
  }

  @inline(__always)
  func set(_ value: RowValue, _ slot: Int) { values[slot] = value }

  /// The values, and what their offsets refer to.
  var row: UnsafeBufferPointer<RowValue> {
    UnsafeBufferPointer(rebasing: values[..<attributes.count])
  }
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: arena, count: end) }
  var base: UnsafeRawPointer { UnsafeRawPointer(arena) }

  /// The value of a slot, its text copied out.
  func stored(_ slot: Int) -> StoredValue { values[slot].stored(in: bytes) }

  /// Copies bytes into the arena and tells where they are.
  func copy(_ source: UnsafeRawBufferPointer) throws -> UInt32 {
    guard let base = source.baseAddress, source.count > 0 else { return UInt32(end) }
    // SQLite takes rows of 1 GB at most, and offsets have 32 bits.
    guard end + source.count <= 1 << 30 else {
      throw ValueMismatch(expected: "a row of at most 1 GB", beyond: "\(source.count) bytes")
    }
    if capacity - end < source.count {
      capacity = max(end + source.count, capacity * 2)
      let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
      larger.copyMemory(from: arena, byteCount: end)
      arena.deallocate()
      arena = larger
    }
    (arena + end).copyMemory(from: base, byteCount: source.count)
    end += source.count
    return UInt32(end - source.count)
  }
}

extension RowValue {
  /// The value as SQLite would hand it out.
  @inline(__always)
  func column(in base: UnsafeRawPointer) -> ColumnValue {
    switch kind {
    case .absent, .null: .null
    case .integer: .integer(integer)
    case .real: .real(real)
    case .text: .text(UnsafeRawBufferPointer(start: base + offset, count: Int(length)))
    case .blob: .blob(UnsafeRawBufferPointer(start: base + offset, count: Int(length)))
    }
  }
}
