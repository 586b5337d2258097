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
    case .string(let text): DecimalText.canonical(text) ?? (Self.isInfinity(text) ? text : nil)
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

  /// Infinity is written `inf`, as Swift prints it, or by a number beyond all others: JSON has `9e999`.
  private static func double(_ digits: String) -> Double? {
    isReal(digits) ? Double(digits) : nil
  }

  /// Rounded to binary32 first, because that is what the column holds.
  private static func float(_ digits: String) -> Double? {
    isReal(digits) ? Float(digits).map(Double.init) : nil
  }

  private static func isReal(_ digits: String) -> Bool {
    isInfinity(digits) || DecimalText.canonical(digits) != nil
  }

  private static func isInfinity(_ text: String) -> Bool {
    let word = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]
    return ["inf", "infinity"].contains(word.lowercased())
  }

  /// Where a literal stands among the integers; nil: it is no number, or the attribute holds none.
  func integerPlace(of literal: FilterValue) -> IntegerPlace? {
    guard [.int16, .int32, .int64].contains(type), let digits = digits(literal) else { return nil }
    let isNegative = digits.hasPrefix("-")
    guard let number = DecimalText.canonical(digits) else {
      return Self.isInfinity(digits) ? .outside(isNegative ? .min : .max) : nil
    }
    if let whole = Int64(number) { return .at(whole) }
    let parts = number.parts(at: ".")
    let outermost: Int64 = isNegative ? .min : .max
    guard parts.count == 2, let whole = Int64(parts[0]), whole != outermost else {
      return .outside(outermost)
    }
    return .above(isNegative ? whole - 1 : whole)
  }
}

/// Where a number stands among the integers of 64 bits.
enum IntegerPlace {
  /// It is one of them.
  case at(Int64)
  /// It lies between one and the next.
  case above(Int64)
  /// It lies beyond all; the one nearest to it.
  case outside(Int64)

  /// What a test with a number that is no integer says of one.
  ///
  /// - Parameter relation: Equality or an order.
  /// - Returns: The test; nil for a number that is an integer itself.
  func test(_ relation: Filter.Comparison.Relation) -> ResolvedComparison.Test? {
    let wantsSmaller = relation == .lessThan || relation == .lessThanOrEqualTo
    switch (self, relation) {
    case (.at, _): return nil
    case (_, .equalTo): return Self.never
    case (_, .notEqualTo): return .compares(.notEqualTo, Self.fraction)
    case (.above(let floor), _):
      return .compares(wantsSmaller ? .lessThanOrEqualTo : .greaterThan, .integer(floor))
    case (.outside(let nearest), _):
      return (nearest == .max) == wantsSmaller ? .isPresent : Self.never
    }
  }

  /// The integers from one number to another one.
  static func between(_ low: IntegerPlace, _ high: IntegerPlace) -> ResolvedComparison.Test {
    let least: Int64
    switch low {
    case .at(let integer): least = integer
    case .above(let floor): least = floor + 1
    case .outside(Int64.min): least = .min
    case .outside: return never
    }
    switch high {
    case .at(let integer), .above(let integer): return .between(.integer(least), .integer(integer))
    case .outside(Int64.max): return .between(.integer(least), .integer(.max))
    case .outside: return never
    }
  }

  /// A value that no integer has.
  private static let fraction = StoredValue.real(0.5)
  private static var never: ResolvedComparison.Test { .compares(.equalTo, fraction) }
}

extension UUID {
  fileprivate var text: String { uuidString.lowercased() }
}
