import CSimdJSON

/// Tells the format of a text by its content, then by its name.
enum FormatDetection {
  /// How many bytes are looked at.
  private static let byteCount = 64 << 10

  private static let compressions = ["", ".gz", ".zst"]

  /// The format of a source, whose first bytes are looked at and stay unread.
  ///
  /// A single line of NDJSON is JSON too, and CSV has no mark of its own: then it is what the name
  /// and the sources that take part say.
  /// - Throws: `.format` for a text that is neither JSON nor XML, or `.noRecords` for an empty one.
  static func format(
    of source: PeekableSource,
    name: String,
    sources: [SourceMap]
  ) throws(ReadError) -> ForeignFormat {
    let bytes = Array(try source.peek(byteCount))
    let formats = Set(sources.map(\.format))
    var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    if isCSV(bytes, name: name, formats: formats) { return .csv }
    // XML may come in UTF-16 or UTF-32; a NUL beside an ASCII sign gives it away.
    if isWide(bytes) { return bytes.prefix(8).contains(UInt8(ascii: "<")) ? .xml : .json }
    while start < bytes.count, isJSONSpace(bytes[start]) { start += 1 }
    let isLines = hasEnding([".ndjson", ".jsonl"], name)
    guard start < bytes.count else {
      if isLines { return .ndjson }
      throw ReadError(
        .truncated,
        bytes.isEmpty
          ? "The input is empty: not even an empty array of records is in it."
          : "The input holds nothing but white space.",
        at: Origin(file: name, line: 1, column: 1, byte: 0)
      )
    }
    if bytes[start] == UInt8(ascii: "<") {
      try checkForHTML(bytes[start...], name: name, sources: sources)
      return .xml
    }
    let takesLinesOnly = formats.contains(.ndjson) && !formats.contains(.json)
    return isLines || takesLinesOnly || isLineDelimited(bytes, from: start) ? .ndjson : .json
  }

  /// Whether the name says that cells are divided by tabs.
  static func isTabSeparated(_ name: String) -> Bool { hasEnding([".tsv"], name) }

  /// Whether a text is CSV: by its name, or because a source reads CSV and it is nothing else.
  ///
  /// A header that starts as JSON and XML texts do wants the name.
  private static func isCSV(
    _ bytes: [UInt8],
    name: String,
    formats: Set<ForeignFormat>
  ) -> Bool {
    let marks = Set<UInt8>([0, 0xEF, 0xBB, 0xBF, 0xFF, 0xFE])
    let text = bytes.drop { marks.contains($0) || isJSONSpace($0) }
    guard let first = text.first else { return false }
    let startsOtherwise = "{[<".utf8.contains(first)
    let isNamed = hasEnding([".csv", ".tsv"], name)
    if isNamed { return formats.contains(.csv) || !startsOtherwise }
    guard formats.contains(.csv), !startsOtherwise else { return false }
    return formats == [.csv] || isWide(bytes) || !isScalarLine(text)
  }

  /// Whether the first line is a JSON value alone: a string, a number, or one of the three words.
  private static func isScalarLine(_ text: ArraySlice<UInt8>) -> Bool {
    let line = text.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    let words = ["true", "false", "null"]
    guard let first = line.first else { return false }
    if words.contains(where: { line.elementsEqual($0.utf8) }) { return true }
    guard first == UInt8(ascii: "\"") else {
      return line.allSatisfy { "+-.eE0123456789".utf8.contains($0) }
    }
    var scan = JSONScan()
    let length = line.withUnsafeBufferPointer {
      jsonScanValue(&scan, $0.baseAddress, $0.count, 1)
    }
    return length == line.count
  }

  /// Whether the text is in UTF-16 or UTF-32.
  private static func isWide(_ bytes: [UInt8]) -> Bool {
    bytes.prefix(4).contains(0) || bytes.starts(with: [0xFF, 0xFE])
      || bytes.starts(with: [0xFE, 0xFF])
  }

  private static func hasEnding(_ endings: [String], _ name: String) -> Bool {
    let name = name.lowercased()
    return endings.contains { ending in compressions.contains { name.hasSuffix(ending + $0) } }
  }

  /// An error page in place of a feed is refused, unless the map reads HTML on purpose.
  private static func checkForHTML(
    _ bytes: ArraySlice<UInt8>,
    name: String,
    sources: [SourceMap]
  ) throws(ReadError) {
    let head = String(decoding: bytes.prefix(32), as: UTF8.self).lowercased()
    let isHTML = head.hasPrefix("<!doctype html") || head.hasPrefix("<html")
    let isWanted = sources.contains { source in
      if case .member("html", _) = source.records?.steps.first { true } else { false }
    }
    guard isHTML, !isWanted else { return }
    throw ReadError(
      .format,
      "The input looks like an HTML page, not like a feed.",
      at: Origin(file: name, line: 1, column: 1, byte: 0),
      help: "it may be an error or login page: look at it, and at where it came from"
    )
  }

  /// Whether a whole JSON object ends on the first line and another value begins on a later one.
  private static func isLineDelimited(_ bytes: [UInt8], from start: Int) -> Bool {
    guard bytes[start] == UInt8(ascii: "{") else { return false }
    var scan = JSONScan()
    let length = bytes.withUnsafeBufferPointer { text in
      jsonScanValue(&scan, text.baseAddress.map { $0 + start }, text.count - start, 0)
    }
    guard length > 0, !bytes[start..<start + length].contains(UInt8(ascii: "\n")) else {
      return false
    }
    let rest = bytes[(start + length)...].drop { $0 != UInt8(ascii: "\n") && isJSONSpace($0) }
    guard rest.first == UInt8(ascii: "\n") else { return false }
    return rest.first { !isJSONSpace($0) } == UInt8(ascii: "{")
  }
}
