import CSimdJSON

/// Paths that the walk over a record cannot follow: those with wildcards, and those that start
/// outside of the record.
extension RecordMapper {
  /// Follows the paths of a slot that are tried before what the walk found, in their order.
  func followOwnPaths(
    of slot: EntityPlan.Slot,
    _ record: RecordBatch.Record,
    _ batch: RecordBatch,
    _ found: inout PathWalker.Found
  ) {
    for (number, candidate) in slot.paths.enumerated() {
      guard number < Int(found.candidate) else { return }
      if candidate.isInTree { continue }
      let path = candidate.path
      let nodes = follow(path, record, batch)
      guard let first = nodes.first else { continue }
      found.candidate = UInt8(clamping: number)
      found.state = .value
      let takesMany = path.steps.contains { $0 == .all || $0 == .anyMember }
      if slot.attribute.type == .json && takesMany {
        found.node = appendArray(nodes, to: batch)
      } else {
        found.node = first
        if nodes.count > 1 { found.state = .repeated }
      }
      return
    }
  }

  /// Makes a JSON array of the repeated elements that the walk found for a slot.
  func gatherRepeated(
    _ slot: EntityPlan.Slot,
    _ found: PathWalker.Found,
    _ record: RecordBatch.Record,
    _ batch: RecordBatch
  ) -> UInt32 {
    appendArray(follow(slot.paths[Int(found.candidate)].path, record, batch), to: batch)
  }

  /// The nodes that a path names, in the order of the record.
  func follow(
    _ path: ForeignPath,
    _ record: RecordBatch.Record,
    _ batch: RecordBatch
  ) -> [UInt32] {
    switch path.root {
    case .record: return follow(path.steps[...], from: record.node, batch)
    case .document: return batch.document.map { follow(path.steps[...], from: $0, batch) } ?? []
    case .index: return [appendNumber(record.number - 1, to: batch, record)]
    case .line:
      let line = batch.origin(at: record.start, record: nil).line
      return [appendNumber(line, to: batch, record)]
    case .file: return [appendScalar(batch.file, kind: TAPE_STRING, to: batch, record)]
    case .key:
      guard record.keyLength > 0 else { return [] }
      let name = batch.text(record.key, record.keyLength)
      return [appendScalar(name, kind: TAPE_STRING, to: batch, record)]
    case .parent: return parent.map { follow(path.steps[...], from: $0.node, batch) } ?? []
    }
  }

  private func follow(
    _ steps: ArraySlice<ForeignPath.Step>,
    from node: UInt32,
    _ batch: RecordBatch
  ) -> [UInt32] {
    guard let step = steps.first else { return [node] }
    if step == .text { return batch.nodes[Int(node)].length > 0 ? [node] : [] }
    var found: [UInt32] = []
    var child = node + 1
    var index = 0
    let end = batch.nodes[Int(node)].next
    while child < end {
      let value = batch.nodes[Int(child)]
      if matches(step, value, index: index, in: node, batch) {
        found += follow(steps.dropFirst(), from: child, batch)
      }
      child = value.next
      index += 1
    }
    return found
  }

  private func matches(
    _ step: ForeignPath.Step,
    _ value: TapeNode,
    index: Int,
    in container: UInt32,
    _ batch: RecordBatch
  ) -> Bool {
    let isArray = Int(batch.nodes[Int(container)].kind) == TAPE_ARRAY
    let isAttribute = value.flags & UInt8(TAPE_ATTRIBUTE) != 0
    switch step {
    case .member(let name, let namespace):
      return !isArray && !isAttribute && isNamed(value, name, namespace, batch)
    case .attribute(let name, let namespace):
      return isAttribute && isNamed(value, name, namespace, batch)
    case .index(let wanted): return isArray && index == wanted
    case .all: return isArray
    case .anyMember: return !isArray && !isAttribute
    case .text: return false
    }
  }

  private func isNamed(
    _ value: TapeNode,
    _ name: String,
    _ namespace: String?,
    _ batch: RecordBatch
  ) -> Bool {
    name.utf8.elementsEqual(batch.bytes(value.key, value.keyLength))
      && (namespace ?? "").utf8.elementsEqual(batch.namespaces[Int(value.space)].utf8)
  }

  // MARK: - Values that are not in the text

  private func appendNumber(
    _ number: Int,
    to batch: RecordBatch,
    _ record: RecordBatch.Record
  ) -> UInt32 {
    appendScalar(String(number), kind: TAPE_NUMBER, to: batch, record)
  }

  private func appendScalar(
    _ text: String,
    kind: Int,
    to batch: RecordBatch,
    _ record: RecordBatch.Record
  ) -> UInt32 {
    var node = TapeNode()
    (node.text, node.length) = batch.appendText(text)
    node.kind = UInt8(kind)
    node.origin = record.start
    node.next = UInt32(batch.nodeCount + 1)
    return batch.append(node)
  }

  /// Copies the values behind a wildcard into an array of their own.
  private func appendArray(_ elements: [UInt32], to batch: RecordBatch) -> UInt32 {
    var array = TapeNode()
    array.kind = UInt8(TAPE_ARRAY)
    array.origin = elements.first.map { batch.nodes[Int($0)].origin } ?? 0
    let start = batch.append(array)
    for element in elements {
      let shift = Int64(batch.nodeCount) - Int64(element)
      for index in element..<batch.nodes[Int(element)].next {
        var node = batch.nodes[Int(index)]
        node.next = UInt32(Int64(node.next) + shift)
        batch.append(node)
      }
    }
    batch.setEnd(of: start)
    return start
  }
}
