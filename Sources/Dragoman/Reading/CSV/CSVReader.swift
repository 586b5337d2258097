import CSimdJSON

/// Reads comma-separated values: a header with the columns' names, then one record a row.
///
/// A record is an object of its cells by the names of their columns. An empty cell is null, an
/// empty cell in quotes is an empty string, every other one is a string. Rows without anything in
/// them are skipped. A row that has not a cell for every column is a record that the report names,
/// and the others are read; a quote that is never closed refuses the feed.
final class CSVReader: RecordReader {
  private var window: SourceWindow
  private var scanner: CSVScanner
  private var separator: UInt8
  private let isDeclared: Bool
  private var recordCount = 0
  private var isAtStart = true
  private var isAtEnd = false
  /// The header; nil until it was read.
  private(set) var header: CSVHeader?
  /// Where the header is in the arena.
  private var headerBase: UInt32 = 0
  /// What is to be added to an offset in the source for that in the arena.
  private var arenaBase: UInt32 = 0
  /// The nodes of the batch whose text still has its quotes doubled.
  private var doubled: [UInt32] = []

  /// Makes a reader of rows whose cells are divided by one byte.
  ///
  /// - Parameters:
  ///   - source: The text.
  ///   - separator: The byte.
  ///   - isDeclared: Whether the map says so: what a first line `sep=;` says counts for nothing then.
  ///   - limit: How large a row may be.
  init(
    source: any ByteSource,
    separator: UInt8 = UInt8(ascii: ","),
    isDeclared: Bool = false,
    limit: RecordLimit = .standard
  ) {
    window = SourceWindow(source: source, limit: limit)
    scanner = CSVScanner(separator: separator)
    self.separator = separator
    self.isDeclared = isDeclared
  }

  var consumedByteCount: Int { window.source.consumedByteCount }

  var recordCounts: [Int?] { [recordCount] }

  func read(into batch: RecordBatch, limit: Int) throws(ReadError) -> Bool {
    window.open(batch)
    defer { window.close(batch) }
    doubled.removeAll(keepingCapacity: true)
    if isAtStart {
      isAtStart = false
      try window.skipByteOrderMark(batch)
      guard try nextRow(batch) else { throw empty(batch) }
      let line = batch.source[scanner.start..<scanner.end]
      if let stated = Self.separator(statedBy: line) {
        if !isDeclared { separator = stated }
        window.position = scanner.next
        scanner = CSVScanner(separator: separator)
        guard try nextRow(batch) else { throw empty(batch) }
      }
      try readHeader(batch)
    }
    guard let header else { return false }
    let (start, length) = header.bytes.withUnsafeBytes { batch.append($0) }
    headerBase = start
    arenaBase = start + length
    defer { completeText(batch) }
    while batch.records.count < limit && window.position < SourceWindow.targetByteCount {
      guard try nextRow(batch) else { return false }
      append(header, to: batch)
      window.position = scanner.next
    }
    return true
  }

  // MARK: - Rows

  /// Scans the next row that has something in it; false at the end.
  private func nextRow(_ batch: RecordBatch) throws(ReadError) -> Bool {
    let start = window.position
    while true {
      while window.position < batch.sourceCount, isLineEnd(batch.source[window.position]) {
        window.position += 1
      }
      if window.position < batch.sourceCount { break }
      // Empty lines lie in the window until its batch ends.
      guard window.position - start < window.limit.textByteCount else {
        throw window.limit.whiteSpaceError(at: batch.origin(at: UInt32(start), record: nil))
      }
      guard try fill(batch) else { return false }
    }
    scanner.begin(at: window.position)
    while true {
      let text = UnsafeRawBufferPointer(rebasing: batch.source[..<batch.sourceCount])
      if scanner.scan(text, isWhole: isAtEnd) { return true }
      guard !isAtEnd else { throw openQuote(batch) }
      _ = try fill(batch)
    }
  }

  private func isLineEnd(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
  }

  private func fill(_ batch: RecordBatch) throws(ReadError) -> Bool {
    guard !isAtEnd else { return false }
    do throws(ReadError) {
      if try window.fill(batch) { return true }
      isAtEnd = true
      return false
    } catch {
      guard error.code == .limit else { throw error }
      var error = error
      var help = "is this CSV? its rows end with a line end"
      if let quote = scanner.openQuote {
        error.origin = batch.origin(at: UInt32(quote), record: recordCount + 1)
        help = "the quote that opens here may never be closed"
      }
      error.help = "\(help); else raise `maxRecordSize` under `import:`"
      throw error
    }
  }

