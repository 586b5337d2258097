import TestSupport
import Testing

@testable import Dragoman

@Suite("Localized numbers")
struct NumberReaderTests {
  private static let english = NumberFormat(decimal: ".", group: ",")
  private static let german = NumberFormat(decimal: ",", group: ".")

  private static let hostile = [
    "1,234.56", "1.234,56", "1 234,56", "1\u{A0}234,56", "1\u{202F}234,56", "1'234.56", "١٢٣",
    "12,34,567.8", "(123)", "-", "", "N/A", "NaN", "inf", "0x1F", "1e3", " 42 ", "42px", "½", "−5",
    "+5", "00042", "$1,000", "50%", "1.2k",
  ]

  @Test(
    "Each of the hostile strings is what the format says, or nothing",
    arguments: [
      (
        english,
        ["1,234.56": "1234.56", "1e3": "1000", "−5": "-5", "+5": "5", "00042": "42"]
      ),
      (german, ["1.234,56": "1234.56", "1e3": "1000", "−5": "-5", "+5": "5", "00042": "42"]),
      (
        NumberFormat(locale: "fr_FR"),
        [
          "1 234,56": "1234.56", "1\u{A0}234,56": "1234.56", "1\u{202F}234,56": "1234.56",
          "1e3": "1000", "−5": "-5", "+5": "5", "00042": "42",
        ]
      ),
      (
        NumberFormat(locale: "de_CH"),
        ["1'234.56": "1234.56", "1e3": "1000", "−5": "-5", "+5": "5", "00042": "42"]
      ),
      (
        NumberFormat(locale: "en_IN"),
        ["12,34,567.8": "1234567.8", "1e3": "1000", "−5": "-5", "+5": "5", "00042": "42"]
          // 1,234.56 is grouped the Indian way too: the leading group may be short.
          .merging(["1,234.56": "1234.56"]) { first, _ in first }
      ),
      (
        NumberFormat(locale: "ar_EG"),
        ["١٢٣": "123", "1e3": "1000", "−5": "-5", "+5": "5", "00042": "42"]
      ),
      (NumberFormat(decimal: ".", group: ",", style: .percent), ["50%": "0.5"]),
      (
        NumberFormat(decimal: ".", group: ",", style: .currency),
        ["$1,000": "1000", "1,234.56": "1234.56", "−5": "-5", "+5": "5", "00042": "42"]
      ),
      (
        NumberFormat(decimal: ".", group: ",", style: .accounting),
        [
          "$1,000": "1000", "(123)": "-123", "1,234.56": "1234.56", "−5": "-5", "+5": "5",
          "00042": "42",
        ]
      ),
    ]
  )
  func hostileStrings(format: NumberFormat, expected: [String: String]) throws {
    let reader = try NumberReader(format: format)
    var actual: [String: String] = [:]
    for text in Self.hostile { actual[text] = reader.decimal(text) }
    #expect(actual == expected)
  }

  @Test(
    "A localized number is rewritten digit for digit",
    arguments: [
      (english, "44,374.74", "44374.74"), (english, "1,234,567.890", "1234567.890"),
      (english, "-1,234", "-1234"), (english, "1234567", "1234567"),
      (english, "+1,234.5", "1234.5"),
      (english, ".5", "0.5"), (english, "-.5", "-0.5"), (english, "000,001", "000001"),
      (english, "12345678901234567890.12", "12345678901234567890.12"),
      (english, "1.5E-7", "1.5E-7"),
      (german, "1.234.567,89", "1234567.89"), (german, "-0,5", "-0.5"),
      (NumberFormat(decimal: ","), "1234,5", "1234.5"), (NumberFormat(), "12.5", "12.5"),
      (NumberFormat(decimal: ",", group: " "), "1\u{A0}234\u{202F}567,5", "1234567.5"),
      (NumberFormat(decimal: ".", group: "\u{2019}"), "1'234", "1234"),
      (NumberFormat(locale: "de_DE"), "1.234,5", "1234.5"),
      (NumberFormat(locale: "de-DE"), "1.234,5", "1234.5"),
      (NumberFormat(locale: "nb_NO"), "−1\u{A0}234,5", "-1234.5"),
      (NumberFormat(locale: "zh_CN"), "1,234.5", "1234.5"),
      (NumberFormat(locale: "hi_IN"), "1,23,45,678", "12345678"),
      (NumberFormat(locale: "ar_EG"), "١٬٢٣٤٫٥", "1234.5"),
      (NumberFormat(decimal: ".", locale: "de_CH"), "1’234.5", "1234.5"),
      (NumberFormat(decimal: ",", group: "~"), "1~234,5", "1234.5"),
    ]
  )
  func accepted(format: NumberFormat, text: String, expected: String) throws {
    #expect(try NumberReader(format: format).text(text) == expected)
  }

