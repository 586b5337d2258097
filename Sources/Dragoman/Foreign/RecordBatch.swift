import CSimdJSON
import DragomanGraph

/// A batch of foreign records: the bytes as they came, and a tape of the values in them.
///
/// Every reader fills the same tape, whatever the format; the mapper walks it once. A batch owns
/// its memory, is reused for batch after batch, and belongs to one thread at a time: the reader
/// fills it, hands it to the writer through a queue, and gets it back when it is applied.
///
///     source   the bytes as they came: a record's text can be cut out, a value's place told
///     arena    the text of values and names, unescaped and decoded
///     nodes    [ record 1 | its values … | record 2 | … ]
///     records  [ root node, place of the record's source text, number ] …
///
/// Nodes hold offsets, never pointers: source and arena may grow, and so move, at any time.
///
/// Large because it is the memory of a tape, one property a table and its end, and where each is in the feed.
final class RecordBatch {
  /// One record of the batch.
  struct Record {
    /// Index of the record's root node; `malformedNode` when the text could not be parsed.
    var node: UInt32
    /// Where the record's text starts in the source, and how many bytes it has.
    var start: UInt32
    var length: UInt32
    /// The record's number in its file, from 1, counted per source.
    var number: Int
    /// Which of the reader's record paths it was found at: an index into its list.
    var source: Int
    /// The member name of a dictionary-keyed record, or the element's name (`$key`): its place in the
    /// arena.
    var key: UInt32 = 0
    var keyLength: UInt32 = 0
    /// The place of a nested record in its list, from 0; nil where it stands in none.
    var place: Int?
    /// The node of the record that a nested one stands in (`$parent`).
    var parent: UInt32?
  }

  /// The value of `Record.node` for a record whose text is not well-formed.
  static let malformedNode = UInt32.max

  // Nothing here runs code of others: exclusive access needs no check at run time.
  /// The file the records come from, as the user named it (`-` for standard input).
  var file = ""
  /// Whether the records were read from text; values in memory have a record's number for a place.
  var isText = true
  /// Whether the records are elements of XML, where one element alone is a list of one.
  var isXML = false
  /// How many bytes of the decoded file stand before `source[0]`.
  var byteOffset = 0
  /// Line (from 1) and column (from 1) of `source[0]`.
  var line = 1 { didSet { forgetCounted() } }
  var column = 1 { didSet { forgetCounted() } }
  /// The byte that ends a line: a line feed, or the CR of a CSV text without line feeds.
  var lineBreak = UInt8(ascii: "\n")
  /// The last place that was asked for.
  private var counted = (offset: 0, line: 1, column: 1)
  /// The same behind each `markDistance` bytes that were counted.
  private var marks: [(line: Int, column: Int)] = []
  private static let markDistance = 4096

  /// The bytes as they came; the first `sourceCount` are in use.
  @exclusivity(unchecked) private(set) var source: UnsafeMutableRawBufferPointer
  @exclusivity(unchecked) var sourceCount = 0

  /// Text of values and names; the first `arenaEnd` bytes are in use.
  ///
  /// Nothing has place 0, which says that a value has no name.
  @exclusivity(unchecked) private(set) var arena: UnsafeMutableRawBufferPointer
  @exclusivity(unchecked) var arenaEnd = 1
  /// What decimals written without their exponents may not go beyond.
  var arenaLimit = Int.max

  /// What one record may take, in bytes, with the values that are made of its texts.
  var recordByteLimit = Int.max / 2
  /// How many values there may be on the tape when the record at hand is mapped.
  private(set) var nodeLimit = Int.max

  /// The tape.
  @exclusivity(unchecked) private(set) var nodes: UnsafeMutableBufferPointer<TapeNode>
  @exclusivity(unchecked) private(set) var nodeCount = 0

  /// The records, in the order of the feed.
  @exclusivity(unchecked) var records: [Record] = []
  /// Why a record's text could not be parsed, by the record's place in `records`.
  ///
  /// NDJSON and CSV only: elsewhere the whole feed is refused.
  var failures: [Int: ReadError] = [:]
  /// The node of the members that stand before the records (`$root`), if the reader keeps them.
  var document: UInt32?

