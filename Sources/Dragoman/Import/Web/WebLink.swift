import Foundation

/// Reads what fields of a head say.
enum WebLink {
  /// The URL that `Link` names as the next page (RFC 8288): `<https://…?page=2>; rel="next"`.
  static func next(in field: String?) -> String? {
    for link in parts(of: ArraySlice((field ?? "").utf8), at: UInt8(ascii: ",")) {
      let parts = parts(of: link, at: UInt8(ascii: ";"))
      guard let target = parts.first, target.first == UInt8(ascii: "<"),
        target.last == UInt8(ascii: ">")
      else { continue }
      // Of several relations of one link the first counts (RFC 8288, 3.3).
      let told = parts.dropFirst().lazy.compactMap { relations(in: $0) }.first
      if told?.contains("next") == true {
        return String(decoding: target.dropFirst().dropLast(), as: UTF8.self)
      }
    }
    return nil
  }

  /// The relations of a parameter `rel`, in small letters; nil: it is another parameter.
  private static func relations(in parameter: ArraySlice<UInt8>) -> [Substring]? {
    guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")),
      String(decoding: trimmed(parameter[..<equals]), as: UTF8.self).lowercased() == "rel"
    else { return nil }
    var value: [UInt8] = []
    var isEscaped = false
    for byte in trimmed(parameter[parameter.index(after: equals)...]) {
      isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      if !isEscaped { value.append(byte) }
    }
    let text = String(decoding: value, as: UTF8.self).lowercased()
    return text.trimmingPrefix("\"").split { $0 == " " || $0 == "\t" || $0 == "\"" }
  }

  /// Cuts a text at a sign that neither is in quotes nor in a URL; without white space at the ends.
  private static func parts(of text: ArraySlice<UInt8>, at sign: UInt8) -> [ArraySlice<UInt8>] {
    var parts: [ArraySlice<UInt8>] = []
    var start = text.startIndex
    var isQuoted = false
    var isEscaped = false
    var isURL = false
    for place in text.indices {
      if isEscaped {
        isEscaped = false
        continue
      }
      switch text[place] {
      case UInt8(ascii: "\\"): isEscaped = isQuoted
      case UInt8(ascii: "\"") where !isURL: isQuoted.toggle()
      case UInt8(ascii: "<") where !isQuoted: isURL = true
      case UInt8(ascii: ">") where !isQuoted: isURL = false
      case sign where !isQuoted && !isURL:
        parts.append(trimmed(text[start..<place]))
        start = text.index(after: place)
      default: break
      }
    }
    return parts + [trimmed(text[start...])]
  }

  private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    let end = text.lastIndex { !isSpace($0) }
    return end.map { text[...$0].drop(while: isSpace) } ?? []
  }

  /// How many seconds `Retry-After` asks for; nil where it says nothing that can be read.
  static func wait(in field: String?, now: Date = Date()) -> Double? {
    guard let field else { return nil }
    // More than a number holds is more than anybody waits.
    if !field.isEmpty, field.utf8.allSatisfy(ASCII.isDigit) { return Double(field) }
    let text = standardDate(field)
    guard let time = Array(text.utf8).withUnsafeBytes(RFC2822.read), time.civil.isValid else {
      return nil
    }
    let seconds = time.civil.secondsSinceEpoch - (time.offset ?? 0)
    return max(0, Double(seconds) - now.timeIntervalSince1970)
  }
  /// A date of the two obsolete forms, which every recipient reads (RFC 9110, 5.6.7), as the third has it:
  /// `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
  private static func standardDate(_ text: String) -> String {
    if let date = text.wholeMatch(
      of: /([A-Za-z]{3})[a-z]*, (\d\d)-([A-Za-z]{3})-(\d\d) ([\d:]{8} GMT)/
    ) {
      return "\(date.1), \(date.2) \(date.3) \(date.4) \(date.5)"
    }
    if let date = text.wholeMatch(of: /([A-Za-z]{3}) ([A-Za-z]{3}) +(\d\d?) ([\d:]{8}) (\d{4})/) {
      return "\(date.1), \(date.3) \(date.2) \(date.5) \(date.4) GMT"
    }
    return text
  }
}
