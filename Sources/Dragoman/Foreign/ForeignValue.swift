import Foundation

/// A value of a foreign record, in memory: what JSON has, and besides it dates, bytes and exact
/// numbers.
///
///     let person: ForeignValue = ["id": 7, "name": "Ada", "born": .date(birthday)]
///
/// A record is a `.object`; an array of values is imported with `ImportRequest([.records(values)])`. A value
/// read from JSON has `.integer` for whole numbers of 64 bits as JSON writes them (`7`), and
/// `.number` with the digits as written for all others (`7.0`, `1e3`, twenty digits): nothing is
/// lost. `int64` and `double` read both.
///
/// Values compare by case and content: `.integer(1)` is not `.double(1)`, strings compare by their
/// UTF-8 bytes and not by Unicode equivalence, and NaN equals itself.
public enum ForeignValue: Sendable {
  /// No value.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number of 64 bits with a sign.
  case integer(Int64)
  /// A binary floating-point number; NaN and infinity can be held, and no attribute takes them.
  case double(Double)
  /// A number as its digits were written, of any length, by JSON's grammar (RFC 8259, section 6).
  case number(String)
  /// Text.
  case string(String)
  /// Bytes.
  case data([UInt8])
  /// An instant: see `date(_:)`.
  case instant(ForeignInstant)
  /// Values in their order.
  case array([ForeignValue])
  /// A record.
  case object(ForeignRecord)

  /// An instant; taken by timestamp attributes, and by date and time attributes that declare the
  /// time zone on whose clock it is meant.
  public static func date(_ date: Date) -> ForeignValue { .instant(ForeignInstant(date)) }

  /// A whole number without sign; beyond 63 bits it is kept as its digits.
  public static func unsigned(_ value: UInt64) -> ForeignValue {
    Int64(exactly: value).map { .integer($0) } ?? .number(String(value))
  }

  /// Whether this is null.
  public var isNull: Bool { if case .null = self { true } else { false } }

  /// The boolean, where it is one.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The text, where it is a string.
  public var string: String? { if case .string(let value) = self { value } else { nil } }

  /// The number, where it is one, is whole and fits: `7`, `7.0` and `7e0` are 7.
  public var int64: Int64? {
    switch self {
    case .integer(let value): value
    case .double(let value): Int64(exactly: value)
    case .number(let digits): digits.plainNumber { try $0.int64() }
    default: nil
    }
  }

  /// The nearest double, where it is a number.
  public var double: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    case .number(let digits): digits.plainNumber { try $0.double() }
    default: nil
    }
  }

  /// The elements, where it is an array.
  public var array: [ForeignValue]? { if case .array(let values) = self { values } else { nil } }

  /// The record, where it is one.
  public var record: ForeignRecord? { if case .object(let record) = self { record } else { nil } }

  /// The first member of that name, where it is a record that has it.
  public subscript(key: String) -> ForeignValue? { record?[key] }

  /// The element at an index, where it is an array that has it.
  public subscript(index: Int) -> ForeignValue? {
    guard let array, array.indices.contains(index) else { return nil }
    return array[index]
  }
}

extension ForeignValue: Hashable {
  /// Compares case and content: strings by their bytes, doubles as numbers, NaN as one value.
  public static func == (left: ForeignValue, right: ForeignValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.double(let a), .double(let b)): a == b || (a.isNaN && b.isNaN)
    case (.number(let a), .number(let b)), (.string(let a), .string(let b)):
      a.utf8.elementsEqual(b.utf8)
    case (.data(let a), .data(let b)): a == b
    case (.instant(let a), .instant(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.isNaN ? .infinity : value)
    case .number(let text), .string(let text): hasher.combine(bytesOf: text)
    case .data(let bytes): hasher.combine(bytes)
    case .instant(let instant): hasher.combine(instant)
    case .array(let values): hasher.combine(values)
    case .object(let record): hasher.combine(record)
    }
  }
}

extension Hasher {
  /// Hashes the UTF-8 bytes, as `utf8.elementsEqual` compares them.
  mutating func combine(bytesOf text: String) {
    var text = text
    text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
    combine(text.utf8.count)
  }
}

extension String {
  /// Converts a number of RFC 8259; nil where the text is none, or does not fit.
  func plainNumber<Value>(_ convert: (PlainNumber) throws -> Value) -> Value? {
    var text = self
    return text.withUTF8 { bytes in
      guard let number = PlainNumber(UnsafeRawBufferPointer(bytes)) else { return nil }
      do { return try convert(number) } catch { return nil }
    }
  }
}

// MARK: - Literals

extension ForeignValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringInterpolation,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Null.
  public init(nilLiteral: ()) { self = .null }
  /// True or false.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A double.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// Text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An array.
  public init(arrayLiteral elements: ForeignValue...) { self = .array(elements) }
  /// A record with the members in the order in which they are written.
  public init(dictionaryLiteral elements: (String, ForeignValue)...) {
    self = .object(ForeignRecord(elements))
  }
}
