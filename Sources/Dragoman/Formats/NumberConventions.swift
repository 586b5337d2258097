import DragomanGraph
import Foundation

/// How a locale writes numbers: what `NumberReader` takes over from Foundation, once.
struct NumberConventions {
  var decimal: String
  var group: String?
  /// Digits in the group next to the decimal point.
  var primaryGroupSize: Int
  /// Digits in all other groups: 2 in India.
  var secondaryGroupSize: Int
  /// The scalar of the locale's own zero; 0 where that is the ASCII one.
  var nativeZero: UInt32
  var currencySymbol: String?

  /// Looks a locale up; `de_DE` and `de-DE` are the same.
  ///
  /// Read off a formatted sample, because `NumberFormatter.secondaryGroupingSize` is 0 on Linux
  /// whatever the locale.
  init(locale name: String) throws(FormatFault) {
    let identifier = name.replacingOccurrences(of: "-", with: "_")
    guard Self.isKnown(identifier) else {
      throw FormatFault(
        "There is no locale \"\(name)\".",
        suggestion: nearest(to: identifier, in: Locale.availableIdentifiers.sorted())
      )
    }
    let locale = Locale(identifier: identifier)
    let sample = Decimal(string: "123456789.5", locale: Locale(identifier: "en_US_POSIX")) ?? 0
    let text = sample.formatted(.number.grouping(.automatic).locale(locale))
    decimal = locale.decimalSeparator ?? "."
    group = locale.groupingSeparator.flatMap { $0.isEmpty ? nil : $0 }

    let runs = (text.components(separatedBy: decimal).first ?? "")
      .unicodeScalars.split { $0.properties.numericType == nil }
    primaryGroupSize = runs.count > 1 ? runs[runs.count - 1].count : 3
    secondaryGroupSize = runs.count > 2 ? runs[runs.count - 2].count : primaryGroupSize
    let zero = 0.formatted(.number.locale(locale)).unicodeScalars
      .first { $0.properties.numericType != nil }
    nativeZero = zero.map { $0 == "0" ? 0 : $0.value } ?? 0
    currencySymbol = locale.region == nil ? nil : locale.currencySymbol
  }

  /// Foundation makes a locale of any text; a known one has a language and a region of the list.
  private static func isKnown(_ identifier: String) -> Bool {
    let available = Locale.availableIdentifiers
    if available.contains(identifier) { return true }
    let parts = identifier.components(separatedBy: "_")
    guard parts.count == 2, available.contains(parts[0]) else { return false }
    return Locale.Region.isoRegions.contains { $0.identifier == parts[1] }
  }
}

/// The signs that stand for a currency before or behind an amount.
///
/// Any sign of Unicode's category Sc (`$`, `€`, also `US$`), any ISO 4217 code, and the symbol of the
/// declared locale (`kr`), with or without a space.
struct CurrencySigns: Sendable {
  private let symbol: [UInt8]
  private let codes: Set<UInt32>

  init(symbol: String?) {
    self.symbol = Array((symbol ?? "").utf8)
    codes = Set(Locale.Currency.isoCurrencies.map { Self.packed($0.identifier.uppercased().utf8) })
  }

  private static func packed(_ letters: some Sequence<UInt8>) -> UInt32 {
    letters.prefix(3).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The text without one currency sign, and without the space that set it off.
  func stripped(from text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    if let count = leadingSign(of: text) { return text.dropping(first: count).trimmedOfSpace }
    if let count = trailingSign(of: text) { return text.dropping(last: count).trimmedOfSpace }
    return text
  }

  /// Of ASCII only the dollar; to look a scalar up costs more than all else that is read of an amount.
  private static func isSign(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII ? scalar == "$" : scalar.properties.generalCategory == .currencySymbol
  }

  private func leadingSign(of text: UnsafeRawBufferPointer) -> Int? {
    if !symbol.isEmpty, text.has(symbol, at: 0) { return symbol.count }
    var letters = 0
    while letters < text.count, letters < 4, ASCII.isUppercase(text[letters]) { letters += 1 }
    if letters == 3, codes.contains(Self.packed(text.prefix(3))) { return 3 }
    guard letters < 4, let (scalar, count) = text.scalar(at: letters),
      Self.isSign(scalar)
    else { return nil }
    return letters + count
  }

  private func trailingSign(of text: UnsafeRawBufferPointer) -> Int? {
    if !symbol.isEmpty, text.count >= symbol.count,
      text.has(symbol, at: text.count - symbol.count)
    {
      return symbol.count
    }
    var letters = 0
    while letters < text.count, letters < 4, ASCII.isUppercase(text[text.count - 1 - letters]) {
      letters += 1
    }
    if letters == 3, codes.contains(Self.packed(text.suffix(3))) { return 3 }
    var start = text.count - 1
    while start > 0, text[start] & 0xC0 == 0x80 { start -= 1 }
    guard start >= 0, let (scalar, count) = text.scalar(at: start), start + count == text.count,
      Self.isSign(scalar)
    else { return nil }
    return count
  }
}
