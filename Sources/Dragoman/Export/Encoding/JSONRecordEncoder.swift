import DragomanGraph

/// Records as the elements of a JSON array, or one a line (NDJSON).
///
/// Without indentation every record stands on a line of its own.
struct JSONRecordEncoder: RecordEncoder {
  private let buffer: ExportBuffer
  /// `"name":` of each node; empty for elements of arrays.
  private let members: NodeTexts
  private let isLines: Bool
  private let isPretty: Bool
  private let envelope: [String]
  private let json = JSONProbe()
  private let hasNamedRecords: Bool
  /// Whether a node is a record.
  private let isRecord: [Bool]
  private(set) var depth = 0
  /// Whether the name of the member that comes next is written already.
  private var isNamed = false
  private var isFirst = true

  init(_ plan: ExportPlan, to buffer: ExportBuffer) {
    self.buffer = buffer
    isLines = plan.format == .ndjson
    isPretty = plan.isPretty
    hasNamedRecords = plan.hasNamedRecords
    envelope = plan.envelope.map { JSONString.quoted($0, .short) }
    let tree = plan.tree
    var texts = tree.nodes.map {
      JSONString.quoted(tree.names[Int($0.name)].local, .short) + (plan.isPretty ? ": " : ":")
    }
    isRecord = tree.nodes.map(\.isRecord)
    for (index, node) in tree.nodes.enumerated() {
      if node.isRecord { texts[index] = "" }
      guard node.role == .array || node.isCollection else { continue }
      for child in tree.order[Int(node.start)..<Int(node.end)] {
        for element in tree.alternatives(to: Int(child)) { texts[element] = "" }
      }
    }
    members = NodeTexts(texts)
  }

  // MARK: - Document

  mutating func begin() {
    guard !isLines else { return }
    for name in envelope {
      buffer.append(UInt8(ascii: "{"))
      depth += 1
      if isPretty { breakLine() }
      buffer.append(name)
      buffer.append(isPretty ? ": " : ":")
    }
    buffer.append(hasNamedRecords ? UInt8(ascii: "{") : UInt8(ascii: "["))
    depth += 1
  }

  mutating func end() {
    guard !isLines else { return }
    depth -= 1
    if !isFirst { breakLine() }
    buffer.append(hasNamedRecords ? UInt8(ascii: "}") : UInt8(ascii: "]"))
    for _ in envelope {
      depth -= 1
      if isPretty { breakLine() }
      buffer.append(UInt8(ascii: "}"))
    }
    buffer.append(UInt8(ascii: "\n"))
  }

  mutating func beginRecord() {
    guard !isLines else { return }
    if !isFirst { buffer.append(UInt8(ascii: ",")) }
    isFirst = false
    breakLine()
  }

  mutating func endRecord() {
    if isLines { buffer.append(UInt8(ascii: "\n")) }
  }

  // MARK: - Members

  mutating func name(_ node: Int, _ bytes: UnsafeRawBufferPointer) -> SpellingFault? {
    if !isRecord[node] {
      startMember(node)
      isNamed = true
    }
    let fault = content(.text(bytes))
    buffer.append(isPretty ? ": " : ":")
    return fault
  }

  @inline(__always)
  mutating func open(_ node: Int, _ role: ExportTree.Role) -> Int {
    let mark = buffer.count
    if !isRecord[node] { startMember(node) }
    buffer.append(role.isList ? UInt8(ascii: "[") : UInt8(ascii: "{"))
    depth += 1
    return mark
  }

  @inline(__always)
  mutating func close(_ node: Int, _ role: ExportTree.Role) {
    depth -= 1
    let opening = role.isList ? UInt8(ascii: "[") : UInt8(ascii: "{")
    if isPretty, buffer.last != opening { breakLine() }
    buffer.append(role.isList ? UInt8(ascii: "]") : UInt8(ascii: "}"))
  }

  mutating func takeBack(_ node: Int, to mark: Int) {
    depth -= 1
    buffer.truncate(to: mark)
  }

  @inline(__always)
  mutating func null(_ node: Int, _ role: ExportTree.Role) {
    startMember(node)
    buffer.append("null")
  }

  @inline(__always)
  mutating func value(
    _ node: Int,
    _ role: ExportTree.Role,
    _ token: ValueSpeller.Token
  ) -> SpellingFault? {
    startMember(node)
    return content(token)
  }

  @inline(__always)
  mutating func content(_ token: ValueSpeller.Token) -> SpellingFault? {
    switch token {
    case .text(let bytes):
      buffer.append(UInt8(ascii: "\""))
      let isExact = buffer.append(bytes, escaping: .json)
      buffer.append(UInt8(ascii: "\""))
      return isExact ? nil : .encoding
    case .word(let bytes):
      buffer.append(UInt8(ascii: "\""))
      buffer.append(bytes)
      buffer.append(UInt8(ascii: "\""))
    case .literal(let bytes): buffer.append(bytes)
    case .json(let bytes): return appendJSON(bytes)
    case .null: buffer.append("null")
    case .fault(let fault): return fault
    }
    return nil
  }

  /// A comma where something stands before, the indentation, and the name.
  @inline(__always)
  private mutating func startMember(_ node: Int) {
    if isNamed {
      isNamed = false
      return
    }
    let last = buffer.last
    if last != UInt8(ascii: "{"), last != UInt8(ascii: "[") { buffer.append(UInt8(ascii: ",")) }
    if isPretty { breakLine() }
    buffer.append(members[node])
  }

  private func breakLine() {
    buffer.append(UInt8(ascii: "\n"))
    guard isPretty else { return }
    for _ in 0..<depth { buffer.append("  ") }
  }

  /// Stored JSON as it is; line breaks, which can only stand between tokens, become spaces.
  private mutating func appendJSON(_ bytes: UnsafeRawBufferPointer) -> SpellingFault? {
    switch json.kind(of: bytes) {
    case .none:
      _ = content(.text(bytes))
      return .json
    case .null:
      buffer.append("null")
      return .readAsNull
    case .value:
      let start = buffer.count
      buffer.append(bytes)
      buffer.replaceLineBreaks(from: start)
      return nil
    }
  }
}

extension ExportTree.Role {
  /// Whether it is a JSON array.
  @inline(__always)
  fileprivate var isList: Bool { self == .array || self == .list }
}
