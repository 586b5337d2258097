import CLibXML2
import CSimdJSON

/// Turns the events of libxml2 into the tape of a batch.
///
/// This is the hot path of reading XML: the callbacks call it for every tag and every piece of
/// text. It therefore works on plain memory only (the batch's memory, borrowed by address) and
/// makes no String, closure or object a record.
///
/// libxml2 works on a copy of the source bytes, so a position in its input is a position in ours:
/// text that stands in the source as it is meant is copied once, from there into the arena. What comes out of an
/// entity has an input of its own, from libxml2 2.13 on one above the document's (before, another parser's).
///
/// Large because callbacks for each tag are inlined into each other, over state that is private to this file.
struct XMLTapeBuilder {
  /// Elements may nest that deeply; libxml2 has the same limit, but checks it only for trees.
  static let maxDepth = 256
  /// The most bytes of one text; libxml2 has the same limit, but checks it only for trees.
  static let maxTextByteCount = 10_000_000
  /// Entities and defaulted attributes may expand to that many bytes in any document.
  static let expansionAllowance = 10_000_000
  /// Beyond that, they may expand to that many bytes for every byte read.
  ///
  /// libxml2 has a like bound, which some documents get around.
  static let expansionFactor = 10

  /// A document may have that many different names: libxml2 keeps each of them, and finds them the slower the more
  /// there are.
  static let maxNameCount = 100_000
  /// The most attributes of an element: libxml2 compares each with all others.
  static let maxAttributeCount = 10_000
  /// The most bytes of declarations in a document: libxml2 takes the longer for each the more there are.
  static let maxDeclarationByteCount = 128 << 10

  /// The same, with the levels that stand around a record of a rejects file.
  private let maxDepth: Int
  private(set) var depth = 0
  /// The depth of the outermost record that is open; 0 when there is none.
  private(set) var recordDepth = 0
  /// Index of the outermost open record in the batch.
  private var openRecord = 0
  /// What one record may take, and how much the batch held before the open one.
  private let limit: RecordLimit
  private var heldByteCount = 0
  /// Whether a root element was seen.
  private(set) var hasRoot = false
  /// Why reading has to stop; events that come after it are ignored.
  private(set) var failure: ReadError?
  /// Whether there is a failure: every event asks.
  private(set) var hasFailed = false

  private var matcher: XMLPathMatcher
  /// What stands before the records.
  private var head: XMLDocumentHead
  private var spaces: XMLNamespaceTable
  private var declarations = XMLDeclarations()
  /// The frame of the element at each depth, from 1.
  private let frames: UnsafeMutableBufferPointer<XMLElementFrame>

  /// The parser whose events these are.
  let context: xmlParserCtxtPtr
  private var memory = XMLTapeMemory()
  /// How many bytes of the text given to libxml2 stand before the buffer.
  private var batchStart = 0

  /// How many bytes came out of entities and defaulted attributes so far.
  private var expandedByteCount = 0

  /// Makes a builder for a parser's events.
  init(
    context: xmlParserCtxtPtr,
    paths: [XMLRecordPath],
    keeping: DocumentMembers,
    limit: RecordLimit,
    maxDepth: Int
  ) {
    self.context = context
    self.maxDepth = maxDepth
    head = XMLDocumentHead(keeping: keeping)
    self.limit = limit
    matcher = XMLPathMatcher(paths, dictionary: context.pointee.dict)
    spaces = XMLNamespaceTable(dictionary: context.pointee.dict)
    frames = .allocate(capacity: maxDepth + 1)
    frames.initialize(repeating: XMLElementFrame())
  }

  func deallocate() {
    for frame in frames { frame.deallocate() }
    frames.deallocate()
    memory.deallocate()
    matcher.deallocate()
  }

  /// How many records each path has given so far; nil while its place was not met.
  var recordCounts: [Int?] { matcher.recordCounts }

  /// The document's text, as libxml2 has it: the lowest of its inputs.
  @inline(__always) private var document: xmlParserInputPtr? { context.pointee.inputTab?[0] }

  /// How many bytes of the text given to libxml2 it has dealt with.
  var parsedByteCount: Int {
    guard let input = document else { return 0 }
    return Int(input.pointee.consumed) + (input.pointee.cur - input.pointee.base)
  }

  // MARK: Batches

  /// Starts to fill a batch whose source begins behind the first `batchStart` bytes of the text.
  mutating func begin(_ batch: RecordBatch, batchStart: Int) {
    self.batchStart = batchStart
    memory.begin(batch)
  }

