/// What a sample is: its format, and what has to be known besides to read it.
struct SampleFormat {
  private(set) var format: ForeignFormat
  /// What is between the cells of CSV.
  private(set) var separator: UInt8?
  /// Whether the map says it.
  private(set) var declaresSeparator = false
  /// The encoding, where the text neither is UTF-8 nor says what it is.
  private(set) var encoding: String?

  /// Tells what a sample is by its first bytes, then by its name.
  ///
  /// - Throws: `ReadError` for what is no feed, saying what it looks like.
  init(_ source: PeekableSource, _ head: [UInt8], name: String) throws(ReadError) {
    format = try FormatDetection.format(of: source, name: name, sources: [])
    guard format != .xml else { return }
    let mark = ByteOrderMark(head)
    let isWhole = head.count < SampleReader.headByteCount
    let guess = mark == nil ? EncodingGuess(head, isWhole: isWhole) : .utf8
    var isWide = mark.map { $0 != .utf8 } ?? false
    switch guess {
    case .utf8: break
    case .wide(let encoding):
      self.encoding = encoding
      isWide = true
    case .other: encoding = Self.takesAnyBytes
    case .binary: throw Self.refusal("binary data", name)
    }
    let head = isWide ? FormatDetection.decoded(head) : head
    guard !head.contains(0) else { throw Self.refusal("binary data", name) }
    if format == .json {
      let text = head.starts(with: [0xEF, 0xBB, 0xBF]) ? head.dropFirst(3) : head[...]
      let first = text.first { !isJSONSpace($0) } ?? 0
      if !"{[".utf8.contains(first) {
        guard let separator = Self.separator(of: text) else {
          throw Self.refusal(guess == .other ? "binary data" : "plain text", name)
        }
        format = .csv
        self.separator = separator
      }
    } else if format == .csv {
      separator = Self.separator(of: head[...]) ?? (FormatDetection.isTabSeparated(name) ? 9 : 44)
    }
  }

  /// The encoding that is guessed of bytes that are no UTF-8.
  static let takesAnyBytes = "windows-1252"

  /// Takes what the sources of a map say, as an import does.
  ///
  /// - Throws: `ReadError` for what none of them reads.
  init(_ source: PeekableSource, name: String, sources: [SourceMap]) throws(ReadError) {
    format = try FormatDetection.format(of: source, name: name, sources: sources)
    let declared = sources.filter { [format] in $0.reads(format) }
    if format == .csv {
      let stated = declared.lazy.compactMap { $0.separator?.utf8.first }.first
      declaresSeparator = stated != nil
      separator = stated ?? (FormatDetection.isTabSeparated(name) ? 9 : 44)
    }
    encoding = declared.lazy.compactMap(\.encoding).first
  }

  private static func refusal(_ what: String, _ name: String) -> ReadError {
    ReadError(
      .format,
      "\(name) looks like \(what): it is neither JSON, NDJSON, XML nor CSV with a header.",
      at: Origin(file: name, line: 1, column: 1, byte: 0),
      help: "look at it, and at where it came from"
    )
  }

  /// What divides the cells of some lines.
  private struct Division {
    let separator: UInt8
    /// How often it stands in the first line, and how often without a space behind it.
    let count: Int
    let tightCount: Int
    /// Whether all lines have as many.
    let isEverywhere: Bool
  }

  /// The byte that a first line `sep=;` states, or that divides the first lines into the most cells, as many in each;
  /// nil: none does.
  private static func separator(of text: ArraySlice<UInt8>) -> UInt8? {
    let text = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text
    let lines = text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).prefix(20)
    guard lines.count > 1 else { return nil }
    if let stated = CSVReader.separator(statedBy: lines[0]) { return stated }
    let separators = [UInt8(ascii: ","), UInt8(ascii: ";"), 9, UInt8(ascii: "|")]
    let divisions = separators.compactMap { division(of: Array(lines), by: $0) }
    let best = divisions.max { $0.count < $1.count }
    guard let best, best.separator == UInt8(ascii: ",") else { return best?.separator }
    // A comma may stand in the name of a column (`Price, EUR`) and in each of its numbers (`1,50`).
    let other = divisions.dropFirst().filter(\.isEverywhere).max { $0.count < $1.count }
    guard let other else { return best.separator }
    let isText =
      other.count >= best.count || (best.tightCount == 0 && other.count * 2 >= best.count)
    return isText ? other.separator : best.separator
  }

  /// How a byte divides lines; nil: not all of them alike.
  private static func division(of lines: [ArraySlice<UInt8>], by separator: UInt8) -> Division? {
    let counts = lines.map { line in
      var isQuoted = false
      return line.count { byte in
        if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
        return byte == separator && !isQuoted
      }
    }
    // A line end may stand in quotes: half of the lines are enough.
    let likeFirst = counts.count { $0 == counts[0] }
    guard counts[0] > 0, likeFirst * 2 >= counts.count else { return nil }
    let spaced = zip(lines[0], lines[0].dropFirst()).count { $0 == separator && $1 == 0x20 }
    return Division(
      separator: separator,
      count: counts[0],
      tightCount: counts[0] - spaced,
      isEverywhere: likeFirst == counts.count
    )
  }
}
