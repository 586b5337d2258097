import DragomanGraph

/// The `iso8601` formats: extended calendar dates of ISO 8601-1, and what RFC 3339 adds.
enum ISO8601 {
  /// Reads a date-time, and for date and time attributes the bare date or time too.
  static func read(_ text: UnsafeRawBufferPointer, type: AttributeType) -> ParsedTime? {
    var cursor = ByteCursor(text)
    var parsed = ParsedTime()
    if type == .time, cursor.peek(2) == UInt8(ascii: ":") { return readTime(text) }
    guard parsed.civil.takeDate(from: &cursor) else { return nil }
    if type == .date, cursor.isAtEndBehindZone { return parsed }
    guard cursor.take(UInt8(ascii: "T")) || cursor.take(UInt8(ascii: " ")),
      parsed.civil.takeTime(from: &cursor)
    else { return nil }
    if !cursor.isAtEnd {
      guard let offset = cursor.offsetOrZ() else { return nil }
      parsed.offset = offset
    }
    return cursor.isAtEnd ? parsed : nil
  }

  /// Reads `yyyy-MM-dd`; where no moment is meant a zone may stand behind it, as in XML Schema.
  static func readDate(_ text: UnsafeRawBufferPointer, type: AttributeType) -> ParsedTime? {
    var cursor = ByteCursor(text)
    var parsed = ParsedTime()
    guard parsed.civil.takeDate(from: &cursor) else { return nil }
    return cursor.isAtEnd || type == .date && cursor.isAtEndBehindZone ? parsed : nil
  }

  /// Reads `HH:mm[:ss[.f…]]`; behind seconds a zone may stand, as in XML Schema.
  static func readTime(_ text: UnsafeRawBufferPointer) -> ParsedTime? {
    var cursor = ByteCursor(text)
    var parsed = ParsedTime()
    guard parsed.civil.takeTime(from: &cursor) else { return nil }
    // Without seconds `08:00-12:00` is more likely to be a span.
    let hasSeconds = text.count > 5 && text[5] == UInt8(ascii: ":")
    return cursor.isAtEnd || hasSeconds && cursor.isAtEndBehindZone ? parsed : nil
  }
}

extension ByteCursor {
  /// Whether nothing is left, or a zone of XML Schema: `Z` or `±hh:mm`, up to 14 hours
  /// (https://www.w3.org/TR/xmlschema11-2/#nt-tzFrag).
  fileprivate var isAtEndBehindZone: Bool {
    if isAtEnd { return true }
    var rest = self
    if rest.take(UInt8(ascii: "Z")) { return rest.isAtEnd }
    guard rest.take(UInt8(ascii: "+")) || rest.take(UInt8(ascii: "-")), let hours = rest.digits(2),
      rest.take(UInt8(ascii: ":")), let minutes = rest.digits(2)
    else { return false }
    return rest.isAtEnd && minutes < 60 && hours * 60 + minutes <= 14 * 60
  }
}