  /// Tells the batch what was put into it.
  func publish() {
    memory.publish()
    memory.batch.namespaces = spaces.uris
  }

  /// Drops the record that was being read when the text proved faulty.
  mutating func dropOpenRecords() {
    guard recordDepth > 0 else { return }
    let batch = memory.batch
    memory.nodeCount = Int(batch.records[openRecord].node)
    batch.records.removeSubrange(openRecord...)
    recordDepth = 0
  }

  /// Makes room for a record that needs more source bytes.
  mutating func growSource(to sourceCapacity: Int) {
    memory.growSource(to: sourceCapacity)
  }

  /// How many bytes of unescaped text the batch holds.
  var arenaByteCount: Int { memory.arenaByteCount }

  /// Stops reading: the first failure is the one that is told.
  mutating func fail(_ error: ReadError) {
    guard !hasFailed else { return }
    failure = error
    hasFailed = true
    context.pointee.disableSAX = 1
  }

  /// The place that the parser has come to.
  func currentOrigin() -> Origin {
    let batch = memory.batch
    let number = recordDepth > 0 ? batch.records[openRecord].number : nil
    return batch.origin(at: UInt32(clamping: parsedByteCount - batchStart), record: number)
  }

  // MARK: Events

  /// Declarations of namespaces in the start tag that comes next; those in records are in their text.
  mutating func declare(
    _ namespaces: UnsafeMutablePointer<UnsafePointer<UInt8>?>,
    count: Int
  ) {
    guard recordDepth == 0 else { return }
    declarations.add(namespaces, count: count, depth: depth + 1)
  }

  /// A start tag: appends the element's node and those of its attributes.
  ///
  /// - Parameters:
  ///   - name: The local name, as libxml2 keeps it.
  ///   - uri: The namespace URI, as libxml2 keeps it; nil is none.
  ///   - attributes: Five pointers an attribute: local name, prefix, namespace URI, first byte of
  ///     the value, byte behind the value.
  ///   - attributeCount: How many attributes there are.
  mutating func startElement(
    _ name: UnsafePointer<UInt8>,
    space uri: UnsafePointer<UInt8>?,
    attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    attributeCount: Int
  ) {
    guard !hasFailed else { return }
    depth += 1
    hasRoot = true
    guard depth <= maxDepth else {
      return fail(limit: "The elements nest deeper than \(Self.maxDepth) levels.")
    }
    let isInside = recordDepth > 0
    let isInNull = isInside && frames[depth - 1].isNull
    let isRecord =
      depth <= matcher.longest && !isInNull
      && matcher.enter(name: name, space: uri, depth: depth)
    guard isInside || isRecord else {
      head.enter(
        name,
        space: uri,
        attributes: attributes,
        attributeCount: attributeCount,
        depth: depth,
        isNull: spaces.isNull(attributes, count: attributeCount)
      )
      if head.isTooLarge { failForHead() }
      return
    }
    if isInside {
      frames[depth - 1].endRun(source: memory.source)
      frames[depth - 1].hasChildren = true
    }
    let place = tagPlace()
    if memory.byte(place) == UInt8(ascii: "&") { countExpansion(MemoryLayout<TapeNode>.stride) }
    var firstRecord = 0
    if isRecord {
      head.end()
      if memory.batch.document == nil {
        memory.batch.document = head.write(into: &memory, &spaces)
      }
      firstRecord = memory.batch.records.count
      openRecords(at: place, isOutermost: !isInside)
    }

    let isNull = isInNull || spaces.isNull(attributes, count: attributeCount)
    guard byteCount(at: place) - heldByteCount <= limit.byteCount else {
      return fail(limit.error(at: currentOrigin()))
    }
    memory.reserveNodes(1 + attributeCount)
    let node = memory.append(
      name,
      space: spaceNumber(uri),
      kind: isNull ? TAPE_NULL : TAPE_ELEMENT,
      origin: place
    )
    if isRecord { nameRecords(from: firstRecord, after: node) }
    frames[depth].open(node: node, isNull: isNull)
    if attributeCount > 0, !isNull, let attributes {
      appendAttributes(attributes, count: attributeCount, origin: place)
    }
  }

  /// An end tag: completes the element's node.
  mutating func endElement() {
    guard !hasFailed else { return }
    defer { depth -= 1 }
    if recordDepth > 0 {
      closeNode()
      if depth <= matcher.longest { closeRecords() }
    } else {
      head.leave(depth: depth)
    }
    if recordDepth == 0 { declarations.leave(depth: depth) }
    if depth <= matcher.longest { matcher.leave(depth: depth) }
  }

