import CLibXML2
import CSimdJSON

/// The memory of the batch that is being filled, borrowed by address.
struct XMLTapeMemory {
  /// The first of the source bytes.
  private(set) var source: UnsafeMutableRawPointer
  /// How many source bytes there is room for.
  private(set) var sourceByteCount = 0
  /// The first node of the tape.
  private(set) var nodes: UnsafeMutablePointer<TapeNode>
  /// How many nodes the tape has; a caller may cut it.
  var nodeCount = 0

  /// Stands in until the first batch comes, so that the addresses always mean something.
  private let idleBatch = RecordBatch()
  private var unmanagedBatch: Unmanaged<RecordBatch>
  private var arena: UnsafeMutableRawPointer
  private var arenaEnd = 0
  private var arenaCapacity = 0
  private var nodeCapacity = 0
  private var names = XMLNameTable()

  init() {
    unmanagedBatch = .passUnretained(idleBatch)
    source = Self.address(of: idleBatch.source)
    arena = Self.address(of: idleBatch.arena)
    nodes = Self.address(of: idleBatch.nodes)
  }

  func deallocate() {
    names.deallocate()
  }

  /// The batch that is being filled.
  var batch: RecordBatch { unmanagedBatch.takeUnretainedValue() }

  /// How many bytes of unescaped text the batch holds.
  var arenaByteCount: Int { arenaEnd }

  /// Starts to fill a batch, whose owner keeps it alive until the next one is begun.
  mutating func begin(_ batch: RecordBatch) {
    unmanagedBatch = .passUnretained(batch)
    source = Self.address(of: batch.source)
    sourceByteCount = batch.source.count
    arena = Self.address(of: batch.arena)
    arenaEnd = 0
    arenaCapacity = batch.arena.count
    nodes = Self.address(of: batch.nodes)
    nodeCapacity = batch.nodes.count
    nodeCount = 0
    names.forgetPlaces()
  }

  /// Tells the batch what was put into it.
  func publish() {
    batch.arenaEnd = arenaEnd
    batch.didAppendNodes(to: nodeCount)
  }

  /// Makes room for more source bytes.
  mutating func growSource(to sourceCapacity: Int) {
    batch.reserveSource(sourceCapacity)
    source = Self.address(of: batch.source)
    sourceByteCount = batch.source.count
  }

  /// One of the source bytes.
  @inline(__always)
  func byte(_ offset: Int) -> UInt8 {
    source.load(fromByteOffset: offset, as: UInt8.self)
  }

  /// Makes room for more nodes.
  @inline(__always)
  mutating func reserveNodes(_ count: Int) {
    if nodeCount + count > nodeCapacity { growNodes(count) }
  }

  /// Appends a node without text, for which there is room; returns its index.
  @inline(__always)
  mutating func append(
    _ name: UnsafePointer<UInt8>,
    space: UInt16,
    kind: Int,
    origin: Int
  ) -> Int {
    let slot = names.slot(of: name)
    let key = names.place(at: slot) ?? placeName(name, slot: slot)
    let index = nodeCount
    nodes[index] = TapeNode(
      text: 0,
      length: 0,
      key: key.offset,
      keyLength: key.length,
      next: UInt32(truncatingIfNeeded: index + 1),
      origin: UInt32(truncatingIfNeeded: origin),
      space: space,
      kind: UInt8(truncatingIfNeeded: kind),
      flags: 0
    )
    nodeCount = index + 1
    return index
  }

  /// Copies a text into the arena, and returns its offset there.
  @inline(__always)
  mutating func copyToArena(_ bytes: UnsafeRawPointer, count: Int) -> UInt32 {
    let offset = arenaEnd
    if offset + count > arenaCapacity { growArena(count) }
    (arena + offset).copyMemory(from: bytes, byteCount: count)
    arenaEnd = offset + count
    return UInt32(truncatingIfNeeded: offset)
  }

  private mutating func growArena(_ count: Int) {
    batch.arenaEnd = arenaEnd
    batch.reserveArena(count)
    arena = Self.address(of: batch.arena)
    arenaCapacity = batch.arena.count
  }

  private mutating func placeName(
    _ name: UnsafePointer<UInt8>,
    slot: Int
  ) -> (offset: UInt32, length: UInt32) {
    let length = Int(xmlStrlen(name))
    let offset = copyToArena(name, count: length)
    names.setPlace(at: slot, offset: offset, length: UInt32(truncatingIfNeeded: length))
    return (offset, UInt32(truncatingIfNeeded: length))
  }

  private mutating func growNodes(_ count: Int) {
    batch.didAppendNodes(to: nodeCount)
    batch.reserveNodes(nodeCount + count)
    nodes = Self.address(of: batch.nodes)
    nodeCapacity = batch.nodes.count
  }

  /// The start of a buffer; batches never have empty ones.
  private static func address(of buffer: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawPointer {
    guard let address = buffer.baseAddress else { preconditionFailure("a batch has a buffer") }
    return address
  }

  private static func address(
    of buffer: UnsafeMutableBufferPointer<TapeNode>
  ) -> UnsafeMutablePointer<TapeNode> {
    guard let address = buffer.baseAddress else { preconditionFailure("a batch has nodes") }
    return address
  }
}
