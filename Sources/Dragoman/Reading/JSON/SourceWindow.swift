import CSimdJSON

/// The part of a JSON or CSV input that is in memory: it slides over the source, batch by batch.
///
/// The window's bytes lie in the batch, so that a value's place can be told. What a batch does not
/// consume (the beginning of the next record) is carried over to the next one.
struct SourceWindow {
  /// A batch is closed when it has consumed about this many source bytes: with its tape and its drafts it takes
  /// ten times as much, and four of them are under way.
  static let targetByteCount = 1 << 19
  /// How many bytes are asked of the source at a time, at most and at least: what is read beyond a batch is copied to
  /// the next one.
  private static let chunkByteCounts = (most: 256 << 10, least: 64 << 10)

  let source: any ByteSource
  /// What a single record may take.
  let limit: RecordLimit
  /// Offset in the batch's source bytes of the first one not consumed.
  var position = 0
  /// Up to where values of the batch were parsed together in vain.
  var triedEnd = 0
  private var carry: [UInt8] = []
  private var byteOffset = 0
  private var line = 1
  private var column = 1
  private var lineBreak = UInt8(ascii: "\n")
  private var isAtStart = true

  init(source: any ByteSource, limit: RecordLimit) {
    self.source = source
    self.limit = limit
  }

  /// Empties the batch and moves into it what the last one left over.
  mutating func open(_ batch: RecordBatch) {
    batch.removeAll()
    batch.file = source.name
    batch.lineBreak = lineBreak
    batch.byteOffset = byteOffset
    batch.line = line
    batch.column = column
    batch.reserveSource(carry.count)
    carry.withUnsafeBytes { batch.source.copyMemory(from: $0) }
    batch.sourceCount = carry.count
    carry.removeAll(keepingCapacity: true)
    position = 0
    triedEnd = 0
  }

  /// Keeps what stands behind `position` for the next batch.
  mutating func close(_ batch: RecordBatch) {
    carry.append(contentsOf: batch.source[position..<batch.sourceCount])
    let consumed = batch.source[..<position]
    byteOffset += position
    if lineBreak == UInt8(ascii: "\n") {
      line += consumed.withMemoryRebound(to: UInt8.self) {
        countLineFeeds($0.baseAddress, $0.count)
      }
    } else {
      line += consumed.count { $0 == lineBreak }
    }
    let lastLine = consumed.lastIndex(of: lineBreak)
    let scalars = consumed[(lastLine.map { $0 + 1 } ?? 0)...].count { $0 & 0xC0 != 0x80 }
    column = lastLine == nil ? column + scalars : scalars + 1
  }

  /// Reads more bytes behind those that are there.
  ///
  /// - Returns: false at the end of the source.
  /// - Throws: `ReadError` from the source, or `.limit` when one record is too large.
  mutating func fill(_ batch: RecordBatch) throws(ReadError) -> Bool {
    guard batch.sourceCount - position < limit.textByteCount else {
      throw limit.error(at: batch.origin(at: UInt32(position), record: nil))
    }
    let wanted = min(Self.chunkByteCounts.most, Self.targetByteCount - batch.sourceCount)
    let end = batch.sourceCount + max(Self.chunkByteCounts.least, wanted)
    batch.reserveSource(end)
    let free = UnsafeMutableRawBufferPointer(rebasing: batch.source[batch.sourceCount..<end])
    let count = try source.read(into: free)
    batch.sourceCount += count
    return count > 0
  }

  /// Says which byte ends the lines of the text, from this batch on.
  mutating func setLineBreak(_ byte: UInt8, _ batch: RecordBatch) {
    lineBreak = byte
    batch.lineBreak = byte
  }

  /// Steps over a UTF-8 byte order mark at the start of the input.
  mutating func skipByteOrderMark(_ batch: RecordBatch) throws(ReadError) {
    guard isAtStart else { return }
    isAtStart = false
    while batch.sourceCount < 3 {
      if try !fill(batch) { return }
    }
    if batch.source[..<3].elementsEqual([0xEF, 0xBB, 0xBF]) { position = 3 }
  }
}
