import DragomanGraph

/// The `iso8601` formats: extended calendar dates of ISO 8601-1, and what RFC 3339 adds.
enum ISO8601 {
  /// Reads a date-time, and for date and time attributes the bare date or time too.
  static func read(_ text: UnsafeRawBufferPointer, type: AttributeType) -> ParsedTime? {
    var cursor = ByteCursor(text)
    var parsed = ParsedTime()
    if type == .time, cursor.peek(2) == UInt8(ascii: ":") { return readTime(text) }
    guard parsed.civil.takeDate(from: &cursor) else { return nil }
    if type == .date, cursor.isAtEnd { return parsed }
    guard cursor.take(UInt8(ascii: "T")) || cursor.take(UInt8(ascii: " ")),
      parsed.civil.takeTime(from: &cursor)
    else { return nil }
    if !cursor.isAtEnd {
      guard let offset = cursor.offsetOrZ() else { return nil }
      parsed.offset = offset
    }
    return cursor.isAtEnd ? parsed : nil
  }

  /// Reads `yyyy-MM-dd`.
  static func readDate(_ text: UnsafeRawBufferPointer) -> ParsedTime? {
    var cursor = ByteCursor(text)
    var parsed = ParsedTime()
    return parsed.civil.takeDate(from: &cursor) && cursor.isAtEnd ? parsed : nil
  }

  /// Reads `HH:mm[:ss[.f…]]`.
  static func readTime(_ text: UnsafeRawBufferPointer) -> ParsedTime? {
    var cursor = ByteCursor(text)
    var parsed = ParsedTime()
    return parsed.civil.takeTime(from: &cursor) && cursor.isAtEnd ? parsed : nil
  }
}