  /// A piece of text or of a CDATA section.
  @inline(__always)
  mutating func characters(_ text: UnsafePointer<UInt8>, count: Int) {
    guard !hasFailed, count > 0, let input = document else { return }
    let isSource = text >= input.pointee.base && text < input.pointee.end
    if !isSource { countExpansion(count) }
    guard recordDepth > 0 else {
      let isSection = isSource && context.pointee.instate == XML_PARSER_CDATA_SECTION
      let place = isSection ? Int(input.pointee.consumed) + (text - input.pointee.base) : nil
      head.add(text, count: count, depth: depth, section: place)
      if head.isTooLarge { failForHead() }
      return
    }
    let frame = frames.baseAddress.unsafelyUnwrapped + depth
    guard frame.pointee.length + count <= Self.maxTextByteCount else {
      return fail(limit: "A text is longer than \(Self.maxTextByteCount) bytes.")
    }
    if isSource {
      let offset = Int(input.pointee.consumed) + (text - input.pointee.base) - batchStart
      // Never outside of the buffer, whatever another libxml2 makes of its inputs.
      guard offset >= 0, offset + count <= memory.sourceByteCount else {
        return failForInput()
      }
      if context.pointee.instate == XML_PARSER_CDATA_SECTION {
        frame.pointee.append(section: memory.source, at: offset, count: count)
      } else {
        frame.pointee.append(source: memory.source, at: offset, count: count)
      }
    } else {
      frame.pointee.append(copying: text, count: count, source: memory.source)
    }
  }

  // MARK: Nodes

  private mutating func appendAttributes(
    _ attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>,
    count: Int,
    origin: Int
  ) {
    for index in 0..<count {
      let attribute = attributes + 5 * index
      guard let name = attribute[0], let value = attribute[3], let end = attribute[4] else {
        continue
      }
      let node = memory.append(
        name,
        space: spaceNumber(attribute[2]),
        kind: TAPE_STRING,
        origin: origin
      )
      memory.nodes[node].flags = UInt8(TAPE_ATTRIBUTE)
      memory.nodes[node].length = UInt32(truncatingIfNeeded: end - value)
      memory.nodes[node].text = place(of: value, count: end - value)
    }
  }

  /// Copies an attribute's value into the arena.
  @inline(__always)
  private mutating func place(of value: UnsafePointer<UInt8>, count: Int) -> UInt32 {
    if let input = document, value < input.pointee.base || value >= input.pointee.end {
      // A value that declarations give to every element takes memory, however short it is.
      countExpansion(count + MemoryLayout<TapeNode>.stride)
    }
    return copyToArena(value, count: count)
  }

  /// Gives the element at the current depth its text and its end.
  @inline(__always)
  private mutating func closeNode() {
    let frame = frames.baseAddress.unsafelyUnwrapped + depth
    let node = memory.nodes + frame.pointee.node
    if frame.pointee.isNull {
      // What an xsi:nil element holds against its schema is not kept.
      memory.nodeCount = frame.pointee.node + 1
    } else {
      if frame.pointee.hasChildren { frame.pointee.endRun(source: memory.source) }
      if frame.pointee.length > 0 {
        node.pointee.length = UInt32(truncatingIfNeeded: frame.pointee.length)
        if frame.pointee.isCopied, let copy = frame.pointee.copy.baseAddress {
          node.pointee.text = copyToArena(copy, count: frame.pointee.length)
        } else {
          node.pointee.text = copyToArena(
            memory.source + frame.pointee.start,
            count: frame.pointee.length
          )
        }
      }
    }
    node.pointee.next = UInt32(truncatingIfNeeded: memory.nodeCount)
  }

  // MARK: Records

  /// Opens a record for every path that ends at the element whose tag starts at `place`.
  private mutating func openRecords(at place: Int, isOutermost: Bool) {
    let batch = memory.batch
    if isOutermost {
      recordDepth = depth
      openRecord = batch.records.count
      heldByteCount = byteCount(at: place)
      declarations.tell(batch, from: place)
    }
    for path in 0..<matcher.count where matcher.isComplete(path, depth: depth) {
      let number = matcher.open(path, record: batch.records.count)
      batch.records.append(
        RecordBatch.Record(
          node: UInt32(truncatingIfNeeded: memory.nodeCount),
          start: UInt32(truncatingIfNeeded: place),
          length: 0,
          number: number,
          source: path
        )
      )
    }
  }

  /// Gives records the name of their element (`$key`).
  private func nameRecords(from first: Int, after node: Int) {
    let batch = memory.batch
    for record in first..<batch.records.count {
      batch.records[record].key = memory.nodes[node].key
      batch.records[record].keyLength = memory.nodes[node].keyLength
    }
  }

