import Foundation
import Testing

@testable import DragomanGraph

/// The ends of every type as programs, predicates and migrations give them: taken, or refused.
@Suite("Extreme literals") struct ExtremeLiteralTests {
  private static let ones = String(repeating: "1", count: 400)

  private func stored(_ type: AttributeType, _ literal: FilterValue) -> String {
    do { return "\(try Attribute(name: "a", type: type).stored(literal))" } catch {
      return "refused"
    }
  }

  @Test(
    "A number of a predicate is that of its attribute, or refused",
    arguments: [
      (.int64, "9223372036854775807", "integer(9223372036854775807)"),
      (.int64, "-9223372036854775808", "integer(-9223372036854775808)"),
      (.int64, "9223372036854775808", "refused"), (.int64, ones, "refused"),
      (.int64, "1e999999999999", "refused"), (.int64, "1e-999999999999", "refused"),
      (.int64, "1e18", "integer(1000000000000000000)"),
      (.double, "1e309", "real(inf)"), (.double, "-9e999", "real(-inf)"),
      (.double, "1e999999999999", "refused"), (.double, "nan", "refused"),
      (.double, "5e-324", "real(5e-324)"), (.float, "3.5e38", "real(inf)"),
      (.double, "inf", "real(inf)"), (.float, "-Infinity", "real(-inf)"),
      (.int64, "inf", "refused"), (.decimal, "inf", "refused"),
      (.decimal, "1e999999999999", "refused"), (.decimal, "1e99999999999999999999", "refused"),
      (.decimal, "1e-999999999999", "refused"), (.decimal, ones, "text(\"\(ones)\")"),
      (.bool, "9223372036854775808", "refused"),
    ] as [(AttributeType, String, String)]
  )
  func numbers(type: AttributeType, digits: String, expected: String) {
    #expect(stored(type, .number(digits)) == expected)
    #expect(stored(type, .string(digits)) == expected)
  }

  @Test(
    "An instant at the end of the years is one, or refused",
    arguments: [
      ("0000-01-01T00:00:00Z", "0000-01-01 00:00:00"), ("0000-01-01T00:00:00+00:01", "refused"),
      ("0000-01-01T23:59:00+23:59", "0000-01-01 00:00:00"),
      ("9999-12-31T23:59:59.999999Z", "9999-12-31 23:59:59.999999"),
      ("9999-12-31T23:59:59-00:01", "refused"),
      ("9999-12-31T00:00:59-23:59", "9999-12-31 23:59:59"),
      ("2024-01-01T00:00:00+24:00", "refused"), ("2024-01-01T24:00:00Z", "refused"),
      ("10000-01-01", "refused"), ("0000-00-00", "refused"),
    ]
  )
  func instants(text: String, expected: String) {
    let wanted = expected == "refused" ? expected : "text(\"\(expected)\")"
    #expect(stored(.timestamp, .string(text)) == wanted)
    let admitted = Attribute(name: "a", type: .timestamp).admitted(.text(text))
    #expect(admitted == (expected == "refused" ? nil : .text(expected)))
  }

  @Test(
    "Seconds beyond the years have no text",
    arguments: [
      .infinity, -.infinity, .nan, 1e300, -1e300, 9.223372036854775e18, -9.223372036854776e18,
      253_402_300_800e6, -62_167_219_200e6 - 64,
    ] as [Double]
  )
  func beyondYears(microseconds: Double) {
    #expect(TimestampText.text(microseconds, dayOnly: false) == nil)
    #expect(TimestampText.text(microseconds, dayOnly: true) == nil)
  }

  @Test(
    "A value that the new type does not hold stops a migration",
    arguments: [
      (.int64, .int16, .integer(.min)), (.int64, .int32, .integer(.max)),
      (.double, .int64, .real(9.3e18)), (.double, .int64, .real(-.infinity)),
      (.double, .int64, .real(.greatestFiniteMagnitude)), (.double, .float, .real(1e300)),
      (.decimal, .int64, .text(ones)), (.decimal, .double, .text(ones)),
      (.string, .int64, .text("1e999999999999")), (.string, .decimal, .text("1e-999999999999")),
      (.string, .timestamp, .text("9999-12-31T23:59:59-00:01")), (.int64, .double, .integer(.max)),
      (.string, .bool, .text("9223372036854775808")), (.int64, .bool, .integer(.min)),
    ] as [(AttributeType, AttributeType, StoredValue)]
  )
  func conversions(old: AttributeType, new: AttributeType, value: StoredValue) {
    let conversion = ValueConversion(
      from: Attribute(name: "a", type: old),
      to: Attribute(name: "a", type: new)
    )
    #expect(conversion.convert(value) == nil)
  }

  @Test("Sums of extremes are exact, or an error")
  func sums() throws {
    var integers = ValueSum(.integer)
    for value in [Int64.min, .min, .max, .max] { integers.add(.integer(value)) }
    #expect(try integers.sum() == .integer(-2))
    integers.add(.integer(.min))
    #expect(throws: ValueSum.Overflow.self) { try integers.sum() }
    #expect(integers.average == .real(Double(Int64.min) / 5))
    var decimals = ValueSum(.decimal)
    for text in [Self.ones, "-" + Self.ones, "0." + Self.ones] { decimals.add(.text(text)) }
    #expect(try decimals.sum() == .text("0." + Self.ones))
    var reals = ValueSum(.real)
    for value in [
      Double.greatestFiniteMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
      .leastNonzeroMagnitude,
    ] {
      reals.add(.real(value))
    }
    #expect(try reals.sum() == .real(.greatestFiniteMagnitude))
  }

  @Test("A decimal of four hundred digits does not become a Decimal")
  func decimals() {
    Array(Self.ones.utf8).withUnsafeBytes { bytes in
      _ = #expect(throws: ValueMismatch.self) { try Decimal(unboxing: .text(bytes)) }
    }
  }
}
