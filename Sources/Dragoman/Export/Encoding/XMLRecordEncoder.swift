/// Records as elements of an XML document, at the place that the map names.
///
/// Without indentation every record stands on a line of its own. White space is only ever written
/// between elements, and never into one that has a text of its own.
///
/// Large because tables for each node stand beside the state of the element that is open.
struct XMLRecordEncoder: RecordEncoder {
  private let buffer: ExportBuffer
  private let names: NodeTexts
  /// Whether a node's element has a text of its own.
  private let isMixed: [Bool]
  /// Whether a node's element counts for its text alone.
  private let isTextOnly: [Bool]
  /// Whether a node is a record.
  private let isRecord: [Bool]
  private let isPretty: Bool
  private let envelope: [String]
  private let declarations: String
  private let nilEnd: [UInt8]
  private let json = JSONProbe()
  /// The names of open elements, and of the next one, whose names are not always the same.
  private var ownNames: [[UInt8]] = []
  private(set) var depth = 0
  /// How many open elements have a text of their own.
  private var mixedDepth = 0
  /// Whether the last start tag still lacks its `>`.
  private var isTagOpen = false
  /// Whether an end tag was the last thing written.
  private var isBehindElement = false

  init(_ plan: ExportPlan, to buffer: ExportBuffer) {
    self.buffer = buffer
    isPretty = plan.isPretty
    let names = XMLNames(plan)
    envelope = plan.elements.dropLast().map { names.qualified($0, isAttribute: false) }
    declarations = names.declarations
    nilEnd = names.nilEnd
    let tree = plan.tree
    self.names = NodeTexts(
      tree.nodes.map {
        names.qualified(tree.names[Int($0.name)], isAttribute: $0.role == .attribute)
      }
    )
    isRecord = tree.nodes.map(\.isRecord)
    isTextOnly = tree.nodes.map(\.isTextOnly)
    isMixed = tree.nodes.map { $0.role == .object && $0.slot >= 0 }
  }

  // MARK: - Document

  mutating func begin() {
    buffer.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")
    for (index, name) in envelope.enumerated() {
      breakLine()
      buffer.append("<\(name)\(index == 0 ? declarations : "")>")
      depth += 1
    }
  }

  mutating func end() {
    for name in envelope.reversed() {
      depth -= 1
      breakLine()
      buffer.append("</\(name)>")
    }
    buffer.append("\n")
  }

  mutating func beginRecord() {
    breakLine()
    isBehindElement = false
  }

  func endRecord() {}

  private func breakLine() {
    buffer.append(UInt8(ascii: "\n"))
    guard isPretty else { return }
    for _ in 0..<depth { buffer.append("  ") }
  }

  // MARK: - Elements

  mutating func name(_ node: Int, _ bytes: UnsafeRawBufferPointer) -> SpellingFault? {
    let text = String(decoding: bytes, as: UTF8.self)
    // What is not UTF-8 decodes to other bytes.
    let isName = text.isXMLName && text.utf8.elementsEqual(bytes)
    ownNames.append(isName ? Array(bytes) : Array("item".utf8))
    return isName ? nil : .name
  }

  @inline(__always)
  private func withName<Result>(
    of node: Int,
    _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    let name = names[node]
    guard name.isEmpty, let own = ownNames.last else { return body(name) }
    return own.withUnsafeBytes(body)
  }

  /// The name of an element that is written is needed no more.
  @inline(__always)
  private mutating func leave(_ node: Int) {
    if names[node].isEmpty { _ = ownNames.popLast() }
  }

  /// The mark is where the element starts, and whether the tag around it was open.
  @inline(__always)
  mutating func open(_ node: Int, _ role: ExportTree.Role) -> Int {
    let mark = buffer.count << 1 | (isTagOpen ? 1 : 0)
    startElement(node, isRecord: isRecord[node])
    isTagOpen = true
    depth += 1
    if isMixed[node] { mixedDepth += 1 }
    isBehindElement = false
    return mark
  }

  @inline(__always)
  mutating func close(_ node: Int, _ role: ExportTree.Role) {
    depth -= 1
    if isTagOpen {
      buffer.append("/>")
      isTagOpen = false
    } else {
      if isPretty, isBehindElement, mixedDepth == 0 { breakLine() }
      endElement(node)
    }
    leave(node)
    if isMixed[node] { mixedDepth -= 1 }
    isBehindElement = true
  }

