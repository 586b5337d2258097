import CSimdJSON

/// Takes the keys of a to-many from a record, element by element: parts of a key belong together where
/// one element has them.
///
/// Parts that stand outside of all lists hold for every key. Lists that have nothing in common go side by
/// side: then they must be equally long.
struct KeyListWalk {
  /// What following the paths came to.
  enum Outcome {
    /// So many keys are at the end of the columns of the parts.
    case keys(Int, Shape)
    case missing
    case null(UInt32)
    case invalid(ValueConverter.Fault, UInt32)
  }

  /// What kind of place keys were found at.
  enum Shape {
    /// One value, which holds for whatever stands beside it.
    case single
    /// Elements of XML that are the values: one of them is a list of one, or holds for a list beside it.
    case elements
    case list
  }

  private let batch: RecordBatch
  private let splits: [LinkPlan.KeyPart.Split?]
  /// The nodes of the values, by part.
  private(set) var columns: [[UInt32]]
  /// For each part, whether its path led to something.
  private(set) var isSeen: [Bool]

  /// Prepares the walk over one record.
  ///
  /// - Parameters:
  ///   - parts: The parts of the key.
  ///   - batch: The batch that the record stands in.
  init(_ parts: [LinkPlan.KeyPart], in batch: RecordBatch) {
    self.batch = batch
    splits = parts.map { part in
      if case .found(_, let split) = part.source { split } else { nil }
    }
    columns = parts.map { _ in [] }
    isSeen = parts.map { _ in false }
  }

  /// Walks a record, or whatever else the roots of paths are.
  ///
  /// - Parameters:
  ///   - tree: The paths.
  ///   - node: The node that paths of a root begin at; nil where there is none.
  /// - Returns: What was found.
  mutating func walk(_ tree: KeyTree, node: (ForeignPath) -> UInt32?) -> Outcome {
    var found: [Found] = []
    for root in tree.roots {
      guard let start = node(root.path) else { return .missing }
      switch walk(root.level, from: start, isInside: false) {
      case .keys(let count, let shape):
        found.append(Found(parts: Self.parts(of: root.level), count: count, shape: shape))
      case let outcome: return outcome
      }
    }
    return found.count == 1 ? .keys(found[0].count, found[0].shape) : combine(found, at: nil)
  }

  private static func parts(of level: KeyTree.Level) -> [Int] {
    level.leaves.map(\.part) + level.branches.flatMap(\.parts)
  }

  /// What one of the ways from a place came to.
  private struct Found {
    let parts: [Int]
    let count: Int
    let shape: Shape
  }

  /// Follows all ways from a node; inside of a list an element must have what is no list itself.
  private mutating func walk(
    _ level: KeyTree.Level,
    from node: UInt32,
    isInside: Bool
  ) -> Outcome {
    if level.leaves.count + level.branches.count == 1 {
      return level.leaves.isEmpty
        ? take(level.branches[0], node, isInside) : end(level.leaves[0], node)
    }
    var found: [Found] = []
    for leaf in level.leaves {
      switch end(leaf, node) {
      case .keys(let count, let shape):
        found.append(Found(parts: [leaf.part], count: count, shape: shape))
      case let outcome: return outcome
      }
    }
    for branch in level.branches {
      switch take(branch, node, isInside) {
      case .keys(let count, let shape):
        found.append(Found(parts: branch.parts, count: count, shape: shape))
      case .missing where isInside && (branch.isMany || branch.level.leadsIntoLists):
        found.append(
          Found(parts: branch.parts, count: 0, shape: branch.isPlain ? .elements : .list)
        )
      case .missing where isInside: return .invalid(.keyless, node)
      case let outcome: return outcome
      }
    }
    return combine(found, at: node)
  }

  /// Takes a step.
  private mutating func take(
    _ branch: KeyTree.Branch,
    _ node: UInt32,
    _ isInside: Bool
  ) -> Outcome {
    let container = batch.nodes[Int(node)]
    if branch.step == .text {
      return container.length > 0 ? walk(branch.level, from: node, isInside: isInside) : .missing
    }
    if Int(container.kind) == TAPE_NULL { return .null(node) }
    guard batch.holds(branch.step, in: node, isPointer: branch.isPointer) else {
      return .invalid(.blocked, node)
    }
    if branch.isMany { return takeAll(branch, node) }
    var found: UInt32?
    var child = node + 1
    var index = 0
    while child < container.next {
      let value = batch.nodes[Int(child)]
      if leads(branch, to: child, value, index, in: container) {
        if found != nil { return .invalid(.repeated, child) }
        found = child
      }
      child = value.next
      index += 1
    }
    return found.map { walk(branch.level, from: $0, isInside: isInside) } ?? .missing
  }

