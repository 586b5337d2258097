import CSimdJSON

/// Paths that the walk over a record cannot follow: those with wildcards, and those that start
/// outside of the record.
extension RecordMapper {
  /// What a record has of the value that decides what becomes of it.
  func found(
    _ criterion: EntityPlan.Criterion,
    _ record: RecordBatch.Record,
    _ batch: RecordBatch
  ) -> PathWalker.Found {
    var found = walker.found[criterion.slot]
    if criterion.hasOwnPaths {
      followOwnPaths(criterion.paths, takesList: false, record, batch, &found)
      if found.state != .missing, criterion.leadsToMembers { use.noteOwn(criterion.slot) }
    }
    return found
  }

  /// Follows paths that are tried before what the walk found, in their order.
  func followOwnPaths(
    _ paths: [EntityPlan.Candidate],
    takesList: Bool,
    _ record: RecordBatch.Record,
    _ batch: RecordBatch,
    _ found: inout PathWalker.Found
  ) {
    for (number, candidate) in paths.enumerated() {
      guard number < Int(found.candidate) else { return }
      if candidate.isInTree { continue }
      let trail = follow(candidate.path, record, batch)
      let takesList = takesList && trail.list != nil
      if let repeated = trail.repeated {
        found.state = .repeated
        found.node = repeated
      } else if let blocked = trail.blocked {
        found.state = .blocked
        found.node = blocked
      } else if let null = trail.null {
        found.state = .value
        found.node = null
      } else if takesList, let list = trail.list {
        // An empty list is a value: it is not as if the record did not name it.
        found.state = .value
        found.node = appendArray(trail.nodes, to: batch, origin: batch.nodes[Int(list)].origin)
      } else if let first = trail.nodes.first {
        found.state = trail.nodes.count > 1 ? .repeated : .value
        found.node = first
      } else {
        continue
      }
      found.candidate = UInt16(clamping: number)
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
    let trail = follow(slot.paths[Int(found.candidate)].path, record, batch)
    return appendArray(trail.nodes, to: batch, origin: batch.nodes[Int(found.node)].origin)
  }

  /// What following a path came to.
  struct Trail {
    /// The nodes that the path names, in the order of the record.
    var nodes: [UInt32] = []
    /// The first list whose elements or members the path names by a wildcard.
    var list: UInt32?
    /// The last null in front of all wildcards, which ends the path: it is among the nodes, too.
    var early: UInt32?
    /// A null in front of all wildcards that is all there is: beside others it is one of the values.
    var null: UInt32? { nodes.count == 1 ? early : nil }
    /// The first value in the way that has no such elements or members.
    var blocked: UInt32?
    /// The second of two members of one name.
    var repeated: UInt32?
    /// Whether the path led anywhere.
    var isAnything: Bool {
      !nodes.isEmpty || list != nil || blocked != nil || repeated != nil
    }
  }

  /// The nodes that a path names.
  func follow(
    _ path: ForeignPath,
    _ record: RecordBatch.Record,
    _ batch: RecordBatch
  ) -> Trail {
    var trail = Trail()
    switch path.root {
    case .record: follow(path, path.steps[...], from: record.node, batch, &trail)
    case .document:
      if let node = batch.document { follow(path, path.steps[...], from: node, batch, &trail) }
    case .index:
      trail.nodes = [appendNumber(record.place ?? record.number - 1, to: batch, record)]
    case .line:
      guard batch.isText else { break }
      trail.nodes = [appendNumber(batch.line(of: record), to: batch, record)]
    case .file: trail.nodes = [appendScalar(batch.file, kind: TAPE_STRING, to: batch, record)]
    case .fileName, .fileStem:
      let name =
        path.root == .fileName ? FileName.last(of: batch.file) : FileName.stem(of: batch.file)
      let node = appendScalar(name, kind: TAPE_STRING, flags: TAPE_NAME, to: batch, record)
      trail.nodes = [node]
    case .key:
      // The empty name is one, too, and has its place.
      guard record.key > 0 || record.keyLength > 0 else { break }
      let name = batch.text(record.key, record.keyLength)
      let node = appendScalar(name, kind: TAPE_STRING, flags: TAPE_NAME, to: batch, record)
      trail.nodes = [node]
    case .parent: if let parent = record.parent { return followParent(path, parent, batch) }
    }
    return trail
  }

  /// The nodes that a path names from the record around; those of all elements of a list are looked up once.
  private func followParent(
    _ path: ForeignPath,
    _ parent: UInt32,
    _ batch: RecordBatch
  ) -> Trail {
    // Those that the parent does not stand in are done with.
    while let last = set.parents.last?.node,
      parent < last || parent >= batch.nodes[Int(last)].next
    {
      set.parents.removeLast()
    }
    if set.parents.last?.node != parent { set.parents.append((parent, [])) }
    let index = set.parents.count - 1
    if let known = set.parents[index].trails.first(where: { $0.path == path }) {
      return known.trail
    }
    var trail = Trail()
    follow(path, path.steps[...], from: parent, batch, &trail)
    set.parents[index].trails.append((path, trail))
    return trail
  }

  private func follow(
    _ path: ForeignPath,
    _ steps: ArraySlice<ForeignPath.Step>,
    from node: UInt32,
    _ batch: RecordBatch,
    _ trail: inout Trail
  ) {
    guard let step = steps.first else {
      trail.nodes.append(node)
      return
    }
    let container = batch.nodes[Int(node)]
    if step == .text {
      if container.length > 0 { trail.nodes.append(node) }
      return
    }
    if case .having(let test) = step {
      guard batch.passes(test, node) else { return }
      return follow(path, steps.dropFirst(), from: node, batch, &trail)
    }
    if Int(container.kind) == TAPE_NULL {
      if path.steps[..<steps.startIndex].allSatisfy({ $0 != .all && $0 != .anyMember }) {
        trail.early = node
      }
      trail.nodes.append(node)
      return
    }
    guard batch.holds(step, in: node, isPointer: path.isPointer) else {
      trail.blocked = trail.blocked ?? node
      return
    }
    if step == .all || step == .anyMember { trail.list = trail.list ?? node }
    // In an object a name leads to one member; elements may be repeated.
    let isOne = Int(container.kind) == TAPE_OBJECT && step != .anyMember
    var isFound = false
    var child = node + 1
    var index = 0
    while child < container.next {
      let value = batch.nodes[Int(child)]
      if batch.leads(step, to: value, at: index, in: container, isPointer: path.isPointer) {
        if isOne, isFound { trail.repeated = trail.repeated ?? child }
        isFound = true
        // An element has no name: `$key` is that of the list it is in.
        if step == .all { batch.name(child, as: node) }
        follow(path, steps.dropFirst(), from: child, batch, &trail)
      }
      child = value.next
      index += 1
    }
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
    flags: Int = 0,
    to batch: RecordBatch,
    _ record: RecordBatch.Record
  ) -> UInt32 {
    var node = TapeNode()
    (node.text, node.length) = batch.appendText(text)
    node.kind = UInt8(kind)
    node.flags = UInt8(flags)
    node.origin = record.start
    node.next = UInt32(batch.nodeCount + 1)
    return batch.append(node)
  }

  /// Copies the values behind a wildcard into an array of their own.
  private func appendArray(
    _ elements: [UInt32],
    to batch: RecordBatch,
    origin: UInt32
  ) -> UInt32 {
    var array = TapeNode()
    array.kind = UInt8(TAPE_ARRAY)
    array.origin = elements.first.map { batch.nodes[Int($0)].origin } ?? origin
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
