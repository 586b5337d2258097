/// Records as values in memory, with the names and spellings that they have in JSON.
struct DictionaryRecordEncoder: RecordEncoder {
  private struct Frame {
    let name: String
    let isList: Bool
    var members: [ForeignRecord.Member] = []
    var elements: [ForeignValue] = []
  }

  private let names: [String]
  /// The name of the member that comes next, where it is not that of its node.
  private var name: String?
  private var frames: [Frame] = []
  private var result = ForeignValue.null
  private let take: (ForeignValue) -> Void

  var depth: Int { frames.count }

  /// Makes an encoder that hands over each record when it is complete.
  init(_ plan: ExportPlan, take: @escaping (ForeignValue) -> Void) {
    names = plan.tree.nodes.map { plan.tree.names[Int($0.name)].local }
    self.take = take
  }

  func begin() {}
  func end() {}
  func beginRecord() {}
  func endRecord() { take(result) }

  mutating func name(_ node: Int, _ bytes: UnsafeRawBufferPointer) -> SpellingFault? {
    name = String(decoding: bytes, as: UTF8.self)
    return nil
  }

  mutating func open(_ node: Int, _ role: ExportTree.Role) -> Int {
    frames.append(Frame(name: takeName(node), isList: role == .array || role == .list))
    return 0
  }

  mutating func close(_ node: Int, _ role: ExportTree.Role) {
    guard let frame = frames.popLast() else { return }
    let value: ForeignValue =
      frame.isList ? .array(frame.elements) : .object(ForeignRecord(frame.members))
    add(value, frame.name)
  }

  mutating func takeBack(_ node: Int, to mark: Int) { frames.removeLast() }

  mutating func null(_ node: Int, _ role: ExportTree.Role) { add(.null, takeName(node)) }

  mutating func value(
    _ node: Int,
    _ role: ExportTree.Role,
    _ token: ValueSpeller.Token
  ) -> SpellingFault? {
    let (value, fault) = Self.value(of: token)
    add(value, takeName(node))
    return fault
  }

  mutating func content(_ token: ValueSpeller.Token) -> SpellingFault? {
    let (value, fault) = Self.value(of: token)
    result = value
    return fault
  }

  mutating func value(_ node: Int, _ value: ForeignValue) { add(value, takeName(node)) }

  mutating func content(_ value: ForeignValue) { result = value }

  mutating func amend(_ change: (inout ForeignRecord) -> Void) {
    guard let last = frames.indices.last, !frames[last].isList else { return }
    var record = ForeignRecord(frames[last].members)
    change(&record)
    frames[last].members = record.members
  }

  private mutating func takeName(_ node: Int) -> String {
    defer { name = nil }
    return name ?? names[node]
  }

  private mutating func add(_ value: ForeignValue, _ name: String) {
    guard let last = frames.indices.last else {
      result = value
      return
    }
    if frames[last].isList {
      frames[last].elements.append(value)
    } else {
      frames[last].members.append(ForeignRecord.Member(key: name, value: value))
    }
  }

  private static func value(
    of token: ValueSpeller.Token
  ) -> (value: ForeignValue, fault: SpellingFault?) {
    switch token {
    case .null: return (.null, nil)
    case .text(let bytes), .word(let bytes):
      return (.string(String(decoding: bytes, as: UTF8.self)), nil)
    case .literal(let bytes):
      let text = String(decoding: bytes, as: UTF8.self)
      switch text {
      case "true": return (.bool(true), nil)
      case "false": return (.bool(false), nil)
      default: return (Int64(text).map { .integer($0) } ?? .number(text), nil)
      }
    case .json(let bytes):
      let text = String(decoding: bytes, as: UTF8.self)
      do {
        let value = try ForeignValue(json: text)
        return (value, value.isNull ? .readAsNull : nil)
      } catch {
        return (.string(text), .json)
      }
    case .fault(let fault): return (.null, fault)
    }
  }
}