  // MARK: - The header

  /// The separator that a line above the header states, as spreadsheets write it: `sep=;`; nil: it is no such line.
  static func separator(statedBy line: some Collection<UInt8>) -> UInt8? {
    var text = Array(line.prefix(8))
    let quote = UInt8(ascii: "\"")
    if text.count == 7, text.first == quote, text.last == quote { text = Array(text[1..<6]) }
    guard text.count == 5, let byte = text.last, byte < 0x80, byte != quote, !ASCII.isLetter(byte),
      !ASCII.isDigit(byte), String(decoding: text.dropLast(), as: UTF8.self).lowercased() == "sep="
    else { return nil }
    return byte
  }

  private func readHeader(_ batch: RecordBatch) throws(ReadError) {
    let place = batch.origin(at: UInt32(scanner.start), record: nil)
    guard scanner.end - scanner.start <= CSVHeader.maximumByteCount else {
      throw ReadError(.limit, "The header of the CSV text is larger than 1 MB.", at: place)
    }
    if let stray = scanner.strayByte { throw strayText(batch, stray, record: nil) }
    if let fault = Self.fault(inText: batch.source[scanner.start..<scanner.end]) {
      throw ReadError(
        .encoding,
        fault,
        at: place,
        help: "say what it is written in: `encoding: windows-1252` or `UTF-16LE` in the source"
      )
    }
    do throws(CSVHeader.Fault) {
      header = try CSVHeader(scanner.cells.map { Self.text(of: $0, in: batch) })
    } catch {
      throw ReadError(
        .csv,
        error.message,
        at: place,
        help: "the first row of the file must give every column a name of its own"
      )
    }
    if scanner.endsWithReturn { window.setLineBreak(UInt8(ascii: "\r"), batch) }
    window.position = scanner.next
    // One cell more than there are columns tells that a row is too long.
    scanner.maximumCellCount = scanner.cellCount + 1
  }

  private static func text(of cell: CSVScanner.Cell, in batch: RecordBatch) -> [UInt8] {
    var text = Array(batch.source[Int(cell.start)..<Int(cell.start) + Int(cell.length)])
    guard cell.doubledQuoteCount > 0 else { return text }
    let count = text.withUnsafeMutableBytes { undouble($0[...], count: $0.count) }
    text.removeLast(text.count - count)
    return text
  }

  // MARK: - Records

  private func append(_ header: CSVHeader, to batch: RecordBatch) {
    recordCount += 1
    var node = RecordBatch.malformedNode
    if let stray = scanner.strayByte {
      batch.failures[batch.records.count] = strayText(batch, stray, record: recordCount)
    } else if scanner.cellCount != header.names.count {
      batch.failures[batch.records.count] = ragged(header, batch)
    } else {
      node = appendNodes(header, to: batch)
    }
    batch.records.append(
      RecordBatch.Record(
        node: node,
        start: UInt32(scanner.start),
        length: UInt32(scanner.end - scanner.start),
        number: recordCount,
        source: 0
      )
    )
  }

  /// Puts an object of the row's cells on the tape; their text follows in `completeText`.
  private func appendNodes(_ header: CSVHeader, to batch: RecordBatch) -> UInt32 {
    let root = batch.nodeCount
    let end = root + 1 + header.ranges.count
    batch.reserveNodes(end)
    let nodes = batch.nodes
    var object = TapeNode()
    object.kind = UInt8(TAPE_OBJECT)
    object.origin = UInt32(scanner.start)
    object.next = UInt32(end)
    nodes[root] = object
    var index = root + 1
    for (cell, name) in zip(scanner.cells, header.ranges) {
      var node = TapeNode()
      node.kind = UInt8(cell.length == 0 && !cell.isQuoted ? TAPE_NULL : TAPE_STRING)
      node.text = arenaBase + cell.start
      node.length = cell.length
      node.key = headerBase + name.lowerBound
      node.keyLength = name.upperBound - name.lowerBound
      node.origin = cell.start - (cell.isQuoted ? 1 : 0)
      node.next = UInt32(index + 1)
      nodes[index] = node
      if cell.doubledQuoteCount > 0 { doubled.append(UInt32(index)) }
      index += 1
    }
    batch.didAppendNodes(to: end)
    return UInt32(root)
  }

