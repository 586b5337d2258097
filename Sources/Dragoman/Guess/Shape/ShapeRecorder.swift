import CSimdJSON

/// Walks the tape of records and adds what it finds to shapes.
final class ShapeRecorder {
  let budget: HashBudget
  private let reader: TextFormReader
  /// The namespaces of all samples, by their numbers here.
  @exclusivity(unchecked) private(set) var namespaces = [""]
  private var numberOfSpace: [[UInt8]: Int] = [[]: 0]
  /// The numbers here of the namespaces of the batch.
  @exclusivity(unchecked) private var spaces: [Int] = []
  /// How many records there are around the value at hand.
  @exclusivity(unchecked) private var recordDepth = 0
  /// How many objects were seen.
  @exclusivity(unchecked) private var serial = 0
  /// Elements of one list beyond this number are not looked at.
  let recordLimit: Int

  /// - Parameters:
  ///   - recordLimit: How many records of each list of records are looked at.
  ///   - budget: How many values are kept to tell whether they are different.
  /// - Throws: `FormatFault` where a form of ours cannot be compiled.
  init(recordLimit: Int, budget: HashBudget = HashBudget()) throws(FormatFault) {
    self.recordLimit = recordLimit
    self.budget = budget
    reader = try TextFormReader()
  }

  /// Makes the namespaces of a batch known.
  func begin(_ batch: RecordBatch) {
    guard spaces.count != batch.namespaces.count else { return }
    spaces = batch.namespaces.map { uri in
      let key = Array(uri.utf8)
      if let known = numberOfSpace[key] { return known }
      namespaces.append(uri)
      numberOfSpace[key] = namespaces.count - 1
      return namespaces.count - 1
    }
  }

  /// Forgets the numbering of an input: what follows is another sample.
  func endInput() {
    spaces = []
    budget.sample += 1
  }

  /// The number of a node's namespace.
  func space(of node: TapeNode) -> Int { spaces.isEmpty ? 0 : spaces[Int(node.space)] }

  /// Enters an object whose members follow one by one, and returns its number.
  func enterObject(_ shape: FeedShape) -> Int {
    shape.kinds.objects += 1
    serial += 1
    return serial
  }

  /// Tells that a member stands in an object.
  func enterMember(_ shape: FeedShape, of owner: Int) {
    if shape.presence.lastOwner == owner {
      shape.presence.run += 1
    } else {
      shape.presence.owners += 1
      shape.presence.lastOwner = owner
      shape.presence.run = 1
    }
    shape.presence.longestRun = max(shape.presence.longestRun, shape.presence.run)
  }

  /// Enters an array.
  func enterArray(_ shape: FeedShape) -> FeedShape {
    shape.kinds.arrays += 1
    let element = shape.madeElement()
    if element.rows == nil { element.rows = RowTable() }
    return element
  }

  /// Enters a record whose members follow one by one.
  func enterRecord(_ shape: FeedShape, in owner: Int) {
    shape.rows?.begin(in: owner, ofSample: budget.sample)
    recordDepth += 1
  }

  /// Leaves it.
  func leaveRecord(_ shape: FeedShape) {
    shape.rows?.end()
    recordDepth -= 1
  }

  /// Leaves an array of that many elements.
  func leaveArray(_ shape: FeedShape, count: Int) {
    let lengths = shape.lengths
    shape.lengths =
      shape.kinds.arrays == 1
      ? count...count : min(lengths.lowerBound, count)...max(lengths.upperBound, count)
    shape.countArray(length: count)
  }

  /// Sees a record: a value that has rows of its own.
  func see(record index: UInt32, _ batch: RecordBatch, as list: FeedShape, in owner: Int) {
    if list.kinds.total == 0 { list.recordKinds = RecordKinds(first: index, batch) }
    let shape = list.recordKinds?.shape(for: index, batch, in: list) ?? list
    let rows = shape.rows
    rows?.begin(in: owner, ofSample: budget.sample)
    recordDepth += 1
    defer { recordDepth -= 1 }
    let hash = see(index, batch, as: shape, rows, owner, isPart: rows?.isOpen ?? true)
    if let rows {
      if hash != 0 { rows.set(hash, for: shape) }
      rows.end()
    }
  }

