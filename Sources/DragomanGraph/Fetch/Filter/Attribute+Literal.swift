import Foundation

extension Attribute {
  /// The stored form of a literal that is compared with this attribute.
  ///
  /// The type decides, never the look of the literal. Quoted numbers and `"true"` are taken where
  /// the attribute is a number or a boolean, because variables of the command line are text; an
  /// unquoted number is never text.
  ///
  /// - Throws: `StoreError.Code.badRequest`, saying what was found and what was wanted.
  func stored(_ literal: FilterValue) throws(StoreError) -> StoredValue {
    if case .null = literal { return .null }
    if case .moment(let moment) = literal, let text = moment.stored(as: type) { return .text(text) }
    let stored: StoredValue? =
      switch type {
      case .string, .url, .json: text(literal).map(StoredValue.text)
      case .int16, .int32, .int64: digits(literal).flatMap(Self.integer)
      case .double: digits(literal).flatMap(Self.double).map(StoredValue.real)
      case .float: digits(literal).flatMap(Self.float).map(StoredValue.real)
      case .decimal: digits(literal).flatMap(decimal)
      case .bool: boolean(literal).map { .integer($0 ? 1 : 0) }
      case .timestamp: text(literal).flatMap(CivilText.timestamp).map(StoredValue.text)
      case .date: text(literal).flatMap(CivilText.date).map(StoredValue.text)
      case .time: text(literal).flatMap(CivilText.time).map(StoredValue.text)
      case .duration:
        text(literal).flatMap { CalendarDuration($0) }.map { .text($0.description) }
      case .uuid: text(literal).flatMap(UUID.init(uuidString:)).map { .text($0.text) }
      case .data: bytes(literal).map(StoredValue.blob)
      case .enum: text(literal).flatMap(enumeration)
      }
    if let stored { return stored }
    throw StoreError(
      .badRequest,
      "The attribute \(name) is compared with \(literal.summary), but it wants \(wanted).",
      help: help(for: literal)
    )
  }

  private var wanted: String {
    switch type {
    case .string, .url, .json: "a string"
    case .int16, .int32, .int64: "a whole number of at most 64 bits"
    case .double, .float: "a number"
    case .decimal: "a decimal number"
    case .bool: "TRUE or FALSE"
    case .timestamp: "an instant such as \"2024-05-01T12:30:00Z\""
    case .date: "a date such as \"2024-05-01\""
    case .time: "a time of day such as \"12:30:00\""
    case .duration: "a duration such as \"P1DT2H30M\""
    case .uuid: "a UUID such as \"123e4567-e89b-12d3-a456-426614174000\""
    case .data: "bytes in base64"
    case .enum: "one of \((allowedValues ?? []).prefix(10).joined(separator: ", "))"
    }
  }

  private func help(for literal: FilterValue) -> String? {
    switch (type, literal) {
    case (.timestamp, .moment), (.date, .moment): "it is outside of the years 0000 to 9999"
    case (.time, .moment): "now() has a time of day, today() has none"
    case (.string, .number(let digits)), (.enum, .number(let digits)):
      "write it in quotes: \"\(digits)\""
    case (.enum, .string(let text)):
      nearest(to: text, in: allowedValues ?? []).map { "did you mean \"\($0)\"?" }
    default: nil
    }
  }

  private func text(_ literal: FilterValue) -> String? {
    if case .string(let text) = literal { text } else { nil }
  }

  private func digits(_ literal: FilterValue) -> String? {
    switch literal {
    case .number(let digits): digits
    case .string(let text): DecimalText.canonical(text)
    default: nil
    }
  }

  private func boolean(_ literal: FilterValue) -> Bool? {
    switch literal {
    case .boolean(let value): value
    case .number("1"), .string("1"), .string("true"): true
    case .number("0"), .string("0"), .string("false"): false
    default: nil
    }
  }

  private func bytes(_ literal: FilterValue) -> [UInt8]? {
    switch literal {
    case .data(let bytes): bytes
    case .string(let text): Data(base64Encoded: text).map(Array.init)
    default: nil
    }
  }

  private func enumeration(_ text: String) -> StoredValue? {
    guard let allowedValues else { return .text(text) }
    return allowedValues.contains { $0.utf8.elementsEqual(text.utf8) } ? .text(text) : nil
  }

  private func decimal(_ digits: String) -> StoredValue? {
    DecimalText.canonical(digits).map { .text(DecimalText.padded($0, scale: rules.scale ?? 0)) }
  }

  /// `12`, and `12.0` or `1.2e1`, which are whole numbers too.
  private static func integer(_ digits: String) -> StoredValue? {
    DecimalText.canonical(digits).flatMap { Int64($0) }.map(StoredValue.integer)
  }

  /// Infinity is written `inf`, as Swift prints it; digits that overflow are none.
  private static func double(_ digits: String) -> Double? {
    Double(digits).flatMap { $0.isFinite || digits.hasSuffix("inf") ? $0 : nil }
  }

  /// Rounded to binary32 first, because that is what the column holds.
  private static func float(_ digits: String) -> Double? {
    Float(digits).flatMap { $0.isFinite || digits.hasSuffix("inf") ? Double($0) : nil }
  }
}

extension UUID {
  fileprivate var text: String { uuidString.lowercased() }
}
