import Foundation

extension Attribute {
  /// The stored form of a value that a program sets, or nil where it does not fit the type.
  ///
  /// Null always fits: whether it may stay is a rule, checked at the save. Whole numbers are taken
  /// for reals and decimals, since a literal `3` says no more; decimals, dates and UUIDs become
  /// canonical text, JSON loses its white space.
  func admitted(_ value: StoredValue) -> StoredValue? {
    if value == .null { return .null }
    switch type {
    case .string:
      if case .text = value { return value }
    case .url:
      if let text = text(value), URLText.isURL(text) { return value }
    case .int16: return integer(value, in: Int64(Int16.min)...Int64(Int16.max))
    case .int32: return integer(value, in: Int64(Int32.min)...Int64(Int32.max))
    case .int64: return integer(value, in: Int64.min...Int64.max)
    case .bool: return integer(value, in: 0...1)
    case .double: return real(value)
    case .float: return real(value).flatMap { Self.rounded($0) }
    case .decimal: return decimal(value)
    case .timestamp: return text(value).flatMap(CivilText.timestamp).map(StoredValue.text)
    case .date: return text(value).flatMap(CivilText.date).map(StoredValue.text)
    case .time: return text(value).flatMap(CivilText.time).map(StoredValue.text)
    case .duration:
      return text(value).flatMap { CalendarDuration($0) }.map { .text($0.description) }
    case .uuid:
      return text(value).flatMap(UUID.init(uuidString:)).map { .text($0.uuidString.lowercased()) }
    case .data:
      if case .blob = value { return value }
    case .json:
      if let text = text(value),
        (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed))
          != nil
      {
        return CompactJSON.text(text).map(StoredValue.text)
      }
    case .enum:
      if case .text = value { return value }
    }
    return nil
  }

  /// Whether a value is stored as values of the type are: another program may have written it.
  func isStored(_ value: StoredValue) -> Bool {
    switch (type, value) {
    case (_, .null), (.string, .text), (.url, .text), (.enum, .text), (.duration, .text): true
    case (.double, .real(let real)), (.float, .real(let real)): !real.isNaN
    case (.json, .text): admitted(value) != nil
    case (.decimal, .text(let text)):
      admitted(value) == value || DecimalText.canonical(text).map { hasSameBytes($0, text) } == true
    case (.string, _), (.url, _), (.enum, _), (.duration, _), (.double, _), (.float, _), (.json, _),
      (.decimal, _):
      false
    default: admitted(value) == value
    }
  }

  private func text(_ value: StoredValue) -> String? {
    if case .text(let text) = value { text } else { nil }
  }

  private func integer(_ value: StoredValue, in range: ClosedRange<Int64>) -> StoredValue? {
    if case .integer(let integer) = value, range.contains(integer) { value } else { nil }
  }

  private func real(_ value: StoredValue) -> StoredValue? {
    switch value {
    // SQLite stores no negative zero.
    case .real(let real): real.isNaN ? nil : real == 0 ? .real(0) : value
    case .integer(let integer): Double(exactly: integer).map(StoredValue.real)
    default: nil
    }
  }

  private static func rounded(_ value: StoredValue) -> StoredValue? {
    guard case .real(let real) = value else { return nil }
    let float = Float(real)
    // A small number may become a negative zero.
    return float.isInfinite && real.isFinite ? nil : .real(Double(float.withoutNegativeZero))
  }

  /// Digits beyond the scale do not fit, as on import.
  private func decimal(_ value: StoredValue) -> StoredValue? {
    let digits: String
    switch value {
    case .text(let text): digits = text
    case .integer(let integer): digits = String(integer)
    default: return nil
    }
    guard let canonical = DecimalText.canonical(digits) else { return nil }
    guard let scale = rules.scale else { return .text(canonical) }
    let fraction = canonical.split(separator: ".").dropFirst().first?.count ?? 0
    return fraction > scale ? nil : .text(DecimalText.padded(canonical, scale: scale))
  }
}

extension StoredValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
  /// Text.
  public init(stringLiteral value: String) { self = .text(value) }
  /// An integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A real.
  public init(floatLiteral value: Double) { self = .real(value) }
  /// A boolean: 1 or 0.
  public init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
}

extension StoredValue {
  /// The text; nil for everything else.
  public var string: String? { if case .text(let text) = self { text } else { nil } }
  /// The integer; nil for everything else.
  public var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
  /// The real; nil for everything else.
  public var real: Double? { if case .real(let real) = self { real } else { nil } }
  /// The boolean, which is stored as 1 or 0; nil for everything else.
  public var bool: Bool? {
    switch self {
    case .integer(0): false
    case .integer(1): true
    default: nil
    }
  }
  /// The bytes; nil for everything else.
  public var bytes: [UInt8]? { if case .blob(let bytes) = self { bytes } else { nil } }
  /// Whether there is no value.
  public var isNull: Bool { self == .null }
}
