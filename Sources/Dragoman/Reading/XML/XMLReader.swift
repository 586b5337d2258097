import CLibXML2

/// Reads the records of an XML document in one pass and constant memory, with libxml2's push
/// parser.
///
/// An element becomes a node of kind `TAPE_ELEMENT`. Its text is its direct text: all text and
/// CDATA of the element itself, without that of its children. Comments and processing
/// instructions do not cut text; white space between child elements is layout and dropped; the
/// text of an element without children is kept to the last blank. Its attributes follow, then its
/// child elements. An element with `xsi:nil="true"` is one node of kind `TAPE_NULL`, whatever it
/// holds. Declarations of namespaces are not attributes.
///
/// Internal entities are expanded within libxml2's bounds. Whatever stands outside of the
/// document is never opened. The whole document is checked: every error libxml2 reports, namespace
/// errors included, ends the reading.
///
/// Large because the source, the piece of it at hand and the place in it are kept side by side.
final class XMLReader: RecordReader {
  /// How many source bytes a batch has at about, where no record is larger.
  static let batchByteCount = 1 << 19
  /// How many bytes are read from the source at once: what was read beyond a batch is copied to
  /// the next one.
  private static let readByteCount = 1 << 16
  /// How many bytes are given to libxml2 at once.
  private static let pieceByteCount = 1 << 13
  /// Source part of the buffer: a batch, and the record that crosses its end in most cases.
  private static let sourceCapacity = batchByteCount + (1 << 17)

  private let source: PeekableSource
  private let skippedByteCount: Int
  private let looksLikeHTML: Bool
  private let recordLimit: RecordLimit
  private let builder: UnsafeMutablePointer<XMLTapeBuilder>
  private let context: xmlParserCtxtPtr

  /// How many bytes the source part of the current batch may take.
  private var sourceCapacity = XMLReader.sourceCapacity
  /// How many bytes of the text were given to libxml2.
  private var fedByteCount = 0
  /// The size of the next piece: it grows while libxml2 waits for the end of a long tag, which it
  /// looks for from the start each time.
  private var pieceByteCount = XMLReader.pieceByteCount
  private var sourceEnded = false
  /// Why the source gives no more, to be told when what it gave is read.
  private var sourceFailure: ReadError?
  private var hasFinished = false
  /// Why the document was refused: every later call says so again.
  private var failure: ReadError?
  /// Bytes that were read, but belong to the next batch.
  private var carry: [UInt8] = []
  /// Where the next batch starts: in the text, and as line and column.
  private var batchStart = 0
  private var line = 1
  private var column = 1
  /// What the document declares in front of its root element.
  private var doctype: [UInt8]?

  /// Makes a reader.
  ///
  /// - Parameters:
  ///   - source: The document, decompressed, in whatever encoding.
  ///   - paths: Where the records stand; `RecordBatch.Record.source` is an index into this list.
  ///     An element may be a record of several paths, and a record may stand inside another.
  ///   - encoding: The encoding of a document that does not say; nil is UTF-8.
  ///   - doubt: Is told what is decoded.
  ///   - keeping: Which elements before the records are kept for `$root` paths.
  ///   - limit: What one record may take.
  ///   - levels: How many levels there are around what may be nested as deep as a feed.
  /// - Throws: `ReadError` when the encoding is not known or the source cannot be read.
  init(
    source: any ByteSource,
    paths: [XMLRecordPath],
    encoding: String? = nil,
    doubt: EncodingDoubt? = nil,
    keeping: DocumentMembers = .none,
    limit: RecordLimit = .standard,
    around levels: Int = 0
  ) throws(ReadError) {
    recordLimit = limit
    let text = try XMLEncoding.decodedText(of: source, fallback: encoding, doubt: doubt)
    self.source = text.source
    skippedByteCount = text.skippedByteCount
    looksLikeHTML = Self.looksLikeHTML(try text.source.peek(64))
    let builder = UnsafeMutablePointer<XMLTapeBuilder>.allocate(capacity: 1)
    guard let context = XMLHandlers.makeParser(for: builder) else {
      builder.deallocate()
      throw ReadError(.inputOutput, "There is no memory to read \(source.name).")
    }
    builder.initialize(
      to: XMLTapeBuilder(
        context: context,
        paths: paths,
        keeping: keeping,
        limit: limit,
        maxDepth: XMLTapeBuilder.maxDepth + levels
      )
    )
    self.builder = builder
    self.context = context
  }

  deinit {
    XMLHandlers.destroy(context)
    builder.pointee.deallocate()
    builder.deinitialize(count: 1)
    builder.deallocate()
  }

