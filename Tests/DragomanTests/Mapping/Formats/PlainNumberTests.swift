import TestSupport
import Testing

@testable import Dragoman

@Suite("Plain numbers")
struct PlainNumberTests {
  /// What a conversion gave: the value, the fault, or nil for text that is no number.
  private func int64(_ text: String, _ notation: PlainNumber.Notation = .json) -> String {
    withBytes(of: text) { bytes in
      guard let number = PlainNumber(bytes, notation: notation) else { return "notANumber" }
      do { return String(try number.int64()) } catch { return "\(error)" }
    }
  }

  private func double(_ text: String) -> String {
    withBytes(of: text) { bytes in
      guard let number = PlainNumber(bytes) else { return "notANumber" }
      do { return "\(try number.double())" } catch { return "\(error)" }
    }
  }

  private func float(_ text: String) -> String {
    withBytes(of: text) { bytes in
      guard let number = PlainNumber(bytes) else { return "notANumber" }
      do { return "\(try number.float())" } catch { return "\(error)" }
    }
  }

  private func decimal(_ text: String, scale: Int? = nil) -> String {
    withBytes(of: text) { bytes in
      guard let number = PlainNumber(bytes) else { return "notANumber" }
      let capacity = PlainNumber.decimalCapacity(byteCount: bytes.count, scale: scale)
      let output = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
      defer { output.deallocate() }
      do {
        let count = try number.decimal(scale: scale, into: output)
        return String(decoding: output[..<count], as: UTF8.self)
      } catch {
        return "\(error)"
      }
    }
  }

  @Test(
    "An integral number in range is an integer however it is spelled",
    arguments: [
      ("0", "0"), ("-0", "0"), ("-0.0e5", "0"), ("7", "7"), ("-42", "-42"), ("1.0", "1"),
      ("1.50e1", "15"), ("1E3", "1000"), ("1e+3", "1000"), ("1200e-2", "12"), ("0.001e3", "1"),
      ("9223372036854775807", "9223372036854775807"),
      ("9223372036854775807.000", "9223372036854775807"),
      ("-9223372036854775808", "-9223372036854775808"),
      ("922337203685477580.7e1", "9223372036854775807"),
      ("0e999999999999999999999999", "0"), ("9007199254740993", "9007199254740993"),
    ]
  )
  func integers(text: String, expected: String) {
    #expect(int64(text) == expected)
  }

  @Test(
    "A number that no 64-bit integer equals is refused by reason",
    arguments: [
      ("1.5", "fractional"), ("1e-1", "fractional"), ("1e-99999999999999999999", "fractional"),
      ("9223372036854775808", "outOfRange"), ("-9223372036854775809", "outOfRange"),
      ("18446744073709551615", "outOfRange"), ("99999999999999999999", "outOfRange"),
      ("1e19", "outOfRange"), ("1e400", "outOfRange"), ("-1e400", "outOfRange"),
      ("1e99999999999999999999", "outOfRange"),
      ("1" + String(repeating: "0", count: 400), "outOfRange"),
    ]
  )
  func integersOutOfReach(text: String, expected: String) {
    #expect(int64(text) == expected)
  }

  @Test(
    "Anything but JSON's grammar is no number",
    arguments: [
      "", "-", "+", "+1", "01", "-01", "00", "1.", ".5", "-.5", "1.e3", "1e", "1e+", "1e1.5", " 1",
      "1 ", "1\n", "1,5", "1_000", "0x1F", "NaN", "inf", "-Infinity", "1e5x", "--1", "1.2.3", "١٢٣",
      "−5", "½", "1\u{0}", "null", "true",
    ]
  )
  func malformed(text: String) {
    #expect(int64(text) == "notANumber")
    #expect(double(text) == "notANumber")
  }

  @Test(
    "Text admits a plus sign and leading zeros too",
    arguments: [
      ("+5", "5"), ("00042", "42"), ("-007", "-7"), ("+0.50e1", "5"), (".5", "notANumber"),
      ("5.", "notANumber"), ("+", "notANumber"), ("+-5", "notANumber"), (" 5", "notANumber"),
    ]
  )
  func textNotation(text: String, expected: String) {
    #expect(int64(text, .text) == expected)
  }

