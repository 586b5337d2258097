import Testing

@testable import DragomanGraph

@Suite struct ValueConversionTests {
  private static func attribute(_ type: AttributeType, scale: Int? = nil) -> Attribute {
    Attribute(
      name: "a",
      type: type,
      allowedValues: type == .enum ? ["on", "7"] : nil,
      rules: AttributeRules(scale: scale)
    )
  }

  @Test(
    "A value is written in the canonical form of its new type",
    arguments: [
      (.int64, .integer(-7), .string, .text("-7")), (.bool, .integer(1), .string, .text("true")),
      (.double, .real(0.1), .string, .text("0.1")),
      (.float, .real(Double(Float(0.1))), .string, .text("0.1")),
      (.data, .blob([1, 255]), .string, .text("Af8=")),
      (.string, .text("Af8="), .data, .blob([1, 255])), (.string, .text("on"), .enum, .text("on")),
      (.int64, .integer(7), .enum, .text("7")),
      (.int64, .integer(-32768), .int16, .integer(-32768)),
      (.double, .real(3), .int32, .integer(3)), (.decimal, .text("3.00"), .int64, .integer(3)),
      (.string, .text("-12"), .int16, .integer(-12)),
      (.string, .text("9223372036854775807"), .int64, .integer(.max)),
      (.int64, .integer(1 << 53), .double, .real(9_007_199_254_740_992)),
      (.decimal, .text("0.10"), .double, .real(0.1)),
      (.decimal, .text("0.1"), .float, .real(Double(Float(0.1)))),
      (.double, .real(0.5), .float, .real(0.5)),
      (.double, .real(1e21), .decimal, .text("1" + String(repeating: "0", count: 21))),
      (.bool, .integer(0), .decimal, .text("0")), (.int16, .integer(1), .bool, .integer(1)),
      (.string, .text("false"), .bool, .integer(0)),
      (.decimal, .text("1"), .bool, .integer(1)),
      (.date, .text("2024-02-29"), .timestamp, .text("2024-02-29 00:00:00")),
      (.timestamp, .text("2024-02-29 00:00:00"), .date, .text("2024-02-29")),
      (.string, .text("2024-02-29 01:02:03.5"), .timestamp, .text("2024-02-29 01:02:03.5")),
      (.string, .text("23:59:59"), .time, .text("23:59:59")),
      (
        .string, .text("123E4567-E89B-12D3-A456-426614174000"), .uuid,
        .text("123e4567-e89b-12d3-a456-426614174000")
      ),
      (.string, .text("P1D"), .duration, .text("P1D")),
      (.string, .text("https://a.b/c"), .url, .text("https://a.b/c")),
      (.string, .text("{\"a\":[1]}"), .json, .text("{\"a\":[1]}")),
      (.bool, .integer(1), .json, .text("true")), (.int64, .null, .decimal, .null),
    ] as [(AttributeType, StoredValue, AttributeType, StoredValue)]
  )
  func converts(old: AttributeType, value: StoredValue, new: AttributeType, result: StoredValue) {
    let conversion = ValueConversion(from: Self.attribute(old), to: Self.attribute(new))
    #expect(conversion.convert(value) == result)
  }

  @Test(
    "A value without an exact counterpart has none",
    arguments: [
      (.string, .text("P7W"), .duration), (.int64, .integer(32768), .int16),
      (.double, .real(0.5), .int64),
      (.double, .real(.infinity), .int64), (.double, .real(.infinity), .decimal),
      (.double, .real(1e19), .int64), (.decimal, .text("0.5"), .int32),
      (.int64, .integer((1 << 53) + 1), .double), (.double, .real(0.1), .float),
      (.decimal, .text("0.12345678901234567890"), .double), (.int64, .integer(2), .bool),
      (.string, .text("007"), .int32), (.string, .text("+5"), .int32),
      (.string, .text("1e3"), .decimal), (.string, .text(" 1"), .int32),
      (.string, .text(""), .int32), (.string, .text("off"), .enum),
      (.string, .text("2024-02-30"), .date), (.string, .text("2024-02-29T01:02:03Z"), .timestamp),
      (.timestamp, .text("2024-02-29 00:00:00.5"), .date), (.string, .text("24:00"), .time),
      (.string, .text("a b"), .url), (.string, .text("{"), .json), (.string, .text("A"), .data),
      (.string, .text("yes"), .bool),
    ] as [(AttributeType, StoredValue, AttributeType)]
  )
  func refuses(old: AttributeType, value: StoredValue, new: AttributeType) {
    let conversion = ValueConversion(from: Self.attribute(old), to: Self.attribute(new))
    #expect(conversion.convert(value) == nil)
  }

  @Test(
    "A decimal is padded to its new scale, and keeps all digits",
    arguments: [
      ("1.50", 2, 1, "1.5"), ("1.55", 2, 1, nil), ("1.50", 2, nil, "1.5"), ("-3", nil, 2, "-3.00"),
      ("1.00", 2, 0, "1"),
    ] as [(String, Int?, Int?, String?)]
  )
  func scales(text: String, old: Int?, new: Int?, result: String?) {
    let conversion = ValueConversion(
      from: Self.attribute(.decimal, scale: old),
      to: Self.attribute(.decimal, scale: new)
    )
    #expect(conversion.convert(.text(text)) == result.map(StoredValue.text))
  }
}
