import Foundation

extension String: AttributeValue {
  /// `string`.
  public static var attributeType: AttributeType { .string }

  /// Every attribute that is stored as text; writing one, its spelling is made canonical.
  public static func admits(_ type: AttributeType) -> Bool { type.columnType == "TEXT" }

  /// Unboxes text; what is not UTF-8 (SQLite does not check) becomes U+FFFD.
  public init(unboxing value: ColumnValue) throws {
    guard case .text(let bytes) = value else {
      throw ValueMismatch(expected: "a text (String)", found: value)
    }
    self = String(decoding: bytes, as: UTF8.self)
  }

  /// Boxes text.
  public func box(into column: inout BoxingColumn) throws { try column.text(self) }
}

extension Decimal: AttributeValue {
  /// `decimal`.
  public static var attributeType: AttributeType { .decimal }

  /// Unboxes a decimal of at most 38 significant digits.
  public init(unboxing value: ColumnValue) throws {
    guard case .text(let bytes) = value else {
      throw ValueMismatch(expected: "a decimal", found: value)
    }
    if let short = Self.short(bytes) {
      self = short
      return
    }
    let text = String(decoding: bytes, as: UTF8.self)
    guard let canonical = DecimalText.canonical(text), let decimal = Decimal(string: canonical)
    else { throw ValueMismatch(expected: "a decimal", found: value) }
    // Foundation rounds what it cannot hold.
    guard DecimalText.canonical(decimal.description) == canonical else {
      throw ValueMismatch(expected: "a decimal of at most 38 digits", beyond: text)
    }
    self = decimal
  }

  /// A decimal of up to 18 digits, which are the digits of an integer.
  private static func short(_ bytes: UnsafeRawBufferPointer) -> Decimal? {
    guard bytes.count <= 19 else { return nil }
    var digits: Int64 = 0
    var digitCount = 0
    var fractionCount: Int?
    var isNegative = false
    for (index, byte) in bytes.enumerated() {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        // The nineteenth may be one too many for an integer.
        guard digitCount < 18 else { return nil }
        digits = digits * 10 + Int64(byte - UInt8(ascii: "0"))
        digitCount += 1
        if let count = fractionCount { fractionCount = count + 1 }
      case UInt8(ascii: "-") where index == 0: isNegative = true
      case UInt8(ascii: ".") where fractionCount == nil && digitCount > 0: fractionCount = 0
      default: return nil
      }
    }
    guard digitCount > 0, fractionCount != 0 else { return nil }
    let whole = Decimal(isNegative ? -digits : digits)
    guard let fractionCount else { return whole }
    return Decimal(
      sign: isNegative ? .minus : .plus,
      exponent: -fractionCount,
      significand: Decimal(digits)
    )
  }

  /// Boxes all digits; NaN does not fit, nor do more digits behind the point than the attribute's
  /// scale.
  public func box(into column: inout BoxingColumn) throws { try column.text(description) }
}

extension Date: AttributeValue {
  /// `timestamp`.
  public static var attributeType: AttributeType { .timestamp }

  /// `timestamp`, and `date` for midnights in UTC.
  public static func admits(_ type: AttributeType) -> Bool { type == .timestamp || type == .date }

  /// Unboxes an instant, with its microseconds; a civil date is its midnight in UTC.
  public init(unboxing value: ColumnValue) throws {
    guard case .text(let bytes) = value, let microseconds = TimestampText.microseconds(bytes) else {
      throw ValueMismatch(expected: "a date", found: value)
    }
    self.init(timeIntervalSince1970: Double(microseconds) / 1e6)
  }

  /// Boxes the instant, to the microsecond: finer parts are rounded, since clocks give them and the
  /// store does not keep them.
  public func box(into column: inout BoxingColumn) throws {
    let microseconds = (timeIntervalSince1970 * 1e6).rounded()
    let isDay = column.type == .date
    guard let text = TimestampText.text(microseconds, dayOnly: isDay) else {
      throw ValueMismatch(
        expected: isDay ? "midnight in UTC of a day in the years 0 to 9999" : "the years 0 to 9999",
        beyond: "\(timeIntervalSince1970) seconds since 1970"
      )
    }
    try column.canonical(text)
  }
}

extension Data: AttributeValue {
  /// `data`.
  public static var attributeType: AttributeType { .data }

  /// Unboxes bytes.
  public init(unboxing value: ColumnValue) throws {
    guard case .blob(let bytes) = value else {
      throw ValueMismatch(expected: "bytes (Data)", found: value)
    }
    self = Data(bytes)
  }

  /// Boxes bytes.
  public func box(into column: inout BoxingColumn) throws {
    try withUnsafeBytes { try column.bytes($0) }
  }
}

extension UUID: AttributeValue {
  /// `uuid`.
  public static var attributeType: AttributeType { .uuid }

  /// Unboxes a UUID.
  public init(unboxing value: ColumnValue) throws {
    guard case .text(let bytes) = value,
      let uuid = UUID(uuidString: String(decoding: bytes, as: UTF8.self))
    else { throw ValueMismatch(expected: "a UUID", found: value) }
    self = uuid
  }

  /// Boxes a UUID, in lower case.
  public func box(into column: inout BoxingColumn) throws {
    try column.canonical(uuidString.lowercased())
  }
}

extension URL: AttributeValue {
  /// `url`.
  public static var attributeType: AttributeType { .url }

  /// Unboxes a URL.
  public init(unboxing value: ColumnValue) throws {
    guard case .text(let bytes) = value,
      let url = URL(string: String(decoding: bytes, as: UTF8.self))
    else { throw ValueMismatch(expected: "a URL", found: value) }
    self = url
  }

  /// Boxes the URL's absolute string; one without a scheme, or a base that has one, does not fit.
  public func box(into column: inout BoxingColumn) throws { try column.text(absoluteString) }
}
