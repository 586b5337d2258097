import CSimdJSON

/// How much memory one record may take while it is read: its text, its values, and their text.
///
/// A value takes 28 bytes beside its text, so that a record of many small values (`[],[],…`) takes many
/// times what its text does.
struct RecordLimit: Sendable, Equatable {
  /// What a request may ask for, in bytes: offsets on the tape have 32 bits.
  static let range = 1 << 20...1 << 30
  /// 128 MB.
  static let standard = RecordLimit(byteCount: 128 << 20)

  let byteCount: Int

  /// What a request or a map asks for; nil is the standard.
  init(byteCount: Int?) {
    let wanted = byteCount ?? Self.standard.byteCount
    self.byteCount = min(max(wanted, Self.range.lowerBound), Self.range.upperBound)
  }

  private init(byteCount: Int) {
    self.byteCount = byteCount
  }

  /// How long a text can be: it is there twice, as it came and unescaped.
  var textByteCount: Int { byteCount / 2 }

  /// How long a text of JSON can be that takes no more whatever it holds: no text has more values than bytes.
  var uncheckedByteCount: Int { byteCount / (2 + MemoryLayout<TapeNode>.stride) }

  /// Checks a text of JSON before it is parsed, and makes room for its values.
  ///
  /// - Throws: `.limit` at the record, where it would take too much.
  func check(_ batch: RecordBatch, start: Int, length: Int) throws(ReadError) {
    let nodeByteCount = MemoryLayout<TapeNode>.stride
    guard length > uncheckedByteCount, let source = batch.source.baseAddress else { return }
    let text = source.assumingMemoryBound(to: UInt8.self) + start
    let count = jsonCountValues(text, length)
    guard 2 * length + count * nodeByteCount <= byteCount else {
      throw error(at: batch.origin(at: UInt32(start), record: nil))
    }
    batch.reserveNodes(batch.nodeCount + count)
  }

  /// The error of a record that takes more.
  func error(at origin: Origin?) -> ReadError {
    ReadError(
      .limit,
      "One record takes more than \(byteCount >> 20) MB of memory, with its text and all its values.",
      at: origin,
      help: "the map's record path may name something that contains the records; else raise"
        + " `maxRecordSize` under `import:`"
    )
  }
  /// The error of white space between values that takes more than the text of a record.
  func whiteSpaceError(at origin: Origin?) -> ReadError {
    ReadError(
      .limit,
      "More than \(textByteCount >> 10) kB of white space stand here.",
      at: origin,
      help: "no feed is meant so: look at what the server sends, or fetch it again"
    )
  }
}
