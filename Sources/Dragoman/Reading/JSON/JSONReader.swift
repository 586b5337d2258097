import CSimdJSON

/// Reads one JSON text and finds the records in it, wherever the record paths say they stand.
///
/// The reader walks the text from container to container by itself until it comes to the records,
/// and hands each record, and each value that is on no path, to simdjson as a whole: so every byte
/// of the text is validated, and only one window of it is in memory.
final class JSONReader: RecordReader {
  // Nothing here runs code of others: exclusive access needs no check at run time.
  @exclusivity(unchecked) private var window: SourceWindow
  private let text: JSONText
  private let paths: JSONRecordPaths
  @exclusivity(unchecked) private var frames: [Frame] = []
  @exclusivity(unchecked) private var state: State
  /// Members before the records, for `$root`.
  private var head: JSONDocumentHead
  /// Whether members were kept behind records of the batch: they are for later records only.
  private var isDocumentStale = false
  /// The name of the member whose value is expected, between two batches.
  private var pendingName: [UInt8] = []
  /// How many records each path had; nil while its place was not met.
  @exclusivity(unchecked) private(set) var recordCounts: [Int?]

  /// Makes a reader.
  ///
  /// - Parameters:
  ///   - source: The text.
  ///   - paths: Where records stand, an entry a source; no steps means the root.
  ///   - pointers: Which of the paths are JSON Pointers, whose decimal tokens are names in objects.
  ///   - keeping: Which members before the records are kept for `$root` paths.
  ///   - limit: What one record may take.
  /// - Throws: `.limit` when there is no memory for a parser.
  init(
    source: any ByteSource,
    paths: [[ForeignPath.Step]],
    pointers: [Bool] = [],
    keeping: DocumentMembers = .none,
    limit: RecordLimit = .standard
  ) throws(ReadError) {
    window = SourceWindow(source: source, limit: limit)
    text = try JSONText()
    self.paths = JSONRecordPaths(paths, pointers: pointers)
    state = .value(self.paths.all, key: 0..<0)
    head = JSONDocumentHead(keeping: keeping)
    recordCounts = paths.map { _ in nil }
  }

  var consumedByteCount: Int { window.source.consumedByteCount }

  func read(into batch: RecordBatch, limit: Int) throws(ReadError) -> Bool {
    window.open(batch)
    defer { window.close(batch) }
    try window.skipByteOrderMark(batch)
    carryNames(into: batch)
    defer { keepName(of: batch) }
    isDocumentStale = false
    while batch.records.count < limit && window.position < SourceWindow.targetByteCount
      && !isDocumentStale
    {
      switch state {
      case .value(let candidates, let key):
        try enterValue(batch, candidates, key: key)
      case .next:
        guard let frame = frames.last else {
          state = .complete
          continue
        }
        if let source = frame.records {
          try readRecords(batch, of: source, limit: limit)
        } else if frame.isObject {
          try nextMember(batch, of: frame)
        } else {
          try nextElement(batch, of: frame)
        }
      case .complete:
        guard try window.peek(batch) != nil else { return false }
        throw window.fault(
          batch,
          "Something stands behind the end of the JSON text",
          help: "one JSON text a line is NDJSON: name the file .ndjson"
        )
      }
    }
    return true
  }

  /// Puts names that the last batch had into this one.
  private func carryNames(into batch: RecordBatch) {
    func carried(_ name: [UInt8]) -> Range<UInt32> {
      let (start, length) = name.withUnsafeBytes { batch.append($0) }
      return start..<start + length
    }
    for index in frames.indices where frames[index].key.lowerBound > 0 {
      frames[index].key = carried(frames[index].name)
    }
    if case .value(let candidates, let key) = state, key.lowerBound > 0 {
      state = .value(candidates, key: carried(pendingName))
    }
  }

  /// Keeps the name of a member whose value the next batch gets.
  private func keepName(of batch: RecordBatch) {
    guard case .value(_, let key) = state, key.lowerBound > 0 else { return }
    pendingName = Array(batch.bytes(key.lowerBound, UInt32(key.count)))
  }

  // MARK: - Records

  /// Reads records from their array until it ends or the batch is full.
  private func readRecords(_ batch: RecordBatch, of source: Int, limit: Int) throws(ReadError) {
    while batch.records.count < limit && window.position < SourceWindow.targetByteCount {
      if readTogether(batch, of: source, limit: limit - batch.records.count) { continue }
      guard try separator(batch, closing: UInt8(ascii: "]")) else { return }
      guard try window.peek(batch) != nil else { throw window.cutOff(batch) }
      try readRecord(batch, of: source, key: 0..<0)
    }
  }