  /// Completes the records that end with the element at the current depth.
  private mutating func closeRecords() {
    let batch = memory.batch
    let end = parsedByteCount - batchStart
    for path in 0..<matcher.count where matcher.isComplete(path, depth: depth) {
      guard let record = matcher.close(path) else { continue }
      batch.records[record].length =
        UInt32(truncatingIfNeeded: end) &- batch.records[record].start
    }
    if depth == recordDepth { recordDepth = 0 }
  }

  /// The offset of the `<` of the start tag that was just read; for an element that comes out of
  /// an entity, of the `&` of the reference.
  @inline(__always)
  private func tagPlace() -> Int {
    var place = parsedByteCount - batchStart - 1
    // A start tag never ends in a semicolon (it stands before its `>`), a reference always does.
    let isReference = place >= 0 && memory.byte(place) == UInt8(ascii: ";")
    let first = isReference ? UInt8(ascii: "&") : UInt8(ascii: "<")
    while place > 0, memory.byte(place) != first { place -= 1 }
    return max(place, 0)
  }

  // MARK: Limits

  /// What the batch holds up to a place of its source.
  @inline(__always)
  private func byteCount(at place: Int) -> Int {
    place + memory.arenaByteCount + memory.nodeCount * MemoryLayout<TapeNode>.stride
  }

  /// Counts bytes that do not stand in the source as they are: at most what was read, but for
  /// entities and defaulted attributes.
  @inline(__always)
  private mutating func countExpansion(_ byteCount: Int) {
    expandedByteCount += byteCount
    if expandedByteCount > Self.expansionAllowance { checkExpansion() }
  }

  private mutating func checkExpansion() {
    let bound = Self.expansionAllowance + Self.expansionFactor * parsedByteCount
    guard expandedByteCount > bound else { return }
    fail(
      limit: "The entities expand to more than \(Self.expansionFactor) times the document's size."
    )
  }

  private mutating func copyToArena(_ bytes: UnsafeRawPointer, count: Int) -> UInt32 {
    memory.copyToArena(bytes, count: count)
  }

  @inline(__always)
  private mutating func spaceNumber(_ uri: UnsafePointer<UInt8>?) -> UInt16 {
    guard let uri else { return 0 }
    if let number = spaces.number(of: uri) { return number }
    fail(limit: "The document uses more than \(UInt16.max) namespaces.")
    return 0
  }

  /// Whether libxml2 waits for the end of the internal subset of a document type declaration.
  var isInSubset: Bool { context.pointee.instate == XML_PARSER_DTD }

  /// Looks whether libxml2 is given too much of what it takes ever longer for: names of elements and attributes,
  /// prefixes and namespaces; declarations.
  ///
  /// - Parameter waitingByteCount: How much of the text it keeps until it has the end of something.
  mutating func checkBounds(waitingByteCount: Int) {
    if xmlDictSize(context.pointee.dict) > Self.maxNameCount {
      fail(limit: "The document has more than \(Self.maxNameCount) different names.")
    }
    if isInSubset, waitingByteCount > Self.maxDeclarationByteCount {
      failForDeclarations()
    }
  }

  /// Looks at a tag or declaration of which libxml2 has a part, before it gets the next one.
  mutating func check(construct: UnsafeRawBufferPointer) {
    if construct.starts(with: "<!D".utf8), construct.count > Self.maxDeclarationByteCount {
      failForDeclarations()
    } else if XMLPiece.attributeCount(ofTag: construct) > Self.maxAttributeCount {
      fail(limit: "An element has more than \(Self.maxAttributeCount) attributes.")
    }
  }

  @inline(never)
  private mutating func failForDeclarations() {
    fail(
      limit: "The document type declaration has more than"
        + " \(Self.maxDeclarationByteCount >> 10) kB."
    )
  }

  @inline(never)
  private mutating func failForInput() {
    fail(
      ReadError(
        .unsupported,
        "This version of libxml2 tells of text that does not stand in the document.",
        at: currentOrigin(),
        help: "use libxml2 2.9 to 2.15"
      )
    )
  }

  @inline(never)
  private mutating func failForHead() {
    fail(
      limit: "What stands before the records and `$root` paths name has more than"
        + " \(XMLDocumentHead.maximumByteCount >> 20) MB."
    )
  }

  @inline(never)
  private mutating func fail(limit message: String) {
    fail(ReadError(.limit, message, at: currentOrigin()))
  }
}
