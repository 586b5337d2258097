/// Reads numbers as people of some place write them, by a declared `NumberFormat`.
///
/// The text is rewritten in plain notation (`PlainNumber`), digit for digit: nothing passes through
/// a double. Grouping is checked, because `1,2,3` and `1.5` under a German format are mistakes, not
/// numbers; no grouping at all is fine. Compiled once, used for every value.
///
///     let reader = try NumberReader(format: NumberFormat(decimal: ",", group: "."))
///     let count = reader.plain("-1.234,5", into: scratch)          // "-1234.5"
///     PlainNumber(scratch[..<count], notation: .text)
struct NumberReader: Sendable {
  let decimal: [UInt8]
  /// The grouping separator and its look-alikes; empty: no grouping.
  let groups: [[UInt8]]
  /// The grouping separator where it is ASCII and has no look-alikes; 0 otherwise.
  private let plainGroup: UInt8
  let primaryGroupSize: Int
  let secondaryGroupSize: Int
  /// The scalar of the locale's own zero; 0 where that is the ASCII one.
  private let nativeZero: UInt32
  let style: NumberFormat.Style?
  private let currency: CurrencySigns

  /// Compiles a format.
  ///
  /// - Throws: a fault for an unknown locale, for separators that are equal, longer than one
  ///   character, or part of a number themselves.
  init(format: NumberFormat) throws(FormatFault) {
    let conventions = try format.locale.map { name throws(FormatFault) in
      try NumberConventions(locale: name)
    }
    let decimal = format.decimal ?? conventions?.decimal ?? "."
    let group = format.group ?? conventions?.group
    try Self.check(decimal, is: "decimal")
    if let group {
      try Self.check(group, is: "grouping")
      if Self.lookAlikes(of: group).contains(Array(decimal.utf8)) {
        throw FormatFault("The decimal and the grouping separator are both \"\(decimal)\".")
      }
    }
    self.decimal = Array(decimal.utf8)
    groups = group.map(Self.lookAlikes) ?? []
    plainGroup = groups.count == 1 && groups[0].count == 1 ? groups[0][0] : 0
    primaryGroupSize = conventions?.primaryGroupSize ?? 3
    secondaryGroupSize = conventions?.secondaryGroupSize ?? 3
    nativeZero = conventions?.nativeZero ?? 0
    style = format.style
    currency = CurrencySigns(symbol: conventions?.currencySymbol)
  }

  private static func check(_ separator: String, is role: String) throws(FormatFault) {
    let scalars = Array(separator.unicodeScalars)
    guard scalars.count == 1 else {
      throw FormatFault("The \(role) separator \"\(separator)\" is not exactly one character.")
    }
    let scalar = scalars[0]
    guard
      scalar.properties.numericType == nil, !scalar.properties.isAlphabetic,
      !"+-()%\u{2212}\u{66A}\"".unicodeScalars.contains(scalar), scalar.value >= 0x20
    else {
      throw FormatFault(
        "\"\(separator)\" cannot be the \(role) separator: it has a meaning of its own in numbers."
      )
    }
  }

  /// Spaces of all widths group alike, and so do the two apostrophes: nobody sees the difference.
  private static func lookAlikes(of group: String) -> [[UInt8]] {
    let families = [[" ", "\u{A0}", "\u{202F}", "\u{2009}"], ["'", "\u{2019}"]]
    let family = families.first { $0.contains(group) } ?? [group]
    return family.map { Array($0.utf8) }
  }

  // MARK: - Reading

  /// The most bytes that `plain(_:into:)` writes for a text of that many bytes.
  static func capacity(byteCount: Int) -> Int { byteCount + 5 }

  /// Rewrites the text in plain notation and returns the number of bytes; 0: not such a number.
  ///
  /// The output has room for `capacity(byteCount:)` bytes at least.
  func plain(
    _ text: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) -> Int {
    precondition(output.count >= Self.capacity(byteCount: text.count))
    guard Self.mayHaveMarks(text) else { return unmarked(text, into: output) }
    return withUnsafeTemporaryAllocation(byteCount: text.count, alignment: 1) { copy in
      let count = Self.copyWithoutMarks(text, to: copy)
      return unmarked(UnsafeRawBufferPointer(rebasing: copy[..<count]), into: output)
    }
  }

  private func unmarked(
    _ text: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) -> Int {
    switch style {
    case nil: return digits(of: text, isNegative: nil, into: output)
    case .percent: return percent(text, into: output)
    case .currency, .accounting: return money(text, into: output)
    }
  }

  /// The marks that Arabic, Persian and Hebrew texts have beside signs: they say in which direction these are shown.
  private static let marks: [StaticString] = ["\u{200E}", "\u{200F}", "\u{61C}"]

  private static func mayHaveMarks(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let first = text.first, let last = text.last else { return false }
    // They stand in front, behind a sign in front, or at the end.
    return first >= 0x80 || last >= 0x80 || text.count > 1 && text[1] >= 0x80
  }

  private static func copyWithoutMarks(
    _ text: UnsafeRawBufferPointer,
    to copy: UnsafeMutableRawBufferPointer
  ) -> Int {
    var (index, count) = (0, 0)
    while index < text.count {
      if let mark = marks.first(where: { text.dropping(first: index).starts(with: $0) }) {
        index += mark.utf8CodeUnitCount
      } else {
        copy[count] = text[index]
        (index, count) = (index + 1, count + 1)
      }
    }
    return count
  }