  /// Reads the records behind an earlier one as far as they stand whole in the window.
  ///
  /// They are parsed in one go. What is not surely a record without fault is left to `readRecord`, which tells
  /// what is wrong with it.
  /// - Returns: Whether there was any.
  private func readTogether(_ batch: RecordBatch, of source: Int, limit: Int) -> Bool {
    guard let frame = frames.last, frame.count > 0, head.isUnused || batch.document != nil else {
      return false
    }
    let found = window.parseTogether(with: text, batch, limit: limit)
    guard !found.isEmpty else { return false }
    var number = recordCounts[source] ?? 0
    for place in found {
      number += 1
      batch.records.append(
        RecordBatch.Record(
          node: place.node,
          start: place.start,
          length: place.length,
          number: number,
          source: source
        )
      )
    }
    recordCounts[source] = number
    frames[frames.count - 1].count += found.count
    return true
  }

  /// Takes the value at the position as a record.
  private func readRecord(
    _ batch: RecordBatch,
    of source: Int,
    key: Range<UInt32>
  ) throws(ReadError) {
    if batch.document == nil { try appendDocument(to: batch) }
    let length = try window.scan(batch)
    let number = (recordCounts[source] ?? 0) + 1
    let start = window.position
    let node: UInt32
    do throws(ReadError) {
      try window.limit.check(batch, start: start, length: length)
      node = try text.parse(batch, start: start, length: length)
    } catch {
      throw numbered(error, record: number)
    }
    recordCounts[source] = number
    batch.records.append(
      RecordBatch.Record(
        node: node,
        start: UInt32(start),
        length: UInt32(length),
        number: number,
        source: source,
        key: key.lowerBound,
        keyLength: UInt32(key.count)
      )
    )
    window.position += length
    state = .next
  }

  // MARK: - The way to the records

  /// A value stands at the position: enters it, takes it as a record, or skips it.
  private func enterValue(
    _ batch: RecordBatch,
    _ candidates: [JSONRecordPaths.Candidate],
    key: Range<UInt32>
  ) throws(ReadError) {
    guard let byte = try window.peek(batch) else {
      if frames.isEmpty {
        throw window.fault(batch, "The input is empty: there is no JSON text in it")
      }
      throw window.cutOff(batch)
    }
    let isObject = byte == UInt8(ascii: "{")
    let isArray = byte == UInt8(ascii: "[")
    let listed = paths.source(wantingListAt: candidates, startingWith: byte)
    if let listed { return try readRecord(batch, of: listed, key: key) }
    guard let source = paths.source(endingAt: candidates) else {
      for source in paths.sources(within: candidates, startingWith: byte) {
        recordCounts[source] = recordCounts[source] ?? 0
      }
      if (isObject || isArray) && !candidates.isEmpty {
        return enter(isObject: isObject, candidates: candidates, records: nil, key: key, batch)
      }
      return try skipValue(batch, isContainer: isObject || isArray)
    }
    if isObject || paths.endsInWildcard(source) {
      try readRecord(batch, of: source, key: key)
    } else if isArray {
      recordCounts[source] = recordCounts[source] ?? 0
      enter(isObject: false, candidates: [], records: source)
    } else {
      try takeNoRecords(batch, of: source)
    }
  }

  private func enter(
    isObject: Bool,
    candidates: [JSONRecordPaths.Candidate],
    records: Int?,
    key: Range<UInt32> = 0..<0,
    _ batch: RecordBatch? = nil
  ) {
    window.position += 1
    var frame = Frame(isObject: isObject, candidates: candidates, records: records)
    if let batch, !isObject {
      frame.key = key
      frame.name = Array(batch.bytes(key.lowerBound, UInt32(key.count)))
    }
    frames.append(frame)
    state = .next
  }

  /// A scalar stands where the records should be: null means that there are none.
  private func takeNoRecords(_ batch: RecordBatch, of source: Int) throws(ReadError) {
    let length = try window.scan(batch)
    let node = try text.parse(batch, start: window.position, length: length)
    guard batch.nodes[Int(node)].kind == UInt8(TAPE_NULL), !frames.isEmpty else {
      throw ReadError(
        .noRecords,
        "There are no records: \(JSONText.excerpt(batch, window.position)) stands in their place.",
        at: window.place(batch),
        help: "records are objects; `records:` in the map names the array that holds them"
      )
    }
    recordCounts[source] = recordCounts[source] ?? 0
    window.position += length
    state = .next
  }

