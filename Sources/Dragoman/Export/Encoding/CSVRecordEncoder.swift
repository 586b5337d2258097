/// Records as lines of RFC 4180, the names of the columns in the first one.
///
/// Null is nothing between two separators; the empty string is `""`.
struct CSVRecordEncoder: RecordEncoder {
  private let buffer: ExportBuffer
  private let header: [String]
  private let separator: UInt8
  private let json = JSONProbe()
  private var isFirst = true
  private var lineStart = 0

  /// Cells hold nothing.
  var depth: Int { 0 }

  init(_ plan: ExportPlan, to buffer: ExportBuffer) {
    self.buffer = buffer
    separator = plan.separator
    let tree = plan.tree
    let root = tree.nodes[0]
    header = tree.order[Int(root.start)..<Int(root.end)].map {
      tree.names[Int(tree.nodes[Int($0)].name)].local
    }
  }

  mutating func begin() {
    beginRecord()
    for var name in header {
      startCell()
      name.withUTF8 { _ = cell(UnsafeRawBufferPointer($0)) }
    }
    endRecord()
  }

  func end() {}

  mutating func beginRecord() {
    isFirst = true
    lineStart = buffer.count
  }

  mutating func endRecord() {
    // Readers skip rows without anything in them.
    if buffer.count == lineStart { buffer.append("\"\"") }
    buffer.append("\r\n")
  }

  mutating func name(_ node: Int, _ bytes: UnsafeRawBufferPointer) -> SpellingFault? { nil }
  mutating func open(_ node: Int, _ role: ExportTree.Role) -> Int { 0 }
  mutating func close(_ node: Int, _ role: ExportTree.Role) {}
  mutating func takeBack(_ node: Int, to mark: Int) {}

  @inline(__always)
  private mutating func startCell() {
    if !isFirst { buffer.append(separator) }
    isFirst = false
  }

  mutating func null(_ node: Int, _ role: ExportTree.Role) { startCell() }

  mutating func value(
    _ node: Int,
    _ role: ExportTree.Role,
    _ token: ValueSpeller.Token
  ) -> SpellingFault? {
    startCell()
    return content(token)
  }

  mutating func content(_ token: ValueSpeller.Token) -> SpellingFault? {
    switch token {
    case .text(let bytes): return cell(bytes)
    // A declared separator may be a sign of numbers and dates.
    case .word(let bytes), .literal(let bytes): return cell(bytes)
    case .json(let bytes): return jsonCell(bytes)
    case .null: return nil
    case .fault(let fault): return fault
    }
  }

  private func cell(_ bytes: UnsafeRawBufferPointer) -> SpellingFault? {
    let needsQuotes =
      bytes.isEmpty || Self.isSpace(bytes[0]) || Self.isSpace(bytes[bytes.count - 1])
      || bytes.contains { $0 == separator || $0 == 0x22 || $0 == 0x0A || $0 == 0x0D }
    if needsQuotes { buffer.append(UInt8(ascii: "\"")) }
    let isExact = buffer.append(bytes, escaping: .csv)
    if needsQuotes { buffer.append(UInt8(ascii: "\"")) }
    return isExact ? nil : bytes.contains(0) ? .character : .encoding
  }

  /// Some readers drop spaces that stand outside of quotes.
  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// A cell of a json attribute is read as a JSON string: that is what it can hold.
  private mutating func jsonCell(_ bytes: UnsafeRawBufferPointer) -> SpellingFault? {
    guard json.kind(of: bytes) == .value else { return cell(bytes) ?? .json }
    guard let text = json.string else { return cell(bytes) ?? .jsonShape }
    return text.isEmpty ? .readAsNull : cell(text)
  }
}
