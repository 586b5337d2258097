import CSimdJSON

/// Tells the format of a text by its content, then by its name.
enum FormatDetection {
  /// How many bytes are looked at.
  private static let byteCount = 64 << 10
  /// How many are, at most, while the first value goes on without the end of a line.
  private static let lineByteCount = 4 << 20

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
    let raw = Array(try source.peek(byteCount))
    let formats = Set(sources.map(\.format))
    if isXMLOfEBCDIC(raw), !hasEnding([".csv", ".tsv"], name) { return .xml }
    if isCSV(raw, name: name, formats: formats) {
      try checkForHTML(raw.drop { isJSONSpace($0) || $0 >= 0x80 }, name: name, sources: sources)
      return .csv
    }
    let bytes = isWide(raw) ? decoded(raw) : raw
    var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    while start < bytes.count, isJSONSpace(bytes[start]) { start += 1 }
    let isLines = format(named: name) == .ndjson
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
    if isLines || takesLinesOnly { return .ndjson }
    // In wide characters no more than what is decoded is looked at.
    let isDelimited =
      isWide(raw)
      ? isLineDelimited(bytes, from: start, isWhole: raw.count < byteCount) == true
      : try isLineDelimited(source, bytes, from: start)
    return isDelimited ? .ndjson : .json
  }

  /// The text of UTF-16 or UTF-32 as UTF-8, as far as it goes; a NUL beside an ASCII sign gives the
  /// encoding away where there is no mark.
  static func decoded(_ bytes: [UInt8]) -> [UInt8] {
    let mark = ByteOrderMark(bytes)
    let isLittle = bytes.first != 0
    let isLong = bytes.prefix(4).count { $0 == 0 } > 2
    let guess = isLong ? (isLittle ? "UTF-32LE" : "UTF-32BE") : isLittle ? "UTF-16LE" : "UTF-16BE"
    let text = Array(bytes.dropFirst(mark?.byteCount ?? 0))
    var decoded: [UInt8] = []
    do throws(ReadError) {
      try TextDecoder.append(text, as: mark?.encoding ?? guess, to: &decoded)
    } catch {
      // The last character may be cut; a text that is faulty is refused by its reader.
    }
    return decoded
  }

  /// The format that a file's name tells; nil where it tells none.
  static func format(named name: String) -> ForeignFormat? {
    let endings: [(ForeignFormat, [String])] = [
      (.json, [".json"]), (.ndjson, [".ndjson", ".jsonl"]), (.xml, [".xml"]),
      (.csv, [".csv", ".tsv"]),
    ]
    return endings.first { hasEnding($0.1, name) }?.0
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

  /// Whether the text begins with `<?xm` as EBCDIC has it (XML 1.0, appendix F).
  private static func isXMLOfEBCDIC(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: [0x4C, 0x6F, 0xA7, 0x94])
  }

  /// Whether the text is in UTF-16 or UTF-32.
  private static func isWide(_ bytes: [UInt8]) -> Bool {
    bytes.prefix(4).contains(0) || bytes.starts(with: [0xFF, 0xFE])
      || bytes.starts(with: [0xFE, 0xFF])
  }

  private static func hasEnding(_ endings: [String], _ name: String) -> Bool {
    let name = WebText.path(ofInput: name).lowercased()
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

  /// Whether the text is one of JSON a line, looking further while its first line goes on.
  private static func isLineDelimited(
    _ source: PeekableSource,
    _ bytes: [UInt8],
    from start: Int
  ) throws(ReadError) -> Bool {
    var bytes = bytes
    var wanted = byteCount
    while true {
      let isWhole = bytes.count < wanted
      if let answer = isLineDelimited(bytes, from: start, isWhole: isWhole) { return answer }
      guard !isWhole, wanted < lineByteCount else { return false }
      wanted *= 4
      bytes = Array(try source.peek(wanted))
    }
  }

  /// Whether a whole JSON value ends on its first line and another begins on a later one.
  ///
  /// That can be nothing else: behind its only value a JSON text has nothing. Nil: what is known of the
  /// text does not tell yet.
  private static func isLineDelimited(_ bytes: [UInt8], from start: Int, isWhole: Bool) -> Bool? {
    guard isValueStart(bytes[start]) else { return false }
    let feed = UInt8(ascii: "\n")
    var scan = JSONScan()
    let length = bytes.withUnsafeBufferPointer { text in
      jsonScanValue(
        &scan,
        text.baseAddress.map { $0 + start },
        text.count - start,
        isWhole ? 1 : 0
      )
    }
    if bytes[start..<(length > 0 ? start + length : bytes.count)].contains(feed) { return false }
    guard length > 0 else { return isWhole ? false : nil }
    let rest = bytes[(start + length)...]
    guard let next = rest.firstIndex(where: { !isJSONSpace($0) }) else {
      return isWhole ? false : nil
    }
    return rest[..<next].contains(feed) && isValueStart(bytes[next])
  }

  /// Whether a value of JSON may begin with the byte.
  private static func isValueStart(_ byte: UInt8) -> Bool {
    "{[\"-tfn".utf8.contains(byte) || ASCII.isDigit(byte)
  }
}
