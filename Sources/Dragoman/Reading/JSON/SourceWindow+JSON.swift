import CSimdJSON

/// White space as RFC 8259 has it.
@inline(__always)
func isJSONSpace(_ byte: UInt8) -> Bool {
  byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
}

// The tokens of a JSON text that stand in a window, and what is wrong with them.
extension SourceWindow {
  /// The next byte that is not white space; nil at the end.
  ///
  /// Moves to it.
  /// - Throws: `ReadError` from the source, or `.limit` where there is more white space than a record may have text.
  @inline(__always)
  mutating func peek(_ batch: RecordBatch) throws(ReadError) -> UInt8? {
    let start = position
    while true {
      while position < batch.sourceCount {
        let byte = batch.source[position]
        if !isJSONSpace(byte) { return byte }
        position += 1
      }
      // White space lies in the window until its batch ends.
      guard position - start < limit.textByteCount else {
        throw limit.whiteSpaceError(at: batch.origin(at: UInt32(start), record: nil))
      }
      if try !fill(batch) { return nil }
    }
  }

  /// The length of the value at the position, reading on until it ends.
  mutating func scan(_ batch: RecordBatch) throws(ReadError) -> Int {
    var state = JSONScan()
    while true {
      let length = scanned(&state, batch)
      if length > 0 { return length }
      if try !fill(batch) { return batch.sourceCount - position }
    }
  }

  /// The length of the value at the position; 0 where it does not end in what was read.
  ///
  /// `state` is where an earlier call for the same value came to.
  @inline(__always)
  func scanned(_ state: inout JSONScan, _ batch: RecordBatch) -> Int {
    let start = batch.source.baseAddress.map { $0.assumingMemoryBound(to: UInt8.self) + position }
    return jsonScanValue(&state, start, batch.sourceCount - position, 0)
  }

  /// How many bytes of values are parsed together.
  private static let togetherByteCount = 256 << 10

  /// Parses the values of a list behind an earlier one in one go, as far as they stand whole in the window, and
  /// moves behind them.
  ///
  /// What is not surely a value without fault is left: whoever parses it alone is told what is wrong with it.
  /// - Returns: Where they are; empty where there is none. Valid until the next call.
  mutating func parseTogether(
    with text: JSONText,
    _ batch: RecordBatch,
    limit count: Int
  ) -> UnsafeBufferPointer<JSONPlace> {
    let nothing = UnsafeBufferPointer<JSONPlace>(start: nil, count: 0)
    let most = min(Self.togetherByteCount, limit.uncheckedByteCount)
    let end = min(batch.sourceCount, position + most, Self.targetByteCount)
    // A few values are not worth it, and what was tried in vain is not tried again.
    guard end - position >= most / 64, position >= triedEnd else { return nothing }
    var comma = position
    while comma < end, isJSONSpace(batch.source[comma]) { comma += 1 }
    guard comma > 0, comma < end, batch.source[comma] == UInt8(ascii: ",") else { return nothing }
    let found = text.parseList(batch, start: comma, length: end - comma, limit: count)
    if let last = found.last {
      position = Int(last.start + last.length)
    } else {
      triedEnd = end
    }
    return found
  }

  /// The position as a place.
  func place(_ batch: RecordBatch) -> Origin {
    batch.origin(at: UInt32(position), record: nil)
  }

  /// The text ends where it must go on.
  func cutOff(_ batch: RecordBatch) -> ReadError {
    ReadError(
      .truncated,
      "The text ends before its JSON is complete.",
      at: place(batch),
      help: "the feed was cut off: fetch it again"
    )
  }

  /// Something else stands at the position than must.
  func fault(_ batch: RecordBatch, _ message: String, help: String? = nil) -> ReadError {
    let found = JSONText.excerpt(batch, position)
    return ReadError(
      .json,
      "\(message): found \(found).",
      at: place(batch),
      help: found.contains("<") ? "this looks like HTML or XML, not JSON" : help
    )
  }

  /// The value at the position lies in too many others.
  func tooDeep(_ batch: RecordBatch) -> ReadError {
    ReadError(
      .limit,
      "The text is nested deeper than \(JSON_MAX_DEPTH) levels.",
      at: place(batch)
    )
  }
}
