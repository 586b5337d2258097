/// Values as JSON holds them whole: the values of an `IN` list as one text, which is bound as one parameter.
///
/// One parameter however long the list: the statement's text does not vary with the data, and SQLite
/// can still use an index (`x IN (SELECT dragoman_value(value) FROM json_each(?))`). Every element
/// is a JSON string of a letter for the storage class and the value. SQLite's JSON ends a string at
/// `\u0000` and rounds doubles, so texts and blobs are hexadecimal where they must be and reals are
/// their bits.
enum ListCode {
  /// The JSON array of the values.
  static func json(_ values: [StoredValue]) -> String {
    "[" + values.map { "\"\(code($0))\"" }.joined(separator: ",") + "]"
  }

  /// The value of one element, as `json_each` gives it.
  static func value(of code: String) -> StoredValue {
    let rest = String(code.dropFirst())
    switch code.first {
    case "i": return Int64(rest).map(StoredValue.integer) ?? .null
    case "r": return UInt64(rest).map { .real(Double(bitPattern: $0)) } ?? .null
    case "t": return .text(rest)
    case "x": return .text(String(decoding: bytes(rest), as: UTF8.self))
    case "b": return .blob(bytes(rest))
    default: return .null
    }
  }

  /// One element, which a JSON string takes without an escape.
  static func code(_ value: StoredValue) -> String {
    switch value {
    case .null: "n"
    case .integer(let integer): "i\(integer)"
    case .real(let real): "r\(real.bitPattern)"
    case .text(let text):
      text.utf8.allSatisfy(isPlain) ? "t\(text)" : "x" + hexadecimal(text.utf8)
    case .blob(let bytes): "b" + hexadecimal(bytes)
    }
  }

  /// Plain ASCII that JSON takes without an escape; anything else could also join the letter in
  /// front of it to one Swift character.
  private static func isPlain(_ byte: UInt8) -> Bool {
    (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  private static func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map {
      UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
  }
}
