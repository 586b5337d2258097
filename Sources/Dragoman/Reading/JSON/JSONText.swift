import CSimdJSON

/// simdjson's parser, owned: turns one JSON text in a batch's buffer into nodes of its tape.
final class JSONText {
  private let parser: OpaquePointer
  /// Where values that were parsed together are.
  private let places = UnsafeMutableBufferPointer<JSONPlace>.allocate(capacity: 1024)

  /// Makes a parser.
  ///
  /// - Parameter levels: How many levels there are around what may be nested as deep as a feed.
  /// - Throws: `.limit` when there is no memory for a parser.
  init(around levels: Int32 = 0) throws(ReadError) {
    guard let parser = jsonParserCreate(Int32(JSON_MAX_DEPTH) + levels) else {
      throw ReadError(.limit, "There is not enough memory to parse JSON.")
    }
    self.parser = parser
  }

  deinit {
    jsonParserDestroy(parser)
    places.deallocate()
  }

  /// Parses and validates `length` source bytes at `start`, and appends the nodes to the batch's
  /// tape.
  ///
  /// - Returns: The index of the value's node.
  /// - Throws: `.json` with the place of the fault, or `.limit` where nesting is too deep. The
  ///   tape is as it was before.
  func parse(_ batch: RecordBatch, start: Int, length: Int) throws(ReadError) -> UInt32 {
    var errorAt = 0
    batch.padSource()
    let (status, root) = parse(
      batch,
      batch.source.baseAddress,
      start: start,
      length: length,
      errorAt: &errorAt
    )
    guard status == JSON_OK else { throw Self.error(status, batch: batch, at: errorAt) }
    return root
  }

  /// Parses values of a list together, from the comma at `start` on, as far as they stand whole and faultless in
  /// `length` source bytes.
  ///
  /// - Returns: Where they are; empty where the first one is not whole, or faulty. Valid until the next call.
  func parseList(
    _ batch: RecordBatch,
    start: Int,
    length: Int,
    limit: Int
  ) -> UnsafeBufferPointer<JSONPlace> {
    batch.padSource()
    batch.reserveArena(length + jsonPadding())
    while true {
      var count = batch.nodeCount
      var arenaEnd = batch.arenaEnd
      var placeCount = min(limit, places.count)
      let status = jsonParseList(
        parser,
        batch.source.baseAddress?.assumingMemoryBound(to: UInt8.self),
        start,
        length,
        batch.arena.baseAddress?.assumingMemoryBound(to: UInt8.self),
        &arenaEnd,
        batch.nodes.baseAddress,
        &count,
        batch.nodes.count,
        places.baseAddress,
        &placeCount
      )
      if status == JSON_NODES, placeCount == 0 {
        batch.reserveNodes(batch.nodes.count * 2)
        continue
      }
      batch.arenaEnd = arenaEnd
      batch.didAppendNodes(to: count)
      return UnsafeBufferPointer(rebasing: places[..<placeCount])
    }
  }

  /// Parses a text that is not part of the source; origins on the tape then mean nothing.
  func parse(_ batch: RecordBatch, detached bytes: [UInt8]) throws(ReadError) -> UInt32 {
    var errorAt = 0
    let padded = bytes + Array(repeating: 0, count: jsonPadding())
    let (status, root) = padded.withUnsafeBytes {
      parse(batch, $0.baseAddress, start: 0, length: bytes.count, errorAt: &errorAt)
    }
    guard status == JSON_OK else { throw Self.error(status, batch: batch, at: 0) }
    return root
  }

  private func parse(
    _ batch: RecordBatch,
    _ source: UnsafeRawPointer?,
    start: Int,
    length: Int,
    errorAt: inout Int
  ) -> (JSONStatus, UInt32) {
    let root = UInt32(batch.nodeCount)
    batch.reserveArena(length + jsonPadding())
    while true {
      var count = batch.nodeCount
      var arenaEnd = batch.arenaEnd
      let status = jsonParse(
        parser,
        source?.assumingMemoryBound(to: UInt8.self),
        start,
        length,
        batch.arena.baseAddress?.assumingMemoryBound(to: UInt8.self),
        &arenaEnd,
        batch.nodes.baseAddress,
        &count,
        batch.nodes.count,
        &errorAt
      )
      if status == JSON_NODES {
        batch.reserveNodes(batch.nodes.count * 2)
        continue
      }
      if status == JSON_OK {
        batch.arenaEnd = arenaEnd
        batch.didAppendNodes(to: count)
      }
      return (status, root)
    }
  }

  /// The status in words, with its place.
  private static func error(_ status: JSONStatus, batch: RecordBatch, at offset: Int) -> ReadError {
    let origin = batch.origin(at: UInt32(offset), record: nil)
    let status = status == JSON_SYNTAX && offset >= batch.sourceCount ? JSON_INCOMPLETE : status
    let message: String =
      switch status {
      case JSON_UTF8: "The text is not valid UTF-8."
      case JSON_CONTROL: "A string holds a raw control character; JSON wants it escaped."
      case JSON_STRING: "A string holds an escape that JSON does not have."
      case JSON_SURROGATE: "A string holds half of a surrogate pair (\\uD800 … \\uDFFF)."
      case JSON_NUMBER: "This is not a number as JSON writes them: \(excerpt(batch, offset))."
      case JSON_LITERAL:
        "JSON knows true, false, null, numbers, strings, arrays and objects, not \(excerpt(batch, offset))."
      case JSON_DEPTH:
        "The value is nested deeper than \(JSON_MAX_DEPTH) levels."
      case JSON_TRAILING: "Something stands behind the end of the value: \(excerpt(batch, offset))."
      case JSON_INCOMPLETE: "The text ends inside a value."
      case JSON_EMPTY: "A value is missing."
      case JSON_TOO_LARGE: "The value is too large to be parsed."
      default: "The text is not JSON at \(excerpt(batch, offset))."
      }
    let code: ReadError.Code =
      switch status {
      case JSON_DEPTH, JSON_TOO_LARGE: .limit
      case JSON_INCOMPLETE: .truncated
      case JSON_UTF8: .encoding
      default: .json
      }
    return ReadError(
      code,
      message,
      at: origin,
      help: status == JSON_UTF8 ? otherEncoding(batch, offset) : nil
    )
  }

  /// How a text is read that is no UTF-8, with what the byte is in the encoding that it most often has then.
  private static func otherEncoding(_ batch: RecordBatch, _ offset: Int) -> String {
    let help = "if all of the feed is in another encoding, name it in the source"
    guard offset < batch.sourceCount else { return "\(help): `encoding: …`" }
    // In ISO 8859-1 and windows-1252 alike, these bytes are the scalars of their numbers.
    let byte = batch.source[offset]
    guard byte >= 0xA0 else { return "\(help): `encoding: …`" }
    return
      "\(help): in windows-1252 the byte is “\(Unicode.Scalar(byte))” (`encoding: windows-1252`)"
  }

  /// A few bytes of the text, made printable, in quotes.
  static func excerpt(_ batch: RecordBatch, _ offset: Int) -> String {
    let end = min(offset + 20, batch.sourceCount)
    guard offset < end else { return "the end of the text" }
    // What stands in the next line, or row, has nothing to do with it.
    let line = batch.source[offset..<end].prefix { $0 != 0x0A && $0 != 0x0D }
    guard !line.isEmpty else { return "the end of the line" }
    let text = String(decoding: line, as: UTF8.self).unicodeScalars.prefix(12)
    return "“\(text.map { $0.value < 0x20 || $0.isInvisible ? "␣" : String($0) }.joined())”"
  }
}
