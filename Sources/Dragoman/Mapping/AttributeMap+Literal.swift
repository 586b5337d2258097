import DragomanGraph
import Foundation

extension AttributeMap {
  /// A default, minimum or maximum of the map as the store holds it; nil where it does not fit.
  ///
  /// Literals are written the way the store writes them (STORE.md "Types"), whatever formats the
  /// feed has: plain numbers, `true`, `2024-02-29`, `2024-02-29 13:00:00` (a `T` and a `Z` are
  /// allowed), `13:00` or `13:00:00`, base64 for `data`.
  public func storedValue(ofLiteral text: String) -> StoredValue? {
    switch type {
    case .string: return .text(text)
    case .int16: return Int16(text).map { .integer(Int64($0)) }
    case .int32: return Int32(text).map { .integer(Int64($0)) }
    case .int64: return Int64(text).map { .integer($0) }
    case .double:
      guard isJSONNumber(text), let value = Double(text), value.isFinite else { return nil }
      return .real(value)
    case .float:
      guard isJSONNumber(text), let value = Float(text), value.isFinite else { return nil }
      return .real(Double(value))
    case .decimal: return DecimalLiteral(text).flatMap { $0.text(scale: scale) }.map { .text($0) }
    case .bool: return ["true": .integer(1), "false": .integer(0)][text]
    case .date: return CivilLiteral.date(text).map { .text($0) }
    case .time: return CivilLiteral.time(text).map { .text($0) }
    case .timestamp: return CivilLiteral.timestamp(text).map { .text($0) }
    case .uuid: return UUID(uuidString: text).map { .text($0.uuidString.lowercased()) }
    case .url: return text.isEmpty || text.contains(where: \.isWhitespace) ? nil : .text(text)
    case .data: return Data(base64Encoded: text).map { .blob([UInt8]($0)) }
    case .json:
      var parser = JSONMapParser(text, file: nil)
      return (try? parser.parse()) == nil ? nil : .text(text)
    case .enum:
      guard let words = rawValues else { return .text(text) }
      return words.contains { $0.utf8.elementsEqual(text.utf8) } ? .text(text) : nil
    }
  }

  /// The local raw values of an enumeration, in declared order and once each; nil admits any.
  var rawValues: [String]? {
    guard type == .enum, !values.isEmpty else { return nil }
    var taken: Set<[UInt8]> = []
    return (values.map(\.local) + (unknown.map { [$0] } ?? []))
      .filter { taken.insert(Array($0.utf8)).inserted }
  }
}

extension StoredValue {
  /// Whether the value is larger than another of the same attribute, whose type has an order.
  func isLarger(than other: StoredValue, as type: AttributeType) -> Bool {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): return a > b
    case (.real(let a), .real(let b)): return a > b
    case (.text(let a), .text(let b)):
      if type == .decimal, let a = DecimalLiteral(a), let b = DecimalLiteral(b) { return b < a }
      return b.utf8.lexicographicallyPrecedes(a.utf8)
    default: return false
    }
  }
}

/// A plain decimal number without exponent, taken apart.
private struct DecimalLiteral: Comparable {
  var isNegative: Bool
  /// Without leading zeros; empty for zero.
  var integer: [UInt8]
  /// Without trailing zeros.
  var fraction: [UInt8]

  init?(_ text: String) {
    guard isJSONNumber(text), !text.contains(where: { "eE".contains($0) }) else { return nil }
    let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
    let parts = digits.split(separator: UInt8(ascii: "."))
    integer = Array(parts[0].drop { $0 == UInt8(ascii: "0") })
    fraction = parts.count > 1 ? Array(parts[1]) : []
    while fraction.last == UInt8(ascii: "0") { fraction.removeLast() }
    isNegative = text.hasPrefix("-") && !(integer.isEmpty && fraction.isEmpty)
  }

  /// STORE.md's canonical text; nil where the scale admits fewer digits.
  func text(scale: Int?) -> String? {
    var digits = fraction
    if let scale {
      guard digits.count <= scale else { return nil }
      digits += Array(repeating: UInt8(ascii: "0"), count: scale - digits.count)
    }
    let whole = integer.isEmpty ? "0" : String(decoding: integer, as: UTF8.self)
    let rest = digits.isEmpty ? "" : ".\(String(decoding: digits, as: UTF8.self))"
    return (isNegative ? "-" : "") + whole + rest
  }

  static func < (left: DecimalLiteral, right: DecimalLiteral) -> Bool {
    guard left.isNegative == right.isNegative else { return left.isNegative }
    return left.isNegative ? right.magnitude(isLess: left) : left.magnitude(isLess: right)
  }

  private func magnitude(isLess other: DecimalLiteral) -> Bool {
    guard integer.count == other.integer.count else { return integer.count < other.integer.count }
    guard integer == other.integer else { return integer.lexicographicallyPrecedes(other.integer) }
    return fraction.lexicographicallyPrecedes(other.fraction)
  }
}

/// Dates and times in the store's own spelling.
private enum CivilLiteral {
  static func date(_ text: String) -> String? {
    guard text.utf8.count == 10, matches(text, "0000-00-00") else { return nil }
    let parts = text.split(separator: "-").compactMap { Int($0) }
    let (year, month, day) = (parts[0], parts[1], parts[2])
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard (1...12).contains(month), (1...lengths[month - 1]).contains(day) else { return nil }
    return text
  }

  static func time(_ text: String) -> String? {
    let whole = text.utf8.count == 5 ? "\(text):00" : text
    let parts = whole.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count <= 2, matches(parts[0], "00:00:00") else { return nil }
    let fields = parts[0].split(separator: ":").compactMap { Int($0) }
    guard fields[0] < 24, fields[1] < 60, fields[2] < 60 else { return nil }
    guard parts.count == 2 else { return parts[0] }
    guard (1...6).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy(isDigit) else {
      return nil
    }
    var fraction = parts[1]
    while fraction.hasSuffix("0") { fraction.removeLast() }
    return fraction.isEmpty ? parts[0] : "\(parts[0]).\(fraction)"
  }

  static func timestamp(_ text: String) -> String? {
    let parts = text.split(maxSplits: 1, whereSeparator: { $0 == "T" || $0 == " " })
      .map(String.init)
    guard parts.count == 2, let date = date(parts[0]) else { return nil }
    let clock = parts[1].hasSuffix("Z") ? String(parts[1].dropLast()) : parts[1]
    return time(clock).map { "\(date) \($0)" }
  }

  /// Whether the text has digits where the form has zeros, and equals it elsewhere.
  private static func matches(_ text: String, _ form: String) -> Bool {
    text.utf8.count == form.utf8.count
      && zip(text.utf8, form.utf8).allSatisfy { byte, wanted in
        wanted == UInt8(ascii: "0") ? isDigit(byte) : byte == wanted
      }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
}
