import CSimdJSON

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Finds the values of all of an entity's attributes in one walk over a record.
///
/// The walker learns the order in which records list their members: after a member it expects the
/// one that followed it last time, so that a steady feed costs one comparison a member.
struct PathWalker {
  /// What was found for one attribute.
  struct Found {
    enum State: UInt8 {
      case missing
      case value
      /// The path runs through a scalar or an array.
      case blocked
      /// The path names several elements (XML), or the record has the member twice (JSON).
      case repeated
    }

    var state = State.missing
    /// Which of the attribute's paths it was found by.
    var candidate = UInt16.max
    /// The value's node, or the node that is in the way.
    var node: UInt32 = 0
  }

  private let tree: PathTree
  /// For each child, the child that came next last time.
  private var successors: [Int32]
  /// For each node, the child that came first last time.
  private var firsts: [Int32]
  /// For each child, the visit of an object in which it came last.
  private var visits: [Int]
  private var visitCount = 0
  /// The reader's numbers for the tree's namespaces; -1 where the feed does not have one.
  private var spaces: [Int32]
  /// The namespaces that `spaces` numbers: every reader has numbers of its own.
  private var knownNamespaces: [String] = []
  /// What was found, a slot each.
  private(set) var found: [Found]
  /// Whether members of the record that no path begins with are taken note of.
  private let notesUnknown: Bool
  /// The first such member's node; 0: there is none.
  private(set) var unknown: UInt32 = 0

  init(tree: PathTree, slotCount: Int, notesUnknown: Bool = false) {
    self.tree = tree
    self.notesUnknown = notesUnknown
    found = Array(repeating: Found(), count: slotCount)
    spaces = tree.namespaces.map { $0.isEmpty ? 0 : -1 }
    firsts = tree.nodes.map { Int32($0.children.lowerBound) }
    successors = tree.children.indices.map { Int32($0 + 1) }
    visits = tree.children.map { _ in 0 }
  }

  /// Forgets what the last record had.
  mutating func reset() {
    for slot in found.indices { found[slot] = Found() }
    unknown = 0
  }

  /// Walks one record, after `reset()`.
  mutating func walk(_ record: UInt32, in batch: RecordBatch) {
    if !knowsNamespaces(of: batch) { numberNamespaces(of: batch) }
    meet(0, record, batch)
  }

  /// Whether the batch has the list that was numbered: it is kept, so that no other can lie where it
  /// does.
  @inline(__always)
  private func knowsNamespaces(of batch: RecordBatch) -> Bool {
    batch.namespaces.withUnsafeBufferPointer { own in
      knownNamespaces.withUnsafeBufferPointer {
        own.baseAddress == $0.baseAddress && own.count == $0.count
      }
    }
  }

  private mutating func numberNamespaces(of batch: RecordBatch) {
    knownNamespaces = batch.namespaces
    spaces = tree.namespaces.map { uri in
      Int32(batch.namespaces.firstIndex { $0.utf8.elementsEqual(uri.utf8) } ?? -1)
    }
  }

  /// A value stands where a tree node is: serves its targets and goes on below.
  private mutating func meet(_ place: Int, _ node: UInt32, _ batch: RecordBatch) {
    let treeNode = tree.nodes[place]
    for index in treeNode.targets {
      let target = tree.targets[index]
      if target.isTextOnly && batch.nodes[Int(node)].length == 0 { continue }
      set(target, node, .value)
    }
    guard treeNode.isInner else { return }
    switch Int(batch.nodes[Int(node)].kind) {
    case TAPE_OBJECT, TAPE_ELEMENT:
      visitMembers(of: node, place, treeNode, batch)
    case TAPE_ARRAY where !treeNode.elements.isEmpty:
      visitElements(of: node, treeNode, batch)
    case TAPE_NULL:
      setBelow(treeNode, node, .value)
    default:
      setBelow(treeNode, node, .blocked)
    }
  }