  /// Takes a step to all elements of a list.
  private mutating func takeAll(_ branch: KeyTree.Branch, _ node: UInt32) -> Outcome {
    let container = batch.nodes[Int(node)]
    let isElement = if case .member = branch.step { true } else { false }
    if !isElement { for part in branch.parts { isSeen[part] = true } }
    var total = 0
    var matchCount = 0
    // Whether something says how many keys there are, be it none.
    var isSaid = !isElement
    var null: UInt32?
    var child = node + 1
    var index = 0
    while child < container.next {
      let value = batch.nodes[Int(child)]
      if leads(branch, to: child, value, index, in: container) {
        matchCount += 1
        switch walk(branch.level, from: child, isInside: true) {
        case .keys(let count, _):
          total += count
          isSaid = true
        case .missing where branch.level.leadsIntoLists: isSaid = true
        // The element is there for other things than the text of keys that it does not have.
        case .missing where isElement && isOneText(branch): break
        case .missing: return .invalid(.keyless, child)
        case .null(let place): null = null ?? place
        case let outcome: return outcome
        }
      }
      child = value.next
      index += 1
    }
    if let null { return isElement && matchCount == 1 ? .null(null) : .invalid(.type, null) }
    if !isSaid { return .missing }
    return .keys(total, isElement && branch.isPlain ? .elements : .list)
  }

  /// Whether nothing but a text of keys stands behind a step.
  private func isOneText(_ branch: KeyTree.Branch) -> Bool {
    branch.parts.count == 1 && splits[branch.parts[0]] != nil
  }

  private func leads(
    _ branch: KeyTree.Branch,
    to child: UInt32,
    _ value: TapeNode,
    _ index: Int,
    in container: TapeNode
  ) -> Bool {
    batch.leads(branch.step, to: value, at: index, in: container, isPointer: branch.isPointer)
      && branch.tests.allSatisfy { batch.passes($0, child) }
  }

  /// Takes the value, or the list of values, at the end of a path.
  private mutating func end(_ leaf: KeyTree.Leaf, _ node: UInt32) -> Outcome {
    isSeen[leaf.part] = true
    let before = columns[leaf.part].count
    var shape = Shape.list
    switch Int(batch.nodes[Int(node)].kind) {
    case TAPE_NULL: return .null(node)
    case TAPE_OBJECT where leaf.walksMembers, TAPE_ELEMENT where leaf.walksMembers,
      TAPE_ARRAY where !leaf.walksMembers:
      for child in batch.children(of: node) where !append(child, leaf.part) {
        return .invalid(.tooManyKeys, node)
      }
    case _ where leaf.walksMembers: return .invalid(.type, node)
    default:
      if splits[leaf.part] == nil { shape = .single }
      if !append(node, leaf.part) { return .invalid(.tooManyKeys, node) }
    }
    return .keys(columns[leaf.part].count - before, shape)
  }

  /// Appends a value, or the pieces of a text; false where there are too many of them.
  private mutating func append(_ node: UInt32, _ part: Int) -> Bool {
    guard let split = splits[part] else {
      columns[part].append(node)
      return true
    }
    return batch.appendPieces(of: node, split, to: &columns[part])
  }

  /// Brings what was found at one place to one length.
  private mutating func combine(_ found: [Found], at node: UInt32?) -> Outcome {
    let hasList = found.contains { $0.shape == .list }
    let isShared = { (one: Found) in
      one.count == 1 && (one.shape == .single || (one.shape == .elements && hasList))
    }
    // Where everything holds for all, it is one key.
    let lists = found.filter { !isShared($0) }
    let count = lists.first?.count ?? 1
    if let other = lists.first(where: { $0.count != count }) {
      let longer = count > 0 ? lists[0] : other
      let place = longer.parts.first.flatMap { columns[$0].dropLast(longer.count - 1).last }
      return .invalid(.repeated, place ?? node ?? 0)
    }
    for one in found where isShared(one) {
      for part in one.parts {
        guard let value = columns[part].popLast() else { continue }
        columns[part].append(contentsOf: repeatElement(value, count: count))
      }
    }
    let shape: Shape = hasList ? .list : lists.isEmpty ? .single : .elements
    return .keys(count, shape)
  }
}

extension RecordBatch {
  /// Cuts a text into the keys that it holds, each a node of its own.
  ///
  /// - Parameters:
  ///   - node: The text; anything else is a key by itself.
  ///   - split: What stands between the keys. White space around a key is not part of it.
  ///   - found: Gets the nodes.
  /// - Returns: Whether the record may have so many values.
  func appendPieces(
    of node: UInt32,
    _ split: LinkPlan.KeyPart.Split,
    to found: inout [UInt32]
  ) -> Bool {
    let tape = nodes[Int(node)]
    guard Int(tape.kind) == TAPE_STRING || Int(tape.kind) == TAPE_ELEMENT else {
      found.append(node)
      return true
    }
    for piece in split.pieces(of: bytes(tape.text, tape.length)) {
      guard nodeCount < nodeLimit else { return false }
      var own = TapeNode()
      own.kind = UInt8(TAPE_STRING)
      own.text = tape.text + UInt32(piece.lowerBound)
      own.length = UInt32(piece.count)
      own.origin = tape.origin
      own.next = UInt32(nodeCount + 1)
      found.append(append(own))
    }
    return true
  }
}
