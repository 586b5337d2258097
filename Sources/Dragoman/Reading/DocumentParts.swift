import CSimdJSON
import DragomanGraph

/// What `$root` paths ask for of what stands before the records: as deep as they lead by plain names, behind which
/// everything is asked for.
struct DocumentParts: Sendable {
  /// Everything.
  static let all = DocumentParts(isWhole: true)

  private var isWhole = false
  /// The members, attributes and elements by name, whatever their namespace.
  private var members: [(name: [UInt8], parts: DocumentParts)] = []

  private init(isWhole: Bool) { self.isWhole = isWhole }

  /// The parts that paths ask for.
  init(of paths: [ForeignPath]) {
    for path in paths where path.root == .document { add(path.steps[...]) }
  }

  private mutating func add(_ steps: ArraySlice<ForeignPath.Step>) {
    guard let name = steps.first?.plainName else {
      isWhole = true
      return
    }
    let rest = steps.dropFirst()
    if let known = members.firstIndex(where: { $0.name == name }) {
      members[known].parts.add(rest)
    } else {
      var parts = DocumentParts(isWhole: false)
      parts.add(rest)
      members.append((name, parts))
    }
  }

  /// The parts of something below by its node; nil: it is not asked for.
  func parts(of node: TapeNode, in batch: RecordBatch) -> DocumentParts? {
    if isWhole { return self }
    let name = batch.bytes(node.key, node.keyLength)
    return members.first { $0.name.elementsEqual(name) }?.parts
  }

  /// Whether the text of an element is asked for.
  var hasText: Bool { isWhole }

  /// Appends as much of a value as is asked for.
  func appendJSON(of index: UInt32, in batch: RecordBatch, to json: inout [UInt8]) {
    guard !isWhole, Int(batch.nodes[Int(index)].kind) == TAPE_OBJECT else {
      return batch.appendJSON(of: index, to: &json)
    }
    json.append(UInt8(ascii: "{"))
    var isFirst = true
    batch.forEachChild(of: index) { child, node in
      guard let parts = parts(of: node, in: batch) else { return }
      if !isFirst { json.append(UInt8(ascii: ",")) }
      isFirst = false
      JSONString.append(batch.bytes(node.key, node.keyLength), to: &json)
      json.append(UInt8(ascii: ":"))
      parts.appendJSON(of: child, in: batch, to: &json)
    }
    json.append(UInt8(ascii: "}"))
  }
}

extension RecordBatch {
  /// Whether what stands before the records has something where a `$root` path leads to by plain names.
  func hasDocument(at path: ForeignPath) -> Bool {
    guard var place = document else { return false }
    for step in path.steps {
      guard let name = step.plainName, Int(nodes[Int(place)].kind) >= TAPE_OBJECT else { break }
      var found: UInt32?
      forEachChild(of: place) { child, node in
        if found == nil, name.elementsEqual(bytes(node.key, node.keyLength)) { found = child }
      }
      guard let found else { return false }
      place = found
    }
    return true
  }
}

extension ForeignPath.Step {
  /// The name of a member, an element or an attribute, as UTF-8; nil: the step is none of these.
  fileprivate var plainName: [UInt8]? {
    switch self {
    case .member(let name, _), .attribute(let name, _): Array(name.utf8)
    case .index, .all, .anyMember, .text, .having: nil
    }
  }
}
