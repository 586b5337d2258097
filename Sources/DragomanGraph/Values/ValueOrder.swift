/// The order of stored values, the same as SQLite's in compiled fetches.
///
/// Null before numbers, numbers before text, text before bytes
/// (https://www.sqlite.org/datatype3.html, section 4.1). Integers and doubles compare exactly, text by
/// bytes, decimals by value.
enum ValueOrder {
  /// Less than 0 if `left` comes first, 0 if they are equal.
  static func order(_ left: StoredValue, _ right: StoredValue, asDecimals: Bool) -> Int {
    switch (left, right) {
    case (.null, .null): 0
    case (.integer(let a), .integer(let b)): a < b ? -1 : a == b ? 0 : 1
    case (.real(let a), .real(let b)): a < b ? -1 : a == b ? 0 : 1
    case (.integer(let a), .real(let b)): order(a, b)
    case (.real(let a), .integer(let b)): -order(b, a)
    case (.text(let a), .text(let b)): asDecimals ? DecimalText.order(a, b) : bytes(a.utf8, b.utf8)
    case (.blob(let a), .blob(let b)): bytes(a, b)
    default: rank(left) - rank(right)
    }
  }

  private static func rank(_ value: StoredValue) -> Int {
    switch value {
    case .null: 0
    case .integer, .real: 1
    case .text: 2
    case .blob: 3
    }
  }

  /// Exact: an integer beyond 53 bits is not rounded to a double.
  private static func order(_ integer: Int64, _ real: Double) -> Int {
    if real >= 0x1p63 { return -1 }
    // What is no number is null to SQLite, and before all numbers.
    guard real >= -0x1p63 else { return 1 }
    let whole = Int64(real)
    if integer != whole { return integer < whole ? -1 : 1 }
    let fraction = real - Double(whole)
    return fraction > 0 ? -1 : fraction < 0 ? 1 : 0
  }

  private static func bytes(
    _ left: some Sequence<UInt8>,
    _ right: some Sequence<UInt8>
  ) -> Int {
    var right = right.makeIterator()
    for a in left {
      guard let b = right.next() else { return 1 }
      if a != b { return a < b ? -1 : 1 }
    }
    return right.next() == nil ? 0 : -1
  }
}

extension DecimalText {
  /// Orders two decimals by their value.
  static func order(_ left: String, _ right: String) -> Int {
    var left = left
    var right = right
    return left.withUTF8 { a in
      right.withUTF8 { b in order(UnsafeRawBufferPointer(a), UnsafeRawBufferPointer(b)) }
    }
  }
}