  /// Validates a value that is on no path, keeping it only for `$root`.
  private func skipValue(_ batch: RecordBatch, isContainer: Bool) throws(ReadError) {
    let start = window.position
    var state = JSONScan()
    while true {
      let length = window.scanned(&state, batch)
      if length > 0 { return try validate(batch, length: length) }
      let available = batch.sourceCount - start
      // A container larger than the window is gone through element by element.
      if isContainer && available >= skippedByteCount {
        guard frames.count < Int(JSON_MAX_DEPTH) else { throw window.tooDeep(batch) }
        let isObject = batch.source[start] == UInt8(ascii: "{")
        return enter(isObject: isObject, candidates: [], records: nil)
      }
      if try !window.fill(batch) { return try validate(batch, length: available) }
    }
  }

  /// Values of that many bytes are still checked as a whole.
  private var skippedByteCount: Int {
    min(SourceWindow.targetByteCount, window.limit.textByteCount / 2)
  }

  private func validate(_ batch: RecordBatch, length: Int) throws(ReadError) {
    let nodeCount = batch.nodeCount
    let arenaEnd = batch.arenaEnd
    _ = try text.parse(batch, start: window.position, length: length)
    batch.didAppendNodes(to: nodeCount)
    batch.arenaEnd = arenaEnd
    window.position += length
    state = .next
  }

  private func nextElement(_ batch: RecordBatch, of frame: Frame) throws(ReadError) {
    guard try separator(batch, closing: UInt8(ascii: "]")) else { return }
    let next = paths.follow(frame.candidates, toElement: frame.count)
    state = .value(next, key: frame.key)
  }

  private func nextMember(_ batch: RecordBatch, of frame: Frame) throws(ReadError) {
    guard try separator(batch, closing: UInt8(ascii: "}")) else { return }
    let nameStart = window.position
    switch try window.peek(batch) {
    case UInt8(ascii: "\""): break
    case nil: throw window.cutOff(batch)
    default: throw window.fault(batch, "A member's name in double quotes is missing")
    }
    let length = try window.scan(batch)
    // Parsing may move the nodes: they are looked at after it.
    let place = try text.parse(batch, start: window.position, length: length)
    let node = batch.nodes[Int(place)]
    batch.didAppendNodes(to: batch.nodeCount - 1)
    window.position += length
    switch try window.peek(batch) {
    case UInt8(ascii: ":"): window.position += 1
    case nil: throw window.cutOff(batch)
    default: throw window.fault(batch, "A colon is missing behind the member's name")
    }
    let name = batch.bytes(node.text, node.length)
    let next = paths.follow(frame.candidates, toMember: name)
    if frames.count == 1 && next.isEmpty && head.has(name) {
      try keepForDocument(batch, from: nameStart)
    } else {
      state = .value(next, key: node.text..<node.text + node.length)
    }
  }

  // MARK: - $root

  /// Keeps the text of the member whose value stands at the position.
  private func keepForDocument(_ batch: RecordBatch, from nameStart: Int) throws(ReadError) {
    guard try window.peek(batch) != nil else { throw window.cutOff(batch) }
    func limit() -> ReadError {
      JSONDocumentHead.limit(at: batch.origin(at: UInt32(nameStart), record: nil))
    }
    var state = JSONScan()
    while true {
      var length = window.scanned(&state, batch)
      if length == 0 {
        let available = batch.sourceCount - window.position
        guard available <= JSONDocumentHead.maximumByteCount else { throw limit() }
        if try window.fill(batch) { continue }
        length = available
      }
      try validate(batch, length: length)
      break
    }
    guard head.keep(batch.source[nameStart..<window.position]) else { throw limit() }
    isDocumentStale = batch.document != nil
  }

  /// Puts the members kept so far on the batch's tape.
  private func appendDocument(to batch: RecordBatch) throws(ReadError) {
    guard !head.isUnused else { return }
    batch.document = try text.parse(batch, detached: head.text)
  }

  // MARK: - Bytes

  /// Moves over white space and the comma before the next element or member.
  ///
  /// - Returns: false when the container ended; it is then left.
  private func separator(_ batch: RecordBatch, closing: UInt8) throws(ReadError) -> Bool {
    guard let byte = try window.peek(batch) else { throw window.cutOff(batch) }
    let last = frames.count - 1
    if byte == closing {
      window.position += 1
      frames.removeLast()
      return false
    }
    if frames[last].count > 0 {
      guard byte == UInt8(ascii: ",") else { throw window.fault(batch, "A comma is missing") }
      window.position += 1
      if try window.peek(batch) == closing {
        throw window.fault(batch, "Something is missing behind the comma")
      }
    }
    frames[last].count += 1
    return true
  }

  private func numbered(_ error: ReadError, record: Int) -> ReadError {
    var error = error
    error.origin?.record = record
    return error
  }
}
