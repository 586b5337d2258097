import CSimdJSON
import DragomanGraph

/// A batch of foreign records: the bytes as they came, and a tape of the values in them.
///
/// Every reader fills the same tape, whatever the format; the mapper walks it once. A batch owns
/// its memory, is reused for batch after batch, and belongs to one thread at a time: the reader
/// fills it, hands it to the writer through a queue, and gets it back when it is applied.
///
///     buffer   [ source bytes | padding | arena: unescaped and decoded text ]
///     nodes    [ record 1 | its values … | record 2 | … ]
///     records  [ root node, place of the record's source text, number ] …
final class RecordBatch {
  /// One record of the batch.
  struct Record {
    /// Index of the record's root node; `malformedNode` when the text could not be parsed.
    var node: UInt32
    /// Where the record's source text starts in the buffer, and how many bytes it has.
    var start: UInt32
    var length: UInt32
    /// The record's number in its file, from 1, counted per source.
    var number: Int
    /// Which of the reader's record paths it was found at: an index into its list.
    var source: Int
    /// The member name of a dictionary-keyed record (`$key`): place in the buffer, or nil.
    var key: Range<UInt32>?
    /// Why the text could not be parsed (NDJSON only: elsewhere the whole feed is refused).
    var failure: ReadError?
  }

  /// The value of `Record.node` for a record whose text is not well-formed.
  static let malformedNode = UInt32.max

  /// The file the records come from, as the user named it (`-` for standard input).
  var file = ""
  /// How many bytes of the decoded file stand before `buffer[0]`.
  var byteOffset = 0
  /// Line (from 1) and column (from 1) of `buffer[0]`.
  var line = 1
  var column = 1

  /// The source bytes, then padding, then the arena.
  private(set) var buffer: UnsafeMutableRawBufferPointer
  /// How many source bytes the buffer holds.
  var sourceCount = 0
  /// Offset of the first free byte of the arena.
  var arenaEnd = 0

  /// The tape.
  private(set) var nodes: UnsafeMutableBufferPointer<TapeNode>
  private(set) var nodeCount = 0

  /// The records, in the order of the feed.
  var records: [Record] = []

  /// Namespace URIs, by the number in `TapeNode.space`; number 0 is "no namespace". XML only.
  /// The reader owns the numbering and keeps it for the whole file.
  var namespaces: [String] = [""]

  init(sourceCapacity: Int = 1 << 20) {
    buffer = .allocate(byteCount: sourceCapacity, alignment: 16)
    nodes = .allocate(capacity: 4096)
  }

  deinit {
    buffer.deallocate()
    nodes.deallocate()
  }

  /// Forgets the records and keeps the memory.
  func removeAll() {
    sourceCount = 0
    arenaEnd = 0
    nodeCount = 0
    records.removeAll(keepingCapacity: true)
  }

  /// Makes the buffer at least that large; its first `keeping` bytes survive.
  func reserveBuffer(_ byteCount: Int, keeping: Int) {
    guard byteCount > buffer.count else { return }
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(byteCount, buffer.count * 2),
      alignment: 16
    )
    larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<keeping]))
    buffer.deallocate()
    buffer = larger
  }

  /// Makes room for that many nodes in all.
  func reserveNodes(_ count: Int) {
    guard count > nodes.count else { return }
    let larger = UnsafeMutableBufferPointer<TapeNode>.allocate(
      capacity: max(count, nodes.count * 2)
    )
    larger.baseAddress?.update(from: nodes.baseAddress!, count: nodeCount)
    nodes.deallocate()
    nodes = larger
  }

  /// Appends a node and returns its index. Readers written in Swift use this; the JSON parser
  /// fills the tape from C++ and then sets `nodeCount` with `didAppendNodes(to:)`.
  @discardableResult
  func append(_ node: TapeNode) -> UInt32 {
    if nodeCount == nodes.count { reserveNodes(nodeCount + 1) }
    nodes[nodeCount] = node
    nodeCount += 1
    return UInt32(nodeCount - 1)
  }

  /// Sets the number of nodes after they were written from outside.
  func didAppendNodes(to count: Int) {
    nodeCount = count
  }

  /// The bytes of a range of the buffer; valid until the batch is refilled.
  func bytes(_ start: UInt32, _ length: UInt32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: buffer[Int(start)..<Int(start) + Int(length)])
  }

  /// The text of a range of the buffer, copied.
  func text(_ start: UInt32, _ length: UInt32) -> String {
    String(decoding: bytes(start, length), as: UTF8.self)
  }

  /// Where the byte at `offset` of the source stands in the file.
  ///
  /// Counted from the start of the batch, so it costs O(batch): for messages only.
  func origin(at offset: UInt32, record: Int?) -> Origin {
    let before = buffer[..<min(Int(offset), sourceCount)]
    var line = self.line
    var column = self.column
    for byte in before {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    return Origin(
      file: file,
      line: line,
      column: column,
      byte: byteOffset + Int(offset),
      record: record
    )
  }
}
