extension AttributeValue where Self: FixedWidthInteger {
  /// The smallest integer type that holds all values; `int64` for `UInt64`, whose larger half
  /// cannot be stored.
  public static var attributeType: AttributeType {
    switch bitWidth + (isSigned ? 0 : 1) {
    case ...16: .int16
    case ...32: .int32
    default: .int64
    }
  }

  /// Every integer attribute: each value is checked.
  public static func admits(_ type: AttributeType) -> Bool {
    type == .int16 || type == .int32 || type == .int64
  }

  /// Unboxes an integer.
  public init(unboxing value: ColumnValue) throws {
    guard case .integer(let integer) = value else {
      throw ValueMismatch(expected: "an integer (\(Self.self))", found: value)
    }
    guard let exact = Self(exactly: integer) else {
      throw ValueMismatch(expected: "an integer that \(Self.self) holds", beyond: "\(integer)")
    }
    self = exact
  }

  /// Boxes an integer.
  public func box(into column: inout BoxingColumn) throws {
    guard let integer = Int64(exactly: self) else {
      throw ValueMismatch(expected: "a 64-bit integer", beyond: "\(self)")
    }
    try column.integer(integer)
  }
}

extension Int: AttributeValue {}
extension Int8: AttributeValue {}
extension Int16: AttributeValue {}
extension Int32: AttributeValue {}
extension Int64: AttributeValue {}
extension UInt: AttributeValue {}
extension UInt8: AttributeValue {}
extension UInt16: AttributeValue {}
extension UInt32: AttributeValue {}
extension UInt64: AttributeValue {}

extension Bool: AttributeValue {
  /// `bool`.
  public static var attributeType: AttributeType { .bool }

  /// Unboxes 1 or 0.
  public init(unboxing value: ColumnValue) throws {
    switch value {
    case .integer(0): self = false
    case .integer(1): self = true
    default: throw ValueMismatch(expected: "true or false", found: value)
    }
  }

  /// Boxes 1 or 0.
  public func box(into column: inout BoxingColumn) throws { try column.integer(self ? 1 : 0) }
}

extension Double: AttributeValue {
  /// `double`.
  public static var attributeType: AttributeType { .double }

  /// `double` and `float`.
  public static func admits(_ type: AttributeType) -> Bool { type == .double || type == .float }

  /// Unboxes a number.
  public init(unboxing value: ColumnValue) throws {
    switch value {
    case .real(let real): self = real
    case .integer(let integer):
      guard let exact = Double(exactly: integer) else {
        throw ValueMismatch(expected: "a number that Double holds", beyond: "\(integer)")
      }
      self = exact
    default: throw ValueMismatch(expected: "a number (Double)", found: value)
    }
  }

  /// Boxes a number.
  public func box(into column: inout BoxingColumn) throws { try column.real(self) }
}

extension Float: AttributeValue {
  /// `float`.
  public static var attributeType: AttributeType { .float }

  /// `float` and `double`.
  public static func admits(_ type: AttributeType) -> Bool { type == .double || type == .float }

  /// Unboxes a number that has no more digits than a `Float`.
  public init(unboxing value: ColumnValue) throws {
    let double = try Double(unboxing: value)
    let float = Float(double)
    guard Double(float) == double || double.isNaN else {
      throw ValueMismatch(expected: "a number that Float holds", beyond: "\(double)")
    }
    self = float
  }

  /// Boxes a number.
  public func box(into column: inout BoxingColumn) throws { try column.real(Double(self)) }
}
