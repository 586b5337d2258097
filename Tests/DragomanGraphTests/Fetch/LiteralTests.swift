import Testing

@testable import DragomanGraph

@Suite("Literals by the attribute's type")
struct LiteralTests {
  @Test(
    "A literal that fits is stored as docs/file.md writes it",
    arguments: [
      (.int64, .number("9223372036854775807"), .integer(.max)),
      (.int64, .number("1.20e1"), .integer(12)),
      (.int32, .string("12"), .integer(12)),
      (.double, .number("0.1"), .real(0.1)),
      (.float, .number("0.1"), .real(Double(Float(0.1)))),
      (.double, .number("inf"), .real(.infinity)),
      (.decimal, .number("-012.5000"), .text("-12.5")),
      (.decimal, .string("1e-3"), .text("0.001")),
      (.decimal, .number("-0.0"), .text("0")),
      (
        .decimal, .number("123456789012345678901234567890.123456789012345678901234567890"),
        .text("123456789012345678901234567890.12345678901234567890123456789")
      ),
      (.bool, .boolean(true), .integer(1)),
      (.bool, .string("false"), .integer(0)),
      (.timestamp, .string("2024-05-01"), .text("2024-05-01 00:00:00")),
      (.timestamp, .string("2024-03-01T00:30:00.1230+01:00"), .text("2024-02-29 23:30:00.123")),
      (.timestamp, .string("1999-12-31 23:59-0030"), .text("2000-01-01 00:29:00")),
      (.timestamp, .string("0000-01-01T00:00:00Z"), .text("0000-01-01 00:00:00")),
      (.date, .string("2024-02-29"), .text("2024-02-29")),
      (.time, .string("07:05"), .text("07:05:00")),
      (.time, .string("23:59:59.500000"), .text("23:59:59.5")),
      (
        .uuid, .string("123E4567-E89B-12D3-A456-426614174000"),
        .text("123e4567-e89b-12d3-a456-426614174000")
      ),
      (.duration, .string("P14M"), .text("P1Y2M")),
      (.data, .string("AP8="), .blob([0, 255])),
      (.string, .null, .null),
    ] as [(AttributeType, FilterValue, StoredValue)]
  )
  func fits(type: AttributeType, literal: FilterValue, stored: StoredValue) throws {
    #expect(try Attribute(name: "x", type: type).stored(literal) == stored)
  }

  @Test(
    "A literal that does not fit is refused",
    arguments: [
      (.int64, .number("9223372036854775808")), (.int64, .number("1.5")),
      (.int64, .boolean(true)), (.int64, .string("twelve")), (.int64, .number("1e999999999")),
      (.double, .number("0x10")), (.double, .string("0x10")),
      (.decimal, .string("1,5")), (.decimal, .number("1e99999999999999999999")),
      (.bool, .string("YES")), (.bool, .number("2")),
      (.string, .number("5")),
      (.timestamp, .string("2024-02-30")), (.timestamp, .string("2024-05-01T24:00")),
      (.timestamp, .string("2024-05-01T12:00:00.1234567")),
      (.timestamp, .string("0000-01-01T00:00:00+01:00")),
      (.date, .string("2023-02-29")), (.date, .string("2024-05-01T00:00:00Z")),
      (.time, .string("7:05")), (.uuid, .string("123e4567")), (.data, .string("?")),
      (.duration, .string("14 months")), (.duration, .number("14")),
    ] as [(AttributeType, FilterValue)]
  )
  func refused(type: AttributeType, literal: FilterValue) {
    #expect(throws: StoreError.self) { try Attribute(name: "x", type: type).stored(literal) }
  }

  @Test("The refusal says what was found, what was wanted and what to do")
  func message() throws {
    let name = Attribute(name: "city")
    let error = #expect(throws: StoreError.self) { try name.stored(.number("5")) }
    #expect(
      error?.description == "store.request: The attribute city is compared with the number 5, "
        + "but it wants a string. (write it in quotes: \"5\")"
    )
    let kind = Attribute(name: "kind", type: .enum, allowedValues: ["home", "work"])
    let second = #expect(throws: StoreError.self) { try kind.stored(.string("wrok")) }
    #expect(
      second?.description == "store.request: The attribute kind is compared with the string "
        + "\"wrok\", but it wants one of home, work. (did you mean \"work\"?)"
    )
  }

  @Test("A scale pads the decimal and keeps further digits")
  func scale() throws {
    let price = Attribute(name: "price", type: .decimal, rules: AttributeRules(scale: 2))
    #expect(try price.stored(.number("5")) == .text("5.00"))
    #expect(try price.stored(.number("5.1")) == .text("5.10"))
    #expect(try price.stored(.number("5.125")) == .text("5.125"))
  }

  @Test("Decimals order by value in any length, other text behind them by bytes")
  func decimalOrder() {
    let ordered = [
      "-100000000000000000000", "-10.5", "-9", "-0.5", "0", "0.05", "0.5", "1.5", "9.99", "10",
      "12345678901234567890123456789", "12345678901234567890123456789.1", "", "-", "1.x", "abc",
    ]
    for (i, a) in ordered.enumerated() {
      for (j, b) in ordered.enumerated() {
        #expect(order(a, b) == (i < j ? -1 : i > j ? 1 : 0), "\(a) \(b)")
      }
    }
    #expect(order("1.50", "1.5") == 0)
    #expect(order("-0.00", "0") == 0)
  }

  private func order(_ a: String, _ b: String) -> Int {
    Array(a.utf8).withUnsafeBytes { left in
      Array(b.utf8).withUnsafeBytes { right in DecimalText.order(left, right).signum() }
    }
  }
}