  var consumedByteCount: Int { source.consumedByteCount }

  var recordCounts: [Int?] { builder.pointee.recordCounts }

  /// Empties the batch, then fills it with the next records.
  ///
  /// A record is never cut: one that is larger than a batch makes the batch larger, up to what one
  /// record may take. The limit counts records that stand beside each other;
  /// those inside them, or of several paths at one element, come with them.
  func read(into batch: RecordBatch, limit: Int) throws(ReadError) -> Bool {
    begin(batch)
    if let failure { throw failure }
    do throws(ReadError) {
      while !hasFinished {
        try feed(batch, limit: limit)
        if builder.pointee.hasFailed, let failure = builder.pointee.failure { throw failure }
        guard builder.pointee.recordDepth == 0, isFull(batch, limit: limit) else { continue }
        close(batch)
        if !batch.records.isEmpty { return true }
        begin(batch)
      }
    } catch {
      throw end(batch, with: error)
    }
    close(batch)
    return false
  }

  // MARK: Batches

  private func begin(_ batch: RecordBatch) {
    batch.removeAll()
    batch.file = source.name
    batch.isXML = true
    batch.byteOffset = batchStart + skippedByteCount
    batch.line = line
    batch.column = column
    sourceCapacity = max(Self.sourceCapacity, carry.count)
    batch.reserveSource(sourceCapacity)
    batch.source.copyBytes(from: carry)
    batch.sourceCount = carry.count
    builder.pointee.begin(batch, batchStart: batchStart)
  }

  private func isFull(_ batch: RecordBatch, limit: Int) -> Bool {
    batch.records.count >= limit || fedByteCount - batchStart >= Self.batchByteCount
      || builder.pointee.arenaByteCount >= 4 * Self.batchByteCount
  }

  /// Hands what libxml2 has dealt with to the batch, and keeps the rest for the next one.
  private func close(_ batch: RecordBatch) {
    builder.pointee.publish()
    tellDoctype(batch)
    let used = min(max(builder.pointee.parsedByteCount - batchStart, 0), batch.sourceCount)
    carry.removeAll(keepingCapacity: true)
    carry.append(contentsOf: batch.source[used..<batch.sourceCount])
    batch.sourceCount = used
    advance(over: UnsafeRawBufferPointer(rebasing: batch.source[..<used]))
    batchStart += used
  }

  /// Tells a batch what its document declares, which stands in the text of the first one.
  private func tellDoctype(_ batch: RecordBatch) {
    if batchStart == 0 {
      let text = batch.source[..<batch.sourceCount]
      doctype = XMLDoctype.text(
        in: UnsafeRawBufferPointer(UnsafeMutableRawBufferPointer(rebasing: text))
      )
    }
    batch.doctype = doctype
  }

  /// Counts lines and columns as `RecordBatch.origin` does, but every byte of the document passes
  /// here: the loops are simple enough for the compiler to take many bytes at a time.
  private func advance(over text: UnsafeRawBufferPointer) {
    let feed = UInt8(ascii: "\n")
    var lineFeeds = 0
    for byte in text { lineFeeds &+= byte == feed ? 1 : 0 }
    var lastLine = text[...]
    if lineFeeds > 0, let last = text.lastIndex(of: feed) {
      line += lineFeeds
      column = 1
      lastLine = text[(last + 1)...]
    }
    var characters = 0
    for byte in UnsafeRawBufferPointer(rebasing: lastLine) {
      characters &+= byte & 0xC0 != 0x80 ? 1 : 0
    }
    column += characters
  }

  /// Leaves the records before a failure in the batch, and completes the error.
  private func end(_ batch: RecordBatch, with error: ReadError) -> ReadError {
    builder.pointee.fail(error)
    builder.pointee.dropOpenRecords()
    builder.pointee.publish()
    tellDoctype(batch)
    var error = error
    if looksLikeHTML, error.help == nil {
      error.help = "this looks like an HTML page, not like a feed: check where it came from"
    }
    failure = error
    return error
  }

  // MARK: Feeding

