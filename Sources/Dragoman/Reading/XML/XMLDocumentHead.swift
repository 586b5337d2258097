import CLibXML2
import CSimdJSON

/// What stands before the records of an XML document, for `$root` paths: the root element with its
/// attributes, and those of its children that paths name, with all that is in them.
///
/// It ends with the first record. What is kept is small (`maximumByteCount`), and put on the tape of
/// every batch.
struct XMLDocumentHead {
  /// The most bytes of names and texts that are kept.
  static let maximumByteCount = 1 << 20

  /// An element or attribute; names are libxml2's own, which it keeps as long as the parser.
  private struct Node {
    let name: UnsafePointer<UInt8>
    let space: UnsafePointer<UInt8>?
    let level: Int
    var kind: Int
    var isAttribute = false
    var text: [UInt8] = []
    /// Where the text since the last child element starts.
    var runStart = 0
    var hasChildren = false
  }

  private let kept: DocumentMembers
  private var nodes: [Node] = []
  /// The places in `nodes` of the open elements that are kept, the root first.
  private var open: [Int] = []
  private var byteCount = 0
  /// Where, in the document, a CDATA section went on after a carriage return; else -1.
  private var afterReturn = -1
  /// Whether the first record was met.
  private var hasEnded: Bool

  /// Makes an empty head for the paths' members.
  init(keeping kept: DocumentMembers) {
    self.kept = kept
    hasEnded = kept == .none
  }

  /// Whether more is kept than the limit admits.
  var isTooLarge: Bool { byteCount > Self.maximumByteCount }

  /// An element that is no record opens.
  mutating func enter(
    _ name: UnsafePointer<UInt8>,
    space: UnsafePointer<UInt8>?,
    attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    attributeCount: Int,
    depth: Int,
    isNull: Bool
  ) {
    guard !hasEnded, open.count == depth - 1 else { return }
    let length = Int(xmlStrlen(name))
    guard depth != 2 || kept.has(UnsafeRawBufferPointer(start: name, count: length)) else { return }
    if let parent = open.last {
      endRun(parent)
      nodes[parent].hasChildren = true
      if nodes[parent].kind == TAPE_NULL { return }
    }
    open.append(nodes.count)
    byteCount += length + MemoryLayout<Node>.stride
    nodes.append(
      Node(name: name, space: space, level: depth, kind: isNull ? TAPE_NULL : TAPE_ELEMENT)
    )
    guard !isNull, let attributes else { return }
    for index in 0..<attributeCount {
      let attribute = attributes + 5 * index
      guard let name = attribute[0], let value = attribute[3], let end = attribute[4] else {
        continue
      }
      var node = Node(name: name, space: attribute[2], level: depth + 1, kind: TAPE_STRING)
      node.isAttribute = true
      node.text = Array(UnsafeBufferPointer(start: value, count: end - value))
      byteCount += node.text.count + MemoryLayout<Node>.stride
      nodes.append(node)
    }
  }

  /// The element at a depth ends.
  mutating func leave(depth: Int) {
    guard !hasEnded, open.count == depth, let last = open.popLast() else { return }
    if nodes[last].hasChildren { endRun(last) }
  }

  /// Text of the element at a depth.
  ///
  /// - Parameters:
  ///   - text: Its bytes.
  ///   - count: How many there are.
  ///   - depth: The element's depth.
  ///   - place: Where in the document it stands, in a CDATA section; nil: in none.
  mutating func add(_ text: UnsafePointer<UInt8>, count: Int, depth: Int, section place: Int?) {
    // The root's own text is not kept: it goes on to the end.
    guard !hasEnded, depth > 1, open.count == depth, let last = open.last,
      nodes[last].kind == TAPE_ELEMENT
    else { return }
    byteCount += count
    guard !isTooLarge else { return }
    let bytes = UnsafeBufferPointer(start: text, count: count)
    guard let place else { return nodes[last].text.append(contentsOf: bytes) }
    // libxml2's push parser leaves the line ends of CDATA sections as they are (XML 1.0, 2.11).
    for (offset, byte) in bytes.enumerated() {
      if byte == 0x0A, place + offset == afterReturn { continue }
      if byte == 0x0D { afterReturn = place + offset + 1 }
      nodes[last].text.append(byte == 0x0D ? 0x0A : byte)
    }
  }

  /// The first record was met: nothing behind it is kept.
  mutating func end() {
    guard !hasEnded else { return }
    hasEnded = true
    for place in open where nodes[place].hasChildren { endRun(place) }
  }

  /// Drops white space between child elements, which is layout.
  private mutating func endRun(_ place: Int) {
    let isBlank = nodes[place].text[nodes[place].runStart...].allSatisfy {
      $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09
    }
    if isBlank { nodes[place].text.removeSubrange(nodes[place].runStart...) }
    nodes[place].runStart = nodes[place].text.count
  }

  /// Puts what is kept on a tape.
  ///
  /// - Parameters:
  ///   - memory: The memory of the batch.
  ///   - spaces: The numbers of namespaces.
  /// - Returns: The root's node; nil where nothing is kept.
  func write(into memory: inout XMLTapeMemory, _ spaces: inout XMLNamespaceTable) -> UInt32? {
    guard !nodes.isEmpty else { return nil }
    memory.reserveNodes(nodes.count)
    let root = memory.nodeCount
    var around: [(level: Int, node: Int)] = []
    for node in nodes {
      while let last = around.last, last.level >= node.level { around.removeLast() }
      let space = node.space.flatMap { spaces.number(of: $0) } ?? 0
      let place = memory.append(node.name, space: space, kind: node.kind, origin: 0)
      if node.isAttribute { memory.nodes[place].flags = UInt8(TAPE_ATTRIBUTE) }
      let start = node.text.withUnsafeBytes { text in
        text.baseAddress.map { memory.copyToArena($0, count: text.count) }
      }
      memory.nodes[place].text = start ?? 0
      memory.nodes[place].length = UInt32(truncatingIfNeeded: node.text.count)
      around.append((node.level, place))
      for (_, container) in around {
        memory.nodes[container].next = UInt32(truncatingIfNeeded: memory.nodeCount)
      }
    }
    return UInt32(truncatingIfNeeded: root)
  }
}
