/// Decimals as docs/file.md writes them: canonical text, compared without ever being a double.
package enum DecimalText {
  /// How many digits an exponent may move the point; more would let a short literal fill memory.
  static let maximumExponent = 10_000

  /// How many digits PostgreSQL's `numeric` has at most in front of the point and behind it
  /// (https://www.postgresql.org/docs/current/datatype-numeric.html).
  static let (serverIntegerCount, serverFractionCount) = (131_072, 16_383)

  /// Whether a `numeric` of PostgreSQL has room for a decimal in its canonical form.
  static func fitsServer(_ canonical: some Collection<UInt8>) -> Bool {
    let point = canonical.firstIndex(of: UInt8(ascii: ".")) ?? canonical.endIndex
    let sign = canonical.first == UInt8(ascii: "-") ? 1 : 0
    return canonical[..<point].count - sign <= serverIntegerCount
      && canonical[point...].count - 1 <= serverFractionCount
  }

  /// The canonical spelling of a number in decimal notation, or nil if it is none.
  ///
  /// Takes an optional sign, digits with or without a point, and an exponent. The result has no
  /// plus sign, no superfluous zeros, no exponent and no negative zero.
  static func canonical(_ text: String) -> String? {
    var rest = Array(text.utf8)[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    var whole = rest.prefix(while: isDigit)
    rest.removeFirst(whole.count)
    var fraction: ArraySlice<UInt8> = []
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      fraction = rest.prefix(while: isDigit)
      guard !fraction.isEmpty else { return nil }
      rest.removeFirst(fraction.count)
    }
    guard !whole.isEmpty else { return nil }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      guard let exponent = Int(String(decoding: rest.dropFirst(), as: UTF8.self)),
        (-maximumExponent...maximumExponent).contains(exponent)
      else { return nil }
      (whole, fraction) = shift(whole, fraction, by: exponent)
      rest = []
    }
    guard rest.isEmpty else { return nil }
    whole = whole.drop { $0 == UInt8(ascii: "0") }
    while fraction.last == UInt8(ascii: "0") { fraction.removeLast() }
    if whole.isEmpty && fraction.isEmpty { return "0" }
    return (isNegative ? "-" : "") + (whole.isEmpty ? "0" : String(decoding: whole, as: UTF8.self))
      + (fraction.isEmpty ? "" : "." + String(decoding: fraction, as: UTF8.self))
  }

  /// The canonical text with zeros up to `scale` digits behind the point; never with fewer digits.
  static func padded(_ canonical: String, scale: Int) -> String {
    guard scale > 0 else { return canonical }
    let point = canonical.utf8.firstIndex(of: UInt8(ascii: "."))
    let digitCount = point.map {
      canonical.utf8.distance(from: $0, to: canonical.utf8.endIndex) - 1
    }
    return canonical + (point == nil ? "." : "")
      + String(repeating: "0", count: max(0, scale - (digitCount ?? 0)))
  }

  /// Orders two texts: decimals by their value, in any length, then everything else by bytes.
  ///
  /// Texts that are no canonical decimals (a hand-edited file) come last, so that the order is
  /// total, as SQLite demands of a collation (https://www.sqlite.org/c3ref/create_collation.html).
  package static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int
  {
    switch (Parts(left), Parts(right)) {
    case (.some(let a), .some(let b)): a.order(b)
    case (.some, nil): -1
    case (nil, .some): 1
    case (nil, nil): byteOrder(left[...], right[...])
    }
  }

  private struct Parts {
    var isNegative: Bool
    var whole: Slice<UnsafeRawBufferPointer>
    var fraction: Slice<UnsafeRawBufferPointer>

    init?(_ text: UnsafeRawBufferPointer) {
      var rest = text[...]
      isNegative = rest.first == UInt8(ascii: "-")
      if isNegative { rest.removeFirst() }
      whole = rest.prefix(while: isDigit)
      rest.removeFirst(whole.count)
      guard !whole.isEmpty else { return nil }
      whole = whole.drop { $0 == UInt8(ascii: "0") }
      fraction = rest.dropFirst()
      if let point = rest.first {
        guard point == UInt8(ascii: "."), fraction.allSatisfy(isDigit) else { return nil }
      }
      while fraction.last == UInt8(ascii: "0") { fraction.removeLast() }
      if whole.isEmpty && fraction.isEmpty { isNegative = false }
    }

    func order(_ other: Parts) -> Int {
      guard isNegative == other.isNegative else { return isNegative ? -1 : 1 }
      var magnitude = whole.count - other.whole.count
      if magnitude == 0 { magnitude = byteOrder(whole, other.whole) }
      if magnitude == 0 { magnitude = byteOrder(fraction, other.fraction) }
      return isNegative ? -magnitude : magnitude
    }
  }

  private static func shift(
    _ whole: ArraySlice<UInt8>,
    _ fraction: ArraySlice<UInt8>,
    by exponent: Int
  ) -> (ArraySlice<UInt8>, ArraySlice<UInt8>) {
    let zero = UInt8(ascii: "0")
    var digits = Array(whole) + fraction
    var point = whole.count + exponent
    if point < 0 {
      digits.insert(contentsOf: repeatElement(zero, count: -point), at: 0)
      point = 0
    } else if point > digits.count {
      digits.append(contentsOf: repeatElement(zero, count: point - digits.count))
    }
    return (digits[..<point], digits[point...])
  }
}

private func isDigit(_ byte: UInt8) -> Bool {
  (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
}

private func byteOrder(
  _ left: Slice<UnsafeRawBufferPointer>,
  _ right: Slice<UnsafeRawBufferPointer>
) -> Int {
  for (a, b) in zip(left, right) where a != b { return a < b ? -1 : 1 }
  return left.count - right.count
}