  /// Gives libxml2 the next piece of the text, or its end.
  private func feed(_ batch: RecordBatch, limit: Int) throws(ReadError) {
    while unfedByteCount(batch) < pieceByteCount, !sourceEnded {
      do throws(ReadError) {
        try fill(batch)
      } catch {
        // What stands before the fault comes first: it may have one of its own.
        guard unfedByteCount(batch) > 0 else { throw faultBefore(error, batch) }
        break
      }
      // A whole piece is needed only while a long tag makes pieces grow.
      if pieceByteCount == Self.pieceByteCount, unfedByteCount(batch) > 0 { break }
    }
    let start = fedByteCount - batchStart
    guard start < batch.sourceCount else { return try finish(batch) }
    let end = min(start + pieceByteCount, batch.sourceCount)
    let parsed = builder.pointee.parsedByteCount
    let count: Int
    if pieceByteCount > Self.pieceByteCount {
      let construct = batch.source[(parsed - batchStart)..<end]
      builder.pointee.check(construct: UnsafeRawBufferPointer(rebasing: construct))
      if builder.pointee.hasFailed { return }
      count =
        XMLPiece.length(
          ofConstruct: UnsafeRawBufferPointer(rebasing: construct),
          from: fedByteCount - parsed,
          isSubset: builder.pointee.isInSubset
        )
    } else {
      let wanted = isFull(batch, limit: limit) ? 1 : max(limit - batch.records.count, 1)
      let window = UnsafeRawBufferPointer(rebasing: batch.source[start..<end])
      count = XMLPiece.length(of: window, tagEnds: wanted)
    }
    let piece = UnsafeRawBufferPointer(rebasing: batch.source[start..<start + count])
    fedByteCount += count
    XMLHandlers.parse(context, for: builder, piece, isLast: false)
    builder.pointee.checkBounds(
      waitingByteCount: fedByteCount - builder.pointee.parsedByteCount
    )
    if builder.pointee.parsedByteCount > parsed {
      pieceByteCount = Self.pieceByteCount
    } else if fedByteCount - parsed > Self.pieceByteCount / 2 {
      pieceByteCount = min(2 * pieceByteCount, recordLimit.byteCount)
    }
  }

  private func unfedByteCount(_ batch: RecordBatch) -> Int {
    batchStart + batch.sourceCount - fedByteCount
  }

  private func fill(_ batch: RecordBatch) throws(ReadError) {
    if batch.sourceCount == sourceCapacity {
      let most = Self.sourceCapacity + recordLimit.byteCount
      guard sourceCapacity < most else {
        throw recordLimit.error(at: builder.pointee.currentOrigin())
      }
      sourceCapacity = min(2 * sourceCapacity, most)
      builder.pointee.growSource(to: sourceCapacity)
    }
    let end = min(batch.sourceCount + Self.readByteCount, sourceCapacity)
    let room = UnsafeMutableRawBufferPointer(rebasing: batch.source[batch.sourceCount..<end])
    if let sourceFailure { throw sourceFailure }
    do throws(ReadError) {
      let count = try source.read(into: room)
      batch.sourceCount += count
      sourceEnded = count == 0
    } catch {
      sourceFailure = error
      throw error
    }
  }

  /// The first fault of a text whose rest cannot be read: libxml2 may wait with what it was given for the end of a tag.
  private func faultBefore(_ error: ReadError, _ batch: RecordBatch) -> ReadError {
    guard fedByteCount > 0 else { return error }
    let end = batch.origin(at: UInt32(batch.sourceCount), record: nil)
    XMLHandlers.parse(context, for: builder, nil, isLast: true)
    guard let failure = builder.pointee.failure, failure.code != .truncated,
      failure.origin?.byte != end.byte
    else { return error }
    return failure
  }

  /// Tells libxml2 that the text has ended, and checks that it could end there.
  private func finish(_ batch: RecordBatch) throws(ReadError) {
    hasFinished = true
    let origin = batch.origin(at: UInt32(batch.sourceCount), record: nil)
    guard fedByteCount > 0 else {
      throw ReadError(
        .truncated,
        "The text is empty: an XML document needs at least its root element.",
        at: origin
      )
    }
    XMLHandlers.parse(context, for: builder, nil, isLast: true)
    let isWhole = builder.pointee.hasRoot && builder.pointee.depth == 0
    if builder.pointee.hasFailed, let failure = builder.pointee.failure {
      // What libxml2 misses at the very end is told by one sentence, whatever it is.
      let isCut = failure.code == .truncated || failure.origin?.byte == origin.byte
      guard isCut, !isWhole else { throw failure }
    }
    guard isWhole, context.pointee.wellFormed == 1 else {
      throw ReadError(.truncated, "The text ends before its root element does.", at: origin)
    }
  }

  private static func looksLikeHTML(_ head: ArraySlice<UInt8>) -> Bool {
    let text = String(decoding: head, as: UTF8.self).lowercased().drop(while: \.isWhitespace)
    return text.hasPrefix("<!doctype html") || text.hasPrefix("<html")
  }
}