  /// The declarations of namespaces around XML records, by the place from which on they hold.
  var scopes: [XMLScope] = []
  /// The document type declaration of the document, where records of XML need it (`XMLDoctype`); empty where it is too
  /// long.
  var doctype: [UInt8]?
  /// Where records of a rejects file stood in their feeds, by the records' numbers; empty for feeds.
  var retried: [Int: RejectPlace] = [:]

  /// Namespace URIs, by the number in `TapeNode.space`; number 0 is "no namespace".
  ///
  /// XML only. The reader owns the numbering and keeps it for the whole file.
  var namespaces = RecordBatch.noNamespaces

  init() {
    source = .allocate(byteCount: 64 + Self.padding, alignment: 16)
    arena = .allocate(byteCount: 64, alignment: 16)
    nodes = .allocate(capacity: 4096)
  }

  deinit {
    source.deallocate()
    arena.deallocate()
    nodes.deallocate()
  }

  /// Forgets the records and keeps the memory, but for that of a record of unusual size.
  func removeAll() {
    sourceCount = 0
    arenaEnd = 1
    nodeCount = 0
    arenaLimit = .max
    if source.count > Self.keptByteCount {
      source.deallocate()
      source = .allocate(byteCount: 64 + Self.padding, alignment: 16)
    }
    if arena.count > Self.keptByteCount {
      arena.deallocate()
      arena = .allocate(byteCount: 64, alignment: 16)
    }
    if nodes.count * MemoryLayout<TapeNode>.stride > Self.keptByteCount {
      nodes.deallocate()
      nodes = .allocate(capacity: 4096)
    }
    records.removeAll(keepingCapacity: true)
    failures.removeAll()
    document = nil
    scopes.removeAll()
    doctype = nil
    retried.removeAll()
    lineBreak = UInt8(ascii: "\n")
    isText = true
    isXML = false
    namespaces = Self.noNamespaces
  }

  /// One list for all batches, so that it is known by its place in memory.
  private static let noNamespaces = [""]

  /// What simdjson may read behind the source bytes.
  private static let padding = jsonPadding()
  /// Larger buffers are not kept for the next batch.
  private static let keptByteCount = 16 << 20

  /// Makes room for that many source bytes in all, and for the padding that simdjson reads behind
  /// them; those in use stay.
  func reserveSource(_ byteCount: Int) {
    Self.grow(&source, to: byteCount + Self.padding, keeping: sourceCount)
  }

  /// Blanks what simdjson reads behind the source: what it says of a faulty text depends on the bytes that it finds there.
  func padSource() {
    reserveSource(sourceCount)
    let padding = source[sourceCount..<sourceCount + Self.padding]
    UnsafeMutableRawBufferPointer(rebasing: padding).initializeMemory(as: UInt8.self, repeating: 0)
  }

  /// Makes room for that many more bytes in the arena; those in use stay.
  @inline(__always)
  func reserveArena(_ free: Int) {
    if arena.count - arenaEnd < free {
      Self.grow(&arena, to: arenaEnd + free, keeping: arenaEnd)
    }
  }

  private static func grow(
    _ buffer: inout UnsafeMutableRawBufferPointer,
    to byteCount: Int,
    keeping: Int
  ) {
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
    _ = larger.update(fromContentsOf: nodes[..<nodeCount])
    nodes.deallocate()
    nodes = larger
  }

  /// Appends a node and returns its index.
  ///
  /// Readers written in Swift use this; the JSON parser fills the tape from C++ and then sets
  /// `nodeCount` with `didAppendNodes(to:)`.
  @discardableResult
  func append(_ node: TapeNode) -> UInt32 {
    let index = nodeCount
    if index == nodes.count { reserveNodes(index + 1) }
    nodes[index] = node
    nodeCount = index + 1
    return UInt32(index)
  }

  /// Gives a node the name that another one has.
  func name(_ node: UInt32, as other: UInt32) {
    nodes[Int(node)].key = nodes[Int(other)].key
    nodes[Int(node)].keyLength = nodes[Int(other)].keyLength
  }

  /// Begins the mapping of a record: values may be appended as far as the record's limit goes.
  func beginMapping(_ record: Record) {
    let free = max(0, recordByteLimit - 2 * Int(record.length))
    nodeLimit = nodeCount + free / MemoryLayout<TapeNode>.stride
  }

  /// Makes the node hold everything appended behind it.
  func setEnd(of node: UInt32) {
    nodes[Int(node)].next = UInt32(nodeCount)
  }