  @Test(
    "Wrong grouping, wrong separators and anything around the number are refused",
    arguments: [
      (german, "0.125"), (german, "-0.500"), (german, "01.234"), (german, "0.000.001"),
      (english, "0,125.5"), (NumberFormat(locale: "ar_EG"), "٠٬١٢٥"),
      (english, "1,2,3"), (english, "1,23"), (english, "1234,567"), (english, ",123"),
      (english, "1,"),
      (english, "1,,234"), (english, "1,234,"), (english, "1.234,567"), (english, "1.2.3"),
      (english, "5."), (english, "."), (english, "+"), (english, "--5"), (english, "5-"),
      (english, "1,234e3"), (english, "12,34,567"), (english, " 1"), (english, "1 "),
      (english, "1 234"),
      (english, "1\u{A0}234"), (english, "(5)"), (english, "$5"), (english, "5%"),
      (german, "1.5"), (german, "1,5.0"), (german, "1.2345"),
      (NumberFormat(locale: "en_IN"), "1,234,567"), (NumberFormat(locale: "en_IN"), "123,45,678"),
      (NumberFormat(), "1,234"), (NumberFormat(decimal: ".", group: "~"), "1,234"),
      (NumberFormat(style: .percent), "12.5"), (NumberFormat(style: .percent), "%"),
      (NumberFormat(style: .percent), "5%%"), (NumberFormat(style: .percent), "1e3%"),
      (NumberFormat(style: .currency), "$"), (NumberFormat(style: .currency), "$5$"),
      (NumberFormat(style: .currency), "XQZ 5"), (NumberFormat(style: .currency), "(5)"),
      (NumberFormat(style: .currency), "--5"), (NumberFormat(style: .currency), "-$-5"),
      (NumberFormat(style: .currency), "1e3"), (NumberFormat(style: .accounting), "(-5)"),
      (NumberFormat(style: .accounting), "-(5)"), (NumberFormat(style: .accounting), "((5))"),
      (NumberFormat(style: .accounting), "()"), (NumberFormat(style: .accounting), "(5"),
    ]
  )
  func refused(format: NumberFormat, text: String) throws {
    #expect(try NumberReader(format: format).decimal(text) == nil)
  }

  @Test(
    "Styles take the signs that belong to them",
    arguments: [
      (NumberFormat(decimal: ",", style: .percent), "12,5 %", "0.125"),
      (NumberFormat(decimal: ",", style: .percent), "-12,5\u{A0}%", "-0.125"),
      (NumberFormat(style: .percent), "%50", "0.5"),
      (NumberFormat(style: .percent), "0.1%", "0.001"),
      (NumberFormat(style: .percent), "100%", "1"),
      (NumberFormat(locale: "ar_EG", style: .percent), "٥٠٪", "0.5"),
      (NumberFormat(decimal: ",", group: ".", style: .currency), "1.234,50 €", "1234.5"),
      (NumberFormat(decimal: ",", group: ".", style: .currency), "EUR 1.234,50", "1234.5"),
      (NumberFormat(decimal: ",", group: ".", style: .currency), "1.234,50EUR", "1234.5"),
      (NumberFormat(decimal: ".", group: ",", style: .currency), "-$1,234.50", "-1234.5"),
      (NumberFormat(decimal: ".", group: ",", style: .currency), "$-1,234.50", "-1234.5"),
      (NumberFormat(decimal: ".", group: ",", style: .currency), "US$1,234.50", "1234.5"),
      (NumberFormat(decimal: ".", group: ",", style: .currency), "₹ 1,234", "1234"),
      (NumberFormat(locale: "nb_NO", style: .currency), "1\u{A0}234,50 kr", "1234.5"),
      (NumberFormat(locale: "nb_NO", style: .currency), "kr 1 234,50", "1234.5"),
      (NumberFormat(decimal: ".", group: ",", style: .accounting), "($1,234.50)", "-1234.5"),
      (NumberFormat(decimal: ".", group: ",", style: .accounting), "$ (1,234.50)", "-1234.5"),
      (NumberFormat(decimal: ".", group: ",", style: .accounting), "(1,234.50 USD)", "-1234.5"),
    ]
  )
  func styles(format: NumberFormat, text: String, expected: String) throws {
    #expect(try NumberReader(format: format).decimal(text) == expected)
  }

  @Test(
    "A format that cannot work is a fault when it is compiled",
    arguments: [
      (
        NumberFormat(decimal: ".", group: "."),
        "The decimal and the grouping separator are both \".\"."
      ),
      (NumberFormat(group: "."), "The decimal and the grouping separator are both \".\"."),
      (
        NumberFormat(decimal: " ", group: "\u{A0}"),
        "The decimal and the grouping separator are both \" \"."
      ),
      (NumberFormat(decimal: ""), "The decimal separator \"\" is not exactly one character."),
      (
        NumberFormat(decimal: ",", group: ".."),
        "The grouping separator \"..\" is not exactly one character."
      ),
      (
        NumberFormat(decimal: "5"),
        "\"5\" cannot be the decimal separator: it has a meaning of its own in numbers."
      ),
      (
        NumberFormat(group: "-"),
        "\"-\" cannot be the grouping separator: it has a meaning of its own in numbers."
      ),
      (NumberFormat(locale: "de_XQ"), "There is no locale \"de_XQ\". Did you mean \"de_AT\"?"),
      (NumberFormat(locale: "Narnia"), "There is no locale \"Narnia\"."),
    ]
  )
  func faults(format: NumberFormat, message: String) {
    let fault = #expect(throws: FormatFault.self) { try NumberReader(format: format) }
    #expect(fault?.description == message)
  }

  @Test("Random numbers come back through their German spelling")
  func roundTrip() throws {
    let seed = Seeds.seed()
    var generator = SplitMix(state: seed)
    let reader = try NumberReader(format: Self.german)
    for _ in 0..<5000 {
      let value = Int64.random(in: -1_000_000_000_000...1_000_000_000_000, using: &generator)
      var digits = String(value.magnitude)
      var groups: [String] = []
      while digits.count > 3 {
        groups.insert(String(digits.suffix(3)), at: 0)
        digits.removeLast(3)
      }
      groups.insert(digits, at: 0)
      let text = (value < 0 ? "-" : "") + groups.joined(separator: ".") + ",25"
      #expect(reader.text(text) == "\(value).25", "seed \(seed)")
    }
  }
}