  /// Sees a value.
  ///
  /// - Parameters:
  ///   - index: Its node.
  ///   - batch: What the node is of.
  ///   - shape: Its place.
  ///   - rows: The records of which one has it; nil: none.
  ///   - owner: The number of the object that has it.
  ///   - isPart: Whether it may be part of a key: its row is kept, or it names an object.
  /// - Returns: The hash of a scalar; 0 for others.
  @discardableResult
  func see(
    _ index: UInt32,
    _ batch: RecordBatch,
    as shape: FeedShape,
    _ rows: RowTable?,
    _ owner: Int,
    isPart: Bool = true
  ) -> UInt64 {
    if !shape.trials.isEmpty { for trial in shape.trials { trial.see(index, batch) } }
    let node = batch.nodes[Int(index)]
    switch Int(node.kind) {
    case TAPE_OBJECT: members(of: index, node, batch, as: shape, rows)
    case TAPE_ARRAY: elements(of: index, node, batch, as: shape, owner)
    case TAPE_NUMBER:
      shape.kinds.numbers += 1
      return shape.values.see(number: batch.bytes(node.text, node.length), budget)
    case TAPE_STRING:
      shape.kinds.texts += 1
      let text = batch.bytes(node.text, node.length)
      return shape.values.see(text: text, reader, budget, isPart: isPart)
    case TAPE_FALSE, TAPE_TRUE:
      shape.kinds.booleans += 1
      return shape.values.see(boolean: Int(node.kind) == TAPE_TRUE)
    case TAPE_ELEMENT: return element(index, node, batch, as: shape, rows, isPart: isPart)
    default: shape.kinds.nulls += 1
    }
    return 0
  }

  private func members(
    of index: UInt32,
    _ node: TapeNode,
    _ batch: RecordBatch,
    as shape: FeedShape,
    _ rows: RowTable?
  ) {
    let owner = enterObject(shape)
    var child = index + 1
    var place = 0
    while child < node.next {
      let value = batch.nodes[Int(child)]
      let member = shape.member(
        batch.bytes(value.key, value.keyLength),
        space: 0,
        isAttribute: false,
        at: &place
      )
      enterMember(member, of: owner)
      let isPart = self.isPart(member, of: shape, rows)
      let hash = see(child, batch, as: member, rows, owner, isPart: isPart)
      if hash != 0 { rows?.set(hash, for: member) }
      child = value.next
    }
    prove(shape, index, batch)
  }

  private func elements(
    of index: UInt32,
    _ node: TapeNode,
    _ batch: RecordBatch,
    as shape: FeedShape,
    _ owner: Int
  ) {
    let element = enterArray(shape)
    var child = index + 1
    var count = 0
    while child < node.next {
      if count < recordLimit { see(record: child, batch, as: element, in: owner) }
      count += 1
      child = batch.nodes[Int(child)].next
    }
    leaveArray(shape, count: count)
  }

  private func element(
    _ index: UInt32,
    _ node: TapeNode,
    _ batch: RecordBatch,
    as shape: FeedShape,
    _ rows: RowTable?,
    isPart: Bool
  ) -> UInt64 {
    var hash: UInt64 = 0
    if node.next == index + 1 {
      shape.kinds.texts += 1
      let text = batch.bytes(node.text, node.length)
      return shape.values.see(text: text, reader, budget, isPart: isPart)
    }
    if node.length > 0 {
      shape.kinds.texts += 1
      shape.kinds.mixed += 1
      let text = batch.bytes(node.text, node.length)
      hash = shape.values.see(text: text, reader, budget, isPart: isPart)
    }
    let owner = enterObject(shape)
    var child = index + 1
    var place = 0
    while child < node.next {
      let value = batch.nodes[Int(child)]
      let isAttribute = value.flags & UInt8(TAPE_ATTRIBUTE) != 0
      let member = shape.member(
        batch.bytes(value.key, value.keyLength),
        space: space(of: value),
        isAttribute: isAttribute,
        at: &place
      )
      enterMember(member, of: owner)
      if !isAttribute, member.rows == nil, isRepeated(child, value, until: node.next, batch) {
        member.rows = RowTable()
      }
      if member.rows != nil {
        see(record: child, batch, as: member, in: owner)
      } else {
        let isPart = self.isPart(member, of: shape, rows)
        let hash = see(child, batch, as: member, rows, owner, isPart: isPart)
        if hash != 0 { rows?.set(hash, for: member) }
      }
      child = value.next
    }
    prove(shape, index, batch)
    return hash
  }

  /// Whether a member may be part of a key, wherever else its value came.
  private func isPart(_ member: FeedShape, of shape: FeedShape, _ rows: RowTable?) -> Bool {
    guard let rows, !rows.isOpen else { return true }
    return shape.identity?.isTold(by: member) ?? false
  }

  /// Holds an object that is nested in a record against others of its id.
  private func prove(_ shape: FeedShape, _ index: UInt32, _ batch: RecordBatch) {
    guard recordDepth > (shape.rows == nil ? 0 : 1) else { return }
    if shape.kinds.objects == 1 { shape.identity = IdentityProof(for: shape) }
    shape.identity?.see(index, batch)
  }

  /// Whether the next element has the same name.
  private func isRepeated(
    _ index: UInt32,
    _ node: TapeNode,
    until end: UInt32,
    _ batch: RecordBatch
  ) -> Bool {
    guard node.next < end else { return false }
    let next = batch.nodes[Int(node.next)]
    return next.keyLength == node.keyLength && next.space == node.space
      && batch.bytes(next.key, next.keyLength)
        .elementsEqual(batch.bytes(node.key, node.keyLength))
  }
}