  private func percent(
    _ text: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) -> Int {
    let signs: [StaticString] = ["%", "\u{66A}"]
    for sign in signs {
      let number: UnsafeRawBufferPointer
      if text.ends(with: sign) {
        number = text.dropping(last: sign.utf8CodeUnitCount).trimmedOfSpace
      } else if text.starts(with: sign) {
        number = text.dropping(first: sign.utf8CodeUnitCount).trimmedOfSpace
      } else {
        continue
      }
      let count = digits(of: number, isNegative: nil, into: output)
      guard count > 0 else { return 0 }
      // Two places to the left, exactly: the exponent moves the point.
      output[count] = UInt8(ascii: "e")
      output[count + 1] = UInt8(ascii: "-")
      output[count + 2] = UInt8(ascii: "2")
      return count + 3
    }
    return 0
  }

  private func money(
    _ text: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) -> Int {
    var rest = text
    var isNegative: Bool?
    var hasSign = false

    func takeSign() {
      guard isNegative == nil, let sign = rest.leadingSign else { return }
      isNegative = sign.isNegative
      rest = rest.dropping(first: sign.byteCount)
    }
    func takeCurrency() {
      guard !hasSign else { return }
      let before = rest.count
      rest = currency.stripped(from: rest)
      hasSign = rest.count < before
    }
    func takeParentheses() {
      guard style == .accounting, isNegative == nil, rest.starts(with: "("), rest.ends(with: ")")
      else { return }
      isNegative = true
      rest = rest.dropping(first: 1).dropping(last: 1)
    }

    takeParentheses()
    takeSign()
    takeCurrency()
    takeParentheses()
    takeSign()
    takeCurrency()
    return digits(of: rest, isNegative: isNegative ?? false, into: output)
  }

  /// Rewrites digits, separators and, where `isNegative` is nil, a sign and an exponent.
  private func digits(
    of text: UnsafeRawBufferPointer,
    isNegative: Bool?,
    into output: UnsafeMutableRawBufferPointer
  ) -> Int {
    var index = 0
    var count = 0
    func append(_ byte: UInt8) {
      output[count] = byte
      count += 1
    }

    if let isNegative {
      if isNegative { append(UInt8(ascii: "-")) }
    } else if let sign = text.leadingSign {
      if sign.isNegative { append(UInt8(ascii: "-")) }
      index = sign.byteCount
    }

    let first = count
    var run = 0
    var groupCount = 0
    while index < text.count {
      let byte = text[index]
      if ASCII.isDigit(byte) {
        append(byte)
        index += 1
        run += 1
      } else if let digit = nativeDigit(in: text, at: index) {
        append(digit.ascii)
        index += digit.byteCount
        run += 1
      } else if let length = group(in: text, at: index) {
        // Nobody groups a zero, unless all is filled up with them: `0.125` is a decimal of another notation.
        let fits =
          run == secondaryGroupSize
          || groupCount == 0 && 1..<secondaryGroupSize ~= run && output[first] != 0x30
        guard fits else { return 0 }
        groupCount += 1
        run = 0
        index += length
      } else {
        break
      }
    }
    guard groupCount == 0 || run == primaryGroupSize else { return 0 }
    let hasInteger = run > 0

    if text.has(decimal, at: index) {
      index += decimal.count
      if !hasInteger { append(0x30) }
      append(UInt8(ascii: "."))
      let start = count
      while index < text.count {
        if ASCII.isDigit(text[index]) {
          append(text[index])
          index += 1
        } else if let digit = nativeDigit(in: text, at: index) {
          append(digit.ascii)
          index += digit.byteCount
        } else {
          break
        }
      }
      guard count > start else { return 0 }
    } else if !hasInteger {
      return 0
    }

    if style == nil, groupCount == 0, index < text.count, text[index] | 0x20 == UInt8(ascii: "e") {
      // The exponent is checked by PlainNumber, which reads what is written here.
      while index < text.count {
        append(text[index])
        index += 1
      }
    }
    return index == text.count ? count : 0
  }

  private func group(in text: UnsafeRawBufferPointer, at index: Int) -> Int? {
    if plainGroup != 0 { return text[index] == plainGroup ? 1 : nil }
    for separator in groups where text.has(separator, at: index) { return separator.count }
    return nil
  }

  private func nativeDigit(
    in text: UnsafeRawBufferPointer,
    at index: Int
  ) -> (ascii: UInt8, byteCount: Int)? {
    guard nativeZero != 0, text[index] >= 0x80,
      let (scalar, byteCount) = text.scalar(at: index)
    else { return nil }
    let digit = scalar.value &- nativeZero
    return digit < 10 ? (0x30 + UInt8(digit), byteCount) : nil
  }
}

extension UnsafeRawBufferPointer {
  /// A plus, a minus, or U+2212 at the start.
  fileprivate var leadingSign: (isNegative: Bool, byteCount: Int)? {
    switch first {
    case UInt8(ascii: "+"): (false, 1)
    case UInt8(ascii: "-"): (true, 1)
    case 0xE2: starts(with: "\u{2212}") ? (true, 3) : nil
    default: nil
    }
  }
}