  /// Copies the rows' text into the arena, where nodes look for it, and checks that it is text.
  private func completeText(_ batch: RecordBatch) {
    let text = UnsafeRawBufferPointer(rebasing: batch.source[..<window.position])
    _ = batch.append(text)
    let nodes = batch.nodes
    for index in doubled {
      let start = Int(nodes[Int(index)].text)
      let cell = batch.arena[start..<start + Int(nodes[Int(index)].length)]
      nodes[Int(index)].length = UInt32(Self.undouble(cell, count: cell.count))
    }
    guard Self.fault(inText: text[...]) != nil else { return }
    for (index, record) in batch.records.enumerated() {
      let start = Int(record.start)
      let row = batch.source[start..<start + Int(record.length)]
      guard let fault = Self.fault(inText: row) else { continue }
      let origin = batch.origin(at: record.start, record: record.number)
      batch.failures[index] = ReadError(
        .encoding,
        fault,
        at: origin,
        help: "if all of the feed is in another encoding, name it in the source: `encoding: …`"
      )
      batch.records[index].node = RecordBatch.malformedNode
    }
  }

  /// Makes one quote of two, in place; gives the new length.
  private static func undouble(_ text: Slice<UnsafeMutableRawBufferPointer>, count: Int) -> Int {
    let bytes = UnsafeMutableRawBufferPointer(rebasing: text)
    var written = 0
    var read = 0
    while read < count {
      let byte = bytes[read]
      bytes[written] = byte
      written += 1
      read += byte == UInt8(ascii: "\"") ? 2 : 1
    }
    return written
  }

  /// Why bytes are not text, a full sentence; nil: they are.
  private static func fault(inText bytes: Slice<UnsafeRawBufferPointer>) -> String? {
    let text = UnsafeRawBufferPointer(rebasing: bytes)
    guard let base = text.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
    if !isUTF8(base, text.count) { return "The text is not valid UTF-8." }
    return hasNUL(base, text.count) ? "The text holds a NUL byte; CSV is text." : nil
  }

  private static func fault(inText bytes: Slice<UnsafeMutableRawBufferPointer>) -> String? {
    fault(inText: UnsafeRawBufferPointer(rebasing: bytes)[...])
  }

  // MARK: - Faults

  private func empty(_ batch: RecordBatch) -> ReadError {
    ReadError(
      .truncated,
      "The input has no header: not even the names of the columns are in it.",
      at: batch.origin(at: UInt32(window.position), record: nil)
    )
  }

  private func openQuote(_ batch: RecordBatch) -> ReadError {
    ReadError(
      .csv,
      "The quote that opens here is never closed.",
      at: batch.origin(
        at: UInt32(scanner.openQuote ?? scanner.start),
        record: header == nil ? nil : recordCount + 1
      ),
      help: "the feed was cut off, or a quote in a cell is not doubled"
    )
  }

  private func strayText(_ batch: RecordBatch, _ offset: Int, record: Int?) -> ReadError {
    ReadError(
      .csv,
      "Something stands between a closing quote and the end of its cell:"
        + " found \(JSONText.excerpt(batch, offset)).",
      at: batch.origin(at: UInt32(offset), record: record),
      help: "a quote inside of a quoted cell is written twice"
    )
  }

  private func ragged(_ header: CSVHeader, _ batch: RecordBatch) -> ReadError {
    let columnCount = header.names.count
    let isLong = scanner.cellCount > columnCount
    let extra = isLong && columnCount < scanner.cells.count ? scanner.cells[columnCount] : nil
    func count(_ number: Int, _ word: String) -> String {
      "\(number) \(word)\(number == 1 ? "" : "s")"
    }
    return ReadError(
      .csv,
      "The row has \(count(scanner.cellCount, "cell")),"
        + " and the header names \(count(columnCount, "column")).",
      at: batch.origin(at: extra?.start ?? UInt32(scanner.start), record: recordCount),
      help: isLong
        ? "a cell with “\(Self.name(of: separator))” or a line end in it stands in quotes"
        : "every row has a cell for every column, if only an empty one"
    )
  }

  private static func name(of separator: UInt8) -> String {
    separator == UInt8(ascii: "\t") ? "tab" : String(decoding: [separator], as: UTF8.self)
  }
}