  private mutating func visitMembers(
    of node: UInt32,
    _ place: Int,
    _ treeNode: PathTree.Node,
    _ batch: RecordBatch
  ) {
    var previous = -1
    visitCount &+= 1
    let visit = visitCount
    let isObject = Int(batch.nodes[Int(node)].kind) == TAPE_OBJECT
    var member = node + 1
    let end = batch.nodes[Int(node)].next
    while member < end {
      let value = batch.nodes[Int(member)]
      let expected = Int(previous < 0 ? firsts[place] : successors[previous])
      let match = child(of: treeNode, value, expected: expected, batch)
      if match >= 0 {
        if match != expected {
          if previous < 0 {
            firsts[place] = Int32(match)
          } else {
            successors[previous] = Int32(match)
          }
        }
        previous = match
        // What ends there is known to be twice when it is set.
        if isObject, tree.nodes[tree.children[match].node].isInner {
          if visits[match] == visit {
            // Whatever the two hold: nobody knows which of them is meant.
            setTwice(tree.children[match].node, member)
            member = value.next
            continue
          }
          visits[match] = visit
        }
        meet(tree.children[match].node, member, batch)
      } else if notesUnknown, place == 0, unknown == 0 {
        unknown = member
      }
      member = value.next
    }
    // A pointer's token is the name of a member here, and not in the way of anything.
    for index in treeNode.elements where !tree.elements[index].isPointer {
      setAll(tree.elements[index].node, node, .blocked)
    }
  }

  /// Which child of the tree node a member is; -1: none.
  @inline(__always)
  private func child(
    of treeNode: PathTree.Node,
    _ value: TapeNode,
    expected: Int,
    _ batch: RecordBatch
  ) -> Int {
    let key = batch.bytes(value.key, value.keyLength)
    if treeNode.children.contains(expected), isMatch(expected, key, value) { return expected }
    let size = treeNode.table.count
    guard size > 0 else { return -1 }
    var entry = PathTree.hash(key) & (size - 1)
    while true {
      let candidate = Int(tree.table[treeNode.table.lowerBound + entry])
      if candidate < 0 { return -1 }
      if isMatch(candidate, key, value) { return candidate }
      entry = (entry + 1) & (size - 1)
    }
  }

  @inline(__always)
  private func isMatch(_ index: Int, _ key: UnsafeRawBufferPointer, _ value: TapeNode) -> Bool {
    let child = tree.children[index]
    guard child.keyCount == key.count,
      spaces[child.namespace] == Int32(value.space),
      child.isAttribute == (value.flags & UInt8(TAPE_ATTRIBUTE) != 0),
      let bytes = key.baseAddress
    else { return false }
    return tree.keys.withUnsafeBytes { keys in
      keys.baseAddress.map { memcmp($0 + child.keyStart, bytes, key.count) == 0 } ?? key.isEmpty
    }
  }

  private mutating func visitElements(
    of node: UInt32,
    _ treeNode: PathTree.Node,
    _ batch: RecordBatch
  ) {
    var element = node + 1
    let end = batch.nodes[Int(node)].next
    var index = 0
    while element < end {
      for number in treeNode.elements where tree.elements[number].index == index {
        meet(tree.elements[number].node, element, batch)
      }
      element = batch.nodes[Int(element)].next
      index += 1
    }
    for child in treeNode.children {
      let child = tree.children[child]
      setAll(child.node, node, .blocked, exceptPointers: child.isPointer)
    }
  }

  /// Serves all targets below a tree node with the value that ends or blocks their paths.
  private mutating func setBelow(
    _ treeNode: PathTree.Node,
    _ node: UInt32,
    _ state: Found.State,
    exceptPointers: Bool = false
  ) {
    for child in treeNode.children {
      setAll(tree.children[child].node, node, state, exceptPointers: exceptPointers)
    }
    // The other way of a pointer's token is among the children.
    for element in treeNode.elements where !tree.elements[element].isPointer {
      setAll(tree.elements[element].node, node, state, exceptPointers: exceptPointers)
    }
  }

  private mutating func setAll(
    _ place: Int,
    _ node: UInt32,
    _ state: Found.State,
    exceptPointers: Bool = false
  ) {
    let treeNode = tree.nodes[place]
    for index in treeNode.targets where !(exceptPointers && tree.targets[index].isPointer) {
      set(tree.targets[index], node, state)
    }
    setBelow(treeNode, node, state, exceptPointers: exceptPointers)
  }

  /// All targets at a tree node and below it have no value, because the record has two.
  private mutating func setTwice(_ place: Int, _ node: UInt32) {
    for target in tree.nodes[place].targets.map({ tree.targets[$0] })
    where target.candidate <= found[target.slot].candidate {
      found[target.slot] = Found(state: .repeated, candidate: target.candidate, node: node)
    }
    for child in tree.nodes[place].children { setTwice(tree.children[child].node, node) }
    for element in tree.nodes[place].elements { setTwice(tree.elements[element].node, node) }
  }

  @inline(__always)
  private mutating func set(_ target: PathTree.Target, _ node: UInt32, _ state: Found.State) {
    let known = found[target.slot]
    if target.candidate < known.candidate {
      found[target.slot] = Found(state: state, candidate: target.candidate, node: node)
    } else if target.candidate == known.candidate {
      found[target.slot].state = .repeated
    }
  }
}