  mutating func takeBack(_ node: Int, to mark: Int) {
    depth -= 1
    leave(node)
    if isMixed[node] { mixedDepth -= 1 }
    buffer.truncate(to: mark >> 1)
    isTagOpen = mark & 1 == 1
    // What the element stood behind is behind the cursor again; a start tag, where it was open.
    isBehindElement = !isTagOpen
  }

  @inline(__always)
  private mutating func startElement(_ node: Int, isRecord: Bool = false) {
    if isTagOpen { buffer.append(UInt8(ascii: ">")) }
    isTagOpen = false
    if isPretty, mixedDepth == 0, !isRecord { breakLine() }
    buffer.append(UInt8(ascii: "<"))
    withName(of: node) { buffer.append($0) }
  }

  @inline(__always)
  private func endElement(_ node: Int) {
    buffer.append("</")
    withName(of: node) { buffer.append($0) }
    buffer.append(UInt8(ascii: ">"))
  }

  mutating func null(_ node: Int, _ role: ExportTree.Role) {
    guard role != .attribute else {
      startAttribute(node)
      return buffer.append(UInt8(ascii: "\""))
    }
    startElement(node)
    buffer.append(nilEnd)
    leave(node)
    isBehindElement = true
  }

  @inline(__always)
  private func startAttribute(_ node: Int) {
    buffer.append(UInt8(ascii: " "))
    buffer.append(names[node])
    buffer.append("=\"")
  }

  @inline(__always)
  mutating func value(
    _ node: Int,
    _ role: ExportTree.Role,
    _ token: ValueSpeller.Token
  ) -> SpellingFault? {
    let fault: SpellingFault?
    if role == .attribute {
      startAttribute(node)
      fault = append(token, escaping: .xmlAttribute)
      buffer.append(UInt8(ascii: "\""))
      return fault
    }
    if case .json(let bytes) = token, !isTextOnly[node] { return appendJSON(bytes, node) }
    startElement(node)
    buffer.append(UInt8(ascii: ">"))
    fault = append(token, escaping: .xmlText)
    endElement(node)
    leave(node)
    isBehindElement = true
    return fault
  }

  mutating func content(_ token: ValueSpeller.Token) -> SpellingFault? {
    if isTagOpen { buffer.append(UInt8(ascii: ">")) }
    isTagOpen = false
    return append(token, escaping: .xmlText)
  }

  @inline(__always)
  private mutating func append(
    _ token: ValueSpeller.Token,
    escaping: ExportBuffer.Escaping
  ) -> SpellingFault? {
    switch token {
    case .text(let bytes): return buffer.append(bytes, escaping: escaping) ? nil : .character
    case .word(let bytes), .literal(let bytes): buffer.append(bytes)
    case .json(let bytes):
      guard json.kind(of: bytes) == .value else {
        _ = buffer.append(bytes, escaping: escaping)
        return .json
      }
      guard let text = json.string, !text.isEmpty else {
        _ = buffer.append(bytes, escaping: escaping)
        return .jsonShape
      }
      return buffer.append(text, escaping: escaping) ? nil : .character
    case .null: break
    case .fault(let fault): return fault
    }
    return nil
  }

  // MARK: - JSON

  /// Stored JSON as elements, by the convention that reading follows (TapeJSON.swift); else as its text.
  private mutating func appendJSON(
    _ bytes: UnsafeRawBufferPointer,
    _ node: Int
  ) -> SpellingFault? {
    let before = (buffer.count, isTagOpen, isBehindElement)
    if isTagOpen { buffer.append(UInt8(ascii: ">")) }
    isTagOpen = false
    if isPretty, mixedDepth == 0 { breakLine() }
    let fault: SpellingFault
    switch json.kind(of: bytes) {
    case .none: fault = .json
    case .null: fault = .readAsNull
    case .value:
      let writer = JSONElements(batch: json.batch, buffer: buffer, nilEnd: nilEnd)
      guard let wrong = withName(of: node, { writer.write(json.root, name: $0) }) else {
        leave(node)
        isBehindElement = true
        return nil
      }
      fault = wrong
    }
    buffer.truncate(to: before.0)
    (isTagOpen, isBehindElement) = (before.1, before.2)
    _ = value(node, .value, .text(bytes))
    return fault
  }
}
