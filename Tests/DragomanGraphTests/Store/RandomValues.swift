import TestSupport

@testable import DragomanGraph

/// Values of every type at which two implementations are most likely to differ.
enum Values {
  static let texts = [
    "", "a", "A", "ab", "aB\u{E9}", "\u{E9}", "e\u{301}", "\u{C9}", "E\u{301}", "\u{DF}", "SS",
    "ss",
    "b*", "a\u{0}b", "\u{0}", "\u{1F600}", "\u{FFFD}", "\u{10FFFF}", "\u{D7FF}", "I", "\u{130}",
    "\u{131}", "i", " ", "%", "_", "'", "\"", "1", "01", "\u{3C3}", "\u{3C2}",
  ]
  /// Those that are equal or not by a hair come more often.
  private static let likelyTexts =
    texts
    + Array(repeating: ["a", "A", "\u{E9}", "\u{E9}", "e\u{301}", "e\u{301}"], count: 15).flatMap {
      $0
    }
  static let patterns = ["", "a.*", "[a-z]+", ".", "\\p{L}*", "(a|b)*", "e.?", "[^a]"]
  static let words = ["a", "A", "\u{E9}", "e\u{301}", "b"]
  private static let integers: [Int64] = [-1, 0, 1, 2, 3, 10, 100, 32_767, -32_768]
  private static let bigIntegers: [Int64] = [.max, .min, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1]
  private static let reals: [Double] = [
    0, -0.0, 0.1, 0.2, 0.3, -0.5, 1, 2, 3, 1e300, -1e300, .leastNonzeroMagnitude,
    -.leastNonzeroMagnitude, 9_007_199_254_740_992,
    .infinity, -.infinity, .greatestFiniteMagnitude, 9.223372036854775807e18, 100,
  ]
  private static let decimals = [
    "0", "1", "-1", "0.1", "0.2", "-0.3", "2", "10", "9", "-10.5", "99.999", "-0.001",
    "123456789012345678901234567890.123", "-123456789012345678901234567890", "0.5",
  ]
  private static let dates = ["0000-01-01", "1999-12-31", "2000-01-01", "2024-02-29", "9999-12-31"]
  private static let times = ["00:00:00", "00:00:00.5", "12:30:00", "12:30:00.000001", "23:59:59"]
  private static let uuids = [
    "00000000-0000-0000-0000-000000000000", "123e4567-e89b-12d3-a456-426614174000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
  ]
  private static let blobs: [[UInt8]] = [[], [0], [0, 1], [255], [0x61]]

  /// A value as the store holds it; never null.
  static func stored(_ attribute: Attribute, _ random: inout SplitMix) -> StoredValue {
    func pick<Value>(_ values: [Value], _ random: inout SplitMix) -> Value {
      values[Int.random(in: values.indices, using: &random)]
    }
    switch attribute.type {
    case .string, .json, .url: return .text(pick(likelyTexts, &random))
    case .int16: return .integer(pick(integers, &random))
    case .int32: return .integer(pick(integers + [2_147_483_647, -2_147_483_648], &random))
    case .int64: return .integer(pick(integers + integers + bigIntegers, &random))
    case .double: return .real(pick(reals, &random))
    case .float: return .real(Double(Float(pick(reals, &random))))
    case .decimal:
      return .text(DecimalText.padded(pick(decimals, &random), scale: attribute.rules.scale ?? 0))
    case .bool: return .integer(Bool.random(using: &random) ? 1 : 0)
    case .timestamp: return .text("\(pick(dates, &random)) \(pick(times, &random))")
    case .date: return .text(pick(dates, &random))
    case .time: return .text(pick(times, &random))
    case .duration: return .text(pick(["PT0S", "P1M", "P30D", "P1D", "PT24H"], &random))
    case .uuid: return .text(pick(uuids, &random))
    case .data: return .blob(pick(blobs, &random))
    case .enum: return .text(pick(attribute.allowedValues ?? words, &random))
    }
  }

  /// A literal that the attribute takes.
  static func literal(_ attribute: Attribute, _ random: inout SplitMix) -> FilterValue {
    switch (attribute.type, stored(attribute, &random)) {
    case (.bool, .integer(let integer)): .boolean(integer == 1)
    case (.decimal, .text(let digits)): .number(digits)
    case (_, let value): FilterValue(value)
    }
  }
}
