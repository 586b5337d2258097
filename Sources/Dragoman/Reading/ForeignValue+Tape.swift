import CSimdJSON
import Foundation

extension ForeignValue {
  /// Reads one JSON text.
  ///
  /// - Throws: `.json` and the like, with line and column, where the text is not JSON.
  public init(json text: String) throws(ReadError) {
    let batch = RecordBatch()
    batch.file = "JSON text"
    let bytes = Array(text.utf8)
    guard bytes.count < Int(UInt32.max) - 4096 else {
      throw ReadError(.limit, "A JSON text in memory has at most 4 GB.")
    }
    batch.reserveSource(bytes.count)
    batch.source.copyBytes(from: bytes)
    batch.sourceCount = bytes.count
    let node = try JSONText().parse(batch, start: 0, length: bytes.count)
    self.init(batch, node)
  }

  /// The value as JSON text, on one line.
  ///
  /// JSON has neither dates nor bytes nor NaN: a date becomes its ISO 8601 string, bytes become
  /// base64, and a number that is none the string of its name. Reading the text back gives strings. Of a value that
  /// no import takes, nested deeper than 1000 levels or of more than 4 GB, it is the text `"too large"`.
  public var json: String {
    let batch = RecordBatch()
    guard DictionaryReader.append(self, to: batch) else { return "\"too large\"" }
    var bytes: [UInt8] = []
    batch.appendJSON(of: 0, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Copies a value from the tape.
  ///
  /// XML elements become what `RecordBatch.appendJSON` makes of them.
  init(_ batch: RecordBatch, _ index: UInt32) {
    let node = batch.nodes[Int(index)]
    switch Int(node.kind) {
    case TAPE_NULL: self = .null
    case TAPE_FALSE: self = .bool(false)
    case TAPE_TRUE: self = .bool(true)
    case TAPE_NUMBER: self = Self.number(node, batch)
    case TAPE_STRING: self = .string(batch.text(node.text, node.length))
    case TAPE_DATA: self = .data(Array(batch.bytes(node.text, node.length)))
    case TAPE_DATE: self = .instant(Self.instant(node, batch))
    case TAPE_ARRAY:
      var values: [ForeignValue] = []
      batch.forEachChild(of: index) { child, _ in values.append(ForeignValue(batch, child)) }
      self = .array(values)
    case TAPE_OBJECT: self = .object(ForeignRecord(batch, index))
    default:
      self = Self.element(index, batch)
    }
  }

  private static func number(_ node: TapeNode, _ batch: RecordBatch) -> ForeignValue {
    let text = batch.text(node.text, node.length)
    if node.flags & UInt8(TAPE_OUTSIDE) != 0 { return .double(Double(text) ?? .nan) }
    if let integer = Int64(text), String(integer) == text { return .integer(integer) }
    return .number(text)
  }

  private static func instant(_ node: TapeNode, _ batch: RecordBatch) -> ForeignInstant {
    if node.flags & UInt8(TAPE_OUTSIDE) != 0 {
      return ForeignInstant(seconds: Int64(batch.text(node.text, node.length)) ?? .max)
    }
    let civil = CivilTime(stored: batch.bytes(node.text, node.length))
    return ForeignInstant(
      seconds: Int64(civil.secondsSinceEpoch),
      microsecond: Int64(civil.microsecond)
    )
  }

  private static func element(_ index: UInt32, _ batch: RecordBatch) -> ForeignValue {
    var json: [UInt8] = []
    batch.appendJSON(of: index, to: &json)
    do {
      return try ForeignValue(json: String(decoding: json, as: UTF8.self))
    } catch {
      // Deeper than JSON may be nested: the text itself is what is left.
      return .string(String(decoding: json, as: UTF8.self))
    }
  }
}

extension ForeignRecord {
  /// Reads one JSON text that must be an object.
  ///
  /// - Throws: `.json` and the like, with line and column, where the text is no JSON object.
  public init(json text: String) throws(ReadError) {
    guard case .object(let record) = try ForeignValue(json: text) else {
      throw ReadError(.json, "The JSON text is not an object.", help: "a record is { … }")
    }
    self = record
  }

  /// Copies a record from the tape; what is no object has no members.
  ///
  /// XML elements become what `RecordBatch.appendJSON` makes of them; one that has only text becomes
  /// a record of the member `text()`.
  init(_ batch: RecordBatch, _ index: UInt32) {
    self.init()
    switch Int(batch.nodes[Int(index)].kind) {
    case TAPE_OBJECT:
      batch.forEachChild(of: index) { child, node in
        let key = batch.text(node.key, node.keyLength)
        members.append(Member(key: key, value: ForeignValue(batch, child)))
      }
    case TAPE_ELEMENT:
      switch ForeignValue(batch, index) {
      case .object(let record): self = record
      case let value: members = [Member(key: "text()", value: value)]
      }
    default: break
    }
  }
}

extension RecordBatch {
  /// Calls with the index of each node directly below a node, and the node.
  func forEachChild(of index: UInt32, _ body: (UInt32, TapeNode) -> Void) {
    var child = index + 1
    while child < nodes[Int(index)].next {
      let node = nodes[Int(child)]
      body(child, node)
      child = node.next
    }
  }
}