  /// Copies text into the arena and returns its place there.
  func appendText(_ text: String) -> (start: UInt32, length: UInt32) {
    var text = text
    return text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  /// Copies bytes into the arena and returns their place there.
  ///
  /// They must not be the arena's own.
  @inline(__always)
  func append(_ bytes: UnsafeRawBufferPointer) -> (start: UInt32, length: UInt32) {
    reserveArena(bytes.count)
    // Set, not changed in place: the run-time's exclusivity check costs as much as the copy.
    let start = arenaEnd
    if let source = bytes.baseAddress, let arena = arena.baseAddress {
      (arena + start).copyMemory(from: source, byteCount: bytes.count)
    }
    arenaEnd = start + bytes.count
    return (UInt32(start), UInt32(bytes.count))
  }

  /// Sets the number of nodes after they were written from outside.
  func didAppendNodes(to count: Int) {
    nodeCount = count
  }

  /// Whether two values are the same, text and bytes by what they hold.
  func isSame(_ first: RowValue, _ second: RowValue) -> Bool {
    guard first.kind == second.kind else { return false }
    guard first.kind == .text || first.kind == .blob else { return first.bits == second.bits }
    return bytes(UInt32(first.offset), first.length)
      .elementsEqual(bytes(UInt32(second.offset), second.length))
  }

  /// Bytes of the arena; valid until the arena grows or the batch is refilled.
  @inline(__always)
  func bytes(_ start: UInt32, _ length: UInt32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: arena[Int(start)..<Int(start) + Int(length)])
  }

  /// Text of the arena, copied.
  func text(_ start: UInt32, _ length: UInt32) -> String {
    String(decoding: bytes(start, length), as: UTF8.self)
  }

  /// The source text of a record, copied.
  func sourceText(of record: Record) -> [UInt8] {
    Array(source[Int(record.start)..<Int(record.start) + Int(record.length)])
  }

  /// The line that a record begins on, from 1.
  func line(of record: Record) -> Int {
    guard let place = retried[record.number] else {
      return origin(at: record.start, record: nil).line
    }
    // What is read again stands on one line; only that of XML has kept its line breaks.
    guard isXML, let whole = records.first, whole.number == record.number else {
      return place.recordLine
    }
    return place.recordLine + origin(at: record.start, record: nil).line
      - origin(at: whole.start, record: nil).line
  }

  /// Copies bytes behind the source and returns their place there.
  func appendSource(_ bytes: some Collection<UInt8>) -> Int {
    let start = sourceCount
    reserveSource(start + bytes.count)
    UnsafeMutableRawBufferPointer(rebasing: source[start...]).copyBytes(from: bytes)
    sourceCount += bytes.count
    return start
  }

  /// Where the byte at `offset` of the source stands in the file.
  ///
  /// Counted on from the last place that was asked for: places asked for in the order of the feed
  /// cost O(batch) together, and one before that no more than `markDistance` bytes.
  func origin(at offset: UInt32, record: Int?) -> Origin {
    if !retried.isEmpty, let place = record.flatMap({ retried[$0] }) {
      return Origin(file: file, line: place.line, column: 0, byte: place.byte, record: record)
    }
    guard isText else { return Origin(file: file, line: 0, column: 0, byte: 0, record: record) }
    let offset = min(Int(offset), sourceCount)
    count(to: offset)
    return Origin(
      file: file,
      line: counted.line,
      column: counted.column,
      byte: byteOffset + offset,
      record: record
    )
  }
  private func count(to offset: Int) {
    if offset < counted.offset {
      let number = offset / Self.markDistance
      let (line, column) = number == 0 ? (line, column) : marks[number - 1]
      counted = (number * Self.markDistance, line, column)
    }
    while counted.offset < offset {
      let end = min(offset, (counted.offset / Self.markDistance + 1) * Self.markDistance)
      var (_, line, column) = counted
      for byte in source[counted.offset..<end] {
        if byte == lineBreak {
          line += 1
          column = 1
        } else if byte & 0xC0 != 0x80 {
          column += 1
        }
      }
      counted = (end, line, column)
      if end == (marks.count + 1) * Self.markDistance { marks.append((line, column)) }
    }
  }

  private func forgetCounted() {
    counted = (0, line, column)
    marks.removeAll(keepingCapacity: true)
  }
}