  @Test(
    "Doubles are rounded correctly",
    arguments: [
      ("0", "0.0"), ("-0.0", "0.0"), ("41.817", "41.817"), ("-1e22", "-1e+22"), ("1e23", "1e+23"),
      ("9007199254740993", "9007199254740992.0"), ("0.1", "0.1"),
      ("123456789012345678", "1.2345678901234568e+17"),
      ("2.2250738585072011e-308", "2.225073858507201e-308"), ("4.9e-324", "5e-324"),
      ("1e-400", "0.0"), ("-1e-99999999999", "0.0"),
      ("1.7976931348623157e308", "1.7976931348623157e+308"),
      ("1.7976931348623159e308", "outOfRange"), ("-1e400", "outOfRange"),
      ("1e99999999999999", "outOfRange"),
      ("9007199254740992." + String(repeating: "9", count: 10), "9007199254740992.0"),
      // Half-way between two doubles, and a hair above it behind 900 digits.
      ("9007199254740993" + String(repeating: "0", count: 900) + "e-900", "9007199254740992.0"),
      ("9007199254740993." + String(repeating: "0", count: 900) + "1", "9.007199254740994e+15"),
    ]
  )
  func doubles(text: String, expected: String) {
    #expect(double(text) == expected)
  }

  @Test("Doubles read back what Swift prints, for random bit patterns")
  func doubleRoundTrip() {
    let seed = Seeds.seed()
    var generator = SplitMix(state: seed)
    for _ in 0..<20_000 {
      let value = Double(bitPattern: generator.next())
      guard value.isFinite, value != 0 else { continue }
      #expect(double("\(value)") == "\(value)", "seed \(seed)")
    }
  }

  @Test(
    "Floats are rounded once, from the digits",
    arguments: [
      ("0.1", "0.1"), ("16777217", "16777216.0"), ("3.4028235e38", "3.4028235e+38"),
      ("3.5e38", "outOfRange"),
      ("1e-60", "0.0"),
      // Through a double this would be rounded down twice, to 1.0.
      ("1.00000005960464477540", "1.0000001"),
    ]
  )
  func floats(text: String, expected: String) {
    #expect(float(text) == expected)
  }

  @Test(
    "Decimals keep every digit and have one spelling",
    arguments: [
      ("0", "0"), ("-0", "0"), ("-0.000", "0"), ("0e999999", "0"), ("12.50", "12.5"),
      ("-12.5", "-12.5"),
      ("100", "100"), ("1E3", "1000"), ("1.5e3", "1500"), ("1.5e-3", "0.0015"), ("0.00e-5", "0"),
      ("1200e-2", "12"), ("123e-2", "1.23"), ("0.10", "0.1"),
      (
        "123456789012345678901234567890.12345678901234567890",
        "123456789012345678901234567890.1234567890123456789"
      ),
      ("1e1000", "1" + String(repeating: "0", count: 1000)), ("1e1001", "tooLong"),
      ("1e-1000", "0." + String(repeating: "0", count: 999) + "1"), ("1e-1002", "tooLong"),
      ("1e99999999999999999999", "tooLong"), ("-1e-99999999999999999999", "tooLong"),
    ]
  )
  func decimals(text: String, expected: String) {
    #expect(decimal(text) == expected)
  }

  @Test(
    "A scale pads, and refuses more digits instead of rounding them",
    arguments: [
      ("12.5", 2, "12.50"), ("12", 2, "12.00"), ("0", 2, "0.00"), ("-0", 2, "0.00"),
      ("12.500", 2, "12.50"),
      ("12.505", 2, "tooManyDigits"), ("12", 0, "12"), ("12.0", 0, "12"),
      ("12.1", 0, "tooManyDigits"),
      ("0.001", 2, "tooManyDigits"), ("1e-3", 3, "0.001"), ("12.1", -1, "tooManyDigits"),
      ("5e2", 1, "500.0"),
      ("1e-99999999999", 2, "tooManyDigits"),
    ]
  )
  func scales(text: String, scale: Int, expected: String) {
    #expect(decimal(text, scale: scale) == expected)
  }

  @Test("A decimal that the buffer cannot hold is refused")
  func smallBuffer() {
    _ = withBytes(of: "123456") { bytes in
      withUnsafeTemporaryAllocation(byteCount: 4, alignment: 1) { output in
        #expect(throws: NumberFault.tooLong) { try PlainNumber(bytes)?.decimal(into: output) }
      }
    }
  }

  @Test("A hundred thousand digits are read to the end")
  func longNumbers() {
    let digits = String(repeating: "9", count: 100_000)
    #expect(int64(digits) == "outOfRange")
    #expect(double(digits) == "outOfRange")
    #expect(double("0." + digits) == "1.0")
    #expect(decimal(digits) == digits)
    #expect(decimal("0." + digits) == "0." + digits)
    #expect(int64("1." + String(repeating: "0", count: 100_000)) == "1")
  }
}
